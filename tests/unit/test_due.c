/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the control thread wakes up by itself. */
#include "unit.h"

#include <stdlib.h>

#include "ctl/due.h"
#include "ctl/state.h"

#define NOW    (1000 * NSEC_PER_SEC)
#define MSEC   NSEC_PER_MSEC
#define N_BUCK 16384

static struct ctl *c;
static struct guard *const some_guard = (struct guard *)(void *)&c;

static void guard_just_looked(void)
{
	c->guard = some_guard;
	c->guard_at_ns = NOW;
}

static void guard_looked_a_while_ago(void)
{
	c->guard = some_guard;
	c->guard_at_ns = NOW - 4900 * MSEC;
}

static void guard_is_late(void)
{
	c->guard = some_guard;
	c->guard_at_ns = NOW - 60 * NSEC_PER_SEC;
}

static void guard_failed(void)
{
	guard_just_looked();
	c->guard_wanted = true;
}

static void checked_a_while_ago(void)
{
	c->checked_ns = NOW - 600 * MSEC;
}

static void a_plan_failed(void)
{
	c->plan_wanted = true;
}

static void groups_are_unread(void)
{
	c->mdb_wanted = true;
}

static void routers_are_wanted(void)
{
	c->routers_wanted = true;
	c->routers_urgent_ns = NOW + 70 * MSEC;
}

static void a_querier_ends(void)
{
	c->bridge[5].is_used = true;
	c->bridge[5].mcast.snooping = true;
	c->bridge[5].mcast.querier[QUERIER_IP6] = (struct querier){
		.is_read = true, .has_other = true, .other_ends_ns = NOW + 1300 * MSEC
	};
}

static void a_resync_waits(void)
{
	c->resync_from_ns = NOW - MSEC;
}

static void a_station_waits(void)
{
	c->is_writing = true;
}

static void a_table_grows(void)
{
	c->is_growing = true;
}

static void a_short_beat(void)
{
	c->conf->control_heartbeat_ms = 1000;
}

static void a_watchdog(void)
{
	c->watchdog_ns = 2 * NSEC_PER_SEC;
	c->watchdog_sent_ns = NOW - 100 * MSEC;
}

static void mst(void)
{
	c->has_mst = true;
	c->mst_at_ns = NOW - 95 * MSEC;
}

static void a_bridge(uint64_t hold_ns)
{
	c->bridge[3].is_used = true;
	c->bridge[3].hold_ns = hold_ns;
	c->bridge[3].refresh_at_ns = NOW;
	c->bridge[3].fdb =
		fdb_new(&(struct fdb_config){ .max_entries = 1 << 20, .n_buckets = N_BUCK });
	assert_non_null(c->bridge[3].fdb);
}

static void entries_live_long(void)
{
	a_bridge(300 * NSEC_PER_SEC);
}

/* 16384 buckets in 5 s are 256 in 78 ms. */
static void entries_live_15_s(void)
{
	a_bridge(15 * NSEC_PER_SEC);
}

static void entries_live_1_s(void)
{
	a_bridge(NSEC_PER_SEC);
}

static void nothing_is_learned(void)
{
	a_bridge(0);
}

static void nothing(void)
{
}

/* clang-format off */
static const struct {
	const char *name;
	void (*set)(void);
	uint64_t min, max; /* ms from now */
} rows[] = {
	{ "nothing",                   nothing,                  1000, 1000 },
	{ "the guard has looked",      guard_just_looked,        1000, 1000 },
	{ "routers are wanted",        routers_are_wanted,       70, 70 },
	{ "the guard will look",       guard_looked_a_while_ago, 100, 100 },
	{ "the guard is late",         guard_is_late,            10, 10 },
	{ "the guard could not look",  guard_failed,             50, 50 },
	{ "ports are to be checked",   checked_a_while_ago,      400, 400 },
	{ "a plan failed",             a_plan_failed,            50, 50 },
	{ "groups are unread",         groups_are_unread,        50, 50 },
	{ "a querier ends in 1.3 s",   a_querier_ends,           300, 301 },
	{ "a resync waits",            a_resync_waits,           50, 50 },
	{ "a station waits",           a_station_waits,          50, 50 },
	{ "a table grows",             a_table_grows,            10, 10 },
	{ "a beat of 1 s",             a_short_beat,             250, 250 },
	{ "a watchdog",                a_watchdog,               400, 400 },
	{ "MST",                       mst,                      5, 5 },
	{ "entries that live long",    entries_live_long,        1000, 1000 },
	{ "entries that live 15 s",    entries_live_15_s,        78, 79 },
	{ "entries that live 1 s",     entries_live_1_s,         50, 50 },
	{ "nothing is learned",        nothing_is_learned,       1000, 1000 },
};
/* clang-format on */

static void it_sleeps_until_the_first_thing_is_due(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		uint64_t due;

		c = calloc(1, sizeof(*c));
		assert_non_null(c);
		c->conf = conf_defaults();
		assert_non_null(c->conf);
		c->now_ns = c->checked_ns = NOW;
		rows[i].set();
		due = due_ns(c);
		if (due < NOW + rows[i].min * MSEC || due > NOW + rows[i].max * MSEC)
			fail_msg("%s: %lld us", rows[i].name, (long long)(due - NOW) / 1000);
		fdb_free(c->bridge[3].fdb);
		conf_free(c->conf);
		free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_sleeps_until_the_first_thing_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
