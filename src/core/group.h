/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group: who gets the frames of a multicast group, as workers see it: for each
 * entry of a bridge an array of destinations, the members united with the
 * router ports of its family, and a hash table to find it by.
 *
 * Arrays and tables never change. A view shares with the one before the arrays
 * that would be equal, and the whole table when nothing has changed that an
 * entry depends on. Building and reference counts: control thread only.
 */
#ifndef XB_CORE_GROUP_H
#define XB_CORE_GROUP_H

#include <stdint.h>

#include "core/mdb.h"
#include "core/view.h"

struct model;
struct model_bridge;

struct group {
	struct mdb_key key;
	uint32_t refs; /* control thread only */
	uint32_t n;
	struct flood_dst dst[]; /* each port once */
};

struct group_slot {
	uint64_t hash;
	const struct group *group; /* NULL: free */
};

struct group_table {
	uint64_t seed;
	uint32_t mask;                 /* number of slots - 1; at most half of them are used */
	uint32_t n_groups;             /* at least 1 */
	uint32_t refs;                 /* control thread only */
	bool has_source[MDB_FAMILY_N]; /* there are entries for one source */
	struct group_slot slot[];
};

/*
 * The table of @b, with one reference, or NULL if it does not snoop or has no
 * groups; shares with that of @ob, the bridge of the view before (or NULL), which
 * was built from the same model. 0 or -ENOMEM.
 */
int group_table_build(const struct model *m, const struct model_bridge *b,
		      const struct view_bridge *ob, const struct group_table **out);

/* Gives a reference back; the last one frees the table. NULL is allowed. */
void group_table_put(const struct group_table *t);

/* [any] The entry, or NULL. */
const struct group *group_find(const struct group_table *t, const struct mdb_key *k);

#endif
