#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The host's own addresses in VLANs, on two kernels: what is computed equals the
# kernel's table through changes of VLANs, addresses and entries.
. "$(dirname "$0")/lib.sh"
kernels='6.12 7.2'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	vm --kernel "$1" --iproute2 -- "$XB_SRC/tests/vm/guest/locals.sh"
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
