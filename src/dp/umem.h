/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * umem: the one memory area that holds all frames, and its registration with
 * the kernel.
 *
 * Copy-mode sockets share one registration. Its owner is a socket that is bound
 * to queue 0 of `lo` in copy mode and never used: the owner must outlive all
 * sharers, and no port does. (Measured on 6.18: sharers on other devices are
 * accepted; they inherit copy mode and the wakeup flag from the owner, see
 * xp_assign_dev_shared() in the kernel, and the ring sizes from the
 * registration, see libxdp.) For the same reason a zero-copy socket cannot
 * share it and registers the same area once more, as does every socket when the
 * owner could not be bound: frame addresses mean the same everywhere.
 *
 * Control thread only; workers read the fields.
 */
#ifndef XB_DP_UMEM_H
#define XB_DP_UMEM_H

#include <stdbool.h>
#include <stdint.h>
#include <xdp/xsk.h>

/* In front of each received frame (XDP_PACKET_HEADROOM): room for tags. */
#define UMEM_HEADROOM 256

#define UMEM_MAX_FRAMES (1U << 22)
#define UMEM_MIN_FRAMES 64
#define UMEM_MAX_RING   8192

struct umem {
	uint8_t *area;
	uint32_t frame_size;
	uint32_t frame_shift;
	uint32_t n_frames;
	uint64_t area_size;

	struct xsk_umem *shared; /* NULL: each socket registers for itself */
	struct xsk_socket *owner;
	struct xsk_umem_config cfg;
	struct xsk_ring_prod fill, tx; /* of the owner */
	struct xsk_ring_cons comp;
};

struct umem_config {
	uint32_t n_frames;
	uint32_t frame_size; /* 2048 or 4096 */
	uint32_t fill_ring;  /* of each socket, powers of two, <= UMEM_MAX_RING */
	uint32_t completion_ring;
};

/* True for a number of ring entries that is allowed. The kernel itself accepts any. */
bool umem_ring_is_valid(uint32_t n);

/*
 * Maps and registers the area. -EINVAL for sizes out of range, -ENOMEM, -EPERM,
 * -EOPNOTSUPP for a kernel without AF_XDP. May wait up to a second for an
 * earlier daemon's owner socket.
 */
int umem_open(const struct umem_config *cfg, struct umem **out);
/* All sockets are closed. */
void umem_close(struct umem *u);

/* Registers the area once more, for one socket alone; @fill and @comp are its rings. */
int umem_register(struct umem *u, struct xsk_ring_prod *fill, struct xsk_ring_cons *comp,
		  struct xsk_umem **out);

/* Longest frame that fits behind the headroom. */
static inline uint32_t umem_max_len(const struct umem *u)
{
	return u->frame_size - UMEM_HEADROOM;
}

static inline uint32_t umem_frame(const struct umem *u, uint64_t addr)
{
	return (uint32_t)(addr >> u->frame_shift);
}

static inline uint32_t umem_offset(const struct umem *u, uint64_t addr)
{
	return (uint32_t)(addr & (u->frame_size - 1));
}

static inline uint64_t umem_addr(const struct umem *u, uint32_t frame)
{
	return (uint64_t)frame << u->frame_shift;
}

#endif
