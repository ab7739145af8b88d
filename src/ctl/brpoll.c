/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "ctl/mcast.h"
#include "ctl/ports.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "util/clock.h"

#define ADDRESS_TRIES 4

/* Router ports are read with all groups: a large table is read less often. */
#define ROUTERS_PAUSE_NS  NSEC_PER_SEC
#define ROUTERS_URGENT_NS (100 * NSEC_PER_MSEC) /* between those that something was told of */
#define ROUTERS_SHARE     50 /* of the time goes into it at most, as one to this number */

static bool is_snooping(const struct ctl_bridge *b)
{
	return b->is_used && b->source == CONF_SOURCE_KERNEL && b->mcast.snooping;
}

/* ---- asking ---- */

struct asked {
	struct ctl *c;
	bool has_told;
	struct mcast_addresses address[XB_MAX_BRIDGES];
};

static int take_link(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct asked *a = arg;
	struct rtmsg_info now = { .type = RTMSG_LINK };
	struct mirror_link *l =
		i->type == RTMSG_LINK ? mirror_find(a->c->mirror, i->link.ifindex) : NULL;

	if (!l || !l->seen_device || !(i->link.present & LINK_HAS_BRIDGE))
		return 0;
	/* What always moves is no reason for a plan. */
	memcpy(l->info.bridge.querier, i->link.bridge.querier, sizeof(l->info.bridge.querier));
	l->info.bridge.fdb_n_learned = i->link.bridge.fdb_n_learned;
	/*
	 * The rest is a change like any other: snooping ends in silence when the kernel has
	 * more groups than it may, and a notification that waits finds nothing new after this.
	 */
	now.link = l->info;
	now.link.promiscuity = i->link.promiscuity;
	now.link.allmulti = i->link.allmulti;
	now.link.bridge = i->link.bridge;
	a->has_told = true;
	return mirror_apply(a->c->mirror, &now, h, &a->c->plan_wanted);
}

static int take_address(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct asked *a = arg;
	const struct mirror_link *l;
	struct mcast_addresses *out;
	const struct ctl_bridge *b;

	(void)h;
	if (i->type != RTMSG_ADDR || !i->addr.is_usable)
		return 0;
	b = ctl_bridge_by_ifindex(a->c, i->addr.ifindex);
	l = b ? mirror_find(a->c->mirror, b->ifindex) : NULL;
	if (!l)
		return 0;
	out = &a->address[ctl_index(a->c, b)];
	out->has_any = true;
	if (!memcmp(l->info.bridge.querier[QUERIER_IP6].address, i->addr.address,
		    sizeof(i->addr.address)))
		out->has_querier = true;
	return 0;
}

static void read_queriers(struct ctl *c, struct ctl_bridge *b, const struct mcast_addresses *a)
{
	const struct mirror_link *l = mirror_find(c->mirror, b->ifindex);
	uint64_t settle_ns = (uint64_t)c->conf->querier_settle_ms * NSEC_PER_MSEC;
	struct querier_reading r;

	if (!l)
		return;
	for (uint32_t q = 0; q < QUERIER_N; q++) {
		mcast_reading(&l->info.bridge, q, a, settle_ns, &r);
		querier_update(&b->mcast.querier[q], &r, clock_now_ns());
	}
	if (b->host_slot)
		mdbsync_set_router(c, b->host_slot, mcast_host_router_flags(&l->info.bridge));
}

static void bridge_unread(struct ctl_bridge *b)
{
	for (uint32_t q = 0; q < QUERIER_N; q++)
		querier_unread(&b->mcast.querier[q]);
}

void brpoll_unread(struct ctl *c)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used)
			bridge_unread(&c->bridge[i]);
	}
	c->poll_wanted = true;
}

