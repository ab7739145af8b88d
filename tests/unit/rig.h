/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rig: a bridge in memory, described in a line of text, and frames put through
 * it. What leaves is compared byte for byte with frames built from text too.
 *
 * Bridge: parts between ';', words between spaces. The first word says of what.
 *
 *	br filter ad promisc mst        what the bridge has on; also noage (ageing time 0)
 *	                                and local0 (fdb_local_vlan_0); of multicast: snoop
 *	                                querier4 querier6 igmp3 mld2 allmulti
 *	1 10pu 20 30=4 -flood hairpin   port in slot 1: VLANs (p pvid, u untagged, = state), flags
 *	h 10                            the host, slot RIG_HOST
 *	gone b0 20                      the kernel lacks this entry of a device's address
 *	fdb 09 10 1 static              station 09 in VLAN 10 is behind slot 1
 *	mdb 239.1.1.1/10.0.0.1 10 1     slot 1 is in the group, from that source, in VLAN 10
 *
 * Flags of a port: -learn -flood -mcast -bcast isolated hairpin proxyarp router4
 * router6 routerl2, state=N, mtu=N, mac=NN (of the device, which the host's is
 * too). An entry's: static sticky local extern user. A membership's: include
 * blocked.
 *
 * Frame: "DST<SRC TAGS", TAGS outermost first, qVID or aVID (802.1Q, 802.1ad),
 * ".N" behind it for the priority and a final d for DEI; "+N" more bytes.
 * " ip=GROUP/SOURCE" makes it an IPv4 or IPv6 packet to that group.
 * Addresses: two digits are a station, "ff" broadcast, "mc" a group address,
 * "00" zero.
 */
#ifndef XB_TESTS_RIG_H
#define XB_TESTS_RIG_H

#include "unit.h"

#include "core/fwd.h"
#include "core/local.h"
#include "core/model.h"

#define RIG_HOST     9
#define RIG_PORTS    10 /* slots below it are used */
#define RIG_MAX_LEN  4096
#define RIG_HEADROOM 64

struct rig {
	struct model *m;
	struct view *v;
	struct fdb *fdb;
	struct local *local;
	struct model_bridge_attr br;
};

/* What left: n copies on each slot, the bytes of the last. */
struct rig_out {
	struct verdict verdict;
	uint32_t n[RIG_PORTS];
	uint32_t len[RIG_PORTS];
	uint8_t bytes[RIG_PORTS][RIG_MAX_LEN];
	uint32_t n_dropped[DROP_N]; /* copies that were not admitted */
};

void rig_open(struct rig *r, const char *bridge);
void rig_close(struct rig *r);

/* The attributes that the text of one port gives; @br is what the bridge filters. */
struct model_port_attr rig_port_attr(const char *text);

/* "GROUP" or "GROUP/SOURCE", of IPv4, IPv6, or an Ethernet address alone. */
struct mdb_key rig_mdb_key(const char *text, uint16_t vid);

/* Bytes of the frame in @buf; their number. */
uint32_t rig_frame(const char *text, uint8_t *buf);

/* Puts the frame in at slot @in. */
void rig_put(struct rig *r, uint16_t in, const char *frame, uint64_t now_ns, struct rig_out *out);

/*
 * Fails, with @name, unless the copies in @out are those in @want: words
 * "SLOT:TAGS" ("h" is the host), each the frame @frame with these tags instead
 * of its own; "2:" has none.
 */
void rig_expect(const char *name, const char *frame, const char *want, const struct rig_out *out);

/* Slot of the station in the FDB, -1 without an entry. */
int rig_where(const struct rig *r, unsigned int station, uint16_t vid);

#endif
