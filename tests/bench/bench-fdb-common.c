/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench-fdb.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/hugemem.h"

static uint64_t rnd_state = 42;

uint64_t bench_rnd(void)
{
	uint64_t z = (rnd_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

void *bench_must(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

uint64_t *bench_keys(uint32_t n, unsigned int odd)
{
	uint64_t *k = bench_must(malloc(n * sizeof(*k)));

	for (uint32_t i = 0; i < n; i++)
		k[i] = (1 + bench_rnd() % 100) << 48 | 2ULL << 40 | (bench_rnd() % 256) << 32 |
		       (uint64_t)i << 1 | odd;
	for (uint32_t i = n - 1; i; i--) {
		uint32_t j = (uint32_t)(bench_rnd() % (i + 1));
		uint64_t t = k[i];

		k[i] = k[j];
		k[j] = t;
	}
	return k;
}

struct fdb *bench_fdb_new(uint32_t n_buckets)
{
	const struct fdb_config cfg = { .max_entries = N_MAX,
					.n_buckets = n_buckets,
					.alloc = hugemem_alloc,
					.free = hugemem_free,
					.seed = { bench_rnd(), bench_rnd() } };

	return bench_must(fdb_new(&cfg));
}
