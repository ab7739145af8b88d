# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# storm_net.sh: sourced by the tests that blow a storm of storm_ops.sh, after
# lib.sh: the bridge that it blows on, traffic meanwhile, and what is looked at
# when it is over.
#
#	storm_net [OPTION]...	br0 with the ports; hosts are silent by themselves
#	talk_begins FIRST	hosts from FIRST on talk: stations that roam, unknown ones,
#				broadcast, multicast; $STORM_RATE frames/s each
#	traffic_begins		that from h2 on, and a flow from h1 to h2
#	traffic_ends		ends it; sets flow_sent and fails if a frame of the flow
#				was lost or came twice
#	talk_ends		ends it but for the flow: stations that are silent do not heal
#				a difference
#	storm_calm		what is left of the storm's configuration can be probed:
#				all ports are there, no timer changes anything any more
#	become_equal SECONDS	waits until `xbridgectl verify` finds no difference; what it
#				says is in $T/verify; fails the test if that does not come
#	probe NAME		sends the probe frames; what arrives at each host and at
#				br0 is in $T/NAME.I, one frame a line, sorted
#	same_as_kernel		probes with the daemon, ends it, probes again and compares
# shellcheck source=tests/netns/storm_ops.sh
. "$(dirname "${BASH_SOURCE[0]}")/storm_ops.sh"

talkers=()
sender=''

# Few processes: an emulated machine starts few in a second.
storm_net()
{
	local i
	for i in sw $(seq -f h%.0f "$STORM_PORTS"); do
		ip netns add "$XB_NS-$i" || fail "cannot make the namespace $i"
		ns_made+=("$i")
	done
	{
		echo "link set lo up"
		echo "link add br0 address $(host_mac 0) type bridge forward_delay 0 $*"
		echo "link set br0 addrgenmode none up"
		for ((i = 1; i <= STORM_PORTS; i++)); do
			storm_port_lines "$i"
		done
	} | in_ns sw ip -batch - || fail "cannot make the bridge"
	for ((i = 1; i <= STORM_PORTS; i++)); do
		in_ns "h$i" ip link set eth0 addrgenmode none up
		talk_make "$i" >"$T/talk.$i"
		probe_make "$i" >"$T/probe.$i"
	done
	wait_for 10 ports_forward
}

# shellcheck disable=SC2317 # called by wait_for
ports_forward()
{
	[ "$(in_ns sw bridge link | grep -c 'state forwarding')" = "$STORM_PORTS" ]
}

storm_port_lines()
{
	echo "link add p$1 type veth peer name eth0 netns /run/netns/$XB_NS-h$1 address 02:00:00:00:00:0$1"
	echo "link set p$1 addrgenmode none"
	echo "link set p$1 master br0 up"
}

storm_port_again()
{
	storm_port_lines "$1" | in_ns sw ip -batch - || fail "cannot make p$1 again"
	in_ns "h$1" ip link set eth0 addrgenmode none up
}

# ---- frames ----

# ipv4_group I J SRC LEN: the headers of an ICMP packet of LEN bytes behind them
# from 10.9.9.J to 239.1.1.I. It has no padding: the stack would cut that off.
ipv4_group()
{
	local len=$((20 + $4)) sum
	sum=$((0x4500 + len + 0x0001 + 0x0101 + 0x0a09 + 0x0900 + $2 + 0xef01 + 0x0100 + $1))
	sum=$(((sum & 0xffff) + (sum >> 16)))
	sum=$(((sum & 0xffff) + (sum >> 16)))
	printf '01005e0101%02x%s08004500%04x000100000101%04x0a0909%02xef0101%02x' "$1" "$3" $len \
		$((0xffff - sum)) "$2" "$1"
}

# The same from fe80::J to ff0e::I, with no next header.
ipv6_group()
{
	printf '3333000000%02x%s86dd60000000%04x3b01fe80%026x%02xff0e%028x' "$1" "$3" "$4" 0 "$2" "$1"
}

# What host I says during the storm: its own stations and those that roam. No
# process for a frame: emulated machines make these, too.
talk_make()
{
	local i=$1 n src dst tag
	for ((n = 0; n < 60; n++)); do
		printf -v src '0200000000%02x' "$i"
		[ $((RANDOM % 2)) = 0 ] || printf -v src '0200000100%02x' $((RANDOM % 20))
		case $((RANDOM % 8)) in
		0) dst=ffffffffffff ;;
		1) printf -v dst '01005e7f00%02x' $((RANDOM % 8)) ;;
		2) printf -v dst '0200000fff%02x' $((RANDOM % 256)) ;;
		3) printf -v dst '0200000000%02x' $((1 + RANDOM % STORM_PORTS)) ;;
		4)
			ipv4_group $((RANDOM % 8)) $((RANDOM % 4)) "$src" 28
			printf '%056d\n' 0
			continue
			;;
		*) printf -v dst '0200000100%02x' $((RANDOM % STORM_MACS)) ;;
		esac
		tag=''
		[ "$STORM_VLANS" = no ] || [ $((RANDOM % 2)) = 0 ] ||
			printf -v tag '8100%04x' $((1 + RANDOM % 12))
		# Its number is no other sender's.
		printf '%s%s%s88b558424e31%08x%016x%064x\n' "$dst" "$src" "$tag" $((200 + i)) $n 0
	done
}

