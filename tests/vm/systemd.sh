#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The unit under a real systemd: start, reload, restart, watchdog, stop, with
# the capabilities and the sandbox that it asks for.
. "$(dirname "$0")/lib.sh"
[ -x /lib/systemd/systemd ] || skip "no systemd here"
vm_need 6.12
vm --kernel 6.12 -- "$XB_SRC/tests/vm/guest/systemd.sh"
