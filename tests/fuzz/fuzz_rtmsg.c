/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include <linux/netlink.h>

#include "core/limits.h"
#include "ctl/rtmsg.h"

static int check_vlan(void *arg, const struct vlan_info *v)
{
	FUZZ_CHECK(v->vid_first >= 1 && v->vid_first <= v->vid_last && v->vid_last <= VID_MAX);
	FUZZ_CHECK(v->state <= 4);
	FUZZ_CHECK(!(v->flags & VLAN_PVID) || v->vid_first == v->vid_last);
	++*(uint32_t *)arg;
	return 0;
}

static int check_mst(void *arg, const struct mst_info *m)
{
	FUZZ_CHECK(m->state <= 4);
	++*(uint32_t *)arg;
	return 0;
}

static int check_member(void *arg, const struct mdb_info *m)
{
	FUZZ_CHECK(m->ifindex && m->bridge && m->vid <= VID_MAX);
	FUZZ_CHECK(!m->proto || m->proto == 0x0800 || m->proto == 0x86dd);
	++*(uint32_t *)arg;
	return 0;
}

static int check_router(void *arg, const struct router_info *r)
{
	FUZZ_CHECK(r->ifindex && r->bridge && r->vid <= VID_MAX);
	++*(uint32_t *)arg;
	return 0;
}

static void check_mdb(const struct nlmsghdr *h, const struct rtmsg_info *m)
{
	uint32_t n_members = 0, n_routers = 0;

	FUZZ_CHECK(m->mdb.ifindex);
	FUZZ_CHECK(rtmsg_mdb(h, check_member, &n_members) == 0);
	FUZZ_CHECK(rtmsg_routers(h, check_router, &n_routers) == 0);
	FUZZ_CHECK(n_members == m->mdb.n_members && n_routers == m->mdb.n_routers);
}

static void check_link(const struct nlmsghdr *h, const struct link_info *l)
{
	uint32_t n_vlans = 0, n_mst = 0;

	FUZZ_CHECK(l->ifindex);
	FUZZ_CHECK(memchr(l->name, 0, sizeof(l->name)));
	FUZZ_CHECK(memchr(l->kind, 0, sizeof(l->kind)));
	FUZZ_CHECK(memchr(l->slave_kind, 0, sizeof(l->slave_kind)));
	FUZZ_CHECK(memchr(l->qdisc, 0, sizeof(l->qdisc)));
	FUZZ_CHECK(l->brport.state <= 4 && l->bridge.default_pvid <= VID_MAX);
	FUZZ_CHECK(rtmsg_link_vlans(h, check_vlan, &n_vlans) == 0);
	FUZZ_CHECK(rtmsg_link_mst(h, check_mst, &n_mst) == 0);
	FUZZ_CHECK(n_vlans == l->n_vlans && n_mst == l->n_mst);
}

static void check(const struct nlmsghdr *h, const struct rtmsg_info *m)
{
	uint32_t n = 0;

	switch (m->type) {
	case RTMSG_LINK:
		check_link(h, &m->link);
		break;
	case RTMSG_VLAN:
		FUZZ_CHECK(m->vlan.ifindex);
		FUZZ_CHECK(rtmsg_vlans(h, check_vlan, &n) == 0);
		FUZZ_CHECK(n == m->vlan.n_vlans);
		break;
	case RTMSG_NEIGH:
		FUZZ_CHECK(m->neigh.ifindex && m->neigh.vid <= VID_MAX);
		break;
	case RTMSG_ADDR:
		FUZZ_CHECK(m->addr.ifindex);
		break;
	case RTMSG_MDB:
		check_mdb(h, m);
		break;
	case RTMSG_DONE:
	case RTMSG_ERROR:
		FUZZ_CHECK(m->error <= 0);
		break;
	case RTMSG_OTHER:
		break;
	}
}

/* A datagram: each message is read or refused with a reason, and the walk comes to its end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1), *p = copy;
	struct rtmsg_info m;

	FUZZ_CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	for (; size; p += m.size, size -= m.size) {
		int err = rtmsg_parse((const void *)p, size, &m);

		FUZZ_CHECK(m.size && m.size <= size);
		FUZZ_CHECK(err == 0 || (err == -EBADMSG && m.why && m.type == RTMSG_OTHER));
		if (!err)
			check((const void *)p, &m);
	}
	free(copy);
	return 0;
}
