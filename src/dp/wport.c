/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/wport.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "dp/sock.h"

int wport_new(struct wport **out, uint16_t slot, uint32_t batch)
{
	struct wport *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->slot = slot;
	p->n_pending_max = batch + HOLD_SIZE;
	p->pending = calloc(p->n_pending_max, sizeof(*p->pending));
	if (!p->pending) {
		free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

void wport_free(struct wport *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_socks; i++)
		sock_free(p->sock[i]);
	free(p->pending);
	free(p);
}

void wport_add_sock(struct wport *p, struct sock *s)
{
	assert(p->n_socks < XB_MAX_QUEUES);
	p->sock[p->n_socks++] = s;
	if (!p->tx && s->sends)
		p->tx = s;
}
