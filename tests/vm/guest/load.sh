#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# load.sh REASON: run by load.sh in virtual machines. xbridged starts on this kernel, hosts
# reach each other and the bridge, and go on doing so when it is killed. REASON is why the
# ports stay on the kernel path; none if they do not.
. "$(dirname "$0")/lib.sh"

hosts_ping()
{
	in_ns h1 ping -q -c 3 -i 0.2 -W 3 "$1" >"$T/ping" || {
		cat "$T/ping"
		fail "$2"
	}
}

uname -r
lan_make 2
ip_do sw <<<"addr add $(host_ip 0)/24 dev br0"
ip_do h1 <<<"addr add $(host_ip 1)/24 dev eth0"
ip_do h2 <<<"addr add $(host_ip 2)/24 dev eth0"
daemon_run </dev/null
reason=$1
wait_for 20 reason_is p1 "$reason"
wait_for 20 reason_is p2 "$reason"
hosts_ping "$(host_ip 2)" "h1 does not reach h2"
hosts_ping "$(host_ip 0)" "h1 does not reach br0"
n=$(port_stat p1 .redirected)
if [ "$reason" = none ]; then
	[ "$n" -ge 3 ] || fail "p1: $n frames on the user path"
else
	equal "frames of p1 on the user path" "$n" 0
fi
ok "reason for the kernel path: $reason; hosts and br0 talk ($n frames redirected)"

recv_start h2 kill --count 3000 --until 3000 --timeout 30000
gen h1 send --dev eth0 --src "$(host_mac 1)" --dst "$(host_mac 2)" --count 3000 --rate 1000 >/dev/null &
pids+=("$!")
sender=$!
pause 1
daemon_signal KILL
{ wait "$daemon_pid"; } 2>/dev/null
wait $sender
recv_stop kill
lost=$(recv_field kill lost)
[ "$lost" -le 1000 ] || fail "kill -9: $lost frames of 3000 lost"
equal "frames doubled by kill -9" "$(recv_field kill duplicated)" 0
hosts_ping "$(host_ip 2)" "after kill -9 h1 does not reach h2"
hosts_ping "$(host_ip 0)" "after kill -9 h1 does not reach br0"
ok "kill -9: $lost frames of 3000 lost (1000 per second), then the kernel forwards"

daemon_run </dev/null
hosts_ping "$(host_ip 2)" "after a new start h1 does not reach h2"
daemon_end
hosts_ping "$(host_ip 2)" "after a stop h1 does not reach h2"
ok "a new start over what was left behind, and a stop"
