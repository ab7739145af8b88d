/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-qsbr.h>

#include "core/count.h"
#include "core/fdb.h"

#define SEC  1000000000ULL
#define MSEC 1000000ULL

static struct fdb *open_fdb(uint32_t max_entries, uint32_t max_learned, uint32_t n_buckets)
{
	struct fdb_config cfg = {
		.max_entries = max_entries,
		.max_learned = max_learned,
		.n_buckets = n_buckets,
		.seed = { 0x0123456789abcdefULL, 0xfedcba9876543210ULL },
	};
	struct fdb *f = fdb_new(&cfg);

	assert_non_null(f);
	return f;
}

static uint64_t nth_key(uint32_t i)
{
	return (uint64_t)(i % 7) << 48 | 0x020000000000ULL | i;
}

static struct fdb_entry entry(uint64_t key, uint16_t port, uint16_t flags, uint64_t seen_ns)
{
	return (struct fdb_entry){ .mac = mac_from_u64(key & 0xffffffffffffULL),
				   .vid = (uint16_t)(key >> 48),
				   .port = port,
				   .flags = flags,
				   .seen_ns = seen_ns };
}

static void add(struct fdb *f, uint64_t key, uint16_t port, uint16_t flags, uint64_t seen_ns)
{
	struct fdb_entry e = entry(key, port, flags, seen_ns);

	assert_int_equal(fdb_add(f, &e), 0);
}

static struct fdb_stats stats(const struct fdb *f)
{
	struct fdb_stats s;

	fdb_stats(f, &s);
	return s;
}

/* Runs what the control thread would, until no resize is due. */
static void settle(struct fdb *f)
{
	for (int i = 0; i < 100000 && fdb_maintain(f, SEC); i++)
		;
	assert_false(fdb_maintain(f, SEC));
}

static void frames_change_entries_as_a_bridge_does(void **state)
{
	enum { NONE = 1 << 15 };
	static const struct {
		const char *name;
		uint16_t flags, port;
		enum fdb_learned want;
		uint16_t to_flags, to_port;
	} rows[] = {
		/* clang-format off */
		{ "unknown is entered",            NONE,                    2, FDB_NEW,   0,          2 },
		{ "dynamic on its port",           0,                       1, FDB_SAME,  0,          1 },
		{ "dynamic moves",                 0,                       2, FDB_MOVED, 0,          2 },
		{ "static on its port",            FDB_STATIC,              1, FDB_SAME,  FDB_STATIC, 1 },
		{ "static moves, stays static",    FDB_STATIC,              2, FDB_MOVED, FDB_STATIC, 2 },
		{ "sticky does not move",          FDB_STICKY,              2, FDB_STUCK, FDB_STICKY, 1 },
		{ "sticky static does not move",   FDB_STICKY | FDB_STATIC, 2, FDB_STUCK,
		  FDB_STICKY | FDB_STATIC, 1 },
		{ "extern on its port",            FDB_EXTERN,              1, FDB_SAME,  FDB_EXTERN, 1 },
		{ "extern moves, is dynamic",      FDB_EXTERN,              2, FDB_MOVED, 0,          2 },
		{ "locked moves, is unlocked",     FDB_LOCKED,              2, FDB_MOVED, 0,          2 },
		{ "locked on its port",            FDB_LOCKED,              1, FDB_SAME,  FDB_LOCKED, 1 },
		{ "local on its port",             FDB_LOCAL,               1, FDB_OWN,   FDB_LOCAL,  1 },
		{ "local elsewhere",               FDB_LOCAL,               2, FDB_OWN,   FDB_LOCAL,  1 },
		{ "kernel's moves, is a worker's", FDB_KERNEL | FDB_USER,   2, FDB_MOVED, FDB_USER,   2 },
		/* clang-format on */
	};
	uint64_t key = nth_key(5);

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct fdb *f = open_fdb(100, 0, 0);
		struct fdb_entry e;
		struct fdb_dst d = { 0 };
		enum fdb_learned got;

		if (rows[i].flags != NONE)
			add(f, key, 1, rows[i].flags, 100 * SEC);
		got = fdb_learn(f, key, rows[i].port, 100 * SEC + 500 * MSEC);
		assert_int_equal(fdb_get(f, key, &e), 0);
		assert_true(fdb_lookup(f, key, &d));
		if (got != rows[i].want || e.flags != rows[i].to_flags ||
		    e.port != rows[i].to_port || d.flags != e.flags ||
		    d.dst != ((uint32_t)e.port << 12 | e.vid))
			fail_msg("%s: result %d flags %#x port %u", rows[i].name, got, e.flags,
				 e.port);
		assert_int_equal(stats(f).n_moves, got == FDB_MOVED);
		fdb_free(f);
	}
}

