#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Blocking, listening and learning of ports, of VLANs on a port, and of spanning
# tree instances: followed in time under load. The kernel keeps such states only
# while somebody in user space is in charge of the spanning tree.
. "$(dirname "$0")/lib.sh"
vm_need 7.2
vm --kernel 7.2 --iproute2 -- "$XB_SRC/tests/vm/guest/states.sh" || fail "7.2: see above"
