#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: live-guest.sh BUILD FOLDER [OPTION of livecases]...
#
# Run by live in a virtual machine: makes the bench of the recorded cases, starts
# the daemon and lets livecases do the rest.
set -eu

[ "$(hostname)" = xbvm ] || {
	echo "runs in a virtual machine only: it changes the system"
	exit 1
}
build=$1 folder=$2
shift 2

# STP is in user space, by a helper that does nothing. The root is a copy in memory.
ln -sf /bin/true /sbin/bridge-stp
ip netns add peer
echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip netns exec peer sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
for i in 1 2 3 4; do
	echo "link add p$i address 02:00:00:00:01:0$i type veth peer name h$i netns peer"
	echo "link set p$i up"
done | ip -batch -
for i in 1 2 3 4; do
	echo "link set h$i up"
done | ip -n peer -batch -

mkdir -p /run/xbridged
cat >/run/xbridged/live.conf <<CONF
control-socket = "/run/xbridged/live"
accelerate-virtual = yes
heartbeat = 2000
control-heartbeat = 20000
resync-deadline = 20000
umem-frames = 8192
rx-ring = 256
fill-ring = 256
tx-ring = 256
completion-ring = 256
CONF
"$build/xbridged" --config /run/xbridged/live.conf >/run/xbridged/live.log 2>&1 &
daemon=$!
until "$build/xbridgectl" --socket /run/xbridged/live status >/dev/null 2>&1; do
	kill -0 $daemon 2>/dev/null || {
		cat /run/xbridged/live.log
		echo "the daemon ended"
		exit 1
	}
	sleep 0.1
done

status=0
"$build/tests/oracle/livecases" "$@" peer /run/xbridged/live "$folder" || status=$?
kill $daemon
wait $daemon || {
	tail -n 40 /run/xbridged/live.log
	echo "the daemon ended with status $?"
	status=1
}
exit $status
