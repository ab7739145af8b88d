/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/local.h"
#include "ctl/neigh.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "util/clock.h"

/* ---- one message ---- */

static void entry_removed(struct ctl *c, struct ctl_bridge *b, uint64_t key)
{
	struct fdb_entry old;

	if (fdb_get(b->fdb, key, &old))
		return;
	if (old.flags & FDB_LOCAL)
		locals_pass_del(c, ctl_index(c, b), &old.mac);
	fdb_del(b->fdb, key);
}

/* Where a word of the kernel about an entry comes from. */
enum word {
	WORD_EVENT, /* it happened, before or after what a worker saw */
	WORD_ECHO,  /* the event that our own write caused */
	WORD_TABLE, /* an answer: so it is, unless a worker has seen more meanwhile */
};

/*
 * A worker writes the time of an active station at least every second, so one
 * that the kernel has seen so much later is not where the worker saw it last.
 */
#define SEEN_SLACK_NS (2 * NSEC_PER_SEC)

/*
 * A station that a worker saw on another port, and that the kernel does not hold
 * there yet, is going to be written to the kernel. Who added an entry on purpose
 * is obeyed all the same; our own write may echo such an entry.
 */
static bool kernel_wins(const struct fdb_entry *e, const struct fdb_entry *old, enum word word)
{
	uint16_t kept = FDB_LOCAL | FDB_STICKY;

	if (word != WORD_ECHO)
		kept |= FDB_STATIC | FDB_EXTERN;
	return (e->flags & kept) || clock_diff(e->seen_ns, old->seen_ns) > (int64_t)SEEN_SLACK_NS;
}

static int entry_put(struct fdb *f, const struct fdb_entry *e, const struct fdb_entry *old,
		     enum word word)
{
	if (!old || kernel_wins(e, old, word))
		return fdb_add(f, e);
	return fdb_add_unless_moved(f, e);
}

static void note_full(struct ctl *c, const struct ctl_bridge *b)
{
	if (log_limit_ok(&c->limit_learn, "fdb", c->now_ns))
		history_add(&c->history, LOG_LEVEL_WARN,
			    "bridge %s: FDB is full (fdb-max), entries of the kernel are missing",
			    b->name);
}

/* 0, -EEXIST if a worker's word stands, or -ENOSPC. */
static int store(struct ctl *c, struct ctl_bridge *b, struct fdb_entry *e, enum word word)
{
	struct fdb_entry old;
	bool was_there = !fdb_get(b->fdb, fdb_key(e->vid, &e->mac), &old);
	bool was_local = was_there && (old.flags & FDB_LOCAL);
	int err;

	/* A worker may have seen it later than the kernel did. */
	if (was_there && old.port == e->port && old.seen_ns > e->seen_ns)
		e->seen_ns = old.seen_ns;
	err = entry_put(b->fdb, e, was_there ? &old : NULL, word);
	if (err == -ENOSPC)
		note_full(c, b);
	if (err)
		return err;
	if ((e->flags & FDB_LOCAL) && !was_local)
		locals_pass_add(c, ctl_index(c, b), &e->mac);
	else if (!(e->flags & FDB_LOCAL) && was_local)
		locals_pass_del(c, ctl_index(c, b), &e->mac);
	return 0;
}

/*
 * What the kernel enters for its devices is computed (core/local.h). True if the
 * local entry is such a one, or waits to be known as one: then what else we had
 * for the key is nothing any more.
 */
static bool is_device_entry(struct ctl *c, struct ctl_bridge *b, uint64_t key, uint16_t slot)
{
	struct fdb_entry old;

	if (!local_has(b->local, c->model, key) && !fdb_get(b->fdb, key, &old) &&
	    (old.flags & FDB_LOCAL))
		return false;
	if (local_told(b->local, c->model, key, slot, c->now_ns) == LOCAL_OTHER)
		return false;
	entry_removed(c, b, key);
	return true;
}

#define OF_DEVICE 1

/* As store(), or OF_DEVICE if it does not stand in core/fdb. */
static int entry_told(struct ctl *c, struct ctl_bridge *b, const struct neigh_info *n,
		      uint16_t slot, enum word word)
{
	uint64_t age = n->present & NEIGH_HAS_AGE ? n->updated_age_ns : 0;
	uint64_t key = fdb_key(n->vid, &n->mac);
	struct fdb_entry e = { .mac = n->mac, .vid = n->vid, .port = slot };

	e.flags = neigh_fdb_flags(n);
	e.seen_ns = c->now_ns > age ? c->now_ns - age : 0;
	if (!(e.flags & FDB_LOCAL))
		local_untold(b->local, key, c->now_ns);
	else if (is_device_entry(c, b, key, slot))
		return OF_DEVICE;
	else
		e.flags |= FDB_USER;
	return store(c, b, &e, word);
}

