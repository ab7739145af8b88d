#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every recorded case, or each Nth of a group (XB_ORACLE_SAMPLE=N), on two kernels
# with the daemon at work: what comes out, what the host hears and the FDB are
# those of the kernel bridge alone.
. "$(dirname "$0")/lib.sh"
vm_need 6.12 7.2

"$XB_SRC/tests/oracle/live" --sample 4 "$XB_BUILD/tests/data/oracle/linux-7.2" |
	sed 's/^frames: /measured: /'
exit "${PIPESTATUS[0]}"
