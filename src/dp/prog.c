// SPDX-License-Identifier: GPL-2.0-or-later
#include "dp/prog.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_xdp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dp/prog_int.h"

/* Descriptor numbers that a process uses below the upper sentinel; 8 bytes of kernel memory each.
 */
#define SENTINEL_FD_MAX   65536
#define SENTINEL_FD_SLACK 64
#define SENTINEL_RING     2

const char *const prog_map_name[PROG_MAP_N] = {
	[PROG_MAP_PORTS] = "xb_ports",       [PROG_MAP_BRIDGES] = "xb_bridges",
	[PROG_MAP_QUEUES] = "xb_queues",     [PROG_MAP_SOCKS] = "xb_socks",
	[PROG_MAP_SENTINEL] = "xb_sentinel", [PROG_MAP_GATE] = "xb_gate",
	[PROG_MAP_LOCALS] = "xb_locals",     [PROG_MAP_UPPERS] = "xb_uppers",
	[PROG_MAP_PUNTS] = "xb_punts",
};

const char *prog_why(const char *fmt, ...)
{
	static _Thread_local char text[384];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return text;
}

/* Never bound and never mapped: it only has to vanish with the process. */
static int sentinel_open(int *out)
{
	int size = SENTINEL_RING, fd;

	fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_XDP, XDP_RX_RING, &size, sizeof(size))) {
		int err = -errno;

		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

/* Moves descriptor *@fd to the first free number from @min on. */
static int fd_raise(int *fd, int min)
{
	int placed = fcntl(*fd, F_DUPFD_CLOEXEC, min);

	if (placed < 0)
		return -errno;
	close(*fd);
	*fd = placed;
	return 0;
}

/*
 * The kernel walks the descriptors of a dying process upwards, but it puts off
 * the release of each file and then takes the last one first. One sentinel at
 * each end is right for both orders.
 */
static int sentinels_open(struct prog_set *ps, const char **why)
{
	struct rlimit lim = { .rlim_cur = 1024 };
	int err, top;

	getrlimit(RLIMIT_NOFILE, &lim);
	if (lim.rlim_cur > SENTINEL_FD_MAX)
		lim.rlim_cur = SENTINEL_FD_MAX;
	top = lim.rlim_cur > 2 * SENTINEL_FD_SLACK ? (int)lim.rlim_cur - SENTINEL_FD_SLACK
						   : (int)lim.rlim_cur / 2;
	err = sentinel_open(&ps->sentinel[0]);
	if (!err)
		err = sentinel_open(&ps->sentinel[1]);
	if (!err)
		err = fd_raise(&ps->sentinel[1], top);
	if (err)
		*why = prog_why(err == -EAFNOSUPPORT
					? "this kernel has no AF_XDP sockets (CONFIG_XDP_SOCKETS)"
					: "cannot open an AF_XDP socket: %s",
				strerror(-err));
	return err;
}

static int gate_map(struct prog_set *ps)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	ps->gate_size = (sizeof(struct xb_gate) + page - 1) / page * page;
	at = mmap(NULL, ps->gate_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		  ps->map_fd[PROG_MAP_GATE], 0);
	if (at == MAP_FAILED)
		return -errno;
	ps->gate = at;
	return 0;
}

static int sentinels_set(struct prog_set *ps)
{
	int err = 0;

	for (uint32_t i = 0; i < 2 && !err; i++)
		err = bpf_map_update_elem(ps->map_fd[PROG_MAP_SENTINEL], &i, &ps->sentinel[i],
					  BPF_ANY);
	return err;
}

static struct prog_set *set_new(void)
{
	struct prog_set *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return NULL;
	ps->lock_fd = -1;
	ps->sentinel[0] = -1;
	ps->sentinel[1] = -1;
	for (size_t i = 0; i < PROG_MAP_N; i++)
		ps->map_fd[i] = -1;
	for (size_t i = 0; i < XB_MAX_PORTS; i++)
		ps->port[i].link_fd = -1;
	return ps;
}

