/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/local.h"
#include "ctl/guard.h"
#include "ctl/hostpair.h"
#include "ctl/ports.h"
#include "ctl/state.h"
#include "util/clock.h"
#include "util/hugemem.h"

#define AGAIN_MAX 4 /* plans in one run: a step that fails changes the plan */

/* ---- finding ---- */

struct ctl_port *ctl_port_by_ifindex(struct ctl *c, uint32_t ifindex)
{
	uint16_t *hint = &c->slot_of[ifindex % (sizeof(c->slot_of) / sizeof(c->slot_of[0]))];

	if (!ifindex)
		return NULL;
	/* Asked for every FDB entry: a search each time would take seconds for a large table. */
	if (c->port[*hint].is_used && c->port[*hint].ifindex == ifindex)
		return &c->port[*hint];
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		if (c->port[i].is_used && c->port[i].ifindex == ifindex) {
			*hint = (uint16_t)i;
			return &c->port[i];
		}
	}
	return NULL;
}

struct ctl_bridge *ctl_bridge_by_ifindex(struct ctl *c, uint32_t ifindex)
{
	for (uint32_t i = 0; ifindex && i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used && c->bridge[i].ifindex == ifindex)
			return &c->bridge[i];
	}
	return NULL;
}

static struct ctl_bridge *bridge_by_name(struct ctl *c, const char *name)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used && !strcmp(c->bridge[i].name, name))
			return &c->bridge[i];
	}
	return NULL;
}

/*
 * A port of the kernel is known by its index, one of the configuration file by
 * its name: there it is the same port when its device comes, or comes again.
 */
struct ctl_port *ctl_find_port(struct ctl *c, uint16_t bridge, const struct plan_port *pp)
{
	bool by_name = c->bridge[bridge].source == CONF_SOURCE_FILE;
	struct ctl_port *p = by_name ? NULL : ctl_port_by_ifindex(c, pp->ifindex);

	if (p && !p->is_host && p->bridge == bridge)
		return p;
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		p = &c->port[i];
		if (!p->is_used || p->is_host || p->bridge != bridge)
			continue;
		if (by_name ? !strcmp(p->name, pp->name) : p->ifindex == pp->ifindex)
			return p;
	}
	return NULL;
}

/* Slots are given out in turn, so that a freed one stays unused for long. */
static uint16_t slot_take(struct ctl *c)
{
	for (uint32_t k = 1; k < XB_MAX_PORTS; k++) {
		uint16_t slot = (uint16_t)(1 + (c->slot_hint + k) % (XB_MAX_PORTS - 1));

		if (!c->port[slot].is_used) {
			c->slot_hint = slot;
			if (slot >= c->slot_end)
				c->slot_end = slot + 1;
			memset(&c->port[slot], 0, sizeof(c->port[slot]));
			c->port[slot].is_used = true;
			return slot;
		}
	}
	return 0;
}

/* ---- what trying said ---- */

static enum path_reason bridge_veto(void *arg, uint32_t ifindex)
{
	struct ctl *c = arg;
	const struct ctl_bridge *b = ctl_bridge_by_ifindex(c, ifindex);
	const char *what;

	/* Without a guard nobody knows; the file may have been changed since the start. */
	if (c->conf->netfilter == CONF_REFUSE &&
	    (!c->guard || guard_has_bridge_netfilter(c->guard, &what)))
		return PATH_NETFILTER;
	return b ? b->veto : PATH_NONE;
}

static enum path_reason port_veto(void *arg, uint32_t ifindex)
{
	struct ctl *c = arg;
	const struct ctl_port *p = ctl_port_by_ifindex(c, ifindex);

	if (c->guard && guard_has_address(c->guard, ifindex))
		return PATH_HAS_ADDRESS;
	return p ? p->veto : PATH_NONE;
}

/* tc on any port keeps the whole bridge: frames for that port must not get past it. */
static void check_tc(struct ctl *c, struct plan_bridge *pb)
{
	const char *what;

	if (c->conf->tc != CONF_REFUSE || pb->reason != PATH_NONE)
		return;
	for (uint32_t i = 0; i < pb->n_ports; i++) {
		if (!c->guard || guard_has_tc(c->guard, pb->port[i].ifindex, &what)) {
			pb->reason = PATH_TC_FILTER;
			for (uint32_t j = 0; j < pb->n_ports; j++)
				pb->port[j].receive = false;
			pb->n_receive = 0;
			return;
		}
	}
}

