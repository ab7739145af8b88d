#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is wrong in the configuration or on the machine is told in one line that
# says what to do, and everything else goes on.
. "$(dirname "$0")/lib.sh"

need jq

# A start that ends at once: its exit status is WANT and its output has TEXT.
# Further arguments run before the daemon's path, as in `setpriv ...`.
refuses()
{
	local what=$1 want=$2 text=$3 status
	shift 3
	timeout 20 nsenter --net="$(ns_path sw)" -- "$@" "$XB_BUILD/xbridged" --config "$T/bad.conf" \
		>"$T/out" 2>&1
	status=$?
	[ $status = "$want" ] || fail "$what: status $status, not $want: $(cat "$T/out")"
	grep -qE -- "$text" "$T/out" || fail "$what: no \"$text\" in: $(cat "$T/out")"
	echo "$what: $(grep -m 1 -E -- "$text" "$T/out")"
}

conf()
{
	{
		echo "control-socket = \"$T/other\""
		echo "accelerate-virtual = yes"
		cat
	} >"$T/bad.conf"
}

# Frames from h1 reach h2; with a third argument so many of them by the user path.
forwards()
{
	recv_start h2 fwd --until 20 --timeout 10000
	gen h1 send --dev eth0 --src "$(host_mac 1)" --dst broadcast --count 20 --rate 2000 >/dev/null
	recv_end fwd
	equal "frames that arrived" "$(recv_field fwd received)" 20
}

# None of them is on the user path while the bridge has the reason; all are afterwards.
kernel_path_while()
{
	local reason=$1 set=$2 unset=$3 before
	echo "== $reason: $set"
	wait_for 10 use_user_path p1 p2
	eval "$set" || fail "cannot: $set"
	wait_for 10 reason_is p1 "$reason"
	before=$(port_stat p1 .rx_frames)
	forwards
	equal "user path, with $reason" "$(port_stat p1 .rx_frames)" "$before"
	wait_for 2 told "kernel path: $reason"
	equal "lines about it" "$(grep -c "kernel path: $reason" "$T/daemon.log")" 1
	eval "$unset" || fail "cannot: $unset"
	wait_for 10 use_user_path p1 p2
	forwards
	[ "$(port_stat p1 .rx_frames)" -ge $((before + 20)) ] || fail "not back on the user path"
}

not_on_user_path()
{
	! reason_is "$1" none && ctl -j status | jq -e --arg d "$1" 'any(.bridges[].ports[]; .ifname == $d)'
}

no_port()
{
	ctl -j status | jq -e --arg p "$1" 'all(.bridges[].ports[]; .ifname != $p)'
}

net_make 3 mcast_snooping 0

echo "== the configuration"
conf <<<'colour = "red"'
refuses "unknown key" 78 'bad\.conf:3: .*colour'
conf <<<'workers = 900'
refuses "out of range" 78 'bad\.conf:3: .*workers'
conf <<<'heartbeat = 1ms'
refuses "too short" 78 'bad\.conf:3: .*heartbeat'
conf <<<'mode = "fast"'
refuses "no such choice" 78 'bad\.conf:3: .*mode'
conf <<-'CONF'
	bridge a { source = file
	port p1 { } }
	bridge b { source = file
	port p1 { } }
CONF
refuses "a port in two bridges" 78 'bad\.conf:6: .*p1'

echo "== the machine"
chmod 755 "$T" # for those who are not root
conf </dev/null
refuses "no permission" 1 'CAP_[A-Z_]+.*(root|unit)' setpriv --reuid 65534 --clear-groups
refuses "missing bpffs" 1 'mount -t bpf' unshare -m sh -c \
	'umount -l /sys/fs/bpf; exec "$@"' sh
conf <<<'umem-frames = 65536'
refuses "too little memory to lock" 1 'memlock|LimitMEMLOCK|locked memory' \
	setpriv --bounding-set -ipc_lock,-sys_resource --inh-caps -all \
	prlimit --memlock=65536:65536
sed -i "s|^control-socket.*|control-socket = \"/proc/no/control\"|" "$T/bad.conf"
refuses "no place for the control socket" 1 '/proc/no'

echo "== ports that cannot be taken"
in_ns sw ip link add ifb1 type ifb 2>/dev/null || echo "(no ifb)"
ns_add hx
in_ns sw ip link add vx type veth peer name eth0 netns "$(ns_path hx)"
in_ns hx ip link set eth0 up
in_ns sw ip link set p3 nomaster
in_ns sw ip link add mv1 link p3 type macvlan mode bridge || echo "(no macvlan)"
daemon_start <<-'CONF'
	heartbeat = 5s
	bridges = { "br0", "p3" }
	bridge br0 { port vx { accelerate-virtual = no } }
