#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run by systemd.sh in a virtual machine. systemd is process 1 of a PID
# namespace, with the machine's own network, cgroups and BPF file system, and
# runs the unit as it is installed. Two hosts hang on a bridge.
. "$(dirname "$0")/lib.sh"

unit=$XB_BUILD/systemd/xbridged.service
systemd_pid=''

sc()
{
	nsenter --target "$systemd_pid" --pid --mount -- systemctl --no-pager "$@"
}

property()
{
	sc show --value --property "$1" xbridged.service
}

in_state()
{
	[ "$(property ActiveState)" = "$1" ]
}

# What the unit says about paths is where things are put.
install_unit()
{
	local exec conf
	exec=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")
	conf=$(sed -n 's/^ExecStart=.*--config //p' "$unit")
	install -D "$XB_BUILD/xbridged" "$exec"
	mkdir -p "$(dirname "$conf")" /run/systemd/system/xbridged.service.d
	printf '%s\n' 'heartbeat = 2000' 'control-heartbeat = 20000' 'resync-deadline = 20000' \
		'accelerate-virtual = yes' 'umem-frames = 16384' >"$conf"
	cp "$unit" /run/systemd/system/
	# 20 s would be long to wait for; the rest is as it is.
	printf '[Service]\nWatchdogSec=6\n' >/run/systemd/system/xbridged.service.d/test.conf
}

# No services of the machine that the root directory belongs to.
systemd_boot()
{
	local u
	mkdir -p /run/systemd/system
	for u in /lib/systemd/system/sysinit.target.wants/* /etc/systemd/system/sysinit.target.wants/* \
		/lib/systemd/system/sockets.target.wants/* /etc/systemd/system/sockets.target.wants/* \
		/lib/systemd/system/timers.target.wants/* /etc/systemd/system/timers.target.wants/*; do
		case $u in
		*journald*.socket | *'*') ;;
		*) ln -sf /dev/null "/run/systemd/system/$(basename "$u")" ;;
		esac
	done
	ln -sf /lib/systemd/system/systemd-journald.service /run/systemd/system/systemd-journald.service
	printf '[Unit]\nRequires=basic.target\nAfter=basic.target\n' >/run/systemd/system/xbtest.target
	# It takes the environment "container" as a sign to leave the hardware alone.
	env -i container=xbvm PATH="$PATH" unshare --fork --pid --mount --mount-proc --propagation shared \
		/lib/systemd/systemd --system --unit=xbtest.target >"$T/systemd.log" 2>&1 </dev/null &
	pids+=("$!")
	wait_for 20 find_systemd
	wait_for 60 sc is-active xbtest.target
}

find_systemd()
{
	systemd_pid=$(pgrep -x systemd | head -n 1)
	[ -n "$systemd_pid" ]
}

hosts_make()
{
	local i
	ip link add br0 type bridge
	ip link set br0 up
	for i in 1 2; do
		ns_add "h$i"
		ip link add "p$i" type veth peer name eth0 netns "$(ns_path "h$i")"
		ip link set "p$i" master br0 up
		printf '%s\n' "addr add $(host_ip "$i")/24 dev eth0" 'link set eth0 up' | ip_do "h$i"
	done
}

hosts_talk()
{
	in_ns h1 ping -q -c 3 -i 0.2 -W 2 "$(host_ip 2)" >"$T/ping" || {
		cat "$T/ping"
		fail "hosts do not reach each other $1"
	}
}

ctl()
{
	"$XB_BUILD/xbridgectl" "$@"
}

redirects()
{
	local before
	before=$(port_stat p1 .redirected)
	hosts_talk "$1"
	[ "$(port_stat p1 .redirected)" -ge $((before + 3)) ] || fail "$1: not on the user path"
}

show_why()
{
	sc status xbridged.service
	nsenter --target "$systemd_pid" --pid --mount -- journalctl --no-pager -n 40
	fail "$1"
}

uname -r
systemd --version | head -n 1
hosts_make
install_unit
systemd_boot
ok "systemd runs: $(sc is-system-running)"

systemd-analyze verify --man=no "$unit" >"$T/verify" 2>&1 || {
	cat "$T/verify"
	fail "systemd-analyze verify"
}
ok "systemd-analyze verify"

sc start xbridged.service || show_why "start failed"
in_state active || show_why "not active after start"
wait_for 20 on_user_path p1 p2
redirects "after start"
ok "start: active ($(property SubState)), $(property StatusText)hosts talk on the user path"

# What it may do and where it writes are the unit's business alone.
pid=$(property MainPID)
[ -n "$(ls -A /sys/fs/bpf/xbridged)" ] || fail "nothing is pinned"
grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$(pgrep -x xbridged)/status"

sc reload xbridged.service || show_why "reload failed"
in_state active || show_why "not active after reload"
equal "process after reload" "$(property MainPID)" "$pid"
told 'configuration reloaded' >"$T/told" || show_why "reload was not heard"
redirects "after reload"
ok "reload: the same process, and it has read the file"

sc restart xbridged.service || show_why "restart failed"
[ "$(property MainPID)" != "$pid" ] || fail "restart kept the process"
wait_for 20 on_user_path p1 p2
redirects "after restart"
ok "restart: another process, hosts talk on the user path"

pid=$(property MainPID)
kill -s STOP "$(pgrep -x xbridged)"
n=$(property NRestarts)
pause 2.5
hosts_talk "while it hangs"
ok "hangs: hosts talk through the kernel"
more_restarts()
{
	[ "$(property NRestarts)" -gt "$n" ] && in_state active
}
wait_for 60 more_restarts
[ "$(property MainPID)" != "$pid" ] || fail "the watchdog kept the process"
wait_for 20 on_user_path p1 p2
redirects "after the watchdog"
ok "watchdog: a process that hangs is replaced"

kill -s KILL "$(pgrep -x xbridged)"
hosts_talk "after kill -9"
n=$((n + 1))
wait_for 60 more_restarts
wait_for 20 on_user_path p1 p2
ok "kill -9: hosts talk at once, and a new process comes"

sc stop xbridged.service || show_why "stop failed"
in_state inactive || show_why "state after stop: $(property ActiveState)"
equal "result of the service" "$(property Result)" success
[ ! -e /run/xbridged/control.sock ] || fail "the control socket stayed"
hosts_talk "after stop"
ok "stop: inactive, success, hosts talk through the kernel"
kill -s KILL "$systemd_pid"
