/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wport: a port as one worker sees it: its sockets, the copies that wait for
 * the end of the batch, and those that are held back for the host.
 *
 * The control thread makes it and hands it to the worker; from then on it is
 * the worker's until that has forgotten it (worker_port_forget()).
 */
#ifndef XB_DP_WPORT_H
#define XB_DP_WPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"
#include "dp/hold.h"
#include "dp/txq.h"

struct sock;

struct wport {
	/* Hot. */
	struct sock *tx;    /* NULL: nothing can be sent to it */
	uint32_t n_pending; /* copies of this batch that are not on the TX ring yet */
	uint32_t n_passed;  /* those in front of them that are; 0 outside of egress_flush() */
	uint16_t slot;
	bool is_dirty;             /* in the worker's list of ports to kick */
	bool is_released;          /* the worker uses it no more, but its frames are not back */
	struct txq_frame *pending; /* [batch + HOLD_SIZE] */
	uint32_t n_pending_max;
	uint32_t n_socks;
	struct sock *sock[XB_MAX_QUEUES];
	struct hold hold;
};

/* [control] Without sockets yet. -ENOMEM. */
int wport_new(struct wport **out, uint16_t slot, uint32_t batch);
/* [control] Frees the sockets as well. */
void wport_free(struct wport *p);

/* [control] The wport owns @s; the first one that sends is the port's egress. */
void wport_add_sock(struct wport *p, struct sock *s);

/*
 * [worker] Whether a copy more can be sent: it will be accepted by the TX ring.
 */
static inline bool wport_has_room(const struct wport *p, const struct txq *q)
{
	return p->n_pending < txq_room(q) && p->n_pending < p->n_pending_max;
}

#endif
