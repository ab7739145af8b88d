/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/mcast.h"
#include "ctl/neigh.h"
#include "ctl/rtmsg.h"

/* Recorded frames of any size are decided, whatever fits into the default buffers. */
#define FRAME_SIZE 16384

int world_open(struct world *w)
{
	static const char text[] = "accelerate-virtual = yes\n";
	const struct fdb_config cfg = { .max_entries = 4096, .seed = { 1, 2 } };

	*w = (struct world){ .is_stale = true };
	w->mirror = mirror_new();
	w->model = model_new();
	w->fdb = fdb_new(&cfg);
	w->local = local_new(0);
	if (!w->mirror || !w->model || !w->fdb || !w->local)
		return -ENOMEM;
	return conf_parse("replay", text, strlen(text), &w->conf, NULL, NULL);
}

void world_close(struct world *w)
{
	view_free(w->view);
	model_free(w->model);
	local_tally_free(w->tally);
	local_free(w->local);
	plan_free(w->plan);
	mirror_free(w->mirror);
	fdb_free(w->fdb);
	conf_free(w->conf);
}

static uint16_t slot_of(const struct world *w, uint32_t ifindex)
{
	for (uint16_t i = 1; i < WORLD_SLOTS; i++) {
		if (w->ifindex[i] == ifindex)
			return i;
	}
	return 0;
}

static void store(void *arg, uint64_t key, uint16_t slot)
{
	struct world *w = arg;
	struct fdb_entry e = { .mac = mac_from_u64(key & 0xffffffffffffULL),
			       .vid = (uint16_t)(key >> 48),
			       .port = slot,
			       .flags = FDB_LOCAL | FDB_USER | FDB_KERNEL };

	fdb_add(w->fdb, &e);
}

static void drop(void *arg, uint64_t key)
{
	struct world *w = arg;

	fdb_del(w->fdb, key);
}

/* The daemon's own reading of a forwarding entry (ctl/fdbsync.c). */
static int apply_neigh(struct world *w, const struct neigh_info *n)
{
	struct fdb_entry e = { .mac = n->mac, .vid = n->vid, .flags = neigh_fdb_flags(n) };
	uint64_t key = fdb_key(n->vid, &n->mac);

	e.port = slot_of(w, n->ifindex);
	if (n->is_self || !e.port || mac_is_multicast(&n->mac))
		return 0;
	if (w->tally)
		local_tick(w->tally, key);
	if (n->deleted)
		fdb_del(w->fdb, key);
	if (n->deleted || !(e.flags & FDB_LOCAL)) {
		local_untold(w->local, key, 0);
		return n->deleted ? 0 : fdb_add(w->fdb, &e);
	}
	if (local_told(w->local, w->model, key, e.port, 0) != LOCAL_OTHER) {
		fdb_del(w->fdb, key);
		return 0;
	}
	e.flags |= FDB_USER;
	return fdb_add(w->fdb, &e);
}

/* ---- multicast ---- */

static int apply_member(void *arg, const struct mdb_info *m)
{
	struct world *w = arg;
	struct mdb_key k;
	uint16_t slot = slot_of(w, m->ifindex);
	int err;

	if (!slot)
		return 0;
	mcast_key(m, &k);
	err = model_mdb_set(w->model, 0, &k, slot, mcast_member_flags(m));
	return err == -ENOENT && m->deleted ? 0 : err;
}

/* A notification does not tell the family, and the daemon asks then. */
static int apply_router(void *arg, const struct router_info *r)
{
	uint16_t flags = mcast_router_flags(r);
	struct world *w = arg;

	if (flags && !r->deleted)
		w->router[slot_of(w, r->ifindex)] = flags;
	else
		w->is_in_doubt = true;
	return 0;
}

/* The state of a querier that has been as it is for long. */
static enum querier_state state_of(const struct querier_reading *r)
{
	struct querier q = { 0 };

