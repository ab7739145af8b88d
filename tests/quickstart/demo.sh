#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: demo.sh [SECONDS]
#
# The demonstration of quickstart: a kernel bridge with three hosts, and an
# address on the bridge itself, in namespaces of their own; xbridged on that
# bridge; pings and TCP streams between all four, and a table of what went
# through which path. Ends after SECONDS, or at Ctrl-C, with a summary; exit
# status 0 only if all traffic got through and frames went through AF_XDP.
XB_NS=xbq
. "$(dirname "$0")/../netns/lib.sh"

duration=${1:-}
nodes=(0 1 2 3) # 0 is br0's own address
pairs=()
for from in "${nodes[@]}"; do
	for to in "${nodes[@]}"; do
		[ "$from" = "$to" ] || pairs+=("$from $to")
	done
done

node_ns()
{
	[ "$1" = 0 ] && echo sw || echo "h$1"
}

node_name()
{
	[ "$1" = 0 ] && echo br0 || echo "host$1"
}

# Appends "KIND FROM TO ok|failed MBIT" to the results.
result()
{
	echo "$*" >>"$T/results"
}

ping_pair()
{
	local kind=$1 from=$2 to=$3 address
	case $kind in
	ping) address=$(host_ip "$to") ;;
	ping6) address=$(host_ip6 "$to") ;;
	esac
	if in_ns "$(node_ns "$from")" ping -q -n -c 3 -i 0.2 -W 2 "$address" |
		grep -q ' 0% packet loss'; then
		result "$kind $from $to ok 0"
	else
		result "$kind $from $to failed 0"
	fi
}

# A stream of 16 MB. Checksums are left to the receiver's side, as virtual
# devices do by default: xbridged completes them.
tcp_pair()
{
	local from=$1 to=$2 mbit
	mbit=$(in_ns "$(node_ns "$from")" timeout 20 \
		iperf3 --json -c "$(host_ip "$to")" -n 16M 2>/dev/null |
		jq -r 'select(.error == null) | .end.sum_received.bits_per_second / 1e6 | floor')
	if [ "${mbit:-0}" -gt 0 ]; then
		result "tcp $from $to ok $mbit"
	else
		result "tcp $from $to failed 0"
	fi
}

# One round: all pings side by side, then one stream after another.
traffic_round()
{
	local pair ping_pids=()
	for pair in "${pairs[@]}"; do
		# shellcheck disable=SC2086 # two words
		ping_pair ping $pair &
		ping_pids+=("$!")
		# shellcheck disable=SC2086
		ping_pair ping6 $pair &
		ping_pids+=("$!")
	done
	wait "${ping_pids[@]}"
	for pair in "${pairs[@]}"; do
		# shellcheck disable=SC2086
		tcp_pair $pair
	done
	echo >>"$T/rounds"
}

servers_start()
{
	local node
	for node in "${nodes[@]}"; do
		setsid nsenter --net="$(ns_path "$(node_ns "$node")")" -- \
			iperf3 -s >/dev/null 2>&1 &
		pids+=("$!")
	done
	for node in "${nodes[@]}"; do
		wait_for 5 server_listens "$node"
	done
}

# shellcheck disable=SC2317 # called by wait_for
server_listens()
{
	in_ns "$(node_ns "$1")" ss -Hltn 'sport = 5201' | grep -q LISTEN
}

# Prints "ok failed" of one kind.
count_results()
{
	awk -v kind="$1" '
	$1 == kind { n[$4]++ }
	END { print n["ok"] + 0, n["failed"] + 0 }' "$T/results"
}

# Prints "PORT AF_XDP-IN AF_XDP-OUT LEFT-TO-KERNEL DROPPED" in frames, for each port.
path_counters()
{
	ctl -j stats | jq -r '.ports[] | [.ifname, .rx_frames, .tx_frames,
		([.passed[]] | add // 0), ([.dropped[]] | add // 0)] | join(" ")'
}

show()
{
	local ok failed kind
	[ ! -t 1 ] || printf '\033[H\033[J'
	echo "xbridged on br0 with three hosts and an address of its own ($SECONDS s)"
	echo
	path_counters | awk '
	BEGIN {
		printf "%-8s %14s %14s %16s %10s\n", "port", "AF_XDP in", "AF_XDP out", "left to kernel", "dropped"
	}
	{ printf "%-8s %14d %14d %16d %10d\n", $1, $2, $3, $4, $5 }'
	echo
	for kind in ping ping6 tcp; do
		read -r ok failed < <(count_results $kind)
		printf '%-6s %6d worked %6d failed\n' $kind "$ok" "$failed"
	done
	awk '$1 == "tcp" && $4 == "ok" { n++; sum += $5 }
	END { if (n) printf "TCP streams: %d Mbit/s each on average\n", sum / n }' "$T/results"
	[ ! -t 1 ] || echo "Ctrl-C ends it."
}

# shellcheck disable=SC2317 # called by the trap
interrupted()
{
	stop=yes
}

# Exit status of the demonstration.
verdict()
{
	local through n_failed
	through=$(path_counters | awk '{ sum += $2 } END { print sum + 0 }')
	n_failed=$(grep -c failed "$T/results")
	echo
	echo "$through frames went through AF_XDP."
	[ -s "$T/rounds" ] || fail "ended before every pair had its turn"
	[ "$n_failed" = 0 ] || fail "$(grep failed "$T/results" | sort | uniq -c)"
	if [ "$through" = 0 ]; then
		ctl status
		fail "no frame went through AF_XDP; the kernel bridge forwarded all of them"
	fi
	echo "All pings and TCP streams worked."
}

: >"$T/results"
net_make 3
# A machine that is busy with other things is not a stalled worker.
daemon_start sw <<'CONF'
heartbeat = 1000
# No VLANs here; without this, kernels before 6.8 would forward everything.
unseen-tags = ignore
CONF
servers_start

stop=no
trap interrupted INT TERM
SECONDS=0
# A process group of its own: Ctrl-C does not reach it, and all of it can be ended.
set -m
(
	while :; do
		traffic_round
	done
) &
traffic=$!
set +m

while [ $stop = no ]; do
	[ ! -t 1 ] || show
	# The first round is always finished: before that there is no verdict.
	[ -z "$duration" ] || [ $SECONDS -lt "$duration" ] || [ ! -s "$T/rounds" ] || break
	sleep 1
done
kill -- "-$traffic"
wait "$traffic" 2>/dev/null
show
verdict
