/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/local.h"
#include "core/model_mdb.h"

struct model *model_new(void)
{
	return calloc(1, sizeof(struct model));
}

void model_free(struct model *m)
{
	if (!m)
		return;
	for (uint16_t i = 0; i < XB_MAX_BRIDGES; i++)
		model_bridge_del(m, i);
	free(m);
}

/* The VLANs that a bridge's floods are kept for: one, number 0, when it does not filter. */
static void set_vlan_gen(struct model_bridge *b, uint32_t vid, uint64_t gen)
{
	b->vlan_gen[vid] = gen;
	b->chunk_gen[vid / VIEW_CHUNK] = gen;
}

/* The VLAN of the bridge and of the port. */
static void mark_vlan(struct model *m, struct model_port *p, uint32_t vid)
{
	uint64_t gen = ++m->gen;

	set_vlan_gen(m->bridge[p->a.bridge], vid, gen);
	p->chunk_gen[vid / VIEW_CHUNK] = gen;
	p->gen = gen;
}

static void mark_port(struct model *m, struct model_port *p)
{
	p->gen = p->head_gen = ++m->gen;
}

static void mark_all(struct model *m, struct model_bridge *b)
{
	uint64_t gen = ++m->gen;

	for (uint32_t vid = 0; vid < VID_N; vid++)
		set_vlan_gen(b, vid, gen);
}

/* A promiscuous host is in the floods of every VLAN. */
static void mark_members(struct model *m, struct model_bridge *b, const struct model_port_attr *a)
{
	bool all = b->a.promisc && (a->flags & MP_HOST);
	uint64_t gen = ++m->gen;

	set_vlan_gen(b, 0, gen);
	for (uint32_t vid = 1; vid <= VID_MAX; vid++) {
		if (all || (a->vlan[vid] & MV_MEMBER))
			set_vlan_gen(b, vid, gen);
	}
}

static bool bridge_attr_equal(const struct model_bridge_attr *x, const struct model_bridge_attr *y)
{
	return x->filtering == y->filtering && x->promisc == y->promisc && x->mst == y->mst &&
	       x->learning == y->learning && x->standalone == y->standalone &&
	       x->local_vlan_0 == y->local_vlan_0 && x->snooping == y->snooping &&
	       x->querier4 == y->querier4 && x->querier6 == y->querier6 &&
	       x->igmp_v3 == y->igmp_v3 && x->mld_v2 == y->mld_v2 && x->allmulti == y->allmulti &&
	       x->tpid == y->tpid && x->host_port == y->host_port;
}

/* What changes the way ports and floods are built, not only the bridge itself. */
static bool bridge_attr_is_deep(const struct model_bridge_attr *x,
				const struct model_bridge_attr *y)
{
	return x->filtering != y->filtering || x->promisc != y->promisc || x->mst != y->mst ||
	       x->host_port != y->host_port;
}

/* What changes the floods of all VLANs, but not the ports. */
static bool bridge_attr_floods(const struct model_bridge_attr *x, const struct model_bridge_attr *y)
{
	return x->snooping != y->snooping || x->allmulti != y->allmulti;
}

/* What changes who takes a group, whatever its members are. */
static bool bridge_attr_groups(const struct model_bridge_attr *x, const struct model_bridge_attr *y)
{
	return x->igmp_v3 != y->igmp_v3 || x->mld_v2 != y->mld_v2;
}

int model_bridge_set(struct model *m, uint16_t index, const struct model_bridge_attr *a,
		     struct fdb *fdb, struct count_vlan *count, bool *changed)
{
	struct model_bridge *b;
	bool deep = true, floods = true, groups = true;

	if (index >= XB_MAX_BRIDGES || a->host_port >= XB_MAX_PORTS ||
	    (a->tpid != 0x8100 && a->tpid != 0x88a8))
		return -EINVAL;

	b = m->bridge[index];
	if (b) {
		bool same = bridge_attr_equal(&b->a, a) && b->fdb == fdb && b->count == count;

		if (changed)
			*changed = !same;
		if (same)
			return 0;
		deep = bridge_attr_is_deep(&b->a, a);
		floods = deep || bridge_attr_floods(&b->a, a);
		groups = bridge_attr_groups(&b->a, a);
	} else {
		b = calloc(1, sizeof(*b));
		if (!b)
			return -ENOMEM;
		b->index = index;
		m->bridge[index] = b;
		if (changed)
			*changed = true;
	}
	b->a = *a;
	b->fdb = fdb;
	b->count = count;
	b->gen = ++m->gen;
	if (groups)
		b->mdb.all_gen = b->gen;
	if (floods)
		mark_all(m, b);
	if (deep) {
		for (uint32_t i = 0; i < b->n_ports; i++)
			mark_port(m, m->port[b->port[i]]);
	}
	return 0;
}

