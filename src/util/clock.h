/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock: monotonic time in nanoseconds, the same clock as bpf_ktime_get_ns().
 *
 * core/ never calls it: time is passed in. Compare two readings as signed
 * numbers, clock_diff(), because they may come from different CPUs.
 */
#ifndef XB_UTIL_CLOCK_H
#define XB_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

/* [any] Nanoseconds of CLOCK_MONOTONIC; never 0. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* @a - @b, negative if @b is later. */
static inline int64_t clock_diff(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

#endif
