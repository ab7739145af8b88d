# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# lib.sh: sourced by the tests that boot a virtual machine. Gives:
#
#	$XB_SRC, $XB_BUILD	top source and top build directory
#	fail MESSAGE		ends the test as failed
#	skip MESSAGE		ends the test as skipped
#	vm_need SERIES...	skips the test if one of these kernels cannot be had
#	vm ARGUMENT...		run-in-vm; writes below $XB_BUILD are kept
set -u

XB_SRC=${XB_SRC:-$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")}
XB_BUILD=${XB_BUILD:-$XB_SRC/build}
XB_SRC=$(realpath "$XB_SRC")
export XB_SRC XB_BUILD

fail()
{
	echo "$*"
	exit 1
}

skip()
{
	echo "$*"
	exit 77
}

vm_need()
{
	local series
	for series; do
		"$XB_SRC/tests/vm/run-in-vm" --kernel "$series" --fetch ||
			skip "kernel $series cannot be run in a virtual machine here"
	done
}

vm()
{
	"$XB_SRC/tests/vm/run-in-vm" --rw "$XB_BUILD" "$@"
}
