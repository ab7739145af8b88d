#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Multicast of a bridge that snoops goes where the kernel bridge sends it: real
# members, sources and queriers, once without the daemon and once with it. What
# came out is compared line by line, and was decided on the user path.
# shellcheck disable=SC2317 # functions that are called by others
. "$(dirname "$0")/lib.sh"

for tool in jq ping; do
	need $tool
done

MCASTER=$XB_BUILD/tests/netns/mcaster
COUNT=5
declare -A join_pid

# Becomes a member in the background, until leave.
join()
{
	local name=$1 dev=$2
	shift 2
	rm -f "$T/joined.$name"
	nsenter --net="$(ns_path "$name")" -- "$MCASTER" join "$dev" "$T/joined.$name" "$@" &
	join_pid[$name]=$!
	pids+=("$!")
	wait_for 5 test -e "$T/joined.$name"
}

leave()
{
	kill "${join_pid[$1]}"
	wait "${join_pid[$1]}"
}

# "PORT GROUP[ SOURCE]"...: these entries are in the kernel's table; or none of them is.
in_mdb()
{
	in_ns sw bridge -j -d mdb show dev br0 | jq -e --args '($ARGS.positional - [.[].mdb[] |
		.port + " " + .grp + (if .src then " " + .src else "" end)]) == []' "$@"
}

not_in_mdb()
{
	in_ns sw bridge -j -d mdb show dev br0 | jq -e --args '($ARGS.positional - [.[].mdb[] |
		.port + " " + .grp + (if .src then " " + .src else "" end)]) == $ARGS.positional' "$@"
}

# Sets the bridge's options.
bridge_set()
{
	in_ns sw ip link set br0 type bridge "$@"
}

# The daemon knows of this querier state, and multicast is decided on the user path.
querier_is()
{
	ctl -j mdb | jq -e --arg state "$1" --arg why "${2:-}" 'any(.[]; .ifname == "br0" and
		.multicast.path == "user" and ([.querier.ipv4, .querier.ipv6] |
		all(.state == $state and (.why | contains($why)))))'
}

watch_start()
{
	local name=$1 dev=$2
	rm -f "$T/watching.$name"
	nsenter --net="$(ns_path "$name")" -- "$MCASTER" watch "$dev" "$T/watching.$name" 200 \
		>"$T/seen.$name" &
	watch_pid[$name]=$!
	pids+=("$!")
	wait_for 5 test -e "$T/watching.$name"
}

watches_over()
{
	local name
	for name in sw h1 h2 h3 h4; do
		! kill -0 "${watch_pid[$name]}" 2>/dev/null || return 1
	done
}

# What who gets of what h1 and h4 send now: $T/PASS.STATE, lines "host sender group
# count disordered".
probe()
{
	local name
	declare -A watch_pid
	watch_start sw br0
	for name in h1 h2 h3 h4; do
		watch_start "$name" eth0
	done
	in_ns h1 "$MCASTER" send eth0 1 "$COUNT" \
		239.1.1.1 239.1.1.2 239.1.1.3 239.1.1.4 239.1.1.9 224.0.0.251 224.0.0.99 \
		ff15::2 ff15::3 ff15::4 ff15::9 ff02::fb ff02::1 ff02::99 \
		01:02:03:04:05:06 01:02:03:04:05:07 || fail "h1 cannot send"
	in_ns h4 "$MCASTER" send eth0 4 "$COUNT" 239.1.1.1 239.1.1.3 ff15::3 ff15::9 ||
		fail "h4 cannot send"
	in_ns h1 "$MCASTER" send eth0 0 1 224.0.0.98
	in_ns h4 "$MCASTER" send eth0 0 1 224.0.0.98
	wait_for 10 watches_over
	for name in sw h1 h2 h3 h4; do
		sed "s/^/$name /" "$T/seen.$name"
	done | sort >"$T/$pass.$1"
	[ -s "$T/$pass.$1" ] || fail "$1: nothing came out"
}

passed_mcast()
{
	ctl -j stats | jq '[.ports[] | select(.host | not) | .passed.mcast] | add'
}

# With the daemon: nothing was left to the kernel.
probe_state()
{
	local before=0 redirected=0
	echo "== $pass: $1"
	if [ "$pass" = daemon ]; then
		before=$(passed_mcast)
		redirected=$(port_stat p1 .redirected)
	fi
	probe "$1"
	[ "$pass" = daemon ] || return 0
	equal "$1: multicast passed to the kernel" "$(passed_mcast)" "$before"
	[ "$(port_stat p1 .redirected)" -ge $((redirected + 16 * COUNT)) ] ||
		fail "$1: only $(($(port_stat p1 .redirected) - redirected)) frames on the user path"
	diff "$T/kernel.$1" "$T/daemon.$1" >"$T/diff" ||
		fail "$1: < kernel, > daemon: $(cat "$T/diff")"
	reach
}

