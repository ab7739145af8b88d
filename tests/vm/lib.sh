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
#	each_kernel FUNCTION SERIES...	runs FUNCTION SERIES for each, two at a
#				time: a machine keeps one processor busy most of the
#				time. Fails the test if one fails; output in order
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
	local series why
	for series; do
		why=$("$XB_SRC/tests/vm/run-in-vm" --kernel "$series" --fetch 2>&1) ||
			skip "kernel $series cannot be run here: $(echo "$why" | tail -n 1)"
	done
}

vm()
{
	"$XB_SRC/tests/vm/run-in-vm" --timeout 1700 --rw "$XB_BUILD" "$@"
}

each_kernel()
{
	local run=$1 series dir failed=''
	shift
	dir=$(mktemp -d)
	for series; do
		[ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
		("$run" "$series" >"$dir/$series" 2>&1 && : >"$dir/$series.passed") &
	done
	wait
	for series; do
		cat "$dir/$series"
		[ -e "$dir/$series.passed" ] || failed="$failed $series"
	done
	rm -rf "$dir"
	[ -z "$failed" ] || fail "kernel$failed"
}
