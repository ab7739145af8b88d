/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * local_told: what the kernel told of a bridge's own addresses and what does not
 * follow from the devices, by key: a hash table of at most LOCAL_TOLD_MAX words.
 * Belongs to core/local.c. Control thread only. All zero is an empty table.
 */
#ifndef XB_CORE_LOCAL_TOLD_H
#define XB_CORE_LOCAL_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/local.h"

#define LOCAL_MAC_MASK 0xffffffffffffULL

enum local_word_kind {
	LOCAL_WORD_NONE,      /* a free place */
	LOCAL_WORD_THERE,     /* told to be there; waits */
	LOCAL_WORD_GONE,      /* told to be gone; waits */
	LOCAL_WORD_EXCEPTION, /* is gone */
	LOCAL_WORD_ADDED,     /* was gone, came again: a user's, stays without the device */
	LOCAL_WORD_STORED,    /* was handed out to be stored; may be explained yet */
};

struct local_word_told {
	uint64_t key;
	uint64_t since_ns;
	uint16_t slot; /* of LOCAL_WORD_THERE */
	uint8_t what;
};

struct local_words {
	struct local_word_told *v;
	uint32_t size; /* places, a power of 2, or 0 */
	uint32_t n;
	uint32_t n_exceptions;
	uint32_t n_waiting; /* LOCAL_WORD_THERE and LOCAL_WORD_GONE */
	bool is_missed;     /* one found no place */
	uint64_t missed_ns;
};

/* The word about @key, or NULL. Valid until the next addition or removal. */
struct local_word_told *local_words_find(const struct local_words *t, uint64_t key);

/* A new word about @key, which has none; NULL: no room. */
struct local_word_told *local_words_add(struct local_words *t, uint64_t key,
					enum local_word_kind what);

void local_words_set(struct local_words *t, struct local_word_told *w, enum local_word_kind what);

/*
 * Removes @w. A word that comes later may move into its place, and one from the
 * beginning of the table to its end, but none that comes later to before @w.
 */
void local_words_del(struct local_words *t, struct local_word_told *w);

void local_words_clear(struct local_words *t);

#endif
