/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bitset: a fixed number of bits in 64-bit words that the caller owns.
 *
 * Indexes are not checked here. No locking: one thread at a time.
 */
#ifndef XB_UTIL_BITSET_H
#define XB_UTIL_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words that hold @n bits. */
static inline size_t bitset_words(uint32_t n)
{
	return ((size_t)n + 63) / 64;
}

static inline bool bitset_test(const uint64_t *b, uint32_t i)
{
	return b[i / 64] >> (i % 64) & 1;
}

static inline void bitset_set(uint64_t *b, uint32_t i)
{
	b[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void bitset_clear(uint64_t *b, uint32_t i)
{
	b[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* The bits that are set in the first @n_words words. */
static inline uint32_t bitset_count(const uint64_t *b, size_t n_words)
{
	uint32_t n = 0;

	for (size_t i = 0; i < n_words; i++)
		n += (uint32_t)__builtin_popcountll(b[i]);
	return n;
}

#endif
