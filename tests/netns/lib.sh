# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# lib.sh: sourced by the tests in network namespaces. Everything that a test
# makes is its own (namespaces xbt-PID-NAME, a directory $T, processes that it
# remembers) and is gone when it ends, however it ends. The demonstration of
# quickstart is made of the same pieces, and sets XB_NS for another prefix.
#
#	ns_add NAME			a namespace with lo up
#	ns_del NAME			deletes it before the test ends
#	in_ns NAME COMMAND...		runs it there
#	net_make N [OPTION]...		namespace "sw": bridge br0 (OPTIONs as in
#					`ip link add type bridge`) with ports p1..pN;
#					namespaces h1..hN: eth0, the other ends
#	alone_make N			namespace "sw" with p1..pN in no bridge; h1..hN
#	host_mac I, host_ip I, host_ip6 I	of host I; I = 0 is br0 itself
#	daemon_start [NAME] <CONFIG	xbridged in "sw" (or NAME); CONFIG is added
#					to what lib.sh needs; returns when it answers
#	daemon_stop, daemon_signal S	ends it and waits; sends it a signal
#	ctl ARGUMENT...			xbridgectl to that daemon
#	use_user_path PORT...	the bridges are served and these ports on the user path
#	reason_is DEV REASON	of a port or bridge; none: the user path
#	told TEXT		the history has a line with this text
#	port_stat PORT JQ	a number of `xbridgectl stats`, as in .rx_frames
#	fdb_port kernel|user MAC	the port on which that table has the station
#	wait_for SECONDS COMMAND...	until it succeeds; fails the test if it does not.
#					XB_PATIENCE times as long on an emulated machine
#	gen NAME ARGUMENT...		xbgen in a namespace
#	recv_start NAME ID ARGUMENT...	a receiver on eth0 there, ready when it returns
#	recv_end ID			waits for its end; result in $T/ID.json
#	recv_stop ID			ends it now; result as above
#	recv_field ID FIELD		the sum of FIELD over the senders
#	send_start ID NAME ARGUMENT...	a sender on eth0 there, in the background
#	send_end ID			waits for its end; fails the test if it could not send
#	sent_field ID FIELD		of what it said
#	daemon_kill			kill -9, and waits for the end
#	wait_user_path			until all ports of all bridges are on the user path
#	redirected_reaches PORT N	its frames for the daemon since it started
#	status_of FILTER, stats_of FILTER	what the daemon says, by jq
#	stats_save ID, saved ID FILTER, since ID1 ID2 FILTER	counters kept; differences
#	json FILE FILTER		jq
#	frames_are_home			true when no frame is on its way in the daemon
#	measured TEXT...		a result that is shown when the test passes
#	need COMMAND			skips the test without it
#	dhcp_need			skips the test without a DHCP server and client
#	dhcp_serve			a DHCP server on br0
#	dhcp_lease NAME			a client on eth0 there, which loses its
#					addresses, gets one; or the test fails
#	fail MESSAGE, skip MESSAGE, equal WHAT GOT WANT
set -u

XB_SRC=$(realpath "${XB_SRC:-$(dirname "${BASH_SOURCE[0]}")/../..}")
XB_BUILD=$(realpath "${XB_BUILD:-$PWD}")
XBGEN=$XB_BUILD/tests/netns/xbgen/xbgen
XB_NS=${XB_NS:-xbt}-$$
T='' # the directory of this test
ns_made=()
pids=()
declare -A recv_pid send_pid
daemon_pid=''

fail()
{
	echo "FAIL: $*"
	exit 1
}

skip()
{
	echo "$*"
	exit 77
}

equal()
{
	[ "$2" = "$3" ] || fail "$1 is $2, not $3"
}

