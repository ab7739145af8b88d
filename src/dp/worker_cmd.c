/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "dp/worker_priv.h"
#include "util/bitset.h"
#include "util/clock.h"

#define CALL_MS   1000
#define FRAMES_MS 100
#define LEAVE_NS  (5 * NSEC_PER_MSEC)

/* ---- worker ---- */

/* An eighth of what is left of the half of the frames that is for receiving. */
static uint32_t share_of_rest(const struct worker *w)
{
	uint32_t half = w->cfg.n_frames / 2, n_given = 0;

	for (uint32_t i = 0; i < w->n_rx; i++)
		n_given += w->rx[i]->rxq.target;
	return n_given < half ? (half - n_given) / 8 : 0;
}

static void bound_target(const struct worker *w, struct rxq *q)
{
	uint32_t fair = w->cfg.n_frames / 2 / w->n_rx;

	if (q->target > fair)
		q->target = fair;
	if (q->target > w->cfg.fill_ring)
		q->target = w->cfg.fill_ring;
}

/*
 * What a fill ring has cannot be taken back, so a new queue gets a part of what
 * the others have left, at least the minimum: the first ones do not take it
 * all. As ports come, a queue that has more than its fair share shrinks by
 * being refilled later.
 */
static void share_frames(struct worker *w)
{
	for (uint32_t i = 0; i < w->n_rx; i++) {
		struct rxq *q = &w->rx[i]->rxq;

		if (!q->target) {
			q->target = share_of_rest(w);
			if (q->target < WORKER_MIN_FILL)
				q->target = WORKER_MIN_FILL;
		}
		bound_target(w, q);
	}
}

/* A port has gone: the others may have more. */
static void share_again(struct worker *w)
{
	for (uint32_t i = 0; i < w->n_rx; i++) {
		struct rxq *q = &w->rx[i]->rxq;

		q->target += share_of_rest(w);
		bound_target(w, q);
	}
}

static void list_rx(struct worker *w)
{
	w->n_rx = 0;
	for (uint32_t i = 0; i < w->n_open; i++) {
		struct wport *p = w->open[i];

		for (uint32_t k = 0; !p->is_released && k < p->n_socks; k++) {
			if (!p->sock[k]->receives)
				continue;
			w->rx[w->n_rx++] = p->sock[k];
		}
	}
	share_frames(w);
}

/* Frames on the sockets that receive end the worker's nap, or no longer do. */
static void watch(struct worker *w, const struct wport *p, int op)
{
	for (uint32_t i = 0; i < p->n_socks; i++) {
		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = p->sock[i] };

		/* A failure costs time, not frames: the worker looks at all rings anyway. */
		if (p->sock[i]->receives)
			(void)epoll_ctl(w->epoll_fd, op, p->sock[i]->fd, &ev);
	}
}

static void port_add(struct worker *w, struct wport *p)
{
	assert(w->n_open < XB_MAX_PORTS && !w->port[p->slot]);
	w->open[w->n_open++] = p;
	w->port[p->slot] = p;
	for (size_t i = 0; i < sizeof(struct count_port) / sizeof(uint64_t); i++)
		__atomic_store_n((uint64_t *)&w->count[p->slot] + i, 0, __ATOMIC_RELAXED);
	list_rx(w);
	watch(w, p, EPOLL_CTL_ADD);
	ingress_refill(w);
}

static void port_release(struct worker *w, struct wport *p)
{
	struct hold_copy c;
	uint32_t n = 0;

	while (hold_pop_any(&p->hold, &c)) {
		__atomic_store_n(&w->n_held, w->n_held - 1, __ATOMIC_SEQ_CST);
		count_drop(w, p->slot, DROP_DETACHED, 1);
		pool_put(w->pool, umem_frame(w->cfg.umem, c.addr));
	}
	for (uint32_t i = 0; i < w->n_dirty; i++) {
		if (w->dirty[i] != p)
			w->dirty[n++] = w->dirty[i];
	}
	w->n_dirty = n;
	p->is_dirty = false;
	p->is_released = true;
	if (w->port[p->slot] == p)
		w->port[p->slot] = NULL;
	watch(w, p, EPOLL_CTL_DEL);
	list_rx(w);
}

/* The socket is closed: the kernel has forgotten these frames. */
static void take_back(struct worker *w, uint64_t *held)
{
	for (uint32_t i = 0; i < bitset_words(w->cfg.umem->n_frames); i++) {
		for (uint64_t word = held[i]; word; word &= word - 1)
			pool_put(w->pool, i * 64 + (uint32_t)__builtin_ctzll(word));
		held[i] = 0;
	}
}

static void port_forget(struct worker *w, struct wport *p)
{
	uint32_t n = 0;

	assert(p->is_released);
	for (uint32_t i = 0; i < p->n_socks; i++) {
		take_back(w, p->sock[i]->rxq.held);
		take_back(w, p->sock[i]->txq.held);
	}
	for (uint32_t i = 0; i < w->n_open; i++) {
		if (w->open[i] != p)
			w->open[n++] = w->open[i];
	}
	w->n_open = n;
	share_again(w);
}

static uint32_t port_waiting(const struct wport *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_socks; i++) {
		if (p->sock[i]->receives)
			n += rxq_n_waiting(&p->sock[i]->rxq);
	}
	return n;
}

/* Held copies whose frame is in no TX ring as well; marks what it counts. */
static uint32_t held_sum(struct worker *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_open; i++) {
		const struct hold *h = &w->open[i]->hold;

		for (uint32_t k = 0; k < h->n; k++) {
			uint32_t frame =
				umem_frame(w->cfg.umem, h->copy[(h->head + k) % HOLD_SIZE].addr);

			if (bitset_test(w->scratch, frame))
				continue;
			bitset_set(w->scratch, frame);
			n++;
		}
	}
	return n;
}

