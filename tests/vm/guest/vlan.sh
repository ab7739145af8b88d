#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run by vlan.sh in a virtual machine. What comes out of every port, byte for
# byte and in order, is compared between the kernel bridge alone and xbridged,
# through changes of the VLAN configuration that the daemon sees happen.
. "$(dirname "$0")/lib.sh"

N=4
host_dst=020000000000
roamer=020000000100
probes=0  # of each port
for_host=0 # of these, to br0's own address: the kernel's in any case

# ---- frames ----

# frame HEADER PORT NUMBER: a frame of 64 bytes and more, so that none is padded.
frame()
{
	printf '%s88b5cafe%02x%04x%090d\n' "$1" "$2" "$3" 0
}

# One file of frames for each port: every kind of tag to every kind of address.
probes_make()
{
	local tags=('' 8100a000 8100000a 81006014 8100001e 8100000a81000014 88a8000a
		88a8000a81000014 81000fff 8100000188a80002)
	local i k tag dst src others
	for i in $(seq $N); do
		src=$(host_mac "$i" | tr -d :)
		others=''
		for k in $(seq $N); do
			[ "$k" = "$i" ] || others="$others $(host_mac "$k" | tr -d :)"
		done
		probes=0 for_host=0
		{
			for dst in ffffffffffff 01005e010203 029900000099 $others; do
				for tag in "${tags[@]}"; do
					probes=$((probes + 1))
					frame "$dst$src$tag" "$i" $probes
				done
			done
			# A station that is everywhere, and one that speaks to all.
			for tag in '' 8100000a; do
				probes=$((probes + 2))
				frame "ffffffffffff$roamer$tag" "$i" $((probes - 1))
				frame "$roamer$src$tag" "$i" $probes
			done
			for tag in "${tags[@]}"; do
				probes=$((probes + 1)) for_host=$((for_host + 1))
				frame "$host_dst$src$tag" "$i" $probes
			done
		} >"$T/probes.$i"
	done
}

# ---- what arrives; receiver 0 is br0 itself ----

receivers_start()
{
	local i fd
	for i in $(seq $N); do
		recv_start "h$i" "$1.$i" --all --dump "$T/$1.$i" --timeout 3000000
	done
	rm -f "$T/$1.0.ready"
	nsenter --net="$(ns_path sw)" -- "$XBGEN" recv --dev br0 --ready "$T/$1.0.ready" --all \
		--dump "$T/$1.0" --timeout 3000000 >"$T/$1.0.json" 2>&1 &
	recv_pid[$1.0]=$!
	pids+=("$!")
	wait_for 10 test -e "$T/$1.0.ready"
	for i in $(seq 0 $N); do
		exec {fd}<"$T/$1.$i"
		rx_fd[i]=$fd
	done
}

receivers_stop()
{
	local i fd
	for i in $(seq 0 $N); do
		recv_stop "$run.$i"
		fd=${rx_fd[i]}
		exec {fd}<&-
	done
}

# Reads what has arrived at receiver I by now into rxI, behind what is there,
# and how much each has into arrived.
rx_fd=() rx0=() rx1=() rx2=() rx3=() rx4=()
arrived=()
rx_read()
{
	local i
	for i in $(seq 0 $N); do
		local -n rx=rx$i
		mapfile -t -u "${rx_fd[i]}" -O ${#rx[@]} rx
		arrived[i]=${#rx[@]}
	done
}

# shellcheck disable=SC2034 # used by the name
rx_forget()
{
	rx_quiet
	rx0=() rx1=() rx2=() rx3=() rx4=()
}

# Until nothing has arrived for a while.
rx_quiet()
{
	local before=''
	rx_read
	while [ "${arrived[*]}" != "$before" ]; do
		before=${arrived[*]}
		pause 0.2
		rx_read
	done
}

# Frames for br0's own address go to the kernel in any case, and may overtake
# others where it does not know the address.
rx_save()
{
	local file=$T/$run.$1 i line
	for i in $(seq 0 $N); do
		# shellcheck disable=SC2178 # an array
		local -n rx=rx$i
		: >"$file.$i"
		: >"$file.$i.passed"
		for line in ${rx[@]+"${rx[@]}"}; do
			case $line in
			"$host_dst"*88b5cafe*) echo "$line" >>"$file.$i.passed" ;;
			*88b5cafe*) echo "$line" >>"$file.$i" ;;
			esac
		done
	done
}

stations()
{
	in_ns sw bridge fdb show br br0 | grep -v -e permanent -e static -e self |
		sed 's/ *$//' | sort
}

# ---- one configuration: all probes, from each port in turn ----

