/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-fdb: what the benchmarks of core/fdb share. One thread.
 */
#ifndef XB_TESTS_BENCH_FDB_H
#define XB_TESTS_BENCH_FDB_H

#include <stdint.h>

#include "core/fdb.h"

#define N_MAX (1U << 20) /* entries of the greatest table */
#define SEC   1000000000ULL

/* The same numbers in each run. */
uint64_t bench_rnd(void);
/* @p, or the end of the program if it is NULL. */
void *bench_must(void *p);
/*
 * @n different unicast addresses in 100 VLANs, in no order; those with @odd 1
 * differ from those with 0. The caller frees them.
 */
uint64_t *bench_keys(uint32_t n, unsigned int odd);
/* A table of up to N_MAX entries in huge pages, as the daemon's. */
struct fdb *bench_fdb_new(uint32_t n_buckets);

#endif
