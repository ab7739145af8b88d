/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netinfo: what one kernel message says about a link, a VLAN, a spanning tree
 * instance or a forwarding entry, as plain values. Filled by ctl/rtmsg, read by
 * core/model. No pointers, no netlink headers, no functions.
 *
 * A message tells only part of an object. Each struct has a mask `present` of
 * the values that the message had; the others are 0 and mean nothing. For the
 * on/off options the same bit says in `present` that the message had the option
 * and in `flags` that it is on, so that a message is merged into what is known by
 *
 *	known.flags = (known.flags & ~msg.present) | (msg.flags & msg.present);
 *
 * Numbers are in host order, times in nanoseconds, VIDs 1..4094. STP states are
 * the kernel's (enum port_state): 0 disabled, 1 listening, 2 learning,
 * 3 forwarding, 4 blocking.
 */
#ifndef XB_CORE_NETINFO_H
#define XB_CORE_NETINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "util/mac.h"

#define NETINFO_NAME_SIZE 16 /* with the final 0 */

/* bridge_info.present; those up to BRIDGE_NF_CALL_ARPTABLES are in .flags too. */
enum {
	BRIDGE_VLAN_FILTERING = 1U << 0,
	BRIDGE_MCAST_SNOOPING = 1U << 1,
	BRIDGE_MCAST_QUERIER = 1U << 2,
	BRIDGE_TOPOLOGY_CHANGE = 1U << 3,
	BRIDGE_NF_CALL_IPTABLES = 1U << 4,
	BRIDGE_NF_CALL_IP6TABLES = 1U << 5,
	BRIDGE_NF_CALL_ARPTABLES = 1U << 6,
	BRIDGE_HAS_FORWARD_DELAY = 1U << 8,
	BRIDGE_HAS_AGEING_TIME = 1U << 9,
	BRIDGE_HAS_STP = 1U << 10,
	BRIDGE_HAS_VLAN_PROTOCOL = 1U << 11,
	BRIDGE_HAS_DEFAULT_PVID = 1U << 12,
	BRIDGE_HAS_GROUP_FWD_MASK = 1U << 13,
	BRIDGE_HAS_GROUP_ADDR = 1U << 14,
	BRIDGE_HAS_BOOLOPT = 1U << 15,
	BRIDGE_HAS_FDB_N_LEARNED = 1U << 16,   /* kernel 6.7 */
	BRIDGE_HAS_FDB_MAX_LEARNED = 1U << 17, /* kernel 6.7 */
	BRIDGE_HAS_MCAST_ROUTER = 1U << 18,
	BRIDGE_HAS_IGMP_VERSION = 1U << 19,
	BRIDGE_HAS_MLD_VERSION = 1U << 20, /* absent: a kernel without IPv6 */
	BRIDGE_HAS_QUERY_INTERVAL = 1U << 21,
	BRIDGE_HAS_QUERY_RESPONSE = 1U << 22,
	BRIDGE_HAS_QUERIER_STATE = 1U << 23, /* absent while snooping is off */
	BRIDGE_HAS_QUERIER_INTERVAL = 1U << 24,
};

/*
 * Bits of bridge_info.boolopt. A bit that is not in boolopt_mask is one that the
 * running kernel does not have.
 */
enum {
	BRIDGE_OPT_NO_LL_LEARN = 1U << 0,
	BRIDGE_OPT_MCAST_VLAN_SNOOPING = 1U << 1,
	BRIDGE_OPT_MST = 1U << 2,
	BRIDGE_OPT_MDB_OFFLOAD_FAIL = 1U << 3,
	BRIDGE_OPT_FDB_LOCAL_VLAN_0 = 1U << 4, /* kernel 6.18 */
};

/* querier_info.present */
enum {
	QUERIER_HAS_ADDRESS = 1U << 0,
	QUERIER_HAS_PORT = 1U << 1,
	QUERIER_HAS_TIMER = 1U << 2, /* another querier than the bridge was heard */
};

/* bridge_info.querier[] */
enum { QUERIER_IP4, QUERIER_IP6, QUERIER_N };

/*
 * What a bridge knows of the multicast querier of one family. Nothing is told of
 * a family while the bridge is no querier and none was heard.
 */
struct querier_info {
	uint32_t present;
	uint32_t port;       /* ifindex; that of another querier */
	uint64_t left_ns;    /* of the timer: when it runs out the querier has gone */
	uint8_t address[16]; /* network order, IPv4: the first four bytes; may be zero */
};