CONF
wait_for 10 use_user_path p1 p2
wait_for 5 told "p3 is not a bridge: correct \"bridges\""
in_ns sw ip link set vx master br0 up
wait_for 5 reason_is vx virtual
for dev in mv1 ifb1; do
	in_ns sw ip link show $dev >/dev/null 2>&1 || continue
	in_ns sw ip link set $dev master br0 up || continue
	wait_for 10 use_user_path p1 p2
	wait_for 5 not_on_user_path $dev
	echo "$dev: $(ctl -j status | jq -r ".bridges[].ports[] | select(.ifname == \"$dev\") | .reason_text + \" \" + .note")"
done
# The one that is an egress alone gets what comes in by the user path, and is heard.
wait_for 10 use_user_path p1 p2
before=$(port_stat p1 .rx_frames)
recv_start hx egress --until 20 --timeout 10000
forwards
recv_end egress
equal "frames for a port that is an egress alone" "$(recv_field egress received)" 20
[ "$(port_stat p1 .rx_frames)" -ge $((before + 20)) ] || fail "not by the user path"
recv_start h2 heard --until 20 --timeout 10000
gen hx send --dev eth0 --src "$(host_mac 9)" --dst broadcast --count 20 --rate 2000 >/dev/null
recv_end heard
equal "frames from it" "$(recv_field heard received)" 20
for dev in mv1 ifb1 vx; do
	in_ns sw ip link del $dev 2>/dev/null
done
in_ns sw ip link set p3 master br0

echo "== two daemons at once"
conf </dev/null
refuses "a second daemon" 1 'another|already'
wait_for 10 use_user_path p1 p2 p3
forwards

echo "== another program is attached"
if printf '#include <linux/types.h>\n__attribute__((section("xdp"), used)) int pass(void *c) { return 2; }\nchar l[] __attribute__((section("license"), used)) = "GPL";\n' |
	clang -O2 -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -x c -c - -o "$T/pass.o" 2>"$T/clang"; then
	in_ns sw ip link set p3 nomaster
	wait_for 5 no_port p3
	in_ns sw ip link set p3 xdpdrv obj "$T/pass.o" sec xdp || fail "cannot attach a program"
	in_ns sw ip link set p3 master br0
	wait_for 5 reason_is p3 xdp-busy
	ctl -j status | jq -r '.bridges[].ports[] | select(.ifname == "p3") | .note'
	ctl -j status | jq -e 'any(.bridges[].ports[]; .ifname == "p3" and (.note | test("remove|detach|xdp off")))' >/dev/null ||
		fail "nobody says what to do about the other program"
	wait_for 10 use_user_path p1 p2
	forwards
	in_ns sw ip link set p3 xdpdrv off
	wait_for 65 use_user_path p1 p2 p3
else
	echo "(no clang for BPF: $(cat "$T/clang"))"
fi

kernel_path_while netfilter \
	'in_ns sw nft "add table bridge t; add chain bridge t c { type filter hook forward priority 0; }"' \
	'in_ns sw nft delete table bridge t'
kernel_path_while tc-filter \
	'in_ns sw tc qdisc add dev p2 clsact && in_ns sw tc filter add dev p2 egress protocol all u32 match u32 0 0 flowid 1:1' \
	'in_ns sw tc qdisc del dev p2 clsact'
kernel_path_while has-address \
	'in_ns sw ip addr add 192.0.2.1/24 dev p1' \
	'in_ns sw ip addr del 192.0.2.1/24 dev p1'
daemon_stop || fail "the daemon ended with $?"

echo "== lost notifications"
daemon_start <<-'CONF'
	heartbeat = 5s
	netlink-buffer = 65536
CONF
wait_for 10 use_user_path p1 p2 p3
for i in $(seq 2000); do
	printf 'fdb add 02:00:01:00:%02x:%02x dev p%d master static\n' $((i / 256)) $((i % 256)) $((i % 3 + 1))
done >"$T/add"
sed -n 's/^fdb add \(.*\) static$/fdb del \1/p' "$T/add" | awk 'NR % 2' >"$T/del"
for batch in add del; do
	daemon_signal STOP
	in_ns sw bridge -batch "$T/$batch" || fail "bridge -batch $batch"
	daemon_signal CONT
done
table()
{
	jq -r '.[] | select(.mac | startswith("02:00:01")) | "\(.mac) \(.ifname) \(.state)"' | sort
}
tables_agree()
{
	in_ns sw bridge -j fdb show br br0 | table >"$T/kernel"
	ctl -j fdb | table >"$T/user"
	cmp -s "$T/kernel" "$T/user"
}
wait_for 20 tables_agree
equal "entries" "$(wc -l <"$T/user")" 1000
[ "$(ctl -j stats | jq .control.overruns)" -ge 1 ] || fail "no notification was lost: the test is void"
wait_for 10 use_user_path p1 p2 p3
forwards
grep -v '^<[0-7]>' "$T/daemon.log" && fail "a log line without a level"
exit 0
