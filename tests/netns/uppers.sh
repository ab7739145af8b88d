#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What sits on the bridge device sees what it would see on a kernel bridge:
# captures and promiscuity, a macvlan, a DHCP server for a client behind a port.
. "$(dirname "$0")/lib.sh"

for tool in jq tcpdump ping; do
	need $tool
done
dhcp_need

promiscuity_is()
{
	[ "$(in_ns sw ip -j -d link show br0 | jq '.[0].promiscuity')" = "$1" ]
}

# The host as a member of every flood and unicast, as workers see it.
host_copies()
{
	ctl -j stats | jq '[.ports[] | select(.host) | .tx_frames] | add'
}

# 100 frames from h1 to h2, which both tables know; the host's copies of them.
copies_of_unicast()
{
	local before
	before=$(host_copies)
	recv_start h2 uni --count 100 --until 100
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst "$(host_mac 2)" --count 100 --rate 2000 >/dev/null
	recv_end uni
	equal "h2 received" "$(recv_field uni received)" 100
	copies=$(($(host_copies) - before))
}

# Whether the host gets frames between others; the change may take a moment to arrive.
host_sees_all()
{
	copies_of_unicast
	[ $copies -ge 100 ]
}

host_sees_none()
{
	copies_of_unicast
	[ $copies -lt 50 ]
}

settled()
{
	in_ns h1 ping -c 1 -W 2 "$(host_ip 2)" && [ "$(fdb_port user "$(host_mac 2)")" = p2 ] &&
		[ "$(fdb_port user "$(host_mac 1)")" = p1 ]
}

ping_once()
{
	in_ns "$1" ping -q -c 1 -W 5 "$2" >"$T/ping" 2>&1 || fail "$1 does not reach $2: $(cat "$T/ping")"
}

net_make 4 mcast_snooping 0
daemon_start <<<'heartbeat = 5s'
wait_for 10 use_user_path p1 p2 p3 p4
wait_for 5 settled

echo "== nothing listens: frames between others are none of the host's business"
wait_for 10 host_sees_none

echo "== promiscuous by the user"
in_ns sw ip link set br0 promisc on
wait_for 10 host_sees_all
in_ns sw ip link set br0 promisc off
wait_for 10 host_sees_none

echo "== tcpdump on br0 sees frames between hosts, each once"
nsenter --net="$(ns_path sw)" -- tcpdump --immediate-mode -i br0 -n -U -w "$T/pcap" "ether proto 0x88b5" \
	2>"$T/tcpdump" &
tcpdump_pid=$!
pids+=("$tcpdump_pid")
wait_for 5 grep -q listening "$T/tcpdump"
wait_for 5 promiscuity_is 1
wait_for 10 host_sees_all
all_captured()
{
	[ "$(tcpdump -n -r "$T/pcap" 2>/dev/null | wc -l)" -ge 200 ]
}
copies_of_unicast
wait_for 10 all_captured
kill "$tcpdump_pid"
wait "$tcpdump_pid"
# A line for each frame; its number and time are in it.
tcpdump -n -t -xx -r "$T/pcap" 2>/dev/null |
	awk '/^\t/ { f = f $0; next } { if (f) print f; f = "" } END { print f }' >"$T/frames"
equal "captured twice" "$(sort "$T/frames" | uniq -d | wc -l)" 0
wait_for 10 host_sees_none

echo "== a macvlan on br0"
if in_ns sw ip link add mv0 link br0 address 02:00:00:00:00:aa type macvlan mode bridge 2>/dev/null; then
	ns_add mv
	in_ns sw ip link set mv0 netns "$(ns_path mv)"
	in_ns mv ip addr add 10.77.0.200/24 dev mv0
	in_ns mv ip addr add fd77::200/64 dev mv0 nodad
	in_ns mv ip link set mv0 up
	# The kernel does not announce this promiscuity: it is asked for.
	wait_for 5 host_sees_all
	for i in 1 2 3 4; do
		ping_once "h$i" 10.77.0.200
		ping_once "h$i" fd77::200
		ping_once mv "$(host_ip $i)"
		ping_once mv "$(host_ip6 $i)"
		# Known on both sides, so nothing of it is flooded.
		ping_once "h$i" 10.77.0.200
	done
	ns_del mv
	wait_for 10 promiscuity_is 0
	wait_for 10 host_sees_none
else
	echo "(this kernel has no macvlan)"
fi

echo "== DHCP from br0 to a client behind a port, with snooping"
in_ns sw ip link set br0 type bridge mcast_snooping 1
dhcp_serve
dhcp_lease h4
equal "the daemon's warnings" "$(grep -cE '^<[0-4]>' "$T/daemon.log")" 0
exit 0
