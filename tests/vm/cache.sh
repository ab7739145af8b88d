# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# cache.sh: what the virtual machine is made of, fetched once from Debian and
# kept unpacked. Sourced by run-in-vm; never changes the host's own packages.
#
#	$CACHE/apt/              package lists of our own
#	$CACHE/kernel/RELEASE/   vmlinux and lib/modules/RELEASE
#	$CACHE/qemu/             a QEMU newer than Debian 12's
#	$CACHE/iproute2/bin/     ip, bridge, tc and ss of Debian's newest suite
#	$CACHE/mstpd/bin/        mstpd and mstpctl, likewise
#
# An entry appears under its name by one rename, when it is complete. The
# caller holds the lock on $CACHE, and provides give_up MESSAGE [STATUS].

# The archive that this machine installs from.
cache_mirror() {
	local uri
	if [ -n "${XBRIDGED_VM_MIRROR:-}" ]; then
		echo "$XBRIDGED_VM_MIRROR"
		return
	fi
	while read -r uri; do
		case $uri in
		*/debian | */debian/)
			echo "$uri"
			return
			;;
		esac
	done < <(apt-get indextargets --format '$(REPO_URI)')
	give_up "no Debian archive in the apt sources; set XBRIDGED_VM_MIRROR"
}

# apt on our own lists: vm_apt get|cache ARGUMENT...
vm_apt() {
	local tool=apt-$1
	shift
	APT_CONFIG=$CACHE/apt/apt.conf "$tool" -qq "$@"
}

# Makes the named suites, and no others, the ones that vm_apt knows.
cache_suites() {
	local mirror suite dir=$CACHE/apt
	mirror=$(cache_mirror) || exit
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	cat >"$dir/apt.conf" <<-CONF
		Dir::State::Lists "$dir/lists";
		Dir::Cache "$dir";
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
	CONF
	for suite; do
		echo "deb $mirror $suite main"
	done >"$dir/sources.list"
	vm_apt get update || give_up "cannot read the package lists of $*"
}

# cache_unpack DIR PACKAGE...: downloads and unpacks them into the new DIR.
cache_unpack() {
	local dir=$1 deb
	shift
	echo "run-in-vm: fetching $*" >&2
	rm -rf "$dir"
	mkdir -p "$dir/debs"
	(cd "$dir/debs" && vm_apt get download "$@") || give_up "cannot fetch $*"
	for deb in "$dir"/debs/*.deb; do
		dpkg-deb -x "$deb" "$dir" || give_up "cannot unpack $deb"
	done
	rm -rf "$dir/debs"
}

# kernel_in_cache SERIES: prints the newest release of that series we have.
kernel_in_cache() {
	local dir
	for dir in "$CACHE/kernel/$1".*-cloud-amd64 "$CACHE/kernel/$1"[+-]*-cloud-amd64; do
		[ ! -d "$dir" ] || basename "$dir"
	done | sort -V | tail -n 1
}

# Takes the ELF image out of a compressed one, so that no emulated CPU has to.
# Offsets are those of the x86 boot protocol: setup_sects is the byte at 0x1f1,
# payload_offset and payload_length are the words at 0x248 and 0x24c.
kernel_unpack_image() {
	local image=$1 out=$2 sects offset length magic filter
	sects=$(od -An -t u1 -j 497 -N 1 "$image")
	read -r offset length < <(od -An -t u4 -j 584 -N 8 "$image")
	offset=$((512 * (sects + 1) + offset))
	magic=$(od -An -t x1 -j "$offset" -N 4 "$image")
	case $magic in
	*28\ b5\ 2f\ fd) filter="zstd -qdc" ;;
	*fd\ 37\ 7a\ 58) filter="xz -dc" ;;
	*1f\ 8b\ *) filter="gzip -dc" ;;
	*)
		cp "$image" "$out" # QEMU boots it too, later
		return
		;;
	esac
	# The payload's last word is its unpacked size, which no filter wants.
	tail -c "+$((offset + 1))" "$image" | head -c "$((length - 4))" | $filter >"$out"
}

# cache_kernel SERIES: fetches the newest kernel of it that Debian has.
cache_kernel() {
	local series=$1 release package packages=() dir=$CACHE/new.kernel
	case $series in
	6.1) cache_suites bookworm ;;
	*) cache_suites bookworm-backports trixie-backports ;;
	esac
	release=$(vm_apt cache search --names-only \
		"^linux-image-${series//./[.]}[.+-][^ ]*-cloud-amd64\$" |
		sed 's/^linux-image-//; s/ .*//' | sort -V | tail -n 1)
	[ -n "$release" ] || give_up "Debian has no kernel $series" 77
	for package in image binary modules base; do
		package=linux-$package-$release
		[ -z "$(vm_apt cache show "$package" 2>/dev/null)" ] || packages+=("$package")
	done
	cache_unpack "$dir" "${packages[@]}"
	[ -d "$dir/lib/modules" ] || mv "$dir/usr/lib" "$dir/lib"
	find "$dir/lib/modules" -name '*.ko.xz' -exec xz -d {} +
	busybox depmod -b "$dir" "$release" || give_up "depmod failed for $release"
	kernel_unpack_image "$(find "$dir" -name "vmlinuz*" | head -n 1)" "$dir/vmlinux" ||
		give_up "cannot unpack the image of $release"
	mkdir -p "$CACHE/kernel"
	mv "$dir" "$CACHE/kernel/$release"
}

# Debian 12's own QEMU crashes Linux guests that have several emulated CPUs.
cache_qemu() {
	cache_suites bookworm-backports
	cache_unpack "$CACHE/new.qemu" qemu-system-x86 qemu-system-data seabios
	mv "$CACHE/new.qemu" "$CACHE/qemu"
}

# cache_programs PACKAGE PROGRAM...: programs (below usr) of Debian's newest suite
# are linked to a newer libc than the host's: wrappers run each with the loader
# that came with it.
cache_programs() {
	local package=$1 program dir=$CACHE/new.$1 root=$CACHE/$1/usr arch=lib/x86_64-linux-gnu
	shift
	cache_suites forky
	cache_unpack "$dir" "$package" libc6
	mkdir "$dir/bin"
	for program; do
		cat >"$dir/bin/${program#*/}" <<-SCRIPT
			#!/bin/sh
			exec $root/$arch/ld-linux-x86-64.so.2 --argv0 ${program#*/} \\
				--library-path $root/$arch:/usr/$arch $root/$program "\$@"
		SCRIPT
	done
	chmod +x "$dir"/bin/*
	mv "$dir" "$CACHE/$package"
}

cache_iproute2() {
	cache_programs iproute2 bin/ip sbin/bridge sbin/tc bin/ss
}

# Not in Debian 12.
cache_mstpd() {
	cache_programs mstpd sbin/mstpd sbin/mstpctl
}
