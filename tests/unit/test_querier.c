/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "ctl/querier.h"
#include "util/clock.h"

#define T0       (1000 * NSEC_PER_SEC)
#define RESPONSE 10
#define SETTLE   66
#define INTERVAL 125
#define ROUTER   255

/* What a reading says, and what is thought from then on; @t in seconds. */
struct row {
	uint32_t t;
	bool is_on;
	enum querier_address address;
	uint32_t left; /* of another querier's timer, 0: none */
	enum querier_state state;
	enum querier_why why;
	bool is_hidden; /* it is on no port */
};

enum { READ_NOTHING = UINT32_MAX }; /* as .left: time alone goes on */

static const enum querier_address no = QUERIER_ADDRESS_NO, lost = QUERIER_ADDRESS_LOST,
				  fresh = QUERIER_ADDRESS_NEW, yes = QUERIER_ADDRESS_YES;

static void run(const char *name, const struct row *rows, size_t n)
{
	struct querier q = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		struct querier_reading in = {
			.is_on = r->is_on,
			.has_other = r->left != 0,
			.is_hidden = r->is_hidden,
			.address = r->address,
			.other_left_ns = r->left * NSEC_PER_SEC,
			.response_ns = RESPONSE * NSEC_PER_SEC,
			.settle_ns = SETTLE * NSEC_PER_SEC,
			.interval_ns = INTERVAL * NSEC_PER_SEC,
			.router_ns = ROUTER * NSEC_PER_SEC,
		};
		uint64_t now_ns = T0 + r->t * NSEC_PER_SEC;
		enum querier_state state;
		enum querier_why why;

		if (r->left != READ_NOTHING)
			querier_update(&q, &in, now_ns);
		state = querier_state(&q, now_ns, &why);
		if (state != r->state || why != r->why)
			fail_msg("%s, row %zu, %u s: %s (%s)", name, i, r->t,
				 querier_state_name(state), querier_why_text(why));
		assert_int_equal(querier_state(&q, now_ns, NULL), state);
		assert_true(!querier_wait_ns(&q, now_ns) ==
			    (why != QUERIER_WHY_WAITING && why != QUERIER_WHY_HIDDEN));
	}
}

#define RUN(...)                                           \
	do {                                               \
		const struct row rows[] = { __VA_ARGS__ }; \
		run(__func__, rows, N_ELEM(rows));         \
	} while (0)

#define NONE    QUERIER_NONE, QUERIER_WHY_NOBODY
#define OWN     QUERIER_PRESENT, QUERIER_WHY_OWN
#define OTHER   QUERIER_PRESENT, QUERIER_WHY_OTHER
#define WAITING QUERIER_DOUBT, QUERIER_WHY_WAITING
#define ADDRESS QUERIER_DOUBT, QUERIER_WHY_ADDRESS
#define ENDING  QUERIER_DOUBT, QUERIER_WHY_ENDING
#define HIDDEN  QUERIER_DOUBT, QUERIER_WHY_HIDDEN
#define UNREAD  QUERIER_DOUBT, QUERIER_WHY_UNREAD
#define LATER   false, no, READ_NOTHING /* state and why follow */

/* clang-format off */
static void nothing_read_is_in_doubt_and_nobody_is_known_at_once(void **state)
{
	(void)state;
	RUN({ 0,   LATER,                    UNREAD },
	    { 1,   false, no, 0,             NONE },
	    { 500, LATER,                    NONE });
}

static void the_own_querier_counts_after_the_time_to_answer(void **state)
{
	(void)state;
	RUN({ 0,   false, yes, 0,            NONE },
	    { 1,   true,  yes, 0,            WAITING },
	    { 11,  true,  yes, 0,            WAITING },
	    { 12,  LATER,                    OWN },
	    { 13,  true,  yes, 0,            OWN },
	    { 14,  false, yes, 0,            NONE },
	    { 15,  true,  yes, 0,            WAITING },
	    { 26,  true,  yes, 0,            OWN });
	/* It may just have been switched on when we begin. */
	RUN({ 0,   true,  yes, 0,            WAITING },
	    { 10,  true,  yes, 0,            WAITING },
	    { 11,  true,  yes, 0,            OWN });
}

