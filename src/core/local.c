/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/local_told.h"
#include "core/model.h"
#include "core/view.h"

#define SPREAD 0x9e3779b97f4a7c15ULL

/*
 * A kernel that enters thousands of entries tells of the VLANs only afterwards. What
 * was stored as a user's is a device's, and goes again, if that comes within this time.
 */
#define LATE_NS 10000000000ULL

struct owner {
	uint64_t mac;
	uint16_t slot;
};

struct local {
	uint16_t bridge;
	bool is_dirty;       /* owners or exceptions are others than in the model */
	struct owner *owner; /* sorted by address and slot, one for a slot */
	uint32_t n, size;
	struct local_words told;
};

/* ---- what workers read ---- */

/* An address: who has it, in slot[first] and what follows. */
struct place {
	uint64_t mac;
	uint32_t first;
	uint16_t n; /* 0: a free place */
	bool has_exception;
};

struct local_set {
	uint32_t refs;
	uint32_t shift; /* of the hash, 64 - bits of the table's size */
	uint32_t n_gone;
	uint64_t *gone; /* exceptions, sorted */
	uint16_t *slot;
	struct place place[];
};

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static const struct place *find_place(const struct local_set *s, uint64_t mac)
{
	uint32_t mask = (1U << (64 - s->shift)) - 1;
	uint32_t i = (uint32_t)(mac * SPREAD >> s->shift);

	/* Half of the places are free. */
	for (; s->place[i].n; i = (i + 1) & mask) {
		if (s->place[i].mac == mac)
			return &s->place[i];
	}
	return NULL;
}

static bool has_member(const struct view *v, const struct view_bridge *b, const struct place *p,
		       uint16_t vid)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct view_port *port = v->port[b->local->slot[p->first + i]];

		if (port && port->bridge == b->index && (port->vlan[vid].flags & PV_MEMBER))
			return true;
	}
	return false;
}

bool local_set_has(const struct view *v, const struct view_bridge *b, uint64_t key)
{
	const struct local_set *s = b->local;
	uint16_t vid = (uint16_t)(key >> 48);
	const struct place *p = s ? find_place(s, key & LOCAL_MAC_MASK) : NULL;

	if (!p)
		return false;
	if (vid && ((b->flags & VB_LOCAL_VLAN_0) || !has_member(v, b, p, vid)))
		return false;
	return !p->has_exception || !bsearch(&key, s->gone, s->n_gone, sizeof(key), compare_keys);
}

const struct local_set *local_set_get(const struct local_set *s)
{
	if (s)
		((struct local_set *)(uintptr_t)s)->refs++;
	return s;
}

void local_set_put(const struct local_set *cs)
{
	struct local_set *s = (struct local_set *)(uintptr_t)cs;

	if (!s || --s->refs)
		return;
	free(s->gone);
	free(s->slot);
	free(s);
}

static struct local_set *set_alloc(uint32_t n, uint32_t n_gone)
{
	uint32_t bits = 3;
	struct local_set *s;

	while (1U << bits < 2 * n)
		bits++;
	s = calloc(1, sizeof(*s) + (sizeof(struct place) << bits));
	if (!s)
		return NULL;
	s->refs = 1;
	s->shift = 64 - bits;
	s->slot = calloc(n ? n : 1, sizeof(*s->slot));
	s->gone = calloc(n_gone ? n_gone : 1, sizeof(*s->gone));
	if (!s->slot || !s->gone) {
		local_set_put(s);
		return NULL;
	}
	return s;
}

static struct place *put_place(struct local_set *s, uint64_t mac, uint32_t first)
{
	uint32_t mask = (1U << (64 - s->shift)) - 1;
	uint32_t i = (uint32_t)(mac * SPREAD >> s->shift);

	while (s->place[i].n)
		i = (i + 1) & mask;
	s->place[i] = (struct place){ .mac = mac, .first = first };
	return &s->place[i];
}

static void add_exceptions(struct local_set *s, const struct local *l)
{
	const struct local_words *w = &l->told;

	for (uint32_t i = 0; i < w->size; i++) {
		struct place *p;

		if (w->v[i].what != LOCAL_WORD_EXCEPTION)
			continue;
		s->gone[s->n_gone++] = w->v[i].key;
		p = (struct place *)(uintptr_t)find_place(s, w->v[i].key & LOCAL_MAC_MASK);
		if (p)
			p->has_exception = true;
	}
	qsort(s->gone, s->n_gone, sizeof(*s->gone), compare_keys);
}

static struct local_set *set_make(const struct local *l)
{
	struct local_set *s = set_alloc(l->n, l->told.n_exceptions);
	struct place *p = NULL;

