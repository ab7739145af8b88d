// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dp/prog_int.h"

/* The generated headers define functions that nobody has to use. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "xb_host.skel.h"
#include "xb_xdp.skel.h"
#include "xb_xdp_tags.skel.h"
#pragma GCC diagnostic pop

/* Linux 6.3; older headers do not have it. */
#ifndef BPF_F_XDP_DEV_BOUND_ONLY
#define BPF_F_XDP_DEV_BOUND_ONLY (1U << 6)
#endif

#define LOG_SIZE 65536

/* One object on its way into the kernel. */
struct loading {
	struct bpf_object *obj;
	struct bpf_program *prog;
	char *log; /* of the verifier */
};

static void loading_fini(struct loading *l)
{
	bpf_object__close(l->obj);
	free(l->log);
}

static int loading_init(struct loading *l, const void *elf, size_t size, const char *prog)
{
	struct bpf_object_open_opts opts = { .sz = sizeof(opts), .object_name = prog };
	int err;

	*l = (struct loading){ .log = calloc(1, LOG_SIZE) };
	if (!l->log)
		return -ENOMEM;
	l->obj = bpf_object__open_mem(elf, size, &opts);
	if (!l->obj) {
		err = -errno;
		if (!err)
			err = -EINVAL;
		goto err_fini;
	}
	l->prog = bpf_object__find_program_by_name(l->obj, prog);
	if (!l->prog) {
		err = -ENOENT;
		goto err_fini;
	}
	err = bpf_program__set_log_buf(l->prog, l->log, LOG_SIZE);
	if (err)
		goto err_fini;
	return 0;

err_fini:
	loading_fini(l);
	return err;
}

/* The line in front of the verifier's statistics says what it did not like. */
static const char *log_reason(char *log)
{
	char *end = strstr(log, "\nprocessed "), *line;

	if (!end)
		end = log + strlen(log);
	*end = '\0';
	while (end > log && end[-1] == '\n')
		*--end = '\0';
	line = strrchr(log, '\n');
	return line ? line + 1 : log;
}

