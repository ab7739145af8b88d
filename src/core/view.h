/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view: the immutable tables that workers forward by.
 *
 * The control thread builds a view from the model (core/model.h) and publishes
 * it; workers read one view per batch under liburcu's QSBR flavour. A view is
 * never changed after view_build() returned it. Ports, VLANs and bridges that
 * did not change are shared between a view and the next one: their reference
 * counts belong to the control thread, and the last view that uses one frees
 * it (view_free(), after a grace period).
 *
 * Everything that can be decided without a frame is decided here: state of port
 * and VLAN, flood flags, membership of the host. What is left per copy is "not
 * the ingress port unless hairpin", isolation and length.
 *
 * A destination is always (port, port-VLAN entry) together. The port-VLAN
 * entries of a port lie in a table indexed by VID, so the FDB's 32-bit handle
 * `slot << 12 | vid` is the entry's address and egress looks nothing up.
 */
#ifndef XB_CORE_VIEW_H
#define XB_CORE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/limits.h"

struct count_vlan;
struct fdb;
struct group_table;
struct local_set;
struct model;

/* The kernel's numbers (include/uapi/linux/if_bridge.h, BR_STATE_*). */
enum port_state {
	PORT_DISABLED = 0,
	PORT_LISTENING = 1,
	PORT_LEARNING = 2,
	PORT_FORWARDING = 3,
	PORT_BLOCKING = 4,
};

enum port_vlan_flag {
	PV_MEMBER = 1 << 0,   /* the port is in the VLAN */
	PV_UNTAGGED = 1 << 1, /* leaves the port without the outer tag */
	PV_LEARN = 1 << 2,    /* state allows to learn at ingress */
	PV_INGRESS = 1 << 3,  /* state allows to forward what came in */
	PV_EGRESS = 1 << 4,   /* state of port and VLAN allow to send out */
};

struct port_vlan {
	uint8_t flags;
};

enum view_port_flag {
	VP_HOST = 1 << 0,     /* the bridge device itself, a member like any other */
	VP_LEARNING = 1 << 1, /* teaches the FDB */
	VP_ISOLATED = 1 << 2,
	VP_HAIRPIN = 1 << 3,
	VP_CSUM = 1 << 4,   /* frames may come in with partial checksums */
	VP_EGRESS = 1 << 5, /* port state allows to send out, whatever the VLAN */
};

struct view_port {
	/* Hot. */
	uint16_t slot;
	uint16_t bridge; /* index into view.bridge */
	uint16_t flags;
	uint8_t state;   /* enum port_state; PORT_FORWARDING while MST decides per VLAN */
	uint16_t pvid;   /* VID_NONE: untagged frames are dropped */
	uint16_t backup; /* slot that known unicast goes to instead; 0 as long as the port is up */
	const struct port_vlan
		*pvid_entry; /* of pvid, NULL without: untagged ingress needs no lookup */
	uint32_t max_len;    /* MTU + Ethernet header + 4, as the kernel counts (view_count_len) */
	uint32_t refs;       /* control thread only */
	uint64_t gen;        /* of the model's port that this was made from */
	struct port_vlan vlan[VID_N]; /* [0] is the only one when the bridge does not filter */
};

/* One copy of a flooded frame. */
enum flood_flag {
	FLOOD_UNTAGGED = 1 << 0,
	FLOOD_ISOLATED = 1 << 1,
	FLOOD_HAIRPIN = 1 << 2,
	FLOOD_HOST = 1 << 3,
};

struct flood_dst {
	uint16_t port;
	uint16_t flags;
	uint32_t max_len;
};

enum flood_class {
	FLOOD_UNKNOWN,   /* unicast that the FDB does not know */
	FLOOD_MULTICAST, /* group addresses without a table entry, or without a querier */
	FLOOD_BROADCAST,
	FLOOD_ROUTER4, /* the same while a querier asks: for routers alone; IPv4 */
	FLOOD_ROUTER6, /* IPv6 */
	FLOOD_N,
};

struct flood_array {
	const struct flood_dst *dst; /* contiguous; classes with equal members share one */
	uint32_t n;
};

struct view_vlan {
	struct flood_array flood[FLOOD_N];
	uint32_t refs; /* control thread only */
};

/*
 * VLANs that views share as one: a change copies the chunk that it is in, so that
 * the cost of a new view does not grow with the number of VLANs.
 */
#define VIEW_CHUNK 64 /* VLANs in a chunk */

struct view_chunk {
	const struct view_vlan *vlan[VIEW_CHUNK]; /* NULL: no port is in it */
	uint32_t refs;                            /* control thread only */
};

enum view_bridge_flag {
	VB_FILTERING = 1 << 0, /* vlan_filtering */
	VB_LEARNING = 1 << 1,  /* ageing time is not 0 */
	VB_PROMISC = 1 << 2,   /* the host gets every frame that is forwarded */
	VB_STANDALONE = 1 << 3,
	VB_LOCAL_VLAN_0 = 1 << 4, /* VLAN 0 has the host's addresses in every VLAN */
	VB_SNOOPING = 1 << 5,     /* multicast goes by groups and routers */
	VB_QUERIER4 = 1 << 6,     /* somebody asks for the members, per family */
	VB_QUERIER6 = 1 << 7,
	VB_IGMP_V3 = 1 << 8, /* entries for one source count */
	VB_MLD_V2 = 1 << 9,
};

struct view_bridge {
	uint16_t index;
	uint16_t flags;
	uint16_t tpid;      /* 0x8100 or 0x88a8; 0 when VLANs are payload */
	uint16_t host_port; /* slot, 0 without one */
	struct fdb *fdb;    /* lives as long as the bridge: freed after the last view that has it */
	const struct local_set *local; /* the host's addresses (core/local.h); NULL: none */
	struct count_vlan *count;      /* [worker * VID_N + vid] */
	uint32_t refs;                 /* control thread only */
	uint64_t gen;                  /* of the model's bridge that this was made from */
	uint64_t vlan_gen_max; /* VLANs whose generation in the model is above it have changed since
				*/
	const struct group_table *groups;                   /* NULL: there are none */
	const struct view_chunk *chunk[VID_N / VIEW_CHUNK]; /* NULL: none of its VLANs has a port */
};

struct view {
	uint64_t gen; /* counts up with each view */
	const struct view_bridge *bridge[XB_MAX_BRIDGES];
	const struct view_port *port[XB_MAX_PORTS];
};

/*
 * [control] A view of @m that shares with @old (or NULL) what did not change.
 * Takes no reference to @old itself. NULL when memory runs out; @old and @m are
 * then as before. @n_floods, if not NULL, gets the number of flood arrays that
 * were made anew.
 */
struct view *view_build(const struct model *m, const struct view *old, uint32_t *n_floods);

/* [control] Gives back @v and what only @v used. No worker may still read it. */
void view_free(struct view *v);

/* The flood arrays of a VLAN (0 when the bridge does not filter); NULL: no port is in it. */
static inline const struct view_vlan *view_vlan(const struct view_bridge *b, uint16_t vid)
{
	const struct view_chunk *c = b->chunk[vid / VIEW_CHUNK];

	return c ? c->vlan[vid % VIEW_CHUNK] : NULL;
}

/* The port-VLAN entry that an FDB handle names; NULL if the port has gone. */
static inline const struct port_vlan *view_entry(const struct view *v, uint32_t handle,
						 const struct view_port **port)
{
	const struct view_port *p = v->port[(handle >> 12) & (XB_MAX_PORTS - 1)];

	*port = p;
	return p ? &p->vlan[handle & 0xfff] : NULL;
}

#endif
