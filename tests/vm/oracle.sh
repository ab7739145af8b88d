#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Some recorded cases of each group, on two kernels, with the daemon at work: what
# comes out, what the host hears and the FDB are those of the kernel bridge alone.
# All of them: tests/oracle/live.
. "$(dirname "$0")/lib.sh"
vm_need 6.12 7.2

"$XB_SRC/tests/oracle/live" --sample 4 "$XB_BUILD/tests/data/oracle/linux-7.2" |
	sed 's/^frames: /measured: /'
exit "${PIPESTATUS[0]}"
