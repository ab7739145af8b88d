/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/rtmsg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <linux/if_addr.h>
#include <linux/if_bridge.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "ctl/rtmsg_parts.h"

#define ERRNO_MAX 4095

int rtmsg_refuse(struct rtmsg_info *out, const char *why)
{
	out->why = why;
	return -EBADMSG;
}

struct neigh_read {
	struct neigh_info n;
	struct nda_cacheinfo age;
};

enum {
	NEIGH_GOT_MAC = 1U << 31,
	NEIGH_NEST_EXT = 0,
};

/* clang-format off */
static const struct rtattr_rule neigh_rules[] = {
	RTATTR(struct neigh_read, NDA_LLADDR,    HWADDR, NEIGH_GOT_MAC,       n.mac),
	RTATTR(struct neigh_read, NDA_CACHEINFO, RAW,    NEIGH_HAS_AGE,       age),
	RTATTR(struct neigh_read, NDA_VLAN,      VID,    NEIGH_HAS_VID,       n.vid),
	RTATTR(struct neigh_read, NDA_MASTER,    RAW,    NEIGH_HAS_MASTER,    n.master),
	RTATTR(struct neigh_read, NDA_PROTOCOL,  RAW,    NEIGH_HAS_PROTOCOL,  n.protocol),
	RTATTR(struct neigh_read, NDA_FLAGS_EXT, RAW,    NEIGH_HAS_FLAGS_EXT, n.flags_ext),
	RTATTR_NESTED(NDA_FDB_EXT_ATTRS, 0, NEIGH_NEST_EXT),
};

static const struct rtattr_rule neigh_ext_rules[] = {
	RTATTR(struct neigh_read, NFEA_ACTIVITY_NOTIFY, RAW, NEIGH_HAS_NOTIFY, n.notify),
};
/* clang-format on */

static const struct rtattr_table neigh_table = RTATTR_TABLE(neigh_rules);
static const struct rtattr_table neigh_ext_table = RTATTR_TABLE(neigh_ext_rules);

static uint64_t ticks_to_ns(uint32_t ticks)
{
	return ticks * 10000000ULL;
}

int rtmsg_read_neigh(const struct nlmsghdr *h, struct rtmsg_info *out)
{
	const struct ndmsg *nd = NLMSG_DATA(h);
	struct neigh_read r = { 0 };
	struct rtattr_out ro = { .base = &r, .present = &r.n.present };
	int err;

	if (nd->ndm_family != AF_BRIDGE)
		return 0;
	if (nd->ndm_ifindex <= 0)
		return rtmsg_refuse(out, "a forwarding entry without an interface");

	err = rtattr_read(rtmsg_attrs(h, sizeof(*nd)), &neigh_table, &ro, &out->why);
	if (err)
		return err;
	err = rtattr_read(rtattr_inside(ro.nest[NEIGH_NEST_EXT]), &neigh_ext_table, &ro, &out->why);
	if (err)
		return err;

	r.n.is_self = (nd->ndm_flags & (NTF_SELF | NTF_MASTER)) == NTF_SELF;
	if (!(r.n.present & NEIGH_GOT_MAC)) {
		/* The own table of a device that is not Ethernet. */
		if (r.n.is_self)
			return 0;
		return rtmsg_refuse(out, "a forwarding entry without an Ethernet address");
	}
	r.n.present &= ~(uint32_t)NEIGH_GOT_MAC;
	r.n.ifindex = (uint32_t)nd->ndm_ifindex;
	r.n.deleted = h->nlmsg_type == RTM_DELNEIGH;
	r.n.state = nd->ndm_state;
	r.n.flags = nd->ndm_flags;
	r.n.updated_age_ns = ticks_to_ns(r.age.ndm_updated);
	r.n.used_age_ns = ticks_to_ns(r.age.ndm_used);

	out->type = RTMSG_NEIGH;
	out->neigh = r.n;
	return 0;
}

struct addr_read {
	uint8_t address[16];
	uint32_t flags;
};

enum {
	ADDR_GOT_ADDRESS = 1U << 0,
	ADDR_GOT_LOCAL = 1U << 1,
	ADDR_GOT_FLAGS = 1U << 2,
};

/* clang-format off */
static const struct rtattr_rule addr_rules[] = {
	RTATTR(struct addr_read, IFA_ADDRESS, RAW, ADDR_GOT_ADDRESS, address),
	RTATTR(struct addr_read, IFA_FLAGS,   RAW, ADDR_GOT_FLAGS,   flags),
};

/* Of a point-to-point address, where the other one is the peer's. */
static const struct rtattr_rule local_rules[] = {
	RTATTR(struct addr_read, IFA_LOCAL, RAW, ADDR_GOT_LOCAL, address),
};
/* clang-format on */

