# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
#
# guest-late.sh RUN: process 1 of the virtual machine, once the root is there.
# Mounts what a system has, runs RUN/command with its output on the virtio
# port, leaves its status in RUN/status and switches the machine off.

run=$1
. "$run/settings" # kernel_dir, release, busybox
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

mount -t sysfs none /sys
mkdir -p /dev/pts /dev/shm /lib/modules
while read -r type dir; do
	mount -t "$type" none "$dir"
done <<-TABLE
	devpts /dev/pts
	tmpfs /dev/shm
	tmpfs /run
	cgroup2 /sys/fs/cgroup
	bpf /sys/fs/bpf
	tracefs /sys/kernel/tracing
	debugfs /sys/kernel/debug
TABLE
mkdir -p /run/netns /run/lock
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr
ln -sfn "$kernel_dir/lib/modules/$release" "/lib/modules/$release"
ln -sf "$busybox" /usr/sbin/modprobe # what the kernel itself runs
ln -sf "$busybox" /usr/sbin/insmod
hostname xbvm
ip link set lo up

# The command may leave programs behind that hold its output open, so what
# counts as the end is the status file and not the end of the output.
port=$(echo /dev/vport*p1)
{
	setsid -w bash "$run/command" </dev/null
	echo $? >"$run/status.new"
	mv "$run/status.new" "$run/status"
} 2>&1 | cat >"$port" &
until [ -s "$run/status" ]; do
	sleep 0.1
done
sleep 0.3 # for the last bytes of the output
busybox poweroff -f