/* ---- closing ---- */

static void port_forget(struct ctl *c, struct ctl_port *p, bool gone)
{
	ports_close(c, p, gone);
	model_port_del(c->model, ctl_slot(c, p));
	fdbsync_forget_port(c, p->bridge, ctl_slot(c, p));
	p->is_used = false;
}

static void bridge_forget(struct ctl *c, struct ctl_bridge *b)
{
	uint16_t index = ctl_index(c, b);

	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		struct ctl_port *p = &c->port[i];

		if (p->is_used && !p->is_host && p->bridge == index)
			port_forget(c, p, !mirror_find(c->mirror, p->ifindex));
	}
	ports_host_close(c, b);
	if (b->host_slot)
		port_forget(c, &c->port[b->host_slot], false);
	locals_forget(c, index);
	model_bridge_del(c->model, index);
	/* The published view still has the tables. */
	c->trash[c->n_trash++] = (struct ctl_trash){ .fdb = b->fdb, .count = b->count };
	b->fdb = NULL;
	b->count = NULL;
	b->is_used = false;
}

static void mark_unplanned(struct ctl *c)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++)
		c->bridge[i].is_in_plan = false;
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++)
		c->port[i].is_in_plan = c->port[i].is_host;
}

static void mark_planned(struct ctl *c, const struct plan *plan)
{
	mark_unplanned(c);
	for (uint32_t i = 0; i < plan->n_bridges; i++) {
		const struct plan_bridge *pb = &plan->bridge[i];
		struct ctl_bridge *b = bridge_by_name(c, pb->name);

		/* The same name with another index, or from another source, is another bridge. */
		if (!b || b->ifindex != pb->ifindex || b->source != pb->source)
			b = ctl_bridge_by_ifindex(c, pb->ifindex);
		if (!b)
			continue;
		b->is_in_plan = true;
		for (uint32_t j = 0; j < pb->n_ports; j++) {
			struct ctl_port *p = ctl_find_port(c, ctl_index(c, b), &pb->port[j]);

			if (p)
				p->is_in_plan = true;
		}
	}
}

static bool must_reopen(const struct ctl_port *p, const struct plan_port *pp, bool wanted)
{
	if (!wanted)
		return true;
	return p->is_stale || p->is_receive != pp->receive || p->ifindex != pp->ifindex ||
	       p->n_rx_queues != pp->n_rx_queues ||
	       p->mode != (enum dp_mode)(pp->mode - CONF_MODE_AUTO);
}

/*
 * A copy for an egress that is not open would be lost, so the kernel forwards
 * before one is closed that stays a port, and until a new one is open. A
 * stand-alone bridge has no kernel that could.
 */
static void gate_shut(struct ctl *c, struct ctl_bridge *b)
{
	if (b->source == CONF_SOURCE_KERNEL)
		ports_bridge_shut(c, b);
}

/* First what ends: gone bridges and ports, and ports that need another set-up. */
static void close_ended(struct ctl *c, const struct plan *plan)
{
	mark_planned(c, plan);
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used && !c->bridge[i].is_in_plan)
			ports_bridge_shut(c, &c->bridge[i]);
	}
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		struct ctl_port *p = &c->port[i];
		const struct mirror_link *l;

		if (!p->is_used || p->is_in_plan)
			continue;
		l = mirror_find(c->mirror, p->ifindex);
		history_add(&c->history, LOG_LEVEL_NOTICE, "port %s left %s%s", p->name,
			    c->bridge[p->bridge].name, l ? "" : " (the interface has gone)");
		port_forget(c, p, !l);
	}
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		/* Without room for its tables it stays, shut, until a view could be published. */
		if (!b->is_used || b->is_in_plan || c->n_trash == CTL_TRASH_MAX)
			continue;
		history_add(&c->history, LOG_LEVEL_NOTICE, "bridge %s has gone", b->name);
		bridge_forget(c, b);
	}
}

/* ---- the model ---- */

/*
 * Buckets of a new table: one huge page, and room for 30,000 stations that come up
 * at once, before the next learn_refresh() can make it grow.
 */
#define FDB_BUCKETS 16384

static struct fdb *make_fdb(const struct plan_bridge *pb)
{
	struct fdb_config cfg = {
		.max_entries = pb->fdb_max,
		.n_buckets = pb->fdb_max < FDB_BUCKETS ? pb->fdb_max : FDB_BUCKETS,
		.alloc = hugemem_alloc,
		.free = hugemem_free,
	};