/* The options of a bridge. */
struct bridge_info {
	uint32_t present;
	uint32_t flags;
	uint64_t forward_delay_ns;
	uint64_t ageing_time_ns; /* 0: nothing is learned */
	uint32_t stp;            /* 0 off, 1 in the kernel, 2 in user space */
	uint32_t boolopt;
	uint32_t boolopt_mask;
	uint32_t fdb_n_learned;
	uint32_t fdb_max_learned; /* 0: no limit */
	uint16_t vlan_protocol;   /* 0x8100 or 0x88a8 */
	uint16_t default_pvid;    /* VID_NONE: none */
	uint16_t group_fwd_mask;
	struct mac group_addr;
	uint8_t mcast_router; /* the bridge itself: 0 never, 1 learned, 2 always */
	uint8_t igmp_version; /* 2 or 3 */
	uint8_t mld_version;  /* 1 or 2 */
	uint64_t query_interval_ns;
	uint64_t query_response_ns;   /* longest time that a member takes to answer */
	uint64_t querier_interval_ns; /* how long another querier, or a router, is remembered */
	struct querier_info querier[QUERIER_N];
};

/* brport_info.present; those up to BRPORT_MRP_IN_OPEN are in .flags too. */
enum {
	BRPORT_HAIRPIN = 1U << 0,
	BRPORT_LEARNING = 1U << 1,
	BRPORT_UNICAST_FLOOD = 1U << 2,
	BRPORT_MCAST_FLOOD = 1U << 3,
	BRPORT_BCAST_FLOOD = 1U << 4,
	BRPORT_PROXYARP = 1U << 5,
	BRPORT_PROXYARP_WIFI = 1U << 6,
	BRPORT_NEIGH_SUPPRESS = 1U << 7,
	BRPORT_NEIGH_VLAN_SUPPRESS = 1U << 8, /* kernel 6.4 */
	BRPORT_NEIGH_FORWARD_GRAT = 1U << 9,  /* kernel 7.2 */
	BRPORT_ISOLATED = 1U << 10,
	BRPORT_LOCKED = 1U << 11,
	BRPORT_MAB = 1U << 12, /* kernel 6.2 */
	BRPORT_FAST_LEAVE = 1U << 13,
	BRPORT_MCAST_TO_UCAST = 1U << 14,
	BRPORT_VLAN_TUNNEL = 1U << 15,
	BRPORT_GUARD = 1U << 16,      /* BPDU guard */
	BRPORT_ROOT_BLOCK = 1U << 17, /* may not become the root port */
	BRPORT_MRP_RING_OPEN = 1U << 18,
	BRPORT_MRP_IN_OPEN = 1U << 19,
	BRPORT_HAS_STATE = 1U << 24,
	BRPORT_HAS_MCAST_ROUTER = 1U << 25,
	BRPORT_HAS_BACKUP_PORT = 1U << 26, /* absent: the port has none */
	BRPORT_HAS_BACKUP_NHID = 1U << 27, /* absent: the port has none */
	BRPORT_HAS_GROUP_FWD_MASK = 1U << 28,
};

/* The options of a port of a bridge. A link message has all that the kernel knows. */
struct brport_info {
	uint32_t present;
	uint32_t flags;
	uint32_t backup_port; /* ifindex */
	uint32_t backup_nhid;
	uint16_t group_fwd_mask;
	uint8_t state;        /* STP state, 0..4 */
	uint8_t mcast_router; /* 0 never, 1 learned, 2 always, 3 for a while */
};

/* link_info.present */
enum {
	LINK_HAS_NAME = 1U << 0,
	LINK_HAS_MTU = 1U << 1,
	LINK_HAS_MAX_MTU = 1U << 2,
	LINK_HAS_MAC = 1U << 3, /* only when the address has six bytes */
	LINK_HAS_MASTER = 1U << 4,
	LINK_HAS_LOWER = 1U << 5,
	LINK_HAS_LOWER_NETNSID = 1U << 6, /* `lower` is an index of another namespace */
	LINK_HAS_OPERSTATE = 1U << 7,
	LINK_HAS_CARRIER = 1U << 8,
	LINK_HAS_PROMISCUITY = 1U << 9,
	LINK_HAS_ALLMULTI = 1U << 10, /* kernel 6.0 */
	LINK_HAS_RX_QUEUES = 1U << 11,
	LINK_HAS_TX_QUEUES = 1U << 12,
	LINK_HAS_QDISC = 1U << 13,
	LINK_HAS_SWITCH_ID = 1U << 14, /* port of a hardware switch; has no value */
	LINK_HAS_XDP = 1U << 15,
	LINK_HAS_KIND = 1U << 16,
	LINK_HAS_SLAVE_KIND = 1U << 17,
	LINK_HAS_VLAN = 1U << 18,      /* VLAN device: .vlan_id, .vlan_protocol */
	LINK_HAS_BRIDGE = 1U << 19,    /* .bridge */
	LINK_HAS_BRPORT = 1U << 20,    /* .brport */
	LINK_HAS_NEW_NETNS = 1U << 21, /* deleted here because it moved; has no value */
};

