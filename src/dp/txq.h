/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txq: the transmit side of one AF_XDP socket (TX ring + completion ring).
 *
 * Owned by one worker; no function here may be called from another thread,
 * except after the worker has let the queue go.
 *
 * Frame ownership: a frame handed to txq_send() belongs to the kernel until
 * txq_reap() returns it. A frame that txq_send() did not accept still belongs
 * to the caller. One bit per UMEM frame remembers which ones are here, so a
 * completion of a frame that is not, or that came twice, is counted and never
 * used. A frame is on one TX ring at most once at a time; the same frame may
 * be on the rings of many ports. At any time:
 *
 *	frames accepted by txq_send() == frames given back by txq_reap()
 *					 + q->in_flight
 *	q->in_flight <= q->cap <= entries of either ring
 */
#ifndef XB_DP_TXQ_H
#define XB_DP_TXQ_H

#include <stdbool.h>
#include <stdint.h>
#include <xdp/xsk.h>

struct txq_frame {
	uint64_t addr; /* of the first byte to send */
	uint32_t len;  /* not 0: the kernel would never complete it */
};

struct txq {
	struct xsk_ring_prod tx;
	struct xsk_ring_cons comp;
	uint32_t in_flight; /* atomic: others may look */
	uint32_t cap;       /* of in_flight, so that a stuck port cannot hold the pool */
	uint32_t frame_shift;
	uint32_t n_frames; /* of the UMEM */
	uint64_t *held;    /* bit set of n_frames */
	uint64_t n_bad;    /* completions refused */
};

/*
 * The rings are set up before, by libxdp or in plain memory. @cap is lowered
 * to what both rings can take. @frame_size is a power of two. -ENOMEM.
 */
int txq_init(struct txq *q, uint32_t frame_size, uint32_t n_frames, uint32_t cap);
void txq_fini(struct txq *q);

/* How many frames txq_send() would accept now. */
static inline uint32_t txq_room(const struct txq *q)
{
	return q->cap - q->in_flight;
}

/*
 * Puts the first frames of @v on the TX ring, in order. Returns how many were
 * accepted, 0..@n; fewer than @n means that the ring or the cap is full. Never
 * blocks and never fails otherwise. The kernel sends them when it is kicked.
 */
uint32_t txq_send(struct txq *q, const struct txq_frame *v, uint32_t n);

/*
 * Frames that the kernel is done with, by UMEM index, at most @n. Returns how
 * many: each one's reference belongs to the caller. Looks at no more than @n
 * completions.
 */
uint32_t txq_reap(struct txq *q, uint32_t *frame, uint32_t n);

/* Frames on the TX ring that the kernel has not looked at: it wants a kick. */
static inline uint32_t txq_n_unsent(const struct txq *q)
{
	return q->tx.cached_prod - __atomic_load_n(q->tx.consumer, __ATOMIC_ACQUIRE);
}

/* True once the kernel is done with all frames, reaped or not. */
static inline bool txq_is_drained(const struct txq *q)
{
	return __atomic_load_n(q->comp.producer, __ATOMIC_ACQUIRE) - q->comp.cached_cons >=
	       q->in_flight;
}

#endif
