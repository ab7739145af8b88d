/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * learnq: a bounded queue of learn events from one worker to the control
 * thread, without locks: one writer, one reader.
 *
 * The writer makes its events visible once per batch, and then says whether the
 * reader has to be woken: only if it had taken everything before.
 */
#ifndef XB_DP_LEARNQ_H
#define XB_DP_LEARNQ_H

#include <stdbool.h>
#include <stdint.h>

#include "dp/dp.h"

#define LEARNQ_SIZE 65536 /* a power of two */

struct learnq {
	/* Writer. */
	uint32_t tail;      /* events written */
	uint32_t seen_head; /* of the reader, when last looked at */
	uint64_t seq;       /* of the newest event */
	uint64_t n_lost;    /* atomic */
	/* Shared. */
	uint32_t head_shared __attribute__((aligned(64)));
	uint32_t tail_shared __attribute__((aligned(64)));
	struct dp_learn *ring;
};

/* -ENOMEM. */
int learnq_init(struct learnq *q);
void learnq_fini(struct learnq *q);

/*
 * [worker] Adds @e and gives it the next sequence number, which is returned; 0
 * and one more in n_lost if the queue is full.
 */
uint64_t learnq_add(struct learnq *q, const struct dp_learn *e);

/* [worker] Shows the reader what was added. True if the reader must be woken. */
bool learnq_flush(struct learnq *q);

/* [control] Up to @n events, oldest first. */
uint32_t learnq_read(struct learnq *q, struct dp_learn *v, uint32_t n);

/* [control] True if nothing waits. */
bool learnq_is_empty(const struct learnq *q);

#endif