# From each port: to every station there may be an entry of, and to all.
probe_make()
{
	local i=$1 n=0 src dst tag tags=('') all
	printf -v src '02000003000%x' "$i"
	printf -v all '%s ' ffffffffffff 01005e7f0001 01005e7f0002 02000009ffff 020000000000
	for ((n = 0; n < STORM_MACS; n++)); do
		printf -v all '%s 0200000100%02x' "$all" $n
		[ $n -ge 16 ] || printf -v all '%s 0200000002%02x' "$all" $n
		[ $n -ge 4 ] || printf -v all '%s 0200000001%02x' "$all" $n
		[ $n -ge "$STORM_PORTS" ] || printf -v all '%s 02000003000%x' "$all" $((n + 1))
	done
	n=0
	[ "$STORM_VLANS" = no ] || tags=('' 81000003 88a80003)
	for tag in "${tags[@]}"; do
		for dst in $all; do
			n=$((n + 1))
			printf '%s%s%s88b5cafe%02x%04x%090d\n' "$dst" "$src" "$tag" "$i" $n 0
		done
	done
	for dst in {0..8}; do
		ipv4_group "$dst" 1 "$src" 37
		printf '88b5cafe%02x%04x%060d\n' "$i" $((0x4000 + dst)) 0
		ipv6_group "$dst" 1 "$src" 37
		printf '88b5cafe%02x%04x%060d\n' "$i" $((0x5000 + dst)) 0
	done
}

# ---- traffic ----

# Runs as a process of its own, for ends with its namespace's device come and go.
talk()
{
	local i=$1
	while :; do
		ip link set eth0 addrgenmode none up
		"$XBGEN" send --dev eth0 --hex "$T/talk.$i" --count 5 --rate "${STORM_RATE:-300}" || sleep 0.1
	done >/dev/null 2>&1
}

# From host FIRST on.
talk_begins()
{
	local i
	export -f talk
	export XBGEN T STORM_RATE
	for i in $(seq "$1" "$STORM_PORTS"); do
		setsid nsenter --net="$(ns_path "h$i")" -- bash -c "talk $i" &
		talkers+=($!)
		pids+=("$!")
	done
}

traffic_begins()
{
	recv_start h2 flow --timeout 3600000
	nsenter --net="$(ns_path h1)" -- "$XBGEN" send --dev eth0 --src "$(host_mac 1)" \
		--dst "$(host_mac 2)" --count 100000000 --rate 1000 >/dev/null &
	sender=$!
	pids+=("$sender")
	talk_begins 2
}

talk_ends()
{
	local pid
	# Each is a session of its own, with what it runs.
	for pid in ${talkers[@]+"${talkers[@]}"}; do
		kill -- "-$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	talkers=()
}

traffic_ends()
{
	talk_ends
	kill "$sender"
	wait "$sender" 2>/dev/null
	recv_stop flow
	flow_sent=$(flow received)
	[ "$flow_sent" -gt 100 ] || fail "the flow from h1 to h2 had $flow_sent frames"
	equal "lost of the flow: $1" "$(flow lost)" 0
	equal "doubled of the flow: $1" "$(flow duplicated)" 0
}

flow()
{
	jq "[.sources[] | select(.source == 1) | .$1] | add // 0" "$T/flow.json"
}

# ---- after the storm ----

no_differences()
{
	ctl verify >"$T/verify" 2>&1
}

# become_equal SECONDS
become_equal()
{
	local end=$((SECONDS + $1))
	until no_differences; do
		[ $SECONDS -lt $end ] || {
			head -n 40 "$T/verify"
			ctl status
			ctl fdb show
			in_ns sw ip -br link
			in_ns sw bridge fdb show br br0
			fail "tables are not equal after $1 s"
		}
		sleep 0.02
	done
}

