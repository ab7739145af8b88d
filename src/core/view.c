/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/flood.h"
#include "core/group.h"
#include "core/local.h"
#include "core/model.h"

static void vlan_put(const struct view_vlan *cv)
{
	struct view_vlan *v = (struct view_vlan *)(uintptr_t)cv;

	if (v && !--v->refs)
		free(v);
}

static struct view_vlan *vlan_get(const struct view_vlan *cv)
{
	struct view_vlan *v = (struct view_vlan *)(uintptr_t)cv;

	if (v)
		v->refs++;
	return v;
}

static void chunk_put(const struct view_chunk *cc)
{
	struct view_chunk *c = (struct view_chunk *)(uintptr_t)cc;

	if (!c || --c->refs)
		return;
	for (uint32_t i = 0; i < VIEW_CHUNK; i++)
		vlan_put(c->vlan[i]);
	free(c);
}

static const struct view_chunk *chunk_get(const struct view_chunk *cc)
{
	struct view_chunk *c = (struct view_chunk *)(uintptr_t)cc;

	if (c)
		c->refs++;
	return c;
}

static void bridge_put(const struct view_bridge *cb)
{
	struct view_bridge *b = (struct view_bridge *)(uintptr_t)cb;

	if (!b || --b->refs)
		return;
	for (uint32_t i = 0; i < VID_N / VIEW_CHUNK; i++)
		chunk_put(b->chunk[i]);
	group_table_put(b->groups);
	local_set_put(b->local);
	free(b);
}

static void port_put(const struct view_port *cp)
{
	struct view_port *p = (struct view_port *)(uintptr_t)cp;

	if (p && !--p->refs)
		free(p);
}

void view_free(struct view *v)
{
	if (!v)
		return;
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++)
		bridge_put(v->bridge[i]);
	for (uint32_t i = 0; i < XB_MAX_PORTS; i++)
		port_put(v->port[i]);
	free(v);
}

/*
 * br_handle_frame_finish() looks at the VLAN's state only when the port's is
 * "forwarding"; with MST the port's does not count (net/bridge/br_input.c).
 */
static uint8_t entry_flags(const struct model_bridge_attr *b, const struct model_port_attr *p,
			   uint8_t mv)
{
	uint8_t port_state = b->mst ? PORT_FORWARDING : p->state;
	uint8_t vlan_state = MV_STATE_OF(mv);
	uint8_t in = port_state == PORT_FORWARDING ? vlan_state : port_state;
	uint8_t flags = 0;

	if (!(mv & MV_MEMBER))
		return 0;
	flags |= PV_MEMBER;
	if (mv & MV_UNTAGGED)
		flags |= PV_UNTAGGED;
	if (in == PORT_LEARNING || in == PORT_FORWARDING)
		flags |= PV_LEARN;
	if (in == PORT_FORWARDING)
		flags |= PV_INGRESS;
	if (port_state == PORT_FORWARDING && vlan_state == PORT_FORWARDING)
		flags |= PV_EGRESS;
	return flags;
}

/* The entries of @op, an earlier form of the port (or NULL), where nothing has changed since. */
static void port_fill_vlans(struct view_port *p, const struct model_bridge_attr *b,
			    const struct model_port *mp, const struct view_port *op)
{
	const struct model_port_attr *a = &mp->a;

	if (!b->filtering) {
		p->vlan[0].flags =
			entry_flags(b, a, MV_MEMBER | MV_UNTAGGED | MV_STATE(PORT_FORWARDING));
		return;
	}
	if (op)
		memcpy(p->vlan, op->vlan, sizeof(p->vlan));
	for (uint32_t c = 0; c < VID_N / VIEW_CHUNK; c++) {
		if (op && mp->chunk_gen[c] <= op->gen)
			continue;
		for (uint32_t vid = c * VIEW_CHUNK; vid < (c + 1) * VIEW_CHUNK; vid++)
			p->vlan[vid].flags = entry_flags(b, a, a->vlan[vid]);
	}
	p->vlan[0].flags = 0;
	p->vlan[VID_N - 1].flags = 0;
	p->pvid = a->pvid;
	if (a->pvid != VID_NONE && (p->vlan[a->pvid].flags & PV_MEMBER))
		p->pvid_entry = &p->vlan[a->pvid];
}

static struct view_port *port_build(const struct model *m, const struct model_port *mp,
				    const struct view_port *op)
{
	const struct model_bridge_attr *b = &m->bridge[mp->a.bridge]->a;
	struct view_port *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->slot = mp->slot;
	p->bridge = mp->a.bridge;
	p->state = b->mst ? PORT_FORWARDING : mp->a.state;
	p->max_len = mp->a.flags & MP_HOST ? UINT32_MAX : flood_max_len(mp->a.mtu);
	if (mp->a.flags & MP_HOST)
		p->flags |= VP_HOST;
	if (mp->a.flags & MP_LEARNING)
		p->flags |= VP_LEARNING;
	if (mp->a.flags & MP_ISOLATED)
		p->flags |= VP_ISOLATED;
	if (mp->a.flags & MP_HAIRPIN)
		p->flags |= VP_HAIRPIN;
	if (mp->a.flags & MP_CSUM)
		p->flags |= VP_CSUM;
	if (p->state == PORT_FORWARDING)
		p->flags |= VP_EGRESS;
	if (mp->a.flags & MP_DOWN)
		p->backup = mp->a.backup;
	port_fill_vlans(p, b, mp, op && mp->head_gen <= op->gen ? op : NULL);
	p->gen = mp->gen;
	p->refs = 1;
	return p;
}

