# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# live.sh: sourced by the benchmarks that forward real frames, on top of
# tests/netns/lib.sh. What forwards ("subject") between the ports p1..pN of br0:
#
#	kernel		the kernel bridge alone
#	user		the daemon, on the user path
#	testpmd		DPDK's testpmd on its AF_XDP driver: p1 and p2 joined, no tables
#	ovs		Open vSwitch, both ports of type afxdp, learning
#
#	subjects_present NAME...	those that can be run here, in $subjects; says why others not
#	subject_start NAME, subject_stop
#	live_net N			net_make N without anything that talks by itself
#	live_start N [OPTION]...	the program live/: the source is h1, sinks are h2..hN
#	live_figures			the same without source and sinks: keeps figures
#	ask WORD...			a command for it; the answer is in $answer
#	live_end			the end of the program, which writes BENCH_JSON
#	stations_known N		N stations on each side are in the table of the subject
#	each_round COMMAND...		COMMAND for each subject by turns, XB_ROUNDS times
#	report NAME UNIT KEY [PART]	KEY.kernel[.PART] ..., then KEY.user[.PART] beside each
#
# XB_ROUNDS: how often each is measured (default 3, at most 5). XB_MS: for how long (1000).
# XB_RIVALS=no leaves testpmd and ovs out.
. "$(dirname "${BASH_SOURCE[0]}")/../netns/lib.sh"

# shellcheck disable=SC2034 # MS and CPU are read by those who source this
ROUNDS=${XB_ROUNDS:-3}
MS=${XB_MS:-1000}
LIVE=$XB_BUILD/tests/bench/live/live
TESTPMD=$(command -v dpdk-testpmd)
VSWITCHD=$(command -v ovs-vswitchd || ls /usr/lib/openvswitch-switch/ovs-vswitchd 2>/dev/null)
OVS_SCHEMA=${OVS_PKGDATADIR:-/usr/share/openvswitch}/vswitch.ovsschema
subjects=() # that are compared
subject='' # the one that runs
answer=''
live_pid='' testpmd_pid='' ovsdb_pid='' vswitchd_pid=''

# The CPUs of the source and of the worker: the first two that we may use.
cpus()
{
	local list range i
	list=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
	for range in ${list//,/ }; do
		for i in $(seq "${range%-*}" "${range#*-}"); do
			echo "$i"
		done
	done
}
mapfile -t CPU < <(cpus)
[ ${#CPU[@]} -gt 1 ] || CPU+=("${CPU[0]}")

load_average()
{
	cut -d ' ' -f 1 /proc/loadavg
}

subjects_present()
{
	local name
	for name; do
		case $name in
		testpmd | ovs) [ "${XB_RIVALS:-yes}" = yes ] || continue ;;
		esac
		case $name in
		testpmd) [ -n "$TESTPMD" ] || {
			echo "testpmd: not installed (Debian's packages dpdk-dev and librte-net-af-xdp23)"
			continue
		} ;;
		ovs) { [ -n "$VSWITCHD" ] && command -v ovs-vsctl ovsdb-tool ovsdb-server >/dev/null &&
			[ -e "$OVS_SCHEMA" ]; } || {
			echo "ovs: not installed (Debian's package openvswitch-switch)"
			continue
		} ;;
		esac
		subjects+=("$name")
	done
}

live_net()
{
	local i
	net_make "$1"
	in_ns sw sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	for i in $(seq "$1"); do
		live_port "$i"
	done
	in_ns h1 ip link add keep0 type veth peer name keep1 || fail "cannot make keep0"
	in_ns h1 ip link set keep0 up
}

# Frames that a program sends into a veth device arrive if the other end has GRO or
# a program of its own. GRO is what costs the kernel bridge least.
live_port()
{
	in_ns "h$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	in_ns "h$1" ip link set eth0 arp off
	in_ns sw ethtool -K "p$1" gro on || fail "p$1 has no GRO"
}

# prefer PID: a process begun by "setsid nice -n -15" has before others what the daemon
# has before others (daemon_start): on a busy machine they are hindered alike.
prefer()
{
	[ ! -w "/proc/$1/autogroup" ] || echo -15 >"/proc/$1/autogroup"
}

