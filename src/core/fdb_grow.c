/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdb_grow: the life of an fdb's tables.
 *
 *	allocated, all 0 -> present (control, in steps: a page that is not there
 *	yet would stop a worker) -> next (every writer carries a few buckets
 *	over, the control thread many) -> cur -> retired (one grace period) ->
 *	freed
 *
 * A table is replaced when it holds more than 1.5 entries for each bucket, by a
 * bigger one, or when keys that were removed fill half an entry for each
 * bucket, by one of the same or half the size: that is how places are freed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-qsbr.h>

#include "core/fdb_priv.h"

#define N_RETIRED_MAX 8           /* old tables that readers may be in, when growing */
#define GROW_FAST     (1U << 16)  /* up to so many buckets grow by 4, then by 2 */
#define RETRY_NS      1000000000U /* after memory was short */
#define PAGE          4096U       /* no greater than the kernel's */

/* What only the control thread and liburcu need of a table. */
struct full_table {
	struct fdb_table t;
	struct rcu_head rcu;
	struct fdb *fdb;
};

static uint64_t table_size(const struct fdb_table *t)
{
	return ((uint64_t)t->n_buckets + t->n_overflow) * sizeof(*t->bucket);
}

struct fdb_table *fdb_table_new(const struct fdb *f, uint32_t n_buckets)
{
	struct full_table *w = aligned_alloc(_Alignof(struct full_table), sizeof(*w));

	if (!w)
		return NULL;
	memset(w, 0, sizeof(*w));
	w->t.n_buckets = n_buckets;
	/*
	 * One and a half keys for each bucket need 0.07 of them, two and a half 0.26:
	 * room for what comes in until a bigger table is ready.
	 */
	w->t.n_overflow = n_buckets / 4 + FDB_BUCKETS_MIN;
	w->t.shift = 32 - (uint32_t)__builtin_ctz(n_buckets);
	w->t.bucket = f->alloc(table_size(&w->t));
	if (!w->t.bucket) {
		free(w);
		return NULL;
	}
	return &w->t;
}

uint64_t fdb_table_touch(struct fdb_table *t, uint64_t at, uint64_t n)
{
	volatile char *p = (char *)t->bucket;
	uint64_t left = table_size(t) - at;

	if (n > left)
		n = left;
	for (uint64_t i = at; i < at + n; i += PAGE)
		p[i] = 0;
	return n;
}

void fdb_table_free(const struct fdb *f, struct fdb_table *t)
{
	if (!t)
		return;
	f->free(t->bucket, table_size(t));
	free(t); /* the first field of a full_table */
}

static void table_free_rcu(struct rcu_head *head)
{
	struct full_table *w = caa_container_of(head, struct full_table, rcu);
	struct fdb *f = w->fdb;

	fdb_table_free(f, &w->t);
	atomic_fetch_sub(&f->n_retired, 1);
}

/*
 * Brings one place of a locked old chain into the next table. A copy that an
 * earlier try left there is brought up to date; nobody else touches it, because
 * the old home of its key is locked and not marked. False: no room, or busy.
 */
static bool carry_slot(const struct fdb *f, const struct fdb_slot *from, struct fdb_table *next,
		       uint32_t patience)
{
	uint64_t key = atomic_load_explicit(&from->key, memory_order_relaxed);
	uint64_t v = atomic_load_explicit(&from->value, memory_order_relaxed);
	uint32_t hash = fdb_hash(f, key & ~FDB_KEY_USED);
	struct fdb_place p = { next, fdb_home(next, hash) };
	struct fdb_slot *s = fdb_slot_find(next, hash, key);

	if (s) {
		atomic_store_explicit(&s->value, v, memory_order_release);
		return true;
	}
	if (!(v & FDB_V_LIVE))
		return true;
	if (!fdb_lock(p.b, patience))
		return false;
	s = fdb_slot_take(p, key, v, true);
	fdb_unlock(p.b, 0);
	return s;
}

static bool carry_chain(const struct fdb *f, const struct fdb_table *t, const struct fdb_bucket *b,
			struct fdb_table *next, uint32_t patience)
{
	for (;;) {
		uint32_t link;

		for (int i = 0; i < FDB_SLOTS; i++) {
			if (!atomic_load_explicit(&b->slot[i].key, memory_order_relaxed))
				return true;
			if (!carry_slot(f, &b->slot[i], next, patience))
				return false;
		}
		link = atomic_load_explicit(&b->link, memory_order_relaxed);
		if (!link)
			return true;
		b = &t->bucket[link];
	}
}

/*
 * Carries one home over. If that fails, nothing has changed for anybody: the
 * old bucket stays in force and is tried again by whoever comes next.
 */
static void carry(struct fdb *f, struct fdb_table *t, uint32_t i, uint32_t patience)
{
	struct fdb_table *next = atomic_load_explicit(&t->next, memory_order_acquire);
	struct fdb_bucket *b = &t->bucket[i];

	if (atomic_load_explicit(&b->ctl, memory_order_relaxed) & FDB_CTL_MOVED ||
	    !fdb_lock(b, patience))
		return;
	if (atomic_load_explicit(&b->ctl, memory_order_relaxed) & FDB_CTL_MOVED) {
		fdb_unlock(b, FDB_CTL_MOVED);
		return;
	}
	if (!carry_chain(f, t, b, next, patience)) {
		fdb_unlock(b, 0);
		return;
	}
	fdb_unlock(b, FDB_CTL_MOVED);
	atomic_fetch_add_explicit(&f->n_carried, 1, memory_order_relaxed);
	/* Release: whoever reads the full count sees every mark. */
	atomic_fetch_add_explicit(&t->n_carried, 1, memory_order_release);
}