# From nothing known: neighbour discovery and ARP.
reach()
{
	local to
	in_ns h1 ip neigh flush all
	in_ns h1 ip -6 neigh flush all
	for to in "$(host_ip6 2)" "$(host_ip6 4)" "$(host_ip6 0)" "$(host_ip 3)" "$(host_ip 0)"; do
		in_ns h1 ping -q -c 1 -W 5 "$to" >"$T/ping" 2>&1 ||
			fail "$pass: h1 does not reach $to: $(cat "$T/ping")"
	done
}

# The kernel counts a querier when members have had the time to answer, which
# nothing shows but the daemon, when it is there.
settled()
{
	if [ "$pass" = daemon ]; then
		wait_for 15 querier_is present "$1"
	else
		sleep 1.3
	fi
}

# h2 speaks IGMPv3 and MLDv2 and wants some groups from h1 only; h3 IGMPv2 and MLDv1.
h2_joins()
{
	join h2 eth0 239.1.1.1 239.1.1.3,"$(host_ip 1)" 224.0.0.251 ff02::fb ff15::3,"$(host_ip6 1)"
}

has_link_local()
{
	in_ns sw ip -6 addr show dev br0 scope link -tentative | grep fe80
}

members_join()
{
	in_ns h3 sysctl -qw net.ipv4.conf.eth0.force_igmp_version=2 \
		net.ipv6.conf.eth0.force_mld_version=1
	h2_joins
	join h3 eth0 239.1.1.1 239.1.1.2 224.0.0.251 ff02::fb ff15::2
	join sw br0 239.1.1.4 ff15::4
	in_ns sw bridge mdb add dev br0 port p3 grp 01:02:03:04:05:06 permanent ||
		fail "no Ethernet group"
	wait_for 10 in_mdb 'p2 239.1.1.1' "p2 239.1.1.3 $(host_ip 1)" 'p2 ff02::fb' \
		"p2 ff15::3 $(host_ip6 1)" 'p3 239.1.1.1' 'p3 239.1.1.2' 'p3 ff02::fb' 'p3 ff15::2' \
		'br0 239.1.1.4' 'br0 ff15::4' 'p2 ff02::1:ff00:2' 'p4 ff02::1:ff00:4' \
		'p3 01:02:03:04:05:06'
}

# How many frames of a sender for a group a host got.
got()
{
	awk -v want="$2 $3 $4" '$1 " " $2 " " $3 == want { n += $4 } END { print n + 0 }' \
		"$T/$pass.$1"
}

run_pass()
{
	pass=$1
	net_make 4 mcast_snooping 1 mcast_igmp_version 3 mcast_mld_version 2 \
		mcast_query_response_interval 100 mcast_last_member_interval 20
	members_join
	if [ "$pass" = daemon ]; then
		daemon_start <<<'querier-settle = 1500'
		wait_user_path
		wait_for 10 querier_is none
	fi
	probe_state none
	equal "$pass: without a querier h4 got" "$(got none h4 1 239.1.1.1)" $COUNT

	# The lower address is the querier's, and that of h4 is a link-local one.
	wait_for 10 has_link_local
	bridge_set mcast_querier 1
	settled 'the bridge asks'
	probe_state own
	equal "$pass: a member got" "$(got own h2 1 ff15::3)" $COUNT
	equal "$pass: a member got of the other source" "$(got own h2 4 239.1.1.3)" 0
	equal "$pass: who is no member got" "$(got own h4 1 239.1.1.1)" 0
	equal "$pass: the host got" "$(got own sw 1 239.1.1.4)" $COUNT

	leave h2
	wait_for 10 not_in_mdb 'p2 239.1.1.1' "p2 239.1.1.3 $(host_ip 1)" "p2 ff15::3 $(host_ip6 1)"
	probe_state left
	equal "$pass: after it left h2 got" "$(got left h2 1 239.1.1.1)$(got left h2 1 ff15::3)" 00

	# Another querier, which makes a router port of its own; sources do not count.
	bridge_set mcast_querier 0
	bridge_set mcast_igmp_version 2 mcast_mld_version 1
	h2_joins
	in_ns h4 "$MCASTER" query eth0 "$(host_ip 4)"
	in_ns h4 "$MCASTER" query eth0 fe80::4
	wait_for 5 p4_is_router
	wait_for 10 in_mdb 'p2 239.1.1.1' 'p2 239.1.1.3' 'p2 ff15::3'
	settled 'another querier'
	probe_state other
	equal "$pass: the router got" "$(got other h4 1 239.1.1.9)" $COUNT
	equal "$pass: who is no router got" "$(got other h3 1 239.1.1.9)" 0
}

p4_is_router()
{
	in_ns sw bridge -j -d mdb show dev br0 | jq -e 'any(.[].router.br0[]?; .port == "p4")'
}

run_pass kernel
for name in h2 h3 sw; do
	leave "$name"
done
for name in h1 h2 h3 h4 sw; do
	ns_del "$name"
done
run_pass daemon
ctl verify >"$T/verify" || fail "differences: $(cat "$T/verify")"
ctl -j verify | jq -e '.mdb_entries >= 12' >/dev/null || fail "verify compared no groups"
equal "the daemon's warnings" "$(grep -cE '^<[0-4]>' "$T/daemon.log")" 0
exit 0
