#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A benchmark with real frames measures the kernel bridge and the daemon, writes its
# results, and leaves nothing behind, not even when it is ended by a signal.
. "$(dirname "$0")/lib.sh"

# namespaces PID: how many of that script there are.
namespaces()
{
	find /run/netns -name "xbt-$1-*" | wc -l
}

namespaces_made()
{
	[ "$(namespaces "$1")" = 3 ] # of the switch and two hosts
}

need jq
need ethtool
export XB_SRC XB_BUILD XB_RIVALS=no # it takes long enough without

BENCH_JSON=$T/results.json XB_ROUNDS=1 XB_MS=100 bash "$XB_SRC/tests/bench/bench-forward.sh" \
	>"$T/bench.log" 2>&1 &
bench=$!
pids+=("$bench")
wait "$bench" || fail "bench-forward: $(cat "$T/bench.log")"
equal "namespaces that it left" "$(namespaces "$bench")" 0
for flows in 1-flow 10k-flows 1-flow-skb; do
	json "$T/results.json" ".[] | select(.name == \"forward.64B.$flows.user-by-kernel\") |
		.value > 1 and .rival > 1 and .ratio > 0 and (.runs | length) == 1" >"$T/right"
	equal "$flows: what is right about the result" "$(cat "$T/right")" true
done
! grep -E 'not (all|measured)|knows' "$T/bench.log" || fail "not what was to be measured"

XB_ROUNDS=5 XB_MS=1000 bash "$XB_SRC/tests/bench/bench-latency.sh" >"$T/ended.log" 2>&1 &
bench=$!
pids+=("$bench")
wait_for 20 namespaces_made "$bench"
kill "$bench"
wait "$bench"
equal "the status of a benchmark that is ended" $? 143
equal "namespaces that it left then" "$(namespaces "$bench")" 0
measured "$(grep -c . "$T/bench.log") lines: $(grep 'forward.64B.1-flow.user' "$T/bench.log")"
exit 0
