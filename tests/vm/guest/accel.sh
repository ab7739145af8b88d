#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# accel.sh PATH: run by accel.sh in virtual machines; PATH is where a port is
# whose far end may keep VLAN tags aside: user or kernel. The frames must come
# out the same in both cases.
. "$(dirname "$0")/lib.sh"
path=$1
n=20 # frames at once

# from NAME DEV TEXT RECEIVER:TAGS... : broadcasts that NAME sends from DEV
# arrive, each once, at each RECEIVER with TAGS in hexadecimal ("-": none) and
# nowhere else.
from()
{
	local name=$1 dev=$2 text=$3 i k want
	local -A tags=()
	shift 3
	for i; do
		tags[${i%:*}]=${i#*:}
	done
	for i in h1 h2 h3 h4; do
		recv_start $i $i --dump "$T/$i" --timeout 600000
	done
	gen "$name" send --dev "$dev" --src "$(host_mac "${name#h}")" --dst broadcast \
		--count $n --rate 1000 >"$T/sent" || fail "send: $(cat "$T/sent")"
	for i in "${!tags[@]}"; do
		wait_for 10 lines_are "$T/$i" $n
	done
	pause 0.3
	for i in h1 h2 h3 h4; do
		recv_stop $i
		equal "$text: frames at $i" "$(recv_field $i received)" $((${tags[$i]:+1} + 0 ? n : 0))
		[ -n "${tags[$i]:-}" ] || continue
		want=ffffffffffff$(host_mac "${name#h}" | tr -d :)${tags[$i]#-}88b5
		k=$(grep -c "^$want" "$T/$i")
		equal "$text: frames at $i that begin with $want" "$k" $n
	done
	ok "$text: $*"
}

# shellcheck disable=SC2317 # called by wait_for
lines_are()
{
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# counted PORT FIELD FROM N: at least N more than FROM.
counted()
{
	local now
	now=$(port_stat "$1" "$2")
	[ "$now" -ge $(($3 + $4)) ] || fail "$1: $2 went from $3 to $now, not up by $4"
}

set_up()
{
	bridge_do <<-VLANS
		vlan add dev p1 vid 10
		vlan add dev p1 vid 40
		vlan add dev p2 vid 10
		vlan add dev p2 vid 40
		vlan add dev p3 vid 10 pvid untagged
		vlan del dev p3 vid 1
	VLANS
	ip_do h1 <<-LINES
		link add link eth0 name eth0.10 up type vlan id 10
		link add link eth0.10 name eth0.10.20 up type vlan id 20
		link add link eth0 name eth0.s type vlan id 10 protocol 802.1ad
		link set eth0.s up
		link add link eth0 name eth0.40 up type vlan id 40
		addr add 10.40.0.1/24 dev eth0.40
	LINES
	settled
}

far_devices()
{
	local before
	before=$(port_stat p1 .redirected)
	from h1 eth0.10 "VLAN device at the far end" h2:8100000a h3:-
	from h1 eth0.10.20 "VLAN device on that VLAN device" h2:8100000a81000014 h3:81000014
	from h1 eth0 "the same host without a tag" h2:- h4:-
	from h1 eth0.s "802.1ad device at the far end" h2:88a8000a h4:88a8000a
	if [ "$path" = user ]; then
		counted p1 .redirected "$before" $((4 * n))
		ctl -j port show dev p1 | grep -q '"recovers_tags":true' || fail "p1 does not recover tags"
	else
		equal "frames of p1 on the user path" "$(port_stat p1 .redirected)" 0
	fi
	in_ns sw ip link set br0 type bridge vlan_filtering 0
	settled
	from h1 eth0.10 "without filtering" h2:8100000a h3:8100000a h4:8100000a
	in_ns sw ip link set br0 type bridge vlan_filtering 1
	settled
}

devices_on_a_port()
{
	local before redirected
	ip_do sw <<-LINES
		link add link p1 name p1.40 up type vlan id 40
		addr add 10.40.0.254/24 dev p1.40
	LINES
	settled
	before=$(port_stat p1 '.passed["vlan-upper"]')
	in_ns h1 ping -q -c 2 -i 0.2 -W 5 10.40.0.254 >"$T/ping" || fail "p1.40 is not reached: $(cat "$T/ping")"
	from h1 eth0.40 "VLAN with a device on the port"
	redirected=$(port_stat p1 .redirected)
	from h1 eth0.10 "another VLAN of that port" h2:8100000a h3:-
	if [ "$path" = user ]; then
		counted p1 '.passed["vlan-upper"]' "$before" $((n + 2))
		counted p1 .redirected "$redirected" $n
	fi
	in_ns sw ip link del p1.40
	settled
	from h1 eth0.40 "the device is gone" h2:81000028
}

# gets_vlan VID TEXT: broadcasts of h1 in this VLAN reach the device p1.VID elsewhere, and no other port.
gets_vlan()
{
	local before=() now
	before=("$(rx_elsewhere "$1")" "$(port_stat p1 .redirected)")
	in_ns h1 ping -q -b -c 5 -i 0.2 -W 1 "10.$1.0.255" >"$T/ping" 2>&1
	now=$(rx_elsewhere "$1")
	[ "$now" -ge $((before[0] + 5)) ] || fail "$2: p1.$1 got $((now - before[0])) of 5 frames"
	# A frame of IPv6's own may come in between.
	now=$(($(port_stat p1 .redirected) - before[1]))
	[ $now -lt 5 ] || fail "$2: $now frames were redirected past it"
	ok "$2: its VLAN is the device's"
}

rx_elsewhere()
{
	in_ns ct ip -s -j link show "p1.$1" | jq '.[0].stats64.rx.packets'
}

# shellcheck disable=SC2317 # called by wait_for
is_passed()
{
	local before
	before=$(port_stat p1 '.passed["vlan-upper"]')
	in_ns h1 ping -q -b -c 1 -W 1 "10.$1.0.255" >"$T/ping" 2>&1
	[ "$(port_stat p1 '.passed["vlan-upper"]')" -gt "$before" ]
}

# The VLAN of a device that is in another namespace: moved there, made there, there at the start.
devices_elsewhere()
{
	local vid
	ns_add ct
	in_ns h1 sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=1
	for vid in 40 41; do
		in_ns sw bridge vlan add dev p1 vid $vid
	done
	ip_do h1 <<-LINES
		link add link eth0 name eth0.41 up type vlan id 41
		addr add 10.41.0.1/24 dev eth0.41
	LINES
	in_ns sw ip link add link p1 name p1.40 type vlan id 40
	in_ns sw ip link set p1.40 netns "$XB_NS-ct"
	in_ns sw ip link add link p1 name p1.41 netns "$XB_NS-ct" type vlan id 41
	for vid in 40 41; do
		in_ns ct ip link set p1.$vid up
		wait_for 20 is_passed $vid
	done
	gets_vlan 40 "moved to another namespace"
	gets_vlan 41 "made in another namespace"
	daemon_end
	daemon_run </dev/null
	wait_for 20 reason_is p1 none
	wait_for 20 is_passed 40
	gets_vlan 40 "in another namespace at the start"
}

uname -r
lan_make 4 vlan_filtering 1 mcast_snooping 0
daemon_run </dev/null
reason=none
[ "$path" = user ] || reason=vlan-accel
for i in 1 2 3 4; do
	wait_for 20 reason_is p$i $reason
done
ok "ports are on the $path path, reason $reason"
set_up
far_devices
devices_on_a_port
[ "$path" = kernel ] || devices_elsewhere
daemon_end
