/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mcast: from what the kernel tells of multicast groups, routers and queriers
 * to what the model and the querier's states (ctl/querier.h) are fed with; and
 * why multicast of a bridge is left to the kernel.
 *
 * Pure: no system call, no state. Any thread.
 */
#ifndef XB_CTL_MCAST_H
#define XB_CTL_MCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/mdb.h"
#include "core/netinfo.h"
#include "ctl/querier.h"

/* Why the kernel forwards a snooping bridge's multicast; the first that holds. */
enum mcast_pass {
	MCAST_PASS_NONE, /* it does not */
	MCAST_PASS_VLAN_SNOOPING,
	MCAST_PASS_TO_UNICAST,
	MCAST_PASS_ROUTERS,
	MCAST_PASS_LIMIT,
	MCAST_PASS_UNREAD,
	MCAST_PASS_QUERIER,
	MCAST_PASS_N,
};

/* "vlan-snooping" and a sentence; "" for MCAST_PASS_NONE. */
const char *mcast_pass_name(enum mcast_pass pass);
const char *mcast_pass_text(enum mcast_pass pass);

/* Key and MDB_* flags of a membership; flags 0: it has ended. */
void mcast_key(const struct mdb_info *m, struct mdb_key *k);
uint8_t mcast_member_flags(const struct mdb_info *m);

/* MP_ROUTER4, MP_ROUTER6 of a port that a dump listed. */
uint16_t mcast_router_flags(const struct router_info *r);

/*
 * MP_ROUTER* of the bridge itself: what it is set to. Whether the host has made
 * it a router by asking for members is not told, and a matter of doubt (see
 * ctl/querier.h).
 */
uint16_t mcast_host_router_flags(const struct bridge_info *b);

/* IPv6 addresses that a bridge has and may use. */
struct mcast_addresses {
	bool has_any;
	bool has_querier; /* that of bridge_info.querier[QUERIER_IP6] is one of them */
};

/*
 * What @b says about family @q, QUERIER_IP4 or QUERIER_IP6; @a is looked at for
 * the latter only. @settle_ns: longest time to answer to another querier.
 */
void mcast_reading(const struct bridge_info *b, uint32_t q, const struct mcast_addresses *a,
		   uint64_t settle_ns, struct querier_reading *out);

#endif
