#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A stand-alone bridge keeps VLANs apart, byte for byte, in both protocols; and
# while its daemon is dead nothing is forwarded, but what belongs to the link
# reaches the stack.
. "$(dirname "$0")/lib.sh"

PORTS='1 2 3 4'
SRC=020000000001

# bridge_start PROTOCOL: p1 access 10; p2 access 10 with 20 tagged; p3 trunk
# without PVID; p4 native 20 with 10 tagged.
bridge_start()
{
	daemon_start <<-CONF
		bridge sb0 {
			source = file
			vlan-filtering = yes
			vlan-protocol = $1
			port p1 { pvid = 10 vlans-untagged = { "10" } }
			port p2 { pvid = 10 vlans-untagged = { "10" } vlans-tagged = { "20" } }
			port p3 { vlans-tagged = { "10", "20" } }
			port p4 { pvid = 20 vlans-untagged = { "20" } vlans-tagged = { "10" } }
			fdb "02:00:00:00:00:33" { port = p3 vlan = 10 }
		}
	CONF
	wait_user_path
}

# frame DESTINATION TAGS NUMBER: as xbgen reads it; TAGS may be - for none.
frame()
{
	echo "$1 $SRC ${2#-} 88b5 $(printf %04x "$3") 00000000"
}

# What every port has to send, by the table on standard input: a line has a name,
# the port that the frame comes from, its destination, its tags (eight digits
# each, - for none), and the tags with which it leaves p1 .. p4 (. for not at all).
frames_match()
{
	local protocol=$1 name from dst in out number=0 n_out=0 p
	local -A want
	for p in $PORTS; do
		recv_start "h$p" "got$p" --all --dump "$T/dump$p"
		: >"$T/want$p"
	done
	while read -r name from dst in want[1] want[2] want[3] want[4]; do
		[ -n "$name" ] || continue
		number=$((number + 1))
		frame "$dst" "$in" $number >"$T/in"
		gen "h${from#p}" send --dev eth0 --hex "$T/in" --count 1 >"$T/sent.json" ||
			fail "$name: $(cat "$T/sent.json")"
		for p in $PORTS; do
			out=${want[$p]}
			[ "$out" = . ] && continue
			frame "$dst" "$out" $number >>"$T/want$p"
			n_out=$((n_out + 1))
		done
	done
	# One worker, one order: what comes behind all of them says that they are through.
	number=$((number + 1))
	for p in 3 4; do
		frame ffffffffffff "${protocol}000a" $number >"$T/in"
		gen "h$p" send --dev eth0 --hex "$T/in" --count 1 >/dev/null
	done
	for p in $PORTS; do
		wait_for 5 grep -q "88b5$(printf %04x $number)00000000$" "$T/dump$p"
		recv_stop "got$p"
		grep 88b5 "$T/dump$p" | grep -v "88b5$(printf %04x $number)00000000$" >"$T/mine$p"
		"$XBGEN" expect "$T/mine$p" "$T/want$p" ||
			fail "p$p sent something else; frame numbers are the lines of the table"
	done
	measured "stand-alone, tags $protocol: $((number - 1)) frames in, $n_out out," \
		"every byte as expected"
}

# Fail-closed: data frames end at the port, link-local ones reach the stack.
nothing_is_forwarded()
{
	local p
	for p in 2 3 4; do
		recv_start "h$p" "got$p"
	done
	recv_start sw stack --dev p1 --until 3 --settle 300
	gen h1 send --dev eth0 --src 02:00:00:00:00:01 --dst broadcast --count 100 --source 7 >/dev/null
	gen h1 send --dev eth0 --src 02:00:00:00:00:01 --dst 01:80:c2:00:00:0e --count 3 \
		--source 8 >/dev/null
	# They came last: what the data frames did is done.
	recv_end stack
	for p in 2 3 4; do
		recv_stop "got$p"
		equal "frames out of p$p" "$(json "$T/got$p.json" .received)" 0
	done
	equal "frames that reach the stack of p1" "$(json "$T/stack.json" .received)" 3
	measured "stand-alone, $1: 0 of 100 broadcasts forwarded, 3 of 3 link-local frames in the stack"
}

need jq
alone_make 4

bridge_start 802.1Q
frames_match 8100 <<'ROWS'
	access-untagged          p1 ffffffffffff -                .  -        8100000a 8100000a
	access-own-tag           p1 ffffffffffff 8100000a         .  -        8100000a 8100000a
	access-priority-tag      p1 ffffffffffff 8100a000         .  -        8100a00a 8100a00a
	access-foreign-tag       p1 ffffffffffff 81000014         .  .        .        .
	access-inner-tag         p1 ffffffffffff 8100000a8100001e .  8100001e 8100000a8100001e 8100000a8100001e
	other-protocol           p1 ffffffffffff 88a80014         .  88a80014 8100000a88a80014 8100000a88a80014
	trunk-untagged           p3 ffffffffffff -                .  .        .        .
	trunk-priority-tag       p3 ffffffffffff 8100a000         .  .        .        .
	trunk-other-protocol     p3 ffffffffffff 88a8000a         .  .        .        .
	trunk-10                 p3 ffffffffffff 8100e00a         -  -        .        8100e00a
	trunk-20                 p3 ffffffffffff 81000014         .  81000014 .        -
	trunk-20-inner           p3 ffffffffffff 8100001488a8001e .  8100001488a8001e . 88a8001e
	trunk-not-a-member       p3 ffffffffffff 8100001e         .  .        .        .
	native-untagged          p4 ffffffffffff -                .  81000014 81000014 .
	native-other-vlan        p4 ffffffffffff 8100000a         -  -        8100000a .
	multicast                p1 03000000ffff -                .  -        8100000a 8100000a
	static-entry             p1 020000000033 -                .  .        8100000a .
	static-entry-other-vlan  p4 020000000033 -                .  81000014 81000014 .
	link-local               p1 0180c200000e -                .  .        .        .
ROWS
daemon_kill
nothing_is_forwarded "daemon killed"

bridge_start 802.1ad
frames_match 88a8 <<'ROWS'
	access-untagged          p1 ffffffffffff -                .  -        88a8000a 88a8000a
	customer-tag             p1 ffffffffffff 8100001e         .  8100001e 88a8000a8100001e 88a8000a8100001e
	access-priority-tag      p1 ffffffffffff 88a8a000         .  -        88a8a00a 88a8a00a
	access-foreign-tag       p1 ffffffffffff 88a80014         .  .        .        .
	trunk-untagged           p3 ffffffffffff -                .  .        .        .
	trunk-customer-tag       p3 ffffffffffff 8100000a         .  .        .        .
	trunk-10                 p3 ffffffffffff 88a8a00a8100001e 8100001e 8100001e . 88a8a00a8100001e
	trunk-20                 p3 ffffffffffff 88a80014         .  88a80014 .        -
	native-untagged          p4 ffffffffffff -                .  88a80014 88a80014 .
	native-customer-tag      p4 ffffffffffff 81000014         .  88a8001481000014 88a8001481000014 .
ROWS
daemon_stop || fail "the daemon ended with $?"
nothing_is_forwarded "daemon stopped"
exit 0
