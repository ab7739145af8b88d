/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dice: numbers that follow from a seed.
 */
#ifndef XB_ORACLE_DICE_H
#define XB_ORACLE_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

/* splitmix64 */
static inline uint64_t roll64(struct dice *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* 0 to @n - 1. */
static inline uint32_t roll(struct dice *d, uint32_t n)
{
	return (uint32_t)(roll64(d) % n);
}

static inline bool chance(struct dice *d, uint32_t percent)
{
	return roll(d, 100) < percent;
}

#endif
