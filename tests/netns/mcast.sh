#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Multicast of a bridge that snoops goes where the kernel bridge sends it: real
# members, sources and queriers, once without the daemon and once with it. What
# came out is compared line by line, and was decided on the user path.
#
# XB_VLANS=1 (where the kernel has VLAN filtering): all of this is VLAN 10, in
# which h2 is behind a tagged port; the same port and h5 are in VLAN 20, where the
# groups of VLAN 10 are not. Then clients in VLAN 10 get addresses by DHCP.
# shellcheck disable=SC2016,SC2317 # filters of jq; functions that are called by others
. "$(dirname "$0")/lib.sh"

for tool in jq ping; do
	need $tool
done

XB_VLANS=${XB_VLANS:-}
MCASTER=$XB_BUILD/tests/netns/mcaster
COUNT=5
HOSTS='h1 h2 h3 h4'
WATCHED='sw:br0 h1:eth0 h2:eth0 h3:eth0 h4:eth0'
CONFIG='querier-settle = 1500'
in_vlan='' # of the entries in the kernel's table
if [ "$XB_VLANS" ]; then
	dhcp_need
	HOSTS="$HOSTS h5"
	WATCHED="$WATCHED h2:trunk h2:vlan20 h5:eth0"
	CONFIG="$CONFIG
		heartbeat = 2000
		control-heartbeat = 20000
		resync-deadline = 20000
		umem-frames = 16384"
	in_vlan=' vid 10'
fi
declare -A join_pid

# The network: VLAN 10 without a tag for all but h2; VLAN 20 for h2, with a tag, and h5.
vlans_make()
{
	local name i
	for name in sw $HOSTS; do
		ip netns add "$XB_NS-$name" && ns_made+=("$name")
	done
	{
		echo "link set lo up"
		echo "link add br0 address $(host_mac 0) type bridge vlan_filtering 1 vlan_default_pvid 0 $*"
		for i in 1 2 3 4 5; do
			echo "link add p$i type veth peer name eth0 netns $(ns_path "h$i") address $(host_mac "$i")"
			echo "link set p$i master br0 up"
		done
	} | in_ns sw ip -batch - || fail "cannot make the bridge"
	in_ns sw bridge -batch - <<-VLANS || fail "cannot set VLANs"
		vlan add dev br0 vid 10 pvid untagged self
		vlan add dev p1 vid 10 pvid untagged
		vlan add dev p2 vid 10
		vlan add dev p2 vid 20
		vlan add dev p3 vid 10 pvid untagged
		vlan add dev p4 vid 10 pvid untagged
		vlan add dev p5 vid 20 pvid untagged
	VLANS
	host_addresses br0 "$(host_ip 0)" "$(host_ip6 0)" | in_ns sw ip -batch -
	for i in 1 3 4; do
		host_addresses eth0 "$(host_ip "$i")" "$(host_ip6 "$i")" | in_ns "h$i" ip -batch -
	done
	{
		echo "link set eth0 name trunk addrgenmode none up"
		echo "link add link trunk name eth0 type vlan id 10"
		echo "link add link trunk name vlan20 type vlan id 20"
		host_addresses eth0 "$(host_ip 2)" "$(host_ip6 2)"
		host_addresses vlan20 10.78.0.2 fd78::2
	} | in_ns h2 ip -batch - || fail "cannot make h2"
	host_addresses eth0 10.78.0.5 fd78::5 | in_ns h5 ip -batch -
}

host_addresses()
{
	printf '%s\n' "addr add $2/24 dev $1" "addr add $3/64 dev $1 nodad" "link set $1 up"
}

# Becomes a member in the background, until leave; who may be HOST.SOMETHING.
join()
{
	local name=$1 dev=$2
	shift 2
	rm -f "$T/joined.$name"
	nsenter --net="$(ns_path "${name%.*}")" -- "$MCASTER" join "$dev" "$T/joined.$name" "$@" &
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
	missing_in_mdb '[]' "${@/%/$in_vlan}"
}

not_in_mdb()
{
	missing_in_mdb '$ARGS.positional' "${@/%/$in_vlan}"
}

missing_in_mdb()
{
	local want=$1
	shift
	in_ns sw bridge -j -d mdb show dev br0 | jq -e --args '($ARGS.positional - [.[].mdb[] |
		.port + " " + .grp + (if .src then " " + .src else "" end) +
		(if .vid then " vid \(.vid)" else "" end)]) == '"$want" "$@"
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

