#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stations in both tables: active ones stay, silent ones age, and one that
# moves is found at its new port from its first frame on.
. "$(dirname "$0")/lib.sh"

for tool in jq ping; do
	type $tool >/dev/null 2>&1 || skip "needs $tool"
done

station=02:00:00:00:0a:01

is_at()
{
	[ "$(fdb_port user "$1")" = "$2" ] && [ "$(fdb_port kernel "$1")" = "$2" ]
}

# One frame from the station behind a port; DST is an unknown station if not given.
says_hello()
{
	gen "$1" send --dev eth0 --src $station --dst "${2:-02:00:00:00:0f:ff}" --count 1 --rate 1000 \
		--source 99 >/dev/null
}

# 500 frames to the station from h3 all come to NAME and none of them to OTHER.
all_to()
{
	local name=$1 other=$2
	recv_start "$name" to --count 500 --until 500
	recv_start "$other" away
	gen h3 send --dev eth0 --src "$(host_mac 3)" --dst $station --count 500 --rate 5000 >/dev/null
	recv_end to
	recv_stop away
	equal "received at $name" "$(recv_field to unique)" 500
	equal "duplicated at $name" "$(recv_field to duplicated)" 0
	equal "received at $other" "$(recv_field away received)" 0
}

net_make 3 mcast_snooping 0
daemon_start <<<'heartbeat = 5s'
wait_for 10 use_user_path p1 p2 p3

echo "== a station that moves is followed at its first frame, and stays"
# Refreshes come every third of it: they must not pull the station back.
in_ns sw ip link set br0 type bridge ageing_time 300
for round in 1 2 3; do
	says_hello h1
	all_to h1 h2
	says_hello h2
	all_to h2 h1
	wait_for 5 is_at $station p2
done
end=$((SECONDS + 4))
while [ $SECONDS -lt $end ]; do
	says_hello h2
	all_to h2 h1
	equal "the kernel has the station at" "$(fdb_port kernel $station)" p2
done

echo "== a station whose frames the kernel path sees is followed as well"
for round in 1 2 3; do
	# Frames for the machine pass to the kernel, which tells of the move.
	says_hello h1 "$(host_mac 0)"
	wait_for 5 is_at $station p1
	all_to h1 h2
	says_hello h2 "$(host_mac 0)"
	wait_for 5 is_at $station p2
	all_to h2 h1
done

echo "== ageing: an active station stays in both tables, a silent one goes from both"
in_ns sw ip link set br0 type bridge fdb_flush
in_ns sw ip link set br0 type bridge ageing_time 200
says_hello h1
gen h2 send --dev eth0 --src 02:00:00:00:0a:02 --dst 02:00:00:00:0a:03 --count 140 --rate 20 \
	>/dev/null &
active=$!
pids+=("$active")
wait_for 5 is_at $station p1
wait_for 5 is_at 02:00:00:00:0a:02 p2
end=$((SECONDS + 5))
while [ $SECONDS -lt $end ]; do
	is_at 02:00:00:00:0a:02 p2 || fail "the active station is at" \
		"$(fdb_port kernel 02:00:00:00:0a:02), $(fdb_port user 02:00:00:00:0a:02)"
done
is_at $station '' || fail "the silent station is still there"
wait "$active"
wait_for 8 is_at 02:00:00:00:0a:02 ''

echo "== ageing_time 0: nothing is learned"
for round in $(seq 20); do
	in_ns sw ip link set br0 type bridge ageing_time 1000
	says_hello h1 &
	in_ns sw ip link set br0 type bridge ageing_time 0
	wait $!
	wait_for 5 is_at $station ''
done
is_flooded()
{
	recv_start h2 flooded
	recv_start h1 flooded1
	gen h3 send --dev eth0 --src "$(host_mac 3)" --dst $station --count 10 --rate 5000 >/dev/null
	recv_stop flooded
	recv_stop flooded1
	[ "$(recv_field flooded received)" = 10 ] && [ "$(recv_field flooded1 received)" = 10 ]
}
wait_for 10 is_flooded
equal "the daemon's warnings" "$(grep -cE '^<[0-4]>' "$T/daemon.log")" 0
exit 0