static void another_querier_counts_after_the_longest_first_answer(void **state)
{
	(void)state;
	RUN({ 0,   false, no, 0,             NONE },
	    { 1,   false, no, 255,           WAITING },
	    { 67,  false, no, 189,           WAITING },
	    { 68,  false, no, 188,           OTHER },
	    { 126, false, no, 255,           OTHER });
	RUN({ 0,   false, no, 100,           WAITING },
	    { 66,  false, no, 200,           WAITING },
	    { 67,  false, no, 199,           OTHER });
}

/* It silences the bridge, and the kernel waits for answers to it first. */
static void another_querier_is_waited_for_though_the_bridge_asks(void **state)
{
	(void)state;
	RUN({ 0,   true, yes, 0,             WAITING },
	    { 20,  true, yes, 0,             OWN },
	    { 21,  true, yes, 255,           WAITING },
	    { 90,  true, yes, 255,           OTHER },
	    /* And goes without a doubt: the bridge is one still. */
	    { 344, LATER,                    OTHER },
	    { 345, LATER,                    OWN },
	    { 346, true, yes, 0,             OWN });
}

static void the_end_of_another_querier_is_foreseen(void **state)
{
	(void)state;
	RUN({ 0,   false, no, 255,           WAITING },
	    { 100, false, no, 200,           OTHER },
	    { 299, LATER,                    OTHER },
	    { 300, LATER,                    ENDING },
	    { 301, LATER,                    ENDING },
	    { 302, false, no, 0,             NONE },
	    { 303, false, no, 255,           WAITING });
}

/* Whether it was heard in time, or given up and heard anew, nobody can tell. */
static void another_querier_that_may_have_come_again_is_new(void **state)
{
	(void)state;
	RUN({ 0,   false, no, 100,           WAITING },
	    { 98,  false, no, 2,             OTHER },
	    { 99,  false, no, 255,           OTHER },
	    { 353, LATER,                    OTHER },
	    { 354, false, no, 255,           WAITING },
	    { 421, false, no, 188,           OTHER });
}

/* The kernel's timer of the bridge as a router runs on when another querier has won. */
static void a_querier_on_no_port_is_in_doubt_until_no_router_can_be_left(void **state)
{
	(void)state;
	RUN({ 0,   false, no, 0,             NONE },
	    { 1,   false, no, 255,           HIDDEN, true },
	    { 100, false, no, 156,           HIDDEN, true },
	    /* On a port now. */
	    { 101, false, no, 255,           HIDDEN },
	    { 300, false, no, 255,           HIDDEN },
	    { 355, LATER,                    HIDDEN },
	    { 356, LATER,                    OTHER },
	    /* Its port leaves. */
	    { 357, false, no, 198,           HIDDEN, true },
	    { 554, LATER,                    HIDDEN },
	    { 555, LATER,                    ENDING },
	    { 556, false, no, 0,             NONE });
	/* The bridge asks itself when the host has stopped to. */
	RUN({ 0,   true,  yes, 255,          HIDDEN, true },
	    { 10,  true,  yes, 0,            HIDDEN },
	    { 255, LATER,                    HIDDEN },
	    { 256, LATER,                    OWN });
}

static void the_own_querier_needs_an_address_for_ipv6(void **state)
{
	(void)state;
	RUN({ 0,   true,  no,    0,           NONE },
	    { 20,  true,  no,    0,           NONE },
	    { 21,  true,  fresh, 0,           ADDRESS },
	    { 200, true,  fresh, 0,           ADDRESS },
	    { 201, true,  yes,   0,           OWN });
	/* Somebody else needs none of it, nor does a bridge that does not ask. */
	RUN({ 0,   true,  fresh, 255,         WAITING },
	    { 67,  true,  lost,  189,         OTHER });
	RUN({ 0,   false, fresh, 0,           NONE },
	    { 1,   false, lost,  0,           NONE });
}

