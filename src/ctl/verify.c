/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/verify_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/local.h"
#include "ctl/neigh.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"

/* What only we know of an entry. */
#define OUR_FLAGS (FDB_KERNEL | FDB_USER)

struct round {
	struct ctl *c;
	struct verify_result *r;
	uint64_t *key[XB_MAX_BRIDGES]; /* that the kernel has, sorted when all are there */
	uint32_t n_keys[XB_MAX_BRIDGES], key_size[XB_MAX_BRIDGES];
	struct local_tally *tally[XB_MAX_BRIDGES]; /* of devices' entries that the kernel has */
	uint32_t bridge;                           /* of the walk */
};

struct verify_difference *verify_differ(struct verify_result *r, uint64_t id, const char *what,
					const char *fmt, ...)
{
	struct verify_difference *d;
	va_list ap;

	r->n_differences++;
	if (r->n == VERIFY_MAX)
		return NULL;
	d = &r->v[r->n++];
	memset(d, 0, sizeof(*d));
	d->id = id;
	snprintf(d->what, sizeof(d->what), "%s", what);
	va_start(ap, fmt);
	vsnprintf(d->object, sizeof(d->object), fmt, ap);
	va_end(ap);
	return d;
}

/* ---- links, ports and VLANs ---- */

void verify_number(struct verify_result *r, const struct verify_place *at, uint32_t field,
		   const char *name, uint64_t kernel, uint64_t ours)
{
	struct verify_difference *d;
	char what[32];

	if (kernel == ours)
		return;
	snprintf(what, sizeof(what), "%s %s", at->kind, at->name);
	d = verify_differ(r, (uint64_t)at->ifindex << 32 | field, what, "%s", name);
	if (d) {
		snprintf(d->kernel, sizeof(d->kernel), "%llu", (unsigned long long)kernel);
		snprintf(d->ours, sizeof(d->ours), "%llu", (unsigned long long)ours);
	}
}

static void compare_number(struct round *w, const struct mirror_link *l, uint32_t field,
			   const char *name, uint64_t kernel, uint64_t ours)
{
	struct verify_place at = { l->info.ifindex, "link", l->info.name };

	verify_number(w->r, &at, field, name, kernel, ours);
}

static void compare_vlans(struct round *w, const struct mirror_link *l, const struct mirror_link *o)
{
	static const struct mirror_vlans none;
	const struct mirror_vlans *k = l->vlans ? l->vlans : &none;
	const struct mirror_vlans *v = o->vlans ? o->vlans : &none;

	w->r->n_vlans += k->n;
	compare_number(w, l, 100, "pvid", k->pvid, v->pvid);
	for (uint32_t vid = 1; vid <= VID_MAX; vid++) {
		char name[16];

		if (k->mv[vid] == v->mv[vid] && k->opts[vid] == v->opts[vid])
			continue;
		snprintf(name, sizeof(name), "vlan %u", vid);
		compare_number(w, l, 1000 + vid, name, (uint64_t)k->opts[vid] << 8 | k->mv[vid],
			       (uint64_t)v->opts[vid] << 8 | v->mv[vid]);
	}
}

static uint32_t backup_of(const struct brport_info *p)
{
	return p->present & BRPORT_HAS_BACKUP_PORT ? p->backup_port : 0;
}

/* A VLAN device, and what it is on. */
static uint64_t vlan_device(const struct link_info *l)
{
	if (!(l->present & LINK_HAS_VLAN) || (l->present & LINK_HAS_LOWER_NETNSID))
		return 0;
	return (uint64_t)l->lower << 16 | l->vlan_id;
}

static void compare_port(struct round *w, const struct mirror_link *l, const struct brport_info *k,
			 const struct brport_info *v)
{
	compare_number(w, l, 20, "state", k->state, v->state);
	compare_number(w, l, 21, "port flags", k->flags, v->flags);
	compare_number(w, l, 22, "backup port", backup_of(k), backup_of(v));
	compare_number(w, l, 23, "backup nexthop", k->backup_nhid, v->backup_nhid);
	compare_number(w, l, 24, "port group mask", k->group_fwd_mask, v->group_fwd_mask);
}

