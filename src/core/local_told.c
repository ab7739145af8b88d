/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/local_told.h"

#include <stdlib.h>

#define SIZE_MIN 64

static uint32_t home(const struct local_words *t, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (t->size - 1);
}

struct local_word_told *local_words_find(const struct local_words *t, uint64_t key)
{
	if (!t->size)
		return NULL;
	for (uint32_t i = home(t, key); t->v[i].what; i = (i + 1) & (t->size - 1)) {
		if (t->v[i].key == key)
			return &t->v[i];
	}
	return NULL;
}

static struct local_word_told *free_place(const struct local_words *t, uint64_t key)
{
	uint32_t i = home(t, key);

	while (t->v[i].what)
		i = (i + 1) & (t->size - 1);
	return &t->v[i];
}

static bool grow(struct local_words *t)
{
	struct local_words to = *t;

	to.size = t->size ? 2 * t->size : SIZE_MIN;
	to.v = calloc(to.size, sizeof(*to.v));
	if (!to.v)
		return false;
	for (uint32_t i = 0; i < t->size; i++) {
		if (t->v[i].what)
			*free_place(&to, t->v[i].key) = t->v[i];
	}
	free(t->v);
	*t = to;
	return true;
}

static bool is_waiting(unsigned int what)
{
	return what == LOCAL_WORD_THERE || what == LOCAL_WORD_GONE;
}

void local_words_set(struct local_words *t, struct local_word_told *w, enum local_word_kind what)
{
	t->n_exceptions -= w->what == LOCAL_WORD_EXCEPTION;
	t->n_exceptions += what == LOCAL_WORD_EXCEPTION;
	t->n_waiting -= is_waiting(w->what);
	t->n_waiting += is_waiting(what);
	w->what = (uint8_t)what;
}

struct local_word_told *local_words_add(struct local_words *t, uint64_t key,
					enum local_word_kind what)
{
	struct local_word_told *w;

	if (t->n == LOCAL_TOLD_MAX || (2 * t->n >= t->size && !grow(t)))
		return NULL;
	w = free_place(t, key);
	*w = (struct local_word_told){ .key = key };
	local_words_set(t, w, what);
	t->n++;
	return w;
}

void local_words_del(struct local_words *t, struct local_word_told *w)
{
	uint32_t mask = t->size - 1, hole = (uint32_t)(w - t->v);

	local_words_set(t, w, LOCAL_WORD_NONE);
	t->n--;
	/* What could not have its place because of this one moves up. */
	for (uint32_t i = (hole + 1) & mask; t->v[i].what; i = (i + 1) & mask) {
		uint32_t want = home(t, t->v[i].key);

		if (((i - want) & mask) < ((i - hole) & mask))
			continue;
		t->v[hole] = t->v[i];
		t->v[i].what = LOCAL_WORD_NONE;
		hole = i;
	}
	if (!t->n)
		local_words_clear(t);
}

void local_words_clear(struct local_words *t)
{
	free(t->v);
	t->v = NULL;
	t->size = 0;
	t->n = t->n_exceptions = t->n_waiting = 0;
}
