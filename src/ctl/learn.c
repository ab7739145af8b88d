/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "core/local.h"
#include "ctl/rtmsg.h"
#include "ctl/rtreq.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "util/clock.h"

#define BATCH        64
#define BATCHES_MAX  64 /* in one call, so that the event loop sees other things too */
#define DELETES_MAX  16 /* VLANs of a port on a bridge that does not filter (ctl/plan.c) */
#define REQUEST_SIZE (BATCH * (1 + DELETES_MAX) * RTREQ_SIZE)

enum write_kind {
	WRITE_LEARN,   /* a worker saw it there */
	WRITE_REFRESH, /* we believe that it is still there */
	WRITE_UNDO,    /* a refresh has put it back after it was removed: to be deleted */
};

/* A station as it is written to the kernel. */
struct write {
	uint64_t key;
	uint16_t bridge;
	uint16_t slot;
	enum write_kind kind;
	bool is_seen; /* its echo came back */
};

#define AGAIN_MAX   1024
#define AGAIN_SPARE (2 * BATCH) /* of it, for what is late in a batch and in what waits for one */

/*
 * The writes of one batch, from before they are sent until the events that they
 * caused have been read. Outside of that n is 0.
 */
static struct batch {
	struct write w[BATCH];
	uint32_t n;
	struct write again[AGAIN_MAX]; /* for later batches */
	uint32_t n_again;
	uint32_t buf[REQUEST_SIZE / sizeof(uint32_t)];
} batch;

/* @max: how many may wait. With what is lost the tables may differ: the kernel's is read again. */
static void again_add(struct ctl *c, const struct write *w, uint16_t slot, enum write_kind kind,
		      uint32_t max)
{
	if (batch.n_again >= max) {
		c->stats.n_again_lost++;
		fdbsync_again(c, NSEC_PER_SEC);
		return;
	}
	c->is_writing = true;
	batch.again[batch.n_again++] =
		(struct write){ .key = w->key, .bridge = w->bridge, .slot = slot, .kind = kind };
}

void learn_again(struct ctl *c, uint16_t bridge, uint64_t key, uint16_t slot)
{
	const struct write w = { .key = key, .bridge = bridge };

	again_add(c, &w, slot, WRITE_LEARN, AGAIN_MAX - AGAIN_SPARE);
}

/*
 * A refresh says what we believed, not what a worker has just seen. If we know
 * better by now it has pulled the station back, or put back what was removed:
 * then the kernel is told so.
 */
static bool is_refresh_late(struct ctl *c, const struct write *w)
{
	struct fdb_entry e;

	if (w->kind != WRITE_REFRESH)
		return false;
	if (fdb_get(c->bridge[w->bridge].fdb, w->key, &e)) {
		again_add(c, w, w->slot, WRITE_UNDO, AGAIN_MAX);
		return true;
	}
	if (e.port == w->slot)
		return false;
	again_add(c, w, e.port, WRITE_LEARN, AGAIN_MAX);
	return true;
}

/*
 * The kernel's order decides. The echo of a write comes after everything that
 * the kernel did before it, so an event for the same station that comes before
 * the echo is older than what the worker learned; one that comes after it is
 * newer. Before a refresh's echo the event was right, and we follow it.
 */
enum learn_origin learn_origin(struct ctl *c, uint16_t bridge, uint64_t key, uint16_t slot)
{
	for (uint32_t i = 0; i < batch.n; i++) {
		struct write *w = &batch.w[i];

		if (w->key != key || w->bridge != bridge)
			continue;
		if (w->slot == slot && w->kind != WRITE_UNDO) {
			w->is_seen = true;
			c->stats.n_echoes++;
			return is_refresh_late(c, w) ? LEARN_OLDER : LEARN_ECHO;
		}
		return !w->is_seen && w->kind == WRITE_LEARN ? LEARN_OLDER : LEARN_NEWS;
	}
	return LEARN_NEWS;
}

