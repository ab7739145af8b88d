#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The XDP programs decide, attach and stay attached as promised. The programs
# run here make namespaces and pins of their own.
set -u
XB_BUILD=$(realpath "${XB_BUILD:-$PWD}")
status=0

for program in rules attach; do
	"$XB_BUILD/tests/netns/prog/$program"
	case $? in
	0) ;;
	77) exit 77 ;;
	*) status=1 ;;
	esac
done
exit $status
