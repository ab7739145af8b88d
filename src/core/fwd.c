/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/fwd.h"

#include <errno.h>

#include "core/group.h"
#include "core/local.h"
#include "core/snoop.h"

static void drop(struct verdict *r, enum drop_reason reason)
{
	r->drop = reason;
	r->n = 0;
}

/*
 * VLAN ingress (net/bridge/br_vlan.c, __allowed_ingress): a frame without a tag
 * of the bridge's protocol, and one whose tag has VID 0, is in the port's PVID.
 * NULL, with r->drop set, if the frame may not come in.
 */
static const struct port_vlan *vlan_ingress(const struct view_bridge *b, const struct frame *f,
					    struct verdict *r)
{
	const struct view_port *p = r->in;
	const struct port_vlan *e;
	uint16_t vid = frame_vid(f);

	if (!(b->flags & VB_FILTERING)) {
		e = &p->vlan[0];
	} else if (vid) {
		e = &p->vlan[vid];
		r->vid = vid;
	} else {
		e = p->pvid_entry;
		r->vid = p->pvid;
	}

	if (!e || !(e->flags & PV_MEMBER)) {
		drop(r, DROP_VLAN_INGRESS);
		return NULL;
	}
	if (!(e->flags & PV_LEARN)) {
		drop(r, DROP_VLAN_STATE);
		return NULL;
	}
	r->tpid = b->tpid;
	r->tci = frame_tagged_tci(f, r->vid);
	return e;
}

static struct flood_dst dst_make(const struct view_port *p, const struct port_vlan *e)
{
	struct flood_dst d = { .port = p->slot, .max_len = p->max_len };

	if (e->flags & PV_UNTAGGED)
		d.flags |= FLOOD_UNTAGGED;
	if (p->flags & VP_ISOLATED)
		d.flags |= FLOOD_ISOLATED;
	if (p->flags & VP_HAIRPIN)
		d.flags |= FLOOD_HAIRPIN;
	if (p->flags & VP_HOST)
		d.flags |= FLOOD_HOST;
	return d;
}

/* Adds the host's copy; a promiscuous host takes it in any VLAN (br_pass_frame_up()). */
static void add_host(const struct view *v, const struct view_bridge *b, struct verdict *r)
{
	const struct view_port *h = b->host_port ? v->port[b->host_port] : NULL;
	const struct port_vlan *e;

	if (!h) {
		r->drop = r->n ? DROP_NONE : DROP_NO_PORT;
		return;
	}
	e = &h->vlan[r->vid];
	if (!(e->flags & PV_EGRESS) && !(b->flags & VB_PROMISC)) {
		r->drop = DROP_HOST_VLAN;
		return;
	}
	r->one[r->n++] = dst_make(h, e);
	r->drop = DROP_NONE;
}

/* The frame's destination is known: @handle names the port and its entry for the VLAN. */
static enum drop_reason add_known(const struct view_port *p, const struct port_vlan *e,
				  struct verdict *r)
{
	/* The port's state is looked at before the VLAN (should_deliver()). */
	if (!(e->flags & PV_EGRESS))
		return p->flags & VP_EGRESS ? DROP_EGRESS_VLAN : DROP_EGRESS_STATE;
	r->one[r->n++] = dst_make(p, e);
	return DROP_NONE;
}

static void flood(const struct view_bridge *b, enum flood_class class, struct verdict *r)
{
	const struct view_vlan *v = view_vlan(b, r->vid);

	r->is_flood = true;
	if (!v || !v->flood[class].n) {
		drop(r, DROP_NO_MEMBER);
		return;
	}
	r->dst = v->flood[class].dst;
	r->n = v->flood[class].n;
}

/* What the kernel would have as an entry of its own; there is no other one for @key. */
static bool is_local(const struct view *v, const struct view_bridge *b, uint64_t key)
{
	uint64_t in_vlan_0 = key & 0xffffffffffffULL;
	struct fdb_dst d;

	if (local_set_has(v, b, key))
		return true;
	/* br_fdb_find_rcu(): those of VLAN 0 count for every VLAN, unless a user's is there. */
	return (b->flags & VB_LOCAL_VLAN_0) && local_set_has(v, b, in_vlan_0) &&
	       !fdb_lookup(b->fdb, in_vlan_0, &d);
}

