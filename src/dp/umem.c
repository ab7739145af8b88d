/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/umem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* The kernel frees a closed socket's queue in the background. */
#define BUSY_TRIES  100
#define BUSY_NAP_NS 10000000L

#define OWNER_IFNAME "lo"

bool umem_ring_is_valid(uint32_t n)
{
	return n >= 2 && n <= UMEM_MAX_RING && !(n & (n - 1));
}

static bool config_is_valid(const struct umem_config *c)
{
	return (c->frame_size == 2048 || c->frame_size == 4096) && c->n_frames >= UMEM_MIN_FRAMES &&
	       c->n_frames <= UMEM_MAX_FRAMES && umem_ring_is_valid(c->fill_ring) &&
	       umem_ring_is_valid(c->completion_ring);
}

int umem_register(struct umem *u, struct xsk_ring_prod *fill, struct xsk_ring_cons *comp,
		  struct xsk_umem **out)
{
	return xsk_umem__create(out, u->area, u->area_size, fill, comp, &u->cfg);
}

static int owner_bind(struct umem *u)
{
	const struct xsk_socket_config cfg = {
		.tx_size = 2,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP,
	};
	const struct timespec nap = { .tv_nsec = BUSY_NAP_NS };
	int err = -EBUSY;

	for (int i = 0; i < BUSY_TRIES && err == -EBUSY; i++) {
		if (i)
			nanosleep(&nap, NULL);
		err = xsk_socket__create(&u->owner, OWNER_IFNAME, 0, u->shared, NULL, &u->tx, &cfg);
	}
	return err;
}

int umem_open(const struct umem_config *cfg, struct umem **out)
{
	struct umem *u;
	int err;

	if (!config_is_valid(cfg))
		return -EINVAL;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->frame_size = cfg->frame_size;
	u->frame_shift = (uint32_t)__builtin_ctz(cfg->frame_size);
	u->n_frames = cfg->n_frames;
	u->area_size = (uint64_t)cfg->n_frames * cfg->frame_size;
	u->cfg = (struct xsk_umem_config){
		.fill_size = cfg->fill_ring,
		.comp_size = cfg->completion_ring,
		.frame_size = cfg->frame_size,
	};

	u->area = mmap(NULL, u->area_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	if (u->area == MAP_FAILED) {
		err = -errno;
		goto err_free;
	}
	/* A child of fork() must not make copies of pages that the kernel writes. */
	if (madvise(u->area, u->area_size, MADV_DONTFORK)) {
		err = -errno;
		goto err_unmap;
	}
	err = umem_register(u, &u->fill, &u->comp, &u->shared);
	if (err)
		goto err_unmap;
	if (owner_bind(u)) {
		/* No `lo`, or its queue is taken: every socket registers the area for itself. */
		xsk_umem__delete(u->shared);
		u->shared = NULL;
		u->owner = NULL;
	}
	*out = u;
	return 0;

err_unmap:
	munmap(u->area, u->area_size);
err_free:
	free(u);
	return err;
}

void umem_close(struct umem *u)
{
	if (!u)
		return;
	if (u->owner)
		xsk_socket__delete(u->owner);
	if (u->shared)
		xsk_umem__delete(u->shared);
	munmap(u->area, u->area_size);
	free(u);
}
