#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The data plane on the oldest kernel that we promise and on the newest: that
# sockets of several ports may share the memory registered for `lo`, above all.
. "$(dirname "$0")/lib.sh"
kernels='6.1 7.2'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	# shellcheck disable=SC2016 # expanded in the machine
	vm --kernel "$1" -- sh -c '
		uname -r
		XB_HEARTBEAT_MS=2000 "$XB_BUILD/tests/netns/dp_test"' 2>&1
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
