/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool: the free frames of one worker, and the reference count of each frame
 * that it owns.
 *
 * A frame is named by its index in the UMEM. A worker owns the frames first to
 * first + n_frames - 1 for ever; wherever one is, its count says how many
 * places hold it:
 *
 *	0	free, in the pool
 *	1	one place: a fill ring, a batch, a TX ring, the hold queue
 *	N	copies of a flooded frame on the way to N ports
 *
 * It knows nothing of rings. Used by the owning worker alone. No allocation
 * after pool_new().
 */
#ifndef XB_DP_POOL_H
#define XB_DP_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* Of one frame; a flood has at most one copy for each port slot. */
#define POOL_MAX_REFS UINT16_MAX

struct pool {
	uint32_t n_free;
	uint32_t first;
	uint32_t n_frames;
	uint32_t *free; /* a stack: what was used last is likely in the cache */
	uint16_t *refs; /* [index - first] */
	uint64_t n_bad; /* frames put back that nobody had; refused */
};

/* All frames are free at first. -EINVAL for no frames, -ENOMEM. */
int pool_new(struct pool **out, uint32_t first, uint32_t n_frames);
void pool_free(struct pool *p);

static inline bool pool_owns(const struct pool *p, uint32_t frame)
{
	return frame - p->first < p->n_frames;
}

/* Takes up to @n free frames, with one reference each. Returns how many. */
uint32_t pool_get(struct pool *p, uint32_t *frame, uint32_t n);

/* Adds @n references to a frame that is not free. */
void pool_share(struct pool *p, uint32_t frame, uint32_t n);

/*
 * Takes one reference away; with the last one the frame is free. A frame that
 * is free already, or is not of this pool, is refused and counted in n_bad.
 */
void pool_put(struct pool *p, uint32_t frame);

/* References of @frame, 0 if it is free. */
static inline uint32_t pool_refs(const struct pool *p, uint32_t frame)
{
	return p->refs[frame - p->first];
}

#endif
