#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 64 ports. Without traffic the daemon uses less than 0.5 % of a core; a broadcast
# reaches each port once; and no frame of the UMEM is lost on the way.
#
# XB_COPIES: copies of the broadcasts in all (default 300000; 3000000 takes minutes).
. "$(dirname "$0")/lib.sh"

PORTS=64
COUNT=$(((${XB_COPIES:-300000} + PORTS - 2) / (PORTS - 1)))
RATE=800

# cpu_us PID: microseconds that its threads used; worker_us PID: all but the first.
# Not the clock ticks of "stat": each is 0.1 % of ten seconds.
cpu_us()
{
	awk '{ sum += $1 } END { printf "%d", sum / 1000 }' /proc/"$1"/task/*/schedstat
}

worker_us()
{
	awk -v first="/proc/$1/task/$1/" 'index(FILENAME, first) != 1 { sum += $1 }
		END { printf "%d", sum / 1000 }' /proc/"$1"/task/*/schedstat
}

# Of ten seconds.
percent()
{
	awk -v us="$1" 'BEGIN { printf "%.2f", us / 100000 }'
}

# Frames that the ports have received.
received()
{
	in_ns sw ip -j -s link | jq '[.[].stats64.rx.packets] | add'
}

# Hosts that have just come up talk for a while (IPv6): true after five seconds of silence.
silent()
{
	local before
	before=$(received)
	sleep 5
	[ "$(received)" = "$before" ]
}

# Ten seconds without traffic: the whole daemon takes less than 0.5 % of a core. On a
# machine that shares its CPUs with others each waking up has a price that is not
# the daemon's: what a process pays that wakes up as often, and then sends a frame to
# lo, is printed beside it.
idle()
{
	local before worker used reference
	send_start reference alone --dev lo --src "$(host_mac 1)" --dst "$(host_mac 2)" \
		--count 500 --rate 42 --burst 1
	before=$(cpu_us "$daemon_pid")
	worker=$(worker_us "$daemon_pid")
	sleep 10
	used=$(($(cpu_us "$daemon_pid") - before))
	worker=$(($(worker_us "$daemon_pid") - worker))
	reference=$(cpu_us "${send_pid[reference]}")
	send_end reference
	measured "idle with $PORTS ports: worker $(percent $worker) %, daemon $(percent $used) % of a" \
		"core (waking up 42 times a second takes $(percent "$reference") %)"
	[ $used -lt 50000 ]
}

need jq
ns_add alone
net_make $PORTS
daemon_start </dev/null
wait_user_path
wait_for 60 silent

idle || idle || idle || fail "too much of a core when idle"

stats_save before
for i in $(seq 2 $PORTS); do
	recv_start "h$i" "got$i" --count $COUNT --until $COUNT --idle 3000 --timeout $((COUNT * 5 + 20000))
done
send_start tx h1 --smooth --src "$(host_mac 1)" --dst broadcast --count $COUNT --rate $RATE \
	--burst 4
send_end tx
lost=0 twice=0 socket=0 wrong=0
for i in $(seq 2 $PORTS); do
	recv_end "got$i"
	lost=$((lost + $(recv_field "got$i" lost)))
	twice=$((twice + $(recv_field "got$i" duplicated)))
	socket=$((socket + $(json "$T/got$i.json" .socket_drops)))
	[ "$(recv_field "got$i" received)" = $COUNT ] || wrong=$((wrong + 1))
done
wait_for 5 frames_are_home
stats_save after
leaked=$(status_of .frames.lost)
measured "$COUNT broadcasts to $((PORTS - 1)) ports, $((COUNT * (PORTS - 1))) copies: $lost lost" \
	"(RX rings $(since before after '[.ports[].xsk | .rx_ring_full + .rx_dropped] | add')," \
	"drops $(since before after '[.ports[].dropped[]] | add'), receivers $socket), $twice twice," \
	"$wrong ports with a wrong count, $leaked frames leaked;" \
	"the daemon received" \
	"$(since before after '[.ports[] | select(.ifname == "p1").rx_frames] | add')"
equal "ports with a wrong count" $wrong 0
equal "copies received twice" $twice 0
equal "frames leaked" "$leaked" 0
[ "$(since before after '[.ports[] | select(.ifname == "p1").rx_flooded] | add')" -ge $COUNT ] ||
	fail "not all were flooded by the daemon"
exit 0
