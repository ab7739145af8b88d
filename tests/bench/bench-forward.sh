#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Known unicast from one port to another: one flow and 10,000 flows that an XDP program
# makes, and one flow from a packet socket.
#
# XB_SIZE: bytes of a frame with its FCS, 64 to 1518 (default 64).
. "$(dirname "$0")/live.sh"

FLOWS=10000
SIZE=${XB_SIZE:-64}

# Frames from p1 that the daemon has been given.
redirected()
{
	stats_of '[.ports[] | select(.ifname == "p1").redirected] | add // 0'
}

# rate KEY SOURCE FLOWS: what arrives in $MS. Of the daemon, only what it forwarded itself counts.
rate()
{
	local before=0
	[ "$subject" != user ] || before=$(redirected)
	ask rate "$1.$subject" "$2" "$3" "$MS" || return
	[ "$subject" != user ] || [ $(($(redirected) - before)) -ge "$(answer_field arrived)" ] ||
		echo "$1: not all on the user path: $(($(redirected) - before)), $answer"
}

measure()
{
	stations_known $FLOWS || return
	rate one xdp 1 && rate many xdp $FLOWS && rate skb skb 1
}

subjects_present kernel user testpmd ovs
live_net 2
live_start 2 --size $((SIZE - 4))
each_round measure
report "forward.${SIZE}B.1-flow" kpps one
report "forward.${SIZE}B.10k-flows" kpps many
report "forward.${SIZE}B.1-flow-skb" kpps skb
live_end
exit 0
