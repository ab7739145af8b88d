#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Time on the way from one port to another at 10,000 frames/s, from the program that
# makes the frame to the one that drops it.
. "$(dirname "$0")/live.sh"

RATE=10000
COUNT=$((RATE * MS / 1000))
[ $COUNT -le 30000 ] || COUNT=30000

measure()
{
	local lost
	stations_known 1 || return
	ask latency "way.$subject" $COUNT $RATE || return
	lost=$((COUNT - $(answer_field arrived)))
	[ $lost = 0 ] || echo "$subject: $lost of $COUNT frames did not arrive"
}

subjects_present kernel user testpmd ovs
live_net 2
live_start 2
each_round measure
for part in median p99 p99.9; do
	report "latency.$part" us way "$part"
done
live_end
exit 0
