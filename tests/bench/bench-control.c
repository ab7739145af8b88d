/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-control: what many ports and VLANs cost the control plane: a start,
 * one event of the kernel, and one change of the model. The kernel's messages
 * are made up (control-kernel.c); what reads them is the daemon's own.
 *
 * usage: bench-control
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-qsbr.h>

#include "bench.h"
#include "control-kernel.h"
#include "core/fdb.h"
#include "core/model.h"

#define N_MEMBERS 64
#define N_VLANS   4000
#define N_OPS     20000
#define BURST     50
#define N_BUILDS  4000
#define BATCH_NS  20000 /* of a worker: 64 frames */

struct churn {
	struct model *m;
	struct fdb *fdb;
	struct view *v;
	bool has_worker, is_done;
	uint64_t seen; /* by the worker */
};

static int churn_open(struct churn *r)
{
	const struct fdb_config cfg = { .max_entries = 65536, .seed = { 1, 2 } };
	const struct model_bridge_attr br = { .filtering = true, .learning = true, .tpid = 0x8100 };

	*r = (struct churn){ .m = model_new(), .fdb = fdb_new(&cfg) };
	if (!r->m || !r->fdb || model_bridge_set(r->m, 0, &br, r->fdb, NULL, NULL))
		return -1;
	for (uint16_t slot = 1; slot <= N_MEMBERS; slot++) {
		struct model_port_attr a = {
			.flags = MP_LEARNING | MP_UNICAST_FLOOD | MP_MCAST_FLOOD | MP_BCAST_FLOOD,
			.state = PORT_FORWARDING,
			.mtu = 1500,
		};

		for (uint16_t vid = 1; vid <= N_VLANS; vid++)
			a.vlan[vid] = MV_MEMBER | MV_STATE(PORT_FORWARDING);
		if (model_port_set(r->m, slot, &a, NULL))
			return -1;
	}
	r->v = view_build(r->m, NULL, NULL);
	return r->v ? 0 : -1;
}

/*
 * A worker in short: looks at the view, and says between two batches that it has
 * left it. Without frames, so that only what publishing itself waits for counts.
 */
static void *worker(void *arg)
{
	struct churn *r = arg;

	urcu_qsbr_register_thread();
	while (!__atomic_load_n(&r->is_done, __ATOMIC_RELAXED)) {
		const struct view *v = rcu_dereference(r->v);
		uint64_t start = bench_now_ns();

		while (bench_now_ns() - start < BATCH_NS)
			r->seen = v->gen;
		urcu_qsbr_quiescent_state();
	}
	urcu_qsbr_unregister_thread();
	return NULL;
}

static void churn_close(struct churn *r)
{
	view_free(r->v);
	model_free(r->m);
	fdb_free(r->fdb);
}

/* A view for the model as it is, in place of the last one; how many flood arrays were made. */
static int churn_publish(struct churn *r, uint64_t *n_floods)
{
	uint32_t n;
	struct view *v = view_build(r->m, r->v, &n), *old;

	if (!v)
		return -1;
	old = rcu_xchg_pointer(&r->v, v);
	if (r->has_worker)
		urcu_qsbr_synchronize_rcu();
	view_free(old);
	*n_floods += n;
	return 0;
}

/*
 * Change @i of a row of them: a VLAN of a port goes, another one each time, and
 * after @burst changes the same VLANs come again. True if it comes.
 */
static bool next_change(uint32_t i, uint32_t burst, uint32_t *port, uint16_t *vid)
{
	uint32_t n = i / burst / 2 * burst + i % burst;

	*port = n * 7 % N_MEMBERS;
	*vid = (uint16_t)(1 + n * 1009 % N_VLANS);
	return i / burst % 2;
}

/* Operations in a second, with a view after each @burst. */
static double churn_run(struct churn *r, uint32_t burst, uint64_t *n_floods)
{
	/* What is waited for counts where somebody else has to answer. */
	uint64_t (*clock)(void) = r->has_worker ? bench_now_ns : bench_cpu_ns;
	uint64_t start = clock();

	for (uint32_t i = 0; i < N_OPS; i++) {
		uint32_t port;
		uint16_t vid;
		bool comes = next_change(i, burst, &port, &vid);
		uint8_t mv = comes ? MV_MEMBER | MV_STATE(PORT_FORWARDING) : 0;

		if (model_port_vlan_set(r->m, (uint16_t)(1 + port), vid, mv))
			return 0;
		if (i % burst == burst - 1 && churn_publish(r, n_floods))
			return 0;
	}
	return N_OPS * 1e9 / (double)(clock() - start);
}

