#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is left to the kernel can be seen, with the port that it is for; and of a
# port `mdb` shows its own groups and whether it leads to routers, no others.
. "$(dirname "$0")/lib.sh"

need jq

# What `status` and `port` of all ports say of ARP and ND: port "" is none.
neigh_is()
{
	ctl -j status | jq -e --arg dev "$1" --arg text "$2" '.bridges[0].neigh |
		(.ifname // "") == $dev and (.reason_text | endswith($text)) and
		.path == (if $dev == "" then "user" else "kernel" end) and
		.reason == (if $dev == "" then "none" else "neigh" end)' || return 1
	ctl -j port | jq -e --arg dev "$1" 'all(.[]; (.neigh.ifname // "") == $dev)'
}

# Router ports of IPv4 and of IPv6, and the test's groups with their members.
mdb_is()
{
	local got
	got=$(ctl -j mdb show dev "$1" | jq -r '[.[] | (.router | .ipv4, .ipv6 | join("+")),
		(.groups[] | select(.grp | startswith("239.1.1.")) | .grp + ":" + ([.members[].ifname] | join("+")))] | join(" ")')
	[ "$got" = "$2" ] || { echo "$got"; return 1; }
}

net_make 3 mcast_snooping 1 mcast_router 2
daemon_start </dev/null
wait_for 10 use_user_path p1 p2 p3
wait_for 5 neigh_is '' ''

while read -r option; do
	in_ns sw bridge link set dev p2 "$option" on 2>/dev/null ||
		in_ns sw ip link set p2 type bridge_slave "$option" on || fail "cannot set $option"
	wait_for 5 neigh_is p2 "ARP and ND of the whole bridge, p2 has $option on"
	for command in status port; do
		ctl $command | grep -q "ARP and ND: kernel path  neigh: .*p2 has $option on" ||
			fail "$command does not show $option: $(ctl $command)"
	done
	in_ns sw bridge link set dev p2 "$option" off 2>/dev/null ||
		in_ns sw ip link set p2 type bridge_slave "$option" off
	wait_for 5 neigh_is '' ''
done <<'END'
neigh_suppress
proxy_arp
proxy_arp_wifi
END
! ctl status | grep -q 'ARP and ND' || fail "ARP and ND are said to be the kernel's"

in_ns sw bridge link set dev p3 learning off locked on
wait_for 5 reason_is p3 locked
ctl status | grep -qE 'p3 +kernel .*locked: port is locked' || fail "status hides a locked port"
ctl port show dev p3 | grep -q 'path kernel reason locked' || fail "port hides a locked port"
in_ns sw bridge link set dev p3 learning on locked off

# mcast_router 2 makes a router of a port, as of br0 above.
in_ns sw bridge link set dev p2 mcast_router 2
in_ns sw bridge mdb add dev br0 port p1 grp 239.1.1.1 permanent || fail "no group"
in_ns sw bridge mdb add dev br0 port p2 grp 239.1.1.1 permanent
in_ns sw bridge mdb add dev br0 port p2 grp 239.1.1.2 permanent
wait_for 10 mdb_is br0 'br0+p2 br0+p2 239.1.1.1:p1+p2 239.1.1.2:p2'
equal "groups of p1" "$(mdb_is p1 '  239.1.1.1:p1')" ''
equal "groups of p2" "$(mdb_is p2 'p2 p2 239.1.1.1:p2 239.1.1.2:p2')" ''
equal "groups of p3" "$(mdb_is p3 ' ')" ''
exit 0