void brpoll_link(struct ctl *c, const struct link_info *i)
{
	const uint32_t need = BRIDGE_MCAST_SNOOPING | BRIDGE_MCAST_QUERIER;
	uint64_t settle_ns = (uint64_t)c->conf->querier_settle_ms * NSEC_PER_MSEC;
	struct ctl_bridge *b = ctl_bridge_by_ifindex(c, i->ifindex);
	const struct mcast_addresses none = { 0 };
	struct querier_reading r;

	if (!b || !b->mcast.snooping || i->deleted || !(i->present & LINK_HAS_BRIDGE) ||
	    (i->bridge.present & need) != need)
		return;
	/* Meanwhile the kernel learns nothing, and tells nothing of queriers. */
	if (!(i->bridge.flags & BRIDGE_MCAST_SNOOPING)) {
		bridge_unread(b);
		mdbsync_unread(c, b);
		return;
	}
	for (uint32_t q = 0; q < QUERIER_N; q++) {
		struct querier *state = &b->mcast.querier[q];

		/* The first reading is that of a poll, which comes with the addresses. */
		if (!state->is_read)
			continue;
		mcast_reading(&i->bridge, q, &none, settle_ns, &r);
		r.address = state->address;
		querier_update(state, &r, clock_now_ns());
	}
}

/* -EINTR: addresses changed meanwhile, and may change again. */
static int read_addresses(struct ctl *c, struct asked *a)
{
	int err = -EINTR;

	for (uint32_t i = 0; err == -EINTR && i < ADDRESS_TRIES; i++) {
		ctl_alive(c);
		memset(a->address, 0, sizeof(a->address));
		err = rtsock_dump(c->rt, RTREQ_ADDRS6, take_address, NULL, a);
	}
	return err;
}

static void ask_queriers(struct ctl *c, struct asked *a, const bool *told)
{
	bool is_asking = false;
	int err = 0;

	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		const struct ctl_bridge *b = &c->bridge[i];
		const struct mirror_link *l =
			is_snooping(b) ? mirror_find(c->mirror, b->ifindex) : NULL;

		is_asking = is_asking || (l && (l->info.bridge.flags & BRIDGE_MCAST_QUERIER));
	}
	if (is_asking)
		err = read_addresses(c, a);
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct querier *q = &c->bridge[i].mcast.querier[QUERIER_IP6];

		if (!told[i] || !is_snooping(&c->bridge[i]))
			continue;
		read_queriers(c, &c->bridge[i], &a->address[i]);
		/* Without addresses nobody knows whether it asks by itself. */
		if (err && q->is_on)
			q->is_read = false;
	}
}

static void ask_routers(struct ctl *c)
{
	uint64_t from_ns = clock_now_ns(), cost_ns;
	bool is_urgent = c->routers_wanted && c->now_ns >= c->routers_urgent_ns;
	bool is_needed = is_urgent;

	for (uint32_t i = 0; i < XB_MAX_BRIDGES && c->now_ns >= c->routers_next_ns; i++)
		is_needed = is_needed || (is_snooping(&c->bridge[i]) && c->bridge[i].n_receive);
	if (!is_needed)
		return;
	c->routers_wanted = mdbsync_read_routers(c) != 0;
	cost_ns = clock_now_ns() - from_ns;
	if (is_urgent)
		c->routers_urgent_ns = c->now_ns + cost_ns + ROUTERS_URGENT_NS;
	c->routers_next_ns = c->now_ns + ROUTERS_PAUSE_NS / 2;
	if (cost_ns * ROUTERS_SHARE > ROUTERS_PAUSE_NS)
		c->routers_next_ns = c->now_ns + cost_ns * ROUTERS_SHARE;
}

void brpoll_ask(struct ctl *c)
{
	struct asked a = { .c = c };
	bool told[XB_MAX_BRIDGES] = { false };

	if (!c->poll_wanted) {
		if (c->routers_wanted)
			ask_routers(c);
		return;
	}
	c->poll_wanted = false;
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		const struct ctl_bridge *b = &c->bridge[i];

		if (!b->is_used || !b->ifindex)
			continue;
		a.has_told = false;
		/* Others may hold the lock that the answer needs. */
		ctl_alive(c);
		(void)rtsock_link(c->rt, b->ifindex, take_link, &a);
		told[i] = a.has_told;
	}
	ask_queriers(c, &a, told);
	ask_routers(c);
}

/* ---- deciding ---- */