static int churn(const char *name, uint32_t burst, bool with_worker)
{
	struct bench_runs ops = { .n = 0 };
	uint64_t n_floods = 0;
	pthread_t thread;
	char line[64];
	struct churn r;
	bool ok = !churn_open(&r);

	if (ok && with_worker) {
		r.has_worker = true;
		ok = !pthread_create(&thread, NULL, worker, &r);
	}
	ok = ok && churn_run(&r, burst, &n_floods) > 0;

	n_floods = 0;
	for (int i = 0; ok && i < BENCH_RUNS; i++) {
		double v = churn_run(&r, burst, &n_floods);

		ok = v > 0;
		bench_add(&ops, v);
	}
	if (r.has_worker) {
		__atomic_store_n(&r.is_done, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
	}
	churn_close(&r);
	if (!ok) {
		fprintf(stderr, "bench-control: %s failed\n", name);
		return -1;
	}
	snprintf(line, sizeof(line), "control.vlan-change.%s", name);
	bench_report(line, "op/s", &ops, NULL);
	snprintf(line, sizeof(line), "control.vlan-change.%s.floods", name);
	bench_report_value(line, "/op", (double)n_floods / (BENCH_RUNS * N_OPS));
	return 0;
}

/* ---- the whole control plane ---- */

#define N_EVENTS 2000

/* Of /proc/self/status, in MB; 0 if it is not to be had. */
static double memory_mb(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t len = strlen(key);
	char line[256];
	double kb = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, len))
			kb = strtod(line + len, NULL);
	}
	if (f)
		fclose(f);
	return kb / 1024;
}

/* Events, with a run after each @burst; us for one. */
static double events_run(struct ctl *c, uint32_t burst, bool alone)
{
	uint64_t start = bench_cpu_ns();

	for (uint32_t i = 0; i < N_EVENTS; i++) {
		uint32_t port;
		uint16_t vid;
		bool comes = next_change(i, burst, &port, &vid);

		if (kernel_vlan_event(c, port, vid, comes, alone))
			return -1;
		if (i % burst == burst - 1 && reconcile_run(c))
			return -1;
	}
	return (double)(bench_cpu_ns() - start) / N_EVENTS / 1e3;
}

static int events(struct ctl *c, const char *name, uint32_t burst, bool alone)
{
	struct bench_runs runs = { .n = 0 };
	uint64_t n_views = kernel_n_views;
	double v = events_run(c, burst, alone);
	char line[64];

	for (int i = 0; v >= 0 && i < BENCH_RUNS; i++) {
		n_views = kernel_n_views;
		v = events_run(c, burst, alone);
		bench_add(&runs, v);
	}
	if (v < 0 || kernel_n_views - n_views != N_EVENTS / burst)
		return -1;
	snprintf(line, sizeof(line), "control.vlan-event.%s", name);
	bench_report(line, "us", &runs, NULL);
	return 0;
}

static bool is_complete(const struct view *v)
{
	uint32_t n = 0;

	for (uint16_t vid = 0; v && v->bridge[0] && vid < VID_N; vid++) {
		const struct view_vlan *vv = view_vlan(v->bridge[0], vid);

		n += vv && vv->flood[FLOOD_BROADCAST].n == KERNEL_PORTS;
	}
	return n == KERNEL_VLANS;
}

static int start(void)
{
	uint64_t before = bench_now_ns(), cpu = bench_cpu_ns();
	struct ctl *c;
	int err;

	kernel_set(KERNEL_LIST_MIXED, KERNEL_PORTS);
	c = kernel_ctl_new();
	if (!c)
		return -1;
	err = kernel_start(c);
	if (!err && !is_complete(kernel_view()))
		err = -1;
	if (!err) {
		bench_report_value("control.start", "ms", (double)(bench_now_ns() - before) / 1e6);
		bench_report_value("control.start.cpu", "ms", (double)(bench_cpu_ns() - cpu) / 1e6);
		bench_report_value("control.start.rss", "MB", memory_mb("VmRSS:"));
		bench_report_value("control.start.peak", "MB", memory_mb("VmHWM:"));
	}
	err = err || events(c, "alone", 1, true) || events(c, "with-link", 1, false) ||
	      events(c, "burst-50", BURST, false);
	kernel_ctl_free(c);
	if (err)
		fprintf(stderr, "bench-control: start failed\n");
	return err;
}

/* view_build() alone, for one VLAN of one port. */
static int build(void)
{
	struct bench_runs runs = { .n = 0 };
	struct churn r;
	int err = churn_open(&r);

	for (uint32_t i = 0; !err && i < N_BUILDS * BENCH_RUNS; i++) {
		static uint64_t sum;
		uint64_t start_ns;
		struct view *v;
		uint32_t port;
		uint16_t vid;
		bool comes = next_change(i, 1, &port, &vid);

		err = model_port_vlan_set(r.m, (uint16_t)(1 + port), vid,
					  comes ? MV_MEMBER | MV_STATE(PORT_FORWARDING) : 0);
		start_ns = bench_cpu_ns();
		v = err ? NULL : view_build(r.m, r.v, NULL);
		sum += bench_cpu_ns() - start_ns;
		if (!v)
			err = -1;
		else
			view_free(r.v);
		r.v = v ? v : r.v;
		if (i % N_BUILDS == N_BUILDS - 1) {
			bench_add(&runs, (double)sum / N_BUILDS / 1e3);
			sum = 0;
		}
	}
	churn_close(&r);
	if (!err)
		bench_report("control.view-build.one-vlan", "us", &runs, NULL);
	return err;
}

int main(void)
{
	int err = start() || churn("view-each", 1, false) || churn("burst-50", BURST, false) ||
		  churn("published-each", 1, true) || churn("published-burst-50", BURST, true) ||
		  build();

	return err || bench_finish() ? 1 : 0;
}
