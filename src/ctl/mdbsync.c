/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/mcast.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "util/clock.h"

#define READ_TRIES    4
#define READ_PAUSE_NS (100 * NSEC_PER_MSEC) /* after a failure */
#define FULL_PAUSE_NS (10 * NSEC_PER_SEC)   /* until it is tried whether the groups fit */
#define ROUTER_FLAGS  (MP_ROUTER4 | MP_ROUTER6 | MP_ROUTER_L2)

/* ---- one message ---- */

uint16_t mdbsync_slot(struct ctl *c, const struct ctl_bridge *b, uint32_t ifindex)
{
	const struct ctl_port *p;

	if (ifindex == b->ifindex)
		return b->host_slot;
	p = ctl_port_by_ifindex(c, ifindex);
	return p && !p->is_host && p->bridge == ctl_index(c, b) ? ctl_slot(c, p) : 0;
}

static void put_member(struct ctl *c, struct ctl_bridge *b, const struct mdb_info *m)
{
	uint16_t slot = mdbsync_slot(c, b, m->ifindex);
	struct mdb_key k;
	int err;

	/* A port that we do not know yet: all groups are read when we do. */
	if (!slot)
		return;
	mcast_key(m, &k);
	err = model_mdb_set(c->model, ctl_index(c, b), &k, slot, mcast_member_flags(m));
	if (err == -ENOSPC)
		b->mcast.is_full = true;
	else if (err == -ENOMEM)
		mdbsync_unread(c, b);
}

struct event {
	struct ctl *c;
	struct ctl_bridge *b;
};

static int take_member(void *arg, const struct mdb_info *m)
{
	const struct event *e = arg;

	put_member(e->c, e->b, m);
	return 0;
}

void mdbsync_apply(struct ctl *c, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct event e = { c, ctl_bridge_by_ifindex(c, i->mdb.ifindex) };

	if (!e.b)
		return;
	if (i->mdb.deleted)
		c->stats.n_mdb_ends++;
	c->stats.n_mdb_events++;
	(void)rtmsg_mdb(h, take_member, &e);
	/* It does not say of which family, and the first query makes a router and a querier. */
	if (i->mdb.n_routers)
		c->poll_wanted = c->routers_wanted = true;
}

void mdbsync_unread(struct ctl *c, struct ctl_bridge *b)
{
	b->mcast.has_mdb = false;
	c->mdb_wanted = true;
}

/* ---- the whole table ---- */

struct reading {
	struct ctl *c;
	struct ctl_bridge *b; /* of the message */
	bool routers_only;
	uint32_t n_datagrams;
	struct mdb_info *member;
	uint32_t n, size;
	uint32_t n_of[XB_MAX_BRIDGES];
	uint16_t router[XB_MAX_PORTS];
};

static int keep_member(void *arg, const struct mdb_info *m)
{
	struct reading *r = arg;
	uint32_t *n_of = &r->n_of[ctl_index(r->c, r->b)];

	/* The first one too many tells that there are too many. */
	if (*n_of > XB_MAX_MDB)
		return 0;
	++*n_of;
	if (r->n == r->size) {
		uint32_t size = r->size ? r->size * 2 : 256;
		struct mdb_info *v = realloc(r->member, size * sizeof(*v));

		if (!v)
			return -ENOMEM;
		r->member = v;
		r->size = size;
	}
	r->member[r->n++] = *m;
	return 0;
}

static int keep_router(void *arg, const struct router_info *i)
{
	struct reading *r = arg;
	uint16_t slot = mdbsync_slot(r->c, r->b, i->ifindex);

	if (slot && !(i->present & ROUTER_HAS_VID))
		r->router[slot] |= mcast_router_flags(i);
	return 0;
}

static int keep(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct reading *r = arg;
	int err = 0;

	r->b = i->type == RTMSG_MDB ? ctl_bridge_by_ifindex(r->c, i->mdb.ifindex) : NULL;
	if (!r->b)
		return 0;
	/* What a bridge has that does not snoop is read when it does. */
	if (!r->routers_only && r->b->mcast.snooping)
		err = rtmsg_mdb(h, keep_member, r);
	return err ? err : rtmsg_routers(h, keep_router, r);
}

