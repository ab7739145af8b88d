#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A bridge that does not filter while its ports have a default PVID: a station
# is once in the kernel's table, and stays there as long as it is active.
. "$(dirname "$0")/lib.sh"
kernels='6.12 7.2'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	vm --kernel "$1" -- "$XB_SRC/tests/vm/guest/learn.sh"
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
