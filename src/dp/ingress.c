/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <endian.h>
#include <string.h>

#include "core/csum.h"
#include "dp/worker_priv.h"

/*
 * Frames between asking for a table's memory and using it, see tests/bench/README.md:
 * more gains nothing, fewer wait when the table is not in a cache.
 */
#define PREFETCH_AHEAD 16

static uint8_t *data_of(const struct worker *w, const struct rxq_frame *rf)
{
	return w->cfg.umem->area + rf->addr;
}

/* Up to one batch, from all queues in turn, so that a busy one does not starve the others. */
static uint32_t collect(struct worker *w)
{
	uint32_t n = 0, n_rx = w->n_rx, q = w->next_rx;

	for (uint32_t i = 0; i < n_rx && n < w->cfg.batch; i++) {
		uint32_t got;

		if (q >= n_rx)
			q = 0;
		got = rxq_recv(&w->rx[q]->rxq, &w->batch[n], w->cfg.batch - n);
		for (uint32_t k = n; k < n + got; k++) {
			w->batch_slot[k] = w->rx[q]->slot;
			__builtin_prefetch(data_of(w, &w->batch[k]));
		}
		n += got;
		q++;
	}
	w->next_rx = q;
	return n;
}

static uint64_t load_be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/* Asks for what fwd_decide() will read of the FDB. A wrong guess costs nothing but time. */
static void prefetch(const struct worker *w, uint32_t i)
{
	const struct rxq_frame *rf = &w->batch[i];
	const struct view_port *p = w->view->port[w->batch_slot[i]];
	const struct view_bridge *b = p ? w->view->bridge[p->bridge] : NULL;
	const uint8_t *data = data_of(w, rf);
	uint64_t word, vid;

	if (!b || rf->len < FRAME_HDR_LEN + FRAME_TAG_LEN)
		return;
	word = load_be64(data + 8); /* ends with the EtherType and the TCI, if that is a tag */
	vid = p->pvid;
	if (b->tpid && (word >> 16 & 0xffff) == b->tpid && (word & 0xfff))
		vid = word & 0xfff;
	fdb_prefetch(b->fdb, vid << 48 | load_be64(data) >> 16);
	fdb_prefetch(b->fdb, vid << 48 | (load_be64(data + 4) & 0xffffffffffff));
}

/* The event's sequence number if the host's copy must wait for it, else 0. */
static uint64_t note_learned(struct worker *w, const struct verdict *r, const struct frame *f)
{
	struct dp_learn e = { .key = (uint64_t)r->vid << 48 | f->smac,
			      .bridge = r->bridge,
			      .port = r->in->slot,
			      .worker = (uint8_t)w->cfg.index };

	count_learned(&w->count[r->in->slot], r->learned);
	switch (r->learned) {
	case FDB_NEW:
		e.kind = DP_LEARN_NEW;
		return learnq_add(&w->learn, &e);
	case FDB_MOVED:
		e.kind = DP_LEARN_MOVED;
		return learnq_add(&w->learn, &e);
	case FDB_REFRESHED:
		e.kind = DP_LEARN_REFRESH;
		learnq_add(&w->learn, &e);
		return 0;
	default:
		return 0;
	}
}

/* True for a frame that came past the VLAN filter, whatever happened to it later. */
static bool passed_vlan(enum drop_reason reason)
{
	switch (reason) {
	case DROP_RUNT:
	case DROP_SOURCE:
	case DROP_RESERVED:
	case DROP_STATE:
	case DROP_VLAN_INGRESS:
	case DROP_VLAN_STATE:
	case DROP_DETACHED:
		return false;
	default:
		return true;
	}
}

static void count_vlan_rx(struct worker *w, const struct verdict *r)
{
	struct count_vlan *c = w->view->bridge[r->bridge]->count;

	if (!c)
		return;
	c += (size_t)w->cfg.index * VID_N + r->vid;
	count_add(&c->rx_frames, 1);
	count_add(&c->rx_bytes, r->count_len);
}

static void count_rx(struct worker *w, uint16_t slot, uint32_t len)
{
	count_add(&w->count[slot].rx_frames, 1);
	count_add(&w->count[slot].rx_bytes, len);
}

static void process(struct worker *w, uint32_t i)
{
	const struct rxq_frame *rf = &w->batch[i];
	uint16_t slot = w->batch_slot[i];
	const struct view_port *p = w->view->port[slot];
	struct frame f = { .data = data_of(w, rf),
			   .len = rf->len,
			   .headroom = umem_offset(w->cfg.umem, rf->addr) };
	struct verdict r;
	uint64_t seq;

	count_rx(w, slot, rf->len);
	if (p && (p->flags & VP_CSUM) && csum_complete(f.data, f.len) == CSUM_COMPLETED)
		count_add(&w->count[slot].csum_completed, 1);
	fwd_decide(w->view, slot, &f, w->now_ns, &r);
	if (passed_vlan(r.drop))
		count_vlan_rx(w, &r);
	seq = r.learned == FDB_SAME ? 0 : note_learned(w, &r, &f);
	if (r.drop != DROP_NONE) {
		count_drop(w, slot, r.drop, 1);
		pool_put(w->pool, rf->frame);
		return;
	}
	if (r.is_flood)
		count_add(&w->count[slot].rx_flooded, 1);
	copy_distribute(w, rf->frame, &f, &r, seq);
}

static void drop_batch(struct worker *w, uint32_t n, enum drop_reason reason)
{
	for (uint32_t i = 0; i < n; i++) {
		count_rx(w, w->batch_slot[i], w->batch[i].len);
		count_drop(w, w->batch_slot[i], reason, 1);
		pool_put(w->pool, w->batch[i].frame);
	}
}

uint32_t ingress_run(struct worker *w)
{
	uint32_t n = collect(w);

	if (!n)
		return 0;
	if (!w->view || worker_is_late(w)) {
		drop_batch(w, n, w->view ? DROP_STALE : DROP_DETACHED);
		return n;
	}
	for (uint32_t i = 0; i < n && i < PREFETCH_AHEAD; i++)
		prefetch(w, i);
	for (uint32_t i = 0; i < n; i++) {
		if (i + PREFETCH_AHEAD < n)
			prefetch(w, i + PREFETCH_AHEAD);
		process(w, i);
	}
	return n;
}

void ingress_drop_stale(struct worker *w)
{
	for (uint32_t q = 0; q < w->n_rx; q++) {
		struct rxq *rxq = &w->rx[q]->rxq;
		uint32_t n, n_left = rxq->rx.size;

		/* The gate is shut: what comes in meanwhile is nothing but what was on its way. */
		while (n_left) {
			n = rxq_recv(rxq, w->batch,
				     n_left < WORKER_MAX_BATCH ? n_left : WORKER_MAX_BATCH);
			if (!n)
				break;
			for (uint32_t i = 0; i < n; i++) {
				count_rx(w, w->rx[q]->slot, w->batch[i].len);
				pool_put(w->pool, w->batch[i].frame);
			}
			count_drop(w, w->rx[q]->slot, DROP_STALE, n);
			n_left -= n;
		}
	}
}

void ingress_refill(struct worker *w)
{
	for (uint32_t q = 0; q < w->n_rx; q++) {
		struct sock *s = w->rx[q];

		if (s->rxq.n_held < s->rxq.target)
			rxq_refill(&s->rxq, w->pool);
		if (s->zero_copy && xsk_ring_prod__needs_wakeup(&s->rxq.fill))
			sock_wake_rx(s);
	}
}
