/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/mcast.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "ctl/verify_priv.h"

/* A member as the kernel told it; all but the last field tells it apart. */
struct told {
	uint16_t bridge, slot;
	struct mdb_key key;
	uint8_t flags;
};

struct round {
	struct ctl *c;
	struct verify_result *r;
	struct told *told; /* members that the kernel has; sorted when all are there */
	uint32_t n, size;
	uint16_t router[XB_MAX_PORTS];
	uint16_t bridge; /* of the walk */
};

#define ROUTER_FLAGS (MP_ROUTER4 | MP_ROUTER6)

/* Groups of a bridge that does not snoop decide nothing, and some kernels hide them. */
static struct ctl_bridge *find_bridge(struct ctl *c, uint32_t ifindex)
{
	struct ctl_bridge *b = ctl_bridge_by_ifindex(c, ifindex);

	return b && b->source == CONF_SOURCE_KERNEL && b->mcast.snooping && !b->mcast.is_full
		       ? b
		       : NULL;
}

static void describe(const struct ctl *c, uint16_t slot, uint8_t flags, char *buf)
{
	if (!flags)
		return;
	snprintf(buf, VERIFY_TEXT_SIZE, "%s%s%s", c->port[slot].is_used ? c->port[slot].name : "?",
		 flags & MDB_INCLUDE ? " include" : "", flags & MDB_BLOCKED ? " blocked" : "");
}

static const char *group_text(const struct mdb_key *k, char *buf, size_t size)
{
	struct mac mac;

	if (k->family != MDB_L2)
		return inet_ntop(k->family == MDB_IP4 ? AF_INET : AF_INET6, k->group, buf,
				 (socklen_t)size);
	memcpy(mac.b, k->group, sizeof(mac.b));
	return mac_format(&mac, buf);
}

static void differ(struct round *w, const struct told *t, uint8_t kernel, uint8_t ours)
{
	uint64_t id = mdb_key_hash(&t->key, 0) ^ (uint64_t)t->slot << 48 ^ t->bridge;
	char what[32], group[INET6_ADDRSTRLEN] = "";
	struct verify_difference *d;

	snprintf(what, sizeof(what), "mdb %s", w->c->bridge[t->bridge].name);
	d = verify_differ(w->r, id, what, "%.23s vlan %u",
			  group_text(&t->key, group, sizeof(group)), t->key.vid);
	if (!d)
		return;
	describe(w->c, t->slot, kernel, d->kernel);
	describe(w->c, t->slot, ours, d->ours);
}

static int take_member(void *arg, const struct mdb_info *m)
{
	struct round *w = arg;
	struct ctl_bridge *b = find_bridge(w->c, m->bridge);
	struct told *t;

	if (w->n == w->size) {
		uint32_t size = w->size ? w->size * 2 : 256;
		struct told *v = realloc(w->told, size * sizeof(*v));

		if (!v)
			return -ENOMEM;
		w->told = v;
		w->size = size;
	}
	t = &w->told[w->n];
	memset(t, 0, sizeof(*t));
	t->bridge = ctl_index(w->c, b);
	t->slot = mdbsync_slot(w->c, b, m->ifindex);
	mcast_key(m, &t->key);
	t->flags = mcast_member_flags(m);
	if (t->slot)
		w->n++;
	return 0;
}

static int take_router(void *arg, const struct router_info *i)
{
	struct round *w = arg;
	uint16_t slot = mdbsync_slot(w->c, find_bridge(w->c, i->bridge), i->ifindex);

	if (!(i->present & ROUTER_HAS_VID))
		w->router[slot] |= mcast_router_flags(i);
	return 0;
}

static int take(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct round *w = arg;
	int err;

	if (i->type != RTMSG_MDB || !find_bridge(w->c, i->mdb.ifindex))
		return 0;
	err = rtmsg_mdb(h, take_member, w);
	return err ? err : rtmsg_routers(h, take_router, w);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct told, flags));
}

static void check_extra(const struct mdb_key *k, uint16_t slot, uint8_t flags, void *arg)
{
	struct round *w = arg;
	struct told t;

	memset(&t, 0, sizeof(t));
	t.bridge = w->bridge;
	t.slot = slot;
	t.key = *k;
	if (!w->n || !bsearch(&t, w->told, w->n, sizeof(t), compare))
		differ(w, &t, 0, flags);
}

static void router_text(uint16_t flags, char *buf)
{
	snprintf(buf, VERIFY_TEXT_SIZE, "%s%s", flags & MP_ROUTER4 ? " IPv4" : "",
		 flags & MP_ROUTER6 ? " IPv6" : "");
}

static void compare_routers(struct round *w, uint16_t slot)
{
	const struct model_port *m = w->c->model->port[slot];
	uint16_t ours = m ? m->a.flags & ROUTER_FLAGS : 0;
	struct verify_difference *d;

	if (ours == w->router[slot])
		return;
	d = verify_differ(w->r, 1ULL << 62 | slot, "mdb", "router %s", w->c->port[slot].name);
	if (!d)
		return;
	router_text(w->router[slot], d->kernel);
	router_text(ours, d->ours);
}

static void tick(void *arg)
{
	struct round *w = arg;

	ctl_alive(w->c);
}

static void compare_all(struct round *w)
{
	if (w->n)
		qsort(w->told, w->n, sizeof(*w->told), compare);
	w->r->n_members = w->n;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct told *t = &w->told[i];
		uint8_t ours = model_mdb_get(w->c->model, t->bridge, &t->key, t->slot);

		if (ours != t->flags)
			differ(w, t, t->flags, ours);
	}
	for (uint16_t i = 0; i < XB_MAX_BRIDGES; i++) {
		w->bridge = i;
		if (w->c->bridge[i].is_used && find_bridge(w->c, w->c->bridge[i].ifindex))
			model_mdb_each(w->c->model, i, check_extra, w);
	}
	for (uint16_t slot = 1; slot < w->c->slot_end; slot++) {
		const struct ctl_port *p = &w->c->port[slot];

		if (p->is_used && !p->is_host && find_bridge(w->c, w->c->bridge[p->bridge].ifindex))
			compare_routers(w, slot);
	}
}

int verify_mdb(struct ctl *c, struct verify_result *r)
{
	struct round *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->c = c;
	w->r = r;
	err = rtsock_dump(c->rt, RTREQ_MDB, take, tick, w);
	/* A kernel without a bridge has none. */
	if (err == -EOPNOTSUPP)
		err = 0;
	if (!err) {
		/* As in the rest of the round. */
		ctl_catch_up(c);
		compare_all(w);
	}
	free(w->told);
	free(w);
	return err;
}
