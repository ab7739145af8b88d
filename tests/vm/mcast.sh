#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Multicast of a bridge that snoops and filters VLANs: members and sources in two
# VLANs, with and without a tag, get what the kernel bridge alone gives them.
. "$(dirname "$0")/lib.sh"
vm_need 6.12
vm --kernel 6.12 -- env XB_VLANS=1 XB_PATIENCE=4 "$XB_SRC/tests/netns/mcast.sh" || fail "6.12: see above"
