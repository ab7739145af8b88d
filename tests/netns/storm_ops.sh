# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# storm_ops.sh: sourced by storm.sh, here and in virtual machines. Random
# configuration changes of the bridge br0, as batches of ip and bridge.
#
#	storm_seed			RANDOM from XB_SEED, or a new seed; prints it
#	storm_make N DIR		N changes as files of DIR: 00001.ip, 00002.bridge, ...
#	storm_blow DIR			runs them in their order in "sw"; counts the refused
#					ones into storm_refused
#	storm_name I			sets $port to what port I is called after the changes
#				made so far
#
# Ports p1 and p2 are not touched; p3..p$STORM_PORTS are, and the last one is
# deleted and made again as well. STORM_VLANS=yes adds VLANs, STORM_FLUSH=no
# leaves out what removes entries of all ports.
STORM_PORTS=${STORM_PORTS:-7}
STORM_FLUSH=${STORM_FLUSH:-yes}
STORM_VLANS=${STORM_VLANS:-no}
STORM_MACS=${STORM_MACS:-64} # of entries
storm_renamed=() # 1: port I is called rI
storm_n=0        # of the batches
storm_refused=0
storm_line=''

storm_seed()
{
	local seed=${XB_SEED:-$RANDOM$RANDOM}
	echo "seed $seed"
	RANDOM=$((seed % 32768))
}

# Sets $pick to one of the words.
storm_pick()
{
	local at=$((RANDOM % $# + 1))
	pick=${!at}
}

# Into the variable port.
storm_name()
{
	port=p$1
	[ "${storm_renamed[$1]:-0}" = 0 ] || port=r$1
}

# Sets $port_i and $port to one of those that are touched.
storm_port()
{
	port_i=$((3 + RANDOM % (STORM_PORTS - 2)))
	storm_name $port_i
}

storm_mac()
{
	printf -v mac '02:00:00:01:00:%02x' $((RANDOM % STORM_MACS))
}

# " vlan VID" or nothing.
storm_vid()
{
	vid=''
	[ "$STORM_VLANS" = yes ] || return
	case $((RANDOM % 3)) in
	0) vid=" vlan $((1 + RANDOM % 12))" ;;
	esac
}

storm_port_attribute()
{
	local flag
	storm_port
	case $((RANDOM % 14)) in
	[0-6])
		storm_pick learning flood mcast_flood bcast_flood isolated hairpin neigh_suppress \
			locked fastleave root_block
		flag=$pick
		storm_pick on off
		# Locked ports are the kernel's: for a moment.
		[ "$flag" != locked ] || [ $((RANDOM % 4)) = 0 ] || pick=off
		storm_line="link set dev $port $flag $pick"
		;;
	7) storm_pick 0 3 3 3 1 2 4 && storm_line="link set dev $port state $pick" ;;
	8) storm_pick 0 1 2 && storm_line="link set dev $port mcast_router $pick" ;;
	# With one of these the kernel has the whole bridge: for a moment.
	9)
		storm_pick on off off off off off off off
		storm_line="link set dev $port mcast_to_unicast $pick"
		;;
	10)
		storm_pick 'backup_port p1' nobackup_port nobackup_port nobackup_port
		storm_line="link set dev $port $pick"
		;;
	*) storm_line="link set dev $port nobackup_port mcast_to_unicast off" ;;
	esac
}

storm_fdb()
{
	local verb
	storm_port
	storm_mac
	storm_vid
	case $((RANDOM % 16)) in
	[0-8])
		storm_pick add replace replace append && verb=$pick
		storm_pick static static dynamic dynamic 'static sticky' 'extern_learn dynamic' \
			'extern_learn static' local
		storm_line="fdb $verb $mac dev $port master $pick$vid"
		;;
	[9]) storm_line="fdb replace $mac dev br0 self local$vid" ;;
	10) storm_line="fdb del $mac dev br0 self local$vid" ;;
	11) storm_line="fdb replace $mac dev $port master dynamic use$vid" ;;
	12)
		storm_pick '' dynamic static nosticky added_by_user "brport $port" "brport $port dynamic" \
			extern_learn permanent
		storm_line="fdb flush dev br0 $pick$vid"
		# Rarely, or nothing is left for the others.
		[ "$STORM_FLUSH" = yes ] && [ $((RANDOM % 4)) = 0 ] || storm_line="fdb flush dev br0 brport $port$vid"
		;;
	*) storm_line="fdb del $mac dev $port master$vid" ;;
	esac
}

