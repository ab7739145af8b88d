/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pair.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/fwd.h"
#include "core/group.h"
#include "refload.h"

/* ---- words ---- */

void pair_say(struct pair *p, const char *fmt, ...)
{
	va_list ap;

	if (!p->say)
		return;
	va_start(ap, fmt);
	vfprintf(p->say, fmt, ap);
	va_end(ap);
}

void pair_fail(struct pair *p, const char *fmt, ...)
{
	va_list ap;

	p->has_failed = true;
	va_start(ap, fmt);
	vfprintf(p->report, fmt, ap);
	va_end(ap);
	fputc('\n', p->report);
}

static void must(struct pair *p, int err, const char *what)
{
	if (err)
		pair_fail(p, "%s: %s", what, strerror(-err));
}

/* ---- life ---- */

static bool make_tables(struct pair *p)
{
	p->fdb = fdb_new(&p->fdb_cfg);
	p->local = local_new(p->index);
	p->ref->n_entries = 0;
	p->ref->max_entries = p->fdb_cfg.max_entries;
	p->ref->max_learned = p->fdb_cfg.max_learned;
	p->ref->granularity_ns = p->fdb_cfg.granularity_ns;
	p->ref->n_gone = 0;
	return p->fdb && p->local;
}

static void make_bridges(struct pair *p)
{
	struct model_bridge_attr other = { .tpid = FRAME_TPID_Q, .learning = true };

	must(p, model_bridge_set(p->model, p->index + 1, &other, p->fdb, NULL, NULL), "bridge");
	pair_set_bridge(p);
	if (p->br.host_port)
		pair_set_port(p, PAIR_HOST);
}

bool pair_open(struct pair *p, FILE *report)
{
	memset(p, 0, sizeof(*p));
	p->report = report;
	p->br = (struct model_bridge_attr){ .learning = true,
					    .tpid = FRAME_TPID_Q,
					    .host_port = PAIR_HOST };
	p->port[PAIR_HOST] =
		(struct model_port_attr){ .flags = MP_HOST, .state = PORT_FORWARDING, .mtu = 1500 };
	p->fdb_cfg = (struct fdb_config){
		.max_entries = 200, .n_buckets = 16, .granularity_ns = 1, .seed = { 3, 4 }
	};
	p->now_ns = 1000 * PAIR_TICK_NS;
	p->model = model_new();
	p->ref = calloc(1, sizeof(*p->ref));
	if (!p->model || !p->ref || !make_tables(p))
		return false;
	make_bridges(p);
	return !p->has_failed;
}

void pair_close(struct pair *p)
{
	view_free(p->view);
	model_free(p->model);
	local_free(p->local);
	fdb_free(p->fdb);
	free(p->ref);
}

/* ---- configuration ---- */

void pair_set_bridge(struct pair *p)
{
	must(p, model_bridge_set(p->model, p->index, &p->br, p->fdb, NULL, NULL), "bridge");
	refload_bridge(p->ref, &p->br);
	p->is_stale = true;
}

void pair_set_port(struct pair *p, uint16_t slot)
{
	p->port[slot].bridge = p->index;
	must(p, model_port_set(p->model, slot, &p->port[slot], NULL), "port");
	refload_port(p->ref, slot, &p->port[slot]);
	p->has_port[slot] = true;
	pair_set_mac(p, slot);
	p->is_stale = true;
}

void pair_set_mac(struct pair *p, uint16_t slot)
{
	struct mac mac = mac_from_u64(p->mac[slot]);

	must(p, local_set_owner(p->local, slot, &mac), "address");
	p->ref->port[slot].mac = p->mac[slot];
	p->is_stale = true;
}

/* A slot without its port has no address. */
static void clear_mac(struct pair *p, uint16_t slot)
{
	must(p, local_set_owner(p->local, slot, &(struct mac){ { 0 } }), "address");
}

/* The slot of a device with the address that is in the VLAN; 0: there is none. */
static uint16_t owner_in(const struct pair *p, uint64_t mac, uint16_t vid)
{
	for (uint16_t i = 1; i < PAIR_SLOTS; i++) {
		if (p->has_port[i] && p->mac[i] == mac && mac &&
		    (!vid || (!p->br.local_vlan_0 && (p->port[i].vlan[vid] & MV_MEMBER))))
			return i;
	}
	return 0;
}

/* An exception ends with what it is an exception from. */
static void forget_gone(struct pair *p)
{
	struct ref *r = p->ref;

	for (uint32_t i = 0; i < r->n_gone;) {
		if (owner_in(p, r->gone[i] & 0xffffffffffffULL, (uint16_t)(r->gone[i] >> 48)))
			i++;
		else
			r->gone[i] = r->gone[--r->n_gone];
	}
}