int prog_set_open(const char *pin_dir, struct prog_set **out, const char **why)
{
	struct prog_set *ps;
	int err, n_cpus;

	/* Its text is not for users: what they need is in @why. */
	libbpf_set_print(NULL);
	*why = "out of memory";
	ps = set_new();
	if (!ps)
		return -ENOMEM;
	err = sentinels_open(ps, why);
	if (!err)
		err = prog_lock(&ps->lock_fd, why);
	if (!err)
		err = prog_dir_make(pin_dir, ps->dir, sizeof(ps->dir), why);
	if (!err)
		err = prog_maps_make(ps, why);
	if (err)
		goto err_close;
	n_cpus = libbpf_num_possible_cpus();
	err = n_cpus < 0 ? n_cpus : 0;
	ps->n_cpus = n_cpus < 0 ? 0 : (size_t)n_cpus;
	if (!err)
		err = gate_map(ps);
	if (!err)
		err = sentinels_set(ps);
	if (err) {
		*why = prog_why("cannot set up the gate: %s", strerror(-err));
		goto err_close;
	}
	prog_pin_prune_lost(ps->dir);
	*out = ps;
	return 0;

err_close:
	prog_set_close(ps);
	return err;
}

static void fd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

void prog_set_close(struct prog_set *ps)
{
	if (!ps)
		return;
	fd_close(ps->sentinel[1]);
	fd_close(ps->sentinel[0]);
	for (size_t i = 0; i < XB_MAX_PORTS; i++) {
		fd_close(ps->port[i].link_fd);
		free(ps->port[i].uppers);
	}
	if (ps->gate)
		munmap(ps->gate, ps->gate_size);
	for (size_t i = 0; i < PROG_MAP_N; i++)
		fd_close(ps->map_fd[i]);
	/* Succeeds if it is empty. */
	if (*ps->dir)
		rmdir(ps->dir);
	fd_close(ps->lock_fd);
	free(ps);
}

struct xb_gate *prog_gate(struct prog_set *ps)
{
	return ps->gate;
}

uint32_t prog_id(const struct prog_set *ps, uint16_t slot)
{
	return slot < XB_MAX_PORTS ? ps->port[slot].prog_id : 0;
}

static int map_set(struct prog_set *ps, enum prog_map map, const void *key, const void *value)
{
	return bpf_map_update_elem(ps->map_fd[map], key, value, BPF_ANY);
}

/* What was not there is as good as deleted. */
static int map_del(struct prog_set *ps, enum prog_map map, const void *key)
{
	int err = bpf_map_delete_elem(ps->map_fd[map], key);

	return err == -ENOENT ? 0 : err;
}

int prog_sock_set(struct prog_set *ps, uint16_t slot, uint32_t queue, int fd, uint32_t worker)
{
	uint32_t key = (uint32_t)slot * XB_MAX_QUEUES + queue;
	int err;

	if (slot >= XB_MAX_PORTS || queue >= XB_MAX_QUEUES || worker >= XB_MAX_WORKERS)
		return -EINVAL;
	err = map_set(ps, PROG_MAP_QUEUES, &key, &worker);
	return err ? err : map_set(ps, PROG_MAP_SOCKS, &key, &fd);
}

void prog_sock_clear(struct prog_set *ps, uint16_t slot, uint32_t queue)
{
	uint32_t key = (uint32_t)slot * XB_MAX_QUEUES + queue;

	if (slot < XB_MAX_PORTS && queue < XB_MAX_QUEUES)
		map_del(ps, PROG_MAP_SOCKS, &key);
}

/* One aligned 8-byte value: the program never sees half of it. */
static int port_write(struct prog_set *ps, uint16_t slot)
{
	const struct prog_port *p = &ps->port[slot];
	struct xb_port v = p->rules;
	uint32_t key = slot;

	_Static_assert(sizeof(v) == 8, "must be written at once");
	v.flags &= ~(uint32_t)XB_PORT_UPPERS;
	if (p->n_uppers)
		v.flags |= XB_PORT_UPPERS;
	return map_set(ps, PROG_MAP_PORTS, &key, &v);
}

int prog_port_set(struct prog_set *ps, uint16_t slot, const struct xb_port *p)
{
	if (slot >= XB_MAX_PORTS || p->bridge >= XB_MAX_BRIDGES)
		return -EINVAL;
	ps->port[slot].rules = *p;
	return port_write(ps, slot);
}

int prog_bridge_set(struct prog_set *ps, uint16_t bridge, const struct xb_bridge *b)
{
	uint32_t key = bridge;

	return bridge < XB_MAX_BRIDGES ? map_set(ps, PROG_MAP_BRIDGES, &key, b) : -EINVAL;
}

