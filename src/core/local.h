/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * local: the host's own addresses of one bridge: those of its ports and of the
 * bridge device. The kernel enters each in VLAN 0 and in every VLAN that the
 * device is in, as an entry of its own; here it is one entry, and whether it
 * counts in a VLAN follows from who is in it:
 *
 *	(vid, MAC) is local  <=>  a device with this address is there, and
 *	                          vid is 0, or one of those devices is in VLAN vid,
 *	                          and the kernel has not said that it is gone.
 *
 * With fdb_local_vlan_0 only those of VLAN 0 exist, and count for every VLAN in
 * which nothing else is known of the address.
 *
 * The kernel's table is right where it differs. A user may have removed such an
 * entry: that is an exception, kept here. One that does not follow from the
 * devices, which a user added, is none of ours: it stands in core/fdb, whose
 * entries come before what is computed here. One that a user removes and adds
 * again is a user's too, which the kernel keeps when the device goes.
 *
 * Messages about entries and about the links and VLANs that explain them come in
 * any order. So what contradicts is only remembered, and looked at again by
 * local_settle(): by then it is either explained and forgotten, or the truth.
 *
 * Threads: struct local belongs to the control thread. Workers read a struct
 * local_set, which never changes, through the view that refers to it; its
 * reference count is the control thread's.
 */
#ifndef XB_CORE_LOCAL_H
#define XB_CORE_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/limits.h"
#include "util/mac.h"

struct local;
struct local_set;
struct model;
struct view;
struct view_bridge;

/* What the kernel told that differs, of one bridge: exceptions, and what waits to be settled. */
#define LOCAL_TOLD_MAX 16384

/* Keys (@key) are those of core/fdb: vid << 48 | MAC. */

/* ---- [worker] ---- */

/* True if the entry follows from the devices of @b, a bridge of @v, and no exception says no. */
bool local_set_has(const struct view *v, const struct view_bridge *b, uint64_t key);

/* ---- [control] ---- */

/* Of the bridge @bridge of the models that are given below; NULL: no memory. */
struct local *local_new(uint16_t bridge);
void local_free(struct local *l);

/*
 * The device in slot @slot has address @mac; zero: it has none, or has gone. 0
 * or -ENOMEM, and then as before.
 */
int local_set_owner(struct local *l, uint16_t slot, const struct mac *mac);

/*
 * Puts the addresses and exceptions into the model, so that the next view has
 * them. 1 if they are others than before, 0, or -ENOMEM. The bridge must be in
 * the model.
 */
int local_publish(struct local *l, struct model *m);

void local_set_put(const struct local_set *s);
const struct local_set *local_set_get(const struct local_set *s);

/* As local_set_has(), by the tables of the control thread. */
bool local_has(const struct local *l, const struct model *m, uint64_t key);

/* True if a device of the bridge has the address. */
bool local_is_owned(const struct local *l, uint64_t mac);
/* True if the device in slot @slot has it. */
bool local_is_owner(const struct local *l, uint64_t mac, uint16_t slot);

/* ---- [control] what the kernel tells ---- */

enum local_word {
	LOCAL_OWN,   /* follows from the devices: there is nothing to store */
	LOCAL_WAITS, /* may be explained in a moment: nothing to store before it is settled */
	LOCAL_OTHER, /* no address of a device: belongs into core/fdb at once */
};

/* The kernel has a local entry @key on @slot. */
enum local_word local_told(struct local *l, const struct model *m, uint64_t key, uint16_t slot,
			   uint64_t now_ns);

/* The kernel has no local entry @key: it was removed, or is of another kind now. */
void local_untold(struct local *l, uint64_t key, uint64_t now_ns);

struct local_ops {
	/* A local entry that belongs into core/fdb, */
	void (*store)(void *arg, uint64_t key, uint16_t slot);
	/* and one that does not belong there (any more). */
	void (*drop)(void *arg, uint64_t key);
	/*
	 * What the kernel has at this moment: 1 and *@slot for a local entry, 0 for
	 * none, or a negative errno if it cannot be asked. NULL: what was told is
	 * believed.
	 */
	int (*ask)(void *arg, uint64_t key, uint16_t *slot);
	void *arg;
};

enum local_rest {
	LOCAL_SETTLED = 0,
	LOCAL_MORE = 1 << 0,    /* something waits still: to be called again */
	LOCAL_CHANGED = 1 << 1, /* exceptions are others: to be published */
	LOCAL_MISSED = 1 << 2,  /* more was told than there is room for: the table is to be read */
};

/*
 * Forgets what is explained, and decides what waits since @grace_ns or longer.
 * Asks the kernel at most LOCAL_ASK_MAX times. Bits of enum local_rest.
 */
unsigned int local_settle(struct local *l, const struct model *m, uint64_t now_ns,
			  uint64_t grace_ns, const struct local_ops *ops);
#define LOCAL_ASK_MAX 64 /* each may wait for a lock of the kernel's */

/* True if something waits to be settled. */
bool local_waits(const struct local *l);

/* ---- [control] the whole table ---- */

/* Which computed entries the kernel's table has, a bit for each; the owners must not change. */
struct local_tally;

/*
 * Of all addresses, @slot 0, or of that of slot @slot, unless one of several
 * devices that have it comes before: then of none. NULL: no memory.
 */
struct local_tally *local_tally_new(const struct local *l, uint16_t slot);
void local_tally_free(struct local_tally *t);

/* The table has the entry, of whatever kind. */
void local_tick(struct local_tally *t, uint64_t key);

/*
 * Hands every entry that is computed but was not ticked to @fn, with a slot that
 * has the address.
 */
void local_each_missing(const struct local *l, const struct model *m, const struct local_tally *t,
			void (*fn)(void *arg, uint64_t key, uint16_t slot), void *arg);

/* ---- [control] to show ---- */

struct local_info {
	uint32_t n_addresses;
	uint32_t n_exceptions;
	uint32_t n_waiting;
	size_t mem_size; /* bytes, without the sets */
};

void local_info(const struct local *l, struct local_info *out);

/* The @i-th pair of address and device, in the order of addresses; false: there are no more. */
bool local_owner(const struct local *l, uint32_t i, struct mac *mac, uint16_t *slot);

/* The next exception from *@at on, which begins at 0; false: there are no more. */
bool local_next_exception(const struct local *l, uint32_t *at, uint64_t *key);

/* True if the kernel has no such entry although it follows from the devices. */
bool local_is_exception(const struct local *l, uint64_t key);

#endif
