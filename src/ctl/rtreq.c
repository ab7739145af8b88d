/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/rtreq.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <linux/if_addr.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "core/limits.h"

struct request {
	char *p;
	size_t size;
	size_t len;
	int err;
};

/* Room for @len bytes, zeroed, with its padding; NULL once something did not fit. */
static void *reserve(struct request *r, size_t len)
{
	void *room = r->p + r->len;

	len = NLMSG_ALIGN(len);
	if (r->err || len > r->size - r->len) {
		r->err = -ENOSPC;
		return NULL;
	}
	memset(room, 0, len);
	r->len += len;
	return room;
}

static void put(struct request *r, const void *data, size_t len)
{
	void *room = reserve(r, len);

	if (room)
		memcpy(room, data, len);
}

static void put_attr(struct request *r, uint16_t type, const void *data, uint16_t len)
{
	struct nlattr *a = reserve(r, NLA_HDRLEN + (size_t)len);

	if (!a)
		return;
	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	a->nla_type = type;
	memcpy((char *)a + NLA_HDRLEN, data, len);
}

static struct request begin(void *buf, size_t size, uint16_t type, uint16_t flags, uint32_t seq)
{
	struct request r = { .p = buf, .size = size };
	struct nlmsghdr h = { .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = seq };

	assert(((uintptr_t)buf & (NLMSG_ALIGNTO - 1)) == 0);
	put(&r, &h, sizeof(h));
	return r;
}

static int end(struct request *r)
{
	if (r->err)
		return r->err;
	((struct nlmsghdr *)(void *)r->p)->nlmsg_len = (uint32_t)r->len;
	return (int)r->len;
}

static int link_request(struct request *r, unsigned char family, uint32_t ifindex, uint32_t mask)
{
	struct ifinfomsg ifi = { .ifi_family = family, .ifi_index = (int)ifindex };

	put(r, &ifi, sizeof(ifi));
	put_attr(r, IFLA_EXT_MASK, &mask, sizeof(mask));
	return end(r);
}

static int vlan_dump(struct request *r, uint32_t flags)
{
	struct br_vlan_msg vm = { .family = AF_BRIDGE };

	put(r, &vm, sizeof(vm));
	if (flags)
		put_attr(r, BRIDGE_VLANDB_DUMP_FLAGS, &flags, sizeof(flags));
	return end(r);
}

static int neigh_dump(struct request *r, uint32_t ifindex)
{
	struct ndmsg nd = { .ndm_family = AF_BRIDGE, .ndm_ifindex = (int)ifindex };

	put(r, &nd, sizeof(nd));
	return end(r);
}

static int addr_dump(struct request *r)
{
	struct ifaddrmsg m = { .ifa_family = AF_INET6 };

	put(r, &m, sizeof(m));
	return end(r);
}

static int mdb_dump(struct request *r)
{
	struct br_port_msg pm = { .family = AF_BRIDGE };

	put(r, &pm, sizeof(pm));
	return end(r);
}

int rtreq_dump(void *buf, size_t size, enum rtreq_dump what, uint32_t seq)
{
	static const uint16_t type[] = {
		[RTREQ_LINKS] = RTM_GETLINK,      [RTREQ_BRIDGE_LINKS] = RTM_GETLINK,
		[RTREQ_BRIDGE_MST] = RTM_GETLINK, [RTREQ_NEIGHS] = RTM_GETNEIGH,
		[RTREQ_VLANS] = RTM_GETVLAN,      [RTREQ_VLANS_GLOBAL] = RTM_GETVLAN,
		[RTREQ_MDB] = RTM_GETMDB,         [RTREQ_ADDRS6] = RTM_GETADDR,
	};
	struct request r = begin(buf, size, type[what], NLM_F_REQUEST | NLM_F_DUMP, seq);

	switch (what) {
	case RTREQ_LINKS:
		return link_request(&r, AF_UNSPEC, 0, RTEXT_FILTER_SKIP_STATS);
	case RTREQ_BRIDGE_LINKS:
		return link_request(&r, AF_BRIDGE, 0, RTEXT_FILTER_BRVLAN_COMPRESSED);
	case RTREQ_BRIDGE_MST:
		return link_request(&r, AF_BRIDGE, 0, RTEXT_FILTER_MST);
	case RTREQ_NEIGHS:
		return neigh_dump(&r, 0);
	case RTREQ_VLANS:
		return vlan_dump(&r, 0);
	case RTREQ_VLANS_GLOBAL:
		return vlan_dump(&r, BRIDGE_VLANDB_DUMPF_GLOBAL);
	case RTREQ_ADDRS6:
		return addr_dump(&r);
	case RTREQ_MDB:
		return mdb_dump(&r);
	}
	return -EINVAL;
}

int rtreq_port_neighs(void *buf, size_t size, uint32_t ifindex, uint32_t seq)
{
	struct request r = begin(buf, size, RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, seq);

	return neigh_dump(&r, ifindex);
}

int rtreq_link(void *buf, size_t size, uint32_t ifindex, uint32_t seq)
{
	struct request r = begin(buf, size, RTM_GETLINK, NLM_F_REQUEST, seq);

	return link_request(&r, AF_UNSPEC, ifindex, RTEXT_FILTER_SKIP_STATS);
}

int rtreq_neigh(void *buf, size_t size, uint32_t ifindex, uint16_t vid, const struct mac *mac,
		uint32_t seq)
{
	struct request r = begin(buf, size, RTM_GETNEIGH, NLM_F_REQUEST, seq);
	struct ndmsg nd = { .ndm_family = AF_BRIDGE, .ndm_flags = NTF_MASTER };

	put(&r, &nd, sizeof(nd));
	put_attr(&r, NDA_MASTER, &ifindex, sizeof(ifindex));
	put_attr(&r, NDA_LLADDR, mac->b, MAC_LEN);
	if (vid != VID_NONE)
		put_attr(&r, NDA_VLAN, &vid, sizeof(vid));
	return end(&r);
}

static int station(struct request *r, const struct rtreq_station *st, uint16_t state, uint8_t flags)
{
	struct ndmsg nd = {
		.ndm_family = AF_BRIDGE,
		.ndm_ifindex = (int)st->ifindex,
		.ndm_state = state,
		.ndm_flags = flags,
	};

	put(r, &nd, sizeof(nd));
	put_attr(r, NDA_LLADDR, st->mac.b, MAC_LEN);
	if (st->vid != VID_NONE)
		put_attr(r, NDA_VLAN, &st->vid, sizeof(st->vid));
	return end(r);
}

int rtreq_station_use(void *buf, size_t size, const struct rtreq_station *st, bool ack,
		      uint32_t seq)
{
	uint16_t flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE | (ack ? NLM_F_ACK : 0);
	struct request r = begin(buf, size, RTM_NEWNEIGH, flags, seq);

	return station(&r, st, NUD_REACHABLE, NTF_USE | NTF_MASTER);
}

int rtreq_station_del(void *buf, size_t size, const struct rtreq_station *st, bool ack,
		      uint32_t seq)
{
	struct request r =
		begin(buf, size, RTM_DELNEIGH, NLM_F_REQUEST | (ack ? NLM_F_ACK : 0), seq);

	return station(&r, st, 0, NTF_MASTER);
}

int rtreq_station_get(void *buf, size_t size, const struct rtreq_station *st, uint32_t seq)
{
	struct request r = begin(buf, size, RTM_GETNEIGH, NLM_F_REQUEST, seq);

	return station(&r, st, 0, NTF_MASTER);
}
