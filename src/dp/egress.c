/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <poll.h>

#include "dp/worker_priv.h"

/* In copy mode one call sends 32 frames. */
#define KICK_FRAMES 32
#define KICK_ROUNDS 10
#define REAP_CHUNK  64

void egress_port_failed(struct worker *w, struct wport *p)
{
	for (uint32_t i = 0; i < p->n_socks; i++)
		__atomic_store_n(&p->sock[i]->dead, true, __ATOMIC_RELAXED);
	worker_tell(w);
}

void egress_add(struct worker *w, struct wport *p, uint64_t addr, uint32_t len)
{
	assert(!p->n_passed && p->n_pending < p->n_pending_max);
	p->pending[p->n_pending++] = (struct txq_frame){ .addr = addr, .len = len };
	if (!p->is_dirty) {
		p->is_dirty = true;
		w->dirty[w->n_dirty++] = p;
	}
}

/* A held copy goes on its way, or ends here. */
static void send_held(struct worker *w, struct wport *p, const struct hold_copy *c)
{
	enum drop_reason reason = DROP_NONE;

	if (!p->tx || sock_is_dead(p->tx))
		reason = DROP_NO_PORT;
	else if (!wport_has_room(p, &p->tx->txq))
		reason = DROP_TX_FULL;
	if (reason != DROP_NONE) {
		count_drop(w, p->slot, reason, 1);
		pool_put(w->pool, umem_frame(w->cfg.umem, c->addr));
		return;
	}
	egress_add(w, p, c->addr, c->len);
}

static void add_n_held(struct worker *w, int32_t n)
{
	__atomic_store_n(&w->n_held, w->n_held + (uint32_t)n, __ATOMIC_SEQ_CST);
}

void egress_hold(struct worker *w, struct wport *p, const struct hold_copy *c)
{
	struct hold_copy oldest;

	if (!hold_add(&p->hold, c)) {
		hold_pop_any(&p->hold, &oldest);
		add_n_held(w, -1);
		count_add(&w->stats.host_hold_expired, 1);
		send_held(w, p, &oldest);
		hold_add(&p->hold, c);
	}
	add_n_held(w, 1);
	count_add(&w->stats.host_held, 1);
}

void egress_release_held(struct worker *w)
{
	uint64_t done = __atomic_load_n(&w->learn_done, __ATOMIC_ACQUIRE);
	struct hold_copy c;
	bool expired;

	for (uint32_t i = 0; w->n_held && i < w->n_open; i++) {
		struct wport *p = w->open[i];

		while (hold_pop(&p->hold, done, w->now_ns, &c, &expired)) {
			add_n_held(w, -1);
			if (expired)
				count_add(&w->stats.host_hold_expired, 1);
			send_held(w, p, &c);
		}
	}
}

void egress_drop_held(struct worker *w)
{
	struct hold_copy c;

	for (uint32_t i = 0; w->n_held && i < w->n_open; i++) {
		struct wport *p = w->open[i];

		while (hold_pop_any(&p->hold, &c)) {
			add_n_held(w, -1);
			count_drop(w, p->slot, DROP_STALE, 1);
			pool_put(w->pool, umem_frame(w->cfg.umem, c.addr));
		}
	}
}

/* Puts up to @max copies on the TX ring. */
static void send_pending(struct worker *w, struct wport *p, uint32_t max)
{
	const struct txq_frame *v = p->pending + p->n_passed;
	struct count_port *c = &w->count[p->slot];
	uint32_t n_try = p->n_pending < max ? p->n_pending : max, n;
	uint64_t n_bytes = 0;

	if (!n_try)
		return;
	n = txq_send(&p->tx->txq, v, n_try);
	for (uint32_t i = 0; i < n; i++)
		n_bytes += v[i].len;
	count_add(&c->tx_frames, n);
	count_add(&c->tx_bytes, n_bytes);
	/* Room was checked before; what does not fit all the same ends here, counted. */
	for (uint32_t i = n; i < n_try; i++) {
		count_drop(w, p->slot, DROP_TX_FULL, 1);
		pool_put(w->pool, umem_frame(w->cfg.umem, v[i].addr));
	}
	p->n_pending -= n_try;
	p->n_passed = p->n_pending ? p->n_passed + n_try : 0;
}

/*
 * What the next kick will send. Not more: what is on the ring cannot be taken
 * back, and if this thread is stopped between two kicks it is late afterwards.
 */
static void send_chunks(struct worker *w)
{
	for (uint32_t i = 0; i < w->n_dirty; i++) {
		struct wport *p = w->dirty[i];

		if (p->tx->zero_copy)
			send_pending(w, p, UINT32_MAX);
		else if (!txq_n_unsent(&p->tx->txq))
			send_pending(w, p, KICK_FRAMES);
	}
}