void brpoll_plan(struct ctl *c, struct ctl_bridge *b, struct plan_bridge *pb)
{
	struct ctl_mcast *m = &b->mcast;
	bool is_new = pb->snooping && !m->snooping;

	if (is_new) {
		bridge_unread(b);
		memset(m->counts, 0, sizeof(m->counts));
		c->poll_wanted = true;
	}
	/* What the kernel does not tell while it does not snoop, or of an older version. */
	if (is_new ||
	    (pb->snooping && (m->igmp_v3 != pb->attr.igmp_v3 || m->mld_v2 != pb->attr.mld_v2 ||
			      (m->routers_hidden && !pb->routers_hidden))))
		mdbsync_unread(c, b);
	m->snooping = pb->snooping;
	m->vlan_snooping = pb->vlan_snooping;
	m->to_unicast = pb->to_unicast;
	m->routers_hidden = pb->routers_hidden;
	m->igmp_v3 = pb->attr.igmp_v3;
	m->mld_v2 = pb->attr.mld_v2;
	pb->attr.querier4 = m->counts[QUERIER_IP4];
	pb->attr.querier6 = m->counts[QUERIER_IP6];
	if (b->host_slot)
		pb->host.flags |= c->port[b->host_slot].router;
	m->pass = brpoll_pass(c, b);
}

enum mcast_pass brpoll_pass(const struct ctl *c, const struct ctl_bridge *b)
{
	const struct ctl_mcast *m = &b->mcast;
	uint64_t now_ns = clock_now_ns();

	if (!m->snooping)
		return MCAST_PASS_NONE;
	if (m->vlan_snooping)
		return MCAST_PASS_VLAN_SNOOPING;
	if (m->to_unicast)
		return MCAST_PASS_TO_UNICAST;
	/* Frames go to them all the same (net/bridge/br_mdb.c, br_rports_fill_info()). */
	if (m->routers_hidden)
		return MCAST_PASS_ROUTERS;
	if (m->is_full)
		return MCAST_PASS_LIMIT;
	/* Of routers that were told of nobody knows more until they are read. */
	if (!m->has_mdb || c->routers_wanted)
		return MCAST_PASS_UNREAD;
	for (uint32_t q = 0; q < QUERIER_N; q++) {
		if (querier_state(&m->querier[q], now_ns, NULL) == QUERIER_DOUBT)
			return MCAST_PASS_QUERIER;
	}
	return MCAST_PASS_NONE;
}

static void note_pass(struct ctl *c, struct ctl_bridge *b)
{
	struct ctl_mcast *m = &b->mcast;

	/* Reading takes no time worth a word. */
	if (m->pass == m->told || m->pass == MCAST_PASS_UNREAD || !b->n_receive)
		return;
	m->told = m->pass;
	if (m->pass == MCAST_PASS_NONE)
		history_add(&c->history, LOG_LEVEL_INFO, "bridge %s: multicast: user path",
			    b->name);
	else
		history_add(&c->history, LOG_LEVEL_INFO,
			    "bridge %s: multicast: kernel path: %s (%s)", b->name,
			    mcast_pass_name(m->pass), mcast_pass_text(m->pass));
}

/* In doubt the view keeps what it has: nothing is decided by it. */
static void set_queriers(struct ctl *c, struct ctl_bridge *b)
{
	const struct model_bridge *mb = c->model->bridge[ctl_index(c, b)];
	struct model_bridge_attr a;
	uint64_t now_ns = clock_now_ns();

	for (uint32_t q = 0; q < QUERIER_N; q++) {
		enum querier_state s = querier_state(&b->mcast.querier[q], now_ns, NULL);

		if (s != QUERIER_DOUBT)
			b->mcast.counts[q] = s == QUERIER_PRESENT;
	}
	if (!mb || (mb->a.querier4 == b->mcast.counts[QUERIER_IP4] &&
		    mb->a.querier6 == b->mcast.counts[QUERIER_IP6]))
		return;
	a = mb->a;
	a.querier4 = b->mcast.counts[QUERIER_IP4];
	a.querier6 = b->mcast.counts[QUERIER_IP6];
	if (model_bridge_set(c->model, ctl_index(c, b), &a, b->fdb, b->count, NULL))
		c->plan_wanted = true;
}

/* What begins to pass does so before the new view, and what ends after it. */
void brpoll_decide(struct ctl *c)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		if (!is_snooping(b))
			continue;
		b->mcast.pass = brpoll_pass(c, b);
		if (b->mcast.pass != MCAST_PASS_NONE)
			ports_bridge_mcast(c, b);
		set_queriers(c, b);
	}
	if (c->model->gen != c->model_gen && dp_view(c->dp) && reconcile_publish(c)) {
		c->plan_wanted = true;
		return;
	}
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		if (is_snooping(b)) {
			ports_bridge_mcast(c, b);
			note_pass(c, b);
		}
	}
}