void model_bridge_del(struct model *m, uint16_t index)
{
	struct model_bridge *b = index < XB_MAX_BRIDGES ? m->bridge[index] : NULL;

	if (!b)
		return;
	while (b->n_ports)
		model_port_del(m, b->port[b->n_ports - 1]);
	model_mdb_clear(m, index);
	free(b->mdb.bucket);
	m->bridge[index] = NULL;
	m->gen++;
	local_set_put(b->local);
	free(b);
}

static void leave_bridge(struct model *m, struct model_port *p)
{
	struct model_bridge *b = m->bridge[p->a.bridge];

	mark_members(m, b, &p->a);
	mdb_port_gone(m, b, p->slot);
	for (uint32_t i = 0; i < b->n_ports; i++) {
		if (b->port[i] == p->slot) {
			b->port[i] = b->port[--b->n_ports];
			return;
		}
	}
}

static void join_bridge(struct model *m, struct model_port *p)
{
	struct model_bridge *b = m->bridge[p->a.bridge];

	b->port[b->n_ports++] = p->slot;
	mark_members(m, b, &p->a);
}

/* Everything but the VLAN table. */
static bool port_head_equal(const struct model_port_attr *x, const struct model_port_attr *y)
{
	return x->bridge == y->bridge && x->flags == y->flags && x->state == y->state &&
	       x->pvid == y->pvid && x->backup == y->backup && x->mtu == y->mtu;
}

/* True if the port's copies in flood arrays are the same, VLANs apart. */
static bool port_floods_equal(const struct model_port_attr *x, const struct model_port_attr *y)
{
	const uint16_t others = MP_LEARNING | MP_CSUM | MP_DOWN;

	return (x->flags | others) == (y->flags | others) && x->state == y->state &&
	       x->mtu == y->mtu;
}

static void port_change(struct model *m, struct model_port *p, const struct model_port_attr *a)
{
	struct model_bridge *b = m->bridge[a->bridge];
	bool head_changed = !port_head_equal(&p->a, a);

	if (!port_floods_equal(&p->a, a)) {
		mark_members(m, b, &p->a);
		mark_members(m, b, a);
	} else {
		for (uint32_t vid = 1; vid <= VID_MAX; vid++) {
			if (p->a.vlan[vid] != a->vlan[vid])
				mark_vlan(m, p, vid);
		}
	}
	p->a = *a;
	if (head_changed)
		mark_port(m, p);
}

int model_port_set(struct model *m, uint16_t slot, const struct model_port_attr *a, bool *changed)
{
	struct model_port *p;

	if (!slot || slot >= XB_MAX_PORTS || a->bridge >= XB_MAX_BRIDGES || a->pvid > VID_MAX ||
	    a->backup >= XB_MAX_PORTS || a->state > PORT_BLOCKING || !m->bridge[a->bridge])
		return -EINVAL;

	p = m->port[slot];
	if (p && p->a.bridge == a->bridge) {
		bool same = port_head_equal(&p->a, a) && !memcmp(p->a.vlan, a->vlan, VID_N);

		if (changed)
			*changed = !same;
		if (!same)
			port_change(m, p, a);
		return 0;
	}
	if (p) {
		leave_bridge(m, p);
	} else {
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
		p->slot = slot;
		m->port[slot] = p;
	}
	p->a = *a;
	join_bridge(m, p);
	mark_port(m, p);
	if (changed)
		*changed = true;
	return 0;
}

void model_port_del(struct model *m, uint16_t slot)
{
	struct model_port *p = slot < XB_MAX_PORTS ? m->port[slot] : NULL;

	if (!p)
		return;
	leave_bridge(m, p);
	m->port[slot] = NULL;
	m->gen++;
	free(p);
}

int model_port_vlan_set(struct model *m, uint16_t slot, uint16_t vid, uint8_t mv)
{
	struct model_port *p = slot < XB_MAX_PORTS ? m->port[slot] : NULL;

	if (!p)
		return -ENOENT;
	if (vid < 1 || vid > VID_MAX)
		return -EINVAL;
	if (p->a.vlan[vid] == mv)
		return 0;
	p->a.vlan[vid] = mv;
	mark_vlan(m, p, vid);
	return 0;
}
