#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The oldest and the newest kernel boot in the virtual machine, filter VLANs,
# and give back the command's output and exit status.
. "$(dirname "$0")/lib.sh"
vm_need 6.1 7.2

on_kernel()
{
	local series=$1 output status
	# shellcheck disable=SC2016 # expanded in the machine
	output=$(vm --kernel "$series" -- sh -c '
		ip link add br0 type bridge vlan_filtering 1 &&
		ip link add v0 type veth peer name v1 &&
		ip link set v0 master br0 &&
		bridge vlan add dev v0 vid 7 &&
		bridge vlan show dev v0 | grep -c -w 7
		uname -r
		exit 5')
	status=$?
	echo "$output"
	[ $status = 5 ] || fail "kernel $series: exit status $status, not 5"
	[ "$(echo "$output" | head -n 1)" = 1 ] || fail "kernel $series: VLAN 7 is not on the port"
	case $output in
	*"$series"[.+-]*) ;;
	*) fail "kernel $series: another kernel answered" ;;
	esac
}

each_kernel on_kernel 6.1 7.2
