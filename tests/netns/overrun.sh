#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel drops events all the time, for their buffer holds only a few of
# them: after each part of a storm our tables equal the kernel's all the same,
# what is read anew is read at most once a second, and frames between two ports
# that are not touched are not lost. XB_ROUNDS (default 4) parts; XB_SEED repeats.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm_net.sh"

for tool in jq bridge; do
	need $tool
done
ROUNDS=${XB_ROUNDS:-4}
STORM_FLUSH=no # of entries that have to stay
N_RESIDENT=3000 # more than fit into one answer of the kernel
storm_seed

# Entries that stay: what is removed before them while the table is read must
# not hide one of them.
residents()
{
	local i
	for ((i = 0; i < N_RESIDENT; i++)); do
		printf 'fdb add 02:00:00:05:%02x:%02x dev p2 master static\n' $((i / 256)) $((i % 256))
	done | in_ns sw bridge -batch - || fail "entries cannot be added"
}

# Many that come and go at once.
burst()
{
	local i
	for ((i = 0; i < 300; i++)); do
		printf 'fdb replace 02:00:00:06:%02x:%02x dev p3 master static\n' "$1" $((i % 256))
		[ $((RANDOM % 2)) = 0 ] ||
			printf 'fdb del 02:00:00:06:%02x:%02x dev p3 master\n' "$1" $((RANDOM % 256))
	done | in_ns sw bridge -force -batch - >/dev/null 2>&1
}

resyncs()
{
	status_of .resyncs
}

storm_net mcast_snooping 0
daemon_start <<'CONF'
heartbeat = 5s
netlink-buffer = 8192
CONF
wait_for 20 on_user_path
residents

read_anew=0
for round in $(seq "$ROUNDS"); do
	storm_make 300 "$T/ops"
	traffic_begins
	before=$(resyncs) begun=$SECONDS
	burst "$round" &
	storm_blow "$T/ops"
	wait $!
	talk_ends
	become_equal 30
	n=$(($(resyncs) - before)) took=$((SECONDS - begun))
	traffic_ends "part $round"
	read_anew=$((read_anew + n))
	[ $n -le $((took + 2)) ] || fail "$n times all was read in $took s"
	n_entries=$(sed -n 's/.* \([0-9]*\) FDB entries.*/\1/p' "$T/verify")
	[ "${n_entries:-0}" -ge $N_RESIDENT ] || fail "verify compared too little: $(cat "$T/verify")"
	measured "part $round: read anew $n times in $took s, flow of $flow_sent frames;" \
		"$(cat "$T/verify")"
done
[ $read_anew -ge $((ROUNDS / 2)) ] || fail "the kernel dropped hardly any event: nothing was tested"
daemon_stop || fail "the daemon ended with $?"
exit 0
