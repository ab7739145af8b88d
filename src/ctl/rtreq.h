/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtreq: writes rtnetlink requests into a caller's buffer. No socket, no state.
 * Any thread.
 *
 * Each function returns the length of the message, a multiple of 4, so that
 * requests can be put one after another into one send; or -ENOSPC when it does
 * not fit into @size (RTREQ_SIZE is always enough for one). @buf has an address
 * that 4 divides. The dumps are right with NETLINK_GET_STRICT_CHK on or off.
 */
#ifndef XB_CTL_RTREQ_H
#define XB_CTL_RTREQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/mac.h"

#define RTREQ_SIZE 64

enum rtreq_dump {
	RTREQ_LINKS,        /* all devices, without statistics */
	RTREQ_BRIDGE_LINKS, /* ports of all bridges with their VLANs as ranges, and the bridges */
	RTREQ_BRIDGE_MST,   /* the same with MST states, without VLANs */
	RTREQ_NEIGHS,       /* forwarding tables of all bridges, and devices' own */
	RTREQ_VLANS,        /* VLANs of all ports with state and options */
	RTREQ_VLANS_GLOBAL, /* VLAN options of all bridges, MST instance included */
	RTREQ_ADDRS6,       /* IPv6 addresses of all devices */
	RTREQ_MDB,          /* members of multicast groups and router ports of all bridges */
};

/* A dump. The answer is messages with NLM_F_MULTI and a last one, RTMSG_DONE or RTMSG_ERROR. */
int rtreq_dump(void *buf, size_t size, enum rtreq_dump what, uint32_t seq);

/*
 * RTREQ_NEIGHS for one port of a bridge. A kernel that does not take the filter
 * tells of all. The answer is that of a dump.
 */
int rtreq_port_neighs(void *buf, size_t size, uint32_t ifindex, uint32_t seq);

/* One device of LINK_FAMILY_ANY. The answer is a link message or RTMSG_ERROR. */
int rtreq_link(void *buf, size_t size, uint32_t ifindex, uint32_t seq);

/*
 * One forwarding entry of the bridge @ifindex; kernel 5.0. The answer is a neigh
 * message or RTMSG_ERROR.
 */
int rtreq_neigh(void *buf, size_t size, uint32_t ifindex, uint16_t vid, const struct mac *mac,
		uint32_t seq);

/* A station that was heard on a port of a kernel bridge. */
struct rtreq_station {
	struct mac mac;
	uint16_t vid;     /* VID_NONE: not told, which on a port with VLANs means all of them */
	uint32_t ifindex; /* port */
};

/*
 * Makes the port's bridge learn or refresh the station as if a frame had come
 * from it: the entry ages. With @ack the answer is RTMSG_ERROR with 0 on success;
 * otherwise only failures are answered.
 */
int rtreq_station_use(void *buf, size_t size, const struct rtreq_station *st, bool ack,
		      uint32_t seq);

/* Removes the station's entry from the bridge; answers as above. */
int rtreq_station_del(void *buf, size_t size, const struct rtreq_station *st, bool ack,
		      uint32_t seq);

/*
 * Asks the port's bridge for the station's entry, on whatever port it is. The
 * answer is a neighbour message or RTMSG_ERROR.
 */
int rtreq_station_get(void *buf, size_t size, const struct rtreq_station *st, uint32_t seq);

#endif
