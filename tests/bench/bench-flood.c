/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-flood: TSC cycles for a flooded frame, from its bytes to the
 * descriptors of its copies in the rings of the ports, beside what the kernel
 * bridge needed for the whole frame (kernel-flood.csv; its copies, queues and
 * a driver are in that number).
 *
 * usage: bench-flood [CSV]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/fwd.h"
#include "core/model.h"
#include "util/clock.h"

#define N_ROUNDS   16
#define N_FRAMES   4096 /* of a round; a multiple of every number of VLANs */
#define RING_SIZE  2048
#define FRAME_LEN  64
#define FRAME_SIZE 128
#define N_BUFFERS  64
#define STATION    0x020000000a01ULL
#define NOBODY     0x020000000a99ULL

struct desc {
	uint64_t addr;
	uint32_t len, options;
};

struct ring {
	uint32_t head;
	struct desc desc[RING_SIZE];
};

struct row {
	unsigned int vids, ports, members;
	double cycles; /* of the kernel, after its own improvement */
};

struct rig {
	struct model *m;
	struct fdb *fdb;
	struct view *v;
};

static struct ring rings[XB_MAX_PORTS];
static uint8_t frames[N_BUFFERS][FRAME_SIZE];

/* TSC cycles; nanoseconds where there is no TSC. */
static uint64_t ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return clock_now_ns();
#endif
}

/* VLAN 1 + i has port 1, where the frames come in, and others, beginning with another one each. */
static void add_vlans(struct model_port_attr *a, unsigned int slot, const struct row *row)
{
	for (unsigned int i = 0; i < row->vids; i++) {
		unsigned int at = (slot + row->ports - 2 - i % (row->ports - 1)) % (row->ports - 1);

		if (slot == 1 || at < row->members - 1)
			a->vlan[1 + i] = MV_MEMBER | MV_STATE(PORT_FORWARDING);
	}
}

static int rig_open(struct rig *r, const struct row *row)
{
	const struct fdb_config cfg = { .max_entries = 65536, .seed = { 1, 2 } };
	const struct model_bridge_attr br = { .filtering = true, .learning = true, .tpid = 0x8100 };

	*r = (struct rig){ .m = model_new(), .fdb = fdb_new(&cfg) };
	if (!r->m || !r->fdb || model_bridge_set(r->m, 0, &br, r->fdb, NULL, NULL))
		return -1;
	for (unsigned int slot = 1; slot <= row->ports; slot++) {
		struct model_port_attr a = {
			.flags = MP_LEARNING | MP_UNICAST_FLOOD | MP_MCAST_FLOOD | MP_BCAST_FLOOD,
			.state = PORT_FORWARDING,
			.mtu = 1500,
		};

		add_vlans(&a, slot, row);
		if (model_port_set(r->m, (uint16_t)slot, &a, NULL))
			return -1;
	}
	r->v = view_build(r->m, NULL, NULL);
	/* The stations are known before the clock runs. */
	for (unsigned int i = 0; i < row->vids; i++)
		fdb_learn(r->fdb, (uint64_t)(1 + i) << 48 | STATION, 1, 0);
	while (fdb_maintain(r->fdb, 0))
		;
	return r->v ? 0 : -1;
}

static void rig_close(struct rig *r)
{
	view_free(r->v);
	model_free(r->m);
	fdb_free(r->fdb);
}

static void make_frame(uint8_t *p, unsigned int vid)
{
	struct mac dst = mac_from_u64(NOBODY), src = mac_from_u64(STATION);

	memset(p, 0, FRAME_LEN);
	memcpy(p, dst.b, MAC_LEN);
	memcpy(p + MAC_LEN, src.b, MAC_LEN);
	memcpy(p + 12, (uint8_t[]){ 0x81, 0, (uint8_t)(vid >> 8), (uint8_t)vid, 0x88, 0xb5 }, 6);
}

static uint32_t flood(const struct verdict *v, const struct frame *f, uint64_t addr)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		struct ring *r;

		if (fwd_admit(v, &v->dst[i]))
			continue;
		r = &rings[v->dst[i].port];
		r->desc[r->head++ % RING_SIZE] = (struct desc){ .addr = addr, .len = f->len };
		n++;
	}
	return n;
}

/* Cycles for a frame; 0 if the copies are not as many as they should be. */
static double round_cycles(const struct rig *r, const struct row *row)
{
	uint64_t start = ticks(), n = 0, end;

	for (unsigned int i = 0; i < N_FRAMES; i++) {
		uint8_t *p = frames[i % N_BUFFERS];
		struct frame f = { .data = p, .len = FRAME_LEN };
		unsigned int vid = 1 + i % row->vids;
		struct verdict v;

		/* A frame of another VLAN has just arrived in this buffer. */
		if (row->vids > N_BUFFERS) {
			p[14] = (uint8_t)(vid >> 8);
			p[15] = (uint8_t)vid;
		}
		fwd_decide(r->v, 1, &f, 1, &v);
		n += flood(&v, &f, (uint64_t)(i % N_BUFFERS) * FRAME_SIZE);
	}
	end = ticks();
	if (n != (uint64_t)N_FRAMES * (row->members - 1))
		return 0;
	return (double)(end - start) / N_FRAMES;
}

/* The least of some short rounds: what other processes take of the CPU is not ours. */
static bool measure(const struct rig *r, const struct row *row, struct bench_runs *runs)
{
	double best = round_cycles(r, row);

	for (int i = 1; i < N_ROUNDS; i++) {
		double cycles = round_cycles(r, row);

		if (cycles < best)
			best = cycles;
	}
	bench_add(runs, best);
	return best > 0;
}

static int run_row(const struct row *row)
{
	struct bench_runs runs = { .n = 0 }, kernel = { .v = { row->cycles }, .n = 1 };
	struct bench_runs warm_up = { .n = 0 };
	char name[64];
	struct rig r;
	bool ok;

	for (unsigned int i = 0; i < N_BUFFERS; i++)
		make_frame(frames[i], 1 + i % row->vids);
	ok = !rig_open(&r, row) && measure(&r, row, &warm_up);
	for (int i = 0; ok && i < BENCH_RUNS; i++)
		ok = measure(&r, row, &runs);
	rig_close(&r);
	if (!ok) {
		fprintf(stderr, "bench-flood: wrong number of copies\n");
		return 1;
	}
	snprintf(name, sizeof(name), "%u VLANs, %u ports, %u members", row->vids, row->ports,
		 row->members);
	bench_report(name, "cycles", &runs, &kernel);
	return 0;
}

static int parse(const char *line, struct row *row)
{
	int n = sscanf(line, "%u,%u,%u,%*f,%*f,%*f,%lf", &row->vids, &row->ports, &row->members,
		       &row->cycles);

	if (n != 4 || !row->vids || row->vids > 1024 || row->ports < 2 || row->ports > 512 ||
	    row->members < 2 || row->members > row->ports)
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : BENCH_DIR "/kernel-flood.csv";
	FILE *f = fopen(path, "r");
	char line[256];
	struct row row;
	int err = 0;

	if (!f || !fgets(line, sizeof(line), f)) {
		fprintf(stderr, "bench-flood: cannot read %s\n", path);
		return 1;
	}
	while (!err && fgets(line, sizeof(line), f)) {
		err = parse(line, &row);
		if (!err)
			err = run_row(&row);
	}
	fclose(f);
	return err || bench_finish() ? 1 : 0;
}
