/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fdb.h"
#include "core/flood.h"
#include "core/model.h"

/* What the groups of a bridge are built from. */
struct source {
	const struct model *m;
	const struct model_bridge *b;
	const struct view_bridge *ob;
	uint16_t router[MDB_FAMILY_N][XB_MAX_PORTS]; /* slots, without the host's */
	uint32_t n_routers[MDB_FAMILY_N];
};

/* Frames that are not IP go where IPv4 routers are (br_multicast_get_first_rport_node()). */
static uint16_t router_flag(uint32_t family)
{
	return family == MDB_IP6 ? MP_ROUTER6 : MP_ROUTER4;
}

static uint16_t host_router_flag(uint32_t family)
{
	return MP_ROUTER_L2 | (family == MDB_L2 ? 0 : router_flag(family));
}

/* Filter modes count (br_multicast_should_handle_mode()). */
static bool has_modes(const struct model_bridge_attr *a, const struct mdb_key *k)
{
	if (mdb_key_has_source(k))
		return false;
	return (k->family == MDB_IP4 && a->igmp_v3) || (k->family == MDB_IP6 && a->mld_v2);
}

/* ---- entries ---- */

static void group_put(const struct group *cg)
{
	struct group *g = (struct group *)(uintptr_t)cg;

	if (g && !--g->refs)
		free(g);
}

static const struct model_member *member_find(const struct model_group *g, uint16_t slot)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (g->member[i].slot == slot)
			return &g->member[i];
	}
	return NULL;
}

static uint32_t add_port(const struct source *s, uint16_t vid, uint16_t slot, struct flood_dst *dst)
{
	const struct model_port *p = s->m->port[slot];
	uint8_t mv = flood_membership(s->b, p, vid);

	if (!flood_can_egress(s->b, &p->a, mv))
		return 0;
	*dst = flood_dst_make(p, mv);
	return 1;
}

/* The bridge itself: as a member, as a router, and whenever it takes all. */
static uint32_t add_host(const struct source *s, const struct model_group *g, struct flood_dst *dst)
{
	const struct model_bridge_attr *a = &s->b->a;
	const struct model_port *p = a->host_port ? s->m->port[a->host_port] : NULL;
	bool wanted;
	uint8_t mv;

	if (!p || s->m->bridge[p->a.bridge] != s->b)
		return 0;
	mv = flood_membership(s->b, p, g->key.vid);
	wanted = a->allmulti || (p->a.flags & host_router_flag(g->key.family)) ||
		 member_find(g, a->host_port);
	if (!a->promisc && !(wanted && flood_host_is_member(mv)))
		return 0;
	*dst = flood_dst_make(p, mv);
	return 1;
}

/* br_multicast_flood(): a port that is a router takes what it does not want as a member. */
static uint32_t fill(const struct source *s, const struct model_group *g, struct flood_dst *dst)
{
	uint8_t skip = MDB_BLOCKED | (has_modes(&s->b->a, &g->key) ? MDB_INCLUDE : 0);
	const uint16_t *router = s->router[g->key.family];
	uint32_t n = add_host(s, g, dst);

	for (uint32_t i = 0; i < s->n_routers[g->key.family]; i++)
		n += add_port(s, g->key.vid, router[i], dst + n);
	for (uint32_t i = 0; i < g->n; i++) {
		const struct model_member *e = &g->member[i];
		const struct model_port *p = s->m->port[e->slot];

		if (!(e->flags & skip) && !(p->a.flags & (MP_HOST | router_flag(g->key.family))))
			n += add_port(s, g->key.vid, e->slot, dst + n);
	}
	return n;
}

/* Something has changed since the view before that the entry may depend on. */
static bool is_behind(const struct source *s, const struct model_group *g)
{
	uint64_t since = s->ob ? s->ob->vlan_gen_max : 0;

	return g->gen > since || s->b->vlan_gen[g->key.vid] > since || s->b->mdb.all_gen > since;
}

/* A reference to the entry as it was, if it would be the same, or to a new one; or NULL. */
static const struct group *group_take(const struct source *s, const struct model_group *mg)
{
	const struct group *og =
		s->ob && s->ob->groups ? group_find(s->ob->groups, &mg->key) : NULL;
	struct flood_dst dst[XB_MAX_PORTS];
	struct group *g = (struct group *)(uintptr_t)og;
	uint32_t n;

	if (og && !is_behind(s, mg)) {
		g->refs++;
		return g;
	}
	n = fill(s, mg, dst);
	if (og && og->n == n && !memcmp(og->dst, dst, n * sizeof(*dst))) {
		g->refs++;
		return g;
	}
	g = calloc(1, sizeof(*g) + n * sizeof(*dst));
	if (!g)
		return NULL;
	g->key = mg->key;
	g->refs = 1;
	g->n = n;
	if (n)
		memcpy(g->dst, dst, n * sizeof(*dst));
	return g;
}