static void tick(void *arg)
{
	struct reading *r = arg;

	r->n_datagrams++;
	ctl_alive(r->c);
}

void mdbsync_set_router(struct ctl *c, uint16_t slot, uint16_t flags)
{
	const struct model_port *m = c->model->port[slot];
	struct model_port_attr a;

	c->port[slot].router = flags;
	if (!m || (m->a.flags & ROUTER_FLAGS) == flags)
		return;
	a = m->a;
	a.flags = (uint16_t)((a.flags & ~ROUTER_FLAGS) | flags);
	if (model_port_set(c->model, slot, &a, NULL))
		c->plan_wanted = true;
}

static void apply_routers(struct ctl *c, const struct reading *r)
{
	for (uint16_t slot = 1; slot < c->slot_end; slot++) {
		const struct ctl_port *p = &c->port[slot];

		/* Those of the bridges themselves are not in the table. */
		if (p->is_used && !p->is_host)
			mdbsync_set_router(c, slot, r->router[slot]);
	}
}

static void apply_members(struct ctl *c, const struct reading *r)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		if (!b->is_used || b->source != CONF_SOURCE_KERNEL)
			continue;
		model_mdb_clear(c->model, (uint16_t)i);
		b->mcast.is_full = r->n_of[i] > XB_MAX_MDB;
		b->mcast.has_mdb = true;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		struct ctl_bridge *b = ctl_bridge_by_ifindex(c, r->member[i].bridge);

		if (b)
			put_member(c, b, &r->member[i]);
	}
}

/*
 * A member that leaves while the table is told in several parts may hide
 * another one, and nobody tells of that one later. -EAGAIN: that may have been.
 */
static int read_once(struct ctl *c, struct reading *r)
{
	uint64_t n_ends;
	int err;

	r->n = 0;
	r->n_datagrams = 0;
	memset(r->n_of, 0, sizeof(r->n_of));
	memset(r->router, 0, sizeof(r->router));
	ctl_read_events(c);
	n_ends = c->stats.n_mdb_ends;
	err = rtsock_dump(c->rt, RTREQ_MDB, keep, tick, r);
	/* A kernel that has no bridge yet has no such table. */
	if (err && err != -EOPNOTSUPP)
		return err;
	apply_routers(c, r);
	if (r->routers_only)
		return 0;
	c->mdb_wanted = false;
	apply_members(c, r);
	/* What happened meanwhile is in the events, and what is older in them ends the same. */
	ctl_read_events(c);
	return r->n_datagrams > 1 && c->stats.n_mdb_ends != n_ends ? -EAGAIN : 0;
}

static int read_table(struct ctl *c, bool routers_only)
{
	struct reading *r = calloc(1, sizeof(*r));
	int err = r ? -EINTR : -ENOMEM;

	if (!r)
		return err;
	r->c = c;
	r->routers_only = routers_only;
	for (uint32_t i = 0; (err == -EINTR || err == -EAGAIN) && i < READ_TRIES; i++)
		err = read_once(c, r);
	free(r->member);
	free(r);
	return err;
}

int mdbsync_read_routers(struct ctl *c)
{
	return read_table(c, true);
}

static bool is_any_full(const struct ctl *c)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used && c->bridge[i].mcast.is_full)
			return true;
	}
	return false;
}

void mdbsync_run(struct ctl *c)
{
	int err;

	if (!c->mdb_wanted && c->now_ns - c->mdb_at_ns >= FULL_PAUSE_NS && is_any_full(c))
		c->mdb_wanted = true;
	if (!c->mdb_wanted || c->now_ns < c->mdb_next_ns)
		return;
	err = read_table(c, false);
	c->mdb_at_ns = c->now_ns;
	if (!err)
		return;
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used)
			mdbsync_unread(c, &c->bridge[i]);
	}
	c->mdb_next_ns = clock_now_ns() + READ_PAUSE_NS;
	if (err != -EINTR && err != -EAGAIN && log_limit_ok(&c->limit_bad, "mdb", c->now_ns))
		log_warn("multicast groups could not be read: %s", strerror(-err));
}
