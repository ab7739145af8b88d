/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps_mcast: the random steps that are about multicast, and IP headers for
 * the frames of the others.
 */
#ifndef XB_ORACLE_STEPS_MCAST_H
#define XB_ORACLE_STEPS_MCAST_H

#include "dice.h"
#include "pair.h"

/* The VLANs and group addresses of the other steps, and how many there are. */
struct mcast_world {
	const uint16_t *vid;
	uint32_t n_vids;
	const uint64_t *group;
	uint32_t n_groups;
};

/* A port, or the host, joins, leaves or changes what it is in an entry. */
void mcast_member(struct pair *p, struct dice *d, const struct mcast_world *w);
/* All entries go. */
void mcast_clear(struct pair *p, struct dice *d, const struct mcast_world *w);
/* Snooping, queriers, versions, ALLMULTI. */
void mcast_bridge(struct pair *p, struct dice *d, const struct mcast_world *w);
/* A router comes or goes behind a port, or the host becomes one. */
void mcast_router(struct pair *p, struct dice *d, const struct mcast_world *w);

/*
 * Makes the @len bytes at @at, behind the EtherType @type, an IPv4 or IPv6
 * packet, often for a group and mostly well-formed, if @type is of these.
 */
void mcast_packet(struct dice *d, uint16_t type, uint8_t *at, uint32_t len);

#endif