static struct xb_local_key local_key(uint16_t bridge, const struct mac *mac)
{
	struct xb_local_key key = { .bridge = bridge };

	memcpy(key.mac, mac->b, MAC_LEN);
	return key;
}

int prog_local_add(struct prog_set *ps, uint16_t bridge, const struct mac *mac)
{
	struct xb_local_key key = local_key(bridge, mac);
	uint8_t one = 1;

	return map_set(ps, PROG_MAP_LOCALS, &key, &one);
}

int prog_local_del(struct prog_set *ps, uint16_t bridge, const struct mac *mac)
{
	struct xb_local_key key = local_key(bridge, mac);

	return map_del(ps, PROG_MAP_LOCALS, &key);
}

static bool bit_get(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

/* Makes map and bit set agree on one VLAN. */
static int upper_set(struct prog_set *ps, uint16_t slot, uint32_t vid, bool want)
{
	struct prog_port *p = &ps->port[slot];
	uint32_t key = (uint32_t)slot << 12 | vid;
	uint8_t one = 1;
	int err;

	if (bit_get(p->uppers, vid) == want)
		return 0;
	err = want ? map_set(ps, PROG_MAP_UPPERS, &key, &one) : map_del(ps, PROG_MAP_UPPERS, &key);
	if (err)
		return err;
	p->uppers[vid / 64] ^= 1ULL << (vid % 64);
	p->n_uppers += want ? 1 : -1;
	return 0;
}

int prog_uppers_set(struct prog_set *ps, uint16_t slot, const uint16_t *vid, uint32_t n)
{
	uint64_t want[VID_N / 64] = { 0 };
	struct prog_port *p;
	int err = 0;

	if (slot >= XB_MAX_PORTS)
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		if (vid[i] > VID_MAX)
			return -EINVAL;
		want[vid[i] / 64] |= 1ULL << (vid[i] % 64);
	}
	p = &ps->port[slot];
	if (!p->uppers) {
		if (!n)
			return 0;
		p->uppers = calloc(1, sizeof(want));
		if (!p->uppers)
			return -ENOMEM;
	}
	/* New ones first, so that no VLAN of both sets is ever missing. */
	for (uint32_t i = 0; i < VID_N && !err; i++) {
		if (bit_get(want, i))
			err = upper_set(ps, slot, i, true);
	}
	for (uint32_t i = 0; i < VID_N && !err; i++) {
		if (!bit_get(want, i))
			err = upper_set(ps, slot, i, false);
	}
	return err ? err : port_write(ps, slot);
}

int prog_punts_read(struct prog_set *ps, uint16_t slot, struct xb_punts *out)
{
	struct xb_punts sum = { 0 }, *v;
	uint32_t key = slot;
	int err;

	if (slot >= XB_MAX_PORTS)
		return -EINVAL;
	_Static_assert(sizeof(*v) % 8 == 0, "no padding between the CPUs");
	v = calloc(ps->n_cpus, sizeof(*v));
	if (!v)
		return -ENOMEM;
	err = bpf_map_lookup_elem(ps->map_fd[PROG_MAP_PUNTS], &key, v);
	for (size_t c = 0; c < ps->n_cpus && !err; c++) {
		sum.redirected += v[c].redirected;
		sum.dropped += v[c].dropped;
		for (size_t i = 0; i < PUNT_N; i++)
			sum.punt[i] += v[c].punt[i];
	}
	free(v);
	if (!err)
		*out = sum;
	return err;
}

static int punts_zero(struct prog_set *ps, uint16_t slot)
{
	struct xb_punts *v = calloc(ps->n_cpus, sizeof(*v));
	uint32_t key = slot;
	int err;

	if (!v)
		return -ENOMEM;
	err = map_set(ps, PROG_MAP_PUNTS, &key, v);
	free(v);
	return err;
}

int prog_slot_reset(struct prog_set *ps, uint16_t slot)
{
	int err;

	ps->port[slot].rules = (struct xb_port){ 0 };
	err = port_write(ps, slot);
	if (!err)
		err = prog_uppers_set(ps, slot, NULL, 0);
	if (!err)
		err = punts_zero(ps, slot);
	for (uint32_t q = 0; q < XB_MAX_QUEUES; q++)
		prog_sock_clear(ps, slot, q);
	return err;
}
