/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flood: the flood arrays of one VLAN, built from the model.
 *
 * An array has the members of the VLAN that take frames of its class, and
 * nothing else: building costs the ports of the bridge once, a frame costs the
 * members. What holds for each copy, whoever asks for it, is here too.
 * Control thread only.
 */
#ifndef XB_CORE_FLOOD_H
#define XB_CORE_FLOOD_H

#include "core/view.h"

struct model;
struct model_bridge;
struct model_port;
struct model_port_attr;

/*
 * The VLAN @vid (0 when the bridge does not filter) of @b, with one reference.
 * *@out is NULL if no port is in the VLAN. 0 or -ENOMEM.
 */
int flood_build(const struct model *m, const struct model_bridge *b, uint16_t vid,
		struct view_vlan **out);

/* What the port is in the VLAN (MV_*); in every VLAN the same when the bridge does not filter. */
uint8_t flood_membership(const struct model_bridge *b, const struct model_port *p, uint16_t vid);

/* States and membership @mv let the port send (should_deliver()); not for the host. */
bool flood_can_egress(const struct model_bridge *b, const struct model_port_attr *a, uint8_t mv);

/* The host takes what is for it in the VLAN, unless it is promiscuous and takes all. */
bool flood_host_is_member(uint8_t mv);

/* A copy for the port, or the host, in a VLAN that it is @mv of. */
struct flood_dst flood_dst_make(const struct model_port *p, uint8_t mv);

/* Largest frame, as counted for the MTU check, for an MTU (net/bridge/br_forward.c). */
static inline uint32_t flood_max_len(uint32_t mtu)
{
	return mtu + 14 + 4;
}

#endif