void fdbsync_store_local(struct ctl *c, struct ctl_bridge *b, const struct neigh_info *n,
			 uint16_t slot)
{
	struct fdb_entry e = { .mac = n->mac,
			       .vid = n->vid,
			       .port = slot,
			       .flags = neigh_fdb_flags(n) | FDB_USER,
			       .seen_ns = c->now_ns };

	(void)store(c, b, &e, WORD_TABLE);
}

void fdbsync_drop_local(struct ctl *c, struct ctl_bridge *b, uint64_t key)
{
	struct fdb_entry old;

	if (!fdb_get(b->fdb, key, &old) && (old.flags & FDB_LOCAL))
		entry_removed(c, b, key);
}

bool fdbsync_find(struct ctl *c, const struct neigh_info *n, struct ctl_bridge **b, uint16_t *slot)
{
	struct ctl_port *p;

	if (n->is_self)
		return false;
	*b = ctl_bridge_by_ifindex(c, n->ifindex);
	if (*b) {
		*slot = (*b)->host_slot;
		return true;
	}
	p = ctl_port_by_ifindex(c, n->ifindex);
	if (!p || p->is_host)
		return false;
	*b = &c->bridge[p->bridge];
	*slot = ctl_slot(c, p);
	return (*b)->source == CONF_SOURCE_KERNEL;
}

/* Our word stood against the kernel's: the kernel has to hear it, whatever became of its write. */
static void rewrite(struct ctl *c, struct ctl_bridge *b, uint64_t key)
{
	struct fdb_entry e;

	if (!fdb_get(b->fdb, key, &e))
		learn_again(c, ctl_index(c, b), key, e.port);
}

/*
 * What a worker learned since, and the kernel does not hold yet, is not what it
 * has removed: the write that is under way decides.
 */
static void entry_gone(struct ctl *c, struct ctl_bridge *b, uint64_t key)
{
	struct fdb_entry e;

	c->stats.n_neigh_dels++;
	if (!fdb_get(b->fdb, key, &e) && (e.flags & FDB_KERNEL))
		entry_removed(c, b, key);
}

void fdbsync_apply(struct ctl *c, const struct neigh_info *n)
{
	struct ctl_bridge *b;
	uint16_t slot;
	uint64_t key;

	c->stats.n_neigh_events++;
	if (mac_is_multicast(&n->mac) || !fdbsync_find(c, n, &b, &slot))
		return;
	key = fdb_key(n->vid, &n->mac);
	if (n->deleted) {
		entry_gone(c, b, key);
		local_untold(b->local, key, c->now_ns);
		return;
	}
	switch (learn_origin(c, ctl_index(c, b), key, slot)) {
	case LEARN_OLDER:
		return;
	case LEARN_ECHO:
		/* If a worker has seen it elsewhere by now, that goes next. */
		(void)entry_told(c, b, n, slot, WORD_ECHO);
		return;
	case LEARN_NEWS:
		if (entry_told(c, b, n, slot, WORD_EVENT) == -EEXIST)
			rewrite(c, b, key);
		return;
	}
}

void fdbsync_told(struct ctl *c, const struct neigh_info *n)
{
	struct ctl_bridge *b;
	uint16_t slot;

	if (!mac_is_multicast(&n->mac) && fdbsync_find(c, n, &b, &slot))
		(void)entry_told(c, b, n, slot, WORD_TABLE);
}

/* ---- a port that leaves ---- */

struct leaving {
	struct ctl *c;
	uint16_t bridge;
	uint16_t slot;
};

static void forget_local(const struct fdb_entry *e, void *arg)
{
	struct leaving *l = arg;

	if (e->port == l->slot && (e->flags & FDB_LOCAL))
		locals_pass_del(l->c, l->bridge, &e->mac);
}

void fdbsync_forget_port(struct ctl *c, uint16_t bridge, uint16_t slot)
{
	struct fdb_filter all = { .port = slot, .vid = FDB_ANY };
	struct leaving l = { .c = c, .bridge = bridge, .slot = slot };
	struct fdb_cursor cursor = { 0 };
	struct fdb *f = c->bridge[bridge].fdb;

	if (!f)
		return;
	locals_set_device(c, &c->port[slot], &(struct mac){ { 0 } });
	while (fdb_walk(f, &cursor, 4096, forget_local, &l))
		ctl_alive(c);
	fdb_flush(f, &all);
	/* Slots are not given out again at once; if all were, their new ports read the table. */
	if (c->n_left < XB_MAX_PORTS)
		c->left[c->n_left++] = (struct ctl_left){ .bridge = bridge, .slot = slot };
}

