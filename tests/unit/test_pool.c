/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>

#include "dp/pool.h"

#define FIRST    100
#define N_FRAMES 16

static int make(void **state)
{
	return pool_new((struct pool **)state, FIRST, N_FRAMES);
}

static int unmake(void **state)
{
	pool_free(*state);
	return 0;
}

static void each_frame_is_given_once(void **state)
{
	struct pool *p = *state;
	uint32_t frame[N_FRAMES + 1];
	uint32_t seen = 0;

	assert_int_equal(pool_get(p, frame, N_FRAMES + 1), N_FRAMES);
	for (uint32_t i = 0; i < N_FRAMES; i++) {
		assert_true(pool_owns(p, frame[i]));
		assert_int_equal(pool_refs(p, frame[i]), 1);
		seen |= UINT32_C(1) << (frame[i] - FIRST);
	}
	assert_int_equal(seen, 0xffff);
	assert_int_equal(p->n_free, 0);
	assert_int_equal(pool_get(p, frame, 1), 0);
}

static void shared_frame_returns_with_the_last_reference(void **state)
{
	struct pool *p = *state;
	uint32_t frame;

	assert_int_equal(pool_get(p, &frame, 1), 1);
	pool_share(p, frame, 63);
	assert_int_equal(pool_refs(p, frame), 64);
	for (int i = 0; i < 63; i++) {
		pool_put(p, frame);
		assert_int_equal(p->n_free, N_FRAMES - 1);
	}
	pool_put(p, frame);
	assert_int_equal(p->n_free, N_FRAMES);
	assert_int_equal(p->n_bad, 0);
}

static void free_and_foreign_frames_are_refused(void **state)
{
	struct pool *p = *state;
	uint32_t frame;

	assert_int_equal(pool_get(p, &frame, 1), 1);
	pool_put(p, frame);
	pool_put(p, frame);
	pool_put(p, FIRST - 1);
	pool_put(p, FIRST + N_FRAMES);
	assert_int_equal(p->n_bad, 3);
	assert_int_equal(p->n_free, N_FRAMES);
}

static void an_empty_pool_cannot_be_made(void **state)
{
	struct pool *p;

	(void)state;
	assert_int_equal(pool_new(&p, 0, 0), -EINVAL);
	pool_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_frame_is_given_once, make, unmake),
		cmocka_unit_test_setup_teardown(shared_frame_returns_with_the_last_reference, make,
						unmake),
		cmocka_unit_test_setup_teardown(free_and_foreign_frames_are_refused, make, unmake),
		cmocka_unit_test(an_empty_pool_cannot_be_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
