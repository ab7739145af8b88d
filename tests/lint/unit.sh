#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# systemd understands the unit, and the unit is not loose.
. "$(dirname "$0")/lib.sh"

if ! command -v systemd-analyze >/dev/null; then
	echo "systemd-analyze is not installed"
	exit 77
fi
unit=$build/systemd/xbridged.service
[ -s "$unit" ] || complain "$unit was not made"
grep -q '@[a-z]*dir@' "$unit" && complain "$unit: a directory was not filled in"

# The program is not installed yet: any other will do for the check.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$unit" >"$scratch/xbridged.service"
while read -r line; do
	complain "$line"
done < <(systemd-analyze verify --man=no "$scratch/xbridged.service" 2>&1 | grep xbridged.service)

# 0 is closed, 10 is open; a bridge needs NET_ADMIN and the host's network.
if ! systemd-analyze security --offline=yes --threshold=35 "$scratch/xbridged.service" \
	>"$scratch/exposure" 2>&1; then
	complain "$(tail -n 1 "$scratch/exposure")"
fi
finish
