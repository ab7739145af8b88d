/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snoop: what a bridge that snoops looks at in a frame for a group address.
 *
 * The bridge goes by the IP header behind the Ethernet header and the one tag
 * that it does not see as payload: the outermost of its own VLAN protocol, or,
 * when it does not filter, of either (net/bridge/br_multicast.c, net/ipv4/igmp.c,
 * net/ipv6/mcast_snoop.c). No state; reads the frame only.
 */
#ifndef XB_CORE_SNOOP_H
#define XB_CORE_SNOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/frame.h"
#include "core/mdb.h"

enum snoop_kind {
	SNOOP_DATA,
	SNOOP_CONTROL, /* IGMP, PIM, or IPv6 with a hop-by-hop header: may change groups */
	SNOOP_BAD,     /* IPv4 or IPv6 with a header that the bridge drops the frame for */
};

struct snooped {
	/*
	 * Family and group that the frame is looked up by, and its source, which
	 * MDB_L2 has none of. The VID is VID_NONE.
	 */
	struct mdb_key key;
	bool routers_only; /* a group without an entry is for routers alone */
};

/*
 * @f has been parsed with @tpid, 0 for a bridge that does not filter. *@out is
 * written for SNOOP_DATA only.
 */
enum snoop_kind snoop_parse(const struct frame *f, uint16_t tpid, struct snooped *out);

#endif
