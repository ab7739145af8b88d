/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/pool.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int pool_new(struct pool **out, uint32_t first, uint32_t n_frames)
{
	struct pool *p;

	if (!n_frames)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->first = first;
	p->n_frames = n_frames;
	p->free = calloc(n_frames, sizeof(*p->free));
	p->refs = calloc(n_frames, sizeof(*p->refs));
	if (!p->free || !p->refs) {
		pool_free(p);
		return -ENOMEM;
	}

	/* The lowest address is on top of the stack. */
	for (uint32_t i = 0; i < n_frames; i++)
		p->free[i] = first + n_frames - 1 - i;
	p->n_free = n_frames;
	*out = p;
	return 0;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	free(p->free);
	free(p->refs);
	free(p);
}

uint32_t pool_get(struct pool *p, uint32_t *frame, uint32_t n)
{
	if (n > p->n_free)
		n = p->n_free;
	for (uint32_t i = 0; i < n; i++) {
		frame[i] = p->free[--p->n_free];
		p->refs[frame[i] - p->first] = 1;
	}
	return n;
}

void pool_share(struct pool *p, uint32_t frame, uint32_t n)
{
	assert(pool_owns(p, frame));
	assert(p->refs[frame - p->first] && p->refs[frame - p->first] + n <= POOL_MAX_REFS);
	p->refs[frame - p->first] = (uint16_t)(p->refs[frame - p->first] + n);
}

void pool_put(struct pool *p, uint32_t frame)
{
	if (!pool_owns(p, frame) || !p->refs[frame - p->first]) {
		p->n_bad++;
		return;
	}
	if (!--p->refs[frame - p->first])
		p->free[p->n_free++] = frame;
}
