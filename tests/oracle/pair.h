/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair: one bridge twice, in the core's tables and in the reference, changed
 * together and compared after each change.
 *
 * The configuration is kept in the words of core/model. The core's view is
 * always built from the one before; pair_check_view() compares it with one
 * built from nothing. A difference is written to `report`, and nothing is
 * compared any more.
 */
#ifndef XB_ORACLE_PAIR_H
#define XB_ORACLE_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/fdb.h"
#include "core/local.h"
#include "core/model.h"
#include "core/view.h"
#include "reference.h"

#define PAIR_PORTS    8 /* slots 1 to 8 */
#define PAIR_HOST     9
#define PAIR_SLOTS    10
#define PAIR_TICK_NS  (1ULL << 20) /* what the core keeps times in */
#define PAIR_MAX_LEN  2048
#define PAIR_HEADROOM 64

struct pair {
	uint16_t index; /* of the bridge; the one after it is another, which takes ports away */
	struct model_bridge_attr br;
	struct model_port_attr port[PAIR_SLOTS];
	uint64_t mac[PAIR_SLOTS]; /* of the device; 0: none */
	bool has_port[PAIR_SLOTS];
	bool has_entries[PAIR_SLOTS]; /* the port has gone, its FDB entries have not */
	struct fdb_config fdb_cfg;
	uint64_t now_ns;

	struct model *model;
	struct view *view;
	struct fdb *fdb;
	struct local *local; /* addresses of the devices; follows the slots by itself */
	bool is_stale;       /* the view is older than the model */
	struct ref *ref;

	FILE *say; /* NULL: quiet */
	FILE *report;
	bool has_failed;
	uint64_t n_frames;
};

/* An empty bridge with a host; false without memory. @report is the caller's. */
bool pair_open(struct pair *p, FILE *report);
void pair_close(struct pair *p);

/* Writes what happens, if anybody wants to read it. */
void pair_say(struct pair *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pair_fail(struct pair *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Give p->br, p->port[slot] and its VLAN, as they are now, to both sides. */
void pair_set_bridge(struct pair *p);
void pair_set_port(struct pair *p, uint16_t slot);
void pair_set_vlan(struct pair *p, uint16_t slot, uint16_t vid);
/* The port leaves: to another bridge if @moves. Its entries stay until they are flushed. */
void pair_del_port(struct pair *p, uint16_t slot, bool moves);
/* p->mac[slot], likewise. */
void pair_set_mac(struct pair *p, uint16_t slot);
/* The kernel tells that an entry of a device's address was removed, or was added again. */
void pair_tell_own(struct pair *p, uint64_t mac, uint16_t vid, bool gone);
void pair_flush(struct pair *p, const struct fdb_filter *filter);
/* The bridge is deleted and made anew, under another number, without ports. */
void pair_remake(struct pair *p, uint16_t index);

void pair_add_entry(struct pair *p, const struct fdb_entry *e);
void pair_add_unless_moved(struct pair *p, const struct fdb_entry *e);
void pair_del_entry(struct pair *p, uint64_t mac, uint16_t vid, uint16_t port);
void pair_set_flags(struct pair *p, uint64_t mac, uint16_t vid, uint16_t mask, uint16_t flags);
void pair_age(struct pair *p, uint64_t hold_ns, uint32_t n_buckets);
void pair_set_max_learned(struct pair *p, uint32_t n);
void pair_set_granularity(struct pair *p, uint64_t ns);

/* As model_mdb_set() of the bridge. */
void pair_set_member(struct pair *p, const struct mdb_key *k, uint16_t slot, uint8_t flags);
void pair_clear_groups(struct pair *p);

/* Puts the frame in at both and compares all that leaves. */
void pair_frame(struct pair *p, uint16_t in, const uint8_t *bytes, uint32_t len);

/* Compares the tables, entry by entry. */
void pair_check_fdb(struct pair *p);
/* Compares the groups of the model, membership by membership. */
void pair_check_groups(struct pair *p);
/* Compares the view with one that shares nothing. */
void pair_check_view(struct pair *p);

#endif
