#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every header compiles alone, has a guard named after it, and begins
# with a comment that explains it.
. "$(dirname "$0")/lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# $XB_CC and $XB_CPPFLAGS are those of the build.
compile()
{
	# shellcheck disable=SC2086 # they are lists of words
	${XB_CC:-cc} ${XB_CPPFLAGS:-} -I"$top/src" -I"$top/bpf" -I"$build/bpf" -D_GNU_SOURCE \
		-std=gnu11 -fsyntax-only -x c "$1" >"$2" 2>&1
}

# The file's name; XB_ and the folder stand before it.
guard_of()
{
	local name
	name=$(basename "$1")
	name=${name#xb_}
	name=${name//[.-]/_}
	echo "${name^^}"
}

cd "$top" || exit
while read -r header; do
	case $header in
	*.bpf.h | bpf/*) alone=no ;; # for the BPF compiler
	*) alone=yes ;;
	esac
	if [ $alone = yes ]; then
		echo "#include \"$top/$header\"" >"$scratch/one.c"
		compile "$scratch/one.c" "$scratch/messages" || {
			complain "$header: does not compile alone"
			head -n 5 "$scratch/messages"
		}
	fi
	guard=$(guard_of "$header")
	grep -qE "^#ifndef XB_([A-Z]+_)*$guard\$" "$header" ||
		complain "$header: no guard XB_..._$guard"
	[ "$(sed -n 2p "$header" | cut -c 1-2)" = '/*' ] ||
		complain "$header: no comment at its top"
done < <(sources '*.h')
finish
