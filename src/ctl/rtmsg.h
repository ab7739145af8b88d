/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtmsg: reads rtnetlink messages. Bytes in, a struct of core/netinfo.h out: no
 * socket, no state, no allocation. Any thread.
 *
 * The bytes are distrusted: lengths, strings, VIDs and states are checked, and a
 * message that breaks a rule is refused as a whole. Attributes that are not known
 * are skipped: newer kernels have more.
 *
 * A datagram holds several messages. Read it by
 *
 *	for (; len; p += m.size, len -= m.size)
 *		err = rtmsg_parse(p, len, &m);
 */
#ifndef XB_CTL_RTMSG_H
#define XB_CTL_RTMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/netinfo.h"

struct nlmsghdr;

enum rtmsg_type {
	RTMSG_OTHER, /* nothing that we read: skip it */
	RTMSG_LINK,  /* .link */
	RTMSG_VLAN,  /* .vlan: call rtmsg_vlans() */
	RTMSG_NEIGH, /* .neigh */
	RTMSG_MDB,   /* .mdb: call rtmsg_mdb() and rtmsg_routers() */
	RTMSG_ADDR,  /* .addr */
	RTMSG_DONE,  /* end of a dump; .error */
	RTMSG_ERROR, /* answer to a request; .error */
};

struct rtmsg_info {
	enum rtmsg_type type;
	size_t size;       /* bytes to the next message; the rest if there is none */
	const char *why;   /* constant text: what is wrong with a refused message */
	uint16_t nl_type;  /* nlmsg_type, nlmsg_flags, nlmsg_seq */
	uint16_t nl_flags; /* NLM_F_DUMP_INTR: the dump is not consistent, do it again */
	uint32_t nl_seq;   /* of a notification: that of the request that caused it, or 0 */
	union {
		struct link_info link;
		struct neigh_info neigh;
		struct addr_info addr;
		struct {
			uint32_t ifindex;
			uint32_t n_vlans; /* elements that rtmsg_vlans() has */
			bool deleted;
		} vlan;
		struct {
			uint32_t ifindex;   /* of the bridge */
			uint32_t n_members; /* elements that rtmsg_mdb() has */
			uint32_t n_routers; /* and rtmsg_routers() */
			bool deleted;
		} mdb;
		int error; /* RTMSG_DONE, RTMSG_ERROR: 0 (done, acknowledged) or a negative errno */
	};
};

/* A callback's value other than 0 ends the walk and is returned by it. */
typedef int (*rtmsg_vlan_fn)(void *arg, const struct vlan_info *v);
typedef int (*rtmsg_mst_fn)(void *arg, const struct mst_info *m);
typedef int (*rtmsg_mdb_fn)(void *arg, const struct mdb_info *m);
typedef int (*rtmsg_router_fn)(void *arg, const struct router_info *r);

/*
 * Reads the message at @h, of which @len bytes are in the buffer; @h has an
 * address that 4 divides.
 * Returns 0, or -EBADMSG: then out->why says the reason, and of the rest only
 * size is set, and nl_type, nl_flags and nl_seq if the header is whole (else 0).
 * The lists in it are checked here too.
 */
int rtmsg_parse(const struct nlmsghdr *h, size_t len, struct rtmsg_info *out);

/*
 * Walk the lists of a message that rtmsg_parse() accepted, in the message's
 * order: VLANs of a link of LINK_FAMILY_BRIDGE, its MST states, those of a
 * VLAN message, and the members of groups and the router ports of a multicast
 * message. Elements that are ranges stay so.
 * Return 0, or what @fn returned.
 */
int rtmsg_link_vlans(const struct nlmsghdr *h, rtmsg_vlan_fn fn, void *arg);
int rtmsg_link_mst(const struct nlmsghdr *h, rtmsg_mst_fn fn, void *arg);
int rtmsg_vlans(const struct nlmsghdr *h, rtmsg_vlan_fn fn, void *arg);
int rtmsg_mdb(const struct nlmsghdr *h, rtmsg_mdb_fn fn, void *arg);
int rtmsg_routers(const struct nlmsghdr *h, rtmsg_router_fn fn, void *arg);

#endif
