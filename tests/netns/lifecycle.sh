#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Ports and bridges come, change and go while two other ports have traffic:
# that goes on, what goes is given back at once, and what stays or comes again
# is on the user path without anybody's help. ROUNDS of 50 ports (default 4).
. "$(dirname "$0")/lib.sh"

need jq
ROUNDS=${ROUNDS:-4}

# Until a new port is open the kernel forwards, so that no frame for it is lost:
# frames may overtake those that a worker still has, none may be lost or doubled.
#
# From h1 to h2, all the time, until traffic_ends WHAT.
traffic_begins()
{
	recv_start h2 flow --timeout 600000
	nsenter --net="$(ns_path h1)" -- "$XBGEN" send --dev eth0 --src "$(host_mac 1)" \
		--dst "$(host_mac 2)" --count 1000000 --rate 2000 >/dev/null &
	sender=$!
	pids+=("$sender")
}

traffic_ends()
{
	kill "$sender"
	wait "$sender"
	recv_stop flow
	echo "$1: $(flow received) frames, longest gap $(($(flow gap_max_ns) / 1000000)) ms," \
		"$(flow reordered) overtaken," \
		"passed since the start $(passed)"
	equal "lost during: $1" "$(flow lost)" 0
	equal "duplicated during: $1" "$(flow duplicated)" 0
}

passed()
{
	ctl -j stats | jq -c '.ports[] | select(.ifname == "p1") | .passed | with_entries(select(.value > 0))'
}

# Others send to h2 as well.
flow()
{
	jq ".sources[] | select(.source == 1) | .$1" "$T/flow.json"
}

# A broadcast from a host's namespace arrives at h4; its EtherType is xbgen's.
reaches_h4()
{
	local name=$1
	recv_start h4 probe --until 5 --timeout "${2:-15000}"
	gen "$name" send --dev eth0 --src 02:00:00:00:0b:01 --dst broadcast --count 5 --rate 1000 \
		--source 7 >/dev/null
	recv_end probe
	[ "$(recv_field probe received)" = 5 ]
}

user_frames()
{
	port_stat "$1" .rx_frames
}

# Of the port PORT, whose host is in namespace NAME: back, and not by the kernel path.
is_back()
{
	local port=$1 name=$2 before
	wait_for 10 use_user_path "$port"
	before=$(user_frames "$port")
	reaches_h4 "$name" || fail "$port does not forward"
	[ "$(user_frames "$port")" -ge $((before + 5)) ] || fail "$port is not on the user path"
}

no_port()
{
	ctl -j status | jq -e --arg p "$1" 'all(.bridges[].ports[]; .ifname != $p)'
}

now_ms()
{
	awk '{ print int($1 * 1000) }' /proc/uptime
}

net_make 4 mcast_snooping 0
daemon_start <<-'CONF'
	heartbeat = 5s
	rx-ring = 512
	fill-ring = 512
	tx-ring = 512
	completion-ring = 512
	bridges = { "*", "br9" }
CONF
wait_for 10 use_user_path p1 p2 p3 p4

traffic_begins
in_ns sw ip link set p3 down
wait_for 5 told "port p3 of br0 is disabled"
in_ns sw ip link set p3 up
wait_for 5 port_forwards p3
is_back p3 h3
traffic_ends "down and up"

traffic_begins
in_ns sw ip link set p3 name left3
wait_for 5 use_user_path left3
wait_for 5 told "port p3 is called left3 now"
is_back left3 h3
in_ns sw ip link set left3 name p3
is_back p3 h3
traffic_ends "renamed"

traffic_begins
in_ns sw ip link set p3 nomaster
wait_for 5 no_port p3
wait_for 5 told "port p3 left br0"
reaches_h4 h3 1500 && fail "a port without a bridge forwards"
in_ns sw ip link set p3 master br0
wait_for 5 port_forwards p3
is_back p3 h3
traffic_ends "removed and put back"

traffic_begins
ns_add other
nsenter --net="$(ns_path h3)" -- "$XBGEN" send --dev eth0 --src "$(host_mac 3)" --dst broadcast \
	--count 1000000 --rate 2000 --source 3 >/dev/null &
mover=$!
pids+=("$mover")
in_ns sw ip link set p3 netns "$(ns_path other)"
recv_start other moved --dev p3 --timeout 60000
in_ns other ip link set p3 up
up_ms=$(now_ms)
reached_other()
{
	in_ns other ip -j -s link show p3 | jq -e '.[0].stats64.rx.packets > 100'
}
wait_for 10 reached_other
kill "$mover"
wait "$mover"
recv_stop moved
first_ms=$(($(jq '.sources[0].first_ns' "$T/moved.json") / 1000000))
echo "a moved port receives $((first_ms - up_ms)) ms after it is up"
[ $((first_ms - up_ms)) -le 100 ] || fail "it has to within 100 ms"
equal "lost in the other namespace" "$(recv_field moved lost)" 0
in_ns other bpftool -j net show dev p3 2>/dev/null | jq -e '.[0].xdp == []' >/dev/null ||
	fail "a program is left on the moved port"
wait_for 5 no_port p3
in_ns other ip link set p3 netns "$(ns_path sw)"
in_ns sw ip link set p3 master br0 up
wait_for 5 port_forwards p3
is_back p3 h3
traffic_ends "moved to another namespace and back"

