/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dp: the data plane as the control thread sees it: one memory area for frames
 * (UMEM), one AF_XDP socket per (port, receive queue), the XDP program on each
 * port with its maps, the gate, and the worker threads.
 *
 * Everything here is called by the control thread, which owns `struct dp`.
 * Calls go down: dp never calls back; what happened is read with
 * dp_learn_read(), dp_port_info() and the counters. Nothing blocks longer than
 * stated at the function.
 *
 * What the kernel bridge does when xbridged is not there is the state that each
 * failure here leaves behind: a port whose set-up fails is on the kernel path.
 */
#ifndef XB_DP_DP_H
#define XB_DP_DP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/count.h"
#include "core/drop.h"
#include "core/limits.h"
#include "core/view.h"
#include "util/mac.h"

struct dp;

struct dp_config {
	uint32_t n_frames;                                     /* of the UMEM */
	uint32_t frame_size;                                   /* 2048 or 4096 bytes */
	uint32_t rx_ring, fill_ring, tx_ring, completion_ring; /* entries, powers of two, <= 8192 */
	uint32_t batch; /* frames that a worker takes at once, <= 256 */
	uint32_t n_workers;
	int worker_cpu[XB_MAX_WORKERS]; /* -1: not pinned */
	uint64_t heartbeat_ns;
	uint64_t control_heartbeat_ns; /* 0: not checked */
	const char *pin_dir;           /* on bpffs, "/sys/fs/bpf/xbridged" */
};

/*
 * Makes the UMEM, the maps, the sentinel and the workers; the gate stays shut.
 * -EBUSY: another daemon serves this network namespace. -EPERM, -ENOMEM (locked
 * memory), -EOPNOTSUPP (kernel without AF_XDP or BPF), ... with a sentence
 * that says what to do in @why (never NULL on failure, static or thread-local).
 */
int dp_open(const struct dp_config *cfg, struct dp **out, const char **why);

/*
 * Shuts the gate, keeps serving for 5 ms and more, drains what is in flight (at most
 * 1 s), checks the frame sum, stops the workers and closes all sockets. The XDP
 * programs stay attached and pass everything, unless @detach.
 */
void dp_close(struct dp *dp, bool detach);

/* Detaches and unpins what an earlier daemon left in this namespace. Number of links removed. */
int dp_cleanup(const char *pin_dir);

/*
 * To be called once, when the first plan has been carried out: detaches the
 * programs of ports that an earlier daemon had and that are not open now.
 */
void dp_sweep(struct dp *dp);

/* The gate of all bridges. Opened once the first view is published. */
void dp_gate_set(struct dp *dp, bool open);

/* At least every control_heartbeat_ns / 4. */
void dp_control_beat(struct dp *dp, uint64_t now_ns);

/* ---- ports ---- */

enum dp_mode { DP_MODE_AUTO, DP_MODE_ZERO_COPY, DP_MODE_COPY };

struct dp_port_config {
	uint16_t slot;
	uint32_t ifindex;
	char name[16];
	uint32_t n_rx_queues, n_tx_queues;
	uint32_t mtu;
	bool receive;      /* false: TX-only egress, no XDP program on the port */
	bool recover_tags; /* the device accelerates VLAN tags: device-bound program with the kfunc
			    */
	bool standalone;   /* fail-closed program and promiscuous mode held by us */
	enum dp_mode mode; /* auto: zero-copy, then native copy */
	struct xb_port_rules {
		uint32_t flags; /* enum xb_port_flag, bpf/xb_maps.h */
		uint16_t bridge;
	} rules;
};

struct dp_port_counters;

struct dp_port_info {
	bool open;
	bool receive;
	bool zero_copy;
	bool recovers_tags; /* the VLAN kfunc is in use */
	bool dead;          /* a socket said ENETDOWN: the port has gone or moved; close it */
	uint32_t n_queues;
	uint32_t prog_id; /* of the XDP program, 0 without */
	char note[96];    /* why not the better mode, "" if it is the best */
};

/*
 * Loads and attaches the program (pinned link; an existing pin of the same
 * ifindex and name is taken over without a gap) and opens the sockets. Frames
 * go to the worker at once when the gate is open and rules has XB_PORT_USER, so
 * publish a view that has the port first.
 * Errors: -EBUSY another program is attached; -EOPNOTSUPP driver or kernel
 * refuses XDP (why says which); -ENODEV; -ENOSPC no frames left; ...; the reason
 * for the user in @reason, a sentence in @why.
 */
int dp_port_open(struct dp *dp, const struct dp_port_config *cfg, enum path_reason *reason,
		 const char **why);

