/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drop: the one list of why a frame ended (drop reasons), why it was left to
 * the kernel bridge (punt reasons), and why a port or a bridge is left to the
 * kernel (path reasons).
 *
 * Each dropped frame or copy adds one to exactly one drop reason, each frame
 * that the XDP program passes adds one to exactly one punt reason. The BPF
 * programs include this file too: nothing here but macros and enums.
 *
 * X(symbol, "name shown to the user", "what it means")
 */
#ifndef XB_CORE_DROP_H
#define XB_CORE_DROP_H

/* clang-format off */
#define DROP_REASONS(X) \
	X(NONE,          "none",           "not dropped") \
	X(RUNT,          "runt",           "shorter than an Ethernet header and its tag") \
	X(SOURCE,        "source-invalid", "source address is a group address or zero") \
	X(RESERVED,      "reserved",       "link-local group address, never forwarded") \
	X(STATE,         "port-state",     "port is disabled, blocking or listening") \
	X(LEARNING,      "port-learning",  "port or VLAN is in learning state") \
	X(VLAN_INGRESS,  "vlan-ingress",   "VLAN is not on the ingress port, or no PVID") \
	X(VLAN_STATE,    "vlan-state",     "VLAN is blocked on the ingress port") \
	X(SAME_PORT,     "same-port",      "destination is behind the ingress port") \
	X(ISOLATED,      "isolated",       "both ports are isolated") \
	X(EGRESS_STATE,  "egress-state",   "egress port is not forwarding") \
	X(EGRESS_VLAN,   "egress-vlan",    "VLAN is not on, or is blocked at, the egress port") \
	X(TOO_LONG,      "too-long",       "longer than the egress port's MTU") \
	X(NO_MEMBER,     "no-member",      "flooded, and no other port takes it") \
	X(MCAST_BAD,     "mcast-malformed", "IPv4 or IPv6 multicast whose header is malformed") \
	X(MCAST_CONTROL, "mcast-control",  "IGMP, MLD, MRD or PIM that the kernel should have had") \
	X(HOST_VLAN,     "host-vlan",      "for the host, in a VLAN that the bridge is not in") \
	X(NO_PORT,       "no-port",        "egress port has gone or has no socket") \
	X(TX_FULL,       "tx-full",        "too many frames in flight to the egress port") \
	X(NO_FRAME,      "no-frame",       "no free frame for a second form of it") \
	X(NO_ROOM,       "no-room",        "no room in front of the frame for a tag") \
	X(STALE,         "stale",          "older than the heartbeat after a stall") \
	X(DETACHED,      "detached",       "received on a port that had just been given back") \
	X(STANDALONE,    "stand-alone",    "bridge of the configuration file without a worker")

#define PUNT_REASONS(X) \
	X(NONE,          "none",           "redirected, not passed") \
	X(GATE,          "gate",           "gate shut: no daemon, or it is stopping") \
	X(BEAT,          "heartbeat",      "the worker of this queue has stalled") \
	X(CONTROL_BEAT,  "control-beat",   "the control thread has stalled") \
	X(BRIDGE_GATE,   "bridge-gate",    "this bridge is being read again, or a port of it opened") \
	X(PORT,          "port",           "port is on the kernel path") \
	X(NO_SOCKET,     "no-socket",      "receive queue has no socket") \
	X(RUNT,          "runt",           "shorter than an Ethernet header") \
	X(SOURCE,        "source-invalid", "source address is a group address or zero") \
	X(VLAN_UPPER,    "vlan-upper",     "VLAN has a device of its own on the port") \
	X(LINK_LOCAL,    "link-local",     "01:80:c2:00:00:0x") \
	X(CONTROL,       "control",        "MRP, CFM or pause frame") \
	X(MCAST_CONTROL, "mcast-control",  "IGMP, MLD, MRD or PIM with snooping on") \
	X(MCAST_BAD,     "mcast-malformed", "IPv4 or IPv6 multicast whose header is malformed") \
	X(MCAST,         "mcast",          "multicast of a bridge whose groups are in doubt") \
	X(NEIGH,         "neigh",          "ARP or ND that the bridge answers or suppresses") \
	X(LOCAL,         "local",          "destination is an address of the host") \
	X(LOCKED,        "locked",         "port is locked") \
	X(TUNNEL,        "tunnel",         "port maps VLANs to tunnels") \
	X(VLAN_ACCEL,    "vlan-accel",     "VLAN tag cannot be seen on this kernel") \
	X(NO_ROOM,       "no-room",        "no room in front of the frame to put its tag back") \
	X(OVERSIZE,      "oversize",       "longer than one buffer")

