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
#include "core/mdb.h"
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
	/* A multicast router of that family is behind the port; on the host port: is the bridge. */
	MP_ROUTER4 = 1 << 10,
	MP_ROUTER6 = 1 << 11,
	/* Host port only: mcast_router 2, the bridge is one for all, also for what is not IP. */
	MP_ROUTER_L2 = 1 << 12,
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
	bool learning; /* learned entries live for longer than 0 */
	bool standalone;
	bool local_vlan_0;  /* the host's addresses stand in VLAN 0 for all VLANs */
	bool snooping;      /* multicast goes by the groups below; else it is flooded */
	bool querier4;      /* someone asks for the members of groups, per family: only */
	bool querier6;      /* then the absence of members means that nobody wants a group */
	bool igmp_v3;       /* entries for one source, and filter modes, count */
	bool mld_v2;        /* likewise for IPv6 */
	bool allmulti;      /* the host gets all multicast that is forwarded */
	uint16_t tpid;      /* 0x8100 or 0x88a8, whether filtering or not */
	uint16_t host_port; /* slot of the port with MP_HOST, 0: none */
};

/* A port in a group. */
struct model_member {
	uint16_t slot; /* the host port: the host has joined */
	uint8_t flags; /* enum mdb_member_flag */
};

struct model_group {
	struct model_group *next; /* of the same bucket */
	struct mdb_key key;
	uint64_t gen;
	uint32_t n, size;
	struct model_member *member; /* at least one, in no order */
};

struct model_mdb {
	struct model_group **bucket;
	uint32_t n_buckets; /* a power of 2, or 0 before the first group */
	uint64_t seed;
	uint32_t n_groups;
	uint32_t n_members; /* of all groups, at most XB_MAX_MDB */
	uint64_t gen;       /* of the last change of any group */
	uint64_t all_gen;   /* of the last change that all groups depend on */
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
	struct fdb *fdb;               /* not owned */
	struct count_vlan *count;      /* not owned */
	const struct local_set *local; /* see local_publish(); NULL: none */
	uint16_t port[XB_MAX_PORTS];   /* slots, in no order */
	uint32_t n_ports;
	uint64_t vlan_gen[VID_N];
	uint64_t chunk_gen[VID_N / VIEW_CHUNK]; /* the greatest of the chunk's VLANs */
	struct model_mdb mdb;
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

/*
 * What the port @slot is in the group @k: @flags of enum mdb_member_flag, 0: it
 * leaves. A group is there as long as it has members; a port that leaves the
 * bridge takes its memberships along. The host port's membership is the host's.
 * -EINVAL: @k or @flags is none; -ENOENT: no such bridge, @slot is no port of
 * it, or it was no member of the group that it leaves; -ENOSPC: the bridge has
 * XB_MAX_MDB memberships; -ENOMEM. On failure all is as before.
 */
int model_mdb_set(struct model *m, uint16_t bridge, const struct mdb_key *k, uint16_t slot,
		  uint8_t flags);

/* All groups of the bridge go. */
void model_mdb_clear(struct model *m, uint16_t bridge);

/* The port's flags in the group, 0 if it is not in it. */
uint8_t model_mdb_get(const struct model *m, uint16_t bridge, const struct mdb_key *k,
		      uint16_t slot);

typedef void model_mdb_fn(const struct mdb_key *k, uint16_t slot, uint8_t flags, void *arg);

/* Calls @fn for each membership, in no order; it must not change the model. */
void model_mdb_each(const struct model *m, uint16_t bridge, model_mdb_fn *fn, void *arg);

#endif
