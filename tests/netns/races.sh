#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stations move at the very moment at which something else is done to their
# entries: refreshed, replaced by the user or by a routing daemon, flushed, their
# port taken down. Each time both tables agree in the end, nobody is left behind on
# a port, and a station that has spoken is where it spoke last. XB_ROUNDS (default
# 5) of each.
. "$(dirname "$0")/lib.sh"

for tool in jq bridge; do
	need $tool
done
ROUNDS=${XB_ROUNDS:-5}
N=64 # stations

no_differences()
{
	ctl verify >"$T/verify" 2>&1
}

agree()
{
	local end=$((SECONDS + 10))
	until no_differences; do
		[ $SECONDS -lt $end ] || {
			head -n 20 "$T/verify"
			fail "$1: tables are not equal"
		}
		sleep 0.02
	done
}

# Our entries of the stations on PORT.
n_user()
{
	ctl -j fdb | jq "[.[] | select((.mac | startswith(\"02:00:00:07\")) and .ifname == \"$1\")] | length"
}

n_kernel()
{
	in_ns sw bridge fdb show br br0 | grep -c "^02:00:00:07:.* dev $1 "
}

all_at()
{
	equal "$2: of ours at $1" "$(n_user "$1")" $N
	equal "$2: of the kernel's at $1" "$(n_kernel "$1")" $N
}

all_are_at()
{
	[ "$(n_user "$1")" = $N ] && [ "$(n_kernel "$1")" = $N ]
}

# One frame of each station from host I, to nobody known.
speak()
{
	gen "h$1" send --dev eth0 --hex "$T/hello" --count 1 --rate 20000 >/dev/null
}

# entries VERB PORT KIND: for `bridge -batch`, those of all stations.
entries()
{
	local i
	for ((i = 0; i < N; i++)); do
		printf 'fdb %s 02:00:00:07:00:%02x dev %s master %s\n' "$1" $i "$2" "$3"
	done
}

forget()
{
	in_ns sw bridge fdb flush dev br0 noextern_learn nopermanent >/dev/null 2>&1
	in_ns sw bridge fdb flush dev br0 extern_learn >/dev/null 2>&1
	agree "forgotten"
}

# race NAME COMMAND...: while the stations move from p1 to p2.
race()
{
	local name=$1 round other
	shift
	for round in $(seq "$ROUNDS"); do
		forget
		speak 1
		wait_for 5 all_are_at p1
		(
			sleep "0.00$((RANDOM % 10))"
			"$@"
		) &
		other=$!
		sleep "0.00$((RANDOM % 10))"
		speak 2
		wait $other
		agree "$name"
		measured "$name: kernel p1 $(n_kernel p1), p2 $(n_kernel p2), p3 $(n_kernel p3)"
		[ "$(n_user p1)" = "$(n_kernel p1)" ] && [ "$(n_user p2)" = "$(n_kernel p2)" ] ||
			fail "$name: ours are elsewhere"
		# And none of it keeps a station that speaks from being followed.
		[ "$name" = sticky ] || {
			speak 2
			wait_for 5 all_are_at p2
		}
	done
}

user_replaces()
{
	in_ns sw bridge -force -batch "$T/replace.$1" >/dev/null 2>&1
}

port_goes_down()
{
	in_ns sw ip link set p1 down
	in_ns sw ip link set p1 up
}

bridge_is_flushed()
{
	in_ns sw ip link set br0 type bridge fdb_flush
}

port_is_flushed()
{
	in_ns sw ip link set p1 type bridge_slave fdb_flush
}

topology_changes()
{
	in_ns sw ip link set br0 type bridge stp_state 1
	in_ns sw ip link set br0 type bridge stp_state 0
}

net_make 4 mcast_snooping 0 forward_delay 0
for ((i = 0; i < N; i++)); do
	printf '0200000000ff02000007%04x88b5cafe%092d\n' $i 0
done >"$T/hello"
entries replace p3 static >"$T/replace.static"
entries replace p3 dynamic >"$T/replace.dynamic"
entries replace p3 'extern_learn dynamic' >"$T/replace.extern"
entries replace p3 'static sticky' >"$T/replace.sticky"
daemon_start <<<'heartbeat = 5s'
wait_user_path

echo "== moves while refreshes are written: never pulled back"
# Written again every third of it.
in_ns sw ip link set br0 type bridge ageing_time 300
end=$((SECONDS + 4))
while [ $SECONDS -lt $end ]; do
	for i in 1 2 3; do
		speak $i
		wait_for 5 all_are_at p$i
		sleep "0.$((RANDOM % 3))"
		all_at p$i "after the move to p$i"
	done
done
in_ns sw ip link set br0 type bridge ageing_time 30000

race "replaced as static" user_replaces static
race "replaced as dynamic" user_replaces dynamic
race "replaced by a routing daemon" user_replaces extern
race sticky user_replaces sticky
race "port down and up" port_goes_down
race "bridge flushed" bridge_is_flushed
race "port flushed" port_is_flushed
race "topology change" topology_changes
daemon_stop || fail "the daemon ended with $?"
exit 0
