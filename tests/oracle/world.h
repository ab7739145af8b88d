/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world: the daemon's tables for one recorded bridge, made as the daemon makes
 * them, from netlink messages: mirror, plan, model, view, FDB. No socket, no
 * thread, no clock.
 */
#ifndef XB_ORACLE_WORLD_H
#define XB_ORACLE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fdb.h"
#include "core/local.h"
#include "core/model.h"
#include "core/view.h"
#include "ctl/plan.h"

#define WORLD_BRIDGE    "br0"
#define WORLD_HOST_SLOT 1
#define WORLD_SLOTS     64

struct world {
	struct conf *conf;
	struct mirror *mirror;
	struct plan *plan;
	const struct plan_bridge *bridge; /* of the plan; NULL: it is not there */
	struct model *model;
	struct view *view;
	struct fdb *fdb;
	struct local *local;
	struct local_tally *tally;     /* while the FDB's dump is read */
	uint32_t ifindex[WORLD_SLOTS]; /* by slot, 0: free */
	char name[WORLD_SLOTS][NETINFO_NAME_SIZE];
	uint16_t router[WORLD_SLOTS]; /* MP_ROUTER*, as the dump told */
	bool has_queriers;            /* of the dump: */
	bool is_on, has_other[QUERIER_N];
	bool is_in_doubt; /* a router port or a querier came or went since */
	bool mcast_pass;  /* all multicast is left to the kernel while the bridge snoops */
	bool is_stale;    /* something has changed since world_update() */
	uint64_t gen;     /* of the model that the view was built from */
};

/* Every function returns 0 or a negative errno. */
int world_open(struct world *w);
void world_close(struct world *w);

/*
 * Takes in the messages of @len bytes at @p; those about FDB entries only if
 * @neighs. Queriers of the first link messages count as heard long ago: the
 * recordings waited. What comes later is in doubt for good, because nothing
 * tells how it goes on; the daemon asks.
 */
int world_apply(struct world *w, const uint8_t *p, size_t len, bool neighs);

/*
 * Makes plan, model and view anew if something has changed, and settles what the
 * messages said of the host's addresses: nothing more is told of it.
 */
int world_update(struct world *w);

/* What world_apply() gets between these is a dump of the FDB. */
int world_fdb_begin(struct world *w);
void world_fdb_end(struct world *w);

/* Slot of the port, 0 if the bridge has none of this name; and what the plan says of it. */
uint16_t world_slot(const struct world *w, const char *name);
const struct plan_port *world_port(const struct world *w, const char *name);

#endif
