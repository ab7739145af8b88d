/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reference: one bridge as the kernel has it, slow and plain, for tests only.
 *
 * Written from what the kernel bridge does (net/bridge: br_input.c, br_vlan.c,
 * br_fdb.c, br_forward.c), not from src/core: a frame loses its outermost tag
 * when it comes in, carries it beside the bytes while the bridge has it, and
 * gets it back when it is sent. Everything is an array that is searched from
 * the beginning. Shared with the core are names alone: reasons (core/drop.h),
 * flags of entries and results of learning (core/fdb.h).
 *
 * Fields are set by the caller as they are; nothing is derived or kept. The
 * host is a port that frames only go out of. No thread, no clock.
 */
#ifndef XB_ORACLE_REFERENCE_H
#define XB_ORACLE_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/drop.h"
#include "core/fdb.h"
#include "refmcast.h"
#include "util/mac.h"

#define REF_SLOTS   64
#define REF_VLANS   4094
#define REF_ENTRIES 1024
#define REF_GONE    64
#define REF_MAX_LEN 16384

/* States of a port, and of a VLAN on a port. */
enum {
	REF_DISABLED,
	REF_LISTENING,
	REF_LEARNING,
	REF_FORWARDING,
	REF_BLOCKING,
};

struct ref_vlan {
	uint16_t vid;
	bool is_untagged;
	uint8_t state;
};

struct ref_port {
	bool exists;
	bool learning;
	bool unicast_flood;
	bool mcast_flood;
	bool bcast_flood;
	bool isolated;
	bool hairpin;
	bool proxyarp;
	bool router4, router6; /* of the host: it is one itself */
	bool router_always;    /* host only: mcast_router 2 */
	bool is_down;
	uint16_t backup; /* slot, 0: none */
	uint8_t state;
	uint16_t pvid; /* 0: none */
	uint32_t mtu;
	uint64_t mac; /* of the device, which is the host's; 0: none */
	uint32_t n_vlans;
	struct ref_vlan vlan[REF_VLANS];
};

struct ref_entry {
	struct fdb_entry e;
	bool is_learned; /* counts towards max_learned */
};

struct ref {
	bool vlan_filtering;
	bool promisc;
	bool mst;
	bool ageing; /* ageing time is not 0 */
	bool local_vlan_0;
	uint16_t vlan_protocol;
	uint16_t host; /* slot, 0: there is none */
	struct ref_port port[REF_SLOTS];
	struct ref_mdb mdb;

	/* The table, and what ours bounds it with beyond the kernel. */
	uint32_t max_entries;
	uint32_t max_learned;    /* 0: any number */
	uint64_t granularity_ns; /* an entry's time is written when it is this old */
	uint32_t n_gone;
	uint64_t gone[REF_GONE]; /* VID << 48 | MAC: not there although a device has the address */
	uint32_t n_entries;
	struct ref_entry entry[REF_ENTRIES];
};

/* What one slot gets: a frame, or a reason, or (len 0, no reason) it is no destination. */
struct ref_copy {
	enum drop_reason why;
	uint32_t len;
	uint8_t bytes[REF_MAX_LEN + 4];
};

struct ref_result {
	enum drop_reason drop; /* of the whole frame */
	enum fdb_learned learned;
	struct ref_copy copy[REF_SLOTS];
};

/* What happens to the @len (at most REF_MAX_LEN) bytes at @p that come in on slot @in. */
void ref_frame(struct ref *r, uint16_t in, const uint8_t *p, uint32_t len, uint64_t now_ns,
	       struct ref_result *out);

/* The VLAN of the port, or NULL. */
const struct ref_vlan *ref_vlan_find(const struct ref_port *p, uint16_t vid);

struct ref_entry *ref_fdb_find(struct ref *r, uint64_t mac, uint16_t vid);
/* Adds it, or puts it in the other's place; false if the table is full. */
bool ref_fdb_add(struct ref *r, const struct fdb_entry *e);
void ref_fdb_del(struct ref *r, struct ref_entry *e);
enum fdb_learned ref_fdb_learn(struct ref *r, uint64_t mac, uint16_t vid, uint16_t port,
			       uint64_t now_ns);
/* Removes what fdb_flush() and fdb_age() are to remove; the number of entries. */
uint32_t ref_fdb_flush(struct ref *r, const struct fdb_filter *f);
uint32_t ref_fdb_age(struct ref *r, uint64_t now_ns, uint64_t hold_ns);
uint32_t ref_fdb_n_learned(const struct ref *r);

#endif
