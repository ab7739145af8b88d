/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-fwd: nanoseconds for fwd_decide() of a unicast frame between two of 64
 * ports in 256 VLANs, whose own addresses the bridge has too.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/fwd.h"
#include "core/local.h"
#include "core/model.h"

#define N_PORTS    64
#define N_VLANS    256
#define N_STATIONS 4096 /* a power of 2 */
#define N_FRAMES   (1U << 20)
#define N_BUFFERS  64
#define FRAME_LEN  64
#define STATION    0x020000000000ULL
#define NOBODY     0x02ff00000000ULL
#define DEVICE     0x02ee00000000ULL

struct rig {
	struct model *m;
	struct fdb *fdb;
	struct local *local;
	struct view *v;
};

static uint8_t frames[N_BUFFERS][FRAME_LEN];

static int rig_open(struct rig *r)
{
	const struct fdb_config cfg = { .max_entries = 1 << 20,
					.n_buckets = 16384,
					.seed = { 1, 2 } };
	const struct model_bridge_attr br = { .filtering = true, .learning = true, .tpid = 0x8100 };
	struct model_port_attr a = { .flags = MP_LEARNING | MP_UNICAST_FLOOD,
				     .state = PORT_FORWARDING,
				     .mtu = 1500 };

	*r = (struct rig){ .m = model_new(), .fdb = fdb_new(&cfg), .local = local_new(0) };
	if (!r->m || !r->fdb || !r->local || model_bridge_set(r->m, 0, &br, r->fdb, NULL, NULL))
		return -1;
	for (uint16_t vid = 1; vid <= N_VLANS; vid++)
		a.vlan[vid] = MV_MEMBER | MV_STATE(PORT_FORWARDING);
	for (uint16_t slot = 1; slot <= N_PORTS; slot++) {
		struct mac mac = mac_from_u64(DEVICE | slot);

		if (model_port_set(r->m, slot, &a, NULL) || local_set_owner(r->local, slot, &mac))
			return -1;
	}
	if (local_publish(r->local, r->m) < 0)
		return -1;
	r->v = view_build(r->m, NULL, NULL);
	for (uint64_t i = 0; i < N_STATIONS; i++)
		fdb_learn(r->fdb, (1 + i % N_VLANS) << 48 | STATION | i,
			  (uint16_t)(1 + i % N_PORTS), 0);
	while (fdb_maintain(r->fdb, 0))
		;
	return r->v ? 0 : -1;
}

static void rig_close(struct rig *r)
{
	view_free(r->v);
	model_free(r->m);
	local_free(r->local);
	fdb_free(r->fdb);
}

static void make_frame(uint8_t *p, uint64_t dst, uint64_t src, uint16_t vid)
{
	struct mac d = mac_from_u64(dst), s = mac_from_u64(src);

	memcpy(p, d.b, MAC_LEN);
	memcpy(p + MAC_LEN, s.b, MAC_LEN);
	memcpy(p + 12, (uint8_t[]){ 0x81, 0, (uint8_t)(vid >> 8), (uint8_t)vid, 0x88, 0xb5 }, 6);
}

/* ns for a frame to @base + a station's number, from its VLAN; *@n_to: destinations. */
static double round_ns(const struct rig *r, uint64_t base, uint64_t *n_to)
{
	uint64_t start = bench_cpu_ns();

	*n_to = 0;
	for (uint32_t i = 0; i < N_FRAMES; i++) {
		uint8_t *p = frames[i % N_BUFFERS];
		struct frame f = { .data = p, .len = FRAME_LEN };
		uint64_t src = i % N_STATIONS, dst = (src + 5 * N_VLANS) % N_STATIONS;
		struct verdict v;

		make_frame(p, base | dst, STATION | src, (uint16_t)(1 + src % N_VLANS));
		fwd_decide(r->v, (uint16_t)(1 + src % N_PORTS), &f, 1, &v);
		*n_to += v.n;
	}
	return (double)(bench_cpu_ns() - start) / N_FRAMES;
}

static int measure(const struct rig *r, const char *name, uint64_t base, uint32_t want)
{
	struct bench_runs runs = { .n = 0 };

	for (int i = 0; i <= BENCH_RUNS; i++) {
		uint64_t n_to;
		double ns = round_ns(r, base, &n_to);

		if (n_to != (uint64_t)want * N_FRAMES) {
			fprintf(stderr, "bench-fwd: wrong number of destinations\n");
			return -1;
		}
		if (i)
			bench_add(&runs, ns);
	}
	bench_report(name, "ns", &runs, NULL);
	return 0;
}

int main(void)
{
	struct rig r;
	int err = rig_open(&r);

	if (!err)
		err = measure(&r, "fwd.known-unicast", STATION, 1);
	if (!err)
		err = measure(&r, "fwd.unknown-unicast", NOBODY, N_PORTS);
	rig_close(&r);
	return err || bench_finish() ? 1 : 0;
}
