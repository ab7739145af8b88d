#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every source file and script says its licence in its first two lines.
. "$(dirname "$0")/lib.sh"

check()
{
	head -n 2 "$1" | grep -q 'SPDX-License-Identifier: GPL-2\.0-or-later' ||
		complain "$1: no SPDX line"
}

cd "$top" || exit
while read -r file; do
	check "$file"
done < <(sources '*.[ch]' '*.sh')

# Scripts without a suffix.
for file in quickstart tests/* tests/*/*; do
	[ -f "$file" ] && head -c 2 "$file" | grep -q '#!' && check "$file"
done
finish