storm_calm()
{
	local i name
	talk_ends
	{
		echo "link set br0 type bridge stp_state 0 mcast_querier 0 ageing_time 30000"
		echo "link set br0 type bridge forward_delay 0"
		# A querier that the kernel soon counts, so that groups decide. In one
		# command it would wait for as long as the interval was before.
		echo "link set br0 type bridge mcast_query_response_interval 10"
		echo "link set br0 type bridge mcast_querier 1"
		echo "link set br0 mtu 1500"
	} | in_ns sw ip -batch - || fail "br0 cannot be calmed"
	wait_for 60 topology_is_calm
	for i in $(seq 3 "$STORM_PORTS"); do
		storm_name "$i"
		name=$port
		if ! in_ns sw ip link show "$name" >/dev/null 2>&1; then
			name=p$i
			storm_renamed[i]=0
			in_ns sw ip link show "$name" >/dev/null 2>&1 || storm_port_again "$i"
		fi
		# Another kind of device may have got its name.
		in_ns "h$i" ip link show eth0 >/dev/null 2>&1 || {
			in_ns sw ip link del "$name"
			name=p$i
			storm_renamed[i]=0
			storm_port_again "$i"
		}
		in_ns sw ip link set "$name" master br0 up 2>/dev/null
		in_ns "h$i" ip link set eth0 up
		in_ns sw bridge link set dev "$name" nobackup_port mcast_to_unicast off
		wait_for 10 port_is_running "$name"
		storm_pick 3 3 3 3 0 4
		in_ns sw bridge link set dev "$name" state $pick
	done
}

port_is_running()
{
	in_ns sw ip -d link show "$1" | grep -qE 'LOWER_UP.*master br0'
}

# A topology change that a spanning tree left goes on without it, ends in silence,
# and with forward_delay 0 nothing is learned in it: before and after differ.
topology_is_calm()
{
	in_ns sw ip -d link show br0 | grep -q ' topology_change 0 '
}

# The daemon has caught up, and serves the bridge.
calm_is_known()
{
	no_differences && reason_is p1 none && reason_is br0 none &&
		[ "$(status_of '.bridges[0].gate')" = open ] &&
		ctl -j mdb | jq -e '[.. | objects | .state? // empty] | index("doubt") | not' >/dev/null
}

# ---- probes ----

probe_is_over()
{
	local before
	before=$(cat "$T"/dump.* | wc -l)
	sleep 0.05
	[ -z "$daemon_pid" ] || frames_are_home || return 1
	[ "$before" = "$(cat "$T"/dump.* | wc -l)" ]
}

# shellcheck disable=SC2317 # called by wait_for
probes_are_forgotten()
{
	! ctl fdb show | grep -q 02:00:00:03:00
}

probe()
{
	local i
	in_ns sw ip link set br0 type bridge fdb_flush
	# A frame that comes before the daemon knows finds its station known.
	[ -z "$daemon_pid" ] || wait_for 20 probes_are_forgotten
	rm -f "$T"/dump.*
	for i in $(seq "$STORM_PORTS"); do
		recv_start "h$i" "probe$i" --all --dump "$T/dump.$i" --timeout 600000
	done
	rm -f "$T/probe0.ready"
	nsenter --net="$(ns_path sw)" -- "$XBGEN" recv --dev br0 --ready "$T/probe0.ready" --all \
		--dump "$T/dump.0" --timeout 600000 >"$T/probe0.json" 2>&1 &
	recv_pid[probe0]=$!
	pids+=("$!")
	wait_for 5 test -e "$T/probe0.ready"
	for i in $(seq "$STORM_PORTS"); do
		gen "h$i" send --dev eth0 --hex "$T/probe.$i" --count 1 --rate "${STORM_PROBE_RATE:-5000}" >/dev/null ||
			fail "probes of h$i cannot be sent"
		wait_for 20 probe_is_over
	done
	for i in $(seq 0 "$STORM_PORTS"); do
		recv_stop "probe$i"
		grep 88b5cafe "$T/dump.$i" | sort >"$T/$1.$i"
	done
	in_ns sw bridge fdb show br br0 | grep 02:00:00:03 | sed 's/ *$//' | sort >"$T/$1.fdb"
}

same_as_kernel()
{
	local i n_user n_frames
	n_user=$(stats_of '[.ports[].redirected // 0] | add')
	probe user
	n_user=$(($(stats_of '[.ports[].redirected // 0] | add') - n_user))
	{
		ctl status
		ctl mdb
		ctl flood
		ctl fdb show
		ctl stats
	} >"$T/said"
	daemon_stop || fail "the daemon ended with $?"
	daemon_pid=''
	probe kernel
	for i in $(seq 0 "$STORM_PORTS") fdb; do
		cmp -s "$T/user.$i" "$T/kernel.$i" && continue
		diff "$T/kernel.$i" "$T/user.$i" | grep '^<' | cut -c 1-120 | head -n 5
		diff "$T/kernel.$i" "$T/user.$i" | grep '^>' | cut -c 1-120 | head -n 5
		cat "$T/said"
		in_ns sw bridge -d link
		in_ns sw bridge -d mdb
		in_ns sw ip -d link show br0
		in_ns sw bridge fdb show br br0 | grep -v permanent
		fail "$1: what arrived at $i differs from the kernel's"
	done
	n_frames=$(cat "$T"/probe.? | wc -l)
	[ "$n_user" -ge $((n_frames / 4)) ] || fail "$1: only $n_user of $n_frames on the user path"
	measured "$1: $n_frames probes in, $(cat "$T"/user.? | wc -l) out, as the kernel's;" \
		"$n_user on the user path"
}
