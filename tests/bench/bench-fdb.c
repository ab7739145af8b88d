/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-fdb: what the operations of core/fdb cost, beside the same work with
 * liburcu's cds_lfht (same hash, nodes from malloc), at 1 k to 1 M entries.
 *
 * The time is that of the thread's CPU. In learn, the fdb begins empty with 256 buckets and grows,
 * the cds_lfht has its final size from the beginning.
 *
 * "batch" asks for the memory of 32 keys and then looks the 32 up, as a worker
 * does; "single" looks them up one by one.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <urcu/urcu-qsbr.h>

#include <urcu/rculfhash.h>

#include "bench-fdb.h"
#include "bench.h"

#define BATCH     32
#define OPS_MIN   (1U << 19) /* of one run */
#define N_ELEM(a) (sizeof(a) / sizeof((a)[0]))

struct node {
	struct cds_lfht_node lfht;
	struct rcu_head rcu;
	uint64_t key;
	_Atomic uint64_t value; /* port << 48 | seen */
};

/* One size: both tables hold the first @n of @hit; @miss are in neither. */
struct subject {
	struct fdb *f;
	struct cds_lfht *h;
	uint64_t *hit, *miss;
	uint32_t n;
	uint64_t now_ns;
};

enum what { HIT, MISS, REFRESH, N_WHAT };

static volatile uint64_t sink;

/* It is made for @n entries at once, because its own growth lags behind in a busy machine. */
static struct cds_lfht *make_lfht(uint32_t n)
{
	return bench_must(cds_lfht_new_flavor(n, n, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING,
					      &urcu_qsbr_flavor, NULL));
}

/* ---- the rival ---- */

static int node_match(struct cds_lfht_node *n, const void *key)
{
	return caa_container_of(n, struct node, lfht)->key == *(const uint64_t *)key;
}

static struct node *lfht_find(const struct subject *s, uint64_t key)
{
	struct cds_lfht_iter it;
	struct cds_lfht_node *n;

	cds_lfht_lookup(s->h, fdb_hash(s->f, key), node_match, &key, &it);
	n = cds_lfht_iter_get_node(&it);
	return n ? caa_container_of(n, struct node, lfht) : NULL;
}

static void lfht_learn_new(const struct subject *s, uint64_t key)
{
	struct node *n = bench_must(malloc(sizeof(*n)));

	n->key = key;
	n->value = 7ULL << 48;
	cds_lfht_node_init(&n->lfht);
	if (cds_lfht_add_unique(s->h, fdb_hash(s->f, key), node_match, &n->key, &n->lfht) !=
	    &n->lfht)
		free(n);
}

static void lfht_refresh(const struct subject *s, uint64_t key)
{
	struct node *n = lfht_find(s, key);
	uint64_t v = n ? n->value : 0;

	if (n && s->now_ns / SEC - (v & 0xffffffff) >= 1)
		n->value = (v & ~0xffffffffULL) | s->now_ns / SEC;
}

static void node_free(struct rcu_head *head)
{
	free(caa_container_of(head, struct node, rcu));
}

static void lfht_free(struct cds_lfht *h)
{
	struct cds_lfht_iter it;
	struct node *n;

	cds_lfht_for_each_entry(h, &it, n, lfht)
	{
		cds_lfht_del(h, &n->lfht);
		urcu_qsbr_call_rcu(&n->rcu, node_free);
	}
	urcu_qsbr_barrier();
	/* It may be resizing still; that thread needs us out of the way. */
	urcu_qsbr_thread_offline();
	cds_lfht_destroy(h, NULL);
	urcu_qsbr_thread_online();
}

/* ---- operations on keys that are there, or not ---- */

static void fdb_batch(struct subject *s, enum what what, const uint64_t *k)
{
	struct fdb_dst d = { 0 };
	uint64_t sum = 0;

	for (int i = 0; i < BATCH; i++) {
		if (what == REFRESH)
			sum += fdb_learn(s->f, k[i], 7, s->now_ns);
		else if (fdb_lookup(s->f, k[i], &d))
			sum += d.dst;
	}
	sink = sum;
}

