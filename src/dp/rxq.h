/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rxq: the receive side of one AF_XDP socket (RX ring + fill ring).
 *
 * Owned by one worker; no function here may be called from another thread,
 * except after the worker has let the queue go.
 *
 * Frame ownership: a frame handed to rxq_refill() belongs to the kernel until
 * rxq_recv() returns it. One bit per UMEM frame remembers which ones are there,
 * so an address that the kernel gives back twice, or that it never had, is
 * counted and never used. At any time:
 *
 *	frames taken by rxq_refill() == frames given back by rxq_recv()
 *					+ q->n_held
 */
#ifndef XB_DP_RXQ_H
#define XB_DP_RXQ_H

#include <stdint.h>
#include <xdp/xsk.h>

struct pool;

struct rxq_frame {
	uint64_t addr; /* of the first byte received */
	uint32_t len;  /* 0 if the kernel's length leaves the frame */
	uint32_t frame;
};

struct rxq {
	struct xsk_ring_cons rx;
	struct xsk_ring_prod fill;
	uint32_t n_held; /* frames in the fill and the RX ring */
	uint32_t target; /* of n_held; may fall while more are held */
	uint32_t frame_shift;
	uint32_t n_frames; /* of the UMEM */
	uint64_t *held;    /* bit set of n_frames */
	uint64_t n_bad;    /* descriptors refused */
};

/*
 * The rings are the caller's business: they are set up before rxq_init(), by
 * libxdp or in plain memory. @frame_size is a power of two. -ENOMEM.
 */
int rxq_init(struct rxq *q, uint32_t frame_size, uint32_t n_frames);
void rxq_fini(struct rxq *q);

/*
 * Up to @n received frames, oldest first; they belong to the caller. Returns
 * how many. Looks at no more than @n descriptors.
 */
uint32_t rxq_recv(struct rxq *q, struct rxq_frame *v, uint32_t n);

/*
 * Gives the kernel frames of @pool until it holds q->target. Returns how many:
 * fewer than are missing if the pool or the free part of the fill ring is
 * smaller. Never blocks.
 */
uint32_t rxq_refill(struct rxq *q, struct pool *pool);

/* Frames received and not taken. */
static inline uint32_t rxq_n_waiting(struct rxq *q)
{
	return __atomic_load_n(q->rx.producer, __ATOMIC_ACQUIRE) - q->rx.cached_cons;
}

#endif
