/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/mcast.h"

#include <string.h>

#include "core/model.h"

#define ROUTER_ALWAYS 2

#define QUERIER_INTERVAL_NS 255000000000ULL /* the kernel's default */

const char *mcast_pass_name(enum mcast_pass pass)
{
	static const char *const names[MCAST_PASS_N] = {
		[MCAST_PASS_NONE] = "",
		[MCAST_PASS_VLAN_SNOOPING] = "mcast-vlan-snooping",
		[MCAST_PASS_TO_UNICAST] = "mcast-to-unicast",
		[MCAST_PASS_ROUTERS] = "routers-hidden",
		[MCAST_PASS_LIMIT] = "mdb-limit",
		[MCAST_PASS_UNREAD] = "mdb-unread",
		[MCAST_PASS_QUERIER] = "querier-doubt",
	};

	return names[pass];
}

const char *mcast_pass_text(enum mcast_pass pass)
{
	static const char *const texts[MCAST_PASS_N] = {
		[MCAST_PASS_NONE] = "",
		[MCAST_PASS_VLAN_SNOOPING] = "the bridge snoops for each VLAN apart",
		[MCAST_PASS_TO_UNICAST] = "a port takes multicast as unicast",
		[MCAST_PASS_ROUTERS] =
			"with its mcast_router 0 the kernel does not tell router ports",
		[MCAST_PASS_LIMIT] = "it has more members of groups than fit",
		[MCAST_PASS_UNREAD] = "its groups or router ports have not been read yet",
		[MCAST_PASS_QUERIER] =
			"whether the kernel counts a querier or the bridge as a router is in doubt",
	};

	return texts[pass];
}

void mcast_key(const struct mdb_info *m, struct mdb_key *k)
{
	memset(k, 0, sizeof(*k));
	k->vid = m->vid;
	k->family = m->proto == 0x0800 ? MDB_IP4 : m->proto ? MDB_IP6 : MDB_L2;
	memcpy(k->group, m->group, sizeof(k->group));
	memcpy(k->source, m->source, sizeof(k->source));
}

uint8_t mcast_member_flags(const struct mdb_info *m)
{
	if (m->deleted)
		return 0;
	return (uint8_t)(MDB_MEMBER | (m->is_include ? MDB_INCLUDE : 0) |
			 (m->is_blocked ? MDB_BLOCKED : 0));
}

uint16_t mcast_router_flags(const struct router_info *r)
{
	return (uint16_t)((r->present & ROUTER_HAS_IP4 ? MP_ROUTER4 : 0) |
			  (r->present & ROUTER_HAS_IP6 ? MP_ROUTER6 : 0));
}

/* Another querier, and on no port: the host, or its port has left the bridge. */
static bool is_hidden(const struct bridge_info *b, const struct querier_info *q)
{
	if (b->mcast_router == ROUTER_ALWAYS)
		return false;
	return (q->present & (QUERIER_HAS_TIMER | QUERIER_HAS_PORT)) == QUERIER_HAS_TIMER;
}

uint16_t mcast_host_router_flags(const struct bridge_info *b)
{
	return b->mcast_router == ROUTER_ALWAYS ? MP_ROUTER4 | MP_ROUTER6 | MP_ROUTER_L2 : 0;
}

/* The timer that runs may have been started with an interval that was longer then. */
static uint64_t router_ns(const struct bridge_info *b, const struct querier_info *q)
{
	uint64_t ns = b->present & BRIDGE_HAS_QUERIER_INTERVAL ? b->querier_interval_ns
							       : QUERIER_INTERVAL_NS;

	return q->left_ns > ns ? q->left_ns : ns;
}

/* The kernel tells the address that it asked with last, or that of the other querier. */
static enum querier_address address_of(const struct querier_info *q,
				       const struct mcast_addresses *a)
{
	static const uint8_t none[16];

	if (a->has_any)
		return a->has_querier ? QUERIER_ADDRESS_YES : QUERIER_ADDRESS_NEW;
	if ((q->present & QUERIER_HAS_ADDRESS) && memcmp(q->address, none, sizeof(none)) != 0)
		return QUERIER_ADDRESS_LOST;
	return QUERIER_ADDRESS_NO;
}

void mcast_reading(const struct bridge_info *b, uint32_t q, const struct mcast_addresses *a,
		   uint64_t settle_ns, struct querier_reading *out)
{
	const struct querier_info *i = &b->querier[q];

	*out = (struct querier_reading){
		.is_on = b->flags & BRIDGE_MCAST_QUERIER,
		.has_other = i->present & QUERIER_HAS_TIMER,
		.is_hidden = is_hidden(b, i),
		.address = q == QUERIER_IP4 ? QUERIER_ADDRESS_YES : address_of(i, a),
		.other_left_ns = i->left_ns,
		.response_ns = b->query_response_ns,
		.settle_ns = settle_ns,
		.interval_ns = b->query_interval_ns,
		.router_ns = router_ns(b, i),
	};
}
