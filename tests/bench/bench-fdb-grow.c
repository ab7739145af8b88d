/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-fdb-grow: how long one call of a worker or of the control thread may take
 * while a table grows to 1 M entries, and how long a flush of 1 M takes. CPU
 * time of the thread. README.md says what is the table and what is the machine.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <urcu/urcu-qsbr.h>

#include "bench-fdb.h"
#include "bench.h"
#include "util/hugemem.h"

#define BATCH          32
#define DAEMON_BUCKETS 16384

static volatile uint64_t sink;

/* ---- a worker ---- */

static _Atomic bool growing;

static void *maintain_thread(void *arg)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	urcu_qsbr_register_thread();
	while (growing) {
		fdb_maintain(arg, SEC);
		urcu_qsbr_thread_offline();
		nanosleep(&pause, NULL);
		urcu_qsbr_thread_online();
	}
	urcu_qsbr_unregister_thread();
	return NULL;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* CPU time of each of N_MAX steps. */
struct growth {
	uint32_t learn[N_MAX];
	uint32_t read[N_MAX];  /* one byte of a cleared block of 64 MiB: what the machine adds */
	uint32_t least[N_MAX]; /* learn, the least of all runs with the same work at each step */
	uint64_t keys[N_MAX];
	uint8_t block[64 << 20];
};

static void grow_step(struct fdb *f, struct growth *g, uint32_t i, uint64_t *n_failed)
{
	const volatile uint8_t *p = &g->block[bench_rnd() % sizeof(g->block)];
	uint64_t begin = bench_cpu_ns(), middle, end;
	enum fdb_learned l;

	sink = *p;
	middle = bench_cpu_ns();
	l = fdb_learn(f, g->keys[i], 7, SEC);
	end = bench_cpu_ns();
	g->read[i] = (uint32_t)(middle - begin);
	g->learn[i] = (uint32_t)(end - middle);
	*n_failed += l != FDB_NEW;
	if (i % BATCH == 0)
		urcu_qsbr_quiescent_state();
}

/* As in the daemon, a control thread beside; the number of failed learns. */
static uint64_t grow_threads(struct growth *g)
{
	struct fdb *f = bench_fdb_new(DAEMON_BUCKETS);
	uint64_t n_failed = 0;
	pthread_t t;

	growing = true;
	if (pthread_create(&t, NULL, maintain_thread, f)) {
		fprintf(stderr, "bench-fdb-grow: no thread\n");
		exit(1);
	}
	for (uint32_t i = 0; i < N_MAX; i++)
		grow_step(f, g, i, &n_failed);
	growing = false;
	urcu_qsbr_thread_offline();
	pthread_join(t, NULL);
	urcu_qsbr_thread_online();
	fdb_free(f);
	return n_failed;
}

/* Alone and with one seed, so that each run does the same work at each step. */
static void grow_alone(struct growth *g, bool first)
{
	struct fdb_config cfg = { .max_entries = N_MAX,
				  .n_buckets = DAEMON_BUCKETS,
				  .alloc = hugemem_alloc,
				  .free = hugemem_free,
				  .seed = { 1, 2 } };
	struct fdb *f = bench_must(fdb_new(&cfg));
	uint64_t n_failed = 0;

	for (uint32_t i = 0; i < N_MAX; i++) {
		grow_step(f, g, i, &n_failed);
		if (first || g->learn[i] < g->least[i])
			g->least[i] = g->learn[i];
		if (i % 2048 == 0)
			fdb_maintain(f, SEC);
	}
	fdb_free(f);
}

static double n_above(const uint32_t *ns, uint32_t limit)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < N_MAX; i++)
		n += ns[i] > limit;
	return n;
}

static double percentile(uint32_t *ns, double part)
{
	qsort(ns, N_MAX, sizeof(*ns), compare);
	return ns[(uint32_t)((N_MAX - 1) * part)] / 1e3;
}

