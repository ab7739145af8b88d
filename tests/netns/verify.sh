#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Our tables equal the kernel's after storms of changes, also when the kernel
# had to drop events: `xbridgectl verify` finds no difference that lasts.
. "$(dirname "$0")/lib.sh"

for tool in jq shuf; do
	need $tool
done

N_ENTRIES=2000
seed=${XB_SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed

resyncs()
{
	status_of .resyncs
}

no_differences()
{
	ctl verify >"$T/verify" || { cat "$T/verify"; return 1; }
}

# Adds, moves and deletes static and dynamic entries in one burst.
fdb_storm()
{
	local i kind verb
	for ((i = 0; i < N_ENTRIES; i++)); do
		kind=static
		verb=replace
		((RANDOM % 2)) && kind=dynamic
		((RANDOM % 4)) || verb=del
		mac=$(printf '02:00:00:01:%02x:%02x' $((RANDOM % 4)) $((RANDOM % 256)))
		if [ $verb = del ]; then
			echo "fdb del $mac dev p$((1 + RANDOM % 3)) master"
		else
			echo "fdb replace $mac dev p$((1 + RANDOM % 3)) master $kind"
		fi
	done >"$T/batch"
	in_ns sw bridge -force -batch "$T/batch" >/dev/null 2>&1
}

port_storm()
{
	local i p
	for ((i = 0; i < 60; i++)); do
		p=p$((1 + RANDOM % 3))
		case $((RANDOM % 6)) in
		0) in_ns sw ip link set $p nomaster ;;
		1) in_ns sw ip link set $p master br0 ;;
		2) in_ns sw ip link set $p down ;;
		3) in_ns sw ip link set $p up ;;
		4) in_ns sw bridge link set dev $p learning off flood off ;;
		5) in_ns sw bridge link set dev $p learning on flood on ;;
		esac 2>/dev/null
	done
	for p in p1 p2 p3; do
		in_ns sw ip link set $p master br0 up
	done
}

net_make 3 mcast_snooping 0
daemon_start <<'CONF'
heartbeat = 5s
netlink-buffer = 65536
CONF
wait_for 10 on_user_path p1 p2 p3

echo "== a storm of forwarding entries, larger than the event buffer"
before=$(resyncs)
fdb_storm
wait_for 20 no_differences
measured "$(cat "$T/verify")"
# Stopped meanwhile, the daemon cannot read: the kernel has to drop events.
daemon_signal STOP
fdb_storm
daemon_signal CONT
wait_for 20 no_differences
[ "$(resyncs)" -gt "$before" ] || fail "the kernel dropped no event: nothing was tested"
measured "resyncs $(($(resyncs) - before)), $(cat "$T/verify")"

echo "== ports that come and go"
port_storm
wait_for 20 on_user_path p1 p2 p3
wait_for 20 no_differences
measured "$(cat "$T/verify")"

echo "== entries added and deleted while the daemon cannot listen"
for i in 1 2 3; do
	in_ns sw bridge fdb replace 02:00:00:02:00:0$i dev p$i master static
done
wait_for 5 no_differences
daemon_signal STOP
in_ns sw bridge fdb del 02:00:00:02:00:01 dev p1 master
in_ns sw bridge fdb replace 02:00:00:02:00:02 dev p3 master static
daemon_signal CONT
wait_for 5 no_differences
equal "02:00:00:02:00:01 is at" "$(fdb_port user 02:00:00:02:00:01)" ""
equal "02:00:00:02:00:02 is at" "$(fdb_port user 02:00:00:02:00:02)" p3
ctl -j verify | jq -e '.complete and .n_differences == 0 and .links >= 5 and .fdb_entries >= 5' >/dev/null ||
	fail "verify compared too little: $(ctl -j verify | head -c 300)"
daemon_stop
