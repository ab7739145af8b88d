/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdb_table: how an fdb lies in memory, and the lookup, which is inline.
 * Belongs to fdb.h; nobody but fdb*.c touches a field.
 *
 * A bucket is one cache line: a control word, a link to an overflow bucket of
 * the same table, three places. The home bucket of a key is given by the
 * upper bits of its hash, so that buckets in order are hashes in order,
 * whatever the size of the table. The control word of the home bucket is the
 * lock of the chain.
 *
 * Why a lookup without a lock is right:
 *
 * 1. The key of a place is written once in the life of a table (0, then the
 *    key), after its value. An entry is removed by a value without FDB_V_LIVE
 *    and comes back, if it does, to the same place. So a place whose key
 *    matches holds a value of that key and no other: places are not reused,
 *    hence there is nothing to check again (no ABA). Other keys get the place
 *    only in another table, and a table is freed after a grace period.
 * 2. A key is in one place of a table. A bucket is linked to another when all its
 *    places are filled, so one without a link ends the search.
 * 3. A bucket is carried over to the next table under its lock: first all
 *    its entries are written there, then FDB_CTL_MOVED is set. From then on the
 *    old bucket never changes, and writers go to the next table. A reader that
 *    sees the mark (acquire) sees the copies, and goes there. A reader that does
 *    not see it reads what the bucket holds now or, if it is carried over at
 *    this moment, what it held at that moment: either was the truth
 *    during the call. So neither a hit nor a miss has to be checked again.
 * 4. The copies that were written for a bucket not yet marked are invisible:
 *    whoever comes to the next table comes for a key whose old home is marked.
 */
#ifndef XB_CORE_FDB_TABLE_H
#define XB_CORE_FDB_TABLE_H

#include <stdatomic.h>

#include "core/fdb.h"

#define FDB_SLOTS 3
#define FDB_CHAIN 8 /* overflow buckets of one home, at most */

_Static_assert(FDB_SLOTS == 3, "fdb_slot_find() computes which of three");

#define FDB_CTL_LOCK  1U
#define FDB_CTL_MOVED 2U

#define FDB_KEY_USED (1ULL << 63) /* so that no key is 0 */

/* value: port 11 bits, live, learned, flags 7 bits, seen 44 bits */
#define FDB_V_SEEN        ((1ULL << 44) - 1)
#define FDB_V_FLAG_SHIFT  44
#define FDB_V_FLAGS       (0x7fULL << FDB_V_FLAG_SHIFT)
#define FDB_V_LEARNED     (1ULL << 51)
#define FDB_V_LIVE        (1ULL << 52)
#define FDB_V_PORT_SHIFT  53
#define FDB_V_PORT        (0x7ffULL << FDB_V_PORT_SHIFT)
#define FDB_SEEN_SHIFT    20
#define FDB_VFLAG(flags)  ((uint64_t)(flags) << FDB_V_FLAG_SHIFT)
#define FDB_VPORT(port)   ((uint64_t)(port) << FDB_V_PORT_SHIFT)
#define FDB_V_TO_PORT(v)  ((uint16_t)((v) >> FDB_V_PORT_SHIFT))
#define FDB_V_TO_FLAGS(v) ((uint16_t)((v) >> FDB_V_FLAG_SHIFT & 0x7f))

_Static_assert(XB_MAX_PORTS <= 1 << 11, "a port must fit into a value");

struct fdb_slot {
	_Atomic uint64_t key;
	_Atomic uint64_t value;
};

struct fdb_bucket {
	_Atomic uint32_t ctl;
	_Atomic uint32_t link; /* index of an overflow bucket, 0: none */
	struct fdb_slot slot[FDB_SLOTS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct fdb_bucket) == 64, "a bucket is one cache line");

struct fdb_table {
	struct fdb_bucket *bucket; /* n_buckets homes, then n_overflow others */
	_Atomic(struct fdb_table *) next;
	uint32_t shift; /* hash >> shift is the home */
	uint32_t n_buckets;
	uint32_t n_overflow;
	uint8_t pad[36]; /* writers have a cache line of their own */

	/* written by every insert */
	_Atomic uint32_t n_used; /* keys, live or not */
	_Atomic uint32_t overflow_used;
	_Atomic uint32_t overflow_kept; /* of them for buckets that come from an old table */
	/* written by those who carry this table over to the next */
	_Atomic uint32_t carry_pos;
	_Atomic uint32_t n_carried;
} __attribute__((aligned(64)));

