/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mirror: what the kernel has told about links, bridge ports and VLANs of this
 * network namespace. Filled by dumps and kept by notifications, both through
 * mirror_apply(); it decides nothing.
 *
 * Control thread only. The FDB is not here: entries go straight into the tables
 * of core/fdb.
 */
#ifndef XB_CTL_MIRROR_H
#define XB_CTL_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"
#include "core/model.h"
#include "core/netinfo.h"

struct nlmsghdr;
struct rtmsg_info;

/* VLANs of a bridge port, or of a bridge as its own port. */
struct mirror_vlans {
	uint8_t mv[VID_N]; /* MV_MEMBER, MV_UNTAGGED and the state, as in core/model.h */
	uint16_t pvid;
	uint32_t n;                    /* members */
	uint32_t n_suppress, n_tunnel; /* that suppress ARP/ND, that map to a tunnel */
	uint8_t opts[VID_N];           /* MIRROR_VLAN_* */
};

#define MIRROR_VLAN_SUPPRESS 0x01
#define MIRROR_VLAN_TUNNEL   0x02

struct mirror_link {
	struct link_info info; /* the last message about the device itself; .brport the last one of
				  either family */
	bool seen_device;      /* false: only heard of as a bridge port yet */
	uint32_t bridge;       /* ifindex of the bridge that it is a port of; 0: none */
	struct mirror_vlans *vlans; /* of ports and bridges; NULL: none were told */
	uint64_t *away; /* VIDs whose VLAN device on it is in another namespace, VID_N bits; NULL:
			   none was heard of */
};

struct mirror {
	struct mirror_link **link; /* sorted by ifindex */
	uint32_t n, size;
	bool is_unsure; /* something changed that was not told in full: it has to be read again */
};

struct mirror *mirror_new(void);
void mirror_free(struct mirror *m);

/*
 * Takes in a message of type RTMSG_LINK or RTMSG_VLAN; @h is the message that
 * @i was parsed from. @changed is set to true if anything is different now, and
 * left alone otherwise. 0 or -ENOMEM.
 */
int mirror_apply(struct mirror *m, const struct rtmsg_info *i, const struct nlmsghdr *h,
		 bool *changed);

/*
 * A VLAN device on the link @lower is in another network namespace, of which no
 * message tells here. It is remembered until the link goes: it may have been
 * deleted there, but nobody says so. @changed is as above. 0, also for a link that is not there,
 * or -ENOMEM.
 */
int mirror_add_away(struct mirror *m, uint32_t lower, uint16_t vid, bool *changed);

/* Gives what @old knows of such devices to @m, a newer mirror, for the links in both. */
void mirror_keep_away(struct mirror *m, struct mirror *old);

struct mirror_link *mirror_find(const struct mirror *m, uint32_t ifindex);
struct mirror_link *mirror_find_name(const struct mirror *m, const char *name);

#endif
