#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One TCP stream from one host to another, through two ports, by iperf3. The hosts
# are as the kernel makes them, offloads included.
. "$(dirname "$0")/live.sh"

iperf_pid=''

# The server that is up answers the stream, and ends.
iperf_listens()
{
	in_ns h2 ss -Hltn 'sport = :5201' | grep -q .
}

measure()
{
	local rate
	nsenter --net="$(ns_path h2)" -- iperf3 --server --one-off >"$T/server.log" 2>&1 &
	iperf_pid=$!
	pids+=("$iperf_pid")
	wait_for 5 iperf_listens
	in_ns h1 timeout $((MS / 1000 + 15)) iperf3 --client "$(host_ip 2)" --json \
		--time $(((MS + 999) / 1000)) >"$T/client.json"
	end_process "$iperf_pid"
	rate=$(json "$T/client.json" '.end.sum_received.bits_per_second // 0 | . / 1000000')
	[ "${rate%.*}" != 0 ] && ask value "stream.$subject" "$rate"
}

need iperf3
subjects_present kernel user
net_make 2
live_figures
each_round measure
report tcp.stream Mbit/s stream
live_end
exit 0
