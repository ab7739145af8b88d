# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# lib.sh: sourced by what tests run inside a virtual machine. An emulated
# processor starts few programs in a second, so it does in one what the
# functions of tests/netns/lib.sh, which it builds on, do in many:
#
#	lan_make N [OPTION]...	as net_make, but nobody has an IP address and
#				nobody says anything that is not asked for
#	bridge_do <LINES	`bridge -batch` in "sw"
#	ip_do NAME <LINES	`ip -batch` in a namespace
#	daemon_run <CONFIG	xbridged with deadlines for an emulated machine
#	daemon_end		ends it; its status must be 0
#	settled			the daemon has acted on all that was configured so far
#	pause SECONDS		without starting a program
#	ok MESSAGE		says what has been checked
# shellcheck source=tests/netns/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../netns/lib.sh"

ok()
{
	echo "ok: $*"
}

mkfifo "$T/never"
exec {pause_fd}<>"$T/never"
pause()
{
	read -r -t "$1" -u "$pause_fd" _
	return 0
}

bridge_do()
{
	in_ns sw bridge -batch - || fail "bridge -batch"
}

ip_do()
{
	in_ns "$1" ip -batch - || fail "ip -batch in $1"
}

lan_make()
{
	local n=$1 i
	shift
	for i in $(seq "$n"); do
		ip netns add "$XB_NS-h$i" && ns_made+=("h$i")
	done
	ip netns add "$XB_NS-sw" && ns_made+=(sw)
	{
		echo "link set lo up"
		echo "link add br0 address $(host_mac 0) type bridge $*"
		echo "link set br0 addrgenmode none up"
		for i in $(seq "$n"); do
			echo "link add p$i type veth peer name eth0 netns $(ns_path "h$i") address $(host_mac "$i")"
			echo "link set p$i master br0 addrgenmode none up"
		done
	} | ip_do sw
	for i in $(seq "$n"); do
		in_ns "h$i" ip link set eth0 addrgenmode none up
	done
	for i in $(seq "$n"); do
		wait_for 10 port_forwards "p$i"
	done
}

daemon_run()
{
	{
		echo "heartbeat = 2000"
		echo "control-heartbeat = 20000"
		echo "resync-deadline = 20000"
		echo "umem-frames = 16384"
		[ -t 0 ] || cat
	} >"$T/run.conf"
	daemon_start sw <"$T/run.conf"
}

daemon_end()
{
	daemon_stop || fail "the daemon ended with status $?"
}

# Events arrive in order: once the daemon knows a station that was added last,
# it has acted on what came before.
settled_n=0
settled()
{
	local mac
	settled_n=$((settled_n + 1))
	mac=$(printf '02:ee:00:00:00:%02x' $settled_n)
	in_ns sw bridge fdb replace "$mac" dev p1 master static
	wait_for 20 daemon_knows "$mac"
	in_ns sw bridge fdb del "$mac" dev p1 master
}

# shellcheck disable=SC2317 # called by wait_for
daemon_knows()
{
	ctl fdb show mac "$1" | grep -q "$1"
}