/* link_info.xdp_mode: the kernel's numbers. */
enum {
	LINK_XDP_NONE = 0,
	LINK_XDP_DRV = 1,
	LINK_XDP_SKB = 2,
	LINK_XDP_HW = 3,
	LINK_XDP_MULTI = 4, /* more than one of them */
};

enum link_family {
	LINK_FAMILY_ANY,    /* AF_UNSPEC: the device */
	LINK_FAMILY_BRIDGE, /* AF_BRIDGE: a port, or the bridge itself, as the bridge sees it */
};

/*
 * A network device (LINK_FAMILY_ANY), or a port of a bridge (LINK_FAMILY_BRIDGE).
 *
 * LINK_FAMILY_ANY, deleted: the device is gone from this namespace.
 *
 * LINK_FAMILY_BRIDGE: `master` is the bridge. A message whose `ifindex` equals
 * `master` is about the bridge as a port of itself and has no .brport. Deleted
 * means that the port left the bridge; the device may live on.
 *
 * is_self: the message describes the device's own hardware switch (as network
 * cards with virtual functions have), not its bridge: nothing in it but the
 * names may be used for the port.
 *
 * n_vlans, n_mst: how many elements rtmsg_link_vlans() and rtmsg_link_mst()
 * have for this message. The list is the port's whole list in notifications of
 * LINK_FAMILY_BRIDGE and in dumps that asked for VLANs (or MST): none here means
 * that the port has none. Notifications never list MST.
 */
struct link_info {
	uint32_t present;
	uint32_t ifindex; /* never 0 */
	enum link_family family;
	bool deleted;
	bool is_self;
	uint16_t type;   /* ARPHRD_ */
	uint32_t flags;  /* IFF_ */
	uint32_t change; /* IFF_ bits that changed; all ones: not told */

	uint32_t mtu;
	uint32_t max_mtu; /* 0: no limit */
	uint32_t master;  /* ifindex; 0: has no master (so has a message without it) */
	uint32_t lower;   /* ifindex of the device under this one, or of the veth peer */
	int32_t lower_netnsid;
	uint32_t promiscuity;
	uint32_t allmulti;
	uint32_t num_rx_queues;
	uint32_t num_tx_queues;
	struct mac mac;
	uint8_t operstate; /* IF_OPER_ */
	bool carrier;
	char name[NETINFO_NAME_SIZE];
	char qdisc[NETINFO_NAME_SIZE];      /* cut if longer */
	char kind[NETINFO_NAME_SIZE];       /* "bridge", "vlan", ...; cut if longer */
	char slave_kind[NETINFO_NAME_SIZE]; /* of the master; cut if longer */

	uint8_t xdp_mode;         /* LINK_XDP_ */
	uint32_t xdp_prog_id;     /* 0 when mode is none or multi */
	uint32_t xdp_drv_prog_id; /* those three are set with any mode, else 0 */
	uint32_t xdp_skb_prog_id;
	uint32_t xdp_hw_prog_id;

	uint16_t vlan_id;
	uint16_t vlan_protocol; /* 0x8100 or 0x88a8 */

	uint16_t n_vlans;
	uint16_t n_mst;

	struct bridge_info bridge;
	struct brport_info brport;
};

/* vlan_info.flags */
enum {
	VLAN_PVID = 1U << 0,
	VLAN_UNTAGGED = 1U << 1,
	VLAN_BRENTRY = 1U << 2,   /* the bridge itself is a member, not only a port */
	VLAN_ONLY_OPTS = 1U << 3, /* changes options of a VLAN that exists, adds none */
};

/* vlan_info.present */
enum {
	VLAN_HAS_STATE = 1U << 0,
	VLAN_HAS_MCAST_ROUTER = 1U << 1,
	VLAN_HAS_NEIGH_SUPPRESS = 1U << 2,     /* kernel 6.4 */
	VLAN_HAS_NEIGH_FORWARD_GRAT = 1U << 3, /* kernel 7.2 */
	VLAN_HAS_TUNNEL = 1U << 4,             /* maps to a tunnel id; has no value */
	VLAN_HAS_MSTI = 1U << 5,               /* global only */
	VLAN_HAS_MCAST_SNOOPING = 1U << 6,     /* global only */
	VLAN_HAS_MCAST_QUERIER = 1U << 7,      /* global only */
};

/* Where a VLAN was told, which decides what its absence means. */
enum vlan_source {
	VLAN_IN_LINK,  /* element of a port's whole list */
	VLAN_IN_ENTRY, /* VLAN message: added, changed or (deleted) removed */
	VLAN_GLOBAL,   /* VLAN message: options of the VLAN in the whole bridge */
};