/* VLANs in which the kernel made an entry that nobody asked for. */
static size_t add_deletes(const struct ctl *c, const struct rtreq_station *st, uint8_t *p,
			  size_t room)
{
	const struct mirror_link *l = mirror_find(c->mirror, st->ifindex);
	size_t len = 0;

	if (!l || !l->vlans)
		return 0;
	for (uint32_t vid = 1, n = 0; vid <= VID_MAX && n < l->vlans->n && n < DELETES_MAX; vid++) {
		struct rtreq_station del = *st;
		int k;

		if (!(l->vlans->mv[vid] & MV_MEMBER))
			continue;
		n++;
		del.vid = (uint16_t)vid;
		k = rtreq_station_del(p + len, room - len, &del, false, 0);
		if (k < 0)
			break;
		len += (size_t)k;
	}
	return len;
}

static size_t add_request(const struct ctl *c, const struct write *w, uint8_t *p, size_t room)
{
	const struct ctl_bridge *b = &c->bridge[w->bridge];
	struct rtreq_station st = {
		.mac = mac_from_u64(w->key & 0xffffffffffffULL),
		.vid = (uint16_t)(w->key >> 48),
		.ifindex = c->port[w->slot].ifindex,
	};
	int k = w->kind == WRITE_UNDO ? rtreq_station_del(p, room, &st, false, 0)
				      : rtreq_station_use(p, room, &st, false, 0);
	size_t len;

	if (k < 0)
		return 0;
	len = (size_t)k;
	if (!b->is_filtering && w->kind != WRITE_UNDO)
		len += add_deletes(c, &st, p + len, room - len);
	return len;
}

static bool is_kernel_port(const struct ctl *c, uint16_t bridge, uint16_t slot)
{
	const struct ctl_port *p = &c->port[slot];

	return c->bridge[bridge].is_used && c->bridge[bridge].source == CONF_SOURCE_KERNEL &&
	       p->is_used && !p->is_host && p->bridge == bridge;
}

static void batch_add(struct ctl *c, const struct write *w);

struct answer {
	struct neigh_info n;
	bool is_there;
};

static int take_answer(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct answer *a = arg;

	(void)h;
	if (i->type == RTMSG_NEIGH) {
		a->n = i->neigh;
		a->is_there = true;
	}
	return 0;
}

/*
 * A write that nothing was heard of changed nothing in the kernel. Either it has
 * the station there already, and we have missed that, or it has refused: the port
 * does not learn or is not in the VLAN any more, and the worker did not know
 * yet. Then its answer stands, or frames would go nowhere for as long as our entry
 * lives.
 */
static void check_unheard(struct ctl *c, const struct write *w)
{
	const struct ctl_bridge *b = &c->bridge[w->bridge];
	struct rtreq_station st = {
		.mac = mac_from_u64(w->key & 0xffffffffffffULL),
		.vid = (uint16_t)(w->key >> 48),
		.ifindex = c->port[w->slot].ifindex,
	};
	struct answer a = { .is_there = false };
	struct fdb_entry e;
	int err;

	if (w->is_seen || w->kind == WRITE_UNDO || !is_kernel_port(c, w->bridge, w->slot) ||
	    fdb_get(b->fdb, w->key, &e) || e.port != w->slot || (e.flags & FDB_KERNEL))
		return;
	err = rtsock_station(c->rt, &st, take_answer, &a);
	if (err && err != -ENOENT)
		return;
	if (!a.is_there || a.n.ifindex != st.ifindex) {
		c->stats.n_learn_refused++;
		(void)fdb_del_if(b->fdb, w->key, w->slot);
	}
	if (a.is_there)
		fdbsync_told(c, &a.n);
}

static void batch_check(struct ctl *c)
{
	for (uint32_t i = 0; i < batch.n; i++)
		check_unheard(c, &batch.w[i]);
}