/* ---- table ---- */

const struct group *group_find(const struct group_table *t, const struct mdb_key *k)
{
	uint64_t hash = mdb_key_hash(k, t->seed);

	for (uint32_t i = (uint32_t)hash & t->mask; t->slot[i].group; i = (i + 1) & t->mask) {
		if (t->slot[i].hash == hash && mdb_key_equal(&t->slot[i].group->key, k))
			return t->slot[i].group;
	}
	return NULL;
}

static void table_free(struct group_table *t)
{
	for (uint32_t i = 0; i <= t->mask; i++)
		group_put(t->slot[i].group);
	free(t);
}

void group_table_put(const struct group_table *ct)
{
	struct group_table *t = (struct group_table *)(uintptr_t)ct;

	if (t && !--t->refs)
		table_free(t);
}

/* Entries of a VLAN are for a bridge that filters, those of none for one that does not. */
static bool is_reachable(const struct model_bridge *b, const struct mdb_key *k)
{
	return b->a.filtering == (k->vid != VID_NONE);
}

/* Number of entries that frames can find; *@changed: some may be other than they were. */
static uint32_t n_reachable(const struct source *s, bool *changed)
{
	uint32_t n = 0;

	*changed = !s->ob || s->b->mdb.gen > s->ob->vlan_gen_max;
	for (uint32_t i = 0; i < s->b->mdb.n_buckets; i++) {
		for (const struct model_group *g = s->b->mdb.bucket[i]; g; g = g->next) {
			*changed = *changed || is_behind(s, g);
			n += is_reachable(s->b, &g->key);
		}
	}
	return n;
}

static void insert(struct group_table *t, const struct group *g)
{
	uint64_t hash = mdb_key_hash(&g->key, t->seed);
	uint32_t i = (uint32_t)hash & t->mask;

	while (t->slot[i].group)
		i = (i + 1) & t->mask;
	t->slot[i] = (struct group_slot){ .hash = hash, .group = g };
	t->n_groups++;
	if (mdb_key_has_source(&g->key))
		t->has_source[g->key.family] = true;
}

static int table_fill(struct group_table *t, const struct source *s)
{
	for (uint32_t i = 0; i < s->b->mdb.n_buckets; i++) {
		for (const struct model_group *mg = s->b->mdb.bucket[i]; mg; mg = mg->next) {
			const struct group *g;

			if (!is_reachable(s->b, &mg->key))
				continue;
			g = group_take(s, mg);
			if (!g)
				return -ENOMEM;
			insert(t, g);
		}
	}
	return 0;
}

static struct group_table *table_new(const struct source *s, uint32_t n)
{
	struct group_table *t;
	uint32_t n_slots = 2;

	while (n_slots < 2 * n)
		n_slots *= 2;
	t = calloc(1, sizeof(*t) + n_slots * sizeof(t->slot[0]));
	if (!t)
		return NULL;
	t->seed = s->b->fdb ? fdb_seed(s->b->fdb) : 0;
	t->mask = n_slots - 1;
	t->refs = 1;
	return t;
}

static void find_routers(struct source *s)
{
	for (uint32_t i = 0; i < s->b->n_ports; i++) {
		const struct model_port *p = s->m->port[s->b->port[i]];

		for (uint32_t f = 0; f < MDB_FAMILY_N; f++) {
			if (!(p->a.flags & MP_HOST) && (p->a.flags & router_flag(f)))
				s->router[f][s->n_routers[f]++] = p->slot;
		}
	}
}

int group_table_build(const struct model *m, const struct model_bridge *b,
		      const struct view_bridge *ob, const struct group_table **out)
{
	struct source s = { .m = m, .b = b, .ob = ob };
	struct group_table *t;
	bool changed;
	uint32_t n;
	int err;

	*out = NULL;
	if (!b->a.snooping || !b->mdb.n_groups)
		return 0;
	n = n_reachable(&s, &changed);
	if (!changed) {
		t = (struct group_table *)(uintptr_t)ob->groups;
		if (t)
			t->refs++;
		*out = t;
		return 0;
	}
	if (!n)
		return 0;
	t = table_new(&s, n);
	if (!t)
		return -ENOMEM;
	find_routers(&s);
	err = table_fill(t, &s);
	if (err) {
		table_free(t);
		return err;
	}
	*out = t;
	return 0;
}