static void compare_bridge(struct round *w, const struct mirror_link *l,
			   const struct bridge_info *k, const struct bridge_info *v)
{
	compare_number(w, l, 40, "bridge flags", k->flags, v->flags);
	compare_number(w, l, 41, "boolean options", k->boolopt, v->boolopt);
	compare_number(w, l, 42, "ageing time", k->ageing_time_ns, v->ageing_time_ns);
	compare_number(w, l, 43, "forward delay", k->forward_delay_ns, v->forward_delay_ns);
	compare_number(w, l, 44, "VLAN protocol", k->vlan_protocol, v->vlan_protocol);
	compare_number(w, l, 45, "default PVID", k->default_pvid, v->default_pvid);
	compare_number(w, l, 46, "STP", k->stp, v->stp);
	compare_number(w, l, 47, "group mask", k->group_fwd_mask, v->group_fwd_mask);
	compare_number(w, l, 48, "group address", mac_to_u64(&k->group_addr),
		       mac_to_u64(&v->group_addr));
	compare_number(w, l, 49, "limit of learned entries", k->fdb_max_learned,
		       v->fdb_max_learned);
	compare_number(w, l, 50, "mcast_router", k->mcast_router, v->mcast_router);
	compare_number(w, l, 51, "IGMP version", k->igmp_version, v->igmp_version);
	compare_number(w, l, 52, "MLD version", k->mld_version, v->mld_version);
}

static void compare_link(struct round *w, const struct mirror_link *l, const struct mirror_link *o)
{
	const struct link_info *k = &l->info, *v = &o->info;

	compare_number(w, l, 1, "name", 0, strcmp(k->name, v->name) != 0);
	compare_number(w, l, 2, "mtu", k->mtu, v->mtu);
	compare_number(w, l, 3, "address", mac_to_u64(&k->mac), mac_to_u64(&v->mac));
	compare_number(w, l, 4, "flags", k->flags, v->flags);
	compare_number(w, l, 5, "master", k->master, v->master);
	compare_number(w, l, 6, "bridge", l->bridge, o->bridge);
	compare_number(w, l, 7, "promiscuity", k->promiscuity, v->promiscuity);
	compare_number(w, l, 8, "receive queues", k->num_rx_queues, v->num_rx_queues);
	compare_number(w, l, 9, "carrier", k->carrier, v->carrier);
	compare_number(w, l, 10, "kind", 0, strcmp(k->kind, v->kind) != 0);
	compare_number(w, l, 11, "hardware switch", !!(k->present & LINK_HAS_SWITCH_ID),
		       !!(v->present & LINK_HAS_SWITCH_ID));
	compare_number(w, l, 12, "VLAN of device", vlan_device(k), vlan_device(v));
	compare_port(w, l, &k->brport, &v->brport);
	compare_bridge(w, l, &k->bridge, &v->bridge);
	/* Of ports it decides nothing, and nobody asks for it. */
	if (k->present & LINK_HAS_BRIDGE)
		compare_number(w, l, 13, "allmulti", k->allmulti, v->allmulti);
	compare_vlans(w, l, o);
}

static void compare_mirrors(struct round *w, const struct mirror *kernel)
{
	const struct mirror *ours = w->c->mirror;

	for (uint32_t i = 0; i < kernel->n; i++) {
		const struct mirror_link *o = mirror_find(ours, kernel->link[i]->info.ifindex);

		w->r->n_links++;
		if (o)
			compare_link(w, kernel->link[i], o);
		else
			compare_number(w, kernel->link[i], 0, "is there", 1, 0);
	}
	for (uint32_t i = 0; i < ours->n; i++) {
		if (!mirror_find(kernel, ours->link[i]->info.ifindex))
			compare_number(w, ours->link[i], 0, "is there", 0, 1);
	}
}

/* ---- forwarding entries ---- */

static void describe(const struct ctl *c, uint16_t slot, uint16_t flags, char *buf)
{
	const struct ctl_port *p = &c->port[slot];

	snprintf(buf, VERIFY_TEXT_SIZE, "%s%s%s%s%s%s", p->is_used ? p->name : "no port",
		 flags & FDB_LOCAL ? " local" : "", flags & FDB_STATIC ? " static" : "",
		 flags & FDB_STICKY ? " sticky" : "", flags & FDB_EXTERN ? " extern" : "",
		 flags & FDB_LOCKED ? " locked" : "");
}

