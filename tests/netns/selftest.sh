#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tools of the other tests tell the truth, on a plain veth pair and on a
# kernel bridge without xbridged.
. "$(dirname "$0")/lib.sh"

net_make 2

# Two hosts, one bridge: every frame arrives once, in order, at both rates.
for rate in 10000 100000; do
	recv_start h2 all --count 20000 --until 20000
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst "$(host_mac 2)" \
		--count 20000 --rate $rate >"$T/sent.json" || fail "send: $(cat "$T/sent.json")"
	cat "$T/sent.json"
	recv_end all
	cat "$T/all.json"
	equal "received at $rate/s" "$(recv_field all received)" 20000
	equal "lost at $rate/s" "$(recv_field all lost)" 0
	equal "duplicated at $rate/s" "$(recv_field all duplicated)" 0
	equal "reordered at $rate/s" "$(recv_field all reordered)" 0
done

# Rates are kept: 20,000 frames at 10,000/s take 2 s.
gen h1 send --dev eth0 --src "$(host_mac 1)" --dst "$(host_mac 2)" --count 5000 --rate 10000 >"$T/sent.json"
ms=$(($(sed 's/.*"duration_ns": \([0-9]*\).*/\1/' "$T/sent.json") / 1000000))
[ $ms -ge 490 ] && [ $ms -le 2000 ] || fail "5000 frames at 10000/s took $ms ms"

# Loss, duplicates and disorder are seen: 0..9, 5..9 again, 20..29, 10..14.
recv_start h2 odd --count 30 --until 25
for range in 0:10 5:5 20:10 10:5; do
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst broadcast --rate 1000 \
		--first "${range%:*}" --count "${range#*:}" >/dev/null
done
recv_end odd
cat "$T/odd.json"
equal "received" "$(recv_field odd received)" 30
equal "lost" "$(recv_field odd lost)" 5
equal "duplicated" "$(recv_field odd duplicated)" 5
equal "reordered" "$(recv_field odd reordered)" 5

# Tags, also the one that the kernel takes off the frame, arrive as they were sent.
src=$(host_mac 1 | tr -d :)
cat >"$T/want" <<-HEX
	# untagged, 802.1Q, 802.1ad around 802.1Q with priority 5
	ffffffffffff $src 88b5 0102
	ffffffffffff $src 8100 000a 88b5 0102
	ffffffffffff $src 88a8 a064 8100 000a 88b5 0102
HEX
tags_arrived()
{
	grep "^ffffffffffff$src\(88b5\|8100\|88a8\)" "$T/got" >"$T/mine"
	[ "$(wc -l <"$T/mine")" = 3 ]
}
recv_start h2 tags --all --dump "$T/got"
gen h1 send --dev eth0 --hex "$T/want" --count 1 --rate 1000 >/dev/null
wait_for 3 tags_arrived
recv_stop tags
cat "$T/tags.json"
"$XBGEN" expect --ordered "$T/mine" "$T/want" || fail "tags did not arrive as sent"
equal "accelerated tags" "$(sed -n 's/.*"accelerated": \([0-9]*\).*/\1/p' "$T/tags.json")" 2

# A comparison fails when it should.
sed '$d' "$T/mine" >"$T/short"
"$XBGEN" expect "$T/short" "$T/want" >/dev/null && fail "a missing frame was not seen"
sed 's/8100000a/8100000b/' "$T/mine" >"$T/changed"
"$XBGEN" expect "$T/changed" "$T/want" >/dev/null && fail "a changed frame was not seen"
sort -r "$T/mine" >"$T/sorted"
"$XBGEN" expect "$T/sorted" "$T/want" >/dev/null || fail "order counted without --ordered"
"$XBGEN" expect --ordered "$T/sorted" "$T/want" >/dev/null && fail "order did not count"
exit 0
