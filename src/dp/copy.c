/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "dp/worker_priv.h"

/* The two forms in which the copies of one frame leave. */
enum form { FORM_UNTAGGED, FORM_TAGGED, FORM_N };

struct forms {
	uint32_t n[FORM_N]; /* copies that want it */
	struct frame *frame[FORM_N];
	uint32_t index[FORM_N]; /* UMEM frame */
	enum drop_reason drop[FORM_N];
};

/*
 * Whether a copy for @d can be sent; if so it is put down in w->copy. A copy
 * that is for no one (the way back to the ingress port) is no drop.
 */
static enum drop_reason admit(struct worker *w, const struct verdict *r, const struct flood_dst *d,
			      uint32_t *n)
{
	enum drop_reason reason = fwd_admit(r, d);
	struct wport *p = w->port[d->port];

	if (reason != DROP_NONE)
		return reason;
	if (!p || !p->tx || sock_is_dead(p->tx)) {
		count_drop(w, d->port, DROP_NO_PORT, 1);
		return DROP_NONE;
	}
	if (!wport_has_room(p, &p->tx->txq)) {
		count_drop(w, d->port, DROP_TX_FULL, 1);
		return DROP_NONE;
	}
	w->copy[(*n)++] = (struct copy){ .port = p,
					 .tagged = fwd_is_tagged(r, d),
					 .host = d->flags & FLOOD_HOST };
	return DROP_NONE;
}

/* Fills w->copy; returns how many. What nobody takes is counted at the ingress port. */
static uint32_t collect(struct worker *w, const struct verdict *r)
{
	enum drop_reason first = DROP_NONE;
	uint32_t n = 0, n_refused = 0;

	if (r->refused != DROP_NONE)
		count_drop(w, r->refused_port, r->refused, 1);
	for (uint32_t i = 0; i < r->n; i++) {
		enum drop_reason reason = admit(w, r, &r->dst[i], &n);

		if (reason == DROP_NONE)
			continue;
		n_refused++;
		if (first == DROP_NONE)
			first = reason;
		/* One of several copies: the others may go. */
		if (r->n > 1 && reason != DROP_SAME_PORT)
			count_drop(w, r->dst[i].port, reason, 1);
	}
	if (n_refused == r->n)
		count_drop(w, r->in->slot, r->is_flood ? DROP_NO_MEMBER : first, 1);
	return n;
}

/*
 * The form that most copies want is made in place, the other one in a frame of
 * its own: written first, because an untagged frame has lost its priority.
 */
static void second_form(struct worker *w, struct forms *fs, enum form first, struct frame *second)
{
	const struct umem *u = w->cfg.umem;
	const struct frame *f = fs->frame[first];
	enum form other = first == FORM_TAGGED ? FORM_UNTAGGED : FORM_TAGGED;
	uint64_t offset = (uint64_t)(f->data - u->area) & (u->frame_size - 1);

	if (!pool_get(w->pool, &fs->index[other], 1)) {
		fs->drop[other] = DROP_NO_FRAME;
		return;
	}
	*second = *f;
	second->data = u->area + umem_addr(u, fs->index[other]) + offset;
	memcpy(second->data, f->data, f->len);
	fs->frame[other] = second;
}

static void make_forms(struct worker *w, const struct verdict *r, struct forms *fs, struct frame *f,
		       struct frame *second)
{
	enum form first = fs->n[FORM_TAGGED] > fs->n[FORM_UNTAGGED] ? FORM_TAGGED : FORM_UNTAGGED;

	fs->frame[first] = f;
	if (fs->n[FORM_TAGGED] && fs->n[FORM_UNTAGGED])
		second_form(w, fs, first, second);
	for (int i = 0; i < FORM_N; i++) {
		if (fs->frame[i] && fwd_set_form(r, fs->frame[i], i == FORM_TAGGED))
			fs->drop[i] = DROP_NO_ROOM;
	}
}

/* A copy for the host waits behind its station's learn event and behind others that wait. */
static bool must_wait(const struct worker *w, const struct wport *p, uint64_t seq)
{
	return p->hold.n || seq > __atomic_load_n(&w->learn_done, __ATOMIC_ACQUIRE);
}

static void queue_copy(struct worker *w, const struct copy *c, const struct frame *f,
		       uint32_t index, uint64_t seq)
{
	uint64_t addr = (uint64_t)(f->data - w->cfg.umem->area);

	pool_share(w->pool, index, 1);
	if (c->host && must_wait(w, c->port, seq))
		egress_hold(
			w, c->port,
			&(struct hold_copy){
				.addr = addr, .len = f->len, .seq = seq, .since_ns = w->now_ns });
	else
		egress_add(w, c->port, addr, f->len);
}

static void count_vlan_tx(struct worker *w, const struct verdict *r, uint32_t n)
{
	struct count_vlan *c = w->view->bridge[r->bridge]->count;

	if (!c)
		return;
	c += (size_t)w->cfg.index * VID_N + r->vid;
	count_add(&c->tx_frames, n);
	count_add(&c->tx_bytes, (uint64_t)n * r->count_len);
}

void copy_distribute(struct worker *w, uint32_t frame, struct frame *f, const struct verdict *r,
		     uint64_t seq)
{
	uint32_t n = collect(w, r), n_sent = 0;
	struct forms fs = { .index = { frame, frame } };
	struct frame second;

	for (uint32_t i = 0; i < n; i++)
		fs.n[w->copy[i].tagged ? FORM_TAGGED : FORM_UNTAGGED]++;
	if (n)
		make_forms(w, r, &fs, f, &second);
	for (uint32_t i = 0; i < n; i++) {
		const struct copy *c = &w->copy[i];
		enum form form = c->tagged ? FORM_TAGGED : FORM_UNTAGGED;

		if (fs.drop[form] != DROP_NONE) {
			count_drop(w, c->port->slot, fs.drop[form], 1);
			continue;
		}
		queue_copy(w, c, fs.frame[form], fs.index[form], seq);
		n_sent++;
	}
	if (n_sent)
		count_vlan_tx(w, r, n_sent);
	/* What the copies did not take goes back at once. */
	for (int i = 0; i < FORM_N; i++) {
		if (fs.index[i] != frame)
			pool_put(w->pool, fs.index[i]);
	}
	pool_put(w->pool, frame);
}
