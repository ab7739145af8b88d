#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the daemon must not bypass is found on Debian's kernels too: they have
# the older ebtables, as modules. Asking for it loads none of them.
. "$(dirname "$0")/lib.sh"
kernels='6.1 6.12'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	local series=$1 output status
	# shellcheck disable=SC2016 # expanded in the machine
	output=$(vm --kernel "$series" -- sh -c '
		uname -r
		"$XB_BUILD/tests/netns/hostpair_test" || exit 1
		modprobe ebtables && modprobe br_netfilter || exit 1
		"$XB_BUILD/tests/netns/guard_test" || exit 1
		[ ! -e /sys/module/ebtable_filter ] || exit 2
		modprobe ebtable_filter || exit 1
		"$XB_BUILD/tests/netns/guard_test" || exit 1
		[ ! -e /sys/module/ebtable_nat ] || exit 2' 2>&1)
	status=$?
	[ $status = 0 ] || echo "$output"
	[ $status != 2 ] || fail "kernel $series: asking loaded a module"
	[ $status = 0 ] || fail "kernel $series"
	echo "$output" | grep -v '^\[ *\(RUN\|OK\) '
	echo "$output" | grep -q 'OK \] ebtables_counts_with_a_policy' ||
		fail "kernel $series: no ebtables"
	echo "$output" | grep -q 'OK \] br_netfilter_counts' || fail "kernel $series: no br_netfilter"
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
