/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/fdb.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-qsbr.h>

#include "core/fdb_priv.h"

#define N_BUCKETS_DEFAULT   256
#define N_ENTRIES_LIMIT     (1U << 26)
#define GRANULARITY_DEFAULT 1000000000ULL

#define V_UNCOUNTED FDB_VFLAG(FDB_LOCAL | FDB_STATIC | FDB_EXTERN | FDB_USER)

#define relaxed_add(p, n) atomic_fetch_add_explicit(p, n, memory_order_relaxed)
#define relaxed_sub(p, n) atomic_fetch_sub_explicit(p, n, memory_order_relaxed)
#define relaxed_get(p)    atomic_load_explicit(p, memory_order_relaxed)

static uint32_t pow2_above(uint32_t n)
{
	uint32_t p = FDB_BUCKETS_MIN;

	while (p < n)
		p <<= 1;
	return p;
}

/* calloc() that aligns to a bucket; where the area begins is kept before what is handed out. */
static void *heap_alloc(size_t size)
{
	uint8_t *p = calloc(1, size + sizeof(struct fdb_bucket)), *area;

	if (!p)
		return NULL;
	area = p + sizeof(struct fdb_bucket) - (uintptr_t)p % sizeof(struct fdb_bucket);
	memcpy(area - sizeof(p), &p, sizeof(p));
	return area;
}

static void heap_free(void *area, size_t size)
{
	void *p;

	(void)size;
	memcpy(&p, (uint8_t *)area - sizeof(p), sizeof(p));
	free(p);
}

_Static_assert(_Alignof(max_align_t) >= sizeof(void *), "room before an area for one pointer");

struct fdb *fdb_new(const struct fdb_config *cfg)
{
	struct fdb_table *t;
	struct fdb *f;

	if (!cfg->max_entries || cfg->max_entries > N_ENTRIES_LIMIT ||
	    cfg->n_buckets > N_ENTRIES_LIMIT || !cfg->alloc != !cfg->free)
		return NULL;
	f = aligned_alloc(_Alignof(struct fdb), sizeof(*f));
	if (!f)
		return NULL;
	memset(f, 0, sizeof(*f));
	/* Factors are odd: an even one would forget upper bits of what it multiplies. */
	f->seed[0] = cfg->seed[0];
	f->seed[1] = cfg->seed[1] | 1;
	f->seed[2] = fdb_fold(cfg->seed[1] ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL);
	f->seed[3] = fdb_fold(cfg->seed[0] ^ 0xc2b2ae3d27d4eb4fULL, 0xa0761d6478bd642fULL) | 1;
	f->max_entries = cfg->max_entries;
	f->max_learned = cfg->max_learned;
	f->min_buckets = pow2_above(cfg->n_buckets ? cfg->n_buckets : N_BUCKETS_DEFAULT);
	f->max_buckets = pow2_above(cfg->max_entries / 3 * 2);
	if (f->max_buckets < f->min_buckets)
		f->max_buckets = f->min_buckets;
	fdb_set_granularity(f, cfg->granularity_ns ? cfg->granularity_ns : GRANULARITY_DEFAULT);
	f->alloc = cfg->alloc ? cfg->alloc : heap_alloc;
	f->free = cfg->free ? cfg->free : heap_free;
	t = fdb_table_new(f, f->min_buckets);
	if (!t) {
		free(f);
		return NULL;
	}
	fdb_table_touch(t, 0, UINT64_MAX);
	atomic_store(&f->cur, t);
	return f;
}

void fdb_free(struct fdb *f)
{
	struct fdb_table *t, *next;

	if (!f)
		return;
	if (atomic_load(&f->n_retired))
		urcu_qsbr_barrier();
	fdb_table_free(f, f->build);
	for (t = f->cur; t; t = next) {
		next = t->next;
		fdb_table_free(f, t);
	}
	free(f);
}

uint64_t fdb_seed(const struct fdb *f)
{
	return fdb_fold(f->seed[2], f->seed[3]);
}

void fdb_set_granularity(struct fdb *f, uint64_t ns)
{
	atomic_store_explicit(&f->granularity, fdb_units(ns), memory_order_relaxed);
}

