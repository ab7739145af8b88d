/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refmcast: the multicast part of the reference bridge: what a bridge that
 * snoops reads in a frame, and its database of groups.
 *
 * Written from net/bridge/br_multicast.c, net/ipv4/igmp.c and
 * net/ipv6/mcast_snoop.c, not from src/core. The database is a list of
 * (entry, port) pairs that is searched from the beginning.
 */
#ifndef XB_ORACLE_REFMCAST_H
#define XB_ORACLE_REFMCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/drop.h"

#define REF_MEMBERS 512

struct ref;

enum {
	REF_ETHERNET,
	REF_IPV4,
	REF_IPV6,
};

struct ref_entry_name {
	uint16_t vid;
	int protocol;
	uint8_t group[16], source[16]; /* as long as the protocol has it, then zero */
};

struct ref_member {
	struct ref_entry_name of;
	uint16_t port; /* the host's slot: the host has joined */
	bool include, blocked;
};

struct ref_mdb {
	bool snooping;
	bool querier4, querier6;
	bool igmp3, mld2;
	bool allmulti;
	uint32_t n_members;
	struct ref_member member[REF_MEMBERS];
};

/* Puts the port into the entry, or changes what it is there; false: the list is full. */
bool ref_mdb_set(struct ref_mdb *m, const struct ref_member *e);
/* False: the port was not in the entry. */
bool ref_mdb_del(struct ref_mdb *m, const struct ref_entry_name *of, uint16_t port);
void ref_mdb_port_gone(struct ref_mdb *m, uint16_t port);

/* What becomes of one frame for a group. */
struct ref_mcast {
	bool flooded; /* like any other; else: */
	bool has_entry;
	struct ref_entry_name entry;
	int routers; /* whose list of router ports counts: REF_IPV4 or REF_IPV6 */
	int protocol;
};

/*
 * @p: the @len bytes of the frame without the tag that the bridge holds beside
 * it. A reason: the frame is dropped, or is one that only the kernel can decide
 * about.
 */
enum drop_reason ref_mcast_look(const struct ref_mdb *m, const uint8_t *p, uint32_t len,
				uint16_t vid, struct ref_mcast *out);

/* The port is in the entry of @f and wants the frame; the host always does. */
bool ref_mcast_wants(const struct ref_mdb *m, const struct ref_mcast *f, uint16_t port,
		     bool is_host);

#endif