static int add_ports(struct view *v, const struct model *m, const struct view *old)
{
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		const struct model_port *mp = m->port[i];
		const struct view_port *op = old ? old->port[i] : NULL;

		if (!mp)
			continue;
		if (op && op->gen == mp->gen) {
			((struct view_port *)(uintptr_t)op)->refs++;
			v->port[i] = op;
			continue;
		}
		v->port[i] = port_build(m, mp, op);
		if (!v->port[i])
			return -ENOMEM;
	}
	return 0;
}

static bool bridge_is_current(const struct view_bridge *ob, const struct model_bridge *b)
{
	if (!ob || ob->gen != b->gen || ob->fdb != b->fdb || b->mdb.gen > ob->vlan_gen_max)
		return false;
	for (uint32_t i = 0; i < VID_N / VIEW_CHUNK; i++) {
		if (b->chunk_gen[i] > ob->vlan_gen_max)
			return false;
	}
	return true;
}

/* What the VLANs of a bridge are built from. */
struct vlan_source {
	const struct model *m;
	const struct model_bridge *b;
	const struct view_bridge *ob; /* the bridge of the view before, NULL */
	uint32_t n_floods;            /* made anew so far */
};

/* A reference to the VLAN as it was if it is the same, or a new one; NULL: no port is in it. */
static int take_vlan(struct vlan_source *s, uint32_t vid, struct view_vlan **out)
{
	bool filtering = s->b->a.filtering;
	int err;

	*out = NULL;
	if (filtering ? vid < 1 || vid > VID_MAX : vid != 0)
		return 0;
	if (s->ob && s->b->vlan_gen[vid] <= s->ob->vlan_gen_max) {
		*out = vlan_get(view_vlan(s->ob, (uint16_t)vid));
		return 0;
	}
	err = flood_build(s->m, s->b, (uint16_t)vid, out);
	s->n_floods += !err && *out;
	return err;
}

/* The chunk is put into its place @out at once, so that a failure frees what it has. */
static int add_chunk(struct vlan_source *s, uint32_t first, const struct view_chunk **out)
{
	struct view_chunk *c = NULL;

	for (uint32_t i = 0; i < VIEW_CHUNK; i++) {
		struct view_vlan *v;
		int err = take_vlan(s, first + i, &v);

		if (err)
			return err;
		if (!v)
			continue;
		if (!c) {
			c = calloc(1, sizeof(*c));
			if (!c) {
				vlan_put(v);
				return -ENOMEM;
			}
			c->refs = 1;
			*out = c;
		}
		c->vlan[i] = v;
	}
	return 0;
}

/* The view's bridge @nb is in place already, so that a failure frees what it has. */
static int add_vlans(struct view_bridge *nb, struct vlan_source *s)
{
	for (uint32_t i = 0; i < VID_N / VIEW_CHUNK; i++) {
		int err = 0;

		if (s->ob && s->b->chunk_gen[i] <= s->ob->vlan_gen_max)
			nb->chunk[i] = chunk_get(s->ob->chunk[i]);
		else
			err = add_chunk(s, i * VIEW_CHUNK, &nb->chunk[i]);
		if (err)
			return err;
	}
	return 0;
}

static uint16_t bridge_flags(const struct model_bridge_attr *a)
{
	const struct {
		bool on;
		uint16_t flag;
	} v[] = {
		{ a->filtering, VB_FILTERING },       { a->learning, VB_LEARNING },
		{ a->promisc, VB_PROMISC },           { a->standalone, VB_STANDALONE },
		{ a->local_vlan_0, VB_LOCAL_VLAN_0 }, { a->snooping, VB_SNOOPING },
		{ a->querier4, VB_QUERIER4 },         { a->querier6, VB_QUERIER6 },
		{ a->igmp_v3, VB_IGMP_V3 },           { a->mld_v2, VB_MLD_V2 },
	};
	uint16_t flags = 0;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		flags |= v[i].on ? v[i].flag : 0;
	return flags;
}

static int add_bridge(struct view *v, const struct model *m, const struct model_bridge *b,
		      const struct view *old, uint32_t *n_floods)
{
	const struct view_bridge *ob = old ? old->bridge[b->index] : NULL;
	struct vlan_source s = { .m = m, .b = b, .ob = ob && ob->fdb == b->fdb ? ob : NULL };
	struct view_bridge *nb;
	int err;

	if (bridge_is_current(ob, b)) {
		((struct view_bridge *)(uintptr_t)ob)->refs++;
		v->bridge[b->index] = ob;
		return 0;
	}
	nb = calloc(1, sizeof(*nb));
	if (!nb)
		return -ENOMEM;
	nb->refs = 1;
	v->bridge[b->index] = nb;
	nb->index = b->index;
	nb->gen = b->gen;
	nb->vlan_gen_max = m->gen;
	nb->fdb = b->fdb;
	nb->local = local_set_get(b->local);
	nb->count = b->count;
	nb->host_port = b->a.host_port;
	nb->tpid = b->a.filtering ? b->a.tpid : 0;
	nb->flags = bridge_flags(&b->a);
	err = add_vlans(nb, &s);
	if (!err)
		err = group_table_build(m, b, s.ob, &nb->groups);
	if (n_floods)
		*n_floods += s.n_floods;
	return err;
}

struct view *view_build(const struct model *m, const struct view *old, uint32_t *n_floods)
{
	struct view *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return NULL;
	if (n_floods)
		*n_floods = 0;
	v->gen = old ? old->gen + 1 : 1;
	err = add_ports(v, m, old);
	for (uint32_t i = 0; !err && i < XB_MAX_BRIDGES; i++) {
		if (m->bridge[i])
			err = add_bridge(v, m, m->bridge[i], old, n_floods);
	}
	if (err) {
		view_free(v);
		return NULL;
	}
	return v;
}