# same_frames FILE ORDERED WHERE: as with the kernel alone.
same_frames()
{
	local got=$T/user.$1 want=$T/kernel.$1
	[ "$(<"$got")" != "$(<"$want")" ] || return 0
	# shellcheck disable=SC2086 # one word or none
	"$XBGEN" expect $2 "$got" "$want" >"$T/diff" && return
	head -n 20 "$T/diff"
	tail -n 1 "$T/diff"
	fail "$1: frames at $3 differ from the kernel's"
}

send_probes()
{
	gen "h$1" send --dev eth0 --hex "$T/probes.$1" --count 1 --rate 2000 >"$T/sent" ||
		fail "probes of port $1: $(cat "$T/sent")"
}

probe_kernel()
{
	local name=$1 i
	in_ns sw ip link set br0 type bridge fdb_flush
	rx_forget
	for i in $(seq $N); do
		send_probes "$i"
		rx_quiet
		echo "${arrived[*]}" >"$T/kernel.$name.counts.$i"
	done
	rx_save "$name"
	stations >"$T/kernel.$name.fdb"
}

redirected()
{
	ctl -j stats | jq '[.ports[].redirected // 0] | add'
}

# Until as many as with the kernel alone have arrived: they are then all there,
# in order, before the next port begins. What is missing the comparison tells.
wait_like_kernel()
{
	local end=$((SECONDS + 10)) i more=1 want
	read -ra want <"$T/kernel.$1.counts.$2"
	while [ $more = 1 ] && [ $SECONDS -lt $end ]; do
		rx_read
		more=0
		for i in $(seq 0 $N); do
			[ "${arrived[i]}" -ge "${want[i]}" ] || more=1
		done
		[ $more = 0 ] || pause 0.05
	done
}

same_stations()
{
	stations >"$T/user.$1.fdb"
	cmp -s "$T/kernel.$1.fdb" "$T/user.$1.fdb"
}

probe_user()
{
	local name=$1 i end n_redirected out
	in_ns sw ip link set br0 type bridge fdb_flush
	settled
	rx_forget
	n_redirected=$(redirected)
	for i in $(seq $N); do
		send_probes "$i"
		wait_like_kernel "$name" "$i"
	done
	rx_quiet
	rx_save "$name"
	# What the host gets may overtake: copies from new stations are held back.
	same_frames "$name.0" '' br0
	for i in $(seq 0 $N); do
		[ "$i" = 0 ] || same_frames "$name.$i" --ordered "h$i"
		same_frames "$name.$i.passed" '' "h$i, from the kernel"
	done
	end=$((SECONDS + 10))
	until same_stations "$name"; do
		[ $SECONDS -lt $end ] || {
			diff "$T/kernel.$name.fdb" "$T/user.$name.fdb"
			fail "$name: the stations in the kernel's table differ"
		}
		pause 0.1
	done
	equal "$name: frames on the user path" $(($(redirected) - n_redirected)) \
		$((N * (probes - for_host)))
	mapfile -t out < <(cat "$T/user.$name".[0-9] "$T/user.$name".[0-9].passed)
	ok "$name: $((N * probes)) frames in, ${#out[@]} out," \
		"$(wc -l <"$T/user.$name.fdb") stations: as the kernel bridge alone ($SECONDS s)"
}

probe()
{
	"probe_$run" "$1"
}

# ---- the configurations ----

vlans_clear()
{
	local dev
	for dev in p1 p2 p3 p4; do
		echo "vlan del dev $dev vid 1-4094"
	done
	echo "vlan del dev br0 vid 1-4094 self"
}

bridge_set()
{
	in_ns sw ip link set br0 type bridge "$@" || fail "cannot set $*"
}

vlans_usual()
{
	{
		vlans_clear
		cat <<-VLANS
			vlan add dev p1 vid 10 pvid untagged
			vlan add dev p2 vid 20 pvid untagged
			vlan add dev p2 vid 10
			vlan add dev p3 vid 10
			vlan add dev p3 vid 20
			vlan add dev p3 vid 30
			vlan add dev p4 vid 30 pvid untagged
			vlan add dev p4 vid 20 untagged
			vlan add dev br0 vid 10 self
			vlan add dev br0 vid 20 pvid untagged self
		VLANS
	} | bridge_do
}

