#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run by ../storm.sh in a virtual machine: storms of changes with VLANs, then the
# same with MST; afterwards tables and forwarding are as the kernel's.
. "$(dirname "$0")/lib.sh"
export STORM_VLANS=yes STORM_PORTS=5 STORM_MACS=16 STORM_RATE=40 STORM_PROBE_RATE=1000
. "$(dirname "$0")/../../netns/storm_net.sh"
CHANGES=$1
ROUND=100
storm_seed

vlans_gone()
{
	local i
	{
		for i in $(seq $STORM_PORTS); do
			storm_name "$i"
			echo "vlan del dev $port vid 1-4094"
		done
		echo "vlan del dev br0 vid 1-4094 self"
	} | in_ns sw bridge -force -batch - 2>/dev/null
}

# Stations that do not speak any more cannot heal a difference.
equal_tables()
{
	talk_ends
	become_equal 60
	ok "$1, $storm_refused refused: $(cat "$T/verify") ($SECONDS s)"
}

# Whatever the storm left of these would have all frames go to the kernel.
vlans_calm()
{
	storm_calm
	in_ns sw ip link set br0 type bridge vlan_filtering 1 || fail "cannot filter"
	in_ns sw ip link set br0 type bridge fdb_max_learned 0 2>/dev/null
	bridge_do <<-VLANS
		vlan add dev p1 vid 1 pvid untagged
		vlan add dev p2 vid 1 pvid untagged
		vlan add dev p1 vid 2-12
		vlan add dev p2 vid 2-12
	VLANS
}

# States of instances, which nobody announces, and changes of VLANs meanwhile.
mst_round()
{
	local i
	vlans_gone
	in_ns sw ip link set br0 type bridge mst_enabled 1 || fail "MST cannot be switched on"
	storm_make 40 "$T/ops"
	talk_begins 1
	storm_blow "$T/ops"
	for i in 3 4 5 6; do
		echo "vlan global set dev br0 vid $i msti $i"
		storm_port
		storm_pick forwarding blocking learning disabled
		echo "mst set dev $port msti $i state $pick"
	done | in_ns sw bridge -force -batch - 2>/dev/null
	equal_tables "MST"
	vlans_gone
	in_ns sw ip link set br0 type bridge mst_enabled 0 || fail "MST cannot be switched off"
	equal_tables "without MST"
}

# A VLAN leaves a port at the moment at which stations in it are learned there: they
# must not stay with us for the hold time.
vlan_races()
{
	local i k port3 offset
	storm_name 3
	port3=$port
	for i in 1 2 3; do
		bridge_do <<<"vlan add dev $port3 vid 9"
		for ((k = 0; k < 40; k++)); do
			printf '0200000000ff0200000800%02x8100000988b5cafe%090d\n' $k 0
		done >"$T/race"
		printf -v offset '0.%02d' $((RANDOM % 30))
		(
			pause "$offset"
			bridge_do <<<"vlan del dev $port3 vid 9"
		) &
		gen h3 send --dev eth0 --hex "$T/race" --count 5 --rate 400 >/dev/null
		wait $!
		become_equal 30
	done
	in_ns sw bridge fdb show br br0 | grep "02:00:00:08:00.*dev $port3 vlan 9" &&
		fail "stations in a VLAN that the port has left"
	ok "a VLAN leaves a port while stations are learned in it: $(cat "$T/verify") ($SECONDS s)"
}

uname -r
storm_net vlan_filtering 1 mcast_snooping 0
ok "the network ($SECONDS s)"
daemon_run </dev/null
wait_for 30 on_user_path
ok "the daemon ($SECONDS s)"
made=0
while [ "$made" -lt "$CHANGES" ]; do
	storm_make $ROUND "$T/ops"
	talk_begins 1
	storm_blow "$T/ops"
	made=$((made + ROUND))
	equal_tables "$made changes"
done
mst_round
vlans_calm
wait_for 60 calm_is_known
vlan_races
same_as_kernel "$made changes"