# Of HOST:DEV.
watch_start()
{
	rm -f "$T/watching.$1"
	nsenter --net="$(ns_path "${1%:*}")" -- "$MCASTER" watch "${1#*:}" "$T/watching.$1" 300 \
		>"$T/seen.$1" &
	watch_pid[$1]=$!
	pids+=("$!")
}

watches_started()
{
	local at
	for at in $WATCHED; do
		[ -e "$T/watching.$at" ] || return 1
	done
}

watches_over()
{
	local at
	for at in $WATCHED; do
		! kill -0 "${watch_pid[$at]}" 2>/dev/null || return 1
	done
}

# send HOST DEV NUMBER COUNT GROUP...
send()
{
	local name=$1
	shift
	in_ns "$name" "$MCASTER" send "$@" || fail "$name cannot send"
}

# What who gets of what h1 and h4 (in VLAN 20 h5 and h2, as 6) send now:
# $T/PASS.STATE, lines "host sender group count disordered".
probe()
{
	local at
	declare -A watch_pid
	for at in $WATCHED; do
		watch_start "$at"
	done
	wait_for 5 watches_started
	if [ "$XB_VLANS" ]; then
		send h5 eth0 5 "$COUNT" 239.1.1.1 239.1.1.4 239.1.1.7 239.1.1.8 239.1.1.9 224.0.0.251 \
			ff15::2 ff15::4 ff15::7 ff15::8 ff15::9 ff02::fb 01:02:03:04:05:06
		send h2 vlan20 6 "$COUNT" 239.1.1.1 239.1.1.5 ff15::2 ff15::5
		send h1 eth0 1 "$COUNT" 239.1.1.5 239.1.1.7 239.1.1.8 ff15::5 ff15::7 ff15::8
	fi
	send h1 eth0 1 "$COUNT" \
		239.1.1.1 239.1.1.2 239.1.1.3 239.1.1.4 239.1.1.9 224.0.0.251 224.0.0.99 \
		ff15::2 ff15::3 ff15::4 ff15::9 ff02::fb ff02::1 ff02::99 \
		01:02:03:04:05:06 01:02:03:04:05:07
	send h4 eth0 4 "$COUNT" 239.1.1.1 239.1.1.3 ff15::3 ff15::9
	send h1 eth0 0 1 224.0.0.98
	send h4 eth0 0 1 224.0.0.98
	if [ "$XB_VLANS" ]; then
		send h5 eth0 0 1 224.0.0.98
		send h2 vlan20 0 1 224.0.0.98
	fi
	wait_for 10 watches_over
	awk '{ at = FILENAME; sub(/.*\/seen\./, "", at); sub(/:eth0$/, "", at); print at, $0 }' \
		"$T"/seen.* | sort >"$T/$pass.$1"
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
	# An emulated machine starts few programs in a second.
	case $XB_VLANS$1 in
	*none | *own | left | other) reach ;;
	esac
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
	[ "$XB_VLANS" ] || return 0
	in_ns h2 ip -6 neigh flush all
	in_ns h5 ip -6 neigh flush all
	in_ns h5 ping -q -c 1 -W 5 fd78::2 >"$T/ping" 2>&1 ||
		fail "$pass: h5 does not reach h2 in VLAN 20: $(cat "$T/ping")"
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
	join h2 eth0 239.1.1.1 239.1.1.3,"$(host_ip 1)" 224.0.0.251 ff02::fb ff15::3,"$(host_ip6 1)" \
		239.1.1.8 ff15::8
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
	# shellcheck disable=SC2086 # "vid 10", or nothing
	in_ns sw bridge mdb add dev br0 port p3 grp 01:02:03:04:05:06 permanent $in_vlan ||
		fail "no Ethernet group"
	wait_for 10 in_mdb 'p2 239.1.1.1' "p2 239.1.1.3 $(host_ip 1)" 'p2 ff02::fb' \
		"p2 ff15::3 $(host_ip6 1)" 'p3 239.1.1.1' 'p3 239.1.1.2' 'p3 ff02::fb' 'p3 ff15::2' \
		'br0 239.1.1.4' 'br0 ff15::4' 'p2 ff02::1:ff00:2' 'p4 ff02::1:ff00:4' \
		'p3 01:02:03:04:05:06' 'p2 239.1.1.8' 'p2 ff15::8'
	[ "$XB_VLANS" ] || return 0
	join h2.20 vlan20 239.1.1.7 239.1.1.8 ff15::7 ff15::8
	join h5 eth0 239.1.1.5 ff15::5
	in_vlan=' vid 20' wait_for 10 in_mdb 'p2 239.1.1.7' 'p2 239.1.1.8' 'p2 ff15::7' 'p2 ff15::8' \
		'p5 239.1.1.5' 'p5 ff15::5' 'p2 ff02::1:ff00:2' 'p5 ff02::1:ff00:5'
}

