#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A layer includes only itself and the layers below it, and of other
# libraries only what belongs to it.
. "$(dirname "$0")/lib.sh"

# The layers, lowest first; a program is above all of them.
rank()
{
	case $1 in
	util) echo 1 ;;
	core) echo 2 ;;
	dp) echo 3 ;;
	ctl) echo 4 ;;
	xbridged | xbridgectl) echo 5 ;;
	*) echo 0 ;;
	esac
}

# forbidden LAYER: a pattern of the headers that it may not include.
netlink='netlink/|linux/rtnetlink[.]h|linux/netlink[.]h|libnl'
events='event2?/|event[.]h'
rings='xdp/|bpf/xsk[.]h|linux/if_xdp[.]h'
bpf='bpf/'
system='sys/(socket|ioctl|mman|epoll|un|time|wait)[.]h|unistd[.]h|time[.]h|pthread[.]h|fcntl[.]h|poll[.]h'
forbidden()
{
	case $1 in
	util) echo "$netlink|$events|$rings|$bpf|urcu|confuse|jansson|cap-ng" ;;
	core) echo "$netlink|$events|$rings|$bpf|$system|confuse|jansson|cap-ng|util/clock[.]h" ;;
	dp) echo "$netlink|$events|confuse|jansson" ;;
	ctl) echo "$rings" ;;
	xbridged | xbridgectl) echo "$rings|$netlink" ;;
	esac
}

# Each line: FILE LAYER HEADER, for every #include of src/.
includes()
{
	(cd "$top" && grep -rHoE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+' src) |
		sed -E 's|^(src/([^/]+)/[^:]*):.*[<"](.*)|\1 \2 \3|'
}

n=0
while read -r file layer header; do
	n=$((n + 1))
	own=$(rank "$layer")
	[ "$own" != 0 ] || complain "$file: $layer is not a layer"
	other=$(rank "${header%%/*}")
	[ "$other" -le "$own" ] || complain "$file: $layer/ includes $header of a layer above it"
	if [ "$layer" = ctl ] && [ "${header%%/*}" = dp ] && [ "$header" != dp/dp.h ]; then
		complain "$file: ctl/ sees the data plane through dp/dp.h alone, not $header"
	fi
	pattern=$(forbidden "$layer")
	if [ -n "$pattern" ] && [[ $header =~ ^($pattern) ]]; then
		complain "$file: $layer/ does not include $header"
	fi
done < <(includes)
[ $n -gt 0 ] || complain "no #include found in $top/src"
finish