static void handle_names_port_and_vlan(void **state)
{
	struct fdb *f = open_fdb(100, 0, 0);
	struct mac m = { { 2, 0, 0, 0xaa, 0xbb, 0xcc } };
	struct fdb_dst d = { 77, 77 };

	(void)state;
	assert_int_equal(fdb_learn(f, fdb_key(4094, &m), 1023, SEC), FDB_NEW);
	assert_false(fdb_lookup(f, fdb_key(4093, &m), &d));
	assert_int_equal(d.dst, 77);
	assert_true(fdb_lookup(f, fdb_key(4094, &m), &d));
	assert_int_equal(fdb_dst_port(d.dst), 1023);
	assert_int_equal(fdb_dst_vid(d.dst), 4094);
	fdb_free(f);
}

static void time_is_written_once_per_granularity(void **state)
{
	struct fdb *f = open_fdb(100, 0, 0);
	uint64_t key = nth_key(1), now = 50 * SEC, n = 0;
	struct fdb_entry e;

	(void)state;
	assert_int_equal(fdb_learn(f, key, 1, now), FDB_NEW);
	for (int i = 1; i <= 10000; i++) /* 10 s in steps of 1 ms */
		n += fdb_learn(f, key, 1, now + i * MSEC) == FDB_REFRESHED;
	assert_int_equal(n, 10);
	fdb_set_granularity(f, SEC / 8);
	for (int i = 1; i <= 1000; i++)
		n += fdb_learn(f, key, 1, now + 10 * SEC + i * MSEC) == FDB_REFRESHED;
	assert_in_range(n, 17, 18);
	assert_int_equal(fdb_get(f, key, &e), 0);
	assert_in_range(now + 11 * SEC - e.seen_ns, 0, SEC / 8);
	/* A clock that is behind writes nothing. */
	assert_int_equal(fdb_learn(f, key, 1, now), FDB_SAME);
	fdb_free(f);
}

static void time_of_a_daemon_that_runs_for_ever_does_not_wrap(void **state)
{
	static const uint64_t starts[] = { 0,          1ULL << 32,     1ULL << 52,
					   1ULL << 62, UINT64_MAX / 2, UINT64_MAX - 100 * SEC };

	(void)state;
	for (size_t i = 0; i < N_ELEM(starts); i++) {
		struct fdb *f = open_fdb(100, 0, 0);
		struct fdb_cursor c = { 0 };
		struct fdb_entry e;
		uint64_t t = starts[i];

		assert_int_equal(fdb_learn(f, nth_key(1), 1, t), FDB_NEW);
		assert_int_equal(fdb_get(f, nth_key(1), &e), 0);
		assert_in_range(t - e.seen_ns, 0, (1 << 20) - 1);
		assert_int_equal(fdb_learn(f, nth_key(1), 1, t + SEC / 2), FDB_SAME);
		assert_int_equal(fdb_learn(f, nth_key(1), 1, t + SEC), FDB_REFRESHED);
		assert_int_equal(fdb_age(f, t + 2 * SEC - 2 * MSEC, SEC, &c, 1000, NULL, NULL), 0);
		assert_int_equal(fdb_age(f, t + 2 * SEC, SEC, &c, 1000, NULL, NULL), 1);
		fdb_free(f);
	}
}