void frames_sum(struct worker *w, struct dp_frame_sum *out)
{
	size_t n_words = bitset_words(w->cfg.umem->n_frames);

	*out = (struct dp_frame_sum){ .all = w->cfg.n_frames, .pool = w->pool->n_free };
	memset(w->scratch, 0, n_words * sizeof(*w->scratch));
	for (uint32_t i = 0; i < w->n_open; i++) {
		const struct wport *p = w->open[i];

		for (uint32_t k = 0; k < p->n_socks; k++) {
			out->fill += bitset_count(p->sock[k]->rxq.held, n_words);
			if (!p->sock[k]->sends)
				continue;
			for (size_t word = 0; word < n_words; word++)
				w->scratch[word] |= p->sock[k]->txq.held[word];
		}
	}
	out->tx = bitset_count(w->scratch, n_words);
	out->batch = held_sum(w);
}

void cmd_serve(struct worker *w)
{
	int expected = CMD_POSTED;
	struct worker_cmd *c = &w->cmd;
	const uint64_t one = 1;

	if (__atomic_load_n(&w->cmd_state, __ATOMIC_RELAXED) != CMD_POSTED ||
	    !__atomic_compare_exchange_n(&w->cmd_state, &expected, CMD_RUNNING, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	switch (c->kind) {
	case CMD_PORT_ADD:
		port_add(w, c->port);
		break;
	case CMD_PORT_RELEASE:
		port_release(w, c->port);
		break;
	case CMD_PORT_FORGET:
		port_forget(w, c->port);
		break;
	case CMD_PORT_WAITING:
		c->n_waiting = port_waiting(c->port);
		break;
	case CMD_FRAMES:
		frames_sum(w, &c->sum);
		break;
	case CMD_LEAVE:
		w->leave_by_ns = w->now_ns + LEAVE_NS;
		break;
	}
	__atomic_store_n(&w->cmd_state, CMD_DONE, __ATOMIC_RELEASE);
	(void)!write(w->done_fd, &one, sizeof(one));
}

/* ---- control ---- */

static bool is_done(const struct worker *w)
{
	return __atomic_load_n(&w->cmd_state, __ATOMIC_ACQUIRE) == CMD_DONE;
}

/* Waits until the command is done, at most @ms. */
static bool wait_done(struct worker *w, uint64_t ms)
{
	uint64_t end_ns = clock_now_ns() + ms * NSEC_PER_MSEC, count;
	struct pollfd fd = { .fd = w->done_fd, .events = POLLIN };

	while (!is_done(w)) {
		int64_t left_ns = clock_diff(end_ns, clock_now_ns());

		if (left_ns <= 0)
			return false;
		(void)poll(&fd, 1, (int)(left_ns / (int64_t)NSEC_PER_MSEC) + 1);
		(void)!read(w->done_fd, &count, sizeof(count));
	}
	return true;
}

/* On success the command's results are in w->cmd. */
static int call(struct worker *w, enum cmd_kind kind, struct wport *p, uint64_t ms)
{
	int expected = CMD_POSTED;
	uint64_t count;

	/* An earlier one that took too long may be done by now. */
	if (is_done(w))
		__atomic_store_n(&w->cmd_state, CMD_IDLE, __ATOMIC_RELAXED);
	if (__atomic_load_n(&w->cmd_state, __ATOMIC_ACQUIRE) != CMD_IDLE)
		return -EBUSY;
	(void)!read(w->done_fd, &count, sizeof(count));
	w->cmd = (struct worker_cmd){ .kind = kind, .port = p };
	__atomic_store_n(&w->cmd_state, CMD_POSTED, __ATOMIC_RELEASE);
	worker_wake(w);
	if (!wait_done(w, ms)) {
		if (__atomic_compare_exchange_n(&w->cmd_state, &expected, CMD_IDLE, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return -ETIMEDOUT;
		if (!wait_done(w, CALL_MS))
			return -ETIMEDOUT;
	}
	__atomic_store_n(&w->cmd_state, CMD_IDLE, __ATOMIC_RELAXED);
	return 0;
}

int worker_port_add(struct worker *w, struct wport *p)
{
	return call(w, CMD_PORT_ADD, p, CALL_MS);
}

int worker_port_release(struct worker *w, struct wport *p)
{
	return call(w, CMD_PORT_RELEASE, p, CALL_MS);
}

int worker_port_forget(struct worker *w, struct wport *p)
{
	return call(w, CMD_PORT_FORGET, p, CALL_MS);
}

int worker_port_waiting(struct worker *w, struct wport *p, uint32_t *n)
{
	int err = call(w, CMD_PORT_WAITING, p, CALL_MS);

	if (!err)
		*n = w->cmd.n_waiting;
	return err;
}

int worker_frames(struct worker *w, struct dp_frame_sum *out)
{
	int err = call(w, CMD_FRAMES, NULL, FRAMES_MS);

	if (!err)
		*out = w->cmd.sum;
	return err;
}

static bool has_left(const struct worker *w)
{
	const uint32_t *word = &w->cfg.gate->worker[w->cfg.index];

	return __atomic_load_n(word, __ATOMIC_ACQUIRE) & XB_WORKER_GONE;
}

int worker_leave(struct worker *w)
{
	const struct timespec nap = { .tv_nsec = NSEC_PER_MSEC };
	int err = call(w, CMD_LEAVE, NULL, CALL_MS);

	for (uint32_t i = 0; !err && !has_left(w); i++) {
		if (i == FRAMES_MS)
			return -ETIMEDOUT;
		nanosleep(&nap, NULL);
	}
	return err;
}