storm_mdb()
{
	local verb group source=''
	storm_port
	storm_vid
	storm_pick add add del && verb=$pick
	case $((RANDOM % 4)) in
	0) group=01:00:5e:7f:00:0$((RANDOM % 8)) ;;
	1) group=ff0e::$((RANDOM % 8)) ;;
	*) group=239.1.1.$((RANDOM % 8)) ;;
	esac
	[ "${group%%.*}" != 239 ] || [ $((RANDOM % 3)) -gt 0 ] || source=" src 10.9.9.$((RANDOM % 4))"
	storm_pick permanent permanent temp
	[ "$verb" = add ] || pick=''
	[ "${group:0:3}" != 01: ] || [ "$verb" = del ] || pick=permanent
	storm_line="mdb $verb dev br0 port $port grp $group$source $pick${vid/vlan/vid}"
}

storm_bridge()
{
	local what
	case $((RANDOM % 15)) in
	0) storm_pick 0 100 500 30000 30000 && what="ageing_time $pick" ;;
	1) storm_pick 0 1 && what="mcast_snooping $pick" ;;
	2) storm_pick 0 1 && what="mcast_querier $pick" ;;
	3) storm_pick 0 8 16384 && what="group_fwd_mask $pick" ;;
	4) storm_pick 0 1 && what="no_linklocal_learn $pick" ;;
	5) storm_pick 0 1 && what="stp_state $pick" ;;
	6) storm_pick 200 300 1500 && what="forward_delay $pick" ;;
	7) storm_pick 0 1 && what="mcast_router $pick" ;;
	8) storm_pick 2 3 && what="mcast_igmp_version $pick" ;;
	9) what=fdb_flush ;;
	10) storm_pick 100 1000 && what="priority $pick" ;;
	11) storm_pick 0 0 0 100 && what="fdb_max_learned $pick" ;;
	12)
		storm_pick 1400 1500 1500
		storm_line="link set br0 mtu $pick"
		return
		;;
	*)
		storm_line="link set br0 address 02:00:00:00:01:0$((RANDOM % 4))"
		return
		;;
	esac
	storm_line="link set br0 type bridge $what"
}

# The last port goes and comes again; its host sets it up.
storm_again()
{
	local i=$STORM_PORTS
	storm_name "$i"
	storm_renamed[i]=0
	echo "link del $port"
	[ $((RANDOM % 2)) = 0 ] || echo "link add p$i type dummy"
	[ $((RANDOM % 2)) = 0 ] || echo "link del p$i"
	echo "link add p$i type veth peer name eth0 netns /run/netns/$XB_NS-h$i address 02:00:00:00:00:0$i"
	storm_line="link set p$i master br0 up"
}

storm_link()
{
	storm_port
	case $((RANDOM % 16)) in
	0) storm_line="link set $port nomaster" ;;
	[1-4]) storm_line="link set $port master br0" ;;
	5) storm_line="link set $port down" ;;
	[6-8]) storm_line="link set $port up" ;;
	9) storm_pick 1400 1500 1500 && storm_line="link set $port mtu $pick" ;;
	10) printf -v storm_line 'link set %s address 02:00:00:00:02:%02x' "$port" $((RANDOM % 16)) ;;
	11)
		storm_line="link set $port name"
		storm_renamed[port_i]=$((1 - ${storm_renamed[port_i]:-0}))
		storm_name "$port_i"
		storm_line="$storm_line $port"
		;;
	12)
		storm_pick proxy_arp proxy_arp_wifi
		storm_line="link set $port type bridge_slave $pick"
		storm_pick on off off
		storm_line="$storm_line $pick"
		;;
	13) storm_line="link set $port type bridge_slave fdb_flush" ;;
	14)
		# All at once, so that the daemon sees only the end.
		echo "link set $port nomaster"
		storm_line="link set $port master br0"
		;;
	*) storm_again ;;
	esac
}

