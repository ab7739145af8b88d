/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/rxq.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "dp/pool.h"
#include "util/bitset.h"

/* Frames moved from the pool to the fill ring at a time. */
#define REFILL_CHUNK 64

int rxq_init(struct rxq *q, uint32_t frame_size, uint32_t n_frames)
{
	q->held = calloc(bitset_words(n_frames), sizeof(*q->held));
	if (!q->held)
		return -ENOMEM;
	q->frame_shift = (uint32_t)__builtin_ctz(frame_size);
	q->n_frames = n_frames;
	q->n_held = 0;
	q->target = 0;
	q->n_bad = 0;
	return 0;
}

void rxq_fini(struct rxq *q)
{
	free(q->held);
	q->held = NULL;
}

/* False if the kernel did not have that frame. */
static bool rxq_take(struct rxq *q, const struct xdp_desc *d, struct rxq_frame *out)
{
	uint64_t frame = d->addr >> q->frame_shift;
	uint64_t offset = d->addr & ((UINT64_C(1) << q->frame_shift) - 1);

	if (frame >= q->n_frames || !bitset_test(q->held, (uint32_t)frame)) {
		q->n_bad++;
		return false;
	}
	bitset_clear(q->held, (uint32_t)frame);
	q->n_held--;
	out->addr = d->addr;
	out->frame = (uint32_t)frame;
	out->len = d->len;
	/* The frame is ours again, but what it says it holds is not to be read. */
	if (offset + d->len > UINT64_C(1) << q->frame_shift) {
		out->len = 0;
		q->n_bad++;
	}
	return true;
}

uint32_t rxq_recv(struct rxq *q, struct rxq_frame *v, uint32_t n)
{
	uint32_t idx = 0, n_good = 0;

	n = xsk_ring_cons__peek(&q->rx, n, &idx);
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (rxq_take(q, xsk_ring_cons__rx_desc(&q->rx, idx + i), &v[n_good]))
			n_good++;
	}
	xsk_ring_cons__release(&q->rx, n);
	return n_good;
}

uint32_t rxq_refill(struct rxq *q, struct pool *pool)
{
	uint32_t frame[REFILL_CHUNK], n, idx = 0, n_total = 0;

	while (q->n_held < q->target) {
		n = q->target - q->n_held;
		if (n > REFILL_CHUNK)
			n = REFILL_CHUNK;
		if (n > pool->n_free)
			n = pool->n_free;
		/* Decide first: what is reserved below must be written. */
		uint32_t n_room = xsk_prod_nb_free(&q->fill, n);

		if (n > n_room)
			n = n_room;
		if (!n || !xsk_ring_prod__reserve(&q->fill, n, &idx))
			break;
		pool_get(pool, frame, n);
		for (uint32_t i = 0; i < n; i++) {
			*xsk_ring_prod__fill_addr(&q->fill, idx + i) = (uint64_t)frame[i]
								       << q->frame_shift;
			bitset_set(q->held, frame[i]);
		}
		q->n_held += n;
		xsk_ring_prod__submit(&q->fill, n);
		n_total += n;
	}
	return n_total;
}