/*
 * Takes the port back: first its XSKMAP entries, so that frames pass to the
 * kernel at once, then what its rings still hold is forwarded (at most 5 ms) unless @gone,
 * then the sockets close and the program is detached. The frames return to the pool.
 * What was counted up to the end is in *@last, unless that is NULL; it is left
 * alone for a slot that is not open. If the worker does not answer, the next
 * dp_port_open() goes on with it.
 */
void dp_port_close(struct dp *dp, uint16_t slot, bool gone, struct dp_port_counters *last);

/* New rules for the program; take effect with the next frame. */
int dp_port_rules_set(struct dp *dp, uint16_t slot, const struct xb_port_rules *rules);

/* -ENOENT if the slot is not open. */
int dp_port_info(struct dp *dp, uint16_t slot, struct dp_port_info *out);

/* VLANs of the port that have a device of their own: pass. Replaces the whole set (VIDs). */
int dp_port_uppers_set(struct dp *dp, uint16_t slot, const uint16_t *vid, uint32_t n);

/* ---- bridges ---- */

struct dp_bridge_rules {
	/*
	 * enum xb_bridge_flag. XB_BRIDGE_SNOOPING leaves to the kernel what it
	 * learns groups from, and the view must know groups and queriers;
	 * while it may not, XB_BRIDGE_MCAST_PASS leaves all multicast.
	 */
	uint32_t flags;
	uint16_t tpid; /* host order, 0x8100 or 0x88a8 */
};

int dp_bridge_rules_set(struct dp *dp, uint16_t bridge, const struct dp_bridge_rules *rules);

/* Addresses of the host, passed by the program. Adding one twice is fine, as is deleting none. */
int dp_local_add(struct dp *dp, uint16_t bridge, const struct mac *mac);
int dp_local_del(struct dp *dp, uint16_t bridge, const struct mac *mac);

/*
 * The host port of a bridge: attaches the host-copy program to tc ingress of
 * @hq_ifindex, which sends every frame into @bridge_ifindex as received. The TX
 * side is a port opened with receive = false on the other end of the pair.
 */
int dp_host_attach(struct dp *dp, uint32_t hq_ifindex, uint32_t bridge_ifindex, const char **why);

/* ---- views ---- */

/*
 * Workers use @v from their next batch on. Returns after every worker has left
 * the old view (a grace period: normally one batch, at most heartbeat/4), which
 * is then freed. dp owns @v.
 */
void dp_publish(struct dp *dp, struct view *v);
const struct view *dp_view(const struct dp *dp);

/* ---- what workers learned ---- */

enum dp_learn_kind { DP_LEARN_NEW, DP_LEARN_MOVED, DP_LEARN_REFRESH };

struct dp_learn {
	uint64_t seq; /* counts up per worker; see dp_learn_done() */
	uint64_t key; /* fdb_key(): vid << 48 | MAC */
	uint16_t bridge;
	uint16_t port; /* slot */
	uint8_t kind;
	uint8_t worker;
};

/* Up to @n events, oldest first. Returns how many. Bounded rings; what did not fit is counted. */
uint32_t dp_learn_read(struct dp *dp, struct dp_learn *v, uint32_t n);

/*
 * The kernel knows all stations up to @seq of @worker: host copies that waited
 * for them may go.
 */
void dp_learn_done(struct dp *dp, uint8_t worker, uint64_t seq);

/* Readable (eventfd, level) while learn events wait or a worker has news (a dead socket). */
int dp_event_fd(const struct dp *dp);

/* ---- numbers ---- */

struct dp_port_counters {
	struct count_port user; /* sum over workers */
	uint64_t redirected;    /* by the XDP program */
	uint64_t dropped_standalone;
	uint64_t punt[PUNT_N];
	/* AF_XDP statistics of the kernel (XDP_STATISTICS), summed over the sockets. */
	uint64_t xsk_rx_dropped, xsk_rx_ring_full, xsk_fill_empty, xsk_tx_invalid, xsk_tx_empty;
	uint64_t tx_in_flight;
};

int dp_port_counters(struct dp *dp, uint16_t slot, struct dp_port_counters *out);

/* Where each frame of the UMEM is: pool + fill + batch + tx == all. */
struct dp_frame_sum {
	uint64_t all, pool, fill, batch,
		tx; /* fill: fill and RX rings; batch: with a worker, held host copies included */
};

/* Asks the workers between two batches; false if one did not answer within 100 ms. */
bool dp_frames(struct dp *dp, struct dp_frame_sum *out);

struct dp_stats {
	uint64_t n_loops, n_polls;  /* rounds of the workers, those that slept */
	uint64_t n_stalls;          /* heartbeats missed */
	uint64_t host_held;         /* host copies that waited for the kernel to learn */
	uint64_t host_hold_expired; /* of these, sent without waiting any longer */
	uint64_t learn_lost;        /* learn events that found the ring full */
	uint64_t kicks;             /* system calls to send */
};

void dp_stats_read(struct dp *dp, struct dp_stats *out);

#endif
