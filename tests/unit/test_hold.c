/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "dp/hold.h"

#define T0 1000000000ULL

static struct hold_copy copy(uint64_t addr, uint64_t seq, uint64_t since_ns)
{
	return (struct hold_copy){ .addr = addr, .seq = seq, .since_ns = since_ns, .len = 60 };
}

static void add(struct hold *h, uint64_t addr, uint64_t seq, uint64_t since_ns)
{
	struct hold_copy c = copy(addr, seq, since_ns);

	assert_true(hold_add(h, &c));
}

static void a_copy_goes_when_its_station_is_known(void **state)
{
	static const struct {
		const char *name;
		uint64_t done, now_ns;
		bool goes, expired;
	} rows[] = {
		/* clang-format off */
		{ "nothing is known",         0, T0,                   false, false },
		{ "one before is known",      6, T0 + 1,               false, false },
		{ "its own is known",         7, T0 + 1,               true,  false },
		{ "a later one is known",     9, T0 + 1,               true,  false },
		{ "just before the bound",    6, T0 + HOLD_MAX_NS - 1, false, false },
		{ "at the bound",             6, T0 + HOLD_MAX_NS,     true,  true  },
		{ "known, long ago",          7, T0 + HOLD_MAX_NS * 9, true,  false },
		{ "clock a little behind",    6, T0 - 1,               false, false },
		/* clang-format on */
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct hold h = { 0 };
		struct hold_copy c = { 0 };
		bool expired = false;

		add(&h, 4096, 7, T0);
		if (hold_pop(&h, rows[i].done, rows[i].now_ns, &c, &expired) != rows[i].goes ||
		    expired != rows[i].expired || h.n != !rows[i].goes)
			fail_msg("%s", rows[i].name);
		if (rows[i].goes)
			assert_int_equal(c.addr, 4096);
	}
}

static void later_copies_wait_behind_the_first(void **state)
{
	struct hold h = { 0 };
	struct hold_copy c;
	bool expired;

	(void)state;
	add(&h, 1, 5, T0);
	add(&h, 2, 0, T0); /* waits for nothing itself */
	add(&h, 3, 4, T0);
	assert_int_equal(hold_deadline_ns(&h), T0 + HOLD_MAX_NS);
	assert_false(hold_pop(&h, 4, T0, &c, &expired));
	for (uint64_t want = 1; want <= 3; want++) {
		assert_true(hold_pop(&h, 5, T0, &c, &expired));
		assert_int_equal(c.addr, want);
	}
	assert_false(hold_pop(&h, UINT64_MAX, UINT64_MAX, &c, &expired));
	assert_int_equal(hold_deadline_ns(&h), UINT64_MAX);
}

static void a_full_queue_refuses_and_keeps_its_order(void **state)
{
	struct hold h = { 0 };
	struct hold_copy c = copy(999, 1, T0);

	(void)state;
	/* Not from slot 0 on, so that it wraps. */
	add(&h, 0, 1, T0);
	assert_true(hold_pop_any(&h, &c));
	for (uint64_t i = 0; i < HOLD_SIZE; i++)
		add(&h, i, 1, T0);
	assert_false(hold_add(&h, &c));
	for (uint64_t i = 0; i < HOLD_SIZE; i++) {
		assert_true(hold_pop_any(&h, &c));
		assert_int_equal(c.addr, i);
	}
	assert_false(hold_pop_any(&h, &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_goes_when_its_station_is_known),
		cmocka_unit_test(later_copies_wait_behind_the_first),
		cmocka_unit_test(a_full_queue_refuses_and_keeps_its_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