static void full_table_refuses_and_counts(void **state)
{
	struct fdb *f = open_fdb(100, 0, 0);
	struct fdb_entry e = entry(nth_key(1000), 1, FDB_STATIC, 0);
	struct fdb_dst d = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(fdb_learn(f, nth_key(i), 1, SEC), FDB_NEW);
	assert_int_equal(fdb_learn(f, nth_key(100), 1, SEC), FDB_FULL);
	assert_int_equal(fdb_add(f, &e), -ENOSPC);
	assert_int_equal(stats(f).n_full, 2);
	assert_int_equal(stats(f).n_entries, 100);
	assert_false(fdb_lookup(f, nth_key(100), &d));
	assert_int_equal(fdb_learn(f, nth_key(3), 2, SEC), FDB_MOVED);
	assert_int_equal(fdb_del(f, nth_key(3)), 0);
	assert_int_equal(fdb_learn(f, nth_key(100), 1, SEC), FDB_NEW);
	fdb_free(f);
}

static void limit_counts_learned_entries_only(void **state)
{
	static const uint16_t others[] = { FDB_STATIC, FDB_LOCAL, FDB_EXTERN, FDB_USER,
					   FDB_KERNEL | FDB_USER };
	struct fdb *f = open_fdb(1000, 3, 0);

	(void)state;
	for (uint32_t i = 0; i < N_ELEM(others); i++)
		add(f, nth_key(100 + i), 1, others[i], SEC);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(fdb_learn(f, nth_key(i), 1, SEC), FDB_NEW);
	assert_int_equal(fdb_learn(f, nth_key(3), 1, SEC), FDB_LIMIT);
	assert_int_equal(stats(f).n_limit, 1);
	assert_int_equal(stats(f).n_learned, 3);
	assert_int_equal(stats(f).n_local, 1);
	/* Moves are not new entries. */
	assert_int_equal(fdb_learn(f, nth_key(0), 2, SEC), FDB_MOVED);
	assert_int_equal(fdb_learn(f, nth_key(102), 2, SEC), FDB_MOVED);
	assert_int_equal(stats(f).n_learned, 3);
	/* What the kernel holds as the user's is not counted any more. */
	assert_int_equal(fdb_set_flags(f, nth_key(0), 2, FDB_KERNEL, FDB_KERNEL), 0);
	assert_int_equal(stats(f).n_learned, 3);
	assert_int_equal(fdb_set_flags(f, nth_key(0), 2, FDB_USER, FDB_USER), 0);
	assert_int_equal(stats(f).n_learned, 2);
	assert_int_equal(fdb_learn(f, nth_key(3), 1, SEC), FDB_NEW);
	add(f, nth_key(1), 1, FDB_STATIC, SEC);
	assert_int_equal(fdb_del(f, nth_key(2)), 0);
	assert_int_equal(stats(f).n_learned, 1);
	fdb_set_max_learned(f, 1);
	assert_int_equal(fdb_learn(f, nth_key(4), 1, SEC), FDB_LIMIT);
	fdb_set_max_learned(f, 0);
	assert_int_equal(fdb_learn(f, nth_key(4), 1, SEC), FDB_NEW);
	fdb_free(f);
}

static void no_room_until_maintained_is_counted(void **state)
{
	struct fdb *f = open_fdb(10000, 0, 16);
	uint32_t n = 0, i;
	struct fdb_dst d = { 0 };

	(void)state;
	while (fdb_learn(f, nth_key(n), 1, SEC) == FDB_NEW)
		n++;
	assert_in_range(n, 24, 16 * 3 + 20 * 3);
	assert_int_equal(stats(f).n_no_room, 1);
	assert_int_equal(stats(f).n_entries, n);
	settle(f);
	assert_int_equal(fdb_learn(f, nth_key(n), 1, SEC), FDB_NEW);
	for (i = 0; i <= n; i++)
		assert_true(fdb_lookup(f, nth_key(i), &d));
	fdb_free(f);
}

static void control_thread_adds_without_maintenance(void **state)
{
	struct fdb *f = open_fdb(50000, 0, 16);
	struct fdb_dst d = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 50000; i++)
		add(f, nth_key(i), (uint16_t)(i % 1000), 0, SEC);
	for (uint32_t i = 0; i < 50000; i++) {
		assert_true(fdb_lookup(f, nth_key(i), &d));
		assert_int_equal(fdb_dst_port(d.dst), i % 1000);
	}
	assert_int_equal(stats(f).n_entries, 50000);
	fdb_free(f);
}

