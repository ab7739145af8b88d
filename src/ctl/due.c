/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/due.h"

#include "core/local.h"
#include "ctl/state.h"

/* The walk that refreshes and ages goes on when it has at least so many buckets to pass. */
#define WALK_SLICE 256

static void earlier(uint64_t *due, uint64_t at_ns)
{
	if (at_ns < *due)
		*due = at_ns;
}

static uint64_t walk_due(const struct ctl *c, const struct ctl_bridge *b)
{
	uint64_t wait;
	struct fdb_stats st;

	if (!b->refresh_at_ns)
		return c->now_ns + DUE_SHORT_NS;
	fdb_stats(b->fdb, &st);
	wait = b->hold_ns / 3 / st.n_buckets * WALK_SLICE;
	return b->refresh_at_ns + (wait > DUE_SHORT_NS ? wait : DUE_SHORT_NS);
}

/* Seconds may be longer than those that wait for a beat of ours can bear. */
static uint64_t beat_due(const struct ctl *c)
{
	uint64_t due = c->now_ns + DUE_LONG_NS;

	earlier(&due, c->now_ns + (uint64_t)c->conf->control_heartbeat_ms * NSEC_PER_MSEC / 4);
	if (c->watchdog_ns)
		earlier(&due, c->watchdog_sent_ns + c->watchdog_ns / 4);
	return due;
}

/* Multicast is decided anew when the kernel may believe something else of a querier. */
static uint64_t querier_due(const struct ctl *c, const struct ctl_bridge *b)
{
	uint64_t due = UINT64_MAX;

	for (uint32_t q = 0; b->mcast.snooping && q < QUERIER_N; q++)
		earlier(&due, querier_next_ns(&b->mcast.querier[q], c->now_ns));
	return due;
}

static bool has_waiting(const struct ctl *c)
{
	return c->plan_wanted || c->resync_wanted || c->resync_from_ns || c->poll_wanted ||
	       c->mdb_wanted || c->guard_wanted || c->is_writing;
}

uint64_t due_ns(const struct ctl *c)
{
	uint64_t due = beat_due(c), soonest = c->now_ns + DUE_GROW_NS;

	if (has_waiting(c))
		earlier(&due, c->now_ns + DUE_SHORT_NS);
	if (c->is_growing)
		earlier(&due, soonest);
	if (c->guard)
		earlier(&due, c->guard_at_ns + DUE_GUARD_NS);
	if (c->routers_wanted)
		earlier(&due, c->routers_urgent_ns);
	earlier(&due, c->checked_ns + DUE_CHECK_NS);
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		const struct ctl_bridge *b = &c->bridge[i];

		if (b->is_used && b->fdb && b->hold_ns)
			earlier(&due, walk_due(c, b));
		if (b->is_used)
			earlier(&due, querier_due(c, b));
		if (b->is_used && b->local && local_waits(b->local))
			earlier(&due, c->now_ns + DUE_SHORT_NS);
	}
	if (due < soonest)
		due = soonest;
	if (c->has_mst)
		earlier(&due, c->mst_at_ns + (uint64_t)c->conf->mst_poll_ms * NSEC_PER_MSEC);
	return due;
}
