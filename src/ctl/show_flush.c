/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `fdb-flush`: removes entries, of kernel bridges by asking the kernel, so that
 * both tables agree: its notifications take them out of ours.
 */
#include <errno.h>

#include "ctl/rtreq.h"
#include "ctl/rtsock.h"
#include "ctl/show_priv.h"

#define BATCH      64
#define N_BUCKETS  8
#define PASSES_MAX 8

struct found {
	struct show *s;
	struct fdb_entry v[BATCH];
	uint32_t n;
};

static void find(const struct fdb_entry *e, void *arg)
{
	struct found *f = arg;

	if (!f->s->c->port[e->port].is_used || (e->flags & FDB_LOCAL) ||
	    !show_wants_port(f->s, e->port) || !show_wants_entry(f->s, e))
		return;
	if (f->n == BATCH)
		f->s->is_partial = true; /* for the next pass */
	else
		f->v[f->n++] = *e;
}

static void remove_batch(struct show *s, struct ctl_bridge *b, const struct found *f)
{
	static uint32_t buf[BATCH * RTREQ_SIZE / sizeof(uint32_t)];
	uint8_t *p = (uint8_t *)buf;
	size_t len = 0;
	int failed = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct fdb_entry *e = &f->v[i];
		struct rtreq_station st = { .mac = e->mac, .vid = e->vid };
		int k = 0;

		if (e->flags & FDB_KERNEL) {
			st.ifindex = s->c->port[e->port].ifindex;
			k = rtreq_station_del(p + len, sizeof(buf) - len, &st, false, 0);
			len += k > 0 ? (size_t)k : 0;
		} else {
			k = fdb_del_if(b->fdb, fdb_key(e->vid, &e->mac), e->port) ? -ENOENT : 0;
		}
		failed += k < 0;
	}
	if (len) {
		int n = rtsock_request(s->c->rt, p, len, NULL);

		failed += n < 0 ? (int)f->n : n;
		ctl_read_events(s->c);
	}
	if (failed < (int)f->n)
		s->n_flushed += f->n - (uint32_t)failed;
}

bool show_flush_unit(struct show *s)
{
	struct found f = { .s = s };
	uint32_t index;
	bool is_more;

	if (s->req.kind == CTLMSG_KIND_ANY)
		s->req.kind = CTLMSG_KIND_DYNAMIC;
	is_more = show_walk(s, N_BUCKETS, find, &f);
	/* The walk stands at the next bridge when it has finished one. */
	index = f.n ? s->c->port[f.v[0].port].bridge : 0;
	if (f.n)
		remove_batch(s, &s->c->bridge[index], &f);
	if (is_more)
		return true;
	if (s->is_partial && ++s->n_passes < PASSES_MAX) {
		s->is_partial = false;
		s->i = 0;
		return true;
	}
	show_value(s, json_pack("{s:I}", "flushed", (json_int_t)s->n_flushed));
	return false;
}