	if (getrandom(cfg.seed, sizeof(cfg.seed), 0) != sizeof(cfg.seed))
		return NULL;
	return fdb_new(&cfg);
}

static struct ctl_bridge *bridge_make(struct ctl *c, const struct plan_bridge *pb)
{
	struct ctl_bridge *b = NULL;
	uint16_t slot = 0;

	for (uint32_t i = 0; i < XB_MAX_BRIDGES && !b; i++) {
		if (!c->bridge[i].is_used)
			b = &c->bridge[i];
	}
	if (b && pb->source == CONF_SOURCE_KERNEL)
		slot = slot_take(c);
	if (!b || (pb->source == CONF_SOURCE_KERNEL && !slot)) {
		if (log_limit_ok(&c->limit_bad, "limit", c->now_ns))
			log_warn("bridge %s: too many bridges or ports, left to the kernel",
				 pb->name);
		return NULL;
	}
	memset(b, 0, sizeof(*b));
	b->fdb = make_fdb(pb);
	b->local = local_new((uint16_t)(b - c->bridge));
	b->count = calloc((size_t)c->conf->workers * VID_N, sizeof(*b->count));
	if (!b->fdb || !b->local || !b->count) {
		fdb_free(b->fdb);
		local_free(b->local);
		free(b->count);
		c->port[slot].is_used = false;
		log_err("bridge %s: no memory for its tables", pb->name);
		return NULL;
	}
	b->is_used = true;
	b->ifindex = pb->ifindex;
	b->source = pb->source;
	b->host_slot = slot;
	memcpy(b->name, pb->name, sizeof(b->name));
	if (slot) {
		c->port[slot].is_host = true;
		c->port[slot].bridge = ctl_index(c, b);
		snprintf(c->port[slot].name, sizeof(c->port[slot].name), "%s", pb->name);
	}
	history_add(&c->history, LOG_LEVEL_INFO, "bridge %s: found", b->name);
	return b;
}

/* The file's static entries, in place of those of an earlier file. */
static void set_statics(struct ctl_bridge *b, const struct conf_bridge *cb, const uint16_t *slots)
{
	const struct fdb_filter old = { .port = FDB_ANY,
					.vid = FDB_ANY,
					.mask = FDB_STATIC | FDB_USER,
					.flags = FDB_STATIC | FDB_USER };

	fdb_flush(b->fdb, &old);
	for (uint32_t i = 0; cb && i < cb->n_fdbs; i++) {
		const struct conf_fdb *f = &cb->fdbs[i];
		struct fdb_entry e = { .mac = f->mac,
				       .vid = f->vid,
				       .port = slots[f->port],
				       .flags = FDB_STATIC | FDB_USER };

		if (f->sticky)
			e.flags |= FDB_STICKY;
		if (fdb_add(b->fdb, &e))
			log_warn("bridge %s: no room for its static entries (fdb-max)", b->name);
	}
}

/* What keeps a whole bridge on the kernel path is told once, and not for each port. */
static void note_reason(struct ctl *c, struct ctl_port *p, enum path_reason of_bridge,
			enum path_reason of_port)
{
	enum path_reason reason = of_bridge != PATH_NONE ? of_bridge : of_port;

	/* Another try is no news before it has worked. */
	if (p->reason == reason || (reason == PATH_NONE && p->n_tries && !p->is_receive))
		return;
	p->reason = reason;
	if (reason != PATH_NONE && of_bridge == PATH_NONE)
		history_add(&c->history, LOG_LEVEL_NOTICE, "port %s of %s: kernel path: %s (%s)",
			    p->name, c->bridge[p->bridge].name, path_name(reason),
			    path_text(reason));
}

static void note_rename(struct ctl *c, struct ctl_port *p, const char *name)
{
	if (!strcmp(p->name, name))
		return;
	if (p->name[0])
		history_add(&c->history, LOG_LEVEL_NOTICE, "port %s is called %s now", p->name,
			    name);
	snprintf(p->name, sizeof(p->name), "%s", name);
}

/* A port that was down for a moment has a socket that does not send any more. */
static bool is_dead(struct ctl *c, const struct ctl_port *p)
{
	struct dp_port_info info;

	return !dp_port_info(c->dp, ctl_slot(c, p), &info) && info.dead;
}