static void removal_may_depend_on_the_port(void **state)
{
	struct fdb *f = open_fdb(100, 0, 0);
	struct fdb_entry e;

	(void)state;
	add(f, nth_key(1), 4, FDB_STATIC, SEC);
	assert_int_equal(fdb_del_if(f, nth_key(1), 5), -ENOENT);
	assert_int_equal(fdb_get(f, nth_key(1), &e), 0);
	assert_int_equal(fdb_del_if(f, nth_key(1), 4), 0);
	assert_int_equal(fdb_get(f, nth_key(1), &e), -ENOENT);
	assert_int_equal(fdb_del(f, nth_key(1)), -ENOENT);
	assert_int_equal(fdb_set_flags(f, nth_key(1), FDB_ANY, FDB_USER, FDB_USER), -ENOENT);
	/* It comes back as what it is now. */
	assert_int_equal(fdb_learn(f, nth_key(1), 9, 2 * SEC), FDB_NEW);
	assert_int_equal(fdb_get(f, nth_key(1), &e), 0);
	assert_true(e.port == 9 && e.flags == 0);
	assert_int_equal(fdb_set_flags(f, nth_key(1), 8, FDB_USER, FDB_USER), -ENOENT);
	fdb_free(f);
}

static void what_was_read_does_not_undo_a_move(void **state)
{
	struct fdb *f = open_fdb(100, 0, 0);
	struct fdb_entry e = entry(nth_key(1), 2, FDB_KERNEL, 9 * SEC);

	(void)state;
	/* The kernel has it on port 2; then a worker sees it on port 1. */
	assert_int_equal(fdb_add_unless_moved(f, &e), 0);
	assert_int_equal(fdb_learn(f, nth_key(1), 1, 10 * SEC), FDB_MOVED);
	assert_int_equal(fdb_add_unless_moved(f, &e), -EEXIST);
	assert_int_equal(fdb_get(f, nth_key(1), &e), 0);
	assert_true(e.port == 1 && e.flags == 0);
	/* The kernel holds it there now: what it says next is newer, whenever a frame came. */
	assert_int_equal(fdb_set_flags(f, nth_key(1), 1, FDB_KERNEL, FDB_KERNEL), 0);
	e = entry(nth_key(1), 2, FDB_KERNEL, 9 * SEC);
	assert_int_equal(fdb_add_unless_moved(f, &e), 0);
	assert_int_equal(fdb_get(f, nth_key(1), &e), 0);
	assert_true(e.port == 2 && e.flags == FDB_KERNEL);
	fdb_free(f);
}

static void flush_removes_what_matches(void **state)
{
	/* i: port i % 4 + 1, VID i % 7, flags of i % 3 */
	static const uint16_t flags[] = { 0, FDB_STATIC, FDB_KERNEL | FDB_USER };
	static const struct {
		const char *name;
		struct fdb_filter filter;
	} rows[] = {
		/* clang-format off */
		{ "all",               { FDB_ANY, FDB_ANY, 0, 0 } },
		{ "port",              { 2, FDB_ANY, 0, 0 } },
		{ "VID 0",             { FDB_ANY, 0, 0, 0 } },
		{ "port and VID",      { 3, 6, 0, 0 } },
		{ "not static",        { FDB_ANY, FDB_ANY, FDB_STATIC, 0 } },
		{ "static of a port",  { 1, FDB_ANY, FDB_STATIC, FDB_STATIC } },
		{ "kernel, not static", { FDB_ANY, 3, FDB_STATIC | FDB_KERNEL, FDB_KERNEL } },
		{ "unused port",       { 9, FDB_ANY, 0, 0 } },
		/* clang-format on */
	};
	struct fdb_dst d = { 0 };

	(void)state;
	for (size_t r = 0; r < N_ELEM(rows); r++) {
		struct fdb_filter q = rows[r].filter;
		struct fdb *f = open_fdb(1000, 0, 16);
		uint32_t n = 0;

		for (uint32_t i = 0; i < 840; i++)
			add(f, nth_key(i), (uint16_t)(i % 4 + 1), flags[i % 3], SEC);
		for (uint32_t i = 0; i < 840; i++)
			n += (q.port == FDB_ANY || q.port == i % 4 + 1) &&
			     (q.vid == FDB_ANY || q.vid == i % 7) &&
			     (flags[i % 3] & q.mask) == q.flags;
		if (fdb_flush(f, &q) != n || stats(f).n_entries != 840 - n)
			fail_msg("%s: wrong number", rows[r].name);
		for (uint32_t i = 0; i < 840; i++) {
			bool gone = (q.port == FDB_ANY || q.port == i % 4 + 1) &&
				    (q.vid == FDB_ANY || q.vid == i % 7) &&
				    (flags[i % 3] & q.mask) == q.flags;

			if (fdb_lookup(f, nth_key(i), &d) == gone)
				fail_msg("%s: entry %u", rows[r].name, i);
		}
		fdb_free(f);
	}
}