static struct verify_difference *differ_entry(struct round *w, uint32_t bridge, uint64_t key)
{
	struct mac mac = mac_from_u64(key & 0xffffffffffffULL);
	char what[32], text[MAC_STR_SIZE];

	snprintf(what, sizeof(what), "fdb %s", w->c->bridge[bridge].name);
	/* 60 bits of key: four are left for the bridge, enough to tell rounds apart. */
	return verify_differ(w->r, key ^ (uint64_t)bridge << 60 ^ 1ULL << 63, what, "%s vlan %u",
			     mac_format(&mac, text), (unsigned int)(key >> 48));
}

static int remember(struct round *w, uint32_t bridge, uint64_t key)
{
	if (w->n_keys[bridge] == w->key_size[bridge]) {
		uint32_t size = w->key_size[bridge] ? w->key_size[bridge] * 2 : 256;
		uint64_t *v = realloc(w->key[bridge], size * sizeof(*v));

		if (!v)
			return -ENOMEM;
		w->key[bridge] = v;
		w->key_size[bridge] = size;
	}
	w->key[bridge][w->n_keys[bridge]++] = key;
	return 0;
}

/* An entry of one of our bridges on a port that we do not know. */
static void compare_unplaced(struct round *w, const struct neigh_info *n, uint64_t key)
{
	const struct mirror_link *l = mirror_find(w->c->mirror, n->ifindex);
	struct ctl_bridge *b = n->is_self || !l ? NULL : ctl_bridge_by_ifindex(w->c, l->bridge);
	struct verify_difference *d;

	if (!b || b->source != CONF_SOURCE_KERNEL)
		return;
	d = differ_entry(w, ctl_index(w->c, b), key);
	if (d)
		snprintf(d->kernel, sizeof(d->kernel), "%s", l->info.name);
}

/*
 * Entries that follow from the devices are computed on both sides of the
 * comparison: nothing is kept of those that are right but a bit.
 */
static bool is_device_entry(struct round *w, const struct ctl_bridge *b, uint64_t key,
			    uint16_t slot, uint16_t flags)
{
	struct fdb_entry e;

	return (flags & FDB_LOCAL) && local_has(b->local, w->c->model, key) &&
	       local_is_owner(b->local, key & 0xffffffffffffULL, slot) &&
	       fdb_get(b->fdb, key, &e) == -ENOENT;
}

static int compare_entry(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct round *w = arg;
	struct verify_difference *d;
	struct ctl_bridge *b;
	struct fdb_entry e;
	uint16_t slot, flags;
	uint64_t key;
	bool found;

	(void)h;
	if (i->type != RTMSG_NEIGH || mac_is_multicast(&i->neigh.mac))
		return 0;
	key = fdb_key(i->neigh.vid, &i->neigh.mac);
	if (!fdbsync_find(w->c, &i->neigh, &b, &slot)) {
		compare_unplaced(w, &i->neigh, key);
		return 0;
	}
	flags = neigh_fdb_flags(&i->neigh);
	w->r->n_entries++;
	local_tick(w->tally[ctl_index(w->c, b)], key);
	if (is_device_entry(w, b, key, slot, flags))
		return 0;
	found = !fdb_get(b->fdb, key, &e);
	if (!found || e.port != slot || ((e.flags ^ flags) & (uint16_t)~OUR_FLAGS)) {
		d = differ_entry(w, ctl_index(w->c, b), key);
		if (d) {
			describe(w->c, slot, flags, d->kernel);
			if (found)
				describe(w->c, e.port, e.flags, d->ours);
		}
	}
	return remember(w, ctl_index(w->c, b), key);
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void check_extra(const struct fdb_entry *e, void *arg)
{
	struct round *w = arg;
	uint64_t key = fdb_key(e->vid, &e->mac);
	struct verify_difference *d;

	/* What a worker has learned lately is on its way to the kernel: not for three rounds. */
	if (w->n_keys[w->bridge] &&
	    bsearch(&key, w->key[w->bridge], w->n_keys[w->bridge], sizeof(key), compare_keys))
		return;
	d = differ_entry(w, w->bridge, key);
	if (d)
		describe(w->c, e->port, e->flags, d->ours);
}

static void check_missing(void *arg, uint64_t key, uint16_t slot)
{
	struct round *w = arg;
	const struct ctl_bridge *b = &w->c->bridge[w->bridge];
	struct verify_difference *d;
	struct fdb_entry e;

	if (local_is_exception(b->local, key) || !fdb_get(b->fdb, key, &e))
		return;
	d = differ_entry(w, w->bridge, key);
	if (d)
		describe(w->c, slot, FDB_LOCAL, d->ours);
}

static void tick(void *arg)
{
	struct round *w = arg;

	ctl_alive(w->c);
}

static int make_tallies(struct round *w)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (!w->c->bridge[i].local)
			continue;
		w->tally[i] = local_tally_new(w->c->bridge[i].local, 0);
		if (!w->tally[i])
			return -ENOMEM;
	}
	return 0;
}