static const struct rtattr_table addr_table = RTATTR_TABLE(addr_rules);
static const struct rtattr_table local_table = RTATTR_TABLE(local_rules);

static int read_addr(const struct nlmsghdr *h, struct rtmsg_info *out)
{
	const struct ifaddrmsg *m = NLMSG_DATA(h);
	struct rtattr_run run = rtmsg_attrs(h, sizeof(*m));
	struct addr_read r = { .flags = m->ifa_flags };
	uint32_t present = 0;
	struct rtattr_out ro = { .base = &r, .present = &present };
	int err;

	if (m->ifa_family != AF_INET6)
		return 0;
	if (!m->ifa_index || m->ifa_index > INT32_MAX)
		return rtmsg_refuse(out, "an address without an interface");
	err = rtattr_read(run, &addr_table, &ro, &out->why);
	if (!err)
		err = rtattr_read(run, &local_table, &ro, &out->why);
	if (err)
		return err;
	if (!(present & (ADDR_GOT_ADDRESS | ADDR_GOT_LOCAL)))
		return rtmsg_refuse(out, "an address message without an address");
	out->type = RTMSG_ADDR;
	out->addr.ifindex = m->ifa_index;
	out->addr.deleted = h->nlmsg_type == RTM_DELADDR;
	out->addr.is_usable = !(r.flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED));
	memcpy(out->addr.address, r.address, sizeof(r.address));
	return 0;
}

/* NLMSG_DONE and NLMSG_ERROR both start with an error number. */
static int read_error(const struct nlmsghdr *h, struct rtmsg_info *out, enum rtmsg_type type)
{
	int error = 0;

	if (h->nlmsg_len >= NLMSG_LENGTH(sizeof(error)))
		memcpy(&error, NLMSG_DATA(h), sizeof(error));
	else if (type == RTMSG_ERROR)
		return rtmsg_refuse(out, "an error message without an error");
	if (error > 0 || error < -ERRNO_MAX)
		return rtmsg_refuse(out, "not an error number");
	out->type = type;
	out->error = error;
	return 0;
}

static int read_body(const struct nlmsghdr *h, struct rtmsg_info *out)
{
	size_t fixed;
	int (*read)(const struct nlmsghdr *, struct rtmsg_info *);

	switch (h->nlmsg_type) {
	case NLMSG_DONE:
		return read_error(h, out, RTMSG_DONE);
	case NLMSG_ERROR:
		return read_error(h, out, RTMSG_ERROR);
	case NLMSG_OVERRUN:
		return rtmsg_refuse(out, "the kernel says that messages were lost");
	case RTM_NEWLINK:
	case RTM_DELLINK:
		fixed = sizeof(struct ifinfomsg);
		read = rtmsg_read_link;
		break;
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		fixed = sizeof(struct ndmsg);
		read = rtmsg_read_neigh;
		break;
	case RTM_NEWVLAN:
	case RTM_DELVLAN:
		fixed = sizeof(struct br_vlan_msg);
		read = rtmsg_read_vlan;
		break;
	case RTM_NEWADDR:
	case RTM_DELADDR:
		fixed = sizeof(struct ifaddrmsg);
		read = read_addr;
		break;
	case RTM_NEWMDB:
	case RTM_DELMDB:
	case RTM_GETMDB: /* so a dump of it is answered */
		fixed = sizeof(struct br_port_msg);
		read = rtmsg_read_mdb;
		break;
	default:
		return 0;
	}
	if (h->nlmsg_len < NLMSG_LENGTH(fixed))
		return rtmsg_refuse(out, "shorter than its fixed part");
	return read(h, out);
}

int rtmsg_parse(const struct nlmsghdr *h, size_t len, struct rtmsg_info *out)
{
	assert(((uintptr_t)h & (NLMSG_ALIGNTO - 1)) == 0);

	memset(out, 0, sizeof(*out));
	out->size = len;
	if (len < NLMSG_HDRLEN)
		return rtmsg_refuse(out, "shorter than a header");
	if (h->nlmsg_len < NLMSG_HDRLEN || h->nlmsg_len > len)
		return rtmsg_refuse(out, "its length does not fit into the datagram");
	if (NLMSG_ALIGN((size_t)h->nlmsg_len) < len)
		out->size = NLMSG_ALIGN((size_t)h->nlmsg_len);
	out->nl_type = h->nlmsg_type;
	out->nl_flags = h->nlmsg_flags;
	out->nl_seq = h->nlmsg_seq;
	return read_body(h, out);
}
