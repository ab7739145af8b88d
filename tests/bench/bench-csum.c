/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-csum: nanoseconds for a frame in csum_complete(), best of several
 * rounds, frames in the cache. "complete" is what it costs to see that there
 * is nothing to do.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/csum.h"
#include "util/clock.h"

#define N_FRAMES    64
#define N_CALLS     20000
#define N_ROUNDS    20
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
		uint64_t start = clock_now_ns();
		double ns;

		for (int i = 0; i < N_CALLS; i++) {
			uint8_t *p = frames[i % N_FRAMES];

			memcpy(p + FIELD_AT, field, 2);
			if (csum_complete(p, len) != want)
				return -1;
		}
		ns = (double)clock_diff(clock_now_ns(), start) / N_CALLS;
		if (!round || ns < best)
			best = ns;
	}
	return best;
}

int main(void)
{
	static const uint32_t lens[] = { 60, 128, 512, 1514 };

	printf("%8s %12s %12s\n", "bytes", "complete ns", "partial ns");
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		double complete = measure(lens[i], false, CSUM_WAS_COMPLETE);
		double partial = measure(lens[i], true, CSUM_COMPLETED);

		if (complete < 0 || partial < 0) {
			fprintf(stderr, "bench-csum: unexpected result at %u bytes\n", lens[i]);
			return 1;
		}
		printf("%8u %12.1f %12.1f\n", lens[i], complete, partial);
	}
	return 0;
}