/* What a user removed and added again is the user's, and stays when the device's address goes. */
static void store_own(void *arg, uint64_t key, uint16_t slot)
{
	struct pair *p = arg;
	const struct fdb_entry e = { .mac = mac_from_u64(key & 0xffffffffffffULL),
				     .vid = (uint16_t)(key >> 48),
				     .port = slot,
				     .flags = FDB_LOCAL | FDB_USER | FDB_KERNEL };

	if (p->has_port[slot])
		pair_add_entry(p, &e);
}

/* The device has the address again: its entry is computed. */
static void drop_own(void *arg, uint64_t key)
{
	struct pair *p = arg;
	struct ref_entry *e = ref_fdb_find(p->ref, key & 0xffffffffffffULL, (uint16_t)(key >> 48));

	if (!e || !(e->e.flags & FDB_LOCAL))
		return;
	ref_fdb_del(p->ref, e);
	if (fdb_del(p->fdb, key))
		pair_fail(p, "entry %llx is not there", (unsigned long long)key);
}

static void settle(struct pair *p)
{
	const struct local_ops ops = { .store = store_own, .drop = drop_own, .arg = p };

	forget_gone(p);
	if (local_settle(p->local, p->model, p->now_ns, 0, &ops) & LOCAL_MORE)
		pair_fail(p, "words of the kernel are not settled");
	if (local_publish(p->local, p->model) < 0)
		pair_fail(p, "no memory");
}

void pair_tell_own(struct pair *p, uint64_t mac, uint16_t vid, bool gone)
{
	uint64_t key = (uint64_t)vid << 48 | mac;
	uint16_t slot = owner_in(p, mac, vid);
	struct ref *r = p->ref;
	uint32_t i = 0;

	settle(p);
	while (i < r->n_gone && r->gone[i] != key)
		i++;
	if (gone)
		local_untold(p->local, key, p->now_ns);
	else if (slot && local_told(p->local, p->model, key, slot, p->now_ns) != LOCAL_OWN)
		pair_fail(p, "an entry of slot %u is not known as its own", slot);
	if (gone && slot && i == r->n_gone && r->n_gone < REF_GONE)
		r->gone[r->n_gone++] = key;
	else if (!gone && slot && i < r->n_gone)
		r->gone[i] = r->gone[--r->n_gone];
	/* Nobody can be asked here: it is about what is now, and not after the next change. */
	settle(p);
	p->is_stale = true;
}

void pair_set_vlan(struct pair *p, uint16_t slot, uint16_t vid)
{
	must(p, model_port_vlan_set(p->model, slot, vid, p->port[slot].vlan[vid]), "VLAN");
	refload_port(p->ref, slot, &p->port[slot]);
	p->is_stale = true;
}

void pair_del_port(struct pair *p, uint16_t slot, bool moves)
{
	struct model_port_attr a = p->port[slot];

	a.bridge = p->index + 1;
	if (moves)
		must(p, model_port_set(p->model, slot, &a, NULL), "other bridge");
	else
		model_port_del(p->model, slot);
	refload_port(p->ref, slot, NULL);
	clear_mac(p, slot);
	p->has_port[slot] = false;
	p->has_entries[slot] = true;
	p->is_stale = true;
}

void pair_flush(struct pair *p, const struct fdb_filter *filter)
{
	uint32_t n = fdb_flush(p->fdb, filter), want = ref_fdb_flush(p->ref, filter);

	if (n != want)
		pair_fail(p, "flush removed %u entries instead of %u", n, want);
}

void pair_remake(struct pair *p, uint16_t index)
{
	model_bridge_del(p->model, p->index);
	model_bridge_del(p->model, p->index + 1);
	for (uint16_t i = 1; i < PAIR_SLOTS; i++) {
		p->has_port[i] = p->has_entries[i] = false;
		refload_port(p->ref, i, NULL);
	}
	p->ref->mdb.n_members = 0;
	/* A table goes after the last view that has it. */
	view_free(p->view);
	p->view = NULL;
	fdb_free(p->fdb);
	local_free(p->local);
	p->index = index;
	if (!make_tables(p))
		pair_fail(p, "no memory");
	else
		make_bridges(p);
}

/* ---- entries ---- */

void pair_add_entry(struct pair *p, const struct fdb_entry *e)
{
	bool got = !fdb_add(p->fdb, e), want = ref_fdb_add(p->ref, e);

	if (got != want)
		pair_fail(p, "entry was %sadded", got ? "" : "not ");
}