static void count_cb(const struct fdb_entry *e, void *arg)
{
	uint32_t *n = arg;

	n[e->mac.b[4] << 8 | e->mac.b[5]]++;
}

static void ages_only_what_nobody_else_holds(void **state)
{
	static const uint16_t flags[] = { 0,          FDB_STICKY, FDB_LOCKED, FDB_USER,
					  FDB_STATIC, FDB_LOCAL,  FDB_EXTERN, FDB_KERNEL };
	uint32_t seen[65536] = { 0 }, n = 0;
	struct fdb *f = open_fdb(1000, 0, 128);
	struct fdb_cursor c = { 0 };
	struct fdb_dst d = { 0 };
	int calls = 0;

	(void)state;
	for (uint32_t i = 0; i < 160; i++)
		add(f, nth_key(i), 1, flags[i % 8], i < 80 ? 10 * SEC : 15 * SEC);
	do {
		n += fdb_age(f, 21 * SEC, 10 * SEC, &c, 16, count_cb, seen);
		calls++;
	} while (c.pos);
	assert_int_equal(calls, 128 / 16);
	assert_int_equal(n, 40);
	for (uint32_t i = 0; i < 160; i++) {
		assert_int_equal(seen[i], i < 80 && i % 8 < 4);
		assert_int_equal(fdb_lookup(f, nth_key(i), &d), !seen[i]);
	}
	fdb_free(f);
}

static void walk_across_resizes_sees_each_entry_once(void **state)
{
	static uint32_t seen[65536];
	struct fdb *f = open_fdb(60000, 0, 16);
	struct fdb_filter late = { 2, FDB_ANY, 0, 0 };
	struct fdb_cursor c = { 0 };
	uint32_t next = 1000;

	(void)state;
	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < 1000; i++)
		add(f, nth_key(i), 1, 0, SEC);
	/* One bucket at a time, while the table grows by steps, is emptied and shrinks. */
	while (fdb_walk(f, &c, 1, count_cb, seen)) {
		for (int k = 0; k < 40 && next < 40000; k++)
			add(f, nth_key(next++), 2, 0, SEC);
		if (next == 40000)
			next += fdb_flush(f, &late);
		fdb_maintain(f, SEC);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		if (seen[i] != 1)
			fail_msg("entry %u was seen %u times", i, seen[i]);
	}
	assert_true(next > 40000 && stats(f).n_resizes >= 3);
	assert_int_equal(c.pos, 0);
	fdb_free(f);
}

static void walk_across_a_shrink_sees_each_entry_once(void **state)
{
	static uint32_t seen[65536];
	struct fdb_filter others = { 2, FDB_ANY, 0, 0 };

	(void)state;
	/* The table is halved when the walk has passed @at buckets: one of two that become one. */
	for (uint32_t at = 1; at < 60; at += 2) {
		struct fdb *f = open_fdb(2048, 0, 16);
		struct fdb_cursor c = { 0 };

		memset(seen, 0, sizeof(seen));
		for (uint32_t i = 0; i < 2048; i++)
			add(f, nth_key(i), i < 500 ? 1 : 2, 0, SEC);
		settle(f);
		urcu_qsbr_barrier();
		assert_int_equal(stats(f).n_buckets, 2048);
		assert_int_equal(fdb_flush(f, &others), 2048 - 500);
		assert_true(fdb_walk(f, &c, at, count_cb, seen));
		settle(f);
		assert_int_equal(stats(f).n_buckets, 1024);
		while (fdb_walk(f, &c, 10, count_cb, seen))
			;
		for (uint32_t i = 0; i < 2048; i++) {
			if (seen[i] != (i < 500))
				fail_msg("at %u: entry %u was seen %u times", at, i, seen[i]);
		}
		fdb_free(f);
	}
}