static void note_state(struct ctl *c, struct ctl_port *p, uint8_t state)
{
	static const char *const names[] = { "disabled", "listening", "learning", "forwarding",
					     "blocking" };
	const struct model_port *m = c->model->port[ctl_slot(c, p)];

	if (!m || m->a.state == state || state >= sizeof(names) / sizeof(names[0]))
		return;
	history_add(&c->history, LOG_LEVEL_INFO, "port %s of %s is %s", p->name,
		    c->bridge[p->bridge].name, names[state]);
}

/* 0 without one, or when it has not got a slot yet (sync_backups()). */
static uint16_t backup_slot(struct ctl *c, const struct ctl_bridge *b, const struct plan_port *pp)
{
	const struct ctl_port *p = ctl_port_by_ifindex(c, pp->backup);

	return p && !p->is_host && p->bridge == ctl_index(c, b) ? ctl_slot(c, p) : 0;
}

/* The port in our numbers; closes it where another set-up is needed. 0 or -ENOSPC, -ENOMEM. */
static int sync_port(struct ctl *c, struct ctl_bridge *b, struct plan_bridge *pb,
		     struct plan_port *pp, bool *changed)
{
	bool wanted = pb->n_receive && pp->ifindex, is_new = false, port_changed = false;
	struct ctl_port *p = ctl_find_port(c, ctl_index(c, b), pp);
	int err;

	if (!p) {
		uint16_t slot = slot_take(c);

		if (!slot)
			return -ENOSPC;
		p = &c->port[slot];
		p->bridge = ctl_index(c, b);
		is_new = true;
	}
	if (p->is_open && (must_reopen(p, pp, wanted) || is_dead(c, p))) {
		gate_shut(c, b);
		ports_close(c, p, !mirror_find(c->mirror, p->ifindex));
	}
	if (wanted && !p->is_open)
		gate_shut(c, b);
	if (p->ifindex != pp->ifindex || p->mtu != pp->mtu)
		p->veto = PATH_NONE;
	p->ifindex = pp->ifindex;
	p->mac = pp->mac;
	if (b->source == CONF_SOURCE_KERNEL)
		locals_set_device(c, p, &pp->mac);
	p->mtu = pp->mtu;
	p->n_rx_queues = pp->n_rx_queues;
	p->mode = (enum dp_mode)(pp->mode - CONF_MODE_AUTO);
	p->is_virtual = pp->is_virtual;
	note_rename(c, p, pp->name);
	note_reason(c, p, pb->reason, pp->reason);
	note_state(c, p, pp->attr.state);

	pp->attr.bridge = ctl_index(c, b);
	pp->attr.flags |= p->router;
	pp->attr.backup = backup_slot(c, b, pp);
	err = model_port_set(c->model, ctl_slot(c, p), &pp->attr, &port_changed);
	if (err && is_new)
		p->is_used = false;
	if (is_new && b->source == CONF_SOURCE_KERNEL) {
		p->fdb_wanted = true;
		mdbsync_unread(c, b);
	}
	b->statics_wanted = b->statics_wanted || is_new;
	*changed = *changed || port_changed;
	return err;
}

/* A port that was new may be the backup of one that had its turn before. */
static int sync_backups(struct ctl *c, struct ctl_bridge *b, struct plan_bridge *pb, bool *changed)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < pb->n_ports; i++) {
		struct plan_port *pp = &pb->port[i];
		uint16_t slot = backup_slot(c, b, pp);

		if (slot == pp->attr.backup)
			continue;
		pp->attr.backup = slot;
		*changed = true;
		err = model_port_set(c->model, ctl_slot(c, ctl_find_port(c, ctl_index(c, b), pp)),
				     &pp->attr, NULL);
	}
	return err;
}

static void sync_hold(struct ctl_bridge *b, const struct plan_bridge *pb)
{
	uint64_t g = pb->hold_ns / 8;

	if (b->hold_ns == pb->hold_ns)
		return;
	b->hold_ns = pb->hold_ns;
	b->flush_wanted = !b->hold_ns;
	fdb_set_granularity(b->fdb, g && g < NSEC_PER_SEC ? g : NSEC_PER_SEC);
}