void pair_add_unless_moved(struct pair *p, const struct fdb_entry *e)
{
	const struct ref_entry *old = ref_fdb_find(p->ref, mac_to_u64(&e->mac), e->vid);
	bool moved = old && old->e.port != e->port && !(old->e.flags & FDB_KERNEL);
	bool got = !fdb_add_unless_moved(p->fdb, e);

	if (got != (!moved && ref_fdb_add(p->ref, e)))
		pair_fail(p, "entry was %sadded", got ? "" : "not ");
}

void pair_del_entry(struct pair *p, uint64_t mac, uint16_t vid, uint16_t port)
{
	uint64_t key = (uint64_t)vid << 48 | mac;
	struct ref_entry *e = ref_fdb_find(p->ref, mac, vid);
	bool got, want = e && (port == FDB_ANY || e->e.port == port);

	got = !(port == FDB_ANY ? fdb_del(p->fdb, key) : fdb_del_if(p->fdb, key, port));
	if (got != want)
		pair_fail(p, "entry was %sremoved", got ? "" : "not ");
	if (want)
		ref_fdb_del(p->ref, e);
}

void pair_set_flags(struct pair *p, uint64_t mac, uint16_t vid, uint16_t mask, uint16_t flags)
{
	struct ref_entry *e = ref_fdb_find(p->ref, mac, vid);
	bool got = !fdb_set_flags(p->fdb, (uint64_t)vid << 48 | mac, FDB_ANY, mask, flags);

	if (got != (e != NULL))
		pair_fail(p, "flags were %sset", got ? "" : "not ");
	if (!e)
		return;
	e->e.flags = (uint16_t)((e->e.flags & ~mask) | (flags & mask));
	if (e->e.flags & (FDB_LOCAL | FDB_STATIC | FDB_EXTERN | FDB_USER))
		e->is_learned = false;
}

void pair_age(struct pair *p, uint64_t hold_ns, uint32_t n_buckets)
{
	struct fdb_cursor c = { 0 };
	uint32_t n = 0, want = ref_fdb_age(p->ref, p->now_ns, hold_ns);

	do
		n += fdb_age(p->fdb, p->now_ns, hold_ns, &c, n_buckets, NULL, NULL);
	while (c.pos);
	if (n != want)
		pair_fail(p, "%u entries aged instead of %u", n, want);
}

void pair_set_max_learned(struct pair *p, uint32_t n)
{
	fdb_set_max_learned(p->fdb, n);
	p->ref->max_learned = n;
}

void pair_set_granularity(struct pair *p, uint64_t ns)
{
	fdb_set_granularity(p->fdb, ns);
	p->ref->granularity_ns = ns;
}

struct listing {
	struct pair *p;
	uint32_t n;
};

static void check_entry(const struct fdb_entry *e, void *arg)
{
	struct listing *l = arg;
	struct ref_entry *want = ref_fdb_find(l->p->ref, mac_to_u64(&e->mac), e->vid);

	l->n++;
	if (want && want->e.port == e->port && want->e.flags == e->flags &&
	    want->e.seen_ns == e->seen_ns)
		return;
	pair_fail(l->p, "FDB has another entry:");
	refload_print_entry(l->p->report, e);
	if (!want)
		return;
	fputs("expected: ", l->p->report);
	refload_print_entry(l->p->report, &want->e);
}

void pair_check_fdb(struct pair *p)
{
	struct listing l = { .p = p };
	struct fdb_cursor c = { 0 };
	struct fdb_stats s;

	fdb_walk(p->fdb, &c, UINT32_MAX, check_entry, &l);
	if (l.n != p->ref->n_entries)
		pair_fail(p, "FDB has %u entries instead of %u", l.n, p->ref->n_entries);
	fdb_stats(p->fdb, &s);
	if (s.n_entries != p->ref->n_entries)
		pair_fail(p, "FDB counts %u entries instead of %u", (unsigned int)s.n_entries,
			  p->ref->n_entries);
	if (s.n_learned != ref_fdb_n_learned(p->ref))
		pair_fail(p, "FDB counts %u learned entries instead of %u",
			  (unsigned int)s.n_learned, ref_fdb_n_learned(p->ref));
}

/* ---- groups ---- */

void pair_set_member(struct pair *p, const struct mdb_key *k, uint16_t slot, uint8_t flags)
{
	int err = model_mdb_set(p->model, p->index, k, slot, flags);
	bool got = !err, want = p->has_port[slot] && refload_member(p->ref, k, slot, flags);

	if (got != want)
		pair_fail(p, "membership was %schanged", got ? "" : "not ");
	p->is_stale = true;
}