/* Carries the next @n homes in order, as far as there are any. */
static void carry_some(struct fdb *f, struct fdb_table *t, uint32_t n, uint32_t patience)
{
	while (n-- && atomic_load_explicit(&t->carry_pos, memory_order_relaxed) < t->n_buckets) {
		uint32_t i = atomic_fetch_add_explicit(&t->carry_pos, 1, memory_order_relaxed);

		if (i < t->n_buckets)
			carry(f, t, i, patience);
	}
}

void fdb_help(struct fdb *f, uint32_t hash)
{
	struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_acquire);

	if (!atomic_load_explicit(&t->next, memory_order_acquire))
		return;
	carry(f, t, hash >> t->shift, 0);
	carry_some(f, t, FDB_HELP, 0);
}

void fdb_finish(struct fdb *f)
{
	struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_relaxed);
	struct fdb_table *next = atomic_load_explicit(&t->next, memory_order_relaxed);
	struct full_table *w = caa_container_of(t, struct full_table, t);

	if (!next || atomic_load_explicit(&t->n_carried, memory_order_acquire) < t->n_buckets)
		return;
	atomic_store_explicit(&next->overflow_kept, 0, memory_order_relaxed);
	atomic_store_explicit(&f->cur, next, memory_order_release);
	atomic_fetch_add_explicit(&f->n_resizes, 1, memory_order_relaxed);
	atomic_fetch_add(&f->n_retired, 1);
	w->fdb = f;
	urcu_qsbr_call_rcu(&w->rcu, table_free_rcu);
}

/* How many buckets the next table is to have; 0: the present one is good. */
static uint32_t wanted_buckets(const struct fdb *f)
{
	const struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_relaxed);
	uint32_t live = atomic_load_explicit(&f->n_entries, memory_order_relaxed);
	uint32_t used = atomic_load_explicit(&t->n_used, memory_order_relaxed);
	uint32_t retired = atomic_load(&f->n_retired);
	uint32_t n = t->n_buckets, dead = used > live ? used - live : 0;
	bool no_room = atomic_load_explicit(&f->no_room, memory_order_relaxed);

	if (n < f->max_buckets && retired < N_RETIRED_MAX && (live > n + n / 2 || no_room)) {
		n *= n < GROW_FAST ? 4 : 2;
		return n < f->max_buckets ? n : f->max_buckets;
	}
	/* A rebuild makes places free; one at a time, or old tables would pile up. */
	if (retired || (dead < n / 2 && !(no_room && dead)))
		return 0;
	if (live >= n && n < f->max_buckets)
		return 2 * n;
	if (live < n / 4 && n > f->min_buckets)
		return n / 2;
	return n;
}

static bool build_start(struct fdb *f)
{
	uint32_t n = wanted_buckets(f);

	if (!n)
		return true;
	f->build = fdb_table_new(f, n);
	f->n_present = 0;
	f->no_mem = !f->build;
	return f->build;
}

/* From here on writers use the new table. */
static void build_publish(struct fdb *f)
{
	struct fdb_table *t = f->build, *cur = atomic_load(&f->cur);

	t->overflow_kept = t->n_overflow / 2;
	f->build = NULL;
	f->sweep = 0;
	atomic_store_explicit(&f->no_room, false, memory_order_relaxed);
	atomic_store_explicit(&cur->next, t, memory_order_release);
}

/* Makes up to @n bytes of the new table present; when all are it becomes the next one. */
static void build_touch(struct fdb *f, uint64_t n)
{
	f->n_present += fdb_table_touch(f->build, f->n_present, n);
	if (f->n_present == table_size(f->build))
		build_publish(f);
}

void fdb_grow_step(struct fdb *f)
{
	const struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_relaxed);

	if (atomic_load_explicit(&t->next, memory_order_relaxed))
		fdb_finish(f);
	else if (!f->build && !f->no_mem)
		build_start(f);
	if (f->build)
		build_touch(f, FDB_ADD_BYTES);
}

int fdb_grow_now(struct fdb *f)
{
	const struct fdb_table *t = atomic_load(&f->cur);

	if (atomic_load(&t->next))
		return -ENOSPC;
	if (!f->build && !build_start(f))
		return -ENOMEM;
	if (!f->build)
		return -ENOSPC;
	build_publish(f);
	return 0;
}

/* Looks again at homes whose turn has passed, for those that failed. */
static void carry_again(struct fdb *f, struct fdb_table *t, uint32_t n)
{
	while (n--) {
		if (f->sweep >= t->n_buckets)
			f->sweep = 0;
		carry(f, t, f->sweep++, FDB_FOREVER);
	}
}

bool fdb_maintain(struct fdb *f, uint64_t now_ns)
{
	struct fdb_table *t = atomic_load(&f->cur);
	uint32_t n = t->n_buckets < FDB_MAINTAIN_BUCKETS ? t->n_buckets : FDB_MAINTAIN_BUCKETS;

	if (!f->build && !atomic_load(&t->next) && (int64_t)(now_ns - f->retry_ns) >= 0 &&
	    !build_start(f))
		f->retry_ns = now_ns + RETRY_NS;
	if (f->build)
		build_touch(f, FDB_MAINTAIN_BYTES);
	if (atomic_load(&t->next)) {
		if (atomic_load(&t->carry_pos) >= t->n_buckets)
			carry_again(f, t, n);
		else
			carry_some(f, t, n, FDB_FOREVER);
		fdb_finish(f);
	}
	return f->build || atomic_load(&atomic_load(&f->cur)->next);
}