configurations()
{
	bridge_set vlan_filtering 1 vlan_protocol 802.1Q
	vlans_usual
	probe "802.1Q"

	bridge_set vlan_protocol 802.1ad
	probe "802.1ad"

	bridge_set vlan_filtering 0
	probe "no-filtering"

	bridge_set vlan_filtering 1 vlan_protocol 802.1Q
	bridge_do <<-VLANS
		vlan set dev p3 vid 10 state learning
		vlan set dev p2 vid 20 state blocking
		vlan set dev p4 vid 30 state listening
	VLANS
	probe "states"

	bridge_do <<-VLANS
		vlan set dev p3 vid 10 state forwarding
		vlan set dev p2 vid 20 state forwarding
		vlan set dev p4 vid 30 state forwarding
		vlan del dev p2 vid 10
		vlan add dev p4 vid 10
		vlan del dev br0 vid 10-20 self
	VLANS
	probe "membership"

	{
		vlans_clear
		for dev in p1 p2 p3 p4 "br0 self"; do
			echo "vlan add dev ${dev% self} vid 1 pvid untagged ${dev#* }"
		done | sed 's/ p[0-9]$//'
	} | bridge_do
	bridge_set vlan_default_pvid 10
	probe "default-pvid"

	bridge_set vlan_default_pvid 0
	probe "no-pvid"
	bridge_set vlan_default_pvid 1
}

# ---- hosts that use VLANs ----

pings()
{
	in_ns "$1" ping -q -c 2 -i 0.2 -W 5 "$2" >"$T/ping" || {
		cat "$T/ping"
		fail "$3"
	}
}

hosts_with_vlans()
{
	local before
	vlans_usual
	ip_do sw <<-LINES
		link add link br0 name br0.10 up type vlan id 10
		addr add 10.10.0.254/24 dev br0.10
		addr add 10.20.0.254/24 dev br0
	LINES
	ip_do h1 <<<'addr add 10.10.0.1/24 dev eth0'
	ip_do h2 <<<'addr add 10.20.0.2/24 dev eth0'
	ip_do h3 <<-LINES
		link add link eth0 name eth0.10 up type vlan id 10
		addr add 10.10.0.3/24 dev eth0.10
	LINES
	bridge_set fdb_flush
	settled
	before=$(redirected)
	pings sw 10.10.0.3 "br0.10 does not reach the VLAN device behind p3, from an empty table"
	pings h1 10.10.0.254 "h1 does not reach br0.10"
	pings h3 10.10.0.1 "the VLAN device behind p3 does not reach h1"
	pings h2 10.20.0.254 "h2 does not reach br0 in its PVID"
	[ $(($(redirected) - before)) -ge 4 ] || fail "hosts: nothing went the user path"
	ok "VLAN devices on br0 and behind a port, br0 in its PVID: ping"
	in_ns sw ip link del br0.10
	in_ns h3 ip link del eth0.10
}

# ---- changes while frames flow ----

changes_in_traffic()
{
	local i
	vlans_usual
	settled
	# So that the station is known, in VLAN 10, behind p2.
	gen h2 send --dev eth0 --src "$(host_mac 2)" --dst "$(host_mac 1)" --tag 10 --count 1 >/dev/null
	recv_start h2 flow --count 3000 --until 3000 --timeout 120000
	recv_start h4 other --timeout 600000
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst "$(host_mac 2)" --count 3000 --rate 500 \
		>"$T/sent" &
	pids+=("$!")
	local sender=$!
	for i in 1 2 3; do
		bridge_do <<-VLANS
			vlan add dev p4 vid 100-140
			vlan del dev p3 vid 10
			vlan del dev p4 vid 100-140
			vlan add dev p3 vid 10
		VLANS
		pause 0.2
	done
	wait $sender || fail "sender: $(cat "$T/sent")"
	recv_end flow
	recv_stop other
	equal "frames lost while VLANs of other ports changed" "$(recv_field flow lost)" 0
	equal "frames doubled meanwhile" "$(recv_field flow duplicated)" 0
	equal "frames reordered meanwhile" "$(recv_field flow reordered)" 0
	equal "frames at a port of another VLAN" "$(recv_field other received)" 0
	ok "3000 frames while VLANs of other ports changed 12 times: none lost or leaked"

	bridge_do <<<'vlan del dev p2 vid 10'
	settled
	recv_start h2 gone --timeout 600000
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst "$(host_mac 2)" --count 50 --rate 1000 >/dev/null
	pause 0.5
	recv_stop gone
	equal "frames at p2 after VLAN 10 left it" "$(recv_field gone received)" 0
	bridge_do <<<'vlan add dev p2 vid 10'
	settled
	recv_start h2 back --until 50 --timeout 60000
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst "$(host_mac 2)" --count 50 --rate 1000 >/dev/null
	recv_end back
	equal "frames at p2 after VLAN 10 came back" "$(recv_field back received)" 50
	ok "VLAN 10 leaves a port and comes back"
}

uname -r
lan_make $N vlan_filtering 1 mcast_snooping 0 ageing_time 100000
probes_make
for run in kernel user; do
	if [ $run = user ]; then
		daemon_run </dev/null
		wait_for 20 on_user_path p1 p2 p3 p4
	fi
	receivers_start $run
	configurations
	receivers_stop
done
hosts_with_vlans
changes_in_traffic
daemon_end
