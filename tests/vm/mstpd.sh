#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two bridges with two links between them, and mstpd in charge of both.
. "$(dirname "$0")/lib.sh"
vm_need 7.2
vm --kernel 7.2 --iproute2 --mstpd -- "$XB_SRC/tests/vm/guest/mstpd.sh" || fail "7.2: see above"