/* An unknown destination is about to be flooded: only then it matters whose address it is. */
static bool find_dst(const struct view *v, const struct view_bridge *b, uint64_t key,
		     struct fdb_dst *out)
{
	if (fdb_lookup(b->fdb, key, out))
		return true;
	*out = (struct fdb_dst){ .flags = FDB_LOCAL };
	return is_local(v, b, key);
}

struct own_guard {
	struct fdb_guard g; /* first */
	const struct view *v;
	const struct view_bridge *b;
};

/* br_fdb_update() looks for an entry of the very VLAN, whatever fdb_local_vlan_0 says. */
static bool is_own(const struct fdb_guard *guard, uint64_t key)
{
	const struct own_guard *g = (const struct own_guard *)guard;

	return local_set_has(g->v, g->b, key);
}

static enum fdb_learned learn(const struct view *v, const struct view_bridge *b, uint16_t slot,
			      uint64_t key, uint64_t now_ns)
{
	const struct own_guard guard = { .g = { is_own }, .v = v, .b = b };

	return fdb_learn_guarded(b->fdb, key, slot, now_ns, &guard.g);
}

/*
 * The port that @d names and its entry for the frame's VLAN, or, while that port
 * is down, its backup port (br_forward()): the checks are those of the backup
 * port then, and its own backup does not count. NULL if the port has gone.
 */
static const struct port_vlan *find_port(const struct view *v, const struct view_bridge *b,
					 uint32_t handle, const struct view_port **port)
{
	const struct view_port *p, *backup;
	const struct port_vlan *e = view_entry(v, handle, &p);

	if (!p || p->bridge != b->index)
		return NULL;
	*port = p;
	if (!p->backup)
		return e;
	backup = v->port[p->backup];
	if (!backup || backup->bridge != b->index)
		return e;
	*port = backup;
	return &backup->vlan[handle & 0xfff];
}

static void unicast(const struct view *v, const struct view_bridge *b, const struct frame *f,
		    struct verdict *r)
{
	const struct port_vlan *e;
	const struct view_port *p;
	struct fdb_dst d;

	if (!find_dst(v, b, (uint64_t)r->vid << 48 | f->dmac, &d)) {
		flood(b, FLOOD_UNKNOWN, r);
		return;
	}
	r->dst = r->one;
	if (d.flags & FDB_LOCAL) {
		add_host(v, b, r);
		return;
	}
	e = find_port(v, b, d.dst, &p);
	if (!e) {
		/* The port has gone and its entries are about to: nobody knows the station. */
		flood(b, FLOOD_UNKNOWN, r);
		return;
	}
	r->drop = add_known(p, e, r);
	if (b->flags & VB_PROMISC) {
		r->refused = r->drop;
		r->refused_port = p->slot;
		add_host(v, b, r);
	}
}

/* The entry for the frame's source, if such count, or for any (br_mdb_entry_skb_get()). */
static const struct group *find_group(const struct view_bridge *b, struct mdb_key *k)
{
	static const uint16_t by_source[MDB_FAMILY_N] = {
		[MDB_IP4] = VB_IGMP_V3, [MDB_IP6] = VB_MLD_V2
	};
	const struct group *g = NULL;

	if (!b->groups)
		return NULL;
	if ((b->flags & by_source[k->family]) && b->groups->has_source[k->family])
		g = group_find(b->groups, k);
	if (!g) {
		memset(k->source, 0, sizeof(k->source));
		g = group_find(b->groups, k);
	}
	return g;
}