static void lfht_batch(struct subject *s, enum what what, const uint64_t *k)
{
	uint64_t sum = 0;

	for (int i = 0; i < BATCH; i++) {
		const struct node *n;

		if (what == REFRESH) {
			lfht_refresh(s, k[i]);
			continue;
		}
		n = lfht_find(s, k[i]);
		sum += n ? n->value >> 48 : 0;
	}
	sink = sum;
}

enum how { FDB_BATCH, FDB_SINGLE, LFHT, N_HOW };

/* ns of one operation */
static double run(struct subject *s, enum what what, enum how how)
{
	const uint64_t *keys = what == MISS ? s->miss : s->hit;
	uint64_t begin = bench_cpu_ns(), n = 0;

	while (n < OPS_MIN) {
		s->now_ns += 2 * SEC; /* every entry is due for one refresh in each pass */
		for (uint32_t i = 0; i < s->n; i += BATCH) {
			for (int j = 0; how == FDB_BATCH && j < BATCH; j++)
				fdb_prefetch(s->f, keys[i + j]);
			if (how == LFHT)
				lfht_batch(s, what, keys + i);
			else
				fdb_batch(s, what, keys + i);
			urcu_qsbr_quiescent_state();
		}
		n += s->n;
	}
	return (double)(bench_cpu_ns() - begin) / (double)n;
}

/*
 * ns of one frame: its source is known and not due, its destination is looked
 * up, and both were asked for @ahead frames before, as dp/ingress.c does it.
 */
static double run_frames(struct subject *s, uint32_t ahead)
{
	uint64_t begin = bench_cpu_ns(), n = 0, sum = 0;
	struct fdb_dst d = { 0 };

	while (n < OPS_MIN) {
		for (uint32_t i = 0; i < s->n; i += 2 * BATCH) {
			const uint64_t *k = s->hit + i;

			for (uint32_t j = 0; j < BATCH + ahead; j++) {
				if (j < BATCH) {
					fdb_prefetch(s->f, k[2 * j]);
					fdb_prefetch(s->f, k[2 * j + 1]);
				}
				if (j < ahead)
					continue;
				sum += fdb_learn(s->f, k[2 * (j - ahead)], 7, s->now_ns);
				if (fdb_lookup(s->f, k[2 * (j - ahead) + 1], &d))
					sum += d.dst;
			}
			urcu_qsbr_quiescent_state();
		}
		n += s->n / 2;
	}
	sink = sum;
	return (double)(bench_cpu_ns() - begin) / (double)n;
}

static void measure_frames(struct subject *s)
{
	static const uint32_t ahead[] = { 0, 2, 4, 8, 16, 32 };
	struct bench_runs r[N_ELEM(ahead)];
	char name[64];

	memset(r, 0, sizeof(r));
	run(s, REFRESH, FDB_BATCH);
	for (int k = 0; k < BENCH_RUNS; k++) {
		for (size_t i = 0; i < N_ELEM(ahead); i++)
			bench_add(&r[i], run_frames(s, ahead[i]));
	}
	for (size_t i = 0; i < N_ELEM(ahead); i++) {
		snprintf(name, sizeof(name), "fdb.frame.%uk.ahead-%u", s->n / 1024, ahead[i]);
		bench_report(name, "ns/op", &r[i], NULL);
	}
}

static uint64_t learn_batch(struct subject *s, enum how how, const uint64_t *k, uint64_t *n_failed)
{
	uint64_t begin = bench_now_ns(), end;

	if (how == LFHT) {
		for (int j = 0; j < BATCH; j++)
			lfht_learn_new(s, k[j]);
	} else {
		for (int j = 0; how == FDB_BATCH && j < BATCH; j++)
			fdb_prefetch(s->f, k[j]);
		for (int j = 0; j < BATCH; j++)
			*n_failed += fdb_learn(s->f, k[j], 7, s->now_ns) != FDB_NEW;
	}
	end = bench_now_ns();
	urcu_qsbr_quiescent_state();
	if (how != LFHT)
		fdb_maintain(s->f, s->now_ns);
	return end - begin;
}

/*
 * From nothing to @n entries, ns of one learn; what the control thread does in
 * between (in this thread, so that it can be left out) is not measured.
 */