void pair_clear_groups(struct pair *p)
{
	model_mdb_clear(p->model, p->index);
	p->ref->mdb.n_members = 0;
	p->is_stale = true;
}

static void check_member(const struct mdb_key *k, uint16_t slot, uint8_t flags, void *arg)
{
	struct listing *l = arg;
	uint32_t n = l->p->ref->mdb.n_members;
	bool include = flags & MDB_INCLUDE, blocked = flags & MDB_BLOCKED;

	l->n++;
	/* Setting what is there already changes nothing. */
	if (!refload_member(l->p->ref, k, slot, flags) || l->p->ref->mdb.n_members != n)
		pair_fail(l->p, "slot %u is a member%s%s in VLAN %u", slot,
			  include ? " include" : "", blocked ? " blocked" : "", k->vid);
}

void pair_check_groups(struct pair *p)
{
	struct listing l = { .p = p };

	model_mdb_each(p->model, p->index, check_member, &l);
	if (l.n != p->ref->mdb.n_members)
		pair_fail(p, "%u memberships instead of %u", l.n, p->ref->mdb.n_members);
}

/* ---- frames ---- */

/* What the core makes of a frame, in the reference's form. */
struct outcome {
	struct verdict v;
	uint32_t n[PAIR_SLOTS]; /* destinations of this slot */
	struct ref_result r;
};

static bool update_view(struct pair *p)
{
	struct view *v;

	if (!p->is_stale)
		return true;
	settle(p);
	v = view_build(p->model, p->view, NULL);
	if (!v) {
		pair_fail(p, "no view");
		return false;
	}
	view_free(p->view);
	p->view = v;
	p->is_stale = false;
	return true;
}

/* All copies are made of one buffer, one after the other, as a worker may do it. */
static void copy_out(struct outcome *o, const struct flood_dst *d, struct frame *f)
{
	struct ref_copy *c = &o->r.copy[d->port];

	c->why = fwd_admit(&o->v, d);
	if (c->why)
		return;
	if (fwd_set_form(&o->v, f, fwd_is_tagged(&o->v, d))) {
		c->why = DROP_NO_ROOM;
		return;
	}
	memcpy(c->bytes, f->data, f->len);
	c->len = f->len;
}

static void decide(struct pair *p, uint16_t in, const uint8_t *bytes, uint32_t len,
		   struct outcome *o)
{
	uint8_t buf[PAIR_HEADROOM + PAIR_MAX_LEN] = { 0 };
	struct frame f = { .data = buf + PAIR_HEADROOM, .len = len, .headroom = PAIR_HEADROOM };

	memcpy(f.data, bytes, len);
	fwd_decide(p->view, in, &f, p->now_ns, &o->v);
	o->r.drop = o->v.drop;
	o->r.learned = o->v.learned;
	for (uint16_t i = 0; i < PAIR_SLOTS; i++) {
		o->n[i] = 0;
		o->r.copy[i].why = DROP_NONE;
		o->r.copy[i].len = 0;
	}
	if (o->v.drop)
		return;
	if (o->v.refused) {
		o->r.copy[o->v.refused_port].why = o->v.refused;
		o->n[o->v.refused_port]++;
	}
	for (uint32_t i = 0; i < o->v.n; i++) {
		uint16_t to = o->v.dst[i].port;

		if (!to || to >= PAIR_SLOTS) {
			pair_fail(p, "copy for slot %u, which is not there", to);
			return;
		}
		o->n[to]++;
		copy_out(o, &o->v.dst[i], &f);
	}
}

static void print_copy(FILE *to, const struct ref_copy *c)
{
	if (c->len)
		refload_print_frame(to, c->bytes, c->len);
	else
		fprintf(to, "nothing, %s\n", c->why ? drop_name(c->why) : "no destination");
}

static void compare_copy(struct pair *p, uint16_t slot, const struct ref_copy *want,
			 const struct outcome *o)
{
	const struct ref_copy *got = &o->r.copy[slot];

	if (o->n[slot] > 1)
		pair_fail(p, "slot %u is a destination %u times", slot, o->n[slot]);
	if (got->why == want->why && got->len == want->len &&
	    !memcmp(got->bytes, want->bytes, want->len))
		return;
	pair_fail(p, "slot %u:", slot);
	fputs("  expected: ", p->report);
	print_copy(p->report, want);
	fputs("  got:      ", p->report);
	print_copy(p->report, got);
}

