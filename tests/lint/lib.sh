# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# lib.sh: sourced by the lints. They run in the top build directory; automake
# gives the source directory in $srcdir. Gives:
#
#	sources PATTERN...	the project's files (below src, bpf and tests)
#	complain MESSAGE	prints it and remembers that there was one
#	finish			ends the lint: fails if there was a complaint
set -u

top=$(realpath "${srcdir:-$(dirname "${BASH_SOURCE[0]}")/../..}")
build=$PWD # used by headers.sh
export build
n_complaints=0

# Paths relative to $top; generated files are not among them.
sources()
{
	local pattern
	for pattern; do
		(cd "$top" && find src bpf tests -name "$pattern" \
			! -name '*.skel.h' ! -name 'vmlinux.h' ! -path 'tests/*/logs/*')
	done | sort
}

complain()
{
	echo "$*"
	n_complaints=$((n_complaints + 1))
}

finish()
{
	[ $n_complaints = 0 ] || echo "$n_complaints complaints"
	[ $n_complaints = 0 ]
	exit
}
