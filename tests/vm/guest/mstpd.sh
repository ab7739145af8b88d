#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run by mstpd.sh in a virtual machine. Between br0, which xbridged serves, and
# br1, which is the root of the tree, there are two links, t1 and t2: mstpd blocks
# t2. A broadcast arrives once and does not go round; when t1 goes, t2 takes over,
# and when t1 comes again it is the way again.
. "$(dirname "$0")/lib.sh"

N=50

# mstpd reads /sys of its namespace, which ip netns exec mounts.
stp()
{
	local name=$1
	shift
	ip netns exec "$XB_NS-$name" mstpctl "$@"
}

stp_start()
{
	local name=$1 bridge=$2
	ip netns exec "$XB_NS-$name" mstpd -d -s -v 2 >"$T/mstpd.$name" 2>&1 &
	pids+=("$!")
	wait_for 20 stp "$name" addbridge "$bridge"
}

# What the kernel says, in words of the daemon.
kernel_states()
{
	in_ns sw bridge -j link | jq -c '[.[] | {(.ifname): .state}] | add'
}

daemon_states()
{
	ctl -j status | jq -c '[.bridges[].ports[] | {(.ifname): .state}] | add'
}

# shellcheck disable=SC2317 # called by wait_for, as the next
states_are()
{
	local want="{\"p1\":\"forwarding\",\"t1\":\"$1\",\"t2\":\"$2\"}"
	[ "$(kernel_states | jq -cS .)" = "$want" ] && [ "$(daemon_states | jq -cS .)" = "$want" ]
}

came_to()
{
	ctl -j stats | jq -e --arg dev "$1" --argjson n "$2" \
		'any(.ports[]; .ifname == $dev and .rx_frames >= $n)'
}

bpdus()
{
	stp sw showportdetail br0 "$1" num-rx-bpdu
}

passed()
{
	port_stat "$1" '.passed["link-local"]'
}

# A frame that goes round would not stop counting.
# shellcheck disable=SC2317 # called by wait_for
is_silent()
{
	local before
	before=$(stats_of '[.ports[].rx_frames] | add')
	pause 1
	[ "$(stats_of '[.ports[].rx_frames] | add')" = "$before" ]
}

# What h1 says to all arrives at h3 once, and does not come back; and what h3 says.
once()
{
	local what=$1 before
	before=$(port_stat p1 .rx_frames)
	recv_start h1 r1 --timeout 120000
	recv_start h3 r3 --timeout 120000
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst broadcast --count $N --rate 200 \
		--source 1 >/dev/null
	gen h3 send --dev eth0 --src "$(host_mac 3)" --dst broadcast --count $N --rate 200 \
		--source 3 >/dev/null
	gen h3 send --dev eth0 --src "$(host_mac 3)" --dst "$(host_mac 1)" --count $N --rate 200 \
		--first $N --source 3 >/dev/null
	wait_for 20 frames_are_home
	wait_for 20 came_to p1 $((before + N))
	wait_for 30 is_silent
	recv_stop r1
	recv_stop r3
	equal "$what: frames of h1 at h3" "$(recv_field r3 received)" $N
	equal "$what: frames of h3 at h1" "$(recv_field r1 received)" $((2 * N))
	equal "$what: twice at h3" "$(recv_field r3 duplicated)" 0
	equal "$what: twice at h1" "$(recv_field r1 duplicated)" 0
	ok "$what"
}

lan_make 1 mcast_snooping 0
for name in h3 far; do
	ip netns add "$XB_NS-$name" && ns_made+=("$name")
done
ip_do far <<-LINES
	link add br1 address 02:00:00:00:00:f0 type bridge mcast_snooping 0 stp_mode user stp_state 1
	link set br1 addrgenmode none up
	link add p3 type veth peer name eth0 netns $(ns_path h3) address $(host_mac 3)
	link set p3 master br1 addrgenmode none up
	link add f1 type veth peer name t1 netns $(ns_path sw)
	link set f1 master br1 addrgenmode none up
	link add f2 type veth peer name t2 netns $(ns_path sw)
	link set f2 master br1 addrgenmode none up
LINES
in_ns h3 ip link set eth0 addrgenmode none up
# Nobody has turned off the ports that came in time: from here on user space decides.
ip_do sw <<-LINES
	link set br0 type bridge stp_mode user stp_state 1
	link set t1 master br0 addrgenmode none up
	link set t2 master br0 addrgenmode none up
LINES
daemon_run <<<''
wait_for 30 reason_is t2 none
stp_start far br1
stp far settreeprio br1 0 0 || fail "settreeprio"
stp far setportadminedge br1 p3 yes
stp_start sw br0
stp sw setportadminedge br0 p1 yes
wait_for 60 states_are forwarding blocking
ok "mstpd blocks t2"
once 'two links, one blocked'

bpdus_before=$(bpdus t1) passed_before=$(passed t1)
# shellcheck disable=SC2317 # called by wait_for
more_bpdus()
{
	[ "$(bpdus t1)" -gt $((bpdus_before + 1)) ] && [ "$(passed t1)" -gt "$passed_before" ]
}
wait_for 30 more_bpdus
ok "mstpd gets BPDUs through the kernel path"

in_ns far ip link set f1 down
wait_for 60 states_are disabled forwarding
once 'the other link'

in_ns far ip link set f1 up
wait_for 60 states_are forwarding blocking
once 'both links again'
daemon_end
exit 0
