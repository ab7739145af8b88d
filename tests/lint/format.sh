#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# clang-format would change nothing; scripts and text have no spaces at the
# ends of lines.
. "$(dirname "$0")/lib.sh"

cd "$top" || exit
while read -r line; do
	complain "$line: space at the end of the line"
done < <(sources '*.[ch]' '*.sh' '*.inc' | xargs grep -nE '[[:space:]]+$' | cut -d: -f1,2)

if ! command -v clang-format >/dev/null; then
	[ $n_complaints = 0 ] || finish
	echo "clang-format is not installed"
	exit 77
fi
while read -r line; do
	complain "$line"
done < <(sources '*.[ch]' | xargs clang-format --dry-run -Werror 2>&1 | grep 'error:')
finish
