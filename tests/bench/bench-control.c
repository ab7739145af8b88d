/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-control: what changes of VLANs cost the control plane.
 *
 * usage: bench-control
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/fdb.h"
#include "core/model.h"

#define N_MEMBERS 64
#define N_VLANS   4000
#define N_OPS     20000
#define BURST     64

struct churn {
	struct model *m;
	struct fdb *fdb;
	struct view *v;
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
	struct view *v = view_build(r->m, r->v, &n);

	if (!v)
		return -1;
	view_free(r->v);
	r->v = v;
	*n_floods += n;
	return 0;
}

/* One VLAN of one port goes and comes again, another one each time; operations in a second. */
static double churn_run(struct churn *r, uint32_t burst, uint64_t *n_floods)
{
	uint64_t start = bench_now_ns();

	for (uint32_t i = 0; i < N_OPS; i++) {
		uint16_t slot = (uint16_t)(1 + i / 2 * 7 % N_MEMBERS);
		uint16_t vid = (uint16_t)(1 + i / 2 * 1009 % N_VLANS);
		uint8_t mv = i % 2 ? MV_MEMBER | MV_STATE(PORT_FORWARDING) : 0;

		if (model_port_vlan_set(r->m, slot, vid, mv))
			return 0;
		if (i % burst == burst - 1 && churn_publish(r, n_floods))
			return 0;
	}
	return N_OPS * 1e9 / (double)(bench_now_ns() - start);
}

static int churn(const char *name, uint32_t burst)
{
	struct bench_runs ops = { .n = 0 };
	uint64_t n_floods = 0;
	char line[64];
	struct churn r;
	bool ok = !churn_open(&r) && churn_run(&r, burst, &n_floods) > 0;

	n_floods = 0;
	for (int i = 0; ok && i < BENCH_RUNS; i++) {
		double v = churn_run(&r, burst, &n_floods);

		ok = v > 0;
		bench_add(&ops, v);
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

int main(void)
{
	int err = churn("view-each", 1) || churn("burst-64", BURST);

	return err || bench_finish() ? 1 : 0;
}
