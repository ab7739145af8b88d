/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdb_walk: going through a table piece by piece.
 *
 * A position is a hash. Homes in order are hashes in order in a table of any
 * size, so "all up to here have been seen" stays true across a resize. A piece
 * is the range of hashes that one home decides about in each table on the way:
 * entries outside it are left alone, they belong to another piece (and may be
 * copies that are not in force yet).
 */
#include "core/fdb_priv.h"

#define POS_END (1ULL << 32)

/* Which live entries to remove. */
struct pick {
	uint64_t mask, want; /* of the value */
	uint16_t vid;        /* or FDB_ANY */
	uint64_t now_ns, hold_ns;
	bool by_age;
};

struct piece {
	uint64_t pos, end;
	const struct fdb_table *t;
	bool is_home; /* all of one home: nothing in it belongs to another piece */
	uint32_t n;
	struct fdb_entry e[FDB_CHAIN_MAX];
};

static uint64_t home_end(const struct fdb_table *t, uint64_t pos)
{
	return ((pos >> t->shift) + 1) << t->shift;
}

/* Finds the table that decides about @pos, and how far that is so. */
static void piece_find(const struct fdb *f, uint64_t pos, struct piece *w)
{
	const struct fdb_table *t = atomic_load_explicit(&f->cur, memory_order_acquire);
	uint64_t end = home_end(t, pos);

	while (atomic_load_explicit(&fdb_home(t, (uint32_t)pos)->ctl, memory_order_acquire) &
	       FDB_CTL_MOVED) {
		t = atomic_load_explicit(&t->next, memory_order_acquire);
		if (home_end(t, pos) < end)
			end = home_end(t, pos);
	}
	w->pos = pos;
	w->end = end;
	w->t = t;
	w->is_home = home_end(t, pos) == end && !(pos & ((1ULL << t->shift) - 1)) &&
		     t == atomic_load_explicit(&f->cur, memory_order_relaxed);
	w->n = 0;
}

static bool in_piece(const struct fdb *f, const struct piece *w, uint64_t key)
{
	uint32_t hash;

	if (w->is_home)
		return true;
	hash = fdb_hash(f, key & ~FDB_KEY_USED);
	return hash >= w->pos && hash < w->end;
}

static bool picked(const struct pick *p, uint64_t key, uint64_t v)
{
	uint64_t seen_ns = (v & FDB_V_SEEN) << FDB_SEEN_SHIFT;

	if ((v & p->mask) != p->want)
		return false;
	if (p->vid != FDB_ANY && (key >> 48 & (VID_N - 1)) != p->vid)
		return false;
	if (!p->by_age)
		return true;
	/* Seen after now_ns, on another CPU: not old at all. */
	return p->now_ns >= seen_ns && p->now_ns - seen_ns >= p->hold_ns;
}

/* Copies what @w covers; with @p only what it picks, and removes that (bucket locked). */
static void piece_take(const struct fdb *f, struct fdb *writable, const struct pick *p,
		       struct piece *w)
{
	struct fdb_bucket *b = fdb_home(w->t, (uint32_t)w->pos);
	uint32_t link;

	for (;;) {
		for (int i = 0; i < FDB_SLOTS; i++) {
			struct fdb_slot *s = &b->slot[i];
			uint64_t key = atomic_load_explicit(&s->key, memory_order_acquire);
			uint64_t v = atomic_load_explicit(&s->value, memory_order_acquire);

			if (!key)
				return;
			if (!(v & FDB_V_LIVE) || (p && !picked(p, key, v)) || !in_piece(f, w, key))
				continue;
			fdb_to_entry(key, v, &w->e[w->n++]);
			if (p)
				fdb_set_value(writable, s, 0);
		}
		link = atomic_load_explicit(&b->link, memory_order_acquire);
		if (!link)
			return;
		b = &w->t->bucket[link];
	}
}

/* Whether a home holds anything that @p picks, without its lock. */
static bool home_has(const struct fdb_table *t, const struct fdb_bucket *b, const struct pick *p)
{
	uint32_t link;

	for (;;) {
		for (int i = 0; i < FDB_SLOTS; i++) {
			uint64_t key = atomic_load_explicit(&b->slot[i].key, memory_order_acquire);
			uint64_t v = atomic_load_explicit(&b->slot[i].value, memory_order_relaxed);

			if ((v & FDB_V_LIVE) && picked(p, key, v))
				return true;
		}
		link = atomic_load_explicit(&b->link, memory_order_acquire);
		if (!link)
			return false;
		b = &t->bucket[link];
	}
}

/* Removes what @p picks of the piece at @pos; copies are in @w. */
static void piece_remove(struct fdb *f, uint64_t pos, const struct pick *p, struct piece *w)
{
	struct fdb_place place;

	piece_find(f, pos, w);
	if (!home_has(w->t, fdb_home(w->t, (uint32_t)pos), p))
		return;
	/* The lock keeps the answer of piece_find() as it is. */
	fdb_place_hold(f, (uint32_t)pos, &place);
	piece_find(f, pos, w);
	piece_take(f, f, p, w);
	fdb_unlock(place.b, 0);
}

static bool cursor_set(struct fdb_cursor *c, uint64_t pos)
{
	c->pos = pos < POS_END ? pos : 0;
	return c->pos;
}

bool fdb_walk(const struct fdb *f, struct fdb_cursor *c, uint32_t n_buckets, fdb_cb cb, void *arg)
{
	struct piece w;

	do {
		piece_find(f, c->pos, &w);
		piece_take(f, NULL, NULL, &w);
		for (uint32_t i = 0; i < w.n; i++)
			cb(&w.e[i], arg);
		if (!cursor_set(c, w.end))
			return false;
	} while (n_buckets-- > 1);
	return true;
}

uint32_t fdb_flush(struct fdb *f, const struct fdb_filter *filter)
{
	struct pick p = {
		.mask = FDB_VFLAG(filter->mask & 0x7f),
		.want = FDB_VFLAG(filter->flags & 0x7f),
		.vid = filter->vid,
	};
	struct fdb_cursor c = { 0 };
	struct piece w;
	uint32_t n = 0;

	if (filter->port != FDB_ANY) {
		p.mask |= FDB_V_PORT;
		p.want |= FDB_VPORT(filter->port);
	}
	do {
		piece_remove(f, c.pos, &p, &w);
		n += w.n;
	} while (cursor_set(&c, w.end));
	return n;
}

uint32_t fdb_age(struct fdb *f, uint64_t now_ns, uint64_t hold_ns, struct fdb_cursor *c,
		 uint32_t n_buckets, fdb_cb cb, void *arg)
{
	struct pick p = {
		.mask = FDB_VFLAG(FDB_STATIC | FDB_LOCAL | FDB_EXTERN | FDB_KERNEL),
		.vid = FDB_ANY,
		.now_ns = now_ns,
		.hold_ns = hold_ns,
		.by_age = true,
	};
	struct piece w;
	uint32_t n = 0;

	do {
		piece_remove(f, c->pos, &p, &w);
		n += w.n;
		for (uint32_t i = 0; cb && i < w.n; i++)
			cb(&w.e[i], arg);
	} while (cursor_set(c, w.end) && n_buckets-- > 1);
	return n;
}
