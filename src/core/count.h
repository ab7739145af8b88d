/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count: counters of the user path.
 *
 * Each worker writes its own copy; the control thread sums the copies. A
 * counter has one writing thread, so adding is a plain load and store; both
 * sides use relaxed atomics to be exact and free of data races.
 */
#ifndef XB_CORE_COUNT_H
#define XB_CORE_COUNT_H

#include <stdint.h>

#include "core/drop.h"
#include "core/fdb.h"

struct count_port {
	uint64_t rx_frames, rx_bytes; /* received by the socket */
	uint64_t tx_frames, tx_bytes; /* handed to the port's TX ring */
	uint64_t rx_flooded;          /* received and flooded */
	uint64_t csum_completed;      /* checksums completed at ingress */
	uint64_t learned, moved;      /* stations learned on, moved to this port */
	uint64_t own_source;          /* source address was the host's own */
	uint64_t fdb_full, fdb_limit; /* stations that could not be learned */
	uint64_t fdb_busy;            /* that a later frame will have to learn or move */
	uint64_t fdb_sticky;          /* of stations that stay where they are */
	uint64_t drop[DROP_N];        /* frames at ingress, copies at egress */
};

/* Of one VLAN of a bridge: after ingress filtering, and each copy sent. */
struct count_vlan {
	uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes;
};

static inline void count_add(uint64_t *c, uint64_t n)
{
	__atomic_store_n(c, __atomic_load_n(c, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

static inline uint64_t count_read(const uint64_t *c)
{
	return __atomic_load_n(c, __ATOMIC_RELAXED);
}

/* Counts what became of a frame's source address; [worker] */
void count_learned(struct count_port *c, enum fdb_learned what);

/* Adds every field of @from, which a worker may be writing, to @to. */
void count_port_sum(struct count_port *to, const struct count_port *from);
void count_vlan_sum(struct count_vlan *to, const struct count_vlan *from);

#endif