static void an_address_is_lost_and_found_with_the_next_query(void **state)
{
	(void)state;
	RUN({ 0,   true,  yes,   0,           WAITING },
	    { 20,  true,  yes,   0,           OWN },
	    { 21,  true,  lost,  0,           ADDRESS },
	    { 60,  true,  lost,  0,           ADDRESS },
	    { 61,  true,  yes,   0,           WAITING },
	    { 186, true,  yes,   0,           WAITING },
	    { 187, true,  yes,   0,           OWN });
	/* At last it is known that a query found none. */
	RUN({ 0,   true,  yes,   0,           WAITING },
	    { 20,  true,  yes,   0,           OWN },
	    { 21,  true,  lost,  0,           ADDRESS },
	    { 146, true,  lost,  0,           ADDRESS },
	    { 147, true,  lost,  0,           NONE },
	    { 148, true,  yes,   0,           WAITING },
	    { 274, true,  yes,   0,           OWN });
	RUN({ 0,   true,  lost,  0,           ADDRESS },
	    { 126, true,  lost,  0,           NONE },
	    { 127, true,  fresh, 0,           ADDRESS },
	    { 128, true,  yes,   0,           WAITING });
}
/* clang-format on */

static void the_kernel_waits_for_what_the_time_to_answer_was(void **state)
{
	struct querier q = { 0 };
	struct querier_reading r = { .address = QUERIER_ADDRESS_YES,
				     .response_ns = 10 * NSEC_PER_SEC };

	(void)state;
	querier_update(&q, &r, T0);
	r.is_on = true;
	r.response_ns = NSEC_PER_SEC / 10;
	querier_update(&q, &r, T0 + NSEC_PER_SEC);
	querier_update(&q, &r, T0 + 2 * NSEC_PER_SEC);
	assert_int_equal(querier_state(&q, T0 + 11 * NSEC_PER_SEC, NULL), QUERIER_DOUBT);
	assert_int_equal(querier_state(&q, T0 + 12 * NSEC_PER_SEC, NULL), QUERIER_PRESENT);
}

static void a_timer_beyond_all_time_does_not_wrap(void **state)
{
	struct querier q = { 0 };
	struct querier_reading r = { .has_other = true, .other_left_ns = UINT64_MAX };

	(void)state;
	querier_update(&q, &r, T0);
	assert_int_equal(querier_state(&q, T0 + 2 * NSEC_PER_SEC, NULL), QUERIER_PRESENT);
	r.settle_ns = UINT64_MAX;
	q = (struct querier){ 0 };
	querier_update(&q, &r, T0);
	assert_int_equal(querier_state(&q, T0 + 2 * NSEC_PER_SEC, NULL), QUERIER_DOUBT);
}

static void the_wait_is_told(void **state)
{
	struct querier q = { 0 };
	struct querier_reading r = { .has_other = true,
				     .other_left_ns = 255 * NSEC_PER_SEC,
				     .settle_ns = SETTLE * NSEC_PER_SEC };

	(void)state;
	querier_update(&q, &r, T0);
	assert_int_equal(querier_wait_ns(&q, T0 + 7 * NSEC_PER_SEC), 60 * NSEC_PER_SEC);
	assert_int_equal(querier_wait_ns(&q, T0 + 67 * NSEC_PER_SEC), 0);
}