live_figures()
{
	mkfifo "$T/questions" "$T/answers" || fail "no pipes"
	setsid nice -n -15 "$LIVE" "$@" "$T/answers" <"$T/questions" &
	live_pid=$!
	pids+=("$live_pid")
	# Both ways, so that neither waits here if the program has ended.
	exec {questions}<>"$T/questions" {answers}<>"$T/answers"
	ask value start 0
	prefer "$live_pid"
}

live_start()
{
	local i sinks=()
	for i in $(seq 2 "$1"); do
		sinks+=(--sink "$(ns_path "h$i"):eth0")
	done
	shift
	live_figures --cpu "${CPU[0]}" "${sinks[@]}" --source "$(ns_path h1):eth0" --keep keep0 "$@"
}

# Without an answer for so long the program has ended, or hangs.
ask()
{
	echo "$*" >&"$questions"
	read -r -t 25 answer <&"$answers" || fail "no answer to: $*"
	[[ $answer = *ok ]] || {
		echo "$*: $answer"
		return 1
	}
}

live_end()
{
	local status
	exec {questions}>&-
	wait "$live_pid"
	status=$?
	exec {answers}>&-
	rm -f "$T/questions" "$T/answers"
	[ $status = 0 ] || fail "the results were not written"
}

# answer_field NAME: the number behind it in the answer.
answer_field()
{
	awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' <<<"$answer"
}

kernel_start()
{
	! in_ns sw ip link show p1 | grep -q xdp || fail "p1 still has an XDP program"
}

kernel_stop()
{
	:
}

user_start()
{
	daemon_start <<-END
		worker-cpus = { ${CPU[1]} }
		detach-on-stop = yes
		bridge br0 {
			engine = user
		}
	END
	wait_user_path
}

user_stop()
{
	daemon_stop || fail "the daemon ended with status $?"
	daemon_pid=''
}

# For a rival: the ports leave the bridge, so that nothing else forwards.
ports_leave()
{
	in_ns sw ip link set p1 nomaster && in_ns sw ip link set p2 nomaster
}

# And come back, without the programs that libxdp left attached.
ports_return()
{
	local i
	for i in 1 2; do
		in_ns sw ip link set "p$i" xdp off
		in_ns sw ip link set "p$i" master br0 || fail "p$i does not come back"
		wait_for 20 port_forwards "p$i"
	done
}

# testpmd_says TEXT
testpmd_says()
{
	grep -q "$1" "$T/testpmd.log"
}

testpmd_start()
{
	[ -p "$T/stdin" ] || mkfifo "$T/stdin"
	: >"$T/testpmd.log" # what the one before said is no sign of life
	ports_leave || return
	# It leaves files in a directory: ours goes away.
	RUNTIME_DIRECTORY=$T setsid nice -n -15 nsenter --net="$(ns_path sw)" -- \
		stdbuf -oL "$TESTPMD" -l "${CPU[0]},${CPU[1]}" --main-lcore "${CPU[0]}" \
		--no-huge -m 512 --no-pci --no-telemetry --no-shconf --file-prefix "$XB_NS" \
		--vdev net_af_xdp0,iface=p1 --vdev net_af_xdp1,iface=p2 -- \
		--forward-mode=io --auto-start --nb-cores=1 --total-num-mbufs=32768 --disable-link-check \
		<>"$T/stdin" >"$T/testpmd.log" 2>&1 &
	testpmd_pid=$!
	pids+=("$testpmd_pid")
	wait_or_end 20 "$testpmd_pid" testpmd_says 'Press enter' || return
	prefer "$testpmd_pid"
}

testpmd_stop()
{
	end_process "$testpmd_pid"
	testpmd_pid=''
	ports_return
}

