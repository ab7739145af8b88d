#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# VLAN devices at the far end of a port, whose tags are not among the bytes of
# the frame, and on a port. Kernel 6.1 cannot show such tags to XDP.
. "$(dirname "$0")/lib.sh"
kernels='6.1 6.12 7.2'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	local path=user
	[ "$1" != 6.1 ] || path=kernel
	vm --kernel "$1" -- "$XB_SRC/tests/vm/guest/accel.sh" $path
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