void pair_frame(struct pair *p, uint16_t in, const uint8_t *bytes, uint32_t len)
{
	static struct ref_result want;
	static struct outcome got;
	struct fdb_stats s;
	uint64_t no_room;

	if (!update_view(p))
		return;
	p->n_frames++;
	fdb_stats(p->fdb, &s);
	no_room = s.n_no_room;
	ref_frame(p->ref, in, bytes, len, p->now_ns, &want);
	decide(p, in, bytes, len, &got);
	fdb_stats(p->fdb, &s);
	if (s.n_no_room != no_room) {
		/* Allowed until the table has grown; a frame to itself would differ too. */
		struct ref_entry *e = &p->ref->entry[p->ref->n_entries - 1];

		ref_fdb_del(p->ref, e);
		return;
	}
	if (got.r.drop != want.drop)
		pair_fail(p, "verdict %s, expected %s", drop_name(got.r.drop),
			  drop_name(want.drop));
	if (got.r.learned != want.learned)
		pair_fail(p, "learned %d, expected %d", got.r.learned, want.learned);
	for (uint16_t i = 1; i < PAIR_SLOTS; i++)
		compare_copy(p, i, &want.copy[i], &got);
}

/* ---- views ---- */

static bool dst_in(const struct flood_array *a, const struct flood_dst *d)
{
	for (uint32_t i = 0; i < a->n; i++) {
		if (!memcmp(&a->dst[i], d, sizeof(*d)))
			return true;
	}
	return false;
}

static void compare_floods(struct pair *p, uint16_t vid, const struct view_vlan *a,
			   const struct view_vlan *b)
{
	if (!a != !b) {
		pair_fail(p, "VLAN %u is %s the view that shares", vid, a ? "only in" : "not in");
		return;
	}
	for (int c = 0; a && c < FLOOD_N; c++) {
		bool same = a->flood[c].n == b->flood[c].n;

		for (uint32_t i = 0; same && i < a->flood[c].n; i++)
			same = dst_in(&b->flood[c], &a->flood[c].dst[i]);
		if (!same)
			pair_fail(p, "VLAN %u: flood array %d is stale", vid, c);
	}
}

static void compare_ports(struct pair *p, uint16_t slot, const struct view_port *a,
			  const struct view_port *b)
{
	bool same = !a == !b;

	if (same && a)
		same = a->bridge == b->bridge && a->flags == b->flags && a->state == b->state &&
		       a->pvid == b->pvid && a->backup == b->backup &&
		       !a->pvid_entry == !b->pvid_entry && a->max_len == b->max_len &&
		       !memcmp(a->vlan, b->vlan, sizeof(a->vlan));
	if (!same)
		pair_fail(p, "port %u of the view is stale", slot);
}

/* Each entry of @a is in @b, with the same destinations. */
static void compare_groups(struct pair *p, const struct group_table *a, const struct group_table *b)
{
	if (!a != !b || (a && a->n_groups != b->n_groups)) {
		pair_fail(p, "there are other groups than in the view that shares");
		return;
	}
	for (uint32_t i = 0; a && i <= a->mask; i++) {
		const struct group *g = a->slot[i].group;
		const struct group *h = g ? group_find(b, &g->key) : NULL;
		struct flood_array other;
		bool same = h && h->n == g->n;

		if (!g)
			continue;
		other = (struct flood_array){ .dst = h ? h->dst : NULL, .n = h ? h->n : 0 };
		for (uint32_t j = 0; same && j < g->n; j++)
			same = dst_in(&other, &g->dst[j]);
		if (!same)
			pair_fail(p, "a group in VLAN %u is stale", g->key.vid);
	}
}

static void compare_bridges(struct pair *p, const struct view_bridge *a,
			    const struct view_bridge *b)
{
	bool same = !a == !b;

	if (same && a)
		same = a->flags == b->flags && a->tpid == b->tpid && a->host_port == b->host_port &&
		       a->fdb == b->fdb;
	if (!same) {
		pair_fail(p, "a bridge of the view is stale");
		return;
	}
	for (uint16_t vid = 0; a && !p->has_failed && vid < VID_N; vid++)
		compare_floods(p, vid, view_vlan(a, vid), view_vlan(b, vid));
	if (a && !p->has_failed)
		compare_groups(p, a->groups, b->groups);
}

void pair_check_view(struct pair *p)
{
	struct view *v;

	if (!update_view(p))
		return;
	v = view_build(p->model, NULL, NULL);
	if (!v) {
		pair_fail(p, "no view");
		return;
	}
	for (uint16_t i = 0; i < PAIR_SLOTS; i++)
		compare_ports(p, i, p->view->port[i], v->port[i]);
	for (uint16_t i = 0; i < XB_MAX_BRIDGES; i++)
		compare_bridges(p, p->view->bridge[i], v->bridge[i]);
	view_free(v);
}
