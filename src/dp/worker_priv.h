/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker_priv: the body of struct worker, for the files that make up the
 * worker: worker.c (thread and loop), worker_cmd.c (commands), ingress.c
 * (receive and decide), copy.c (verdict to copies), egress.c (send, kick, reap).
 *
 * Everything here is the worker thread's, unless it says otherwise.
 */
#ifndef XB_DP_WORKER_PRIV_H
#define XB_DP_WORKER_PRIV_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/count.h"
#include "core/fwd.h"
#include "core/limits.h"
#include "dp/dp.h"
#include "dp/learnq.h"
#include "dp/pool.h"
#include "dp/rxq.h"
#include "dp/sock.h"
#include "dp/umem.h"
#include "dp/will.h"
#include "dp/worker.h"
#include "dp/wport.h"
#include "util/clock.h"
#include "xb_maps.h"

enum cmd_kind {
	CMD_PORT_ADD,
	CMD_PORT_RELEASE,
	CMD_PORT_FORGET,
	CMD_PORT_WAITING,
	CMD_FRAMES,
	CMD_LEAVE,
};

/* Who may touch struct worker_cmd. */
enum cmd_state {
	CMD_IDLE,    /* control */
	CMD_POSTED,  /* nobody; control may take it back */
	CMD_RUNNING, /* worker */
	CMD_DONE,    /* control */
};

struct worker_cmd {
	enum cmd_kind kind;
	struct wport *port;
	uint32_t n_waiting;
	struct dp_frame_sum sum;
};

/* One copy of the frame that is being distributed. */
struct copy {
	struct wport *port;
	bool tagged;
	bool host;
};

/* What the worker counts for dp_stats; written by the worker, read by any. */
struct worker_stats {
	uint64_t n_loops, n_polls, n_stalls, host_held, host_hold_expired, kicks;
};

struct worker {
	/* Hot. */
	struct worker_config cfg;
	struct pool *pool;
	struct count_port *count; /* [XB_MAX_PORTS] */
	const struct view *view;  /* of this round */
	uint64_t now_ns;
	uint64_t beat_ns;
	uint32_t n_rx, next_rx;
	uint32_t n_dirty;
	uint32_t n_open;
	uint32_t n_in_flight_ports; /* with frames not reaped, of the last round */
	uint32_t n_held;            /* host copies; atomic, read by control */
	uint64_t leave_by_ns;       /* hand over to the kernel, at the latest then; 0: no */
	uint32_t nap_shift;         /* back-off while frames are in flight and nothing happens */
	struct worker_stats stats;

	struct rxq_frame batch[WORKER_MAX_BATCH];
	uint16_t batch_slot[WORKER_MAX_BATCH];
	struct copy copy[XB_MAX_PORTS];
	struct wport *port[XB_MAX_PORTS]; /* by slot; NULL: no such egress */
	struct wport *dirty[XB_MAX_PORTS];
	struct wport *open[XB_MAX_PORTS]; /* all, released ones included */
	struct sock *rx[XB_MAX_PORTS * XB_MAX_QUEUES];
	struct pollfd kick_fd[XB_MAX_PORTS];

	/* Cold. */
	struct learnq learn;
	uint64_t learn_done; /* atomic, written by control */
	uint64_t *scratch;   /* bit set for the frame sum */
	struct will will;
	pthread_t thread;
	int epoll_fd; /* what ends a nap: wake_fd (data NULL) and the sockets (data struct sock) */
	int wake_fd;
	int done_fd;
	bool stop; /* atomic */
	struct worker_cmd cmd;
	int cmd_state; /* atomic, enum cmd_state */
};

/* [worker] Wakes the control thread. */
void worker_tell(struct worker *w);
/* [control] Wakes the worker. */
void worker_wake(struct worker *w);

/*
 * True once the beat of this round is so old that the gate is shut: the thread
 * was stopped since, and what it has in its hands is stale.
 */
static inline bool worker_is_late(const struct worker *w)
{
	return clock_diff(clock_now_ns(), w->beat_ns) > (int64_t)w->cfg.heartbeat_ns;
}

static inline void count_drop(struct worker *w, uint16_t slot, enum drop_reason reason, uint64_t n)
{
	count_add(&w->count[slot].drop[reason], n);
}

/* worker_cmd.c */

/* Carries out the command that waits, if one does. */
void cmd_serve(struct worker *w);
/* Where every frame is, from the records of the queues. */
void frames_sum(struct worker *w, struct dp_frame_sum *out);

/* ingress.c */

/* Takes frames from the RX rings, decides and queues the copies. Returns how many frames. */
uint32_t ingress_run(struct worker *w);
/* Drops all that the RX rings hold. */
void ingress_drop_stale(struct worker *w);
/* Gives the fill rings what they miss. */
void ingress_refill(struct worker *w);

/* copy.c */

/*
 * Makes and queues the copies of frame @frame, whose reference is the
 * caller's and is taken. @seq is the learn event of its source, 0 without.
 */
void copy_distribute(struct worker *w, uint32_t frame, struct frame *f, const struct verdict *r,
		     uint64_t seq);

/* egress.c */

/* Adds a copy with one reference of its own; the port has room. */
void egress_add(struct worker *w, struct wport *p, uint64_t addr, uint32_t len);
/* Queues the copies that were held and may go now; counts the ports that hold any. */
void egress_release_held(struct worker *w);
void egress_drop_held(struct worker *w);
/* Holds a copy for the host back; its reference goes along. */
void egress_hold(struct worker *w, struct wport *p, const struct hold_copy *c);
/* Hands all queued copies to the kernel and kicks it. */
void egress_flush(struct worker *w);
/* Takes back what the kernel is done with. Returns how many. */
uint32_t egress_reap(struct worker *w);
/* The port's kernel side said @err; after ENETDOWN and ENXIO it is not used any more. */
void egress_port_failed(struct worker *w, struct wport *p);

#endif
