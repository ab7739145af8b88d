/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/flood.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model.h"

/* What a port must have for a class. */
static const uint16_t class_flag[FLOOD_N] = {
	[FLOOD_UNKNOWN] = MP_UNICAST_FLOOD, [FLOOD_MULTICAST] = MP_MCAST_FLOOD,
	[FLOOD_BROADCAST] = MP_BCAST_FLOOD, [FLOOD_ROUTER4] = MP_ROUTER4,
	[FLOOD_ROUTER6] = MP_ROUTER6,
};

/* Frames that the bridge itself sorts out are no floods to it (br_multicast_flood()). */
static bool is_router_class(enum flood_class class)
{
	return class == FLOOD_ROUTER4 || class == FLOOD_ROUTER6;
}

bool flood_host_is_member(uint8_t mv)
{
	return (mv & MV_MEMBER) && MV_STATE_OF(mv) == PORT_FORWARDING;
}

/*
 * The host takes group addresses in the VLANs that it is in and that are not
 * blocked on it, and unknown unicast never, unless it is promiscuous: then it
 * takes all, and the untag rule of a VLAN that it is not in is to keep the tag
 * (br_pass_frame_up(), br_handle_vlan()). What is for routers it takes if it
 * is one, or takes all multicast.
 */
static bool host_takes(const struct model_bridge *b, const struct model_port_attr *a, uint8_t mv,
		       enum flood_class class)
{
	if (b->a.promisc)
		return true;
	if (is_router_class(class) && !b->a.allmulti &&
	    !(a->flags & (class_flag[class] | MP_ROUTER_L2)))
		return false;
	return class != FLOOD_UNKNOWN && flood_host_is_member(mv);
}

bool flood_can_egress(const struct model_bridge *b, const struct model_port_attr *a, uint8_t mv)
{
	if (!b->a.mst && a->state != PORT_FORWARDING)
		return false;
	return (mv & MV_MEMBER) && MV_STATE_OF(mv) == PORT_FORWARDING;
}

static bool port_takes(const struct model_bridge *b, const struct model_port_attr *a, uint8_t mv,
		       enum flood_class class)
{
	if (!(a->flags & class_flag[class]))
		return false;
	if ((a->flags & MP_PROXYARP) && !is_router_class(class))
		return false;
	return flood_can_egress(b, a, mv);
}

struct flood_dst flood_dst_make(const struct model_port *p, uint8_t mv)
{
	struct flood_dst d = { .port = p->slot, .max_len = flood_max_len(p->a.mtu) };

	if (mv & MV_UNTAGGED)
		d.flags |= FLOOD_UNTAGGED;
	if (p->a.flags & MP_HOST) {
		/* br_pass_frame_up() has no length check. */
		d.flags |= FLOOD_HOST;
		d.max_len = UINT32_MAX;
		return d;
	}
	if (p->a.flags & MP_ISOLATED)
		d.flags |= FLOOD_ISOLATED;
	if (p->a.flags & MP_HAIRPIN)
		d.flags |= FLOOD_HAIRPIN;
	return d;
}

uint8_t flood_membership(const struct model_bridge *b, const struct model_port *p, uint16_t vid)
{
	if (!b->a.filtering)
		return MV_MEMBER | MV_UNTAGGED | MV_STATE(PORT_FORWARDING);
	return p->a.vlan[vid];
}

static uint32_t fill(const struct model *m, const struct model_bridge *b, uint16_t vid,
		     enum flood_class class, struct flood_dst *dst)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_ports; i++) {
		const struct model_port *p = m->port[b->port[i]];
		uint8_t mv = flood_membership(b, p, vid);

		if ((p->a.flags & MP_HOST) ? host_takes(b, &p->a, mv, class)
					   : port_takes(b, &p->a, mv, class))
			dst[n++] = flood_dst_make(p, mv);
	}
	return n;
}

static uint32_t n_members(const struct model *m, const struct model_bridge *b, uint16_t vid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_ports; i++)
		n += flood_membership(b, m->port[b->port[i]], vid) & MV_MEMBER;
	return n;
}

/* A class before @class that has the @n destinations of @dst too; NULL: none. */
static const struct flood_array *find_equal(const struct view_vlan *v, int class,
					    const struct flood_dst *dst, uint32_t n)
{
	for (int c = 0; c < class; c++) {
		const struct flood_array *a = &v->flood[c];

		if (a->n == n && !memcmp(a->dst, dst, n * sizeof(*dst)))
			return a;
	}
	return NULL;
}

int flood_build(const struct model *m, const struct model_bridge *b, uint16_t vid,
		struct view_vlan **out)
{
	/* A promiscuous host may be a destination without being a member. */
	uint32_t max = n_members(m, b, vid) + 1;
	/* Without snooping nobody asks for the routers. */
	int n_classes = b->a.snooping ? FLOOD_N : FLOOD_ROUTER4;
	struct flood_dst *dst;
	struct view_vlan *v;

	if (max == 1) {
		*out = NULL;
		return 0;
	}
	v = calloc(1, sizeof(*v) + sizeof(*dst) * (uint32_t)n_classes * max);
	if (!v)
		return -ENOMEM;

	dst = (struct flood_dst *)(v + 1);
	for (int c = 0; c < n_classes; c++) {
		uint32_t n = fill(m, b, vid, (enum flood_class)c, dst);
		const struct flood_array *same = find_equal(v, c, dst, n);

		v->flood[c].n = n;
		v->flood[c].dst = same ? same->dst : dst;
		dst += same ? 0 : n;
	}
	v->refs = 1;
	*out = v;
	return 0;
}
