#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run by locals.sh in a virtual machine. Own addresses of ports and bridge in
# VLANs are computed; `xbridgectl verify` compares them with the kernel's table,
# entry by entry, after each change.
. "$(dirname "$0")/lib.sh"

N=3
p1=02:00:00:00:11:01
p2=02:00:00:00:11:02
br=$(host_mac 0)
stranger=02:00:00:00:77:77

same()
{
	ctl verify >"$T/verify" || { cat "$T/verify"; return 1; }
}

# Of local entries, in the daemon's table.
stores()
{
	[ "$(stats_of '[.bridges[].fdb.local] | add')" = "$1" ]
}

# check WHAT: both tables are equal, and of local entries only $stored are stored.
check()
{
	settled
	for i in $(seq 100); do
		same >"$T/differ" && break
		pause 0.2
	done
	[ "$i" -lt 100 ] || fail "$1: $(head -n 20 "$T/differ")"
	wait_for 20 stores "$stored"
	ok "$1: $(grep -o '[0-9]* FDB entries' "$T/verify")"
}

shown()
{
	ctl fdb show local mac "$1" | grep -q "dev $2 .*$3"
}

lan_make $N vlan_filtering 1 vlan_default_pvid 0 mcast_snooping 0
ip_do sw <<IP
link set p1 address $p1
link set p2 address $p2
IP
bridge_do <<BRIDGE
vlan add vid 2-400 dev p1
vlan add vid 300-600 dev p2
vlan add vid 10-20 dev br0 self
BRIDGE
daemon_run </dev/null
wait_for 60 on_user_path p1 p2 p3
stored=0
check "VLANs that were there"

bridge_do <<BRIDGE
vlan add vid 401-800 dev p1
vlan del vid 500-600 dev p2
vlan add vid 2-4094 dev p3
vlan add vid 21-30 dev br0 self
vlan del vid 10 dev br0 self
BRIDGE
check "VLANs that come and go"

bridge_do <<BRIDGE
fdb del $p1 dev p1 vlan 10 master
fdb del $p1 dev p1 vlan 11 master
fdb del $br dev br0 vlan 12 self
fdb del $p2 dev p2 master
BRIDGE
wait_for 20 shown "$p1" p1 "except 10,11"
wait_for 20 shown "$br" br0 "except 12"
wait_for 20 shown "$p2" p2 "except 0"
check "entries that a user removed"

bridge_do <<BRIDGE
fdb add $p1 dev p1 vlan 10 master local
vlan del vid 11 dev p1
vlan add vid 11 dev p1
fdb add $stranger dev br0 vlan 20 self local
fdb add $stranger dev p1 vlan 21 master local
fdb add $br dev p1 vlan 40 master local
fdb replace $p1 dev p1 vlan 13 master static
BRIDGE
wait_for 20 shown "$br" p1 "vlan 40 master"
stored=3
check "entries that a user added"

bridge_do <<BRIDGE
fdb del $p1 dev p1 vlan 13 master
fdb del $br dev p1 vlan 40 master
vlan del vid 21 dev p1
BRIDGE
wait_for 20 shown "$p1" p1 "except 13"
stored=2
check "and that went again"

ip_do sw <<IP
link set p1 address 02:00:00:00:11:11
link set br0 address $p2
link set p3 address $p2
IP
stored=3 # that of p1 in VLAN 10 is a user's
check "other addresses, three devices with one of them"
ip_do sw <<IP
link set p3 nomaster
link set br0 address 02:00:00:00:11:bb
IP
check "and one of them leaves, one has another"
ip_do sw <<IP
link set p3 address 02:00:00:00:11:03 master br0
IP
bridge_do <<BRIDGE
vlan add vid 2-100 dev p3
BRIDGE
check "a port comes"

ip_do sw <<IP
link set br0 type bridge vlan_filtering 0
IP
check "without filtering"
ip_do sw <<IP
link set br0 type bridge vlan_filtering 1
IP
check "with it"

# As fast as they come.
for i in $(seq 12); do
	echo "vlan del vid 2-60 dev p3"
	echo "vlan add vid $((i + 1))-60 dev p3"
	echo "fdb del 02:00:00:00:11:03 dev p3 vlan $((i + 20)) master"
	echo "vlan del vid 14-30 dev br0 self"
	echo "vlan add vid 14-30 dev br0 self"
done | bridge_do
check "a storm"
wait_for 20 shown 02:00:00:00:11:03 p3 "except 32 master"

if in_ns sw ip link set br0 type bridge fdb_local_vlan_0 1 2>/dev/null &&
	in_ns sw ip -d link show br0 | grep -q 'fdb_local_vlan_0 1'; then
	check "fdb_local_vlan_0"
	shown 02:00:00:00:11:03 p3 "vlans all" || fail "fdb_local_vlan_0 is not shown"
	bridge_do <<-BRIDGE
		vlan add vid 700-710 dev p2
		fdb del 02:00:00:00:11:03 dev p3 master
	BRIDGE
	wait_for 20 shown 02:00:00:00:11:03 p3 "except 0"
	check "fdb_local_vlan_0, an entry removed"
	ip_do sw <<-IP
		link set p3 address 02:00:00:00:11:33
		link set br0 type bridge fdb_local_vlan_0 0
	IP
	check "without fdb_local_vlan_0"
fi

daemon_end
