#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# XB_ENTRIES (default 400000) forwarding entries come at once, half of them move
# and all go: our table equals the kernel's after each, and a flow between two
# ports that have none of them loses nothing. Prints times and memory.
. "$(dirname "$0")/lib.sh"

need jq
ENTRIES=${XB_ENTRIES:-400000}
LOAD=$XB_BUILD/tests/netns/fdbload

no_differences()
{
	ctl verify >"$T/verify" 2>&1
}

# after WHAT MIN MAX: how many entries verify has compared.
after()
{
	local begun n
	begun=$(date +%s%N)
	until no_differences; do
		[ $((($(date +%s%N) - begun) / 1000000000)) -lt 60 ] || {
			head -n 20 "$T/verify"
			fail "$1: tables are not equal after 60 s"
		}
		sleep 0.02
	done
	begun=$((($(date +%s%N) - begun) / 1000000))
	n=$(sed -n 's/.* \([0-9]*\) FDB entries.*/\1/p' "$T/verify")
	[ "${n:-0}" -ge "$2" ] && [ "$n" -le "$3" ] || fail "$1: $n entries were compared"
	measured "$1: equal after $begun ms, that of comparing included; $n entries," \
		"$(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$daemon_pid/status") MiB," \
		"$(awk '{ print ($14 + $15) / 100 }' "/proc/$daemon_pid/stat") s of CPU so far," \
		"$(status_of .resyncs) times read anew"
}

load()
{
	measured "kernel, $*: $(in_ns sw "$LOAD" "$@")"
}

flow()
{
	jq "[.sources[] | select(.source == 1) | .$1] | add // 0" "$T/flow.json"
}

net_make 4 mcast_snooping 0
daemon_start <<<'heartbeat = 5s'
wait_user_path
after "the daemon is there" 1 100
recv_start h2 flow --timeout 600000
nsenter --net="$(ns_path h1)" -- "$XBGEN" send --dev eth0 --src "$(host_mac 1)" \
	--dst "$(host_mac 2)" --count 100000000 --rate 1000 >/dev/null &
sender=$!
pids+=("$sender")

load add p3 "$ENTRIES"
after "$ENTRIES static entries" "$ENTRIES" $((ENTRIES + 100))
load dynamic p4 $((ENTRIES / 2))
after "half of them on another port, and dynamic" "$ENTRIES" $((ENTRIES + 100))
equal "the first one is at" "$(ctl -j fdb show mac 02:fd:00:00:00:00 | jq -r '.[0].ifname')" p4
in_ns sw ip link set br0 type bridge fdb_flush
after "dynamic ones flushed" $((ENTRIES / 2)) $((ENTRIES / 2 + 100))
kill "$sender"
wait "$sender" 2>/dev/null
recv_stop flow
equal "lost of the flow" "$(flow lost)" 0
equal "doubled of the flow" "$(flow duplicated)" 0
[ "$(flow received)" -gt 1000 ] || fail "the flow had $(flow received) frames"
daemon_stop || fail "the daemon ended with $?"

begun=$(date +%s%N)
daemon_start <<<'heartbeat = 5s'
wait_user_path
measured "start with them: $((($(date +%s%N) - begun) / 1000000)) ms"
after "started" $((ENTRIES / 2)) $((ENTRIES / 2 + 100))
in_ns sw bridge fdb flush dev br0 static
after "all removed" 1 100
exit 0