traffic_begins
in_ns sw ip link del p3
wait_for 5 no_port p3
wait_for 5 told "port p3 left br0 (the interface has gone)"
ip netns del "$XB_NS-h3"
ip netns add "$XB_NS-h3"
host_add_again()
{
	in_ns sw ip link add p3 type veth peer name eth0 netns "$(ns_path h3)" address "$(host_mac 3)"
	in_ns h3 ip link set eth0 up
	in_ns sw ip link set p3 master br0 up
}
host_add_again
wait_for 5 port_forwards p3
is_back p3 h3
traffic_ends "deleted and made again"

traffic_begins
in_ns sw ip link set p3 address 02:00:00:00:0c:01
in_ns sw ip link set p3 mtu 1400
is_back p3 h3
in_ns sw ip link set p3 mtu 1500
is_back p3 h3
# Frames to the port's new address are for the machine, and for nobody else.
recv_start h4 local --timeout 60000
gen h1 send --dev eth0 --src 02:00:00:00:0b:02 --dst 02:00:00:00:0c:01 --count 20 --rate 1000 \
	--source 8 >/dev/null
recv_stop local
equal "h4 received frames for the machine" "$(recv_field local received)" 0
traffic_ends "MAC and MTU of a port"

traffic_begins
ns_add h5
in_ns sw ip link add br9 type bridge mcast_snooping 0
wait_for 5 told "bridge br9: found"
in_ns sw ip link add q5 type veth peer name eth0 netns "$(ns_path h5)" address "$(host_mac 5)"
in_ns h5 ip link set eth0 up
in_ns sw ip link set br9 up
in_ns sw ip link set q5 master br9 up
wait_for 10 use_user_path q5
reaches_h4 h5 1500 && fail "frames cross from br9 to br0"
in_ns sw ip link del br9
wait_for 5 told "bridge br9 has gone"
in_ns sw ip link set q5 master br0
wait_for 5 port_forwards q5
is_back q5 h5
in_ns sw ip link del q5
traffic_ends "a second bridge, one that the configuration waits for"

echo "== the bridge itself"
in_ns sw ip link set br0 mtu 1400
in_ns sw ip link set br0 mtu 1500
in_ns sw ip link set br0 address 02:00:00:00:0d:01
is_back p3 h3
in_ns h1 ip neigh flush all
in_ns h1 ping -q -c 1 -W 5 "$(host_ip 0)" >/dev/null || fail "br0 has a new address, and is not reached"
in_ns sw ip link set br0 down
wait_for 5 told "port p4 of br0 is disabled"
in_ns sw ip link set br0 up
for i in 1 2 3 4; do
	wait_for 5 port_forwards "p$i"
done
is_back p3 h3
in_ns sw ip link del br0
wait_for 5 told "bridge br0 has gone"
wait_for 5 test -z "$(in_ns sw ip -o link | grep -E 'xb[hq][0-9]')"
in_ns sw ip link add br0 address "$(host_mac 0)" type bridge mcast_snooping 0
in_ns sw ip link set br0 up
for i in 1 2 3 4; do
	in_ns sw ip link set "p$i" master br0
done
for i in 1 2 3 4; do
	wait_for 5 port_forwards "p$i"
	wait_for 10 use_user_path "p$i"
done
is_back p3 h3

echo "== 50 ports come and go, $ROUNDS times"
many_there()
{
	[ "$(ctl -j status | jq '[.bridges[].ports[] | select(.path == "user")] | length')" = 54 ]
}
none_there()
{
	[ "$(ctl -j status | jq '[.bridges[].ports[]] | length')" = 4 ]
}
n_fds()
{
	find "/proc/$daemon_pid/fd" -mindepth 1 | wc -l
}
rss_kb()
{
	awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status"
}
n_pins()
{
	find "/sys/fs/bpf/xbridged/$(in_ns sw stat -L -c %i /proc/self/ns/net)" -type f | wc -l
}
for i in $(seq 50); do
	echo "link add m$i type veth peer name e$i"
	echo "link set e$i up"
	echo "link set m$i master br0 up"
done >"$T/add"
for i in $(seq 50); do
	echo "link del m$i"
done >"$T/del"
traffic_begins
for round in $(seq "$ROUNDS"); do
	in_ns sw ip -batch "$T/add" || fail "cannot make ports"
	wait_for 60 many_there
	in_ns sw ip -batch "$T/del" || fail "cannot delete ports"
	wait_for 60 none_there
	[ "$round" = 1 ] && fds=$(n_fds) rss=$(rss_kb) pins=$(n_pins)
done
traffic_ends "50 ports, $ROUNDS times"
echo "descriptors $fds -> $(n_fds), memory $rss -> $(rss_kb) kB, pins $pins -> $(n_pins)"
[ "$(n_fds)" -le "$fds" ] || fail "descriptors leak"
[ "$(n_pins)" -le "$pins" ] || fail "pins leak"
[ "$(rss_kb)" -le $((rss + 2048)) ] || fail "memory grows"
equal "lost UMEM frames" "$(ctl -j status | jq .frames.lost)" 0
equal "the daemon's errors" "$(grep -cE '^<[0-3]>' "$T/daemon.log")" 0
pin_dir=/sys/fs/bpf/xbridged/$(in_ns sw stat -L -c %i /proc/self/ns/net)
daemon_stop || fail "the daemon ended with $?"
in_ns sw ip -o link | grep -E 'xb[hq][0-9]' && fail "private interfaces were left"
in_ns sw "$XB_BUILD/xbridged" --cleanup >/dev/null
[ -z "$(find "$pin_dir" -type f 2>/dev/null)" ] || fail "pins are left in $pin_dir"
exit 0