static void sync_bridge_notes(struct ctl *c, struct ctl_bridge *b, const struct plan_bridge *pb)
{
	if (strcmp(b->name, pb->name)) {
		history_add(&c->history, LOG_LEVEL_NOTICE, "bridge %s is called %s now", b->name,
			    pb->name);
		memcpy(b->name, pb->name, sizeof(b->name));
	}
	if (b->reason != pb->reason) {
		b->reason = pb->reason;
		if (pb->reason != PATH_NONE)
			history_add(&c->history, LOG_LEVEL_NOTICE,
				    "bridge %s: kernel path: %s (%s)", b->name,
				    path_name(pb->reason), path_text(pb->reason));
	}
}

struct ctl_bridge *ctl_planned_bridge(struct ctl *c, const struct plan_bridge *pb)
{
	return pb->ifindex ? ctl_bridge_by_ifindex(c, pb->ifindex) : bridge_by_name(c, pb->name);
}

static int sync_locals(struct ctl *c, struct ctl_bridge *b, bool *changed)
{
	int n = local_publish(b->local, c->model);

	*changed = *changed || n > 0;
	return n < 0 ? n : 0;
}

static int sync_bridge(struct ctl *c, struct plan_bridge *pb, bool *changed)
{
	struct ctl_bridge *b = ctl_planned_bridge(c, pb);
	uint16_t slots[XB_MAX_PORTS] = { 0 };
	bool is_new = !b, bridge_changed = false, host_changed = false;
	int err;

	if (!b)
		b = bridge_make(c, pb);
	if (!b)
		return -ENOSPC;
	sync_bridge_notes(c, b, pb);
	sync_hold(b, pb);
	b->mac = pb->mac;
	b->mtu = pb->mtu;
	b->n_receive = pb->n_receive;
	b->is_filtering = pb->attr.filtering;
	b->neigh = pb->neigh;

	brpoll_plan(c, b, pb);
	pb->attr.host_port = b->host_slot;
	err = model_bridge_set(c->model, ctl_index(c, b), &pb->attr, b->fdb, b->count,
			       &bridge_changed);
	if (!err && b->host_slot) {
		pb->host.bridge = ctl_index(c, b);
		err = model_port_set(c->model, b->host_slot, &pb->host, &host_changed);
	}
	if (b->host_slot)
		locals_set_device(c, &c->port[b->host_slot], &pb->mac);
	*changed = *changed || bridge_changed || host_changed;
	for (uint32_t i = 0; !err && i < pb->n_ports; i++) {
		err = sync_port(c, b, pb, &pb->port[i], changed);
		if (!err && i < XB_MAX_PORTS)
			slots[i] = ctl_slot(c, ctl_find_port(c, ctl_index(c, b), &pb->port[i]));
	}
	if (!err)
		err = sync_backups(c, b, pb, changed);
	if (!err)
		err = sync_locals(c, b, changed);
	if (!err && b->source == CONF_SOURCE_FILE && (b->statics_wanted || c->statics_wanted)) {
		set_statics(b, pb->conf, slots);
		b->statics_wanted = false;
	}
	if (is_new)
		c->fdb_wanted = true;
	return err;
}

/* No worker has a view any more that has these tables. */
static void trash_empty(struct ctl *c)
{
	for (uint32_t i = 0; i < c->n_trash; i++) {
		fdb_free(c->trash[i].fdb);
		free(c->trash[i].count);
	}
	c->n_trash = 0;
}

int reconcile_publish(struct ctl *c)
{
	struct view *v = view_build(c->model, dp_view(c->dp), NULL);

	if (!v)
		return -ENOMEM;
	dp_publish(c->dp, v);
	c->stats.n_views++;
	c->model_gen = c->model->gen;
	trash_empty(c);
	fdbsync_flush_left(c);
	return 0;
}

/* ---- the run ---- */

/* A bridge of the configuration that is waited for may be there as something else; told once. */
static void note_waiting(struct ctl *c, const struct plan_bridge *pb)
{
	const struct mirror_link *l = mirror_find_name(c->mirror, pb->name);

	if (!l || (l->info.present & LINK_HAS_BRIDGE))
		return;
	for (uint32_t i = 0; i < c->n_no_bridges; i++) {
		if (c->no_bridge[i] == l->info.ifindex)
			return;
	}
	if (c->n_no_bridges == XB_MAX_BRIDGES)
		return;
	c->no_bridge[c->n_no_bridges++] = l->info.ifindex;
	history_add(&c->history, LOG_LEVEL_WARN,
		    "%s is not a bridge: correct \"bridges\" in the configuration", pb->name);
}

