// SPDX-License-Identifier: GPL-2.0-or-later
#include "dp/prog_int.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BPF_FS "/sys/fs/bpf"
/* Not below the prefix of the build: two builds must keep each other out. */
#define LOCK_DIR "/run/xbridged"

static int netns_inode(uint64_t *out)
{
	struct stat st;

	if (stat("/proc/thread-self/ns/net", &st))
		return -errno;
	*out = st.st_ino;
	return 0;
}

int prog_lock(int *out, const char **why)
{
	char path[64];
	uint64_t inode = 0;
	int err, fd;

	err = netns_inode(&inode);
	if (err) {
		*why = prog_why("cannot tell the network namespace: is /proc mounted?");
		return err;
	}
	if (mkdir(LOCK_DIR, 0755) && errno != EEXIST) {
		err = -errno;
		*why = prog_why("cannot make " LOCK_DIR ": %s", strerror(-err));
		return err;
	}
	snprintf(path, sizeof(path), LOCK_DIR "/%llu.lock", (unsigned long long)inode);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		err = -errno;
		*why = prog_why("cannot open %s: %s", path, strerror(-err));
		return err;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
		*why = err == -EBUSY
			       ? prog_why("another daemon serves this network namespace (%s)", path)
			       : prog_why("cannot lock %s: %s", path, strerror(-err));
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

static bool dir_is_empty(const char *path)
{
	struct dirent *e;
	bool empty = true;
	DIR *d = opendir(path);

	if (!d)
		return false;
	while (empty && (e = readdir(d)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	closedir(d);
	return empty;
}

static bool on_bpf_fs(const char *path)
{
	struct statfs st;

	return !statfs(path, &st) && (uint32_t)st.f_type == BPF_FS_MAGIC;
}

/* Makes @path and what is missing above it. */
static int dirs_make(const char *path)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (!len || len >= sizeof(part))
		return -ENAMETOOLONG;
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i])
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0700) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* The nearest directory above @path, or @path, that exists: there the file system is asked for. */
static void existing_parent(const char *path, char *out, size_t size)
{
	struct stat st;
	char *slash;

	snprintf(out, size, "%s", path);
	while (stat(out, &st) && (slash = strrchr(out, '/')) && slash != out)
		*slash = '\0';
}

