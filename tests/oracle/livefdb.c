/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "livefdb.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/netinfo.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "livenet.h"

#define TRIES 50 /* of a dump that changes interrupt */

struct reading {
	struct livefdb *t;
	uint32_t bridge;
};

static const char *kind_of(const struct neigh_info *e)
{
	if (e->state & NEIGH_STATE_PERMANENT)
		return " permanent";
	return e->state & NEIGH_STATE_NOARP ? " static" : "";
}

static void describe(const struct neigh_info *e, char *out)
{
	char mac[MAC_STR_SIZE], dev[IF_NAMESIZE] = "?", vlan[16] = "";

	if_indextoname(e->ifindex, dev);
	if (e->vid)
		snprintf(vlan, sizeof(vlan), " vlan %u", e->vid);
	snprintf(out, LIVEFDB_SIZE, "%s dev %s%s%s%s%s%s%s%s%s", mac_format(&e->mac, mac), dev,
		 vlan, e->is_self ? " self" : "", e->flags & NEIGH_FLAG_OFFLOADED ? " offload" : "",
		 e->flags & NEIGH_FLAG_EXT_LEARNED ? " extern_learn" : "",
		 e->flags & NEIGH_FLAG_STICKY ? " sticky" : "",
		 e->flags_ext & NEIGH_FLAG_EXT_LOCKED ? " locked" : "",
		 e->master ? " master " LIVE_BRIDGE : "", kind_of(e));
}

static int take_message(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	const struct neigh_info *e = &i->neigh;
	struct reading *r = arg;
	char entry[LIVEFDB_SIZE];

	(void)h;
	if (i->type != RTMSG_NEIGH || (e->master != r->bridge && e->ifindex != r->bridge) ||
	    (e->is_self && mac_is_multicast(&e->mac)))
		return 0;
	describe(e, entry);
	livefdb_add(r->t, entry);
	return 0;
}

static int ignore(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	(void)arg;
	(void)i;
	(void)h;
	return 0;
}

int livefdb_read(struct rtsock *s, struct livefdb *out)
{
	struct reading r = { out, if_nametoindex(LIVE_BRIDGE) };
	int err = -EINTR;

	rtsock_events(s, 1000, ignore, NULL);
	for (int i = 0; err == -EINTR && i < TRIES; i++) {
		out->n = 0;
		out->is_full = false;
		err = rtsock_dump(s, RTREQ_NEIGHS, take_message, NULL, &r);
	}
	if (!err && out->is_full)
		err = -E2BIG;
	livefdb_sort(out);
	return err;
}

void livefdb_add(struct livefdb *t, const char *entry)
{
	if (t->n == LIVEFDB_MAX) {
		t->is_full = true;
		return;
	}
	snprintf(t->v[t->n++], LIVEFDB_SIZE, "%s", entry);
}

bool livefdb_del(struct livefdb *t, const char *entry)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->v[i], entry) != 0)
			continue;
		memmove(t->v[i], t->v[--t->n], LIVEFDB_SIZE);
		return true;
	}
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

void livefdb_sort(struct livefdb *t)
{
	qsort(t->v, t->n, LIVEFDB_SIZE, by_text);
}

size_t livefdb_compare(const struct livefdb *got, const struct livefdb *want, livefdb_fn fn,
		       void *arg)
{
	size_t i = 0, j = 0, n = 0;

	while (i < got->n || j < want->n) {
		int c = i == got->n ? 1 : j == want->n ? -1 : strcmp(got->v[i], want->v[j]);

		n += c != 0;
		if (c && fn)
			fn(arg, c < 0 ? got->v[i] : want->v[j], c < 0);
		i += c <= 0;
		j += c >= 0;
	}
	return n;
}