void fdbsync_flush_left(struct ctl *c)
{
	for (uint32_t i = 0; i < c->n_left; i++) {
		const struct fdb_filter all = { .port = c->left[i].slot, .vid = FDB_ANY };
		struct fdb *f = c->bridge[c->left[i].bridge].fdb;

		if (f && !c->port[c->left[i].slot].is_used)
			fdb_flush(f, &all);
		ctl_alive(c);
	}
	c->n_left = 0;
}

/* ---- the whole table ---- */

#define READ_TRIES        3
#define READ_PAUSE_NS     NSEC_PER_SEC
#define READ_PAUSE_MAX_NS (64 * NSEC_PER_SEC)

struct keys {
	uint64_t *v;
	uint32_t n, size;
};

struct reading {
	struct ctl *c;
	struct keys keys[XB_MAX_BRIDGES];          /* of entries in core/fdb */
	struct local_tally *tally[XB_MAX_BRIDGES]; /* of the others */
	uint32_t bridge;                           /* that is swept */
	uint32_t n_datagrams;
};

static int key_add(struct keys *k, uint64_t key)
{
	if (k->n == k->size) {
		uint32_t size = k->size ? k->size * 2 : 256;
		uint64_t *v = realloc(k->v, size * sizeof(*v));

		if (!v)
			return -ENOMEM;
		k->v = v;
		k->size = size;
	}
	k->v[k->n++] = key;
	return 0;
}

static int read_entry(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct reading *r = arg;
	struct ctl_bridge *b;
	uint16_t slot;
	uint64_t key;
	int err;

	(void)h;
	if (i->type != RTMSG_NEIGH || i->neigh.deleted || mac_is_multicast(&i->neigh.mac) ||
	    !fdbsync_find(r->c, &i->neigh, &b, &slot))
		return 0;
	key = fdb_key(i->neigh.vid, &i->neigh.mac);
	local_tick(r->tally[ctl_index(r->c, b)], key);
	err = entry_told(r->c, b, &i->neigh, slot, WORD_TABLE);
	if (err == OF_DEVICE)
		return 0;
	if (err == -EEXIST)
		rewrite(r->c, b, key);
	return key_add(&r->keys[ctl_index(r->c, b)], key);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct sweep {
	struct keys *keys;
	struct keys gone;
};

static void sweep_entry(const struct fdb_entry *e, void *arg)
{
	struct sweep *s = arg;
	uint64_t key = fdb_key(e->vid, &e->mac);

	if (!(e->flags & FDB_KERNEL) ||
	    (s->keys->n && bsearch(&key, s->keys->v, s->keys->n, sizeof(key), compare)))
		return;
	if (s->gone.n < s->gone.size)
		s->gone.v[s->gone.n++] = key;
}

/* What the kernel held and did not tell of now is gone. */
static int sweep(struct ctl *c, struct ctl_bridge *b, struct keys *keys)
{
	struct fdb_cursor cursor = { 0 };
	struct sweep s = { .keys = keys };
	struct fdb_stats st;

	fdb_stats(b->fdb, &st);
	s.gone.size = (uint32_t)st.n_entries;
	s.gone.v = calloc(s.gone.size ? s.gone.size : 1, sizeof(*s.gone.v));
	if (!s.gone.v)
		return -ENOMEM;
	if (keys->n)
		qsort(keys->v, keys->n, sizeof(*keys->v), compare);
	while (fdb_walk(b->fdb, &cursor, 1024, sweep_entry, &s))
		ctl_alive(c);
	for (uint32_t i = 0; i < s.gone.n; i++)
		entry_removed(c, b, s.gone.v[i]);
	free(s.gone.v);
	return 0;
}

static void beat(void *arg)
{
	struct reading *r = arg;

	r->n_datagrams++;
	ctl_alive(r->c);
}

/* The table lacks one that follows from a device: removed, or overlooked while it changed. */
static void local_missing(void *arg, uint64_t key, uint16_t slot)
{
	struct reading *r = arg;

	(void)slot;
	local_untold(r->c->bridge[r->bridge].local, key, r->c->now_ns);
}

static bool is_read(const struct ctl_bridge *b)
{
	return b->is_used && b->source == CONF_SOURCE_KERNEL;
}

static int read_all(struct ctl *c, struct reading *r)
{
	int err;

	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (!is_read(&c->bridge[i]))
			continue;
		r->tally[i] = local_tally_new(c->bridge[i].local, 0);
		if (!r->tally[i])
			return -ENOMEM;
	}
	err = rtsock_dump(c->rt, RTREQ_NEIGHS, read_entry, beat, r);
	for (r->bridge = 0; !err && r->bridge < XB_MAX_BRIDGES; r->bridge++) {
		struct ctl_bridge *b = &c->bridge[r->bridge];

		if (!is_read(b))
			continue;
		err = sweep(c, b, &r->keys[r->bridge]);
		b->has_fdb = !err;
		if (!err)
			local_each_missing(b->local, c->model, r->tally[r->bridge], local_missing,
					   r);
	}
	return err;
}

