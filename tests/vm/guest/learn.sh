#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run by learn.sh in virtual machines. A request to learn a station without a
# VLAN makes the kernel add it in each VLAN of the port as well: the daemon
# takes these away again.
. "$(dirname "$0")/lib.sh"
hold=12 # seconds

# Lines of the kernel's table for host I's address.
station()
{
	in_ns sw bridge fdb show br br0 | grep "^$(host_mac "$1") " | sed 's/ *$//'
}

# is_once I PORT: one entry, at PORT, in no VLAN.
is_once()
{
	[ "$(station "$1")" = "$(host_mac "$1") dev $2 master br0" ]
}

# An entry that waits to be deleted may be seen once, not twice.
stays_once()
{
	is_once "$1" "$2" || {
		pause 0.3
		is_once "$1" "$2" || fail "$3: $(station "$1")"
	}
}

say()
{
	local i=$1
	shift
	gen "h$i" send --dev eth0 --src "$(host_mac "$i")" --dst broadcast "$@" >/dev/null
}

nothing_in_vlans()
{
	! in_ns sw bridge fdb show br br0 | grep -v permanent | grep -q 'vlan'
}

learns()
{
	local i
	bridge_do <<<'vlan add dev p1 vid 2-5'
	settled
	for i in 1 2 3; do
		say $i --count 3 --rate 100
	done
	for i in 1 2 3; do
		wait_for 10 is_once $i p$i
	done
	wait_for 5 nothing_in_vlans
	[ "$(port_stat p1 .redirected)" -ge 3 ] || fail "p1: not on the user path"
	ok "stations learned on the user path are in the kernel's table once"

	gen h3 send --dev eth0 --src "$(host_mac 1)" --dst broadcast --count 1 >/dev/null
	wait_for 10 is_once 1 p3
	say 1 --count 1
	wait_for 10 is_once 1 p1
	ok "a station that moves is there once"
}

# Host 1 goes on speaking for more than two hold times, host 2 does not.
ages()
{
	local end sender gone=''
	in_ns sw ip link set br0 type bridge ageing_time $((hold * 100))
	settled
	say 1 --count 1
	say 2 --count 1
	say 1 --count $((hold * 5)) --rate 2 &
	sender=$!
	pids+=("$sender")
	end=$((SECONDS + 2 * hold))
	while [ $SECONDS -lt $end ]; do
		stays_once 1 p1 "an active station"
		[ -n "$gone" ] || [ -n "$(station 2)" ] || gone=$((SECONDS - end + 2 * hold))
		pause 0.5
	done
	[ -n "$gone" ] || fail "a silent station is still there after $((2 * hold)) s"
	[ "$gone" -ge $((hold - 3)) ] || fail "a silent station left after $gone s of $hold"
	ctl fdb show | grep -q "$(host_mac 2)" && fail "the daemon keeps a silent station"
	kill "$sender"
	wait_for 5 nothing_in_vlans
	ok "hold time $hold s: an active station stayed for $((2 * hold)) s, a silent one left after $gone s"
}

many_vlans()
{
	bridge_do <<<'vlan add dev p1 vid 100-130'
	settled
	wait_for 10 reason_is br0 learn-vlans
	bridge_do <<<'vlan del dev p1 vid 100-130'
	settled
	wait_for 10 on_user_path p1 p2 p3
	ok "with too many VLANs to clean up the bridge is left to the kernel"
}

uname -r
lan_make 3 vlan_filtering 0 vlan_default_pvid 1 mcast_snooping 0
daemon_run </dev/null
wait_for 20 on_user_path p1 p2 p3
learns
ages
many_vlans
daemon_end
nothing_in_vlans || fail "entries were left behind"
