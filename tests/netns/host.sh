#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The machine that has the bridge, and stations behind four ports whose
# checksums are left to offload, talk to each other as over the kernel bridge.
. "$(dirname "$0")/lib.sh"

for tool in jq iperf3 ping; do
	type $tool >/dev/null 2>&1 || skip "needs $tool"
done

# name of a host -> namespace; host 0 is the machine itself.
ns_of()
{
	[ "$1" = 0 ] && echo sw || echo "h$1"
}

# A server for each host; 0 listens on br0.
for_servers()
{
	local i
	for i in 0 1 2 3 4; do
		nsenter --net="$(ns_path "$(ns_of $i)")" -- iperf3 -s --forceflush >"$T/server$i" 2>&1 &
		pids+=("$!")
		wait_for 5 grep -q listening "$T/server$i"
	done
}

# Two single ones: with -c 2 a slow answer may be taken for a lost one.
pings()
{
	local from=$1 to=$2 i
	for i in 1 2; do
		in_ns "$(ns_of "$from")" ping -q -c 1 -W 5 "$to" >"$T/ping" 2>&1 ||
			fail "$from does not reach $to: $(cat "$T/ping")"
	done
}

iperf()
{
	local from=$1 to=$2
	shift 2
	in_ns "$(ns_of "$from")" timeout 30 iperf3 -J -c "$to" "$@" >"$T/iperf" ||
		fail "iperf3 $from to $to $*: $(jq -c .error "$T/iperf")"
}

# iperf3 does not wait for the last bytes: what has arrived says that checksums are right.
transfers()
{
	local from=$1 to=$2 n
	iperf "$from" "$to" -n 1M
	n=$(jq .end.sum_received.bytes "$T/iperf")
	[ "$n" -ge 100000 ] || fail "TCP $from to $to: $n bytes: $(cat "$T/iperf")"
	iperf "$from" "$to" -u -b 20M -l 1000 -n 50K
	equal "datagrams lost from $from to $to" "$(jq .end.sum.lost_packets "$T/iperf")" 0
}

pair()
{
	pings "$1" "$(host_ip "$2")"
	pings "$1" "$(host_ip6 "$2")"
	transfers "$1" "$(host_ip "$2")"
	transfers "$1" "$(host_ip6 "$2")"
}

forget_neighbours()
{
	local i
	for i in 0 1 2 3 4; do
		in_ns "$(ns_of $i)" ip neigh flush all
	done
}

# Both tables are empty, and nobody knows anybody's address. Stations that come
# up report to multicast groups unasked, so this may take more than one try.
is_empty()
{
	local i
	forget_neighbours
	in_ns sw ip link set br0 type bridge fdb_flush
	for i in 1 2 3 4; do
		[ -z "$(fdb_port kernel "$(host_mac $i)")$(fdb_port user "$(host_mac $i)")" ] || return 1
	done
}

from_nothing()
{
	wait_for 20 is_empty
}

is_at()
{
	[ "$(fdb_port kernel "$(host_mac "$1")")" = "$2" ] &&
		[ "$(fdb_port user "$(host_mac "$1")")" = "$2" ]
}

bad_checksums()
{
	local i
	for i in 0 1 2 3 4; do
		in_ns "$(ns_of $i)" nstat -asz IcmpInCsumErrors TcpInCsumErrors UdpInCsumErrors \
			Udp6InCsumErrors Icmp6InCsumErrors
	done | awk '!/^#/ { sum += $2 } END { print sum + 0 }'
}

# rx_packets and tx_packets of a host's interface.
host_count()
{
	in_ns "h$1" ip -j -s link show eth0 | jq ".[0].stats64.$2.packets"
}

net_make 4 mcast_snooping 0
# A machine that is busy with other tests must not send frames to the kernel path.
daemon_start <<<'heartbeat = 5s'
wait_for 10 use_user_path p1 p2 p3 p4
for_servers
for i in 1 2 3 4; do
	in_ns "h$i" ethtool -k eth0 | grep -q '^tx-checksumming: on' || fail "h$i completes its checksums"
done

for snooping in 0 1; do
	echo "== all pairs, mcast_snooping $snooping"
	in_ns sw ip link set br0 type bridge mcast_snooping $snooping
	# ARP and ND: nobody knows anybody.
	from_nothing
	for a in 1 2 3 4; do
		for b in 1 2 3 4; do
			[ $a = $b ] && continue
			pings $a "$(host_ip $b)"
			pings $a "$(host_ip6 $b)"
		done
		pings $a "$(host_ip 0)"
		pings $a "$(host_ip6 0)"
	done
	from_nothing
	for i in 1 2 3 4; do
		pings 0 "$(host_ip $i)"
		pings 0 "$(host_ip6 $i)"
		wait_for 5 is_at $i "p$i"
	done
done

echo "== TCP and UDP"
for a in 0 1 2 3 4; do
	for b in 0 1 2 3 4; do
		[ $a = $b ] || pair $a $b
	done
done
equal "bad checksums" "$(bad_checksums)" 0
equal "user path completed checksums" "$(port_stat p1 '.csum_completed > 0')" true

echo "== the host's neighbours"
for i in 1 2 3 4; do
	in_ns sw ip neigh show "$(host_ip $i)" dev br0 | grep -q "$(host_mac $i)" ||
		fail "the host's neighbour $i: $(in_ns sw ip neigh)"
done

echo "== a bulk transfer is on the user path, once"
sent=$(host_count 1 tx) received=$(host_count 2 rx)
user=$(port_stat p2 .tx_frames)
iperf 1 "$(host_ip 2)" -n 20M
sent=$(($(host_count 1 tx) - sent)) received=$(($(host_count 2 rx) - received))
user=$(($(port_stat p2 .tx_frames) - user))
echo "sent $sent, received $received, by the user path $user"
[ "$received" -ge 10000 ] || fail "too few frames for 20 MB: $received"
[ $((user * 100)) -ge $((received * 99)) ] || fail "user path: only $user of $received"
[ "$received" -le $((sent + 20)) ] || fail "more frames came out than went in"

echo "== an unknown station asks the host: the answer goes to it alone"
for round in 1 2 3 4 5; do
	from_nothing
	for i in 2 3 4; do
		recv_start "h$i" "cap$i" --all --dump "$T/cap$i"
	done
	pings 1 "$(host_ip 0)"
	for i in 2 3 4; do
		recv_stop "cap$i"
		grep '^020000000001' "$T/cap$i" && fail "round $round: h$i got the host's answer"
		grep -q '^ffffffffffff020000000001' "$T/cap$i" || fail "h$i did not get the question"
	done
done

echo "== frames of the host itself"
for i in 1 2 3 4; do
	recv_start "h$i" "own$i" --count 100 --until 100
done
gen sw send --dev br0 --src "$(host_mac 0)" --dst broadcast --count 100 --rate 1000 >/dev/null
for i in 1 2 3 4; do
	recv_end "own$i"
	equal "h$i received" "$(recv_field "own$i" received)" 100
	equal "h$i lost" "$(recv_field "own$i" lost)" 0
done

daemon_stop || fail "the daemon ended with $?"
in_ns sw ip -o link | grep -E 'xb[hq][0-9]' && fail "private interfaces were left"
grep -E '^<[0-4]>' "$T/daemon.log" && fail "the daemon complained"
exit 0