static void an_operation_carries_few_buckets(void **state)
{
	struct fdb *f = open_fdb(200000, 0, 16);
	uint64_t before = 0, most_learn = 0, most_maintain = 0;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		enum fdb_learned r = fdb_learn(f, nth_key(i), 1, SEC);
		uint64_t n = stats(f).n_carried;

		most_learn = n - before > most_learn ? n - before : most_learn;
		before = n;
		if (i % 16 && r == FDB_NEW)
			continue;
		fdb_maintain(f, SEC);
		n = stats(f).n_carried;
		most_maintain = n - before > most_maintain ? n - before : most_maintain;
		before = n;
	}
	assert_in_range(most_learn, 1, 3);
	assert_in_range(most_maintain, 1, FDB_MAINTAIN_BUCKETS);
	assert_true(stats(f).n_buckets >= 65536);
	fdb_free(f);
}

static void places_of_removed_keys_come_back(void **state)
{
	struct fdb_filter all = { FDB_ANY, FDB_ANY, 0, 0 };
	struct fdb *f = open_fdb(2000, 0, 0);
	uint32_t failed = 0;

	(void)state;
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 1000; i++) {
			failed += fdb_learn(f, nth_key(round * 1000 + i), 1, SEC) != FDB_NEW;
			if (i % 100 == 0)
				settle(f);
		}
		assert_int_equal(fdb_flush(f, &all), 1000);
		settle(f);
		urcu_qsbr_barrier();
	}
	assert_int_equal(failed, 0);
	assert_int_equal(stats(f).n_entries, 0);
	assert_int_equal(stats(f).n_learned, 0);
	assert_in_range(stats(f).n_buckets, 256, 1024);
	fdb_free(f);
}

static void adding_grows_the_table_before_it_is_full(void **state)
{
	struct fdb *f = open_fdb(200000, 0, 256);
	uint64_t before = 0, present = 0;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		uint64_t n;

		add(f, nth_key(i), 1, 0, SEC);
		n = stats(f).n_carried;
		assert_in_range(n - before, 0, 3);
		before = n;
		if (f->build) {
			n = f->n_present > present ? f->n_present - present : f->n_present;
			assert_in_range(n, 1, FDB_ADD_BYTES);
		}
		present = f->build ? f->n_present : 0;
	}
	assert_int_equal(stats(f).n_no_room, 0);
	assert_true(stats(f).n_buckets >= 65536);
	fdb_free(f);
}

/* An allocator that keeps account, and that fails when it is told to. */
static struct {
	size_t size;
	uint32_t n_areas, n_asked;
	bool fails;
} heap;

static void *counted_alloc(size_t size)
{
	void *p;

	heap.n_asked++;
	if (heap.fails)
		return NULL;
	p = aligned_alloc(64, size);
	assert_non_null(p);
	memset(p, 0, size);
	heap.size += size;
	heap.n_areas++;
	return p;
}

static void counted_free(void *p, size_t size)
{
	heap.size -= size;
	heap.n_areas--;
	free(p);
}

static void tables_come_from_the_allocator_and_go_back(void **state)
{
	struct fdb_config cfg = {
		.max_entries = 50000, .alloc = counted_alloc, .free = counted_free, .seed = { 1, 2 }
	};
	struct fdb *f;

	(void)state;
	memset(&heap, 0, sizeof(heap));
	heap.fails = true;
	assert_null(fdb_new(&cfg));
	heap.fails = false;
	f = fdb_new(&cfg);
	assert_non_null(f);
	for (uint32_t i = 0; i < 50000; i++)
		add(f, nth_key(i), 1, 0, SEC);
	settle(f);
	urcu_qsbr_barrier();
	assert_int_equal(heap.n_areas, 1);
	assert_in_range(heap.size, stats(f).n_buckets * 64, stats(f).mem_size);
	fdb_free(f);
	assert_int_equal(heap.n_areas, 0);
	assert_int_equal(heap.size, 0);
}

