/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/if_bridge.h>
#include <linux/if_ether.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>

#include "core/limits.h"
#include "ctl/rtmsg_parts.h"

/* What may stand beside an entry; the sources that a port asked for have entries of their own. */
struct beside {
	uint8_t mode;
	uint8_t source4[4];
	uint8_t source6[16];
};

enum {
	BESIDE_MODE = 1U << 0,
	BESIDE_SOURCE = 1U << 1,
};

/* clang-format off */
static const struct rtattr_rule beside4_rules[] = {
	RTATTR(struct beside, MDBA_MDB_EATTR_GROUP_MODE, RAW, BESIDE_MODE,   mode),
	RTATTR(struct beside, MDBA_MDB_EATTR_SOURCE,     RAW, BESIDE_SOURCE, source4),
};

static const struct rtattr_rule beside6_rules[] = {
	RTATTR(struct beside, MDBA_MDB_EATTR_GROUP_MODE, RAW, BESIDE_MODE,   mode),
	RTATTR(struct beside, MDBA_MDB_EATTR_SOURCE,     RAW, BESIDE_SOURCE, source6),
};

static const struct rtattr_rule router_rules[] = {
	RTATTR(struct router_info, MDBA_ROUTER_PATTR_TYPE,        RAW,   ROUTER_HAS_TYPE, type),
	RTATTR(struct router_info, MDBA_ROUTER_PATTR_INET_TIMER,  TICKS, ROUTER_HAS_IP4,  left4_ns),
	RTATTR(struct router_info, MDBA_ROUTER_PATTR_INET6_TIMER, TICKS, ROUTER_HAS_IP6,  left6_ns),
	RTATTR(struct router_info, MDBA_ROUTER_PATTR_VID,         VID,   ROUTER_HAS_VID,  vid),
};
/* clang-format on */

static const struct rtattr_table beside4_table = RTATTR_TABLE(beside4_rules);
static const struct rtattr_table beside6_table = RTATTR_TABLE(beside6_rules);
static const struct rtattr_table router_table = RTATTR_TABLE(router_rules);

/* A walk over a message; without a callback it only checks and counts. */
struct walk {
	rtmsg_mdb_fn member;
	rtmsg_router_fn router;
	void *arg;
	uint32_t bridge;
	bool deleted;
	uint32_t n_members, n_routers;
	const char *why;
};

static int refuse(struct walk *w, const char *why)
{
	w->why = why;
	return -EBADMSG;
}

/* A fixed struct and attributes behind it share the room of one attribute. */
static struct rtattr_run behind(const struct nlattr *a, size_t fixed)
{
	size_t skip = NLA_ALIGN(fixed), len = (size_t)nla_len(a);

	if (len <= skip)
		return (struct rtattr_run){ NULL, 0 };
	return (struct rtattr_run){ (const char *)nla_data(a) + skip, len - skip };
}

static int read_beside(struct walk *w, const struct nlattr *a, struct mdb_info *m)
{
	const struct rtattr_table *table = m->proto == ETH_P_IP ? &beside4_table : &beside6_table;
	struct beside b = { 0 };
	uint32_t present = 0;
	struct rtattr_out ro = { .base = &b, .present = &present };
	int err;

	if (!m->proto)
		return 0;
	err = rtattr_read(behind(a, sizeof(struct br_mdb_entry)), table, &ro, &w->why);
	if (err)
		return err;
	if (b.mode != MCAST_EXCLUDE && b.mode != MCAST_INCLUDE)
		return refuse(w, "a group's mode that is neither include nor exclude");
	m->is_include = b.mode == MCAST_INCLUDE;
	if (m->proto == ETH_P_IP)
		memcpy(m->source, b.source4, sizeof(b.source4));
	else
		memcpy(m->source, b.source6, sizeof(b.source6));
	return 0;
}

static int read_group(struct walk *w, const struct br_mdb_entry *e, struct mdb_info *m)
{
	m->proto = ntohs(e->addr.proto);
	switch (m->proto) {
	case ETH_P_IP:
		memcpy(m->group, &e->addr.u.ip4, sizeof(e->addr.u.ip4));
		return 0;
	case ETH_P_IPV6:
		memcpy(m->group, &e->addr.u.ip6, sizeof(e->addr.u.ip6));
		return 0;
	case 0:
		memcpy(m->group, e->addr.u.mac_addr, sizeof(e->addr.u.mac_addr));
		return 0;
	default:
		return refuse(w, "a group of an unknown family");
	}
}