/* Sends the batch and reads what it caused. */
static void batch_send(struct ctl *c)
{
	uint8_t *p = (uint8_t *)batch.buf;
	size_t len = 0;
	int n, last = 0;

	if (!batch.n)
		return;
	for (uint32_t i = 0; i < batch.n; i++) {
		/* What waited for this batch may have lost its port. */
		if (is_kernel_port(c, batch.w[i].bridge, batch.w[i].slot))
			len += add_request(c, &batch.w[i], p + len, sizeof(batch.buf) - len);
	}
	n = len ? rtsock_request(c->rt, p, len, &last) : 0;
	c->stats.n_learn_writes += batch.n;
	/* Deleting what the kernel did not make is no failure. */
	if (n && last != -ENOENT) {
		c->stats.n_learn_errors += n > 0 ? (uint64_t)n : 1;
		if (log_limit_ok(&c->limit_learn, "learn", c->now_ns))
			log_debug("the kernel refused %d of %u stations: %s", n, batch.n,
				  strerror(n < 0 ? -n : -last));
	}
	ctl_read_events(c);
	batch_check(c);
	batch.n = 0;
}

static void batch_add(struct ctl *c, const struct write *w)
{
	/* The newest word about a station is enough, and one station is in a batch once. */
	for (uint32_t i = 0; i < batch.n; i++) {
		struct write *old = &batch.w[i];

		if (old->key != w->key || old->bridge != w->bridge)
			continue;
		if (w->kind == WRITE_LEARN || old->kind != WRITE_LEARN)
			*old = *w;
		return;
	}
	if (batch.n == BATCH)
		batch_send(c);
	batch.w[batch.n++] = *w;
}

/* What has to be put right; what that brings up waits for the next call. */
static void again_run(struct ctl *c)
{
	uint32_t n = batch.n_again;

	for (uint32_t i = 0; i < n; i++)
		batch_add(c, &batch.again[i]);
	batch_send(c);
	batch.n_again -= n;
	memmove(batch.again, batch.again + n, batch.n_again * sizeof(batch.again[0]));
}

/*
 * The kernel is told what the table still says: what a later frame or an event
 * has replaced meanwhile is not true any more, and what the kernel has told
 * itself it knows.
 */
static void learn_one(struct ctl *c, const struct dp_learn *l)
{
	const struct write w = { .key = l->key, .bridge = l->bridge, .slot = l->port };
	const struct ctl_bridge *b = &c->bridge[l->bridge];
	struct fdb_entry e;

	if (l->kind == DP_LEARN_REFRESH || !is_kernel_port(c, l->bridge, l->port) ||
	    fdb_get(b->fdb, l->key, &e) || e.port != l->port || (e.flags & FDB_KERNEL))
		return;
	/*
	 * Learned while VLAN filtering was switched: the kernel would enter it in all
	 * VLANs. Or by a worker that did not know yet that it is a device's address.
	 */
	if (b->is_filtering != (e.vid != VID_NONE) || local_has(b->local, c->model, l->key))
		(void)fdb_del_if(b->fdb, l->key, l->port);
	else
		batch_add(c, &w);
}

/* True if one is growing: then it wants to be seen to soon. */
static bool maintain_tables(struct ctl *c)
{
	bool is_growing = false;

	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used && c->bridge[i].fdb)
			is_growing = fdb_maintain(c->bridge[i].fdb, c->now_ns) || is_growing;
	}
	return is_growing;
}

/* @n_read: some stations are new, and may need a larger table. */
static bool run_end(struct ctl *c, uint64_t n_read, bool more)
{
	if (n_read)
		c->is_growing = maintain_tables(c);
	c->is_writing = batch.n_again != 0;
	return more;
}

