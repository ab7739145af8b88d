/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xb_maps: what the XDP programs and the daemon share: map keys and values.
 * Included by BPF programs and by dp/. Only fixed-size types, no pointers.
 *
 * maps (all but the per-port constants are shared by every program instance):
 *
 *	xb_ports	ARRAY[XB_MAX_PORTS] of struct xb_port, by port slot
 *	xb_bridges	ARRAY[XB_MAX_BRIDGES] of struct xb_bridge, by bridge index
 *	xb_queues	ARRAY[XB_MAX_PORTS * XB_MAX_QUEUES] of __u32: worker of that queue
 *	xb_socks	XSKMAP[XB_MAX_PORTS * XB_MAX_QUEUES], slot * XB_MAX_QUEUES + queue
 *	xb_sentinel	XSKMAP[2]: both entries present or the gate is shut
 *	xb_gate		ARRAY[1] of struct xb_gate, mmapable
 *	xb_locals	HASH of struct xb_local_key: addresses of the host
 *	xb_uppers	HASH slot<<12|vid: VLANs that have a device of their own on the port
 *	xb_punts	PERCPU_ARRAY[XB_MAX_PORTS] of struct xb_punts, by port slot
 */
#ifndef XB_MAPS_H
#define XB_MAPS_H

#include <linux/types.h>

#include "core/drop.h"
#include "core/limits.h"

enum xb_port_flag {
	XB_PORT_USER = 1 << 0,   /* frames are redirected; else everything passes (PUNT_PORT) */
	XB_PORT_UPPERS = 1 << 1, /* look into xb_uppers; set and cleared by prog_uppers_set() */
	XB_PORT_LOCKED = 1 << 2,
	XB_PORT_TUNNEL = 1 << 3,
};

struct xb_port {
	__u32 flags;
	__u16 bridge;
	__u16 max_len; /* longest frame that fits the buffers, its tag included */
};

enum xb_bridge_flag {
	XB_BRIDGE_OPEN = 1 << 0,      /* its own gate */
	XB_BRIDGE_FILTERING = 1 << 1, /* tpid is looked past; else one tag of either protocol */
	XB_BRIDGE_SNOOPING = 1 << 2, /* mcast_snooping: what the kernel learns groups from passes */
	XB_BRIDGE_NEIGH = 1 << 3,    /* ARP, RARP and ND pass: the bridge proxies or suppresses */
	XB_BRIDGE_MCAST_PASS = 1 << 4, /* all multicast but broadcast passes */
};

struct xb_bridge {
	__u32 flags;
	__u16 tpid; /* network order */
	__u16 pad;
};

#define XB_MAX_LOCALS 16384
#define XB_MAX_UPPERS 65536

struct xb_local_key {
	__u16 bridge;
	__u8 mac[6];
};

/* Read-only data of an XDP program instance. */
struct xb_port_const {
	__u32 slot;
	__u32 standalone; /* fail-closed: what would pass is dropped, but link-local */
};

/* Read-only data of the host-copy program. */
struct xb_host_const {
	__u32 bridge_ifindex;
};

/* In xb_gate.worker: the thread has died, or has handed over to the kernel bridge. */
#define XB_WORKER_GONE 0x40000000u

struct xb_gate {
	__u64 heartbeat_ns;    /* a worker's beat older than this: PASS */
	__u64 control_beat_ns; /* the same for the control thread; 0: not checked */
	__u64 control_at_ns;   /* CLOCK_MONOTONIC of the control thread's last beat */
	__u64 open;            /* 0: shut by the daemon itself */
	__u64 worker_at_ns[XB_MAX_WORKERS];
	__u32 worker[XB_MAX_WORKERS]; /* its thread; marked by the kernel, see dp/will.h */
};

struct xb_punts {
	__u64 redirected; /* frames handed to a socket */
	__u64 dropped;    /* stand-alone ports: frames that would have passed */
	__u64 punt[PUNT_N];
};

#endif
