#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest-early.sh: process 1 of the virtual machine, in the initial RAM disk.
# Makes the root: the host's one, seen through an overlay that keeps writes in
# memory. The directories listed in RUN/writable are the host's own instead.
# RUN is the directory that the kernel's command line names with xbvm=.

/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t devtmpfs none /dev
for module in virtio_pci virtio_console virtiofs overlay; do
	modprobe "$module" 2>/dev/null
done

for word in $(cat /proc/cmdline); do
	case $word in
	xbvm=*) run=${word#xbvm=} ;;
	esac
done

mount -t virtiofs root /lower
mount -t tmpfs none /memory
mkdir /memory/changes /memory/scratch
mount -t overlay -o lowerdir=/lower,upperdir=/memory/changes,workdir=/memory/scratch root /new

while read -r dir; do
	mount --bind "/lower$dir" "/new$dir"
done <"/lower$run/writable"

mount --move /proc /new/proc
mount --move /dev /new/dev
exec switch_root /new /bin/bash "$run/guest-late.sh" "$run"