static void measure_growth(void)
{
	struct growth *g = bench_must(malloc(sizeof(*g)));
	struct bench_runs p50 = { .n = 0 }, p999 = { .n = 0 }, p9999 = { .n = 0 };
	struct bench_runs read9999 = { .n = 0 }, failed = { .n = 0 };
	struct bench_runs over = { .n = 0 }, read_over = { .n = 0 };
	uint64_t *keys = bench_keys(N_MAX, 0);

	memset(g, 0, sizeof(*g));
	memcpy(g->keys, keys, sizeof(g->keys));
	free(keys);
	for (int k = 0; k < BENCH_RUNS; k++) {
		bench_add(&failed, (double)grow_threads(g));
		bench_add(&over, n_above(g->learn, 100000));
		bench_add(&read_over, n_above(g->read, 100000));
		bench_add(&p50, percentile(g->learn, 0.5));
		bench_add(&p999, percentile(g->learn, 0.999));
		bench_add(&p9999, percentile(g->learn, 0.9999));
		bench_add(&read9999, percentile(g->read, 0.9999));
		grow_alone(g, !k);
	}
	bench_report("fdb.grow-to-1M.learn.p50", "us", &p50, NULL);
	bench_report("fdb.grow-to-1M.learn.p99.9", "us", &p999, NULL);
	bench_report("fdb.grow-to-1M.learn.p99.99", "us", &p9999, NULL);
	bench_report("fdb.grow-to-1M.one-read.p99.99", "us", &read9999, NULL);
	bench_report("fdb.grow-to-1M.learn.over-100us", "ops", &over, NULL);
	bench_report("fdb.grow-to-1M.one-read.over-100us", "ops", &read_over, NULL);
	bench_report_value("fdb.grow-to-1M.least.p99.99", "us", percentile(g->least, 0.9999));
	bench_report_value("fdb.grow-to-1M.least.max", "us", percentile(g->least, 1));
	bench_report("fdb.grow-to-1M.learn.failed", "ops", &failed, NULL);
	free(g);
}

/* ---- the control thread ---- */

static double timed_flush(struct fdb *f, uint16_t port)
{
	const struct fdb_filter q = { .port = port, .vid = FDB_ANY };
	uint64_t begin = bench_cpu_ns();

	sink = fdb_flush(f, &q);
	return (double)(bench_cpu_ns() - begin) / 1e6;
}

/* Fills a table by fdb_add() alone, as a dump of the kernel's does; ns of each call. */
static void control_fill(struct fdb *f, const uint64_t *keys, uint32_t *ns)
{
	for (uint32_t i = 0; i < N_MAX; i++) {
		struct fdb_entry e = { .mac = mac_from_u64(keys[i] & 0xffffffffffffULL),
				       .vid = (uint16_t)(keys[i] >> 48),
				       .port = 7,
				       .flags = FDB_KERNEL };
		uint64_t begin = bench_cpu_ns();

		if (fdb_add(f, &e))
			printf("no room for entry %u\n", i);
		ns[i] = (uint32_t)(bench_cpu_ns() - begin);
	}
}

static void measure_control(void)
{
	uint32_t *ns = bench_must(malloc(N_MAX * sizeof(*ns)));
	struct bench_runs p9999 = { .n = 0 }, most = { .n = 0 };
	struct bench_runs none = { .n = 0 }, all = { .n = 0 };
	uint64_t *keys = bench_keys(N_MAX, 0);

	for (int k = 0; k < BENCH_RUNS; k++) {
		struct fdb *f = bench_fdb_new(DAEMON_BUCKETS);

		control_fill(f, keys, ns);
		bench_add(&p9999, percentile(ns, 0.9999));
		bench_add(&most, percentile(ns, 1));
		bench_add(&none, timed_flush(f, 8));
		bench_add(&all, timed_flush(f, 7));
		fdb_free(f);
	}
	bench_report("fdb.add-to-1M.p99.99", "us", &p9999, NULL);
	bench_report("fdb.add-to-1M.max", "us", &most, NULL);
	bench_report("fdb.flush-1M.none", "ms", &none, NULL);
	bench_report("fdb.flush-1M.all", "ms", &all, NULL);
	free(keys);
	free(ns);
}

int main(void)
{
	urcu_qsbr_register_thread();
	measure_control();
	measure_growth();
	urcu_qsbr_unregister_thread();
	return bench_finish() ? 1 : 0;
}
