#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# States of ports are followed under load: when a port is not forwarding any
# more, neither known unicast nor floods leave it, and nothing that comes in on
# it is forwarded, later than 20 ms after the kernel has set the state; and
# traffic comes back. With STP off the kernel lets a port stay disabled.
. "$(dirname "$0")/lib.sh"

need jq

net_make 3 mcast_snooping 0 forward_delay 0
for i in 1 2 3; do
	in_ns "h$i" ip addr flush dev eth0
	in_ns "h$i" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
	in_ns sw bridge fdb replace "$(host_mac "$i")" dev "p$i" master static
done
daemon_start <<<''
wait_for 10 use_user_path p1 p2 p3
send_start unicast h1 --smooth --src "$(host_mac 1)" --dst "$(host_mac 2)" \
	--count 10000000 --rate 10000 --source 1
send_start flood h1 --smooth --src "$(host_mac 1)" --dst broadcast \
	--count 10000000 --rate 3000 --source 2
send_start back h2 --smooth --src "$(host_mac 2)" --dst "$(host_mac 3)" \
	--count 10000000 --rate 3000 --source 3
wait_for 10 redirected_reaches p1 2000
before=$(stats_of '[.ports[].rx_frames] | add')
status=0
in_ns sw "$XB_BUILD/tests/netns/flips" --dev p2 --count "${XB_ROUNDS:-60}" --states 0 \
	--daemon "$daemon_pid" --watch "$(ns_path h2):1,2" \
	--watch "$(ns_path h3):3" >"$T/flips" || status=$?
while read -r line; do
	measured "$line"
done <"$T/flips"
equal "status of flips" $status 0
after=$(stats_of '[.ports[].rx_frames] | add')
[ "$after" -gt $((before + 10000)) ] || fail "frames were not on the user path"
measured "$((after - before)) frames on the user path, $(stats_of '[.ports[].passed |
	.["bridge-gate"] + .heartbeat + .["control-beat"]] | add') passed because a thread stalled"
exit 0
