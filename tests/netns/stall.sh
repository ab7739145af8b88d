#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A stopped daemon (SIGSTOP) holds the frames of one heartbeat at most. The kernel
# bridge forwards meanwhile; what was held is dropped and counted afterwards, and
# never sent late.
. "$(dirname "$0")/lib.sh"

RATE=10000
COUNT=40000
BEAT_MS=100

need jq
net_make 2
# Every frame that is dropped is one of the test's.
for i in 1 2; do
	in_ns "h$i" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
done
daemon_start <<-CONF
	heartbeat = ${BEAT_MS}ms
CONF
wait_user_path
recv_start h2 got --count $COUNT --until $COUNT --idle 1500 --timeout 20000
send_start tx h1 --smooth --src "$(host_mac 1)" --dst "$(host_mac 2)" --count $COUNT --rate $RATE
wait_for 5 redirected_reaches p1 5000
daemon_signal STOP
sleep 2 # how long it is stopped
daemon_signal CONT
send_end tx
recv_end got
stats_save end

lost=$(recv_field got lost)
stale=$(saved end '[.ports[].dropped.stale] | add')
full=$(saved end '[.ports[].xsk | .rx_ring_full + .rx_dropped] | add')
other=$(saved end '[.ports[].dropped | del(.stale)[]] | add')
limit=$((BEAT_MS * RATE * 11 / 10000))
measured "SIGSTOP for 2 s, $RATE frames/s: $lost lost = $stale stale + $full ring full" \
	"(limit $limit), $(recv_field got gaps) gaps," \
	"$(recv_field got reordered) reordered," \
	"$(saved end '.workers.stalls') stalls; $(receiver_lost got)"
[ "$(saved end .workers.stalls)" -ge 1 ] || fail "the stall was not seen"
[ "$stale" -gt 0 ] || fail "nothing was stale"
equal "frames lost" "$lost" $((stale + full + $(json "$T/got.json" .socket_drops)))
equal "frames dropped for other reasons" "$other" 0
[ "$lost" -le $limit ] || fail "$lost frames lost"
equal "frames that came late" "$(recv_field got reordered)" 0
equal "frames received twice" "$(recv_field got duplicated)" 0
# None was lost before the stall, and none after the gate had shut.
equal "runs of missing numbers" "$(recv_field got gaps)" 1
equal "the last number received" "$(recv_field got last_seq)" $((COUNT - 1))
exit 0