void fdb_set_max_learned(struct fdb *f, uint32_t max_learned)
{
	atomic_store_explicit(&f->max_learned, max_learned, memory_order_relaxed);
}

bool fdb_place_lock(const struct fdb *f, uint32_t hash, uint32_t patience, struct fdb_place *out)
{
	struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_acquire);

	for (;;) {
		struct fdb_bucket *b = fdb_home(t, hash);

		if (!(atomic_load_explicit(&b->ctl, memory_order_acquire) & FDB_CTL_MOVED)) {
			if (!fdb_lock(b, patience))
				return false;
			if (!(relaxed_get(&b->ctl) & FDB_CTL_MOVED)) {
				*out = (struct fdb_place){ t, b };
				return true;
			}
			fdb_unlock(b, FDB_CTL_MOVED);
		}
		t = atomic_load_explicit(&t->next, memory_order_acquire);
	}
}

void fdb_set_value(struct fdb *f, struct fdb_slot *s, uint64_t v)
{
	uint64_t old = relaxed_get(&s->value), diff = old ^ v;

	atomic_store_explicit(&s->value, v, memory_order_release);
	if (diff & FDB_V_LIVE)
		relaxed_sub(&f->n_entries, 1);
	if (diff & FDB_V_LEARNED)
		relaxed_add(&f->n_learned, (v & FDB_V_LEARNED) ? 1U : -1U);
	if (diff & FDB_VFLAG(FDB_LOCAL))
		relaxed_add(&f->n_local, (v & FDB_VFLAG(FDB_LOCAL)) ? 1U : -1U);
}

/* An overflow bucket behind @b, empty and not yet linked; 0: none left. */
static uint32_t overflow_take(struct fdb_table *t, bool kept)
{
	uint32_t n = t->n_overflow - (kept ? 0 : relaxed_get(&t->overflow_kept));
	uint32_t i = relaxed_get(&t->overflow_used);

	do {
		if (i >= n)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&t->overflow_used, &i, i + 1, memory_order_relaxed, memory_order_relaxed));
	return t->n_buckets + i;
}

struct fdb_slot *fdb_slot_take(struct fdb_place p, uint64_t key, uint64_t value, bool kept)
{
	struct fdb_bucket *b = p.b;
	struct fdb_slot *s = NULL;
	uint32_t link, depth = 0;

	for (;; depth++) {
		for (int i = 0; i < FDB_SLOTS && !s; i++) {
			if (!relaxed_get(&b->slot[i].key))
				s = &b->slot[i];
		}
		link = relaxed_get(&b->link);
		if (s || !link)
			break;
		b = &p.t->bucket[link];
	}
	if (!s) {
		link = depth < FDB_CHAIN ? overflow_take(p.t, kept) : 0;
		if (!link)
			return NULL;
		s = &p.t->bucket[link].slot[0];
	}
	atomic_store_explicit(&s->value, value, memory_order_relaxed);
	atomic_store_explicit(&s->key, key, memory_order_release);
	/* A bucket that is in the chain already is linked once more to what it is linked to. */
	if (link)
		atomic_store_explicit(&b->link, link, memory_order_release);
	relaxed_add(&p.t->n_used, 1);
	return s;
}

/*
 * Enters a key that is not live: into @s, its own old place, or a new one. The
 * count is raised first, so that the bounds hold whoever else inserts.
 */
static enum fdb_learned enter(struct fdb *f, struct fdb_place p, struct fdb_slot *s, uint64_t key,
			      uint64_t v)
{
	uint32_t limit = relaxed_get(&f->max_learned);
	bool learned = v & FDB_V_LEARNED;

	if (learned && relaxed_add(&f->n_learned, 1) >= limit && limit) {
		relaxed_add(&f->n_limit, 1);
		relaxed_sub(&f->n_learned, 1);
		return FDB_LIMIT;
	}
	if (relaxed_add(&f->n_entries, 1) >= f->max_entries) {
		relaxed_add(&f->n_full, 1);
		goto err_count;
	}
	if (s) {
		atomic_store_explicit(&s->value, v, memory_order_release);
	} else if (!fdb_slot_take(p, key, v, false)) {
		atomic_store_explicit(&f->no_room, true, memory_order_relaxed);
		relaxed_add(&f->n_no_room, 1);
		goto err_count;
	}
	if (v & FDB_VFLAG(FDB_LOCAL))
		relaxed_add(&f->n_local, 1);
	return FDB_NEW;

err_count:
	relaxed_sub(&f->n_entries, 1);
	if (learned)
		relaxed_sub(&f->n_learned, 1);
	return FDB_FULL;
}

