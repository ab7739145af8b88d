/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold: copies for the host of one bridge that wait until the kernel knows the
 * station that sent them.
 *
 * Without it the host could answer a station before the kernel bridge has
 * learned where it is, and the answer would be flooded. A copy waits for a
 * learn event of its own (its sequence number) or for copies in front of it:
 * the queue keeps the order. Bounds: HOLD_SIZE copies, HOLD_MAX_NS.
 *
 * A queued copy's frame reference belongs to the queue until hold_pop() returns
 * it. Used by one worker; time is passed in.
 */
#ifndef XB_DP_HOLD_H
#define XB_DP_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#define HOLD_SIZE   64
#define HOLD_MAX_NS 5000000ULL

struct hold_copy {
	uint64_t addr; /* of the first byte to send */
	uint64_t seq;  /* learn event that it waits for, 0: none of its own */
	uint64_t since_ns;
	uint32_t len;
};

/* All zero is an empty queue. */
struct hold {
	uint32_t head;
	uint32_t n;
	struct hold_copy copy[HOLD_SIZE];
};

/* Queues @c. False, and nothing is changed, when the queue is full. */
bool hold_add(struct hold *h, const struct hold_copy *c);

/*
 * Takes the oldest copy if it may go: all learn events up to @done_seq are with
 * the kernel, or it waited for HOLD_MAX_NS; then *@expired says that it did not
 * get what it waited for. False if none may go.
 */
bool hold_pop(struct hold *h, uint64_t done_seq, uint64_t now_ns, struct hold_copy *out,
	      bool *expired);

/* Takes the oldest copy, whatever it waits for. False if there is none. */
bool hold_pop_any(struct hold *h, struct hold_copy *out);

/* When the oldest copy goes at the latest; UINT64_MAX for an empty queue. */
uint64_t hold_deadline_ns(const struct hold *h);

#endif