# wait_or_end SECONDS PID COMMAND...: false if the process ended or it took longer.
wait_or_end()
{
	local end=$((SECONDS + $1)) pid=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		kill -0 "$pid" 2>/dev/null && [ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

end_process()
{
	[ -n "$1" ] || return 0
	kill "$1" 2>/dev/null
	timeout 5 tail --pid="$1" -f /dev/null || kill -s KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

vsctl()
{
	ovs-vsctl --timeout=10 --db="unix:$T/ovs/db.sock" "$@"
}

# Both ports are open, and without an error.
ovs_is_up()
{
	[ "$(vsctl get interface p1 link_state error)" = "$(printf 'up\n[]')" ] &&
		[ "$(vsctl get interface p2 link_state error)" = "$(printf 'up\n[]')" ]
}

ovs_start()
{
	export OVS_RUNDIR=$T/ovs OVS_LOGDIR=$T/ovs OVS_DBDIR=$T/ovs OVS_SYSCONFDIR=$T/ovs
	rm -rf "$T/ovs"
	mkdir "$T/ovs"
	ports_leave || return
	ovsdb-tool create "$T/ovs/conf.db" "$OVS_SCHEMA" || return
	ovsdb-server --remote="punix:$T/ovs/db.sock" "$T/ovs/conf.db" >"$T/ovs.log" 2>&1 &
	ovsdb_pid=$!
	pids+=("$ovsdb_pid")
	wait_or_end 10 "$ovsdb_pid" test -S "$T/ovs/db.sock" || return
	vsctl --no-wait init || return
	vsctl --no-wait set open_vswitch . other_config:pmd-cpu-mask="$(printf '0x%x' $((1 << CPU[1])))"
	setsid nice -n -15 nsenter --net="$(ns_path sw)" -- "$VSWITCHD" "unix:$T/ovs/db.sock" >>"$T/ovs.log" 2>&1 &
	vswitchd_pid=$!
	pids+=("$vswitchd_pid")
	vsctl add-br ovsbr0 -- set bridge ovsbr0 datapath_type=netdev \
		-- add-port ovsbr0 p1 -- set interface p1 type=afxdp options:n_rxq=1 \
		-- add-port ovsbr0 p2 -- set interface p2 type=afxdp options:n_rxq=1 >>"$T/ovs.log" 2>&1
	wait_or_end 10 "$vswitchd_pid" ovs_is_up || return
	prefer "$vswitchd_pid"
}

ovs_stop()
{
	# Closes the ports, and the devices that it made go.
	[ -z "$vswitchd_pid" ] || vsctl del-br ovsbr0 >>"$T/ovs.log" 2>&1
	end_process "$vswitchd_pid"
	end_process "$ovsdb_pid"
	vswitchd_pid='' ovsdb_pid=''
	ports_return
}

subject_start()
{
	subject=$1
	"$1_start"
}

subject_stop()
{
	"${subject}_stop"
	subject=''
}

# A rival that cannot be started here is left out from then on.
subject_drop()
{
	local name kept=()
	echo "$1: cannot be started here: $(tail -n 1 "$T/$1.log" 2>/dev/null)"
	for name in "${subjects[@]}"; do
		[ "$name" = "$1" ] || kept+=("$name")
	done
	subjects=("${kept[@]}")
}

stations()
{
	case $subject in
	kernel) in_ns sw bridge fdb show br br0 | grep -cE '^02:5[12]:.* dev p[12] ' ;;
	user) ctl -j fdb | jq '[.[] | select(.mac[0:5] == "02:51" or .mac[0:5] == "02:52")] | length' ;;
	*) echo $((2 * $1)) ;; # they cannot be asked, or have no table
	esac
}

# Frames that teach may be lost on a busy machine: up to five times.
stations_known()
{
	local try
	for try in 1 2 3 4 5; do
		ask prime "$1" || return
		[ "$(stations "$1")" -lt $((2 * $1)) ] || return 0
	done
	echo "$subject: knows $(stations "$1") of $((2 * $1)) stations after $try times"
	return 1
}

each_round()
{
	local round name
	for round in $(seq "$ROUNDS"); do
		for name in "${subjects[@]}"; do
			if subject_start "$name"; then
				"$@" || echo "$name: not measured in round $round"
				subject_stop
			elif [ "$name" = kernel ] || [ "$name" = user ]; then
				fail "$name does not start"
			else
				subject_stop
				subject_drop "$name"
			fi
		done
	done
}

# The rivals alone, then ours beside each of them.
report()
{
	local name part=${4:+.$4}
	for name in "${subjects[@]}"; do
		[ "$name" = user ] || ask report "$1.$name" "$2" "$3.$name$part"
	done
	for name in "${subjects[@]}"; do
		[ "$name" = user ] ||
			ask report "$1.user-by-$name" "$2" "$3.user$part" "$3.$name$part"
	done
}

need jq
need ethtool
echo "load average $(load_average), CPU ${CPU[0]} sends, CPU ${CPU[1]} is the worker's"