/* What a frame makes of a live entry: the result, and the value it is to have. */
static enum fdb_learned judge(const struct fdb *f, uint64_t v, uint16_t port, uint64_t now,
			      uint64_t *out)
{
	uint64_t seen = v & FDB_V_SEEN;

	*out = v;
	if (v & FDB_VFLAG(FDB_LOCAL))
		return FDB_OWN;
	if ((int64_t)(now - seen) >= (int64_t)relaxed_get(&f->granularity))
		*out = (v & ~FDB_V_SEEN) | now;
	if (FDB_V_TO_PORT(v) == port)
		return *out == v ? FDB_SAME : FDB_REFRESHED;
	if (v & FDB_VFLAG(FDB_STICKY))
		return FDB_STUCK;
	v &= ~(FDB_V_PORT | FDB_V_SEEN | FDB_VFLAG(FDB_EXTERN | FDB_LOCKED | FDB_KERNEL));
	*out = v | FDB_VPORT(port) | now;
	return FDB_MOVED;
}

static enum fdb_learned learn_locked(struct fdb *f, struct fdb_place p, uint32_t hash, uint64_t key,
				     uint16_t port, uint64_t now)
{
	struct fdb_slot *s = fdb_slot_find(p.t, hash, key);
	uint64_t v = s ? relaxed_get(&s->value) : 0, to;
	enum fdb_learned r;

	if (!(v & FDB_V_LIVE))
		return enter(f, p, s, key, FDB_VPORT(port) | FDB_V_LIVE | FDB_V_LEARNED | now);
	r = judge(f, v, port, now, &to);
	if (to != v)
		fdb_set_value(f, s, to);
	if (r == FDB_MOVED)
		relaxed_add(&f->n_moves, 1);
	return r;
}

enum fdb_learned fdb_learn(struct fdb *f, uint64_t key, uint16_t port, uint64_t now_ns)
{
	return fdb_learn_guarded(f, key, port, now_ns, NULL);
}

enum fdb_learned fdb_learn_guarded(struct fdb *f, uint64_t key, uint16_t port, uint64_t now_ns,
				   const struct fdb_guard *guard)
{
	uint32_t hash = fdb_hash(f, key);
	uint64_t v = fdb_value(f, hash, key), now = fdb_units(now_ns), to;
	struct fdb_place p;
	enum fdb_learned r;

	if (v) {
		r = judge(f, v, port, now, &to);
		if (to == v)
			return r;
	} else if (guard && guard->is_own(guard, key)) {
		return FDB_OWN;
	}
	assert(port < XB_MAX_PORTS);
	fdb_help(f, hash);
	if (!fdb_place_lock(f, hash, FDB_PATIENCE, &p)) {
		relaxed_add(&f->n_busy, 1);
		return FDB_BUSY;
	}
	r = learn_locked(f, p, hash, key | FDB_KEY_USED, port, now);
	fdb_unlock(p.b, 0);
	return r;
}

int fdb_get(const struct fdb *f, uint64_t key, struct fdb_entry *out)
{
	uint64_t v = fdb_value(f, fdb_hash(f, key), key);

	if (!v)
		return -ENOENT;
	fdb_to_entry(key, v, out);
	return 0;
}

/* Adds or replaces once. */
static int put(struct fdb *f, uint64_t key, uint64_t v, bool unless_moved)
{
	uint32_t hash = fdb_hash(f, key);
	struct fdb_place p;
	struct fdb_slot *s;
	uint64_t old;
	int err = 0;

	fdb_help(f, hash);
	fdb_place_hold(f, hash, &p);
	s = fdb_slot_find(p.t, hash, key | FDB_KEY_USED);
	old = s ? relaxed_get(&s->value) : 0;
	if (!(old & FDB_V_LIVE)) {
		if (enter(f, p, s, key | FDB_KEY_USED, v) != FDB_NEW)
			err = -ENOSPC;
	} else if (unless_moved && ((old ^ v) & FDB_V_PORT) && !(old & FDB_VFLAG(FDB_KERNEL))) {
		err = -EEXIST;
	} else {
		fdb_set_value(f, s, v);
	}
	fdb_unlock(p.b, 0);
	return err;
}

