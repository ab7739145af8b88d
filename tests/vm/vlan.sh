#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# VLANs: frames leave each port as the kernel bridge alone would send them, on
# two kernels, while VLANs, their states, filtering and its protocol change.
. "$(dirname "$0")/lib.sh"
kernels='6.12 7.2'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	vm --kernel "$1" -- "$XB_SRC/tests/vm/guest/vlan.sh"
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