/* Of a bridge that snoops; while nobody asks for members all groups are flooded. */
static void by_group(const struct view_bridge *b, struct snooped *m, struct verdict *r)
{
	static const uint16_t querier[MDB_FAMILY_N] = {
		[MDB_L2] = VB_SNOOPING, [MDB_IP4] = VB_QUERIER4, [MDB_IP6] = VB_QUERIER6
	};
	const struct group *g = NULL;

	if (!(b->flags & querier[m->key.family])) {
		flood(b, FLOOD_MULTICAST, r);
		return;
	}
	g = find_group(b, &m->key);
	if (!g && !m->routers_only) {
		flood(b, FLOOD_MULTICAST, r);
		return;
	}
	if (!g) {
		flood(b, m->key.family == MDB_IP6 ? FLOOD_ROUTER6 : FLOOD_ROUTER4, r);
		return;
	}
	r->is_flood = true;
	r->dst = g->dst;
	r->n = g->n;
	if (!g->n)
		drop(r, DROP_NO_MEMBER);
}

static void multicast(const struct view_bridge *b, const struct frame *f, struct verdict *r)
{
	struct snooped m;

	if (!(b->flags & VB_SNOOPING)) {
		flood(b, FLOOD_MULTICAST, r);
		return;
	}
	switch (snoop_parse(f, b->tpid, &m)) {
	case SNOOP_DATA:
		m.key.vid = r->vid;
		by_group(b, &m, r);
		break;
	case SNOOP_CONTROL:
		drop(r, DROP_MCAST_CONTROL);
		break;
	case SNOOP_BAD:
		drop(r, DROP_MCAST_BAD);
		break;
	}
}

/*
 * The kernel compares the length without the tag that it keeps beside the
 * frame: the bridge's own, or, on a bridge that does not filter, the outermost
 * of either protocol (is_skb_forwardable(), skb_vlan_untag()).
 */
static uint32_t counted_len(const struct view_bridge *b, const struct frame *f)
{
	bool beside = b->flags & VB_FILTERING
			      ? f->has_tag
			      : f->ethertype == FRAME_TPID_Q || f->ethertype == FRAME_TPID_AD;

	return beside ? f->len - FRAME_TAG_LEN : f->len;
}

void fwd_decide(const struct view *v, uint16_t in, struct frame *f, uint64_t now_ns,
		struct verdict *out)
{
	const struct view_port *p = v->port[in];
	const struct view_bridge *b = p ? v->bridge[p->bridge] : NULL;
	const struct port_vlan *entry;
	struct verdict *r = out;

	*r = (struct verdict){ .in = p, .learned = FDB_SAME };
	if (!b) {
		drop(r, DROP_DETACHED);
		return;
	}
	r->bridge = b->index;
	if (frame_parse(f, f->data, f->len, f->headroom, b->tpid)) {
		drop(r, DROP_RUNT);
		return;
	}
	r->count_len = counted_len(b, f);
	if (!frame_source_valid(f)) {
		drop(r, DROP_SOURCE);
		return;
	}
	if (frame_is_reserved(f)) {
		drop(r, DROP_RESERVED);
		return;
	}
	if (p->state != PORT_FORWARDING && p->state != PORT_LEARNING) {
		drop(r, DROP_STATE);
		return;
	}
	entry = vlan_ingress(b, f, r);
	if (!entry)
		return;
	if ((p->flags & VP_LEARNING) && (b->flags & VB_LEARNING))
		r->learned = learn(v, b, p->slot, (uint64_t)r->vid << 48 | f->smac, now_ns);
	if (!(entry->flags & PV_INGRESS)) {
		drop(r, DROP_LEARNING);
		return;
	}
	switch (frame_class(f)) {
	case FRAME_UNICAST:
		unicast(v, b, f, r);
		break;
	case FRAME_MULTICAST:
		multicast(b, f, r);
		break;
	case FRAME_BROADCAST:
		flood(b, FLOOD_BROADCAST, r);
		break;
	}
}

int fwd_set_form(const struct verdict *r, struct frame *f, bool tagged)
{
	if (!tagged) {
		if (f->has_tag)
			frame_pop_tag(f);
		return 0;
	}
	if (!f->has_tag)
		return frame_push_tag(f, r->tpid, r->tci);
	if (f->tci != r->tci)
		frame_set_tci(f, r->tci);
	return 0;
}
