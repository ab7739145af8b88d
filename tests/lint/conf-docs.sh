#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each key that the parser knows is in the example file and in its section of
# the man page, and neither has a key that the parser does not know.
set -eu

top=${srcdir:-.}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

./tests/lint/conf_keys | sort > "$tmp/parser"
[ -s "$tmp/parser" ] || { echo "conf_keys printed nothing" >&2; exit 1; }

# "#key = value", and one tab more for each section that is open.
sed -n -E '
	s/^#bridge .*\{$/@bridge/p
	s/^#\t(port|fdb) .*\{$/@bridge.\1/p
	s/^#\t{0,2}([a-z-]+) = .*/\1/p
' "$top/conf/xbridged.conf" |
	awk '/^@/ { section = substr($0, 2) "."; next } { print section $0 }' |
	sort > "$tmp/example"

awk '
	/^\.Ss Global keys/ { on = 1; section = ""; next }
	/^\.Ss Section bridge/ { section = "bridge."; next }
	/^\.Ss Section / { section = "bridge." $3 "."; next }
	/^\.Sh / { on = 0 }
	on && /^\.It Ic / { print section $3 }
' "$top/man/xbridged.conf.5" | sort > "$tmp/man"

err=0
for f in example man; do
	if ! diff "$tmp/parser" "$tmp/$f" > "$tmp/diff"; then
		echo "conf-docs: the parser's keys (<) and those of the $f (>) differ:" >&2
		cat "$tmp/diff" >&2
		err=1
	fi
done

if command -v mandoc > /dev/null; then
	mandoc -Tlint -W warning "$top/man/xbridged.conf.5" || err=1
fi
exit $err
