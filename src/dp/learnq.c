/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/learnq.h"

#include <errno.h>
#include <stdlib.h>

#include "core/count.h"

int learnq_init(struct learnq *q)
{
	*q = (struct learnq){ 0 };
	q->ring = calloc(LEARNQ_SIZE, sizeof(*q->ring));
	return q->ring ? 0 : -ENOMEM;
}

void learnq_fini(struct learnq *q)
{
	free(q->ring);
	q->ring = NULL;
}

uint64_t learnq_add(struct learnq *q, const struct dp_learn *e)
{
	struct dp_learn *slot;

	if (q->tail - q->seen_head == LEARNQ_SIZE) {
		q->seen_head = __atomic_load_n(&q->head_shared, __ATOMIC_ACQUIRE);
		if (q->tail - q->seen_head == LEARNQ_SIZE) {
			count_add(&q->n_lost, 1);
			return 0;
		}
	}
	slot = &q->ring[q->tail++ % LEARNQ_SIZE];
	*slot = *e;
	slot->seq = ++q->seq;
	return q->seq;
}

bool learnq_flush(struct learnq *q)
{
	uint32_t before = q->tail_shared;

	if (q->tail == before)
		return false;
	/*
	 * Sequentially consistent on both sides: either the reader's next look
	 * at the tail sees these events, or its head is seen here to have been
	 * at the old tail.
	 */
	__atomic_store_n(&q->tail_shared, q->tail, __ATOMIC_SEQ_CST);
	q->seen_head = __atomic_load_n(&q->head_shared, __ATOMIC_SEQ_CST);
	return q->seen_head == before;
}

uint32_t learnq_read(struct learnq *q, struct dp_learn *v, uint32_t n)
{
	uint32_t head = q->head_shared;
	uint32_t n_wait = __atomic_load_n(&q->tail_shared, __ATOMIC_SEQ_CST) - head;

	if (n > n_wait)
		n = n_wait;
	for (uint32_t i = 0; i < n; i++)
		v[i] = q->ring[(head + i) % LEARNQ_SIZE];
	__atomic_store_n(&q->head_shared, head + n, __ATOMIC_SEQ_CST);
	return n;
}

bool learnq_is_empty(const struct learnq *q)
{
	return __atomic_load_n(&q->tail_shared, __ATOMIC_SEQ_CST) == q->head_shared;
}
