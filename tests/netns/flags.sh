#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Flags and states of ports mean what they mean in the kernel bridge: the same
# frames are sent with xbridged and without it, and each host has to get the
# same ones; the kernel's table has to have learned the same.
. "$(dirname "$0")/lib.sh"

need jq

unknown=02:00:00:00:0f:ff
static=02:00:00:00:0f:01
group=01:00:5e:01:01:01

# name | path of p1 with xbridged | how it is set up | how it is undone
rows='
plain                     |user  |true                                            |true
isolated p1 p2            |user  |port p1 isolated on; port p2 isolated on        |port p1 isolated off; port p2 isolated off
isolated p1               |user  |port p1 isolated on                             |port p1 isolated off
learning off p1           |user  |port p1 learning off                            |port p1 learning on
flood off p3              |user  |port p3 flood off                               |port p3 flood on
mcast_flood off p3        |user  |port p3 mcast_flood off                         |port p3 mcast_flood on
bcast_flood off p3        |user  |port p3 bcast_flood off                         |port p3 bcast_flood on
hairpin p1                |user  |port p1 hairpin on                              |port p1 hairpin off
disabled p3               |user  |port p3 state 0                                 |port p3 state 3
listening p3              |user  |port p3 state 1                                 |port p3 state 3
learning p3               |user  |port p3 state 2                                 |port p3 state 3
blocking p3               |user  |port p3 state 4                                 |port p3 state 3
learning p1               |user  |port p1 state 2                                 |port p1 state 3
blocking p1               |user  |port p1 state 4                                 |port p1 state 3
locked p1                 |kernel|port p1 locked on                               |port p1 locked off
static on p3              |user  |fdb add $static dev p3 master static            |forget $static
static of h1 on p3        |user  |fdb replace $(host_mac 1) dev p3 master static      |forget $(host_mac 1)
sticky of h1 on p3        |user  |fdb replace $(host_mac 1) dev p3 master static sticky|forget $(host_mac 1)
local entry on p3         |user  |fdb add $static dev p3 master local             |forget $static
snooping                  |user  |snooping 1                                      |snooping 0
ageing 0                  |user  |ageing 0                                        |ageing 30000
'

port()
{
	local dev=$1
	shift
	in_ns sw bridge link set dev "$dev" "$@"
}

fdb()
{
	in_ns sw bridge fdb "$@"
}

# A static entry may have moved with its station.
forget()
{
	local i
	for i in 1 2 3 4; do
		in_ns sw bridge fdb del "$1" dev "p$i" master 2>/dev/null
	done
	return 0
}

snooping()
{
	in_ns sw ip link set br0 type bridge mcast_snooping "$1"
}

ageing()
{
	in_ns sw ip link set br0 type bridge ageing_time "$1"
}

# Six frames of a source number, as hexadecimal lines for xbgen.
frames()
{
	local source=$1 src=${2//:/} dst=${3//:/} i
	for i in 1 2 3 4 5 6; do
		printf '%s%s88b558424e31%08x%016x%064x\n' "$dst" "$src" "$source" "$i" 0
	done
}

make_frames()
{
	local all=ffffffffffff
	frames 99 "$(host_mac 2)" $all | head -n 1 >"$T/hello2"
	{
		frames 11 "$(host_mac 1)" "$(host_mac 2)"
		frames 12 "$(host_mac 1)" $unknown
		frames 13 "$(host_mac 1)" $all
		frames 14 "$(host_mac 1)" $group
		frames 15 "$(host_mac 1)" "$(host_mac 1)"
		frames 16 "$(host_mac 1)" $static
	} >"$T/from1"
	{
		frames 21 "$(host_mac 2)" "$(host_mac 1)"
		frames 22 "$(host_mac 2)" $static
	} >"$T/from2"
	{
		frames 31 "$(host_mac 3)" "$(host_mac 1)"
		frames 32 "$(host_mac 3)" $all
		frames 33 "$(host_mac 3)" "$(host_mac 2)"
	} >"$T/from3"
	{
		frames 41 "$(host_mac 4)" "$(host_mac 3)"
		frames 42 "$(host_mac 4)" $group
	} >"$T/from4"
}

# No frame is on its way in the daemon, and none left a port for a moment.
is_quiet()
{
	local before
	before=$(<"/proc/$holder/net/dev")
	if [ -n "$daemon_pid" ]; then
		ctl -j stats | jq -e 'all(.ports[];
			.host or (.tx_in_flight == 0 and .redirected == .rx_frames))' || return 1
	else
		sleep 0.05
	fi
	[ "$before" = "$(<"/proc/$holder/net/dev")" ]
}

