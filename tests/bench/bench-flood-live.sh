#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Broadcasts of 60 bytes to all other ports of a bridge with 8, 32 and 64: time for
# each copy that arrives at a port. Less is better. The host gets a copy as well, which
# is not counted.
#
# XB_PORTS: the numbers of ports ("8 32 64"), growing. XB_MS: 700 if not set.
. "$(dirname "$0")/live.sh"

MS=${XB_MS:-700}
SIZES=${XB_PORTS:-8 32 64}

measure()
{
	stations_known 1 || return
	ask copies "ports$1.$subject" "$MS"
}

subjects_present kernel user
n=0
for size in $SIZES; do
	if [ "$n" = 0 ]; then
		live_net "$size"
	else
		for i in $(seq $((n + 1)) "$size"); do
			host_add "$i"
			live_port "$i"
		done
		for i in $(seq $((n + 1)) "$size"); do
			wait_for 20 port_forwards "p$i"
		done
	fi
	n=$size
	live_start "$size"
	each_round measure "$size"
	report "flood-live.$size-ports" ns/copy "ports$size"
	live_end
done
exit 0