# How many frames of a sender for a group a host got.
got()
{
	awk -v want="$2 $3 $4" '$1 " " $2 " " $3 == want { n += $4 } END { print n + 0 }' \
		"$T/$pass.$1"
}

# each_got STATE N WHO SENDER GROUP...: N of each.
each_got()
{
	local state=$1 n=$2 who=$3 sender=$4 group
	shift 4
	for group; do
		equal "$pass, $state: $who got of sender $sender for $group" \
			"$(got "$state" "$who" "$sender" "$group")" "$n"
	done
}

# With a querier: VLAN 20 has members of its own, behind a port that has them in both.
# What the daemon does is equal.
vlans_are_apart()
{
	[ "$XB_VLANS" ] && [ "$pass" = kernel ] || return 0
	each_got "$1" $COUNT h2:vlan20 5 239.1.1.7 239.1.1.8 ff15::7 ff15::8
	each_got "$1" 0 h2:vlan20 5 239.1.1.1 239.1.1.9 ff15::9
	each_got "$1" $COUNT h5 6 239.1.1.5 ff15::5
	each_got "$1" 0 h5 6 239.1.1.1 ff15::2
	each_got "$1" 0 h2 1 239.1.1.5 239.1.1.7 ff15::5 ff15::7
	each_got "$1" 0 h2:trunk 1 239.1.1.7 ff15::7
	equal "$pass, $1: frames in the other VLAN" \
		"$(grep -cE '^(h2:vlan20|h5) [14] |^(sw:br0|h[1-4]) [56] ' "$T/$pass.$1")" 0
}

run_pass()
{
	pass=$1
	# shellcheck disable=SC2046 # a command and its argument
	$([ "$XB_VLANS" ] && echo vlans_make || echo net_make 4) \
		mcast_snooping 1 mcast_igmp_version 3 mcast_mld_version 2 \
		mcast_query_response_interval 100 mcast_last_member_interval 20
	members_join
	if [ "$pass" = daemon ]; then
		daemon_start <<<"$CONFIG"
		wait_user_path
		wait_for 10 querier_is none
	fi
	probe_state none
	equal "$pass: without a querier h4 got" "$(got none h4 1 239.1.1.1)" $COUNT
	[ ! "$XB_VLANS" ] || each_got none $COUNT h2:vlan20 5 239.1.1.1 ff15::9

	# The lower address is the querier's, and that of h4 is a link-local one.
	wait_for 10 has_link_local
	bridge_set mcast_querier 1
	settled 'the bridge asks'
	probe_state own
	equal "$pass: a member got" "$(got own h2 1 ff15::3)" $COUNT
	equal "$pass: a member got of the other source" "$(got own h2 4 239.1.1.3)" 0
	equal "$pass: who is no member got" "$(got own h4 1 239.1.1.1)" 0
	equal "$pass: the host got" "$(got own sw:br0 1 239.1.1.4)" $COUNT
	vlans_are_apart own

	leave h2
	wait_for 10 not_in_mdb 'p2 239.1.1.1' "p2 239.1.1.3 $(host_ip 1)" "p2 ff15::3 $(host_ip6 1)" \
		'p2 239.1.1.8' 'p2 ff15::8'
	probe_state left
	equal "$pass: after it left h2 got" "$(got left h2 1 239.1.1.1)$(got left h2 1 ff15::3)" 00
	vlans_are_apart left

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
	vlans_are_apart other
}

p4_is_router()
{
	in_ns sw bridge -j -d mdb show dev br0 | jq -e 'any(.[].router.br0[]?; .port == "p4")'
}

run_pass kernel
for name in "${!join_pid[@]}"; do
	leave "$name"
done
for name in $HOSTS sw; do
	ns_del "$name"
done
run_pass daemon
ctl verify >"$T/verify" || fail "differences: $(cat "$T/verify")"
ctl -j verify | jq -e '.mdb_entries >= 12' >/dev/null || fail "verify compared no groups"
if [ "$XB_VLANS" ]; then
	echo "== DHCP from br0 to a client without a tag and one with it"
	dhcp_serve
	dhcp_lease h4
	dhcp_lease h2
fi
equal "the daemon's warnings" "$(grep -cE '^<[0-4]>' "$T/daemon.log")" 0
exit 0
