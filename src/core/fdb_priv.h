/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdb_priv: what fdb.c, fdb_grow.c and fdb_walk.c share. Nobody else includes it.
 *
 * Locks are taken in one order: a bucket of a table, then one of the next.
 */
#ifndef XB_CORE_FDB_PRIV_H
#define XB_CORE_FDB_PRIV_H

#include <urcu/arch.h>

#include "core/fdb.h"

/*
 * Turns that a worker waits for a bucket, of some 50 ns at most: whoever keeps a
 * lock longer is not running, and not worth waiting for.
 */
#define FDB_PATIENCE  100U
#define FDB_FOREVER   UINT32_MAX /* the control thread waits for workers, who are short */
#define FDB_HELP      2          /* buckets that a writer carries over beside its own */
#define FDB_CHAIN_MAX ((FDB_CHAIN + 1) * FDB_SLOTS)

/* A locked chain that decides about a hash. */
struct fdb_place {
	struct fdb_table *t;
	struct fdb_bucket *b; /* home */
};

/* False if the bucket was still locked after @patience turns. */
static inline bool fdb_lock(struct fdb_bucket *b, uint32_t patience)
{
	while (atomic_fetch_or_explicit(&b->ctl, FDB_CTL_LOCK, memory_order_acquire) &
	       FDB_CTL_LOCK) {
		while (atomic_load_explicit(&b->ctl, memory_order_relaxed) & FDB_CTL_LOCK) {
			if (patience != FDB_FOREVER && !patience--)
				return false;
			caa_cpu_relax();
		}
	}
	return true;
}

/* @ctl: 0, or FDB_CTL_MOVED. Others only set the lock bit, so a plain store will do. */
static inline void fdb_unlock(struct fdb_bucket *b, uint32_t ctl)
{
	atomic_store_explicit(&b->ctl, ctl, memory_order_release);
}

static inline uint64_t fdb_units(uint64_t ns)
{
	return ns >> FDB_SEEN_SHIFT;
}

static inline void fdb_to_entry(uint64_t key, uint64_t v, struct fdb_entry *e)
{
	*e = (struct fdb_entry){
		.mac = mac_from_u64(key & ((1ULL << 48) - 1)),
		.vid = key >> 48 & (VID_N - 1),
		.port = FDB_V_TO_PORT(v),
		.flags = FDB_V_TO_FLAGS(v),
		.seen_ns = (v & FDB_V_SEEN) << FDB_SEEN_SHIFT,
	};
}

/* fdb.c: the only way a value changes or ends; the bucket is locked. Keeps the counts. */
void fdb_set_value(struct fdb *f, struct fdb_slot *s, uint64_t v);
/* fdb.c: a place for a key that has none, with its value; NULL: no room. @kept: may use all. */
struct fdb_slot *fdb_slot_take(struct fdb_place p, uint64_t key, uint64_t value, bool kept);
/* fdb.c: locks the chain that decides about @hash; false after @patience turns. */
bool fdb_place_lock(const struct fdb *f, uint32_t hash, uint32_t patience, struct fdb_place *out);

/* [control] The same, as long as it takes. */
static inline void fdb_place_hold(const struct fdb *f, uint32_t hash, struct fdb_place *out)
{
	while (!fdb_place_lock(f, hash, FDB_FOREVER, out))
		;
}

/* fdb_grow.c */
struct fdb_table *fdb_table_new(const struct fdb *f, uint32_t n_buckets);
void fdb_table_free(const struct fdb *f, struct fdb_table *t);
/* Makes @n bytes from @at present, or what there is: nobody else waits for the kernel there. */
uint64_t fdb_table_touch(struct fdb_table *t, uint64_t at, uint64_t n);
/* [control] Begins a resize that is due, or goes on with it, by what one fdb_add() may do. */
void fdb_grow_step(struct fdb *f);
/* Carries the home of @hash and a few others over, if a resize is under way; waits for nobody. */
void fdb_help(struct fdb *f, uint32_t hash);
/* [control] Begins to use a bigger table at once, pages present or not. -ENOSPC: at the greatest
 * size, or under way; -ENOMEM. */
int fdb_grow_now(struct fdb *f);
/* [control] Ends a resize that has nothing left to carry. */
void fdb_finish(struct fdb *f);

#endif
