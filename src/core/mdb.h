/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mdb: what the multicast database's entries are named by, and what a port can
 * be in one.
 *
 * IP groups are told apart by their IP address, whatever Ethernet address the
 * frames have; by the Ethernet address go frames of other protocols. The model
 * holds the entries (core/model.h), the view what frames are sent by.
 */
#ifndef XB_CORE_MDB_H
#define XB_CORE_MDB_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum mdb_family {
	MDB_L2, /* by Ethernet address: frames that are neither IPv4 nor IPv6 */
	MDB_IP4,
	MDB_IP6,
	MDB_FAMILY_N,
};

#define MDB_L2_LEN  6
#define MDB_IP4_LEN 4
#define MDB_IP6_LEN 16

/*
 * Addresses are in network order at the beginning of their fields, and what
 * they do not fill is zero, as is @pad: keys are equal when their bytes are.
 */
struct mdb_key {
	uint16_t vid; /* VID_NONE on a bridge that does not filter */
	uint8_t family;
	uint8_t pad;
	uint8_t group[MDB_IP6_LEN];
	uint8_t source[MDB_IP6_LEN]; /* all zero: from anybody */
};

enum mdb_member_flag {
	MDB_MEMBER = 1 << 0,
	MDB_INCLUDE = 1 << 1, /* filter mode of the port: only sources with an entry of their own */
	MDB_BLOCKED = 1 << 2, /* takes nothing by this entry */
};

static inline bool mdb_key_equal(const struct mdb_key *a, const struct mdb_key *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* The entry is for one source (S,G), not for any (*,G). */
static inline bool mdb_key_has_source(const struct mdb_key *k)
{
	static const uint8_t any[MDB_IP6_LEN];

	return memcmp(k->source, any, sizeof(any)) != 0;
}

/* Spread over 64 bits; nobody who does not know @seed can choose collisions. */
uint64_t mdb_key_hash(const struct mdb_key *k, uint64_t seed);

#endif
