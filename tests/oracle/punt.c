/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "punt.h"

#include <string.h>

#define TYPE_ARP   0x0806
#define TYPE_RARP  0x8035
#define TYPE_IPV6  0x86dd
#define TYPE_MRP   0x88e3
#define TYPE_CFM   0x8902
#define TYPE_PAUSE 0x8808
#define TPID_Q     0x8100
#define TPID_AD    0x88a8

#define PROTO_HOPOPTS 0
#define PROTO_ICMPV6  58

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

static bool is_neigh(const struct look *l)
{
	size_t at = l->l3 + 40;
	uint8_t next;

	if (l->type == TYPE_ARP || l->type == TYPE_RARP)
		return true;
	if (l->type != TYPE_IPV6 || l->len < at)
		return false;
	next = l->p[l->l3 + 6];
	if (next == PROTO_HOPOPTS && l->len >= at + 2) {
		next = l->p[at];
		at += (size_t)(l->p[at + 1] + 1) * 8;
	}
	return next == PROTO_ICMPV6 && at < l->len && l->p[at] >= 133 && l->p[at] <= 137;
}

static bool has_upper(const struct plan_port *port, const struct look *l)
{
	for (uint32_t i = 0; l->tpid && i < port->n_uppers; i++) {
		if (port->upper[i] == l->vid)
			return true;
	}
	return false;
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
	if (b->snooping && (p[0] & 1) && memcmp(p, broadcast, MAC_LEN) != 0)
		return PUNT_MCAST;
	if (b->neigh && is_neigh(&l))
		return PUNT_NEIGH;
	if (port->is_locked)
		return PUNT_LOCKED;
	if (port->is_tunnel)
		return PUNT_TUNNEL;
	return !(p[0] & 1) && is_local(w, p) ? PUNT_LOCAL : PUNT_NONE;
}
