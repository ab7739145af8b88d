/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flood: the flood arrays of one VLAN, built from the model.
 *
 * An array has the members of the VLAN that take frames of its class, and
 * nothing else: building costs the ports of the bridge once, a frame costs the
 * members. Control thread only.
 */
#ifndef XB_CORE_FLOOD_H
#define XB_CORE_FLOOD_H

#include "core/view.h"

struct model;
struct model_bridge;

/*
 * The VLAN @vid (0 when the bridge does not filter) of @b, with one reference.
 * *@out is NULL if no port is in the VLAN. 0 or -ENOMEM.
 */
int flood_build(const struct model *m, const struct model_bridge *b, uint16_t vid,
		struct view_vlan **out);

/* Largest frame, as counted for the MTU check, for an MTU (net/bridge/br_forward.c). */
static inline uint32_t flood_max_len(uint32_t mtu)
{
	return mtu + 14 + 4;
}

#endif
