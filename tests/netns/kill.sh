#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kill -9 of the daemon loses only what lay in its rings at that moment, with few
# sockets and with many; the kernel bridge forwards from then on.
#
# XB_ROUNDS: kills for each number of ports (default 2).
. "$(dirname "$0")/lib.sh"

RATE=10000
COUNT=20000

# kill_once PORTS LIMIT
kill_once()
{
	local sender lost

	daemon_start </dev/null
	wait_user_path
	recv_start h2 got --count $COUNT --until $COUNT --idle 1500 --timeout 15000
	send_start tx h1 --smooth --src "$(host_mac 1)" --dst "$(host_mac 2)" --count $COUNT --rate $RATE
	wait_for 5 redirected_reaches p1 5000
	daemon_kill
	send_end tx
	recv_end got
	lost=$(recv_field got lost)
	measured "kill -9, $1 ports, $RATE frames/s: $lost lost (limit $2)," \
		"$(recv_field got reordered) reordered; $(receiver_lost got)"
	[ "$lost" -le "$2" ] || fail "$lost frames lost"
	equal "frames received twice" "$(recv_field got duplicated)" 0
	equal "the last number received" "$(recv_field got last_seq)" $((COUNT - 1))
}

need jq
net_make 4
for round in $(seq "${XB_ROUNDS:-2}"); do
	kill_once 4 50
done
for i in $(seq 5 32); do
	host_add "$i"
done
for round in $(seq "${XB_ROUNDS:-2}"); do
	kill_once 32 100
done
exit 0