	querier_update(&q, r, 1000000000);
	querier_update(&q, r, 3000000000);
	return querier_state(&q, 3000000000, NULL);
}

static void set_queriers(struct world *w, struct plan_bridge *b)
{
	const struct mirror_link *l = mirror_find(w->mirror, b->ifindex);
	const struct mcast_addresses none = { 0 }; /* the bench has IPv6 off */
	bool present[QUERIER_N];

	for (uint32_t q = 0; q < QUERIER_N; q++) {
		struct querier_reading r;

		mcast_reading(&l->info.bridge, q, &none, 0, &r);
		r.response_ns = 0;
		present[q] = state_of(&r) == QUERIER_PRESENT;
		if (state_of(&r) == QUERIER_DOUBT)
			w->is_in_doubt = true;
		if (w->has_queriers && (r.is_on != w->is_on || r.has_other != w->has_other[q]))
			w->is_in_doubt = true;
		if (!w->has_queriers) {
			w->is_on = r.is_on;
			w->has_other[q] = r.has_other;
		}
	}
	w->has_queriers = true;
	b->attr.querier4 = present[QUERIER_IP4];
	b->attr.querier6 = present[QUERIER_IP6];
	b->host.flags |= mcast_host_router_flags(&l->info.bridge);
	w->mcast_pass = w->is_in_doubt || b->vlan_snooping || b->to_unicast;
}

/* ---- the FDB read as a whole ---- */

int world_fdb_begin(struct world *w)
{
	w->tally = local_tally_new(w->local, 0);
	return w->tally ? 0 : -ENOMEM;
}

static void missing(void *arg, uint64_t key, uint16_t slot)
{
	struct world *w = arg;

	(void)slot;
	local_untold(w->local, key, 0);
}

void world_fdb_end(struct world *w)
{
	local_each_missing(w->local, w->model, w->tally, missing, w);
	local_tally_free(w->tally);
	w->tally = NULL;
}

static bool plan_has(const struct plan_bridge *b, uint32_t ifindex)
{
	for (uint32_t i = 0; b && i < b->n_ports; i++) {
		if (b->port[i].ifindex == ifindex)
			return true;
	}
	return false;
}

static void drop_ports(struct world *w)
{
	struct fdb_filter all = { .vid = FDB_ANY };

	for (uint16_t i = WORLD_HOST_SLOT + 1; i < WORLD_SLOTS; i++) {
		if (!w->ifindex[i] || plan_has(w->bridge, w->ifindex[i]))
			continue;
		model_port_del(w->model, i);
		all.port = i;
		fdb_flush(w->fdb, &all);
		local_set_owner(w->local, i, &(struct mac){ { 0 } });
		w->ifindex[i] = 0;
		w->router[i] = 0;
	}
}

static void take_slot(struct world *w, uint32_t ifindex, const char *name, uint16_t slot)
{
	w->ifindex[slot] = ifindex;
	memcpy(w->name[slot], name, NETINFO_NAME_SIZE);
}

static int take_slots(struct world *w, const struct plan_bridge *b)
{
	take_slot(w, b->ifindex, b->name, WORLD_HOST_SLOT);
	for (uint32_t i = 0; i < b->n_ports; i++) {
		const struct plan_port *p = &b->port[i];
		uint16_t slot = slot_of(w, p->ifindex);

		if (!slot)
			slot = slot_of(w, 0);
		if (!slot)
			return -ENOSPC;
		take_slot(w, p->ifindex, p->name, slot);
	}
	return 0;
}

