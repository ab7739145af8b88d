#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The control socket stays useful whatever its clients do, and only those who
# may use it do.
. "$(dirname "$0")/lib.sh"

RAW=$XB_BUILD/tests/netns/ctlraw
STATIONS=20000

raw()
{
	local what=$1
	shift
	"$RAW" "$what" "$T/control" "$@"
}

# has WHAT TEXT PART: TEXT has PART in it.
has()
{
	case $2 in
	*"$3"*) ;;
	*) fail "$1: \"$3\" is not in: ${2:0:300}" ;;
	esac
}

rss_kib()
{
	awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status"
}

answers_count()
{
	# grep fails when it counts none; the caller compares the number.
	grep -c '"ok":true' || true
}

net_make 2
chmod 755 "$T"
daemon_start <<-'CONF'
	control-group = nogroup
CONF

# ---- requests ----

out=$(raw talk $'{"cmd":"version"}\n{"cmd":"status"}\n{"cmd":"port"}\n')
equal "answers of one connection" "$(answers_count <<<"$out")" 3
has "first answer" "${out%%$'\n'*}" '{"ok":true,"data":{"version":'

out=$(raw talk $'GET / HTTP/1.0\n{"cmd":"version"}\n')
has garbage "$out" 'not a JSON object'
equal "answers after garbage" "$(answers_count <<<"$out")" 0

out=$(raw talk $'{"cmd":"reboot"}\n{"cmd":"version"}\n')
has "unknown command" "$out" 'there is no command'
equal "answers after a wrong request" "$(answers_count <<<"$out")" 1

has "endless line" "$(raw long 1000000)" 'too long'
equal "half a line" "$(raw talk '{"cmd":"version"}')" ""

ctl port show dev nobody 2>"$T/errors"
equal "status for an unknown port" $? 1
has "unknown port" "$(cat "$T/errors")" 'no bridge or port of this name'
ctl port show p1 2>/dev/null
equal "status for wrong words" $? 64

# ---- who may ----

as()
{
	setpriv --reuid=65534 "$@" -- "$XB_BUILD/xbridgectl" --socket "$T/control" version
}
as --regid=65534 --clear-groups >/dev/null || fail "a member by its first group may not"
as --regid=1 --groups=65534 >/dev/null || fail "a member by another group may not"
as --regid=1 --clear-groups >/dev/null 2>"$T/errors"
equal "status for a stranger" $? 2
has stranger "$(cat "$T/errors")" 'control-group'

# ---- many clients ----

has "17th client" "$(raw crowd 16)" '16 clients'
ctl version >/dev/null || fail "no answer after a crowd"

# ---- a large table ----

for i in $(seq "$STATIONS"); do
	printf 'fdb add 02:01:00:%02x:%02x:%02x dev p1 master dynamic\n' \
		$((i >> 16)) $((i >> 8 & 255)) $((i & 255))
done >"$T/batch"
in_ns sw bridge -batch "$T/batch" || fail "cannot add stations"
dynamic()
{
	ctl fdb show dev p1 dynamic | grep -c '^02:01:'
}
all_are_there()
{
	[ "$(dynamic)" = $STATIONS ]
}
wait_for 10 all_are_there
equal "stations in JSON" "$(ctl -j fdb show dynamic | grep -o '"mac":"02:01:' | wc -l)" $STATIONS

# ---- clients that do not read ----

before=$(rss_kib)
mute_pids=()
for i in $(seq 15); do
	raw mute $'{"cmd":"fdb"}\n{"cmd":"fdb"}\n' 20 >"$T/mute$i" &
	mute_pids+=("$!")
	pids+=("$!")
done
slowest=0
for i in $(seq 20); do
	start=$(date +%s%N)
	ctl version >/dev/null || fail "no answer beside mute clients"
	took=$((($(date +%s%N) - start) / 1000000))
	[ $took -le $slowest ] || slowest=$took
done
echo "slowest of 20 answers beside 15 mute clients: $slowest ms"
[ $slowest -lt 2000 ] || fail "an answer took $slowest ms"
grown=$(($(rss_kib) - before))
echo "15 mute clients: $grown KiB"
[ $grown -lt 15360 ] || fail "15 clients cost $grown KiB"
for i in "${!mute_pids[@]}"; do
	wait "${mute_pids[i]}" || fail "a mute client was not cut"
done
for i in $(seq 15); do
	ms=$(cat "$T/mute$i")
	[ "$ms" -ge 9000 ] && [ "$ms" -lt 15000 ] || fail "a mute client was cut after $ms ms"
done

# ---- flush: both tables agree ----

kernel_dynamic()
{
	in_ns sw bridge fdb show br br0 brport p1 | grep -c '^02:01:'
}
out=$(ctl fdb flush mac 02:01:00:00:00:01)
equal "flush of one" "$out" "Flushed 1 entry"
equal "left in the kernel" "$(kernel_dynamic)" $((STATIONS - 1))
in_ns sw bridge fdb add 02:02:00:00:00:01 dev p1 master static
static_is_there()
{
	ctl fdb show mac 02:02:00:00:00:01 static | grep -q 'static$'
}
wait_for 5 static_is_there
ctl fdb flush dev br0 >/dev/null || fail "flush of all"
equal "dynamic left in the kernel" "$(kernel_dynamic)" 0
equal "dynamic left in the daemon" "$(dynamic)" 0
static_is_there || fail "a static entry went with the dynamic ones"
ctl fdb flush static >/dev/null
ctl fdb show static | grep -q . && fail "a static entry stayed"
ctl fdb flush local 2>/dev/null
equal "status for flushing the host" $? 1

# ---- two daemons ----

ns_add other
nsenter --net="$(ns_path other)" -- "$XB_BUILD/xbridged" --config "$T/xbridged.conf" \
	>"$T/second.log" 2>&1 && fail "a second daemon took the socket"
has "second daemon" "$(cat "$T/second.log")" 'another daemon listens'
ctl version >/dev/null || fail "the second daemon broke the first one's socket"

daemon_signal KILL
wait "$daemon_pid" 2>/dev/null
[ -S "$T/control" ] || fail "the test needs what a dead daemon leaves"
ctl version 2>/dev/null
equal "status without a daemon" $? 2
daemon_start </dev/null
daemon_stop || fail "the daemon's exit status is $?"
[ ! -e "$T/control" ] || fail "the socket stays after a stop"
