/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench: how a benchmark reports. One thread.
 *
 * Each result is one line: name, unit, median, spread of the runs (from
 * the least to the greatest, in percent of the median) and, if something else
 * was measured beside it, that one's median and ours divided by it. With
 * BENCH_JSON=FILE the results are also added to the array in FILE.
 */
#ifndef XB_TESTS_BENCH_H
#define XB_TESTS_BENCH_H

#include <stdint.h>

#define BENCH_RUNS 5

/* Runs of one thing. */
struct bench_runs {
	double v[BENCH_RUNS];
	uint32_t n;
};

/* Drops what is too much. */
void bench_add(struct bench_runs *r, double v);
/* 0 without runs. */
double bench_median(const struct bench_runs *r);
double bench_least(const struct bench_runs *r);
/* @rival may be NULL. */
void bench_report(const char *name, const char *unit, const struct bench_runs *r,
		  const struct bench_runs *rival);
/* The same for one number. */
void bench_report_value(const char *name, const char *unit, double v);
/* Writes the file; 0 or a negative errno, which has been said on stderr. */
int bench_finish(void);

/* CLOCK_MONOTONIC and the thread's CPU time, in ns. */
uint64_t bench_now_ns(void);
uint64_t bench_cpu_ns(void);

#endif
