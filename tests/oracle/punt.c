/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "punt.h"

#include <string.h>

#include "util/bitset.h"

#define TYPE_IP    0x0800
#define TYPE_ARP   0x0806
#define TYPE_RARP  0x8035
#define TYPE_IPV6  0x86dd
#define TYPE_MRP   0x88e3
#define TYPE_CFM   0x8902
#define TYPE_PAUSE 0x8808
#define TPID_Q     0x8100
#define TPID_AD    0x88a8

#define PROTO_HOPOPTS 0
#define PROTO_IGMP    2
#define PROTO_ICMPV6  58
#define PROTO_PIM     103

struct look {
	const uint8_t *p;
	size_t len;
	size_t l3;     /* offset of what follows the type */
	uint16_t type; /* behind the tag that the bridge looks past */
	uint16_t tpid; /* of the outer tag, 0 without one */
	uint16_t vid;
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static bool look_at(const struct plan_bridge *b, const uint8_t *p, size_t len, struct look *l)
{
	if (len < 14)
		return false;
	*l = (struct look){ .p = p, .len = len, .l3 = 14, .type = get16(p + 12) };
	if (l->type != TPID_Q && l->type != TPID_AD)
		return true;
	if (len < 18)
		return false;
	l->tpid = l->type;
	l->vid = get16(p + 14) & 0xfff;
	if (b->attr.filtering && l->tpid != b->attr.tpid)
		return true;
	l->type = get16(p + 16);
	l->l3 = 18;
	return true;
}

/* Type of an ICMPv6 message, perhaps behind a hop-by-hop header; -1: it is none. */
static int icmp6_type(const struct look *l)
{
	size_t at = l->l3 + 40;
	uint8_t next;

	if (l->type != TYPE_IPV6 || l->len < at)
		return -1;
	next = l->p[l->l3 + 6];
	if (next == PROTO_HOPOPTS && l->len >= at + 2) {
		next = l->p[at];
		at += (size_t)(l->p[at + 1] + 1) * 8;
	}
	return next == PROTO_ICMPV6 && at < l->len ? l->p[at] : -1;
}

static bool is_neigh(const struct look *l)
{
	int type = icmp6_type(l);

	return l->type == TYPE_ARP || l->type == TYPE_RARP || (type >= 133 && type <= 137);
}

/* As ip_mc_check_iphdr() and its callers sort it. */
static enum punt_reason mcast_ip(const uint8_t *ip, size_t len)
{
	size_t header_len, total_len;
	uint64_t sum = 0;

	if (len < 20)
		return PUNT_MCAST_BAD;
	header_len = (ip[0] & 0xfU) * 4;
	total_len = get16(ip + 2);
	if (ip[0] >> 4 != 4 || header_len < 20 || header_len > len || total_len > len ||
	    total_len < header_len)
		return PUNT_MCAST_BAD;
	for (size_t i = 0; i < header_len; i += 2)
		sum += get16(ip + i);
	/* A number and its digits' sum have the same rest: of 0xffff, none. */
	if (!sum || sum % 0xffff)
		return PUNT_MCAST_BAD;
	return ip[9] == PROTO_IGMP || ip[9] == PROTO_PIM ? PUNT_MCAST_CONTROL : PUNT_NONE;
}

static enum punt_reason mcast_ip6(const struct look *l)
{
	static const uint8_t control[] = { 130, 131, 132, 143, 151, 152, 153 };
	const uint8_t *ip = l->p + l->l3;
	size_t len = l->len - l->l3, payload_len;
	int type = icmp6_type(l);

	if (len < 40)
		return PUNT_MCAST_BAD;
	payload_len = get16(ip + 4);
	if (ip[0] >> 4 != 6 || !payload_len || payload_len > len - 40)
		return PUNT_MCAST_BAD;
	if (ip[6] == PROTO_HOPOPTS || ip[6] == PROTO_PIM)
		return PUNT_MCAST_CONTROL;
	return type >= 0 && memchr(control, type, sizeof(control)) ? PUNT_MCAST_CONTROL : PUNT_NONE;
}

/* Of a bridge that snoops. */
static enum punt_reason mcast_reason(const struct world *w, const struct look *l)
{
	enum punt_reason why = PUNT_NONE;

	if (l->type == TYPE_IP)
		why = mcast_ip(l->p + l->l3, l->len - l->l3);
	else if (l->type == TYPE_IPV6)
		why = mcast_ip6(l);
	return !why && w->mcast_pass ? PUNT_MCAST : why;
}

static bool has_upper(const struct plan_port *port, const struct look *l)
{
	return l->tpid && port->uppers && bitset_test(port->uppers, l->vid);
}

struct wanted {
	uint64_t mac;
	bool found;
};

static void compare_local(const struct fdb_entry *e, void *arg)
{
	struct wanted *want = arg;

	want->found = want->found || ((e->flags & FDB_LOCAL) && mac_to_u64(&e->mac) == want->mac);
}

/* In any VLAN: the program knows addresses alone. */
static bool is_local(const struct world *w, const uint8_t *dst)
{
	struct fdb_cursor c = { 0 };
	struct wanted want = { 0 };
	struct mac mac;

	memcpy(mac.b, dst, MAC_LEN);
	want.mac = mac_to_u64(&mac);
	if (local_is_owned(w->local, want.mac))
		return true;
	while (fdb_walk(w->fdb, &c, 1024, compare_local, &want))
		;
	return want.found;
}

static bool is_control(uint16_t type)
{
	return type == TYPE_MRP || type == TYPE_CFM || type == TYPE_PAUSE;
}

enum punt_reason punt_reason(const struct world *w, const struct plan_port *port, const uint8_t *p,
			     size_t len)
{
	static const uint8_t link_local[] = { 0x01, 0x80, 0xc2, 0x00, 0x00 };
	static const uint8_t broadcast[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t zero[MAC_LEN];
	const struct plan_bridge *b = w->bridge;
	struct look l;

	if (len >= 14 && ((p[6] & 1) || !memcmp(p + 6, zero, MAC_LEN)))
		return PUNT_SOURCE;
	if (!look_at(b, p, len, &l))
		return PUNT_RUNT;
	if (has_upper(port, &l))
		return PUNT_VLAN_UPPER;
	if (!memcmp(p, link_local, sizeof(link_local)) && p[5] < 0x10)
		return PUNT_LINK_LOCAL;
	if (is_control(l.type))
		return PUNT_CONTROL;
	if (b->snooping && (p[0] & 1) && memcmp(p, broadcast, MAC_LEN) != 0) {
		enum punt_reason why = mcast_reason(w, &l);

		if (why)
			return why;
	}
	if (b->neigh && is_neigh(&l))
		return PUNT_NEIGH;
	if (port->is_locked)
		return PUNT_LOCKED;
	if (port->is_tunnel)
		return PUNT_TUNNEL;
	return !(p[0] & 1) && is_local(w, p) ? PUNT_LOCAL : PUNT_NONE;
}
