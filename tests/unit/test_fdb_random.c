/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table against a plain array that says what it should hold, over random
 * operations; and the table under readers, writers and resizes at once.
 * XB_SEED=number repeats a run.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <urcu/urcu-qsbr.h>

#include "core/fdb.h"

#define SEC       1000000000ULL
#define UNIT      (1ULL << 20) /* of time in the table */
#define N_OPS     1000000
#define N_KEYS    3000
#define MAX       2000
#define LIMIT     1200
#define UNCOUNTED (FDB_LOCAL | FDB_STATIC | FDB_EXTERN | FDB_USER)
#define AGELESS   (FDB_LOCAL | FDB_STATIC | FDB_EXTERN | FDB_KERNEL)

static uint64_t seed;

static uint64_t rnd(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static uint64_t nth_key(uint32_t i)
{
	return (uint64_t)(i % 5 * 1000) << 48 | 0x020000000000ULL | i;
}

/* What the array says about a key. */
struct truth {
	bool there, learned;
	uint16_t port, flags;
	uint64_t seen;
};

struct run {
	struct fdb *f;
	struct truth t[N_KEYS];
	uint32_t n, n_learned, n_local, n_seen;
	uint64_t now, rnd;
};

static void set(struct run *r, uint32_t i, struct truth to)
{
	const struct truth *t = &r->t[i];

	r->n += (uint32_t)to.there - (uint32_t)t->there;
	r->n_learned += (uint32_t)to.learned - (uint32_t)t->learned;
	r->n_local += (uint32_t) !!(to.flags & FDB_LOCAL) - (uint32_t) !!(t->flags & FDB_LOCAL);
	r->t[i] = to;
}

/* Each flag with a probability of a quarter. */
static uint16_t few_flags(struct run *r)
{
	uint64_t v = rnd(&r->rnd);

	return v & v >> 32 & 0x7f;
}

static uint64_t n_no_room(const struct run *r)
{
	struct fdb_stats s;

	fdb_stats(r->f, &s);
	return s.n_no_room;
}

/* What a frame should do: the rules once more, in the plainest form. */
static enum fdb_learned expect_learn(struct run *r, uint32_t i, uint16_t port, bool no_room)
{
	struct truth t = r->t[i];

	if (!t.there) {
		if (r->n_learned >= LIMIT)
			return FDB_LIMIT;
		if (r->n >= MAX || no_room)
			return FDB_FULL;
		set(r, i, (struct truth){ true, true, port, 0, r->now });
		return FDB_NEW;
	}
	if (t.flags & FDB_LOCAL)
		return FDB_OWN;
	if (t.port != port && !(t.flags & FDB_STICKY)) {
		t.port = port;
		t.flags &= (uint16_t) ~(FDB_EXTERN | FDB_LOCKED | FDB_KERNEL);
		t.seen = r->now;
		set(r, i, t);
		return FDB_MOVED;
	}
	if ((int64_t)(r->now - t.seen) >= (int64_t)(SEC / UNIT)) {
		r->t[i].seen = r->now;
		return t.port == port ? FDB_REFRESHED : FDB_STUCK;
	}
	return t.port == port ? FDB_SAME : FDB_STUCK;
}

static void op_learn(struct run *r, uint32_t i)
{
	uint16_t port = (uint16_t)(rnd(&r->rnd) % 3 + 1);
	uint64_t before = n_no_room(r);
	enum fdb_learned got = fdb_learn(r->f, nth_key(i), port, r->now * UNIT);

	assert_int_equal(got, expect_learn(r, i, port, n_no_room(r) != before));
}

static void op_add(struct run *r, uint32_t i)
{
	uint64_t key = nth_key(i);
	struct fdb_entry e = { .mac = mac_from_u64(key & 0xffffffffffffULL),
			       .vid = (uint16_t)(key >> 48),
			       .port = (uint16_t)(rnd(&r->rnd) % 3 + 1),
			       .flags = few_flags(r),
			       .seen_ns = (r->now - rnd(&r->rnd) % 1000) * UNIT };
	int err = fdb_add(r->f, &e);

	if (err == -ENOSPC) {
		/* No room is possible only while an old table waits for its end. */
		assert_false(r->t[i].there);
		return;
	}
	assert_int_equal(err, 0);
	assert_true(r->t[i].there || r->n < MAX);
	set(r, i, (struct truth){ true, false, e.port, e.flags, e.seen_ns / UNIT });
}

static void op_del(struct run *r, uint32_t i)
{
	uint16_t port = rnd(&r->rnd) % 2 ? FDB_ANY : (uint16_t)(rnd(&r->rnd) % 3 + 1);
	bool want = r->t[i].there && (port == FDB_ANY || port == r->t[i].port);

	assert_int_equal(fdb_del_if(r->f, nth_key(i), port), want ? 0 : -ENOENT);
	if (want)
		set(r, i, (struct truth){ 0 });
}

static void op_set_flags(struct run *r, uint32_t i)
{
	uint16_t port = (uint16_t)(rnd(&r->rnd) % 3 + 1);
	uint16_t mask = rnd(&r->rnd) & 0x7f, flags = rnd(&r->rnd) & 0x7f;
	struct truth t = r->t[i];
	bool want = t.there && t.port == port;

	assert_int_equal(fdb_set_flags(r->f, nth_key(i), port, mask, flags), want ? 0 : -ENOENT);
	if (!want)
		return;
	t.flags = (t.flags & (uint16_t)~mask) | (flags & mask);
	t.learned = t.learned && !(t.flags & UNCOUNTED);
	set(r, i, t);
}

static void op_look(struct run *r, uint32_t i)
{
	const struct truth *t = &r->t[i];
	struct fdb_dst d = { 0 };
	struct fdb_entry e;

	assert_int_equal(fdb_lookup(r->f, nth_key(i), &d), t->there);
	assert_int_equal(fdb_get(r->f, nth_key(i), &e), t->there ? 0 : -ENOENT);
	if (!t->there)
		return;
	assert_int_equal(fdb_dst_port(d.dst), t->port);
	assert_int_equal(fdb_dst_vid(d.dst), nth_key(i) >> 48);
	assert_int_equal(d.flags, t->flags);
	assert_int_equal(fdb_key(e.vid, &e.mac), nth_key(i));
	assert_true(e.port == t->port && e.flags == t->flags && e.seen_ns == t->seen * UNIT);
}

static void op_flush(struct run *r)
{
	struct fdb_filter q = {
		.port = rnd(&r->rnd) % 4 ? (uint16_t)(rnd(&r->rnd) % 4) : FDB_ANY,
		.vid = rnd(&r->rnd) % 4 ? (uint16_t)(rnd(&r->rnd) % 5 * 1000) : FDB_ANY,
		.mask = few_flags(r),
	};
	uint32_t n = 0;

	q.flags = rnd(&r->rnd) & q.mask;
	for (uint32_t i = 0; i < N_KEYS; i++) {
		const struct truth *t = &r->t[i];

		if (!t->there || (q.port != FDB_ANY && q.port != t->port) ||
		    (q.vid != FDB_ANY && q.vid != nth_key(i) >> 48) ||
		    (t->flags & q.mask) != q.flags)
			continue;
		set(r, i, (struct truth){ 0 });
		n++;
	}
	assert_int_equal(fdb_flush(r->f, &q), n);
}

static void aged_cb(const struct fdb_entry *e, void *arg)
{
	struct run *r = arg;
	uint32_t i = (uint32_t)mac_to_u64(&e->mac);

	assert_true(i < N_KEYS && r->t[i].there && !(r->t[i].flags & AGELESS));
	assert_true(r->now >= r->t[i].seen + 5000);
	set(r, i, (struct truth){ 0 });
}

static void op_age(struct run *r)
{
	struct fdb_cursor c = { 0 };

	do
		fdb_age(r->f, r->now * UNIT, 5000 * UNIT, &c, 7, aged_cb, r);
	while (c.pos);
	for (uint32_t i = 0; i < N_KEYS; i++) {
		const struct truth *t = &r->t[i];

		assert_false(t->there && !(t->flags & AGELESS) && r->now >= t->seen + 5000);
	}
}

static void seen_cb(const struct fdb_entry *e, void *arg)
{
	struct run *r = arg;
	uint32_t i = (uint32_t)mac_to_u64(&e->mac);

	assert_true(i < N_KEYS && r->t[i].there && e->port == r->t[i].port);
	r->n_seen++;
}

static void op_walk(struct run *r)
{
	struct fdb_cursor c = { 0 };

	r->n_seen = 0;
	while (fdb_walk(r->f, &c, 5, seen_cb, r))
		fdb_maintain(r->f, r->now * UNIT);
	assert_int_equal(r->n_seen, r->n);
}

static void step(struct run *r)
{
	uint32_t what = rnd(&r->rnd) % 10000, i = rnd(&r->rnd) % N_KEYS;
	struct fdb_stats s;

	r->now += rnd(&r->rnd) % 5;
	if (what < 3500)
		op_learn(r, i);
	else if (what < 4000)
		op_add(r, i);
	else if (what < 5000)
		op_del(r, i);
	else if (what < 5300)
		op_set_flags(r, i);
	else if (what < 9400)
		op_look(r, i);
	else if (what < 9980)
		fdb_maintain(r->f, r->now * UNIT);
	else if (what < 9990)
		op_flush(r);
	else if (what < 9995)
		op_age(r);
	else
		op_walk(r);
	fdb_stats(r->f, &s);
	assert_int_equal(s.n_entries, r->n);
	assert_int_equal(s.n_learned, r->n_learned);
	assert_int_equal(s.n_local, r->n_local);
}

static void agrees_with_an_array_over_a_million_operations(void **state)
{
	struct fdb_config cfg = { .max_entries = MAX, .max_learned = LIMIT, .n_buckets = 16 };
	struct run *r = calloc(1, sizeof(*r));
	struct fdb_stats s;

	(void)state;
	assert_non_null(r);
	r->rnd = seed;
	r->now = 100000;
	cfg.seed[0] = rnd(&r->rnd);
	cfg.seed[1] = rnd(&r->rnd);
	r->f = fdb_new(&cfg);
	assert_non_null(r->f);
	for (uint32_t i = 0; i < N_OPS; i++)
		step(r);
	fdb_stats(r->f, &s);
	assert_true(s.n_resizes > 10 && s.n_moves > 1000 && s.n_limit > 0);
	fdb_free(r->f);
	free(r);
}

/* ---- threads ---- */

#define N_STABLE  2000
#define N_ROAMING 64
#define N_LEARN   500000

struct crowd {
	struct fdb *f;
	_Atomic uint32_t n_writers;
	_Atomic uint64_t n_lookups, n_missed, n_wrong, n_lost, n_entered;
};

struct writer {
	struct crowd *c;
	uint16_t id;
};

static uint64_t stable_key(uint32_t i)
{
	return 100ULL << 48 | 0x060000000000ULL | i;
}

static uint64_t roaming_key(uint32_t i)
{
	return 200ULL << 48 | 0x0a0000000000ULL | i;
}

/* Stable keys are always there on their port; roaming keys are always there, on 500 or 501. */
static void *read_all_the_time(void *arg)
{
	struct crowd *c = arg;
	uint64_t n = 0, missed = 0, wrong = 0;
	struct fdb_dst d = { 0 };

	urcu_qsbr_register_thread();
	while (atomic_load(&c->n_writers)) {
		for (uint32_t i = 0; i < N_STABLE; i++) {
			if (!fdb_lookup(c->f, stable_key(i), &d))
				missed++;
			else if (fdb_dst_port(d.dst) != 1 + i % 400 || fdb_dst_vid(d.dst) != 100)
				wrong++;
		}
		for (uint32_t i = 0; i < N_ROAMING; i++) {
			if (!fdb_lookup(c->f, roaming_key(i), &d))
				missed++;
			else if (fdb_dst_port(d.dst) - 500 > 1)
				wrong++;
		}
		n += N_STABLE + N_ROAMING;
		urcu_qsbr_quiescent_state();
	}
	urcu_qsbr_unregister_thread();
	atomic_fetch_add(&c->n_lookups, n);
	atomic_fetch_add(&c->n_missed, missed);
	atomic_fetch_add(&c->n_wrong, wrong);
	return NULL;
}

/* Learns new keys of its own on port 600 + id and finds each at once; moves roaming keys. */
static void *learn_all_the_time(void *arg)
{
	struct writer *w = arg;
	struct crowd *c = w->c;
	struct fdb_dst d = { 0 };
	uint64_t lost = 0, entered = 0;

	urcu_qsbr_register_thread();
	for (uint32_t i = 0; i < N_LEARN; i++) {
		uint64_t key = (uint64_t)w->id << 48 | 0x0e0000000000ULL | i;

		if (fdb_learn(c->f, key, 600 + w->id, SEC) == FDB_NEW) {
			entered++;
			/* Nobody removes keys of writer 1; those of writer 0 are flushed. */
			if (!fdb_lookup(c->f, key, &d) && w->id)
				lost++;
		}
		if (i % 16 == 0)
			fdb_learn(c->f, roaming_key(i / 16 % N_ROAMING), 500 + w->id, SEC);
		if (i % 32 == 0)
			urcu_qsbr_quiescent_state();
	}
	/* All of them are there at the end, too. */
	atomic_fetch_add(&c->n_entered, w->id ? entered : 0);
	atomic_fetch_add(&c->n_lost, lost);
	urcu_qsbr_unregister_thread();
	atomic_fetch_sub(&c->n_writers, 1);
	return NULL;
}

static void fill_crowd(struct crowd *c)
{
	for (uint32_t i = 0; i < N_STABLE + N_ROAMING; i++) {
		uint64_t key = i < N_STABLE ? stable_key(i) : roaming_key(i - N_STABLE);
		struct fdb_entry e = { .mac = mac_from_u64(key & 0xffffffffffffULL),
				       .vid = (uint16_t)(key >> 48),
				       .port = i < N_STABLE ? (uint16_t)(1 + i % 400) : 500,
				       .flags = FDB_STATIC };

		assert_int_equal(fdb_add(c->f, &e), 0);
	}
}

static void nothing_is_missed_among_writers_and_resizes(void **state)
{
	struct fdb_config cfg = { .max_entries = 1U << 20,
				  .n_buckets = 16,
				  .seed = { seed, ~seed } };
	struct crowd c = { .f = fdb_new(&cfg), .n_writers = 2 };
	struct writer w[2] = { { &c, 0 }, { &c, 1 } };
	struct fdb_filter first = { 600, FDB_ANY, 0, 0 };
	uint64_t flushed = 0, rounds = 0, n_first = 0;
	struct fdb_stats s;
	pthread_t t[4];

	(void)state;
	assert_non_null(c.f);
	fill_crowd(&c);
	urcu_qsbr_register_thread();
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL,
						i < 2 ? learn_all_the_time : read_all_the_time,
						i < 2 ? (void *)&w[i] : &c),
				 0);
	/* This thread is the control thread. */
	while (atomic_load(&c.n_writers)) {
		fdb_maintain(c.f, SEC);
		if (++rounds % 256 == 0)
			flushed += fdb_flush(c.f, &first);
		urcu_qsbr_quiescent_state();
	}
	urcu_qsbr_thread_offline();
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	urcu_qsbr_thread_online();
	n_first = fdb_flush(c.f, &first);
	fdb_stats(c.f, &s);
	print_message("lookups %" PRIu64 ", resizes %" PRIu64 ", flushed %" PRIu64 ", busy %" PRIu64
		      ", no room %" PRIu64 "\n",
		      c.n_lookups, s.n_resizes, flushed + n_first, s.n_busy, s.n_no_room);
	assert_int_equal(c.n_missed, 0);
	assert_int_equal(c.n_wrong, 0);
	assert_int_equal(c.n_lost, 0);
	assert_true(s.n_resizes >= 3 && c.n_lookups > 0);
	assert_int_equal(s.n_entries, N_STABLE + N_ROAMING + c.n_entered);
	assert_int_equal(s.n_learned, c.n_entered);
	urcu_qsbr_unregister_thread();
	fdb_free(c.f);
}

static int choose_seed(void **state)
{
	const char *s = getenv("XB_SEED");

	(void)state;
	if (s)
		seed = strtoull(s, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return -1;
	print_message("XB_SEED=%" PRIu64 "\n", seed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_an_array_over_a_million_operations),
		cmocka_unit_test(nothing_is_missed_among_writers_and_resizes),
	};

	return cmocka_run_group_tests(tests, choose_seed, NULL);
}