static void what_was_lost_makes_it_unread_and_ends_no_doubt(void **state)
{
	struct querier_reading r = { .is_on = true,
				     .address = QUERIER_ADDRESS_YES,
				     .response_ns = RESPONSE * NSEC_PER_SEC };
	struct querier q = { 0 };
	enum querier_why why;

	(void)state;
	querier_update(&q, &r, T0);
	assert_int_equal(querier_state(&q, T0 + 20 * NSEC_PER_SEC, NULL), QUERIER_PRESENT);
	querier_unread(&q);
	assert_int_equal(querier_state(&q, T0 + 20 * NSEC_PER_SEC, &why), QUERIER_DOUBT);
	assert_int_equal(why, QUERIER_WHY_UNREAD);
	/* It may have been switched on again just now. */
	querier_update(&q, &r, T0 + 21 * NSEC_PER_SEC);
	assert_int_equal(querier_state(&q, T0 + 31 * NSEC_PER_SEC, &why), QUERIER_DOUBT);
	assert_int_equal(why, QUERIER_WHY_WAITING);
	assert_int_equal(querier_state(&q, T0 + 32 * NSEC_PER_SEC, NULL), QUERIER_PRESENT);
	/* The host had asked. */
	r.has_other = r.is_hidden = true;
	r.router_ns = ROUTER * NSEC_PER_SEC;
	querier_update(&q, &r, T0 + 40 * NSEC_PER_SEC);
	querier_unread(&q);
	r.has_other = false;
	querier_update(&q, &r, T0 + 41 * NSEC_PER_SEC);
	assert_int_equal(querier_state(&q, T0 + 290 * NSEC_PER_SEC, &why), QUERIER_DOUBT);
	assert_int_equal(why, QUERIER_WHY_HIDDEN);
	assert_int_equal(querier_state(&q, T0 + 296 * NSEC_PER_SEC, NULL), QUERIER_PRESENT);
}

/* A reading, later another one, and time: the state changes only when it was said that it might. */
static void the_next_change_is_told(void **state)
{
	static const uint64_t step_ns = NSEC_PER_SEC / 4;

	(void)state;
	for (unsigned int i = 0; i < 2 * 2 * 4 * 4 * 2; i++) {
		struct querier_reading r = { .is_on = i & 1,
					     .has_other = i & 2,
					     .address = (enum querier_address)(i >> 2 & 3),
					     .other_left_ns = 90 * NSEC_PER_SEC,
					     .response_ns = RESPONSE * NSEC_PER_SEC,
					     .settle_ns = SETTLE * NSEC_PER_SEC,
					     .interval_ns = INTERVAL * NSEC_PER_SEC,
					     .is_hidden = i >> 6,
					     .router_ns = 40 * NSEC_PER_SEC };
		struct querier q = { 0 };
		enum querier_state s;
		uint64_t next;

		querier_update(&q, &r, T0);
		r.address = (enum querier_address)(i >> 4 & 3);
		querier_update(&q, &r, T0 + NSEC_PER_SEC);
		s = querier_state(&q, T0 + NSEC_PER_SEC, NULL);
		next = querier_next_ns(&q, T0 + NSEC_PER_SEC);
		for (uint64_t t = T0 + NSEC_PER_SEC; t < T0 + 300 * NSEC_PER_SEC; t += step_ns) {
			for (; next <= t; next = querier_next_ns(&q, next))
				s = querier_state(&q, next, NULL);
			if (querier_state(&q, t, NULL) != s)
				fail_msg("combination %u: another state at %llu ms", i,
					 (unsigned long long)(t - T0) / NSEC_PER_MSEC);
		}
		assert_true(next == UINT64_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_read_is_in_doubt_and_nobody_is_known_at_once),
		cmocka_unit_test(the_own_querier_counts_after_the_time_to_answer),
		cmocka_unit_test(another_querier_counts_after_the_longest_first_answer),
		cmocka_unit_test(another_querier_is_waited_for_though_the_bridge_asks),
		cmocka_unit_test(the_end_of_another_querier_is_foreseen),
		cmocka_unit_test(another_querier_that_may_have_come_again_is_new),
		cmocka_unit_test(a_querier_on_no_port_is_in_doubt_until_no_router_can_be_left),
		cmocka_unit_test(the_own_querier_needs_an_address_for_ipv6),
		cmocka_unit_test(an_address_is_lost_and_found_with_the_next_query),
		cmocka_unit_test(the_kernel_waits_for_what_the_time_to_answer_was),
		cmocka_unit_test(a_timer_beyond_all_time_does_not_wrap),
		cmocka_unit_test(the_wait_is_told),
		cmocka_unit_test(what_was_lost_makes_it_unread_and_ends_no_doubt),
		cmocka_unit_test(the_next_change_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
