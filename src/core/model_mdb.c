/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/model_mdb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fdb.h"

#define N_BUCKETS_MIN 16
#define N_MEMBERS_MIN 4

static struct model_bridge *bridge_of(const struct model *m, uint16_t index)
{
	return index < XB_MAX_BRIDGES ? m->bridge[index] : NULL;
}

static struct model_group **bucket_of(const struct model_bridge *b, const struct mdb_key *k)
{
	return &b->mdb.bucket[mdb_key_hash(k, b->mdb.seed) & (b->mdb.n_buckets - 1)];
}

/* Where the group hangs; what that points to is NULL without it. NULL: no table yet. */
static struct model_group **find(const struct model_bridge *b, const struct mdb_key *k)
{
	struct model_group **at;

	if (!b->mdb.n_buckets)
		return NULL;
	at = bucket_of(b, k);
	while (*at && !mdb_key_equal(&(*at)->key, k))
		at = &(*at)->next;
	return at;
}

static struct model_member *member_find(const struct model_group *g, uint16_t slot)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (g->member[i].slot == slot)
			return &g->member[i];
	}
	return NULL;
}

/* What is behind the address is zero. */
static bool address_fills(const uint8_t *p, uint32_t len)
{
	static const uint8_t zero[MDB_IP6_LEN];

	return !memcmp(p + len, zero, MDB_IP6_LEN - len);
}

static bool key_is_valid(const struct mdb_key *k)
{
	static const uint8_t len[MDB_FAMILY_N] = {
		[MDB_L2] = MDB_L2_LEN,
		[MDB_IP4] = MDB_IP4_LEN,
		[MDB_IP6] = MDB_IP6_LEN,
	};

	if (k->family >= MDB_FAMILY_N || k->vid > VID_MAX || k->pad)
		return false;
	if (k->family == MDB_L2 && mdb_key_has_source(k))
		return false;
	return address_fills(k->group, len[k->family]) && address_fills(k->source, len[k->family]);
}

static void touch(struct model *m, struct model_bridge *b, struct model_group *g)
{
	b->mdb.gen = ++m->gen;
	if (g)
		g->gen = m->gen;
}

static void group_free(struct model_group *g)
{
	free(g->member);
	free(g);
}

/* The member at @i goes, and the group with its last: then true. */
static bool member_del(struct model *m, struct model_bridge *b, struct model_group **at, uint32_t i)
{
	struct model_group *g = *at;

	g->member[i] = g->member[--g->n];
	b->mdb.n_members--;
	touch(m, b, g);
	if (g->n)
		return false;
	*at = g->next;
	b->mdb.n_groups--;
	group_free(g);
	return true;
}

/* Makes the table, or one twice as large; the old one serves as well if there is no memory. */
static int make_room(struct model_bridge *b)
{
	uint32_t n = b->mdb.n_buckets ? 2 * b->mdb.n_buckets : N_BUCKETS_MIN;
	struct model_group **old = b->mdb.bucket, **v;
	uint32_t n_old = b->mdb.n_buckets;

	if (b->mdb.n_groups < n_old)
		return 0;
	v = calloc(n, sizeof(struct model_group *));
	if (!v)
		return old ? 0 : -ENOMEM;
	if (!old)
		b->mdb.seed = b->fdb ? fdb_seed(b->fdb) : 0;
	b->mdb.bucket = v;
	b->mdb.n_buckets = n;
	for (uint32_t i = 0; old && i < n_old; i++) {
		while (old[i]) {
			struct model_group *g = old[i], **to = bucket_of(b, &g->key);

			old[i] = g->next;
			g->next = *to;
			*to = g;
		}
	}
	free(old);
	return 0;
}

static int member_add(struct model_group *g, uint16_t slot, uint8_t flags)
{
	if (g->n == g->size) {
		uint32_t size = g->size ? 2 * g->size : N_MEMBERS_MIN;
		struct model_member *v = calloc(size, sizeof(*v));

		if (!v)
			return -ENOMEM;
		if (g->n)
			memcpy(v, g->member, g->n * sizeof(*v));
		free(g->member);
		g->member = v;
		g->size = size;
	}
	g->member[g->n++] = (struct model_member){ .slot = slot, .flags = flags };
	return 0;
}

