#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the daemon takes of a core without any traffic, with 64 ports: all of it, and
# its worker alone.
#
# XB_PORTS: how many ports (64). XB_SECONDS: how long each run takes (5).
. "$(dirname "$0")/live.sh"

PORTS=${XB_PORTS:-64}
SECONDS_IDLE=${XB_SECONDS:-5}

# ns that the threads of the daemon have run: all, or all but the first.
ran()
{
	local task sum=0 ns
	for task in /proc/"$daemon_pid"/task/*; do
		[ "$1" = worker ] && [ "${task##*/}" = "$daemon_pid" ] && continue
		read -r ns _ <"$task/schedstat"
		sum=$((sum + ns))
	done
	echo $sum
}

# percent NS SPENT_NS
percent()
{
	awk -v ns="$1" -v spent="$2" 'BEGIN { printf "%.3f", 100 * ns / spent }'
}

subjects_present user
[ -r /proc/self/schedstat ] || skip "this kernel does not count the time of threads"
live_net "$PORTS"
live_figures
subject_start user
for round in $(seq "$ROUNDS"); do
	from=$(date +%s%N) all=$(ran all) worker=$(ran worker)
	sleep "$SECONDS_IDLE"
	spent=$(($(date +%s%N) - from))
	ask value daemon "$(percent $(($(ran all) - all)) $spent)"
	ask value worker "$(percent $(($(ran worker) - worker)) $spent)"
done
subject_stop
ask report "idle.$PORTS-ports.daemon" %core daemon
ask report "idle.$PORTS-ports.worker" %core worker
live_end
exit 0