static double run_learn(struct subject *s, enum how how, uint64_t *n_failed)
{
	uint64_t ns = 0, n = 0;

	while (n < OPS_MIN / 8) {
		struct subject t = *s;

		if (how == LFHT)
			t.h = make_lfht(s->n);
		else
			t.f = bench_fdb_new(256);
		for (uint32_t i = 0; i < s->n; i += BATCH)
			ns += learn_batch(&t, how, s->hit + i, n_failed);
		n += s->n;
		if (how == LFHT)
			lfht_free(t.h);
		else
			fdb_free(t.f);
	}
	return (double)ns / (double)n;
}

static void subject_fill(struct subject *s)
{
	s->hit = bench_keys(s->n, 0);
	s->miss = bench_keys(s->n, 1);
	s->f = bench_fdb_new(256);
	s->h = make_lfht(s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		while (fdb_learn(s->f, s->hit[i], 7, s->now_ns) == FDB_FULL) {
			fdb_maintain(s->f, s->now_ns);
			urcu_qsbr_quiescent_state();
		}
		lfht_learn_new(s, s->hit[i]);
		urcu_qsbr_quiescent_state();
	}
	while (fdb_maintain(s->f, s->now_ns))
		urcu_qsbr_quiescent_state();
}

static void report(uint32_t n, const char *what, const char *how, const struct bench_runs *r,
		   const struct bench_runs *rival)
{
	char name[64];

	snprintf(name, sizeof(name), "fdb.%s.%uk.%s", what, n / 1024, how);
	bench_report(name, "ns/op", r, rival);
}

struct medians {
	double v[N_WHAT + 1][N_HOW]; /* learn is the last one */
	double least[N_WHAT + 1][N_HOW];
};

static void measure(uint32_t n, struct medians *m)
{
	static const char *const names[] = { "hit", "miss", "refresh", "learn" };
	static struct bench_runs r[N_WHAT + 1][N_HOW];
	struct subject s = { .n = n, .now_ns = 1000 * SEC };
	uint64_t n_failed = 0;

	memset(r, 0, sizeof(r));
	subject_fill(&s);
	/* In turn, so that a slow moment of the machine meets all of them. */
	for (int k = 0; k < BENCH_RUNS; k++) {
		for (int what = 0; what <= N_WHAT; what++) {
			for (int how = 0; how < N_HOW; how++)
				bench_add(&r[what][how], what < N_WHAT
								 ? run(&s, what, how)
								 : run_learn(&s, how, &n_failed));
		}
	}
	for (int what = 0; what <= N_WHAT; what++) {
		report(n, names[what], "batch", &r[what][FDB_BATCH], &r[what][LFHT]);
		report(n, names[what], "single", &r[what][FDB_SINGLE], &r[what][LFHT]);
		for (int how = 0; how < N_HOW; how++) {
			m->v[what][how] = bench_median(&r[what][how]);
			m->least[what][how] = bench_least(&r[what][how]);
		}
	}
	measure_frames(&s);
	if (n_failed)
		printf("%llu learns found no room\n", (unsigned long long)n_failed);
	fdb_free(s.f);
	lfht_free(s.h);
	free(s.hit);
	free(s.miss);
}

static void report_scaling(const struct medians *small, const struct medians *large)
{
	static const char *const names[] = { "hit", "miss", "refresh", "learn" };
	static const char *const how[] = { "batch", "single", "lfht" };
	char name[64];

	for (int i = 0; i <= N_WHAT; i++) {
		for (int k = 0; k < N_HOW; k++) {
			snprintf(name, sizeof(name), "fdb.%s.256k-by-1k.%s", names[i], how[k]);
			bench_report_value(name, "x", large->v[i][k] / small->v[i][k]);
			snprintf(name, sizeof(name), "fdb.%s.256k-by-1k.%s.least", names[i],
				 how[k]);
			bench_report_value(name, "x", large->least[i][k] / small->least[i][k]);
		}
	}
}

int main(void)
{
	static const uint32_t sizes[] = { 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20 };
	struct medians m[N_ELEM(sizes)];

	urcu_qsbr_register_thread();
	for (size_t i = 0; i < N_ELEM(sizes); i++)
		measure(sizes[i], &m[i]);
	report_scaling(&m[0], &m[4]);
	urcu_qsbr_unregister_thread();
	return bench_finish() ? 1 : 0;
}
