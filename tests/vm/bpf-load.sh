#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Both BPF objects on every kernel that we promise: the programs load, decide
# and attach, and where the kernel shows accelerated VLAN tags to XDP, the tag
# of a VLAN device comes out of the port's socket.
. "$(dirname "$0")/lib.sh"
kernels='6.1 6.12 6.18 7.2'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	local series=$1 output want
	# shellcheck disable=SC2016 # expanded in the machine
	output=$(vm --kernel "$series" -- sh -c '
		uname -r
		"$XB_SRC/tests/netns/prog.sh"' 2>&1) || {
		echo "$output"
		fail "kernel $series"
	}
	echo "$output" | grep -v '^\[ *\(RUN\|OK\) '
	case $series in
	6.1) want='the tag of a VLAN device is not recovered on this kernel' ;;
	*) want='the tag of a VLAN device is recovered on this kernel' ;;
	esac
	echo "$output" | grep -q "$want" || fail "kernel $series did not say: $want"
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