/* A range of VLANs of a port, of a bridge as its own port, or (VLAN_GLOBAL) of a bridge. */
struct vlan_info {
	uint32_t present;
	uint32_t ifindex; /* port, or bridge */
	enum vlan_source source;
	bool deleted;
	uint16_t vid_first;
	uint16_t vid_last; /* at least vid_first */
	uint16_t flags;
	uint8_t state; /* STP state, 0..4 */
	uint8_t mcast_router;
	bool neigh_suppress;
	bool neigh_forward_grat;
	uint16_t msti;
	bool mcast_snooping;
	bool mcast_querier;
};

/* State of a port in one instance of the multiple spanning trees; instance 0 is the port's own. */
struct mst_info {
	uint32_t ifindex;
	uint16_t msti;
	uint8_t state; /* STP state, 0..4 */
};

/* neigh_info.present */
enum {
	NEIGH_HAS_MASTER = 1U << 0,
	NEIGH_HAS_VID = 1U << 1,
	NEIGH_HAS_FLAGS_EXT = 1U << 2, /* kernel 5.16 */
	NEIGH_HAS_AGE = 1U << 3,
	NEIGH_HAS_PROTOCOL = 1U << 4,
	NEIGH_HAS_NOTIFY = 1U << 5,
};

/* neigh_info.state, .flags and .flags_ext: the kernel's numbers. */
enum {
	NEIGH_STATE_REACHABLE = 0x02, /* learned, ages */
	NEIGH_STATE_STALE = 0x04,     /* learned, older than the ageing time */
	NEIGH_STATE_NOARP = 0x40,     /* static */
	NEIGH_STATE_PERMANENT = 0x80, /* local: for the host */

	NEIGH_FLAG_USE = 0x01,
	NEIGH_FLAG_SELF = 0x02,
	NEIGH_FLAG_MASTER = 0x04,
	NEIGH_FLAG_EXT_LEARNED = 0x10,
	NEIGH_FLAG_OFFLOADED = 0x20,
	NEIGH_FLAG_STICKY = 0x40,

	NEIGH_FLAG_EXT_LOCKED = 0x02, /* kernel 6.2; in flags_ext: MAB put it here */
};

/*
 * A forwarding entry. is_self: of the device's own table (addresses it receives,
 * or a tunnel's), not of a bridge.
 */
struct neigh_info {
	uint32_t present;
	uint32_t ifindex; /* port, or the bridge itself */
	uint32_t master;  /* bridge */
	bool deleted;
	bool is_self;
	struct mac mac;
	uint16_t vid;   /* VID_NONE: the message had none */
	uint16_t state; /* NEIGH_STATE_ */
	uint8_t flags;  /* NEIGH_FLAG_ */
	uint8_t protocol;
	uint8_t notify; /* activity notification: bit 0 wanted, bit 1 inactive */
	uint32_t flags_ext;
	uint64_t updated_age_ns; /* since the entry was last refreshed by a frame */
	uint64_t used_age_ns;    /* since a frame was last sent to it */
};

/* An IPv6 address of a device. */
struct addr_info {
	uint32_t ifindex;
	bool deleted;
	bool is_usable; /* as the source of a packet: it is known to be nobody else's */
	uint8_t address[16];
};

/*
 * A member of a multicast group: a port, or with the bridge's own index the host.
 * A group that is told without a source is the group of any source.
 */
struct mdb_info {
	uint32_t bridge;  /* ifindex; a device of another sort may have such a table too */
	uint32_t ifindex; /* port, or the bridge itself */
	bool deleted;
	bool is_permanent;
	bool is_include;    /* wants only some sources, which have entries of their own */
	bool is_blocked;    /* the source is one that the port does not want */
	uint16_t proto;     /* 0x0800, 0x86dd, or 0: the group is an Ethernet address */
	uint16_t vid;       /* VID_NONE: none */
	uint8_t group[16];  /* network order: the first 4, 16 or 6 bytes */
	uint8_t source[16]; /* zero: any */
};

/* router_info.present */
enum {
	ROUTER_HAS_IP4 = 1U << 0, /* is a router port of that family: told by dumps alone */
	ROUTER_HAS_IP6 = 1U << 1,
	ROUTER_HAS_TYPE = 1U << 2,
	ROUTER_HAS_VID = 1U << 3,
};

/*
 * A port behind which a multicast router is. Notifications do not tell of which
 * family, and come only with the first family and when the last one has gone.
 */
struct router_info {
	uint32_t present;
	uint32_t bridge;  /* ifindex */
	uint32_t ifindex; /* port */
	bool deleted;
	uint8_t type;                /* as brport_info.mcast_router */
	uint16_t vid;                /* per-VLAN snooping: of this VLAN */
	uint64_t left4_ns, left6_ns; /* until a learned one is forgotten; 0: it stays */
};

#endif
