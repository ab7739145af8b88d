# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# check.sh: every test of the project, sourced by quickstart. Each part has a
# log in $builddir/logs; the last line printed is the sum of all of them.

logs=$builddir/logs
passed=0 failed=0 skipped=0
summary=()

# configured DIR ARGUMENT...: a build folder below $builddir.
configured()
{
	local dir=$builddir/$1
	shift
	as_owner mkdir -p "$dir" && cd "$dir" || return
	[ -f Makefile ] || as_owner "$top/configure" "$@"
}

part_gcc()
{
	configured gcc CC=gcc --enable-werror &&
		as_owner make -j2 && as_owner make -j2 -k check
}

part_clang_sanitizers()
{
	configured sanitizers CC=clang --enable-werror --enable-sanitizers --enable-debug &&
		as_owner make -j2 && as_owner make -j2 -k check
}

part_random()
{
	cd "$builddir/gcc" && as_owner make check-random
}

part_netns()
{
	cd "$builddir/gcc" && make check-netns
}

# The daemon at work with ASan, UBSan and its own assertions: tests of order and
# contents, not of speed or memory.
part_netns_sanitizers()
{
	cd "$builddir/sanitizers" && make check-netns NETNS_BINARIES= \
		NETNS_TESTS='tests/netns/ctl.sh tests/netns/flags.sh tests/netns/restart.sh
			tests/netns/stations.sh tests/netns/verify.sh tests/netns/vlan.sh'
}

part_demo()
{
	XB_BUILD=$builddir/gcc "$top/tests/quickstart/demo.sh" 10
}

part_vm()
{
	cd "$builddir/gcc" && XB_ORACLE_SAMPLE=${XB_ORACLE_SAMPLE:-7} make check-vm
}

part_fuzz()
{
	configured fuzz CC=clang --enable-fuzz &&
		as_owner make -j2 && as_owner make fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-60}"
}

part_cppcheck()
{
	cd "$builddir/gcc" && as_owner make cppcheck
}

part_clang_tidy()
{
	cd "$builddir/gcc" && as_owner make clang-tidy
}

part_distcheck()
{
	cd "$builddir/gcc" && as_owner make -j2 distcheck
}

# Adds up the summaries of automake and of run-scripts in a log.
count()
{
	awk '
	/^# PASS: /                  { p += $3 }
	/^# (FAIL|ERROR|XPASS): /    { f += $3 }
	/^# (SKIP|XFAIL): /          { s += $3 }
	/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5 }
	END { print p + 0, f + 0, s + 0 }' "$1"
}

# start_part FUNCTION: its log ends with the seconds it took and its status.
start_part()
{
	local log=$logs/$1.log start=$SECONDS status
	mkdir -p "$logs"
	("$1") >"$log" 2>&1 </dev/null
	status=$?
	echo "$((SECONDS - start)) $status" >"$logs/$1.end"
}

# end_part NAME FUNCTION: counts and tells what start_part left.
end_part()
{
	local name=$1 log=$logs/$2.log seconds status p f s word=ok
	read -r seconds status <"$logs/$2.end"
	read -r p f s < <(count "$log")
	# A part without tests of its own is one test.
	[ $((p + f + s)) -gt 0 ] || [ "$status" != 0 ] || p=1
	[ "$status" = 0 ] || [ "$f" -gt 0 ] || f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	grep -E '^(SKIP|FAIL|ERROR|XPASS): ' "$log"
	if [ "$f" -gt 0 ]; then
		word=FAILED
		tail -n 60 "$log"
	fi
	summary+=("$(printf '%-28s %-7s %4d s  %4d passed %3d failed %3d skipped' \
		"$name" $word "$seconds" "$p" "$f" "$s")")
	echo "${summary[-1]}"
}

# run_part NAME FUNCTION
run_part()
{
	echo "--- $1"
	start_part "$2"
	end_part "$1" "$2"
}

# What only computes, with what the virtual machines leave of the processors.
beside_vm()
{
	renice -n 19 "$BASHPID" >/dev/null
	for part in part_cppcheck part_clang_tidy part_random part_distcheck part_fuzz; do
		start_part "$part"
	done
}

rm -f "$logs"/*.end
run_part "gcc" part_gcc
tail -n 3 "$builddir/gcc/tests/oracle/recorded.sh.log" | sed '/^PASS/d; s/^/recorded cases: /'
run_part "clang, ASan and UBSan" part_clang_sanitizers
run_part "network namespaces" part_netns
run_part "namespaces, ASan and UBSan" part_netns_sanitizers
run_part "demonstration" part_demo
echo "--- virtual machines; beside them cppcheck, clang-tidy, random frames, distcheck, fuzzers"
beside_vm &
start_part part_vm
wait $!
end_part "virtual machines" part_vm
end_part "cppcheck" part_cppcheck
end_part "clang-tidy" part_clang_tidy
end_part "random frames" part_random
end_part "distcheck" part_distcheck
end_part "fuzzers" part_fuzz

echo
printf '%s\n' "${summary[@]}"
printf 'All of it took %d minutes %d seconds. Logs: %s\n' \
	$((SECONDS / 60)) $((SECONDS % 60)) "$logs"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
