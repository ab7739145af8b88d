/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/mdb.h"

/* Both halves of the product of @a and @b in one word. */
static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t mdb_key_hash(const struct mdb_key *k, uint64_t seed)
{
	uint64_t h = seed ^ ((uint64_t)k->vid << 8 | k->family), w[2];

	memcpy(w, k->group, sizeof(w));
	h = fold(h ^ w[0], seed | 1);
	h = fold(h ^ w[1], 0x9e3779b97f4a7c15ULL);
	memcpy(w, k->source, sizeof(w));
	h = fold(h ^ w[0], seed | 1);
	return fold(h ^ w[1], 0xd6e8feb86659fd93ULL);
}