/* One system call for one port. False if it did not help. */
static bool kick_one(struct worker *w, struct wport *p)
{
	uint32_t before = txq_n_unsent(&p->tx->txq);
	int err;

	/* A zero-copy driver says when it sleeps; in copy mode nothing is sent unasked. */
	if (p->tx->zero_copy && !xsk_ring_prod__needs_wakeup(&p->tx->txq.tx))
		return false;
	err = sock_kick(p->tx);
	count_add(&w->stats.kicks, 1);
	if (err == -ENETDOWN || err == -ENXIO || err == -EBADF) {
		egress_port_failed(w, p);
		return false;
	}
	return txq_n_unsent(&p->tx->txq) != before;
}

/* poll() kicks all copy-mode sockets in one call. */
static void kick_all(struct worker *w)
{
	nfds_t n = 0;

	for (uint32_t i = 0; i < w->n_dirty; i++) {
		struct sock *s = w->dirty[i]->tx;

		if (s->zero_copy)
			continue;
		w->kick_fd[n++] = (struct pollfd){ .fd = s->fd, .events = POLLOUT };
	}
	if (n) {
		(void)poll(w->kick_fd, n, 0);
		count_add(&w->stats.kicks, 1);
	}
}

static uint64_t n_unsent(const struct worker *w)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < w->n_dirty; i++)
		n += txq_n_unsent(&w->dirty[i]->tx->txq);
	return n;
}

static bool is_finished(const struct wport *p)
{
	return !p->n_pending && (sock_is_dead(p->tx) || !txq_n_unsent(&p->tx->txq));
}

/* Takes the ports off the list that the kernel has looked at. */
static void forget_finished(struct worker *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_dirty; i++) {
		struct wport *p = w->dirty[i];

		if (is_finished(p))
			p->is_dirty = false;
		else
			w->dirty[n++] = p;
	}
	w->n_dirty = n;
}

/*
 * One round of kicks. poll() serves all ports at once but does not tell why a
 * socket sent nothing: when nothing moved the ports are asked one by one.
 * False when nothing moves at all.
 */
static bool kick_round(struct worker *w)
{
	uint64_t before = n_unsent(w);
	bool moved = false;

	if (w->n_dirty > 1) {
		kick_all(w);
		moved = n_unsent(w) < before;
		forget_finished(w);
	}
	if (moved)
		return true;
	for (uint32_t i = 0; i < w->n_dirty; i++)
		moved |= kick_one(w, w->dirty[i]);
	forget_finished(w);
	return moved;
}

/* The worker was stopped in the middle of a batch: the kernel has taken over. */
static void drop_pending(struct worker *w)
{
	for (uint32_t i = 0; i < w->n_dirty; i++) {
		struct wport *p = w->dirty[i];

		count_drop(w, p->slot, DROP_STALE, p->n_pending);
		for (uint32_t k = 0; k < p->n_pending; k++)
			pool_put(w->pool,
				 umem_frame(w->cfg.umem, p->pending[p->n_passed + k].addr));
		p->n_pending = 0;
		p->n_passed = 0;
	}
}

void egress_flush(struct worker *w)
{
	for (uint32_t round = 0; w->n_dirty && round < KICK_ROUNDS; round++) {
		if (worker_is_late(w))
			drop_pending(w);
		send_chunks(w);
		if (!kick_round(w))
			break;
	}
	/* What the kernel does not take now waits on the rings for the next kick. */
	for (uint32_t i = 0; i < w->n_dirty; i++)
		send_pending(w, w->dirty[i], UINT32_MAX);
}

static uint32_t reap_port(struct worker *w, struct wport *p)
{
	uint32_t frame[REAP_CHUNK], n, n_total = 0;

	/* Bounded: the cap is at most what the completion ring holds. */
	while (n_total < p->tx->txq.cap) {
		n = txq_reap(&p->tx->txq, frame, REAP_CHUNK);
		for (uint32_t i = 0; i < n; i++)
			pool_put(w->pool, frame[i]);
		n_total += n;
		if (n < REAP_CHUNK)
			break;
	}
	return n_total;
}

uint32_t egress_reap(struct worker *w)
{
	uint32_t n = 0, n_left = 0;

	for (uint32_t i = 0; i < w->n_open; i++) {
		struct wport *p = w->open[i];

		if (p->is_released || !p->tx || !p->tx->txq.in_flight)
			continue;
		n += reap_port(w, p);
		if (p->tx->txq.in_flight && !sock_is_dead(p->tx))
			n_left++;
	}
	w->n_in_flight_ports = n_left;
	return n;
}
