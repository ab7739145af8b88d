/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/txq.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "util/bitset.h"

int txq_init(struct txq *q, uint32_t frame_size, uint32_t n_frames, uint32_t cap)
{
	q->held = calloc(bitset_words(n_frames), sizeof(*q->held));
	if (!q->held)
		return -ENOMEM;
	if (cap > q->tx.size)
		cap = q->tx.size;
	if (cap > q->comp.size)
		cap = q->comp.size;
	q->cap = cap;
	q->frame_shift = (uint32_t)__builtin_ctz(frame_size);
	q->n_frames = n_frames;
	q->in_flight = 0;
	q->n_bad = 0;
	return 0;
}

void txq_fini(struct txq *q)
{
	free(q->held);
	q->held = NULL;
}

uint32_t txq_send(struct txq *q, const struct txq_frame *v, uint32_t n)
{
	uint32_t idx = 0, n_free;

	if (n > txq_room(q))
		n = txq_room(q);
	n_free = xsk_prod_nb_free(&q->tx, n);
	/*
	 * Reserve exactly what is written below: a slot that is reserved and
	 * submitted but not written would send a stale descriptor.
	 */
	if (n > n_free)
		n = n_free;
	if (!n || !xsk_ring_prod__reserve(&q->tx, n, &idx))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		struct xdp_desc *d = xsk_ring_prod__tx_desc(&q->tx, idx + i);
		uint32_t frame = (uint32_t)(v[i].addr >> q->frame_shift);

		assert(frame < q->n_frames && !bitset_test(q->held, frame) && v[i].len);
		bitset_set(q->held, frame);
		d->addr = v[i].addr;
		d->len = v[i].len;
		d->options = 0;
	}
	__atomic_store_n(&q->in_flight, q->in_flight + n, __ATOMIC_RELAXED);
	xsk_ring_prod__submit(&q->tx, n);
	return n;
}

uint32_t txq_reap(struct txq *q, uint32_t *frame, uint32_t n)
{
	uint32_t idx = 0, n_good = 0;

	n = xsk_ring_cons__peek(&q->comp, n, &idx);
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t f = *xsk_ring_cons__comp_addr(&q->comp, idx + i) >> q->frame_shift;

		if (f >= q->n_frames || !bitset_test(q->held, (uint32_t)f)) {
			q->n_bad++;
			continue;
		}
		bitset_clear(q->held, (uint32_t)f);
		frame[n_good++] = (uint32_t)f;
	}
	__atomic_store_n(&q->in_flight, q->in_flight - n_good, __ATOMIC_RELAXED);
	xsk_ring_cons__release(&q->comp, n);
	return n_good;
}