bool learn_run(struct ctl *c)
{
	uint64_t n_read = 0;
	struct dp_learn v[BATCH];

	again_run(c);
	for (uint32_t k = 0; k < BATCHES_MAX; k++) {
		uint64_t done[XB_MAX_WORKERS] = { 0 };
		uint32_t n = dp_learn_read(c->dp, v, BATCH);

		if (!n)
			break;
		n_read += n;
		for (uint32_t i = 0; i < n; i++) {
			done[v[i].worker] = v[i].seq;
			learn_one(c, &v[i]);
		}
		batch_send(c);
		for (uint32_t i = 0; i < XB_MAX_WORKERS; i++) {
			if (done[i])
				dp_learn_done(c->dp, (uint8_t)i, done[i]);
		}
		if (k == BATCHES_MAX - 1)
			return run_end(c, n_read, true);
	}
	again_run(c);
	return run_end(c, n_read, false);
}

/* ---- refresh and ageing ---- */

#define WALK_BUCKETS 4096U

struct walk {
	struct ctl *c;
	struct ctl_bridge *b;
	uint64_t active_ns; /* seen at or after it: is written again */
};

static void refresh_entry(const struct fdb_entry *e, void *arg)
{
	struct walk *w = arg;
	struct ctl *c = w->c;

	if ((e->flags & (FDB_LOCAL | FDB_STATIC | FDB_EXTERN | FDB_STICKY)) ||
	    clock_diff(e->seen_ns, w->active_ns) < 0 ||
	    !is_kernel_port(c, ctl_index(c, w->b), e->port))
		return;
	c->stats.n_refreshes++;
	/* Undoing what a refresh did must not be lost, so there is room before it is sent. */
	if (batch.n_again > AGAIN_MAX - AGAIN_SPARE)
		again_run(c);
	batch_add(c, &(struct write){ .key = fdb_key(e->vid, &e->mac),
				      .bridge = ctl_index(c, w->b),
				      .slot = e->port,
				      .kind = WRITE_REFRESH });
}

/*
 * One pass over the table takes a third of the hold time, so an active station
 * is written to the kernel three times before its entry there would age.
 */
static uint32_t walk_share(const struct ctl *c, struct ctl_bridge *b, uint64_t period_ns)
{
	struct fdb_stats st;
	uint64_t since = c->now_ns - b->refresh_at_ns, n;

	fdb_stats(b->fdb, &st);
	n = st.n_buckets * since / period_ns;
	if (!n)
		return 0;
	b->refresh_at_ns = c->now_ns;
	return n < st.n_buckets ? (uint32_t)n : (uint32_t)st.n_buckets;
}

static void walk_bridge(struct ctl *c, struct ctl_bridge *b)
{
	uint64_t period_ns = b->hold_ns / 3;
	struct walk w = { .c = c, .b = b };
	uint32_t n;

	if (!b->refresh_at_ns)
		b->refresh_at_ns = c->now_ns;
	if (!period_ns)
		return;
	n = walk_share(c, b, period_ns);
	if (!n)
		return;
	if (b->source == CONF_SOURCE_FILE) {
		c->stats.n_aged +=
			fdb_age(b->fdb, c->now_ns, b->hold_ns, &b->refresh, n, NULL, NULL);
		return;
	}
	w.active_ns = c->now_ns > period_ns ? c->now_ns - period_ns : 0;
	while (n) {
		uint32_t k = n < WALK_BUCKETS ? n : WALK_BUCKETS;
		struct fdb_cursor age = b->refresh;

		/* Ages what the kernel does not hold; the walk itself goes over the same part. */
		c->stats.n_aged += fdb_age(b->fdb, c->now_ns, b->hold_ns, &age, k, NULL, NULL);
		(void)fdb_walk(b->fdb, &b->refresh, k, refresh_entry, &w);
		n -= k;
	}
	batch_send(c);
}

void learn_refresh(struct ctl *c)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		if (b->is_used && b->fdb)
			walk_bridge(c, b);
	}
	c->is_growing = maintain_tables(c);
	again_run(c);
	c->is_writing = batch.n_again != 0;
}
