/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/flood.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model.h"

static const uint16_t class_flag[FLOOD_N] = {
	[FLOOD_UNKNOWN] = MP_UNICAST_FLOOD,
	[FLOOD_MULTICAST] = MP_MCAST_FLOOD,
	[FLOOD_BROADCAST] = MP_BCAST_FLOOD,
};

/*
 * The host takes group addresses in the VLANs that it is in and that are not
 * blocked on it, and unknown unicast never, unless it is promiscuous: then it
 * takes all, and the untag rule of a VLAN that it is not in is to keep the tag
 * (br_pass_frame_up(), br_handle_vlan()).
 */
static bool host_takes(const struct model_bridge *b, uint8_t mv, enum flood_class class)
{
	if (b->a.promisc)
		return true;
	return class != FLOOD_UNKNOWN && (mv & MV_MEMBER) && MV_STATE_OF(mv) == PORT_FORWARDING;
}

static bool port_takes(const struct model_bridge *b, const struct model_port_attr *a, uint8_t mv,
		       enum flood_class class)
{
	if (!(mv & MV_MEMBER) || (a->flags & MP_PROXYARP) || !(a->flags & class_flag[class]))
		return false;
	if (!b->a.mst && a->state != PORT_FORWARDING)
		return false;
	return MV_STATE_OF(mv) == PORT_FORWARDING;
}

static struct flood_dst make_dst(const struct model_port *p, uint8_t mv)
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

static uint8_t membership(const struct model_bridge *b, const struct model_port *p, uint16_t vid)
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
		uint8_t mv = membership(b, p, vid);

		if ((p->a.flags & MP_HOST) ? host_takes(b, mv, class)
					   : port_takes(b, &p->a, mv, class))
			dst[n++] = make_dst(p, mv);
	}
	return n;
}

static uint32_t n_members(const struct model *m, const struct model_bridge *b, uint16_t vid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_ports; i++)
		n += membership(b, m->port[b->port[i]], vid) & MV_MEMBER;
	return n;
}

int flood_build(const struct model *m, const struct model_bridge *b, uint16_t vid,
		struct view_vlan **out)
{
	/* A promiscuous host may be a destination without being a member. */
	uint32_t max = n_members(m, b, vid) + 1;
	struct flood_dst *dst;
	struct view_vlan *v;

	if (max == 1) {
		*out = NULL;
		return 0;
	}
	v = calloc(1, sizeof(*v) + sizeof(*dst) * FLOOD_N * max);
	if (!v)
		return -ENOMEM;

	dst = (struct flood_dst *)(v + 1);
	for (int c = 0; c < FLOOD_N; c++) {
		uint32_t n = fill(m, b, vid, (enum flood_class)c, dst);
		struct flood_array *prev = c ? &v->flood[c - 1] : NULL;

		v->flood[c].n = n;
		if (prev && prev->n == n && (!n || !memcmp(prev->dst, dst, n * sizeof(*dst)))) {
			v->flood[c].dst = prev->dst;
			continue;
		}
		v->flood[c].dst = dst;
		dst += n;
	}
	v->refs = 1;
	*out = v;
	return 0;
}
