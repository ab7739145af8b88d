/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show_priv: what the files show*.c share. Each command is a function that adds
 * one unit to the answer and says whether there are more.
 */
#ifndef XB_CTL_SHOW_PRIV_H
#define XB_CTL_SHOW_PRIV_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/fdb.h"
#include "ctl/ctlmsg.h"
#include "ctl/state.h"

struct evbuffer;

#define SHOW_NO_BRIDGE (-1)

struct show {
	struct ctl *c;
	struct ctlmsg_request req;
	bool (*unit)(struct show *s); /* false: that was the last one */
	struct evbuffer *out;
	int dev_bridge;    /* the bridge that req.dev names, SHOW_NO_BRIDGE */
	uint16_t dev_slot; /* the port that it names, 0 */
	bool has_begun;
	bool has_failed; /* no memory */
	uint32_t phase;  /* these are for the command: which part of the answer, */
	uint32_t i, j;   /* how far in it, */
	uint64_t n;      /* and how many objects are in the list so far */
	uint64_t now_ns;
	const struct fdb *fdb; /* that the cursor belongs to */
	struct fdb_cursor cursor;
	uint64_t n_flushed;
	uint32_t n_passes;
	bool is_partial;
	bool has_list;              /* its "[" has been written */
	struct show_member *member; /* of groups, of the bridge s->i; owned */
	uint32_t n_members;
};

bool show_status_unit(struct show *s);
bool show_mdb_unit(struct show *s);
bool show_port_unit(struct show *s);
bool show_vlan_unit(struct show *s);
bool show_fdb_unit(struct show *s);
bool show_flush_unit(struct show *s);
bool show_flood_unit(struct show *s);
bool show_stats_unit(struct show *s);
bool show_verify_unit(struct show *s);
bool show_version_unit(struct show *s);

/* Adds text as it is. */
void show_text(struct show *s, const char *text);
/* Adds the value and drops the reference; NULL: memory was short. */
void show_value(struct show *s, json_t *v);
/* The same as an element of a list: with a comma before it, but the first. */
void show_item(struct show *s, json_t *v);
/* Sets or adds a value and drops the reference to it. */
void show_set(struct show *s, json_t *object, const char *key, json_t *v);
void show_set_count(struct show *s, json_t *object, const char *key, uint64_t n);
void show_append(struct show *s, json_t *list, json_t *v);

/* A string that any JSON reader and any terminal takes: names may have any bytes. */
json_t *show_string(const char *text);

/* True if the request names no device, this port, or its bridge. */
bool show_wants_port(const struct show *s, uint16_t slot);
bool show_wants_bridge(const struct show *s, uint32_t index);

/* The next port from s->i on that the request wants; 0: there is none. Hosts' ports too if @hosts.
 */
uint16_t show_next_port(struct show *s, bool hosts);

/* Why the port's frames pass to the kernel now; PATH_NONE: they do not. */
enum path_reason show_port_reason(const struct ctl *c, const struct ctl_port *p);

/* Sets "path", "reason" and "reason_text". */
void show_path(struct show *s, json_t *o, const char *path, enum path_reason reason);

/* Who forwards the bridge's multicast, and why: an object. */
json_t *show_multicast(struct show *s, const struct ctl_bridge *b);

/* Who answers and forwards its ARP and ND, and for which port's sake: an object. */
json_t *show_neigh(struct show *s, const struct ctl_bridge *b);

const char *show_state_name(uint32_t state);

/* Counters of the port since the daemon serves it. */
void show_counters(struct ctl *c, uint16_t slot, struct dp_port_counters *out);

/* True if the request's filters for FDB entries let it through; port and bridge apart. */
bool show_wants_entry(const struct show *s, const struct fdb_entry *e);

/* Adds the next of the host's own addresses that the request wants; false: there are no more. */
bool show_locals(struct show *s);

/*
 * Goes on with the walk over the FDBs that the request wants, over about
 * @n_buckets. False when the last one is through; s->i is the bridge.
 */
bool show_walk(struct show *s, uint32_t n_buckets, fdb_cb cb, void *arg);

#endif
