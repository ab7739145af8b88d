#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The host's own addresses: what the kernel enters for its devices is computed,
# and what a user removes or adds is followed.
. "$(dirname "$0")/lib.sh"

need jq

# One line for each address and device: MAC, device, VLANs, exceptions.
lines()
{
	ctl -j fdb show local | jq -r '.[] | [.mac, .ifname, .vlans // .vlan // "one",
		(.except // [] | join(","))] | join(" ")' | sort
}

has_line()
{
	lines | grep -qx "$*"
}

lacks()
{
	! lines | grep -q "^$*"
}

entries()
{
	stats_of '[.bridges[].fdb.entries] | add'
}

same()
{
	ctl verify >"$T/verify" || { cat "$T/verify"; return 1; }
}

port_mac()
{
	in_ns sw ip -j link show dev "$1" | jq -r '.[0].address'
}

net_make 3 mcast_snooping 0
daemon_start </dev/null
wait_for 10 on_user_path p1 p2 p3
p1=$(port_mac p1) p2=$(port_mac p2) br=$(port_mac br0)
stranger=02:00:00:00:77:77

wait_for 5 has_line "$p1 p1 port "
wait_for 5 has_line "$br br0 port "
wait_for 5 same
equal "local entries in the table" "$(stats_of '[.bridges[].fdb.local] | add')" 0

# What a user removes is gone, and is there again when it is added.
in_ns sw bridge fdb del "$p1" dev p1 master || fail "cannot delete the entry of p1"
wait_for 5 has_line "$p1 p1 port 0"
wait_for 5 same
in_ns sw bridge fdb add "$p1" dev p1 master local || fail "cannot add the entry of p1"
wait_for 5 has_line "$p1 p1 port "
wait_for 5 same

# Addresses that no device has stand in the table.
in_ns sw bridge fdb add $stranger dev br0 self local || fail "cannot add an entry of br0"
wait_for 5 has_line "$stranger br0 one "
wait_for 5 same
in_ns sw bridge fdb del $stranger dev br0 self
wait_for 5 lacks $stranger
wait_for 5 same

# Addresses change, and two devices have the same one.
in_ns sw ip link set p2 address 02:00:00:00:22:22
wait_for 5 has_line "02:00:00:00:22:22 p2 port "
lacks "$p2" || fail "the old address of p2 is there still"
in_ns sw ip link set br0 address 02:00:00:00:22:22
wait_for 5 has_line "02:00:00:00:22:22 br0 port "
wait_for 5 same
in_ns sw ip link set p2 nomaster
wait_for 5 lacks "02:00:00:00:22:22 p2"
has_line "02:00:00:00:22:22 br0 port " || fail "br0 has lost its address"
wait_for 5 same
in_ns sw ip link set p2 master br0
wait_for 5 has_line "02:00:00:00:22:22 p2 port "
wait_for 5 same

# At once, as they come.
for i in 1 2 3 4 5 6 7 8; do
	echo "fdb del $p1 dev p1 master"
	echo "fdb add $stranger dev p$((1 + i % 3)) master local"
	echo "fdb replace $p1 dev p1 master $([ $((i % 2)) = 0 ] && echo static || echo local)"
	echo "fdb del $stranger dev p$((1 + i % 3)) master"
done >"$T/batch"
in_ns sw bridge -force -batch "$T/batch" >/dev/null 2>&1
in_ns sw bridge fdb del "$p1" dev p1 master
wait_for 5 has_line "$p1 p1 port 0"
wait_for 5 same
measured "$(cat "$T/verify")"

# A daemon that starts finds it like this.
daemon_stop || fail "the daemon ended with status $?"
daemon_start </dev/null
wait_for 10 on_user_path p1 p2 p3
wait_for 5 has_line "$p1 p1 port 0"
wait_for 5 same