/* The descriptor of the loaded program, which the caller owns, or an error. */
static int loading_run(struct loading *l, const char **why)
{
	int err = bpf_object__load(l->obj), fd;

	if (err) {
		*why = *l->log ? prog_why("the kernel refuses the BPF program: %s",
					  log_reason(l->log))
			       : prog_why("the kernel refuses the BPF program: %s", strerror(-err));
		return err == -EPERM || err == -ENOMEM ? err : -EOPNOTSUPP;
	}
	fd = fcntl(bpf_program__fd(l->prog), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd < 0 ? -errno : fd;
}

static int maps_take(struct prog_set *ps, struct bpf_object *obj)
{
	for (size_t i = 0; i < PROG_MAP_N; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, prog_map_name[i]);
		int fd = map ? fcntl(bpf_map__fd(map), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;

		if (fd < 0)
			return map ? -errno : -ENOENT;
		ps->map_fd[i] = fd;
	}
	return 0;
}

int prog_maps_make(struct prog_set *ps, const char **why)
{
	struct loading l;
	size_t size;
	const void *elf = xb_xdp__elf_bytes(&size);
	int err = loading_init(&l, elf, size, "xb_xdp");

	if (!err) {
		bpf_program__set_autoload(l.prog, false);
		err = bpf_object__load(l.obj);
		if (!err)
			err = maps_take(ps, l.obj);
		loading_fini(&l);
	}
	if (err)
		*why = err == -EPERM ? prog_why("BPF maps need CAP_BPF and CAP_NET_ADMIN")
				     : prog_why("cannot make the BPF maps: %s", strerror(-err));
	return err;
}

/* The one internal map of each object is its read-only data. */
static int rodata_set(struct bpf_object *obj, const void *data, size_t size)
{
	struct bpf_map *map = bpf_object__next_map(obj, NULL);

	while (map && !bpf_map__is_internal(map))
		map = bpf_object__next_map(obj, map);
	return map ? bpf_map__set_initial_value(map, data, size) : -ENOENT;
}

/* Shared maps, and what is constant in this instance. */
static int maps_bind(const struct prog_set *ps, struct bpf_object *obj, const void *rodata,
		     size_t rodata_size)
{
	struct bpf_map *map;
	int err = 0;

	for (size_t i = 0; i < PROG_MAP_N && !err; i++) {
		map = bpf_object__find_map_by_name(obj, prog_map_name[i]);
		err = map ? bpf_map__reuse_fd(map, ps->map_fd[i]) : -ENOENT;
	}
	return err ? err : rodata_set(obj, rodata, rodata_size);
}

/* The descriptor of an instance for the port, or an error. */
static int instance_load(const struct prog_set *ps, const struct prog_port_config *cfg, bool tags,
			 const char **why)
{
	struct xb_port_const ro = { .slot = cfg->slot, .standalone = cfg->standalone };
	struct loading l;
	size_t size;
	const void *elf = tags ? xb_xdp_tags__elf_bytes(&size) : xb_xdp__elf_bytes(&size);
	int fd = loading_init(&l, elf, size, "xb_xdp");

	if (fd) {
		*why = prog_why("cannot read the BPF object: %s", strerror(-fd));
		return fd;
	}
	fd = maps_bind(ps, l.obj, &ro, sizeof(ro));
	if (fd) {
		*why = prog_why("cannot share the BPF maps: %s", strerror(-fd));
		goto out;
	}
	if (tags) {
		bpf_program__set_ifindex(l.prog, cfg->ifindex);
		bpf_program__set_flags(l.prog,
				       bpf_program__flags(l.prog) | BPF_F_XDP_DEV_BOUND_ONLY);
	}
	fd = loading_run(&l, why);
out:
	loading_fini(&l);
	return fd;
}

static uint32_t fd_prog_id(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

/* The program on the interface, in whichever mode; 0 if there is none. */
static uint32_t attached_id(uint32_t ifindex)
{
	struct bpf_xdp_query_opts q = { .sz = sizeof(q) };

	if (bpf_xdp_query((int)ifindex, 0, &q))
		return 0;
	if (q.prog_id)
		return q.prog_id;
	return q.drv_prog_id ? q.drv_prog_id : q.skb_prog_id ? q.skb_prog_id : q.hw_prog_id;
}

static int link_create(int prog_fd, uint32_t ifindex)
{
	/* Never the generic mode: where the driver has none of its own, the kernel forwards. */
	struct bpf_link_create_opts opts = { .sz = sizeof(opts), .flags = XDP_FLAGS_DRV_MODE };

	return bpf_link_create(prog_fd, (int)ifindex, BPF_XDP, &opts);
}

/* A new link of the port, not yet pinned. */
static int link_new(const struct prog_set *ps, const struct prog_port_config *cfg, int prog_fd,
		    const char **why)
{
	char name[IF_NAMESIZE];
	uint32_t other;
	int fd = link_create(prog_fd, cfg->ifindex);

	if (fd != -EBUSY && fd != -EEXIST)
		goto out;
	/* A device that came here from a namespace that a daemon served may still have its link. */
	other = attached_id(cfg->ifindex);
	if (other && prog_pin_evict(ps->dir, other))
		fd = link_create(prog_fd, cfg->ifindex);
	if (fd == -EBUSY || fd == -EEXIST) {
		*why = prog_why("%s has another XDP program (id %u): remove it with its owner, or "
				"with \"ip link set dev %s xdp off\"",
				cfg->name, other, cfg->name);
		return -EBUSY;
	}
out:
	if (fd >= 0)
		return fd;
	if (!if_indextoname(cfg->ifindex, name)) {
		*why = prog_why("%s has gone", cfg->name);
		return -ENODEV;
	}
	*why = prog_why("%s: the driver refuses a native XDP program: %s", cfg->name,
			strerror(-fd));
	return fd == -EPERM || fd == -ENOMEM ? fd : -EOPNOTSUPP;
}

static int link_pin(const char *path, const char *name, int fd, const char **why)
{
	int err = bpf_obj_pin(fd, path);

	if (err)
		*why = prog_why("%s: cannot pin the XDP link at %s: %s", name, path,
				strerror(-err));
	return err;
}

/*
 * The pinned link of the port with @prog_fd in it: the one that an earlier
 * daemon left, else a new one. Returns its descriptor.
 */
static int link_get(const struct prog_set *ps, const struct prog_port_config *cfg, int prog_fd,
		    const char **why)
{
	char path[PATH_MAX];
	int err = prog_pin_path(ps->dir, cfg->ifindex, path, sizeof(path)), fd;

	if (err)
		return err;
	fd = prog_pin_open(ps->dir, cfg->ifindex);
	if (fd >= 0) {
		err = bpf_link_update(fd, prog_fd, NULL);
		if (!err)
			return fd;
		/* Then with a gap, in which the kernel bridge has the port. */
		bpf_link_detach(fd);
		close(fd);
		unlink(path);
	}
	fd = link_new(ps, cfg, prog_fd, why);
	if (fd < 0)
		return fd;
	err = link_pin(path, cfg->name, fd, why);
	if (err) {
		bpf_link_detach(fd);
		close(fd);
		return err;
	}
	return fd;
}

static int attach_one(struct prog_set *ps, const struct prog_port_config *cfg, bool tags,
		      const char **why)
{
	struct prog_port *p = &ps->port[cfg->slot];
	int prog_fd = instance_load(ps, cfg, tags, why);
	int link_fd;

	if (prog_fd < 0)
		return prog_fd;
	link_fd = link_get(ps, cfg, prog_fd, why);
	if (link_fd >= 0) {
		p->link_fd = link_fd;
		p->ifindex = cfg->ifindex;
		p->prog_id = fd_prog_id(prog_fd);
	}
	close(prog_fd);
	return link_fd < 0 ? link_fd : 0;
}

int prog_attach(struct prog_set *ps, const struct prog_port_config *cfg, bool *recovers_tags,
		const char **why)
{
	int err;

	*why = prog_why("%s: port slot %u is not free", cfg->name, cfg->slot);
	if (cfg->slot >= XB_MAX_PORTS || ps->port[cfg->slot].link_fd >= 0)
		return -EINVAL;
	err = prog_slot_reset(ps, cfg->slot);
	if (err) {
		*why = prog_why("%s: cannot write the BPF maps: %s", cfg->name, strerror(-err));
		return err;
	}
	if (cfg->recover_tags) {
		err = attach_one(ps, cfg, true, why);
		/* Anything else would fail with the plain program as well. */
		if (!err)
			*recovers_tags = true;
		if (err != -EOPNOTSUPP)
			return err;
	}
	err = attach_one(ps, cfg, false, why);
	if (!err)
		*recovers_tags = false;
	return err;
}

void prog_detach(struct prog_set *ps, uint16_t slot)
{
	struct prog_port *p;
	char path[PATH_MAX];

	if (slot >= XB_MAX_PORTS || ps->port[slot].link_fd < 0)
		return;
	p = &ps->port[slot];
	prog_slot_reset(ps, slot);
	bpf_link_detach(p->link_fd);
	if (!prog_pin_path(ps->dir, p->ifindex, path, sizeof(path)))
		unlink(path);
	close(p->link_fd);
	p->link_fd = -1;
	p->prog_id = 0;
	p->ifindex = 0;
}

/* Loads the host-copy program for a bridge. Returns its descriptor. */
static int host_load(uint32_t bridge_ifindex, const char **why)
{
	struct xb_host_const ro = { .bridge_ifindex = bridge_ifindex };
	struct loading l;
	size_t size;
	const void *elf = xb_host__elf_bytes(&size);
	int fd = loading_init(&l, elf, size, "xb_host");

	if (fd) {
		*why = prog_why("cannot read the BPF object: %s", strerror(-fd));
		return fd;
	}
	fd = rodata_set(l.obj, &ro, sizeof(ro));
	if (!fd)
		fd = loading_run(&l, why);
	loading_fini(&l);
	return fd;
}

int prog_host_attach(struct prog_set *ps, uint32_t hq_ifindex, uint32_t bridge_ifindex,
		     const char **why)
{
	struct bpf_tc_hook hook = { .sz = sizeof(hook),
				    .ifindex = (int)hq_ifindex,
				    .attach_point = BPF_TC_INGRESS };
	struct bpf_tc_opts opts = {
		.sz = sizeof(opts), .handle = 1, .priority = 1, .flags = BPF_TC_F_REPLACE
	};
	int err, fd;

	(void)ps;
	*why = "cannot prepare the host-copy program";
	fd = host_load(bridge_ifindex, why);
	if (fd < 0)
		return fd;
	err = bpf_tc_hook_create(&hook);
	if (!err || err == -EEXIST) {
		opts.prog_fd = fd;
		err = bpf_tc_attach(&hook, &opts);
	}
	close(fd);
	if (err)
		*why = prog_why("cannot attach the host-copy program (tc ingress): %s",
				strerror(-err));
	return err;
}