#define PATH_REASONS(X) \
	X(NONE,            "none",             "on the user path") \
	X(WAITING,         "waiting",          "not there yet") \
	X(CONFIGURED,      "configured",       "engine = kernel in the configuration") \
	X(EXCLUDED,        "excluded",         "left out by the configuration") \
	X(VIRTUAL,         "virtual",          "veth, tun or tap, and accelerate-virtual is off") \
	X(SWITCHDEV,       "switchdev",        "hardware switch port") \
	X(UNSUPPORTED,     "unsupported-device", "bond, VLAN, macvlan, VRF or similar device") \
	X(TUNNEL_DEVICE,   "tunnel-device",    "VXLAN or another tunnel") \
	X(HAS_ADDRESS,     "has-address",      "port has an IP address of its own") \
	X(MTU,             "mtu",              "MTU does not fit into one buffer") \
	X(VLAN_ACCEL,      "vlan-accel",       "VLAN tags of this device cannot be seen on this kernel") \
	X(NETFILTER,       "netfilter",        "netfilter hooks see bridged frames") \
	X(TC_FILTER,       "tc-filter",        "tc filter or qdisc on a port") \
	X(FDB_LIMIT,       "fdb-limit",        "fdb_max_learned is set") \
	X(MST,             "mst",              "multiple spanning trees: mst = kernel, or stations that the kernel would not take") \
	X(LOCKED,          "locked",           "port is locked") \
	X(VLAN_TUNNEL,     "vlan-tunnel",      "port maps VLANs to tunnels") \
	X(BACKUP_NHID,     "backup-nhid",      "port has a backup nexthop") \
	X(LEARN_VLANS,     "learn-vlans",      "vlan_filtering is off and the ports have too many VLANs") \
	X(XDP_BUSY,        "xdp-busy",         "another program is attached") \
	X(XDP_REFUSED,     "xdp-refused",      "driver or kernel refused the XDP program") \
	X(SOCKET,          "socket",           "AF_XDP socket could not be made") \
	X(QUEUES,          "queues",           "too many receive queues") \
	X(LIMIT,           "limit",            "too many ports or bridges") \
	X(RESYNC,          "resync",           "configuration is being read again, or a port is being opened") \
	X(CONFLICT,        "conflict",         "port is in two bridges of the configuration") \
	X(FAILED,          "failed",           "set-up failed, see the log")
/* clang-format on */

#define XB_DROP_ENUM(sym, name, text) DROP_##sym,
enum drop_reason { DROP_REASONS(XB_DROP_ENUM) DROP_N };
#undef XB_DROP_ENUM

#define XB_PUNT_ENUM(sym, name, text) PUNT_##sym,
enum punt_reason { PUNT_REASONS(XB_PUNT_ENUM) PUNT_N };
#undef XB_PUNT_ENUM

#define XB_PATH_ENUM(sym, name, text) PATH_##sym,
enum path_reason { PATH_REASONS(XB_PATH_ENUM) PATH_N };
#undef XB_PATH_ENUM

#ifndef __bpf__
/* Name and meaning; "unknown" for values out of range. */
const char *drop_name(unsigned int reason);
const char *drop_text(unsigned int reason);
const char *punt_name(unsigned int reason);
const char *punt_text(unsigned int reason);
const char *path_name(unsigned int reason);
const char *path_text(unsigned int reason);
#endif

#endif