static int bpf_fs_check(const char *pin_dir, const char **why)
{
	char at[PATH_MAX];

	existing_parent(pin_dir, at, sizeof(at));
	if (on_bpf_fs(at))
		return 0;
	if (strcmp(at, BPF_FS) || !dir_is_empty(at)) {
		*why = prog_why(
			"%s is not on a BPF file system: mount one, \"mount -t bpf bpf " BPF_FS
			"\"",
			pin_dir);
		return -ENODEV;
	}
	if (mount("bpf", BPF_FS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700")) {
		int err = -errno;

		*why = prog_why("there is no BPF file system on " BPF_FS
				": mount it, \"mount -t bpf bpf " BPF_FS "\"");
		return err;
	}
	return 0;
}

static int dir_format(const char *pin_dir, char *dir, size_t size)
{
	uint64_t inode = 0;
	int err = netns_inode(&inode);

	if (err)
		return err;
	if ((size_t)snprintf(dir, size, "%s/%llu", pin_dir, (unsigned long long)inode) >= size)
		return -ENAMETOOLONG;
	return 0;
}

int prog_dir_make(const char *pin_dir, char *dir, size_t size, const char **why)
{
	int err = bpf_fs_check(pin_dir, why);

	if (err)
		return err;
	err = dir_format(pin_dir, dir, size);
	if (!err)
		err = dirs_make(dir);
	if (err)
		*why = prog_why("cannot make a directory for pins in %s: %s", pin_dir,
				strerror(-err));
	return err;
}

int prog_pin_path(const char *dir, uint32_t ifindex, char *path, size_t size)
{
	return (size_t)snprintf(path, size, "%s/%u", dir, ifindex) < size ? 0 : -ENAMETOOLONG;
}

/* What a pin is about. */
struct pin {
	uint32_t named;   /* interface index that the pin is named after */
	uint32_t prog_id; /* the link's program */
	uint32_t ifindex; /* of the link's device, in its own namespace; 0: it has gone */
};

/* -EINVAL: not an XDP link. */
static int pin_read(int fd, struct pin *pin)
{
	struct bpf_link_info info = { 0 };
	uint32_t len = sizeof(info);
	int err = bpf_obj_get_info_by_fd(fd, &info, &len);

	if (err)
		return err;
	if (info.type != BPF_LINK_TYPE_XDP)
		return -EINVAL;
	pin->prog_id = info.prog_id;
	pin->ifindex = info.xdp.ifindex;
	return 0;
}

/*
 * A device that moved to another namespace may have the same index there, and
 * another device may have its index here. Each port has a program of its own,
 * so the program's number is what tells whether this is the link's device.
 */
static bool pin_is_here(const struct pin *pin)
{
	uint32_t attached = 0;

	if (pin->ifindex != pin->named)
		return false;
	return !bpf_xdp_query_id((int)pin->named, XDP_FLAGS_DRV_MODE, &attached) &&
	       attached == pin->prog_id;
}

/* The device may be in any namespace, or gone. */
static void pin_remove(const char *path, int fd)
{
	bpf_link_detach(fd);
	unlink(path);
}

int prog_pin_open(const char *dir, uint32_t ifindex)
{
	struct pin pin = { .named = ifindex };
	char path[PATH_MAX];
	int err = prog_pin_path(dir, ifindex, path, sizeof(path)), fd;

	if (err)
		return err;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd;
	if (!pin_read(fd, &pin) && pin_is_here(&pin))
		return fd;
	pin_remove(path, fd);
	close(fd);
	return -ENOENT;
}

/* The interface index that names a pin; 0 if @name is not such a name. */
static uint32_t pin_named(const char *name)
{
	char *end;
	unsigned long v = strtoul(name, &end, 10);

	return *end || end == name || v > INT_MAX ? 0 : (uint32_t)v;
}

typedef bool pin_pick(const struct pin *pin, const void *arg);

/* Detaches and removes the pins in @dir that @pick picks; returns how many. */
static int dir_prune(const char *dir, pin_pick *pick, const void *arg)
{
	struct pin pin;
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir(dir);
	int fd, n = 0;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while ((e = readdir(d))) {
		pin.named = pin_named(e->d_name);
		if (!pin.named || prog_pin_path(dir, pin.named, path, sizeof(path)))
			continue;
		fd = bpf_obj_get(path);
		if (fd < 0)
			continue;
		if (!pin_read(fd, &pin) && pick(&pin, arg)) {
			pin_remove(path, fd);
			n++;
		}
		close(fd);
	}
	closedir(d);
	return n;
}

/* The same in the directories of all namespaces; @dir is one of them. */
static int all_prune(const char *dir, pin_pick *pick, const void *arg)
{
	char parent[PATH_MAX], path[PATH_MAX];
	struct dirent *e;
	DIR *d;
	int n = 0, got;

	snprintf(parent, sizeof(parent), "%s/..", dir);
	d = opendir(parent);
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || (size_t)snprintf(path, sizeof(path), "%s/%s", parent,
							    e->d_name) >= sizeof(path))
			continue;
		got = dir_prune(path, pick, arg);
		n += got > 0 ? got : 0;
	}
	closedir(d);
	return n;
}

static bool pick_all(const struct pin *pin, const void *arg)
{
	(void)pin;
	(void)arg;
	return true;
}

static bool pick_lost(const struct pin *pin, const void *arg)
{
	(void)arg;
	return !pin_is_here(pin);
}

static bool pick_gone(const struct pin *pin, const void *arg)
{
	(void)arg;
	return !pin->ifindex;
}

static bool pick_program(const struct pin *pin, const void *arg)
{
	return pin->prog_id == *(const uint32_t *)arg;
}

static bool pick_unused(const struct pin *pin, const void *arg)
{
	const struct prog_set *ps = arg;

	for (size_t i = 0; i < XB_MAX_PORTS; i++) {
		if (ps->port[i].link_fd >= 0 && ps->port[i].ifindex == pin->named)
			return false;
	}
	return true;
}

void prog_pin_prune_lost(const char *dir)
{
	dir_prune(dir, pick_lost, NULL);
	all_prune(dir, pick_gone, NULL);
}

bool prog_pin_evict(const char *dir, uint32_t prog_id)
{
	return all_prune(dir, pick_program, &prog_id) > 0;
}

int prog_sweep(struct prog_set *ps)
{
	return dir_prune(ps->dir, pick_unused, ps);
}

int prog_cleanup(const char *pin_dir)
{
	const char *why;
	char dir[256];
	int err, lock_fd = -1, n;

	err = prog_lock(&lock_fd, &why);
	if (err)
		return err;
	n = dir_format(pin_dir, dir, sizeof(dir));
	if (!n) {
		n = dir_prune(dir, pick_all, NULL);
		rmdir(dir);
	}
	close(lock_fd);
	return n;
}
