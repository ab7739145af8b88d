#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon is killed at any moment of a storm of changes and started again: each
# time the kernel goes on forwarding, the tables become equal, and nothing is left
# of the one before. XB_ROUNDS (default 3) kills; XB_SEED repeats.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm_net.sh"

for tool in jq bridge; do
	need $tool
done
ROUNDS=${XB_ROUNDS:-3}
storm_seed

pairs()
{
	in_ns sw ip -o link | grep -cE ': xb[hq][0-9]+[@:]'
}

# Interfaces that have a directory of pins.
pins()
{
	find "$pin_dir" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' 2>/dev/null | sort
}

# Each pinned link is that of a port, or of a private pair.
no_pins_are_left()
{
	[ -z "$(comm -23 <(pins) <(in_ns sw ip -j link |
		jq -r '.[] | select(.master == "br0" or (.ifname | test("^xb[hq]"))).ifindex' | sort))" ]
}

received_at_h2()
{
	in_ns h2 ip -j -s link show eth0 | jq '.[0].stats64.rx.packets'
}

goes_on()
{
	[ "$(received_at_h2)" -gt $((at_kill + 100)) ]
}

storm_net mcast_snooping 0
pin_dir=/sys/fs/bpf/xbridged/$(stat -L -c %i "$(ns_path sw)")
daemon_start <<<'heartbeat = 5s'
wait_for 20 on_user_path
traffic_begins
for round in $(seq "$ROUNDS"); do
	storm_make 150 "$T/ops"
	storm_blow "$T/ops" &
	storm=$!
	pids+=("$storm")
	sleep "$((RANDOM % 2)).$((RANDOM % 10))"
	daemon_kill
	at_kill=$(received_at_h2)
	wait_for 5 goes_on
	# Some find the storm still going on, some a calm kernel.
	[ $((RANDOM % 2)) = 0 ] || wait $storm
	daemon_start <<<'heartbeat = 5s'
	[ $((RANDOM % 3)) -gt 0 ] || {
		# Killed as soon as it answers.
		daemon_kill
		daemon_start <<<'heartbeat = 5s'
	}
	wait $storm
	become_equal 30
	equal "interfaces of private pairs" "$(pairs)" 2
	wait_for 5 no_pins_are_left
	measured "kill $round: $(cat "$T/verify")"
done
talk_ends
kill "$sender"
wait "$sender" 2>/dev/null
recv_stop flow
equal "doubled of the flow" "$(flow duplicated)" 0
[ "$(flow lost)" -le $((100 * ROUNDS)) ] || fail "$(flow lost) frames of the flow lost"
measured "flow: $(flow received) frames, $(flow lost) lost by $ROUNDS kills and more"
storm_calm
wait_for 20 calm_is_known
same_as_kernel "after $ROUNDS kills"
equal "interfaces of private pairs after the end" "$(pairs)" 0
in_ns sw "$XB_BUILD/xbridged" --cleanup >/dev/null
equal "pins after --cleanup" "$(pins | wc -l)" 0
exit 0
