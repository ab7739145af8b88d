/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model: what we want: the bridges and ports that the view is built from, in
 * the daemon's own numbers (bridge index, port slot), without interfaces,
 * netlink or files. Both sources of configuration, the kernel and the file, end
 * here.
 *
 * Every object carries a generation that goes up when something changes that a
 * view object is made from; view_build() makes anew only what is behind.
 * A change costs what it touches: a VLAN of a port marks that VLAN alone.
 *
 * Control thread only.
 */
#ifndef XB_CORE_MODEL_H
#define XB_CORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"
#include "core/view.h"

/* Membership of a port in a VLAN: model_port_attr.vlan[vid]. */
#define MV_MEMBER      0x01
#define MV_UNTAGGED    0x02
#define MV_STATE(s)    ((uint8_t)((s) << 4)) /* enum port_state of the VLAN on the port */
#define MV_STATE_OF(v) ((v) >> 4)

enum model_port_flag {
	MP_HOST = 1 << 0, /* the bridge device */
	MP_LEARNING = 1 << 1,
	MP_UNICAST_FLOOD = 1 << 2,
	MP_MCAST_FLOOD = 1 << 3,
	MP_BCAST_FLOOD = 1 << 4,
	MP_ISOLATED = 1 << 5,
	MP_HAIRPIN = 1 << 6,
	MP_PROXYARP = 1 << 7, /* left out of every flood */
	MP_CSUM = 1 << 8,     /* complete partial checksums at ingress */
	MP_DOWN = 1 << 9,     /* the device is down or has no carrier */
};

struct model_port_attr {
	uint16_t bridge;
	uint16_t flags;
	uint8_t state;   /* enum port_state */
	uint16_t pvid;   /* VID_NONE: none */
	uint16_t backup; /* slot that gets known unicast instead while MP_DOWN; 0: none */
	uint32_t mtu;
	uint8_t vlan[VID_N]; /* [0] and [4095] unused */
};

struct model_bridge_attr {
	bool filtering;
	bool promisc;  /* the host gets every frame */
	bool mst;      /* port states do not count, those of the VLANs do */
	bool learning; /* ageing time is not 0 */
	bool standalone;
	bool local_vlan_0;  /* the host's addresses stand in VLAN 0 for all VLANs */
	uint16_t tpid;      /* 0x8100 or 0x88a8, whether filtering or not */
	uint16_t host_port; /* slot of the port with MP_HOST, 0: none */
};

struct model_port {
	uint16_t slot;
	uint64_t gen;      /* of its last change; above the next two, or equal */
	uint64_t head_gen; /* of the last one that was not of a VLAN alone */
	uint64_t chunk_gen[VID_N / VIEW_CHUNK]; /* of the last one of a VLAN in the chunk */
	struct model_port_attr a;
};

struct model_bridge {
	uint16_t index;
	uint64_t gen;
	struct model_bridge_attr a;
	struct fdb *fdb;             /* not owned */
	struct count_vlan *count;    /* not owned */
	uint16_t port[XB_MAX_PORTS]; /* slots, in no order */
	uint32_t n_ports;
	uint64_t vlan_gen[VID_N];
	uint64_t chunk_gen[VID_N / VIEW_CHUNK]; /* the greatest of the chunk's VLANs */
};

struct model {
	uint64_t gen;
	struct model_bridge *bridge[XB_MAX_BRIDGES];
	struct model_port *port[XB_MAX_PORTS];
};

struct model *model_new(void);
void model_free(struct model *m);

/*
 * Makes the bridge @index, or changes it. @fdb and @count must outlive every
 * view that has the bridge. 0, -EINVAL, -ENOMEM; @changed (may be NULL) tells
 * whether anything is different now.
 */
int model_bridge_set(struct model *m, uint16_t index, const struct model_bridge_attr *a,
		     struct fdb *fdb, struct count_vlan *count, bool *changed);

/* Removes the bridge and its ports. */
void model_bridge_del(struct model *m, uint16_t index);

/*
 * Makes the port @slot (1..XB_MAX_PORTS-1), or changes it. Its bridge must
 * exist; a port that changes its bridge leaves the old one.
 */
int model_port_set(struct model *m, uint16_t slot, const struct model_port_attr *a, bool *changed);
void model_port_del(struct model *m, uint16_t slot);

/* One VLAN of one port, as model_port_set() with everything else equal. */
int model_port_vlan_set(struct model *m, uint16_t slot, uint16_t vid, uint8_t mv);

#endif