/* One MDBA_MDB_ENTRY_INFO: a port, or the host, in a group. */
static int member(struct walk *w, const struct nlattr *a)
{
	struct mdb_info m = { .bridge = w->bridge, .deleted = w->deleted };
	struct br_mdb_entry e;
	int err;

	if ((size_t)nla_len(a) < sizeof(e))
		return refuse(w, "MDBA_MDB_ENTRY_INFO is malformed");
	memcpy(&e, nla_data(a), sizeof(e));
	if (!e.ifindex || e.ifindex > INT32_MAX)
		return refuse(w, "a member of a group without an interface");
	if (e.vid > VID_MAX)
		return refuse(w, "not a VLAN id");
	m.ifindex = e.ifindex;
	m.vid = e.vid;
	m.is_permanent = e.state == MDB_PERMANENT;
	m.is_blocked = e.flags & MDB_FLAGS_BLOCKED;
	err = read_group(w, &e, &m);
	if (!err)
		err = read_beside(w, a, &m);
	if (err)
		return err;
	w->n_members++;
	return w->member ? w->member(w->arg, &m) : 0;
}

/* One MDBA_ROUTER_PORT. */
static int router(struct walk *w, const struct nlattr *a)
{
	struct router_info r = { .bridge = w->bridge, .deleted = w->deleted };
	struct rtattr_out ro = { .base = &r, .present = &r.present };
	int err;

	if ((size_t)nla_len(a) < sizeof(r.ifindex))
		return refuse(w, "MDBA_ROUTER_PORT is malformed");
	memcpy(&r.ifindex, nla_data(a), sizeof(r.ifindex));
	if (!r.ifindex || r.ifindex > INT32_MAX)
		return refuse(w, "a router port without an interface");
	err = rtattr_read(behind(a, sizeof(r.ifindex)), &router_table, &ro, &w->why);
	if (err)
		return err;
	w->n_routers++;
	return w->router ? w->router(w->arg, &r) : 0;
}

/* Calls @fn for each attribute of @type in @run. */
static int each(struct walk *w, struct rtattr_run run, int type,
		int (*fn)(struct walk *w, const struct nlattr *a))
{
	const struct nlattr *a;
	int err;

	while ((a = rtattr_next(&run))) {
		if (nla_type(a) != type)
			continue;
		err = fn(w, a);
		if (err)
			return err;
	}
	return run.len ? refuse(w, "the attributes do not fill their room") : 0;
}

static int group(struct walk *w, const struct nlattr *a)
{
	return each(w, rtattr_inside(a), MDBA_MDB_ENTRY_INFO, member);
}

static int groups(struct walk *w, const struct nlattr *a)
{
	return each(w, rtattr_inside(a), MDBA_MDB_ENTRY, group);
}

static int routers(struct walk *w, const struct nlattr *a)
{
	return each(w, rtattr_inside(a), MDBA_ROUTER_PORT, router);
}

static void begin(struct walk *w, const struct nlmsghdr *h)
{
	const struct br_port_msg *pm = NLMSG_DATA(h);

	w->bridge = pm->ifindex;
	w->deleted = h->nlmsg_type == RTM_DELMDB;
}

int rtmsg_read_mdb(const struct nlmsghdr *h, struct rtmsg_info *out)
{
	const struct br_port_msg *pm = NLMSG_DATA(h);
	struct rtattr_run run = rtmsg_attrs(h, sizeof(*pm));
	struct walk w = { 0 };
	int err;

	/* Answers to a dump have no family (net/bridge/br_mdb.c; 6.1 to 7.2 at least). */
	if (pm->family != AF_BRIDGE && pm->family != AF_UNSPEC)
		return 0;
	if (!pm->ifindex || pm->ifindex > INT32_MAX)
		return rtmsg_refuse(out, "multicast groups without a bridge");
	begin(&w, h);
	err = each(&w, run, MDBA_MDB, groups);
	if (!err)
		err = each(&w, run, MDBA_ROUTER, routers);
	if (err)
		return rtmsg_refuse(out, w.why);
	out->type = RTMSG_MDB;
	out->mdb.ifindex = w.bridge;
	out->mdb.n_members = w.n_members;
	out->mdb.n_routers = w.n_routers;
	out->mdb.deleted = w.deleted;
	return 0;
}

static bool is_mdb(const struct nlmsghdr *h)
{
	return h->nlmsg_type == RTM_NEWMDB || h->nlmsg_type == RTM_DELMDB ||
	       h->nlmsg_type == RTM_GETMDB;
}

int rtmsg_mdb(const struct nlmsghdr *h, rtmsg_mdb_fn fn, void *arg)
{
	struct walk w = { .member = fn, .arg = arg };

	if (!is_mdb(h))
		return 0;
	begin(&w, h);
	return each(&w, rtmsg_attrs(h, sizeof(struct br_port_msg)), MDBA_MDB, groups);
}

int rtmsg_routers(const struct nlmsghdr *h, rtmsg_router_fn fn, void *arg)
{
	struct walk w = { .router = fn, .arg = arg };

	if (!is_mdb(h))
		return 0;
	begin(&w, h);
	return each(&w, rtmsg_attrs(h, sizeof(struct br_port_msg)), MDBA_ROUTER, routers);
}
