#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stop, start and reload of the daemon under traffic: no frame is lost, doubled or
# overtaken. The start takes the programs over that the stop has left; a reload
# leaves the sockets alone that it does not concern, and a wrong file changes
# nothing.
#
# XB_ROUNDS: how often (default 2).
. "$(dirname "$0")/lib.sh"

RATE=10000
COUNT=40000

# What would show a socket or a program that was replaced.
identity()
{
	local fd port
	for fd in /proc/"$daemon_pid"/fd/*; do
		readlink "$fd"
	done | grep '^socket:' | sort
	for port in p1 p2; do
		in_ns sw ip -d link show $port | sed -n "s/.*prog\/xdp \(id [0-9]*\).*/x $port \1/p"
	done
}

history_has()
{
	status_of '.history[].text' | grep -q "$1"
}

# traffic STEP NAME: runs STEP in the middle of the traffic.
traffic()
{
	recv_start h2 got --count $COUNT --until $COUNT --timeout 20000
	send_start tx h1 --smooth --src "$(host_mac 1)" --dst "$(host_mac 2)" --count $COUNT --rate $RATE
	wait_for 5 redirected_reaches p1 3000
	"$1"
	send_end tx
	recv_end got
	measured "$2, $RATE frames/s: $(recv_field got lost) lost," \
		"$(recv_field got reordered) reordered, $(recv_field got duplicated) twice," \
		"longest gap $(($(recv_field got gap_max_ns) / 1000000)) ms; $(receiver_lost got)"
	equal "frames lost at $2" "$(recv_field got lost)" "$(json "$T/got.json" .socket_drops)"
	equal "frames reordered at $2" "$(recv_field got reordered)" 0
	equal "frames received twice at $2" "$(recv_field got duplicated)" 0
}

restart()
{
	daemon_stop || fail "the daemon ended with $?"
	daemon_start </dev/null
	wait_user_path
	wait_for 5 redirected_reaches p1 1000
}

reload()
{
	identity >"$T/before"
	echo 'log-level = debug' >>"$T/xbridged.conf"
	daemon_signal HUP
	wait_for 5 history_has 'configuration reloaded'
	echo 'bridges = { broken' >>"$T/xbridged.conf"
	daemon_signal HUP
	wait_for 5 history_has 'configuration not reloaded'
	identity >"$T/after"
	cmp -s "$T/before" "$T/after" || fail "$(diff "$T/before" "$T/after")"
}

# The new file takes one port off the user path; the sockets of the others stay.
reload_port()
{
	identity >"$T/before"
	sed -i '/broken/d' "$T/xbridged.conf"
	echo 'bridge br0 { exclude-ports = { "p3" } }' >>"$T/xbridged.conf"
	daemon_signal HUP
	wait_for 5 port_is_on_kernel_path p3
	identity >"$T/after"
	# Only p3's sockets, AF_XDP and promiscuity, have gone; all programs are there.
	comm -23 "$T/before" "$T/after" >"$T/gone"
	[ "$(wc -l <"$T/gone")" -le 2 ] && ! grep -v socket "$T/gone" ||
		fail "$(diff "$T/before" "$T/after")"
}

port_is_on_kernel_path()
{
	[ "$(status_of ".bridges[0].ports[] | select(.ifname == \"$1\").path")" = kernel ]
}

need jq
net_make 3
daemon_start </dev/null
wait_user_path
for round in $(seq "${XB_ROUNDS:-2}"); do
	traffic restart "SIGTERM and start"
done
traffic reload "SIGHUP, also with a wrong file"
traffic reload_port "SIGHUP that excludes a port"
daemon_stop || fail "the daemon ended with $?"
exit 0