static int add(struct fdb *f, const struct fdb_entry *e, bool unless_moved)
{
	uint64_t v = FDB_VPORT(e->port) | FDB_V_LIVE | FDB_VFLAG(e->flags & 0x7f) |
		     fdb_units(e->seen_ns);
	uint64_t key = fdb_key(e->vid, &e->mac);
	int err;

	assert(e->port < XB_MAX_PORTS && e->vid <= VID_MAX);
	err = put(f, key, v, unless_moved);
	if (err == -ENOSPC && relaxed_get(&f->no_room) && !fdb_grow_now(f))
		err = put(f, key, v, unless_moved);
	fdb_grow_step(f);
	return err;
}

int fdb_add(struct fdb *f, const struct fdb_entry *e)
{
	return add(f, e, false);
}

int fdb_add_unless_moved(struct fdb *f, const struct fdb_entry *e)
{
	return add(f, e, true);
}

/* The live entry of @key on @port, its chain locked; NULL and nothing locked if there is none. */
static struct fdb_slot *take(struct fdb *f, uint64_t key, uint16_t port, struct fdb_place *p)
{
	uint32_t hash = fdb_hash(f, key);
	struct fdb_slot *s;
	uint64_t v;

	fdb_place_hold(f, hash, p);
	s = fdb_slot_find(p->t, hash, key | FDB_KEY_USED);
	v = s ? relaxed_get(&s->value) : 0;
	if (v & FDB_V_LIVE && (port == FDB_ANY || FDB_V_TO_PORT(v) == port))
		return s;
	fdb_unlock(p->b, 0);
	return NULL;
}

int fdb_set_flags(struct fdb *f, uint64_t key, uint16_t port, uint16_t mask, uint16_t flags)
{
	uint64_t m = FDB_VFLAG(mask & 0x7f), v;
	struct fdb_place p;
	struct fdb_slot *s = take(f, key, port, &p);

	if (!s)
		return -ENOENT;
	v = (relaxed_get(&s->value) & ~m) | (FDB_VFLAG(flags) & m);
	if (v & V_UNCOUNTED)
		v &= ~FDB_V_LEARNED;
	fdb_set_value(f, s, v);
	fdb_unlock(p.b, 0);
	return 0;
}

int fdb_del_if(struct fdb *f, uint64_t key, uint16_t port)
{
	struct fdb_place p;
	struct fdb_slot *s = take(f, key, port, &p);

	if (!s)
		return -ENOENT;
	fdb_set_value(f, s, 0);
	fdb_unlock(p.b, 0);
	return 0;
}

int fdb_del(struct fdb *f, uint64_t key)
{
	return fdb_del_if(f, key, FDB_ANY);
}

void fdb_stats(const struct fdb *f, struct fdb_stats *out)
{
	const struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_acquire);
	uint64_t mem = 0, n_used = 0;

	memset(out, 0, sizeof(*out));
	out->n_buckets = t->n_buckets;
	for (; t; t = atomic_load_explicit(&t->next, memory_order_acquire)) {
		mem += sizeof(*t) +
		       ((uint64_t)t->n_buckets + t->n_overflow) * sizeof(struct fdb_bucket);
		n_used = relaxed_get(&t->n_used);
	}
	out->mem_size = mem + sizeof(*f);
	out->n_entries = relaxed_get(&f->n_entries);
	out->n_dead = n_used > out->n_entries ? n_used - out->n_entries : 0;
	out->n_learned = relaxed_get(&f->n_learned);
	out->n_local = relaxed_get(&f->n_local);
	out->n_moves = relaxed_get(&f->n_moves);
	out->n_full = relaxed_get(&f->n_full);
	out->n_no_room = relaxed_get(&f->n_no_room);
	out->n_limit = relaxed_get(&f->n_limit);
	out->n_busy = relaxed_get(&f->n_busy);
	out->n_resizes = relaxed_get(&f->n_resizes);
	out->n_carried = relaxed_get(&f->n_carried);
}