	if (!s)
		return NULL;
	for (uint32_t i = 0; i < l->n; i++) {
		if (!p || p->mac != l->owner[i].mac)
			p = put_place(s, l->owner[i].mac, i);
		s->slot[i] = l->owner[i].slot;
		p->n++;
	}
	add_exceptions(s, l);
	return s;
}

/* ---- owners ---- */

struct local *local_new(uint16_t bridge)
{
	struct local *l = calloc(1, sizeof(*l));

	if (l)
		l->bridge = bridge;
	return l;
}

void local_free(struct local *l)
{
	if (!l)
		return;
	local_words_clear(&l->told);
	free(l->owner);
	free(l);
}

/* Where (@mac, @slot) is, or would be. */
static uint32_t position(const struct local *l, uint64_t mac, uint16_t slot)
{
	uint32_t lo = 0, hi = l->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct owner *o = &l->owner[mid];

		if (o->mac < mac || (o->mac == mac && o->slot < slot))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void remove_owner(struct local *l, uint16_t slot)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->owner[i].slot != slot)
			continue;
		l->n--;
		memmove(&l->owner[i], &l->owner[i + 1], (l->n - i) * sizeof(*l->owner));
		l->is_dirty = true;
		return;
	}
}

int local_set_owner(struct local *l, uint16_t slot, const struct mac *mac)
{
	uint64_t key = mac_to_u64(mac);
	uint32_t i = position(l, key, slot);

	if (i < l->n && l->owner[i].mac == key && l->owner[i].slot == slot)
		return 0;
	/* What goes needs no memory to go. */
	if (mac_is_zero(mac)) {
		remove_owner(l, slot);
		return 0;
	}
	if (l->n == l->size) {
		uint32_t size = l->size ? 2 * l->size : 8;
		struct owner *v = realloc(l->owner, size * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->owner = v;
		l->size = size;
	}
	remove_owner(l, slot);
	i = position(l, key, slot);
	memmove(&l->owner[i + 1], &l->owner[i], (l->n - i) * sizeof(*l->owner));
	l->owner[i] = (struct owner){ .mac = key, .slot = slot };
	l->n++;
	l->is_dirty = true;
	return 0;
}

int local_publish(struct local *l, struct model *m)
{
	struct model_bridge *b = m->bridge[l->bridge];
	struct local_set *s;

	if (!l->is_dirty && b->local)
		return 0;
	s = set_make(l);
	if (!s)
		return -ENOMEM;
	local_set_put(b->local);
	b->local = s;
	b->gen = ++m->gen;
	l->is_dirty = false;
	return 1;
}

static bool is_member(const struct local *l, const struct model *m, uint16_t slot, uint16_t vid)
{
	const struct model_port *p = m->port[slot];

	return p && p->a.bridge == l->bridge && (p->a.vlan[vid] & MV_MEMBER);
}

/* True if the entry follows from the devices whose addresses begin at @i. */
static bool follows(const struct local *l, const struct model *m, uint32_t i, uint16_t vid)
{
	const struct model_bridge *b = m->bridge[l->bridge];
	uint64_t mac = l->owner[i].mac;

	if (!vid)
		return true;
	if (b && b->a.local_vlan_0)
		return false;
	for (; i < l->n && l->owner[i].mac == mac; i++) {
		if (is_member(l, m, l->owner[i].slot, vid))
			return true;
	}
	return false;
}

static bool is_computed(const struct local *l, const struct model *m, uint64_t key)
{
	uint64_t mac = key & LOCAL_MAC_MASK;
	uint32_t i = position(l, mac, 0);

	return i < l->n && l->owner[i].mac == mac && follows(l, m, i, (uint16_t)(key >> 48));
}

bool local_is_owned(const struct local *l, uint64_t mac)
{
	uint32_t i = position(l, mac, 0);

	return i < l->n && l->owner[i].mac == mac;
}

bool local_is_owner(const struct local *l, uint64_t mac, uint16_t slot)
{
	uint32_t i = position(l, mac, slot);

	return i < l->n && l->owner[i].mac == mac && l->owner[i].slot == slot;
}

bool local_is_exception(const struct local *l, uint64_t key)
{
	const struct local_word_told *w = local_words_find(&l->told, key);

	return w && w->what == LOCAL_WORD_EXCEPTION;
}

bool local_has(const struct local *l, const struct model *m, uint64_t key)
{
	return is_computed(l, m, key) && !local_is_exception(l, key);
}

/* ---- what the kernel tells ---- */

static void forget(struct local *l, struct local_word_told *w)
{
	if (w->what == LOCAL_WORD_EXCEPTION)
		l->is_dirty = true;
	local_words_del(&l->told, w);
}

static void remember(struct local *l, uint64_t key, enum local_word_kind what, uint16_t slot,
		     uint64_t now_ns)
{
	struct local_word_told *w = local_words_find(&l->told, key);

	if (w && w->what == LOCAL_WORD_EXCEPTION)
		l->is_dirty = true;
	if (w)
		local_words_set(&l->told, w, what);
	else
		w = local_words_add(&l->told, key, what);
	if (w) {
		w->slot = slot;
		w->since_ns = now_ns;
		return;
	}
	l->told.is_missed = true;
	l->told.missed_ns = now_ns;
}

static void told_own(struct local *l, struct local_word_told *w)
{
	if (!w || w->what == LOCAL_WORD_ADDED)
		return;
	if (w->what != LOCAL_WORD_EXCEPTION) {
		forget(l, w);
		return;
	}
	local_words_set(&l->told, w, LOCAL_WORD_ADDED);
	l->is_dirty = true;
}

enum local_word local_told(struct local *l, const struct model *m, uint64_t key, uint16_t slot,
			   uint64_t now_ns)
{
	uint64_t mac = key & LOCAL_MAC_MASK;

	if (local_is_owner(l, mac, slot) && is_computed(l, m, key)) {
		told_own(l, local_words_find(&l->told, key));
		return LOCAL_OWN;
	}
	remember(l, key, LOCAL_WORD_THERE, slot, now_ns);
	return local_is_owned(l, mac) ? LOCAL_WAITS : LOCAL_OTHER;
}

void local_untold(struct local *l, uint64_t key, uint64_t now_ns)
{
	struct local_word_told *w = local_words_find(&l->told, key);

	if (w && (w->what == LOCAL_WORD_GONE || w->what == LOCAL_WORD_EXCEPTION))
		return;
	/* No device's yet: it was told a moment ago, and the link that explains it may follow. */
	if (w || local_is_owned(l, key & LOCAL_MAC_MASK))
		remember(l, key, LOCAL_WORD_GONE, 0, now_ns);
}

/* What is to become of a word that contradicts. */
struct settling {
	struct local *l;
	const struct model *m;
	const struct local_ops *ops;
	uint64_t now_ns, grace_ns;
	uint32_t n_asked;
};

/* True if the word is what the devices say too. */
static bool is_explained(const struct settling *s, const struct local_word_told *w)
{
	bool computed = is_computed(s->l, s->m, w->key);

	if (w->what == LOCAL_WORD_GONE)
		return !computed;
	return computed && local_is_owner(s->l, w->key & LOCAL_MAC_MASK, w->slot);
}

/* Brings @w to what the kernel has now. False: it could not be asked. */
static bool ask(struct settling *s, struct local_word_told *w)
{
	uint16_t slot = w->slot;
	int there;

	if (!s->ops->ask)
		return true;
	s->n_asked++;
	there = s->ops->ask(s->ops->arg, w->key, &slot);
	if (there < 0)
		return false;
	if (!there && w->what == LOCAL_WORD_THERE)
		s->ops->drop(s->ops->arg, w->key);
	local_words_set(&s->l->told, w, there ? LOCAL_WORD_THERE : LOCAL_WORD_GONE);
	w->slot = slot;
	return true;
}

/* The next three: true if the word has been forgotten, and another one may be in its place. */

static bool settle_stored(struct settling *s, struct local_word_told *w)
{
	if (is_explained(s, w))
		s->ops->drop(s->ops->arg, w->key);
	else if (s->now_ns - w->since_ns < LATE_NS)
		return false;
	forget(s->l, w);
	return true;
}

static bool settle_waiting(struct settling *s, struct local_word_told *w)
{
	if (w->what == LOCAL_WORD_GONE && !local_is_owned(s->l, w->key & LOCAL_MAC_MASK) &&
	    s->now_ns - w->since_ns < s->grace_ns)
		return false;
	if (!is_explained(s, w)) {
		if (s->now_ns - w->since_ns < s->grace_ns || s->n_asked == LOCAL_ASK_MAX)
			return false;
		if (!ask(s, w)) {
			w->since_ns = s->now_ns;
			return false;
		}
	}
	if (is_explained(s, w)) {
		if (w->what == LOCAL_WORD_THERE)
			s->ops->drop(s->ops->arg, w->key);
		forget(s->l, w);
		return true;
	}
	if (w->what == LOCAL_WORD_THERE) {
		s->ops->store(s->ops->arg, w->key, w->slot);
		local_words_set(&s->l->told, w, LOCAL_WORD_STORED);
		w->since_ns = s->now_ns;
	} else {
		local_words_set(&s->l->told, w, LOCAL_WORD_EXCEPTION);
		s->l->is_dirty = true;
	}
	return false;
}

static bool settle_word(struct settling *s, struct local_word_told *w)
{
	switch (w->what) {
	case LOCAL_WORD_STORED:
		return settle_stored(s, w);
	case LOCAL_WORD_EXCEPTION:
	case LOCAL_WORD_ADDED:
		if (is_computed(s->l, s->m, w->key))
			return false;
		if (w->what == LOCAL_WORD_EXCEPTION) {
			forget(s->l, w);
			return true;
		}
		local_words_set(&s->l->told, w, LOCAL_WORD_THERE);
		return settle_waiting(s, w);
	default:
		return settle_waiting(s, w);
	}
}

unsigned int local_settle(struct local *l, const struct model *m, uint64_t now_ns,
			  uint64_t grace_ns, const struct local_ops *ops)
{
	struct settling s = { .l = l, .m = m, .ops = ops, .now_ns = now_ns, .grace_ns = grace_ns };
	struct local_words *t = &l->told;
	unsigned int rest = LOCAL_SETTLED;

	for (uint32_t i = 0; i < t->size;) {
		if (!t->v[i].what || !settle_word(&s, &t->v[i]))
			i++;
	}
	if (t->is_missed && now_ns - t->missed_ns >= grace_ns) {
		t->is_missed = false;
		rest |= LOCAL_MISSED;
	}
	if (l->is_dirty)
		rest |= LOCAL_CHANGED;
	return local_waits(l) ? rest | LOCAL_MORE : rest;
}

bool local_waits(const struct local *l)
{
	return l->told.n_waiting || l->told.is_missed;
}

/* ---- the whole table ---- */

#define WORDS (VID_N / 64)

struct local_tally {
	uint32_t n;
	uint64_t *mac;  /* sorted, each once */
	uint64_t *bits; /* WORDS for each */
};

struct local_tally *local_tally_new(const struct local *l, uint16_t slot)
{
	struct local_tally *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->mac = calloc(slot || !l->n ? 1 : l->n, sizeof(*t->mac));
	for (uint32_t i = 0; t->mac && i < l->n; i++) {
		if (i && l->owner[i - 1].mac == l->owner[i].mac)
			continue;
		if (!slot || l->owner[i].slot == slot)
			t->mac[t->n++] = l->owner[i].mac;
	}
	t->bits = calloc(t->n ? t->n : 1, WORDS * sizeof(*t->bits));
	if (!t->mac || !t->bits) {
		local_tally_free(t);
		return NULL;
	}
	return t;
}

void local_tally_free(struct local_tally *t)
{
	if (!t)
		return;
	free(t->mac);
	free(t->bits);
	free(t);
}

void local_tick(struct local_tally *t, uint64_t key)
{
	uint64_t mac = key & LOCAL_MAC_MASK;
	const uint64_t *at = bsearch(&mac, t->mac, t->n, sizeof(mac), compare_keys);
	uint32_t vid = key >> 48 & (VID_N - 1);

	if (at)
		t->bits[(size_t)(at - t->mac) * WORDS + vid / 64] |= 1ULL << vid % 64;
}

void local_each_missing(const struct local *l, const struct model *m, const struct local_tally *t,
			void (*fn)(void *arg, uint64_t key, uint16_t slot), void *arg)
{
	for (uint32_t i = 0, k = 0; i < l->n && k < t->n; k++) {
		const uint64_t *bits = &t->bits[(size_t)k * WORDS];
		uint64_t mac = t->mac[k];

		while (i < l->n && l->owner[i].mac < mac)
			i++;
		if (i == l->n || l->owner[i].mac != mac)
			continue;
		for (uint32_t vid = 0; vid <= VID_MAX; vid++) {
			if (!(bits[vid / 64] >> vid % 64 & 1) && follows(l, m, i, (uint16_t)vid))
				fn(arg, (uint64_t)vid << 48 | mac, l->owner[i].slot);
		}
	}
}

/* ---- to show ---- */

void local_info(const struct local *l, struct local_info *out)
{
	*out = (struct local_info){
		.n_exceptions = l->told.n_exceptions,
		.n_waiting = l->told.n_waiting,
		.mem_size = sizeof(*l) + l->size * sizeof(*l->owner) +
			    l->told.size * sizeof(*l->told.v),
	};
	for (uint32_t i = 0; i < l->n; i++)
		out->n_addresses += !i || l->owner[i].mac != l->owner[i - 1].mac;
}

bool local_owner(const struct local *l, uint32_t i, struct mac *mac, uint16_t *slot)
{
	if (i >= l->n)
		return false;
	*mac = mac_from_u64(l->owner[i].mac);
	*slot = l->owner[i].slot;
	return true;
}

bool local_next_exception(const struct local *l, uint32_t *at, uint64_t *key)
{
	while (*at < l->told.size) {
		const struct local_word_told *w = &l->told.v[(*at)++];

		if (w->what != LOCAL_WORD_EXCEPTION)
			continue;
		*key = w->key;
		return true;
	}
	return false;
}
