#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every recorded case, decided by the reference and by the forwarder, and in
# each group that configuration alone decides the forwarder must have decided
# frames: nothing passes by being left out.
set -eu

folder=tests/data/oracle/linux-7.2
log=tests/oracle/recorded.out
status=0

tests/oracle/replay --reference $folder >$log || status=$?
echo "By the reference:"
cat $log
tests/oracle/replay $folder >$log || status=$?
echo "By the forwarder:"
cat $log
for group in backup fdb flags flat mcast mst pvid self size tx vlan vlanad vstate; do
	grep -q "^$group: .*; [1-9][0-9]* frames decided" $log || {
		echo "$group: no frame was decided by the forwarder"
		status=1
	}
done
# Every recorded case was counted.
awk -v want="$(cat $folder/*.json | grep -o '"name":' | wc -l)" '
	/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { n = $1 + $3 + $5 }
	END { if (n != want) { print n " cases of " want; exit 1 } }' $log || status=1
exit $status
