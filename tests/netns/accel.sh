#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A tag that a veth peer hands over beside the frame's bytes counts: the frames
# never appear in the port's own VLAN, and leave with or without their tag as
# VLAN-aware ports do.
. "$(dirname "$0")/lib.sh"

COUNT=1000

# tag_goes NAME TPID TCI PORT [HEADER]: only PORT (0: none) sends the frames, and
# the bytes behind the addresses begin with HEADER.
tag_goes()
{
	local name=$1 tpid=$2 tci=$3 to=$4 header=${5:-88b5} p want until text=''
	in_ns h1 "$XB_BUILD/tests/netns/egress_tag" eth0 "$tpid" "$tci" || fail "cannot push tags"
	for p in 2 3 4; do
		until=0
		[ "$p" != "$to" ] || until=$COUNT
		recv_start "h$p" "got$p" --dump "$T/dump$p" --until $until
	done
	stats_save before
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst broadcast --count $COUNT --rate 20000 \
		>"$T/sent.json" || fail "$(cat "$T/sent.json")"
	wait_for 5 all_are_through
	[ "$to" = 0 ] || recv_end "got$to"
	for p in 2 3 4; do
		[ "$p" = "$to" ] || recv_stop "got$p"
		want=0
		[ "$p" != "$to" ] || want=$COUNT
		text+=" p$p $(json "$T/got$p.json" .received)"
		equal "$name: frames out of p$p" "$(json "$T/got$p.json" .received)" $want
		equal "$name: with other bytes" \
			"$(grep -vc "^f\{12\}$(host_mac 1 | tr -d :)$header" "$T/dump$p")" 0
	done
	measured "accelerated tag $tpid $tci ($name), $COUNT frames:$text"
}

all_are_through()
{
	stats_save now
	[ "$(since before now '.ports[] | select(.ifname == "p1").rx_frames')" -ge $COUNT ] &&
		frames_are_home
}

need jq
alone_make 4
daemon_start <<-CONF
	bridge sb0 {
		source = file
		vlan-filtering = yes
		port p1 { pvid = 10 vlans-untagged = { "10" } vlans-tagged = { "20", "40" } }
		port p2 { pvid = 10 vlans-untagged = { "10" } }
		port p3 { pvid = 20 vlans-untagged = { "20" } }
		port p4 { vlans-tagged = { "40" } }
	}
CONF
reason=$(status_of '.bridges[0].ports[0].reason')
[ "$reason" != vlan-accel ] || skip "this kernel shows no accelerated tags to XDP"
wait_user_path
tag_goes "VLAN of another port" 8100 14 3
tag_goes "trunk" 8100 28 4 81000028
tag_goes "trunk with priority" 8100 e028 4 8100e028
tag_goes "own VLAN" 8100 a 2
tag_goes "priority tag" 8100 a000 2
tag_goes "not a member" 8100 1e 0
tag_goes "other protocol is payload" 88a8 14 2 88a80014
exit 0
