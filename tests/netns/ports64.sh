#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 64 ports. Without traffic the daemon uses less than 1 % of a core; a broadcast
# reaches each port once; and no frame of the UMEM is lost on the way.
#
# XB_COPIES: copies of the broadcasts in all (default 300000; 3000000 takes minutes).
. "$(dirname "$0")/lib.sh"

PORTS=64
COUNT=$(((${XB_COPIES:-300000} + PORTS - 2) / (PORTS - 1)))
RATE=800

# Clock ticks that the daemon used.
cpu_ticks()
{
	awk '{ print $14 + $15 }' "/proc/$daemon_pid/stat"
}

need jq
net_make $PORTS
daemon_start </dev/null
wait_user_path

# Ten seconds without traffic. The same work takes longer beside busy processes, with
# which it shares caches: the best of three counts.
idle()
{
	local before used
	before=$(cpu_ticks)
	sleep 10
	used=$(($(cpu_ticks) - before))
	measured "idle with $PORTS ports:" \
		"$(awk -v t=$used -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", t * 10 / hz }')" \
		"% of a core"
	[ $((used * 10)) -lt "$(getconf CLK_TCK)" ]
}
idle || idle || idle || fail "more than 1 % of a core when idle"

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