static void compare_rest(struct round *w, const struct ctl_bridge *b)
{
	uint32_t i = w->bridge = ctl_index(w->c, b);
	struct fdb_cursor cursor = { 0 };

	if (w->n_keys[i])
		qsort(w->key[i], w->n_keys[i], sizeof(uint64_t), compare_keys);
	while (fdb_walk(b->fdb, &cursor, 1024, check_extra, w))
		tick(w);
	local_each_missing(b->local, w->c->model, w->tally[i], check_missing, w);
}

static int compare_fdbs(struct round *w)
{
	int err = make_tallies(w);

	if (!err)
		err = rtsock_dump(w->c->rt, RTREQ_NEIGHS, compare_entry, tick, w);
	for (uint32_t i = 0; !err && i < XB_MAX_BRIDGES; i++) {
		const struct ctl_bridge *b = &w->c->bridge[i];

		if (b->is_used && b->source == CONF_SOURCE_KERNEL)
			compare_rest(w, b);
	}
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		free(w->key[i]);
		local_tally_free(w->tally[i]);
	}
	return err;
}

/* ---- rounds ---- */

static int run_round(struct ctl *c, struct verify_result *r)
{
	struct round *w = calloc(1, sizeof(*w));
	struct mirror *kernel;
	int err;

	if (!w)
		return -ENOMEM;
	w->c = c;
	w->r = r;
	memset(r, 0, sizeof(*r));
	err = ctl_read_mirror(c, &kernel);
	if (!err) {
		/*
		 * What the kernel did before it answered is known, and acted on, by then;
		 * also what it tells nobody and is asked for at times.
		 */
		c->poll_wanted = true;
		ctl_catch_up(c);
		locals_settle_now(c);
		compare_mirrors(w, kernel);
		err = verify_model(c, r, kernel);
		mirror_free(kernel);
	}
	if (!err)
		err = compare_fdbs(w);
	if (!err)
		err = verify_mdb(c, r);
	free(w);
	return err;
}

/* Leaves in @r only what is in @earlier too. */
static void keep_lasting(struct verify_result *r, const struct verify_result *earlier)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		for (uint32_t k = 0; k < earlier->n; k++) {
			if (r->v[i].id == earlier->v[k].id) {
				r->v[n++] = r->v[i];
				break;
			}
		}
	}
	if (r->n_differences <= VERIFY_MAX)
		r->n_differences = n;
	r->n = n;
}

int verify_run(struct ctl *c, struct verify_result *out)
{
	struct verify_result *earlier = calloc(1, sizeof(*earlier));
	int err;

	if (!earlier)
		return -ENOMEM;
	err = run_round(c, out);
	for (int i = 1; !err && out->n_differences && i < VERIFY_ROUNDS; i++) {
		*earlier = *out;
		err = run_round(c, out);
		if (err == -EINTR)
			err = 0;
		else if (!err)
			keep_lasting(out, earlier);
	}
	free(earlier);
	return err;
}