/* @is_one: it was told at once, so nothing can have been left out. */
static int read_once(struct ctl *c, bool *is_one)
{
	struct reading *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->c = c;
	err = read_all(c, r);
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		free(r->keys[i].v);
		local_tally_free(r->tally[i]);
	}
	*is_one = r->n_datagrams == 1;
	free(r);
	for (uint32_t i = 1; !err && i < c->slot_end; i++)
		c->port[i].fdb_wanted = false;
	return err;
}

/*
 * The kernel goes on in its table by counting entries (net/bridge/br_fdb.c,
 * br_fdb_dump()): for each that is removed between two parts of it, another one may be
 * left out, of which nobody tells later. Such a reading is good enough to
 * forward by, and is done again.
 */
int fdbsync_read(struct ctl *c)
{
	uint64_t n_dels, n_lost;
	bool is_one;
	int err;

	for (uint32_t i = 0; i < READ_TRIES; i++) {
		/* What is known to have gone before is not told of again below. */
		ctl_read_events(c);
		n_dels = c->stats.n_neigh_dels;
		n_lost = c->stats.n_again_lost;
		err = read_once(c, &is_one);
		if (err)
			return err;
		ctl_read_events(c);
		/* What the kernel was to be told and cannot be yet is found again later. */
		if (n_lost != c->stats.n_again_lost)
			break;
		if (is_one || n_dels == c->stats.n_neigh_dels) {
			c->fdb_again_ns = c->fdb_pause_ns = 0;
			return 0;
		}
	}
	c->fdb_pause_ns = c->fdb_pause_ns ? 2 * c->fdb_pause_ns : READ_PAUSE_NS;
	if (c->fdb_pause_ns > READ_PAUSE_MAX_NS)
		c->fdb_pause_ns = READ_PAUSE_MAX_NS;
	c->fdb_again_ns = c->now_ns + c->fdb_pause_ns;
	return 0;
}

/* ---- ports that are new ---- */

struct port_reading {
	struct ctl *c;
	struct ctl_port *p;
	struct local_tally *tally;
	uint32_t n_datagrams;
};

static int read_port_entry(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	const struct port_reading *r = arg;
	struct ctl_bridge *b;
	uint16_t slot;
	uint64_t key;

	(void)h;
	if (i->type != RTMSG_NEIGH || i->neigh.deleted || i->neigh.ifindex != r->p->ifindex ||
	    mac_is_multicast(&i->neigh.mac) || !fdbsync_find(r->c, &i->neigh, &b, &slot))
		return 0;
	key = fdb_key(i->neigh.vid, &i->neigh.mac);
	local_tick(r->tally, key);
	if (entry_told(r->c, b, &i->neigh, slot, WORD_TABLE) == -EEXIST)
		rewrite(r->c, b, key);
	return 0;
}

/* What its own address has no entry for; another device may have it, but that can be asked. */
static void port_missing(void *arg, uint64_t key, uint16_t slot)
{
	const struct port_reading *r = arg;

	if (slot == ctl_slot(r->c, r->p))
		local_untold(r->c->bridge[r->p->bridge].local, key, r->c->now_ns);
}

static void port_beat(void *arg)
{
	struct port_reading *r = arg;

	r->n_datagrams++;
	ctl_alive(r->c);
}

static int read_port(struct ctl *c, struct ctl_port *p)
{
	const struct local *l = c->bridge[p->bridge].local;
	struct port_reading r = { .c = c, .p = p, .tally = local_tally_new(l, ctl_slot(c, p)) };
	uint64_t n_dels;
	int err;

	if (!r.tally)
		return -ENOMEM;
	ctl_read_events(c);
	n_dels = c->stats.n_neigh_dels;
	err = rtsock_dump_port(c->rt, p->ifindex, read_port_entry, port_beat, &r);
	if (!err)
		local_each_missing(l, c->model, r.tally, port_missing, &r);
	local_tally_free(r.tally);
	if (err)
		return err;
	p->fdb_wanted = false;
	ctl_read_events(c);
	/* As for the whole table, which is what is read then. */
	if (r.n_datagrams > 1 && n_dels != c->stats.n_neigh_dels)
		fdbsync_again(c, READ_PAUSE_NS);
	return 0;
}

int fdbsync_read_ports(struct ctl *c)
{
	int err = 0;

	for (uint32_t i = 1; !err && i < c->slot_end; i++) {
		if (c->port[i].is_used && c->port[i].fdb_wanted)
			err = read_port(c, &c->port[i]);
	}
	return err;
}