static void short_memory_is_tried_again_after_a_second(void **state)
{
	struct fdb_config cfg = {
		.max_entries = 50000, .alloc = counted_alloc, .free = counted_free, .seed = { 1, 2 }
	};
	struct fdb *f = fdb_new(&cfg);
	uint64_t n;

	(void)state;
	assert_non_null(f);
	heap.fails = true;
	heap.n_asked = 0;
	for (uint32_t i = 0; i < 512; i++)
		add(f, nth_key(i), 1, 0, SEC);
	assert_int_equal(heap.n_asked, 1);
	for (n = SEC; n < 2 * SEC; n += SEC / 10)
		assert_false(fdb_maintain(f, n));
	assert_int_equal(heap.n_asked, 2);
	heap.fails = false;
	for (int i = 0; i < 1000 && fdb_maintain(f, n); i++)
		;
	assert_int_equal(stats(f).n_buckets, 1024);
	for (uint32_t i = 512; i < 5000; i++)
		add(f, nth_key(i), 1, 0, SEC);
	assert_int_equal(stats(f).n_no_room, 0);
	fdb_free(f);
}

static void bad_configuration_is_refused(void **state)
{
	struct fdb_config cfg = { 0 };

	(void)state;
	assert_null(fdb_new(&cfg));
	cfg.max_entries = (1U << 26) + 1;
	assert_null(fdb_new(&cfg));
	cfg.max_entries = 1000;
	cfg.alloc = counted_alloc;
	assert_null(fdb_new(&cfg));
	fdb_free(NULL);
}

static void what_becomes_of_a_source_address_is_counted(void **state)
{
	struct count_port c = { 0 };
	const struct {
		enum fdb_learned what;
		const uint64_t *counter;
	} rows[] = {
		{ FDB_NEW, &c.learned },      { FDB_MOVED, &c.moved },
		{ FDB_OWN, &c.own_source },   { FDB_FULL, &c.fdb_full },
		{ FDB_LIMIT, &c.fdb_limit },  { FDB_BUSY, &c.fdb_busy },
		{ FDB_STUCK, &c.fdb_sticky },
	};

	(void)state;
	count_learned(&c, FDB_SAME);
	count_learned(&c, FDB_REFRESHED);
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		assert_int_equal(*rows[i].counter, 0);
		count_learned(&c, rows[i].what);
		assert_int_equal(*rows[i].counter, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_becomes_of_a_source_address_is_counted),
		cmocka_unit_test(frames_change_entries_as_a_bridge_does),
		cmocka_unit_test(handle_names_port_and_vlan),
		cmocka_unit_test(time_is_written_once_per_granularity),
		cmocka_unit_test(time_of_a_daemon_that_runs_for_ever_does_not_wrap),
		cmocka_unit_test(full_table_refuses_and_counts),
		cmocka_unit_test(limit_counts_learned_entries_only),
		cmocka_unit_test(no_room_until_maintained_is_counted),
		cmocka_unit_test(control_thread_adds_without_maintenance),
		cmocka_unit_test(removal_may_depend_on_the_port),
		cmocka_unit_test(what_was_read_does_not_undo_a_move),
		cmocka_unit_test(flush_removes_what_matches),
		cmocka_unit_test(ages_only_what_nobody_else_holds),
		cmocka_unit_test(walk_across_resizes_sees_each_entry_once),
		cmocka_unit_test(walk_across_a_shrink_sees_each_entry_once),
		cmocka_unit_test(an_operation_carries_few_buckets),
		cmocka_unit_test(places_of_removed_keys_come_back),
		cmocka_unit_test(adding_grows_the_table_before_it_is_full),
		cmocka_unit_test(tables_come_from_the_allocator_and_go_back),
		cmocka_unit_test(short_memory_is_tried_again_after_a_second),
		cmocka_unit_test(bad_configuration_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