struct fdb {
	_Atomic(struct fdb_table *) cur;
	uint64_t seed[4];
	_Atomic uint64_t granularity; /* in units of seen */
	uint32_t max_entries;
	_Atomic uint32_t max_learned;

	_Alignas(64) _Atomic uint32_t n_entries;
	_Atomic uint32_t n_learned;
	_Atomic uint32_t n_local;
	_Atomic bool no_room; /* an insert found no place */
	_Atomic uint64_t n_moves, n_full, n_no_room, n_limit, n_busy, n_carried;

	/* control thread */
	_Alignas(64) struct fdb_table *build; /* allocated, being made present */
	uint64_t n_present;                   /* bytes of it */
	void *(*alloc)(size_t size);
	void (*free)(void *p, size_t size);
	bool no_mem; /* the last try to build failed; fdb_maintain() tries again */
	uint32_t sweep;
	uint32_t min_buckets, max_buckets;
	uint64_t retry_ns;
	_Atomic uint64_t n_resizes; /* read by fdb_stats() anywhere */
	_Atomic uint32_t n_retired; /* old tables that wait for a grace period */
};

static inline uint64_t fdb_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Two rounds of multiplication with secret factors. */
static inline uint32_t fdb_hash(const struct fdb *f, uint64_t key)
{
	uint64_t h = fdb_fold(key ^ f->seed[0], f->seed[1]);

	return (uint32_t)(fdb_fold(h ^ f->seed[2], f->seed[3]) >> 32);
}

static inline struct fdb_bucket *fdb_home(const struct fdb_table *t, uint32_t hash)
{
	return &t->bucket[hash >> t->shift];
}

/* The table that decides about @hash at this moment; never NULL. */
static inline const struct fdb_table *fdb_table_of(const struct fdb *f, uint32_t hash)
{
	const struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_acquire);

	while (__builtin_expect(
		atomic_load_explicit(&fdb_home(t, hash)->ctl, memory_order_acquire) & FDB_CTL_MOVED,
		0))
		t = atomic_load_explicit(&t->next, memory_order_acquire);
	return t;
}

/*
 * The place of @key (FDB_KEY_USED set) in @t, live or not; NULL: none. No CPU can
 * foresee which of the three it is, and a wrong guess costs more than to compute it:
 * the place that may be the one is the second or third if that has the key, else the first.
 */
static inline struct fdb_slot *fdb_slot_find(const struct fdb_table *t, uint32_t hash, uint64_t key)
{
	struct fdb_bucket *b = fdb_home(t, hash);

	for (;;) {
		uint64_t k1 = atomic_load_explicit(&b->slot[1].key, memory_order_acquire);
		uint64_t k2 = atomic_load_explicit(&b->slot[2].key, memory_order_acquire);
		size_t i = (size_t)(k1 == key) + 2 * (size_t)(k2 == key);
		uint32_t link;

		if (atomic_load_explicit(&b->slot[i].key, memory_order_acquire) == key)
			return &b->slot[i];
		link = atomic_load_explicit(&b->link, memory_order_acquire);
		if (!link)
			return NULL;
		b = &t->bucket[link];
	}
}

/* The value of @key, 0 if it is not in the table. */
static inline uint64_t fdb_value(const struct fdb *f, uint32_t hash, uint64_t key)
{
	const struct fdb_slot *s = fdb_slot_find(fdb_table_of(f, hash), hash, key | FDB_KEY_USED);
	uint64_t v = s ? atomic_load_explicit(&s->value, memory_order_acquire) : 0;

	return (v & FDB_V_LIVE) ? v : 0;
}

static inline void fdb_prefetch(const struct fdb *f, uint64_t key)
{
	const struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_acquire);

	__builtin_prefetch(fdb_home(t, fdb_hash(f, key)));
}

static inline bool fdb_lookup(const struct fdb *f, uint64_t key, struct fdb_dst *out)
{
	uint64_t v = fdb_value(f, fdb_hash(f, key), key);

	if (!v)
		return false;
	out->dst = (uint32_t)(v >> FDB_V_PORT_SHIFT) << 12 | (uint32_t)(key >> 48);
	out->flags = FDB_V_TO_FLAGS(v);
	return true;
}

#endif
