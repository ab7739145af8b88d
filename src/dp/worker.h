/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker: one data-plane thread: it receives, decides, copies, sends and
 * reaps for its queues, beats in the gate, and owns its part of the frames.
 *
 * Functions marked [control] are called by the control thread alone; those
 * that change what the worker uses are commands, which it carries out between
 * two batches. A command that was not carried out within a second returns
 * -ETIMEDOUT, and nothing was changed; if the worker had begun with it, later
 * commands return -EBUSY until it is done.
 *
 * At any time: pool + fill + batch + tx == all (struct dp_frame_sum).
 */
#ifndef XB_DP_WORKER_H
#define XB_DP_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "dp/dp.h"

struct umem;
struct view;
struct worker;
struct wport;
struct xb_gate;

#define WORKER_MAX_BATCH 256
/* An RX queue is not opened when its share of the frames is smaller. */
#define WORKER_MIN_FILL 64

struct worker_config {
	uint32_t index;
	int cpu; /* -1: not pinned */
	uint32_t batch;
	uint32_t fill_ring;
	uint64_t heartbeat_ns;
	struct xb_gate *gate;
	struct umem *umem;
	uint32_t first_frame, n_frames; /* its own frames of the UMEM */
	const struct view *const *view; /* published with rcu_assign_pointer(); may point to NULL */
	int event_fd;                   /* eventfd, written when there is news */
};

/* [control] Starts the thread, without ports. */
int worker_start(const struct worker_config *cfg, struct worker **out);
/*
 * [control] From now on, and for good, the frames of its queues pass to the
 * kernel; it goes on serving what it has. The change is made at a moment when no
 * frame waits, so that none overtakes another, if there is one within 5 ms.
 */
int worker_leave(struct worker *w);
/*
 * [control] Ends the thread. -ETIMEDOUT if it did not end within a second:
 * then nothing was freed. The ports are the caller's to free, and what they
 * hold is forgotten.
 */
int worker_stop(struct worker *w);
/* [control] After worker_stop(). */
void worker_free(struct worker *w);

/* [control] The worker uses the sockets of @p, fills them and resets the slot's counters. */
int worker_port_add(struct worker *w, struct wport *p);
/* [control] The worker lets the sockets of @p go; their frames stay accounted there. */
int worker_port_release(struct worker *w, struct wport *p);
/* [control] Takes all frames back that @p, released and closed, still had; then forgets it. */
int worker_port_forget(struct worker *w, struct wport *p);
/* [control] Frames that wait in the RX rings of @p. */
int worker_port_waiting(struct worker *w, struct wport *p, uint32_t *n);
/* [control] Waits at most 100 ms. */
int worker_frames(struct worker *w, struct dp_frame_sum *out);

/* [control] See dp_learn_read(), dp_learn_done(). */
uint32_t worker_learn_read(struct worker *w, struct dp_learn *v, uint32_t n);
bool worker_learn_waits(const struct worker *w);
void worker_learn_done(struct worker *w, uint64_t seq);

/* [any] Its number, which the gate knows it by. */
uint32_t worker_index(const struct worker *w);

/* [any] Counters of port slot @slot. */
const struct count_port *worker_count(const struct worker *w, uint16_t slot);
/* [any] Adds to @to. */
void worker_stats_add(const struct worker *w, struct dp_stats *to);

#endif