/*
 * With an ageing time of 0 nobody ages: what workers learned until they had the
 * view that forbids it, and the kernel did not take any more, goes here.
 */
static void flush_unaged(struct ctl *c)
{
	const struct fdb_filter learned = { .port = FDB_ANY,
					    .vid = FDB_ANY,
					    .mask = FDB_KERNEL | FDB_STATIC | FDB_LOCAL |
						    FDB_USER };

	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		if (b->is_used && b->fdb && b->flush_wanted)
			fdb_flush(b->fdb, &learned);
		b->flush_wanted = false;
	}
}

static int apply(struct ctl *c, struct plan *plan)
{
	bool changed;
	int err = 0;

	close_ended(c, plan);
	changed = c->n_trash || c->model->gen != c->model_gen;
	for (uint32_t i = 0; i < plan->n_bridges; i++) {
		struct plan_bridge *pb = &plan->bridge[i];

		if (pb->reason == PATH_WAITING) {
			note_waiting(c, pb);
			continue;
		}
		check_tc(c, pb);
		if (sync_bridge(c, pb, &changed) == -ENOMEM)
			err = -ENOMEM;
	}
	c->statics_wanted = false;
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used)
			ports_bridge_snoop(c, &c->bridge[i]);
	}
	if (changed || !dp_view(c->dp)) {
		int e = reconcile_publish(c);

		if (e)
			return e;
	}
	flush_unaged(c);
	return err;
}

/* 0, 1 if a step failed and the plan is another one now, or a negative errno. */
static int run_once(struct ctl *c)
{
	struct plan_input in = { .mirror = c->mirror,
				 .conf = c->conf,
				 .frame_size = c->conf->frame_size,
				 .port_veto = port_veto,
				 .bridge_veto = bridge_veto,
				 .veto_arg = c };
	struct plan *plan;
	bool again = false;
	int err;

	err = plan_make(&in, &plan);
	if (err)
		return err;
	c->stats.n_plans++;
	c->has_mst = false;
	for (uint32_t i = 0; i < plan->n_bridges; i++)
		c->has_mst = c->has_mst || (plan->bridge[i].attr.mst && plan->bridge[i].n_receive);
	err = apply(c, plan);
	if (!err && c->fdb_wanted) {
		err = fdbsync_read(c);
		c->fdb_wanted = err != 0;
	} else if (!err) {
		err = fdbsync_read_ports(c);
	}
	/* All tables are read; opening ports may take as long as it takes. */
	if (!err && !c->resync_wanted) {
		c->resync_from_ns = 0;
		c->is_overdue = false;
	}
	for (uint32_t i = 0; !err && i < plan->n_bridges; i++) {
		if (plan->bridge[i].reason != PATH_WAITING)
			again = ports_open(c, &plan->bridge[i]) || again;
	}
	plan_free(plan);
	return err ? err : again;
}

static void clear_expired(struct ctl *c)
{
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		struct ctl_port *p = &c->port[i];

		if (p->is_used && p->veto != PATH_NONE && p->retry_ns && p->retry_ns <= c->now_ns)
			p->veto = PATH_NONE;
	}
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		if (b->is_used && b->veto != PATH_NONE && b->retry_ns <= c->now_ns)
			b->veto = PATH_NONE;
	}
}

int reconcile_run(struct ctl *c)
{
	int err = 1;

	clear_expired(c);
	for (uint32_t i = 0; err == 1 && i < AGAIN_MAX; i++)
		err = run_once(c);
	if (err == 1)
		err = 0;
	if (!err && !c->is_swept) {
		dp_sweep(c->dp);
		c->is_swept = true;
	}
	if (!err && dp_view(c->dp) && !c->is_gate_open) {
		dp_gate_set(c->dp, true);
		c->is_gate_open = true;
	}
	return err;
}

void reconcile_close_all(struct ctl *c)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		if (b->is_used && b->h_ifindex)
			(void)hostpair_remove(b->ifindex);
	}
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		struct ctl_port *p = &c->port[i];

		if (p->is_used && p->rxvlan_was_on)
			(void)guard_rxvlan_restore(p->name);
		free(p->uppers);
	}
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		fdb_free(c->bridge[i].fdb);
		local_free(c->bridge[i].local);
		free(c->bridge[i].count);
	}
	trash_empty(c);
	free(c->local);
}