static int fill_model(struct world *w)
{
	struct plan_bridge *b = (struct plan_bridge *)(uintptr_t)w->bridge;
	int err;

	if (!b)
		return 0;
	b->attr.host_port = WORLD_HOST_SLOT;
	set_queriers(w, b);
	err = model_bridge_set(w->model, 0, &b->attr, w->fdb, NULL, NULL);
	if (!err)
		err = take_slots(w, b);
	if (!err)
		err = model_port_set(w->model, WORLD_HOST_SLOT, &b->host, NULL);
	if (!err)
		err = local_set_owner(w->local, WORLD_HOST_SLOT, &b->mac);
	for (uint32_t i = 0; !err && i < b->n_ports; i++) {
		struct plan_port *p = &b->port[i];

		if (p->backup)
			p->attr.backup = slot_of(w, p->backup);
		p->attr.flags |= w->router[slot_of(w, p->ifindex)];
		err = model_port_set(w->model, slot_of(w, p->ifindex), &p->attr, NULL);
		if (!err)
			err = local_set_owner(w->local, slot_of(w, p->ifindex), &p->mac);
	}
	return err;
}

/* Plan and model, if the mirror has changed. */
static int make_model(struct world *w)
{
	struct plan_input in = { .mirror = w->mirror, .conf = w->conf, .frame_size = FRAME_SIZE };
	struct plan *plan;
	int err;

	if (!w->is_stale)
		return 0;
	err = plan_make(&in, &plan);
	if (err)
		return err;
	plan_free(w->plan);
	w->plan = plan;
	w->bridge = NULL;
	for (uint32_t i = 0; i < plan->n_bridges; i++) {
		if (!strcmp(plan->bridge[i].name, WORLD_BRIDGE))
			w->bridge = &plan->bridge[i];
	}
	drop_ports(w);
	err = fill_model(w);
	w->is_stale = err != 0;
	return err;
}

static int apply_mdb(struct world *w, const struct nlmsghdr *h)
{
	int err = make_model(w);

	if (err || !w->bridge)
		return err;
	err = rtmsg_mdb(h, apply_member, w);
	w->is_stale = true;
	return err ? err : rtmsg_routers(h, apply_router, w);
}

int world_apply(struct world *w, const uint8_t *p, size_t len, bool neighs)
{
	struct nlmsghdr *copy = malloc(len ? len : 1), *h = copy;
	struct rtmsg_info m;
	int err = 0;

	/* A message begins where 4 divides its address. */
	if (!copy)
		return -ENOMEM;
	memcpy(copy, p, len);
	while (!err && len) {
		err = rtmsg_parse(h, len, &m);
		if (!err && (m.type == RTMSG_LINK || m.type == RTMSG_VLAN))
			err = mirror_apply(w->mirror, &m, h, &w->is_stale);
		else if (!err && m.type == RTMSG_NEIGH && neighs)
			err = make_model(w) ? -ENOMEM : apply_neigh(w, &m.neigh);
		else if (!err && m.type == RTMSG_MDB)
			err = apply_mdb(w, h);
		h = (struct nlmsghdr *)(void *)((uint8_t *)h + m.size);
		len -= m.size;
	}
	free(copy);
	return err;
}

int world_update(struct world *w)
{
	const struct local_ops ops = { .store = store, .drop = drop, .arg = w };
	struct view *v;
	int err = make_model(w);

	if (err)
		return err;
	(void)local_settle(w->local, w->model, 0, 0, &ops);
	if (w->model->bridge[0] && local_publish(w->local, w->model) < 0)
		return -ENOMEM;
	if (w->view && w->model->gen == w->gen)
		return 0;
	v = view_build(w->model, w->view, NULL);
	if (!v)
		return -ENOMEM;
	view_free(w->view);
	w->view = v;
	w->gen = w->model->gen;
	return 0;
}

uint16_t world_slot(const struct world *w, const char *name)
{
	for (uint16_t i = 1; i < WORLD_SLOTS; i++) {
		if (w->ifindex[i] && !strcmp(w->name[i], name))
			return i;
	}
	return 0;
}

const struct plan_port *world_port(const struct world *w, const char *name)
{
	for (uint32_t i = 0; w->bridge && i < w->bridge->n_ports; i++) {
		if (!strcmp(w->bridge->port[i].name, name))
			return &w->bridge->port[i];
	}
	return NULL;
}