/* A group with its first member, at the head of its bucket. */
static int group_add(struct model *m, struct model_bridge *b, const struct mdb_key *k,
		     uint16_t slot, uint8_t flags)
{
	int err = make_room(b);
	struct model_group *g, **at;

	if (err)
		return err;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	err = member_add(g, slot, flags);
	if (err) {
		free(g);
		return err;
	}
	g->key = *k;
	at = bucket_of(b, k);
	g->next = *at;
	*at = g;
	b->mdb.n_groups++;
	b->mdb.n_members++;
	touch(m, b, g);
	return 0;
}

static int set(struct model *m, struct model_bridge *b, const struct mdb_key *k, uint16_t slot,
	       uint8_t flags)
{
	struct model_group **at = find(b, k), *g = at ? *at : NULL;
	struct model_member *e = g ? member_find(g, slot) : NULL;
	int err;

	if (e) {
		if (e->flags != flags)
			touch(m, b, g);
		e->flags = flags;
		return 0;
	}
	if (b->mdb.n_members >= XB_MAX_MDB)
		return -ENOSPC;
	if (!g)
		return group_add(m, b, k, slot, flags);
	err = member_add(g, slot, flags);
	if (err)
		return err;
	b->mdb.n_members++;
	touch(m, b, g);
	return 0;
}

static int unset(struct model *m, struct model_bridge *b, const struct mdb_key *k, uint16_t slot)
{
	struct model_group **at = find(b, k);
	struct model_member *e = at && *at ? member_find(*at, slot) : NULL;

	if (!e)
		return -ENOENT;
	(void)member_del(m, b, at, (uint32_t)(e - (*at)->member));
	return 0;
}

int model_mdb_set(struct model *m, uint16_t bridge, const struct mdb_key *k, uint16_t slot,
		  uint8_t flags)
{
	const uint8_t all = MDB_MEMBER | MDB_INCLUDE | MDB_BLOCKED;
	struct model_bridge *b = bridge_of(m, bridge);
	const struct model_port *p;

	if (!key_is_valid(k) || (flags & ~all) || (flags && !(flags & MDB_MEMBER)))
		return -EINVAL;
	p = slot < XB_MAX_PORTS ? m->port[slot] : NULL;
	if (!b || !p || p->a.bridge != bridge)
		return -ENOENT;
	return flags ? set(m, b, k, slot, flags) : unset(m, b, k, slot);
}

uint8_t model_mdb_get(const struct model *m, uint16_t bridge, const struct mdb_key *k,
		      uint16_t slot)
{
	const struct model_bridge *b = bridge_of(m, bridge);
	struct model_group **at = b ? find(b, k) : NULL;
	const struct model_member *e = at && *at ? member_find(*at, slot) : NULL;

	return e ? e->flags : 0;
}

void model_mdb_clear(struct model *m, uint16_t bridge)
{
	struct model_bridge *b = bridge_of(m, bridge);

	if (!b || !b->mdb.n_groups)
		return;
	for (uint32_t i = 0; i < b->mdb.n_buckets; i++) {
		while (b->mdb.bucket[i]) {
			struct model_group *g = b->mdb.bucket[i];

			b->mdb.bucket[i] = g->next;
			group_free(g);
		}
	}
	b->mdb.n_groups = 0;
	b->mdb.n_members = 0;
	touch(m, b, NULL);
}

void model_mdb_each(const struct model *m, uint16_t bridge, model_mdb_fn *fn, void *arg)
{
	const struct model_bridge *b = bridge_of(m, bridge);

	for (uint32_t i = 0; b && i < b->mdb.n_buckets; i++) {
		for (const struct model_group *g = b->mdb.bucket[i]; g; g = g->next) {
			for (uint32_t j = 0; j < g->n; j++)
				fn(&g->key, g->member[j].slot, g->member[j].flags, arg);
		}
	}
}

void mdb_port_gone(struct model *m, struct model_bridge *b, uint16_t slot)
{
	for (uint32_t i = 0; i < b->mdb.n_buckets; i++) {
		struct model_group **at = &b->mdb.bucket[i];

		while (*at) {
			const struct model_group *g = *at;
			const struct model_member *e = member_find(g, slot);

			/* The next one hangs there if this one has gone. */
			if (!e || !member_del(m, b, at, (uint32_t)(e - g->member)))
				at = &(*at)->next;
		}
	}
}
