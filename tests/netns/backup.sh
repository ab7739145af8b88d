#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Known unicast for a port that is down or has no carrier goes to its backup
# port, on the user path, and back to the port when it is there again. The
# backup port is set, changed, taken away and leaves the bridge.
. "$(dirname "$0")/lib.sh"

need jq

n=100

port()
{
	local dev=$1
	shift
	in_ns sw bridge link set dev "$dev" "$@" || fail "cannot set $dev $*"
}

backup_is()
{
	ctl -j port | jq -e --arg dev "$1" --arg want "$2" \
		'any(.[]; .ifname == $dev and (.backup_port // "") == $want)'
}

isolated_is()
{
	ctl -j port | jq -e --arg dev "$1" "any(.[]; .ifname == \$dev and .isolated == $2)"
}

# Frames of h1 to host 2 arrive at these hosts, all of them, and nowhere else.
arrive_at()
{
	local what=$1 hosts=$2 i before
	before=$(port_stat p1 .rx_frames)
	for i in 2 3 4; do
		! is_up "h$i" || recv_start "h$i" "r$i" --timeout 60000
	done
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst "$(host_mac 2)" --count $n --rate 5000 >/dev/null
	wait_for 10 took "$((before + n))"
	for i in 2 3 4; do
		is_up "h$i" || continue
		recv_stop "r$i"
		case " $hosts " in
		*" $i "*) equal "$what: frames at host $i" "$(recv_field "r$i" received)" $n ;;
		*) equal "$what: frames at host $i" "$(recv_field "r$i" received)" 0 ;;
		esac
	done
}

# All are decided by the user path, and sent.
took()
{
	[ "$(port_stat p1 .rx_frames)" -ge "$1" ] && frames_are_home
}

is_up()
{
	in_ns "$1" ip link show eth0 | grep -q '[<,]UP[,>]'
}

bridge_is_open()
{
	[ "$(status_of '.bridges[0].gate')" = open ]
}

# What was sent meanwhile has arrived once, at the port or at its backup.
lose_carrier_under_load()
{
	local sent=20000 got
	recv_start h2 r2 --timeout 60000
	recv_start h3 r3 --timeout 60000
	send_start s1 h1 --src "$(host_mac 1)" --dst "$(host_mac 2)" --count $sent --rate 10000
	wait_for 10 redirected_reaches p1 $(($(stats_of \
		'.ports[] | select(.ifname == "p1").redirected') + sent / 4))
	in_ns h2 ip link set eth0 down
	send_end s1
	wait_for 10 frames_are_home
	recv_stop r2
	recv_stop r3
	got=$(($(recv_field r2 received) + $(recv_field r3 received)))
	measured "carrier lost at 10,000 frames/s: $((sent - got)) of $sent lost," \
		"$(recv_field r3 received) went to the backup port"
	[ "$(recv_field r3 received)" -gt $((sent / 2)) ] || fail "the backup port took too few"
	# The socket of a receiver whose device goes down loses some as well.
	[ $got -le $sent ] || fail "$got frames arrived, $sent were sent"
	[ $got -ge $((sent - 1000)) ] || fail "only $got of $sent frames arrived"
}

net_make 4 mcast_snooping 0 forward_delay 0
for i in 1 2 3 4; do
	in_ns "h$i" ip addr flush dev eth0
	in_ns "h$i" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
done
port p2 backup_port p3
in_ns sw bridge fdb replace "$(host_mac 2)" dev p2 master static
daemon_start <<<'heartbeat = 5s'
wait_for 10 use_user_path p1 p2 p3 p4
wait_for 5 backup_is p2 p3
arrive_at 'all ports up' 2

in_ns h2 ip link set eth0 down
wait_for 5 port_state_is p2 disabled
wait_for 5 bridge_is_open
arrive_at 'no carrier' 3

port p2 backup_port p4
wait_for 5 backup_is p2 p4
arrive_at 'another backup port' 4

port p2 nobackup_port
wait_for 5 backup_is p2 ''
arrive_at 'no backup port' ''

port p2 backup_port p3
wait_for 5 backup_is p2 p3
in_ns sw ip link set p3 nomaster
wait_for 5 backup_is p2 ''
in_ns sw ip link set p3 master br0
wait_for 10 use_user_path p1 p3 p4
arrive_at 'the backup port left and came again' ''

port p2 backup_port p3
wait_for 5 backup_is p2 p3
port p3 isolated on
port p1 isolated on
wait_for 5 isolated_is p1 true
arrive_at 'both isolated' ''
port p1 isolated off
port p3 isolated off
wait_for 5 isolated_is p3 false
arrive_at 'not isolated any more' 3

in_ns h2 ip link set eth0 up
wait_for 10 use_user_path p1 p2 p3 p4
arrive_at 'carrier again' 2

in_ns sw ip link set p2 down
wait_for 5 port_state_is p2 disabled
wait_for 5 bridge_is_open
arrive_at 'set down' 3
in_ns sw ip link set p2 up
wait_for 10 use_user_path p1 p2 p3 p4
arrive_at 'set up' 2

lose_carrier_under_load
exit 0
