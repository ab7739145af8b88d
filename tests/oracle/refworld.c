/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refworld.h"

#include <stdlib.h>

#include "refload.h"

static void take_entry(const struct fdb_entry *e, void *arg)
{
	ref_fdb_add(arg, e);
}

static void take_member(const struct mdb_key *k, uint16_t slot, uint8_t flags, void *arg)
{
	refload_member(arg, k, slot, flags);
}

static void load_locals(struct ref *r, const struct world *w)
{
	uint16_t slot;
	uint64_t key;
	struct mac mac;

	for (uint32_t i = 0; local_owner(w->local, i, &mac, &slot); i++)
		r->port[slot].mac = mac_to_u64(&mac);
	for (uint32_t at = 0; r->n_gone < REF_GONE && local_next_exception(w->local, &at, &key);)
		r->gone[r->n_gone++] = key;
}

static void load(struct ref *r, const struct world *w)
{
	struct fdb_cursor c = { 0 };

	r->max_entries = REF_ENTRIES;
	refload_bridge(r, &w->model->bridge[0]->a);
	for (uint16_t i = 1; i < WORLD_SLOTS; i++) {
		const struct model_port *p = w->model->port[i];

		refload_port(r, i, p ? &p->a : NULL);
	}
	load_locals(r, w);
	fdb_walk(w->fdb, &c, UINT32_MAX, take_entry, r);
	model_mdb_each(w->model, 0, take_member, r);
}

static void store(const struct ref *r, struct world *w)
{
	const struct fdb_filter all = { .port = FDB_ANY, .vid = FDB_ANY };

	fdb_flush(w->fdb, &all);
	for (uint32_t i = 0; i < r->n_entries; i++)
		fdb_add(w->fdb, &r->entry[i].e);
}

bool refworld_frame(struct world *w, uint16_t in, const uint8_t *p, uint32_t len, uint64_t now_ns,
		    struct ref_result *out)
{
	struct ref *r = calloc(1, sizeof(*r));

	if (!r)
		return false;
	load(r, w);
	ref_frame(r, in, p, len, now_ns, out);
	store(r, w);
	free(r);
	return true;
}
