/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-csum: nanoseconds for a frame in csum_complete(), each run the best of
 * several rounds, frames in the cache. "complete" is what it costs to see that
 * there is nothing to do.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "core/csum.h"

#define N_FRAMES    64
#define N_CALLS     20000
#define N_ROUNDS    4
#define FRAME_SIZE  2048
#define FIELD_AT    50 /* of TCP over IPv4 without options */
#define L4_OVERHEAD 34

static uint8_t frames[N_FRAMES][FRAME_SIZE];

/* A TCP frame of @len bytes; its pseudo-header sum goes into @pseudo. */
static void make_frame(uint8_t *p, uint32_t len, uint8_t pseudo[2])
{
	uint32_t total = len - 14, l4_len = len - L4_OVERHEAD;
	uint8_t hdr[12] = { 10, 0, 0, 1, 10, 0, 0, 2, 0, 6 };
	uint16_t sum;

	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 31);
	memset(p + 12, 0, L4_OVERHEAD - 12);
	p[12] = 0x08;
	p[14] = 0x45;
	p[16] = (uint8_t)(total >> 8);
	p[17] = (uint8_t)total;
	p[23] = 6;
	memcpy(p + 26, hdr, 8);
	hdr[10] = (uint8_t)(l4_len >> 8);
	hdr[11] = (uint8_t)l4_len;
	sum = csum_fold_bytes(hdr, sizeof(hdr));
	memcpy(pseudo, &sum, 2);
}

static double measure(uint32_t len, bool partial, enum csum_result want)
{
	uint8_t field[2];
	double best = 0;

	for (int i = 0; i < N_FRAMES; i++)
		make_frame(frames[i], len, field);
	field[0] ^= partial ? 0 : 0x55;
	for (int round = 0; round < N_ROUNDS; round++) {
		uint64_t start = bench_now_ns();
		double ns;

		for (int i = 0; i < N_CALLS; i++) {
			uint8_t *p = frames[i % N_FRAMES];

			memcpy(p + FIELD_AT, field, 2);
			if (csum_complete(p, len) != want)
				return -1;
		}
		ns = (double)(bench_now_ns() - start) / N_CALLS;
		if (!round || ns < best)
			best = ns;
	}
	return best;
}

/* 0, or -1 if the checksums were not what was expected. */
static int report(const char *what, uint32_t len, bool partial, enum csum_result want)
{
	struct bench_runs r = { 0 };
	char name[32];

	for (int i = 0; i < BENCH_RUNS; i++) {
		double ns = measure(len, partial, want);

		if (ns < 0) {
			fprintf(stderr, "bench-csum: unexpected result at %u bytes\n", len);
			return -1;
		}
		bench_add(&r, ns);
	}
	snprintf(name, sizeof(name), "csum.%uB.%s", len, what);
	bench_report(name, "ns", &r, NULL);
	return 0;
}

int main(void)
{
	static const uint32_t lens[] = { 60, 128, 512, 1514 };

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		if (report("complete", lens[i], false, CSUM_WAS_COMPLETE) ||
		    report("partial", lens[i], true, CSUM_COMPLETED))
			return 1;
	return bench_finish() ? 1 : 0;
}
