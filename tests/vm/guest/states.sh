#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run by states.sh in a virtual machine.
. "$(dirname "$0")/lib.sh"

FLIPS=9 # three of each state
LATE_MS=200
POLL_MS=100 # mst-poll

# In VLAN 10: known unicast and floods from h1, and from h2 to h3.
load_start()
{
	send_start unicast h1 --smooth --src "$(host_mac 1)" --dst "$(host_mac 2)" \
		--count 10000000 --rate 400 --source 1 --tag 10
	send_start flood h1 --smooth --src "$(host_mac 1)" --dst broadcast \
		--count 10000000 --rate 100 --source 2 --tag 10
	send_start back h2 --smooth --src "$(host_mac 2)" --dst "$(host_mac 3)" \
		--count 10000000 --rate 100 --source 3 --tag 10
}

load_stop()
{
	kill "${send_pid[unicast]}" "${send_pid[flood]}" "${send_pid[back]}"
	wait "${send_pid[unicast]}" "${send_pid[flood]}" "${send_pid[back]}" 2>/dev/null
}

# flip WHAT DEADLINE ARGUMENT...
flip()
{
	local what=$1 deadline=$2 before status=0
	shift 2
	before=$(stats_of '[.ports[].rx_frames] | add')
	in_ns sw "$XB_BUILD/tests/netns/flips" --dev p2 --count $FLIPS --states 4,1,2 \
		--deadline "$deadline" --window $((deadline + 100)) --timeout 20000 \
		--daemon "$daemon_pid" --watch "$(ns_path h2):1,2" \
		--watch "$(ns_path h3):3" "$@" >"$T/flips" || status=$?
	while read -r line; do
		measured "$what: $line"
	done <"$T/flips"
	equal "$what: status of flips" $status 0
	[ "$(stats_of '[.ports[].rx_frames] | add')" -gt $((before + 500)) ] ||
		fail "$what: frames were not on the user path"
	in_ns sw "$XB_BUILD/xbridgectl" --socket "$T/control" verify >"$T/verify" ||
		fail "$what: $(cat "$T/verify")"
	ok "$what"
}

lan_make 3 vlan_filtering 1 vlan_default_pvid 0 mcast_snooping 0 forward_delay 0
in_ns sw ip link set br0 type bridge stp_mode user stp_state 1 mst_enabled 0
for i in 1 2 3; do
	echo "link set dev p$i state 3"
	echo "vlan add dev p$i vid 10"
	echo "fdb replace $(host_mac $i) dev p$i master static vlan 10"
done | bridge_do
daemon_run <<<"mst-poll = $POLL_MS"
wait_for 30 use_user_path p1 p2 p3
load_start
flip 'state of the port' $LATE_MS
flip 'state of a VLAN on the port' $LATE_MS --vlan 10
load_stop

# MST can be switched on while no port is in a VLAN.
for i in 1 2 3; do
	echo "vlan del dev p$i vid 10"
done | bridge_do
in_ns sw ip link set br0 type bridge mst_enabled 1
{
	for i in 1 2 3; do
		echo "vlan add dev p$i vid 10"
		echo "fdb replace $(host_mac $i) dev p$i master static vlan 10"
	done
	echo "vlan global set dev br0 vid 10 msti 10"
	for i in 1 2 3; do
		echo "mst set dev p$i msti 10 state 3"
	done
} | bridge_do
settled
load_start
flip 'state of a spanning tree instance, polled' $((LATE_MS + POLL_MS)) --msti 10
load_stop
daemon_end
exit 0