wait_for()
{
	local end=$((SECONDS + $1 * ${XB_PATIENCE:-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || fail "waited in vain for: $*"
		sleep 0.02
	done
}

ns_path()
{
	echo "/run/netns/$XB_NS-$1"
}

ns_del()
{
	local name kept=()
	for name in "${ns_made[@]}"; do
		[ "$name" = "$1" ] || kept+=("$name")
	done
	ns_made=("${kept[@]}")
	ip netns del "$XB_NS-$1"
}

in_ns()
{
	local name=$1
	shift
	nsenter --net="$(ns_path "$name")" -- "$@"
}

ns_add()
{
	ip netns add "$XB_NS-$1" || fail "cannot make the namespace $1"
	ns_made+=("$1")
	in_ns "$1" ip link set lo up
}

host_mac()
{
	printf '02:00:00:00:00:%02x' "$1"
}

host_ip()
{
	echo "10.77.0.$(($1 == 0 ? 254 : $1))"
}

host_ip6()
{
	printf 'fd77::%x' "$(($1 == 0 ? 254 : $1))"
}

# A host and its port; both up.
host_add()
{
	local i=$1
	ns_add "h$i"
	in_ns sw ip link add "p$i" type veth \
		peer name eth0 netns "$(ns_path "h$i")" address "$(host_mac "$i")" ||
		fail "cannot make port p$i"
	in_ns "h$i" ip addr add "$(host_ip "$i")/24" dev eth0
	in_ns "h$i" ip addr add "$(host_ip6 "$i")/64" dev eth0 nodad
	in_ns "h$i" ip link set eth0 up
	in_ns sw ip link set "p$i" master br0 up
}

net_make()
{
	local n=$1 i
	shift
	ns_add sw
	in_ns sw ip link add br0 address "$(host_mac 0)" type bridge "$@" ||
		fail "cannot make the bridge"
	in_ns sw ip addr add "$(host_ip 0)/24" dev br0
	in_ns sw ip addr add "$(host_ip6 0)/64" dev br0 nodad
	in_ns sw ip link set br0 up
	for i in $(seq "$n"); do
		host_add "$i"
	done
	for i in $(seq "$n"); do
		wait_for 5 port_forwards "p$i"
	done
}

# For stand-alone bridges: no addresses, and no frames but the test's own.
alone_make()
{
	local i
	ns_add sw
	in_ns sw sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	for i in $(seq "$1"); do
		ns_add "h$i"
		in_ns "h$i" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
		in_ns sw ip link add "p$i" type veth \
			peer name eth0 netns "$(ns_path "h$i")" address "$(host_mac "$i")" ||
			fail "cannot make port p$i"
		in_ns "h$i" ip link set eth0 up
		in_ns sw ip link set "p$i" up
	done
}

port_forwards()
{
	in_ns sw ip -d link show "$1" | grep -q 'state forwarding'
}

daemon_start()
{
	local name=${1:-sw} end=$((SECONDS + 60))
	{
		echo "control-socket = \"$T/control\""
		echo "accelerate-virtual = yes"
		[ -t 0 ] || cat
	} >"$T/xbridged.conf"
	# Not by in_ns: $! is then the daemon itself, and not a shell around it.
	# A session of its own: Ctrl-C ends the script, and the script ends it.
	# The priority is that of the systemd unit, here and in the share of the session.
	setsid nice -n -15 nsenter --net="$(ns_path "$name")" -- \
		"$XB_BUILD/xbridged" --config "$T/xbridged.conf" >>"$T/daemon.log" 2>&1 &
	daemon_pid=$!
	pids+=("$daemon_pid")
	until ctl status >/dev/null 2>&1; do
		kill -0 "$daemon_pid" 2>/dev/null || fail "the daemon ended"
		[ $SECONDS -lt $end ] || fail "the daemon does not answer"
		sleep 0.02
	done
	# Not before: by now it is in a session of its own.
	[ ! -w "/proc/$daemon_pid/autogroup" ] || echo -15 >"/proc/$daemon_pid/autogroup"
}

daemon_kill()
{
	kill -s KILL "$daemon_pid"
	wait "$daemon_pid" 2>/dev/null
}

daemon_signal()
{
	kill -s "$1" "$daemon_pid"
}

# Its exit status is the daemon's.
daemon_stop()
{
	kill "$daemon_pid"
	wait "$daemon_pid"
}

ctl()
{
	"$XB_BUILD/xbridgectl" --socket "$T/control" "$@"
}

use_user_path()
{
	local port
	for port in "$@"; do
		reason_is "$port" none && port_state_is "$port" forwarding || return 1
	done
	ctl -j status | jq -e '.gate == "open" and ([.bridges[] | select(.gate == "open")] | length > 0)'
}

# What the daemon knows of it; the kernel changed it a moment earlier.
port_state_is()
{
	ctl -j status | jq -e --arg dev "$1" --arg state "$2" \
		'any(.bridges[].ports[]; .ifname == $dev and .state == $state)'
}

reason_is()
{
	ctl -j status | jq -e --arg dev "$1" --arg reason "$2" \
		'[.bridges[] | ., .ports[] | select(.ifname == $dev and .reason == $reason)] | length > 0'
}

told()
{
	ctl -j status | jq -e --arg text "$1" 'any(.history[].text; contains($text))'
}

port_stat()
{
	ctl -j stats | jq "[.ports[] | select(.ifname == \"$1\" and (.host | not)) | $2] | add // 0"
}

# Without a port of the host's own.
fdb_port()
{
	if [ "$1" = kernel ]; then
		in_ns sw bridge -j fdb show br br0
	else
		ctl -j fdb
	fi | jq -r --arg mac "$2" \
		'[.[] | select(.mac == $mac and .state != "permanent") | .ifname] | unique | join(" ")'
}

gen()
{
	local name=$1
	shift
	in_ns "$name" "$XBGEN" "$@"
}

recv_start()
{
	local name=$1 id=$2
	shift 2
	rm -f "$T/$id.ready"
	nsenter --net="$(ns_path "$name")" -- "$XBGEN" recv --dev eth0 --ready "$T/$id.ready" "$@" \
		>"$T/$id.json" 2>"$T/$id.errors" &
	recv_pid[$id]=$!
	pids+=("$!")
	wait_for 5 test -e "$T/$id.ready"
}

recv_end()
{
	wait "${recv_pid[$1]}" || fail "receiver $1: $(cat "$T/$1.errors")"
}

recv_stop()
{
	kill "${recv_pid[$1]}"
	recv_end "$1"
}

recv_field()
{
	sed -n "/\"source\":/s/.*\"$2\": \([0-9]*\).*/\1/p" "$T/$1.json" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

send_start()
{
	local id=$1 name=$2
	shift 2
	nsenter --net="$(ns_path "$name")" -- "$XBGEN" send --dev eth0 "$@" \
		>"$T/$id.json" 2>"$T/$id.errors" &
	send_pid[$id]=$!
	pids+=("$!")
}

send_end()
{
	wait "${send_pid[$1]}" || fail "sender $1: $(cat "$T/$1.json" "$T/$1.errors")"
}

sent_field()
{
	json "$T/$1.json" ".$2"
}

need()
{
	command -v "$1" >/dev/null || skip "needs $1"
}

dhcp_need()
{
	need dnsmasq
	busybox --list 2>/dev/null | grep -qx udhcpc || skip "needs busybox with udhcpc"
}

dhcp_serve()
{
	nsenter --net="$(ns_path sw)" -- dnsmasq --keep-in-foreground --conf-file=/dev/null --port=0 \
		--interface=br0 --bind-interfaces --dhcp-range=10.77.0.100,10.77.0.110,255.255.255.0,1h \
		--dhcp-authoritative --no-ping --user=root --pid-file="$T/dnsmasq.pid" \
		--dhcp-leasefile="$T/leases" --log-facility=- >"$T/dnsmasq" 2>&1 &
	pids+=("$!")
	wait_for 5 grep -q 'DHCP, IP range' "$T/dnsmasq"
	cat >"$T/lease.sh" <<-'LEASE'
		#!/bin/sh
		[ "$1" = bound ] && echo "$ip" >"$LEASE_FILE"
		exit 0
	LEASE
	chmod +x "$T/lease.sh"
}

dhcp_lease()
{
	local name=$1
	in_ns "$name" ip addr flush dev eth0
	LEASE_FILE=$T/lease.$name in_ns "$name" busybox udhcpc -i eth0 -f -n -q -t 5 -T 1 \
		-s "$T/lease.sh" >"$T/udhcpc" 2>&1 || fail "no lease: $(cat "$T/udhcpc" "$T/dnsmasq")"
	grep -q '^10\.77\.0\.1[01][0-9]$' "$T/lease.$name" || fail "lease: $(cat "$T/lease.$name")"
	grep -q "$(host_mac "${name#h}")" "$T/leases" || fail "leases: $(cat "$T/leases")"
}

measured()
{
	echo "measured: $*"
}

json()
{
	jq -r "$2" "$1"
}

status_of()
{
	ctl --json status | jq -r "$1"
}

stats_of()
{
	ctl --json stats | jq -r "$1"
}

stats_save()
{
	ctl --json stats >"$T/$1.stats" || fail "no counters"
}

saved()
{
	json "$T/$1.stats" "$2"
}

since()
{
	echo $(($(saved "$2" "$3") - $(saved "$1" "$3")))
}

on_user_path()
{
	[ "$(status_of '[.gate, .bridges[].gate, .bridges[].ports[].path] - ["open", "user"] == []
		and (.bridges | length) > 0')" = true ]
}

wait_user_path()
{
	wait_for 20 on_user_path
}

redirected_reaches()
{
	[ "$(stats_of "[.ports[] | select(.ifname == \"$1\").redirected] | add // 0")" -ge "$2" ]
}

frames_are_home()
{
	[ "$(status_of '.frames | .tx + .batch')" = 0 ]
}

receiver_lost()
{
	echo "receiver's socket lost $(json "$T/$1.json" .socket_drops)"
}

# What a daemon in that namespace left in bpffs: a stop keeps the programs
# attached, and a killed daemon removes nothing.
# shellcheck disable=SC2317 # called by clean_up
ns_forget_pins()
{
	local inode
	inode=$(stat -L -c %i "$(ns_path "$1")") || return
	[ ! -d "/sys/fs/bpf/xbridged/$inode" ] ||
		in_ns "$1" "$XB_BUILD/xbridged" --cleanup >/dev/null
	rm -rf "/sys/fs/bpf/xbridged/$inode" "/run/xbridged/$inode.lock"
}

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	local status=$? pid name
	trap - EXIT INT TERM HUP
	for pid in ${pids[@]+"${pids[@]}"}; do
		kill -s CONT "$pid" 2>/dev/null
		kill "$pid" 2>/dev/null
	done
	for pid in ${pids[@]+"${pids[@]}"}; do
		kill -s 0 "$pid" 2>/dev/null || continue
		timeout 5 tail --pid="$pid" -f /dev/null || kill -s KILL "$pid" 2>/dev/null
	done
	for name in ${ns_made[@]+"${ns_made[@]}"}; do
		ns_forget_pins "$name"
		ip netns del "$XB_NS-$name"
	done
	if [ $status != 0 ] && [ $status != 77 ]; then
		echo "status $status"
		[ ! -s "$T/daemon.log" ] || tail -n 40 "$T/daemon.log"
	fi
	rm -rf "$T"
	exit $status
}

[ "$(id -u)" = 0 ] || skip "needs root"
grep -q '^XDP ' /proc/net/protocols || skip "this kernel has no AF_XDP"
T=$(mktemp -d "${TMPDIR:-/tmp}/$XB_NS.XXXXXX")
trap clean_up EXIT
trap 'exit 143' INT TERM HUP
