#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Storms of random changes with VLANs (ranges, PVIDs, states, those of the bridge
# itself, filtering, its protocol, the default PVID, MST) on two kernels.
# XB_CHANGES (default 100); XB_SEED repeats one.
. "$(dirname "$0")/lib.sh"
kernels='6.12 7.2'
# shellcheck disable=SC2086 # a list
vm_need $kernels

on_kernel()
{
	vm --kernel "$1" --iproute2 -- env ${XB_SEED:+XB_SEED=$XB_SEED} \
		"$XB_SRC/tests/vm/guest/storm.sh" "${XB_CHANGES:-100}"
}

# shellcheck disable=SC2086 # a list
each_kernel on_kernel $kernels