# What each host got, as counts of source numbers, and what the kernel learned.
probe()
{
	local i
	in_ns sw ip link set br0 type bridge fdb_flush
	for i in 1 2 3 4; do
		recv_start "h$i" "r$i" --timeout 60000
	done
	gen h2 send --dev eth0 --hex "$T/hello2" --count 1 --rate 1000 >/dev/null
	wait_for 10 is_quiet
	for i in 1 2 3 4; do
		gen "h$i" send --dev eth0 --hex "$T/from$i" --count 1 --rate 2000 >/dev/null
		wait_for 10 is_quiet
	done
	for i in 1 2 3 4; do
		recv_stop "r$i"
	done
	jq -r '[input_filename[-6:-5]] + ([.sources[] | "\(.source):\(.received)"] | sort) | "h" + join(" ")' \
		"$T"/r[1-4].json >"$1"
	in_ns sw bridge -j fdb show br br0 | jq -r '[.[] | select(.master and .state != "permanent" and
		(.mac | startswith("02:00:00:00:00:"))) | "\(.mac) \(.ifname) \(.state)"] | sort[]' >>"$1"
}

trim()
{
	sed 's/^ *//; s/ *$//' <<<"$1"
}

# Every row with what is running now; results in files of T.
run()
{
	local who=$1 only=${2:-} n=0 name path on off before
	while IFS='|' read -r name path on off; do
		[ -n "$name" ] || continue
		name=$(trim "$name") n=$((n + 1))
		[ -z "$only" ] || [ "$only" = "$name" ] || continue
		eval "$on" || fail "$name: cannot be set"
		if [ "$who" = user ]; then
			wait_for 10 path_is "$(trim "$path")"
			before=$(port_stat p1 .rx_frames)
		fi
		probe "$T/$who.$n"
		if [ "$who" = user ] && [ "$(trim "$path")" = user ]; then
			[ "$(port_stat p1 .rx_frames)" -ge $((before + 24)) ] ||
				fail "$name: frames were not on the user path"
		fi
		eval "$off" || fail "$name: cannot be undone"
	done <<<"$rows"
}

path_is()
{
	ctl -j status | jq -e --arg path "$1" \
		'any(.bridges[].ports[]; .ifname == "p1" and .path == $path) and .bridges[0].gate == "open"'
}

# The timer of the forward delay runs with STP off, too, and would change states.
net_make 4 mcast_snooping 0 forward_delay 0
nsenter --net="$(ns_path sw)" -- sleep 1000 &
holder=$!
pids+=("$holder")
# Nothing but the frames of this test.
for i in 1 2 3 4; do
	in_ns "h$i" ip addr flush dev eth0
	in_ns "h$i" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
done
make_frames
daemon_start <<<'heartbeat = 5s'
wait_for 10 use_user_path p1 p2 p3 p4
run user
daemon_stop || fail "the daemon ended with $?"
daemon_pid=
run kernel

n=0 bad=0
while IFS='|' read -r name _; do
	[ -n "$name" ] || continue
	name=$(trim "$name") n=$((n + 1))
	if cmp -s "$T/user.$n" "$T/kernel.$n"; then
		echo "same: $name"
	else
		echo "DIFFERENT: $name"
		diff "$T/kernel.$n" "$T/user.$n"
		bad=$((bad + 1))
	fi
done <<<"$rows"
equal "rows that differ" $bad 0
exit 0
