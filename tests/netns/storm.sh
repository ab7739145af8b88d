#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A storm of random changes of ports, bridge, entries and groups under traffic:
# afterwards our tables equal the kernel's, and frames go where the kernel alone
# sends them; two ports that are not touched lose nothing. XB_CHANGES (default
# 2000) changes in rounds of 500; XB_SEED repeats one.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm_net.sh"

for tool in jq bridge; do
	need $tool
done
CHANGES=${XB_CHANGES:-2000}
ROUND=500
storm_seed

storm_net mcast_snooping 0
daemon_start <<<'heartbeat = 5s'
wait_for 20 on_user_path

made=0
while [ "$made" -lt "$CHANGES" ]; do
	storm_make $ROUND "$T/ops"
	traffic_begins
	user=$(port_stat p1 .redirected)
	storm_blow "$T/ops"
	made=$((made + ROUND))
	begun=$(date +%s%N)
	talk_ends
	become_equal 30
	settled=$((($(date +%s%N) - begun) / 1000000))
	traffic_ends "$made changes"
	user=$(($(port_stat p1 .redirected) - user))
	measured "$made changes, $storm_refused refused: equal after $settled ms;" \
		"flow of $flow_sent frames, $user on the user path; $(cat "$T/verify")"
	[ $((made % (2 * ROUND))) = 0 ] || continue
	storm_calm
	wait_for 20 calm_is_known
	same_as_kernel "$made changes"
	[ "$made" -ge "$CHANGES" ] || {
		daemon_start <<<'heartbeat = 5s'
		wait_for 20 calm_is_known
	}
done
exit 0