storm_vlan()
{
	local verb first last
	storm_pick add add del && verb=$pick
	first=$((1 + RANDOM % 12))
	last=$((first + RANDOM % 4))
	[ $((RANDOM % 8)) -gt 0 ] || last=$((first + 100))
	storm_pick '' '' untagged 'pvid untagged' pvid
	# A PVID is one.
	[ "${pick%% *}" != pvid ] || last=$first
	[ "$verb" = add ] || pick=''
	case $((RANDOM % 10)) in
	[0-1]) storm_line="vlan $verb dev br0 vid $first-$last $pick self" ;;
	[2-7])
		storm_port
		storm_line="vlan $verb dev $port vid $first-$last $pick"
		;;
	8)
		storm_port
		storm_pick forwarding forwarding blocking learning disabled listening
		storm_line="vlan set dev $port vid $first-$last state $pick"
		;;
	9)
		storm_port
		if [ $((RANDOM % 2)) = 0 ]; then
			storm_pick on off
			storm_line="link set dev $port neigh_vlan_suppress $pick"
		else
			storm_pick on off
			storm_line="vlan set dev $port vid $first-$last neigh_suppress $pick"
		fi
		;;
	esac
}

storm_vlan_bridge()
{
	local what
	case $((RANDOM % 5)) in
	0) storm_pick 0 1 1 1 && what="vlan_filtering $pick" ;;
	1) storm_pick 802.1Q 802.1ad && what="vlan_protocol $pick" ;;
	2) storm_pick 0 1 5 && what="vlan_default_pvid $pick" ;;
	3) storm_pick 0 1 && what="fdb_local_vlan_0 $pick" ;;
	4) storm_pick 0 1 && what="vlan_stats_enabled $pick" ;;
	esac
	storm_line="link set br0 type bridge $what"
}

# One change for @tool; those that take several lines print all but the last.
storm_change()
{
	if [ "$1" = bridge ]; then
		case $((RANDOM % 10)) in
		[0-2]) storm_port_attribute ;;
		[3-6]) storm_fdb ;;
		7) storm_mdb ;;
		*) [ "$STORM_VLANS" = yes ] && storm_vlan || storm_fdb ;;
		esac
	else
		case $((RANDOM % 10)) in
		[0-3]) storm_bridge ;;
		4) [ "$STORM_VLANS" = yes ] && storm_vlan_bridge || storm_bridge ;;
		*) storm_link ;;
		esac
	fi
	echo "$storm_line"
}

storm_make()
{
	local left=$1 dir=$2 tool n i
	mkdir -p "$dir"
	rm -f "$dir"/*
	while [ "$left" -gt 0 ]; do
		storm_pick bridge bridge ip && tool=$pick
		n=$((1 + RANDOM % 40))
		[ $tool = bridge ] || n=$((1 + RANDOM % 6))
		[ $n -le "$left" ] || n=$left
		left=$((left - n))
		storm_n=$((storm_n + 1))
		for ((i = 0; i < n; i++)); do
			storm_change $tool
		done >"$dir/$(printf '%06d' $storm_n).$tool"
	done
}

storm_blow()
{
	local file refused
	for file in "$1"/*; do
		in_ns sw "${file##*.}" -force -batch "$file" >/dev/null 2>"$1.refused"
		refused=$(grep -c '^Command failed' "$1.refused")
		storm_refused=$((storm_refused + refused))
		[ -z "${STORM_LOG:-}" ] || cat "$1.refused" >>"$STORM_LOG"
		# Now and then the daemon has to keep up, now and then it can.
		sleep "0.0$((RANDOM % 10))"
	done
}
