#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon on every kernel that we promise: it starts, hosts talk on the path
# that the kernel allows, and go on when it is killed.
. "$(dirname "$0")/lib.sh"
kernels='6.1 6.12 6.18 7.2'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	# Before 6.8 the tags of a veth cannot be seen.
	local reason=none
	[ "$1" != 6.1 ] || reason=vlan-accel
	vm --kernel "$1" -- "$XB_SRC/tests/vm/guest/load.sh" $reason
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
