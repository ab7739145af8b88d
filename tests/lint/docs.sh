#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The manual pages are clean, the change log knows the version, and the texts
# name only files that are there.
. "$(dirname "$0")/lib.sh"

cd "$top" || exit
version=$(sed -n 's/^AC_INIT(\[xbridged\], \[\([^]]*\)\].*/\1/p' configure.ac)
[ -n "$version" ] || complain "configure.ac: no version found"
grep -q "^## \[$version\]" CHANGELOG.md || complain "CHANGELOG.md: no entry for $version"

# [text](path) of each document.
for document in README.md HACKING.md ARCHITECTURE.md CHANGELOG.md; do
	while read -r path; do
		[ -e "$path" ] || complain "$document: no file $path"
	done < <(grep -oE '\]\([^)#]+' "$document" | sed 's/^](//' | grep -v '^https\?:')
done

pages=(man/*.[1-8])
[ -e "${pages[0]}" ] || finish
if ! command -v mandoc >/dev/null; then
	[ $n_complaints = 0 ] || finish
	echo "mandoc is not installed"
	exit 77
fi
while read -r line; do
	complain "$line"
done < <(mandoc -T lint -W warning "${pages[@]}")
finish
