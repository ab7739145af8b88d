/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdlib.h>

#include "dp/txq.h"
#include "rings.h"

#define FRAME_SIZE 2048
#define N_FRAMES   32

struct fix {
	struct ring_mem tx, comp;
	struct txq q;
	struct txq_frame v[N_FRAMES];
};

static int make_capped(void **state, uint32_t cap)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	ring_prod_init(&f->q.tx, &f->tx);
	ring_cons_init(&f->q.comp, &f->comp);
	for (uint32_t i = 0; i < N_FRAMES; i++)
		f->v[i] =
			(struct txq_frame){ .addr = (uint64_t)i * FRAME_SIZE + 252, .len = 60 + i };
	return txq_init(&f->q, FRAME_SIZE, N_FRAMES, cap);
}

static int make(void **state)
{
	return make_capped(state, 1000);
}

static int make_cap_3(void **state)
{
	return make_capped(state, 3);
}

static int unmake(void **state)
{
	struct fix *f = *state;

	txq_fini(&f->q);
	free(f);
	return 0;
}

/* The kernel sends @n frames and completes them. */
static void kernel_sends(struct fix *f, uint32_t n)
{
	while (n--)
		kernel_puts_addr(&f->comp, f->tx.desc[f->tx.consumer++ % RINGS_SIZE].addr);
}

static void full_ring_accepts_only_what_fits(void **state)
{
	struct fix *f = *state;

	assert_int_equal(f->q.cap, RINGS_SIZE);
	assert_int_equal(txq_send(&f->q, f->v, 6), 6);
	assert_int_equal(txq_send(&f->q, f->v + 6, 6), RINGS_SIZE - 6);
	assert_int_equal(txq_send(&f->q, f->v + RINGS_SIZE, 1), 0);
	assert_int_equal(ring_len(&f->tx), RINGS_SIZE);
	assert_int_equal(f->q.in_flight, RINGS_SIZE);
	assert_int_equal(txq_room(&f->q), 0);
	for (uint32_t i = 0; i < RINGS_SIZE; i++) {
		assert_int_equal(f->tx.desc[i].addr, f->v[i].addr);
		assert_int_equal(f->tx.desc[i].len, f->v[i].len);
		assert_int_equal(f->tx.desc[i].options, 0);
	}
}

static void room_comes_back_with_the_reaped_frame(void **state)
{
	struct fix *f = *state;
	uint32_t frame[N_FRAMES];

	txq_send(&f->q, f->v, RINGS_SIZE);
	kernel_sends(f, 3);
	/* Sent, but not reaped: the completion ring would not hold more. */
	assert_int_equal(txq_send(&f->q, f->v + RINGS_SIZE, 4), 0);
	assert_int_equal(txq_reap(&f->q, frame, 2), 2);
	assert_int_equal(frame[0], 0);
	assert_int_equal(frame[1], 1);
	assert_int_equal(txq_send(&f->q, f->v + RINGS_SIZE, 4), 2);
	assert_int_equal(txq_reap(&f->q, frame, N_FRAMES), 1);
	assert_int_equal(frame[0], 2);
	assert_int_equal(f->q.in_flight, RINGS_SIZE - 1);
}

static void cap_bounds_the_frames_in_flight(void **state)
{
	struct fix *f = *state;
	uint32_t frame[N_FRAMES];

	assert_int_equal(txq_send(&f->q, f->v, 5), 3);
	assert_int_equal(txq_n_unsent(&f->q), 3);
	kernel_sends(f, 3);
	assert_int_equal(txq_n_unsent(&f->q), 0);
	assert_int_equal(txq_send(&f->q, f->v + 3, 1), 0);
	assert_true(txq_is_drained(&f->q));
	assert_int_equal(txq_reap(&f->q, frame, N_FRAMES), 3);
	assert_int_equal(txq_send(&f->q, f->v + 3, 1), 1);
	assert_false(txq_is_drained(&f->q));
}

static void completion_twice_is_refused(void **state)
{
	struct fix *f = *state;
	uint32_t frame[N_FRAMES];

	txq_send(&f->q, f->v, 2);
	kernel_sends(f, 1);
	kernel_puts_addr(&f->comp, f->v[0].addr);
	assert_int_equal(txq_reap(&f->q, frame, N_FRAMES), 1);
	assert_int_equal(frame[0], 0);
	assert_int_equal(f->q.n_bad, 1);
	assert_int_equal(f->q.in_flight, 1);
}

static void completion_of_what_was_not_sent_is_refused(void **state)
{
	struct fix *f = *state;
	uint32_t frame[N_FRAMES];

	txq_send(&f->q, f->v, 1);
	kernel_puts_addr(&f->comp, f->v[9].addr);
	kernel_puts_addr(&f->comp, (uint64_t)N_FRAMES * FRAME_SIZE);
	kernel_puts_addr(&f->comp, UINT64_MAX);
	kernel_sends(f, 1);
	assert_int_equal(txq_reap(&f->q, frame, N_FRAMES), 1);
	assert_int_equal(f->q.n_bad, 3);
	assert_int_equal(f->q.in_flight, 0);
	assert_int_equal(ring_len(&f->comp), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_ring_accepts_only_what_fits, make, unmake),
		cmocka_unit_test_setup_teardown(room_comes_back_with_the_reaped_frame, make,
						unmake),
		cmocka_unit_test_setup_teardown(cap_bounds_the_frames_in_flight, make_cap_3,
						unmake),
		cmocka_unit_test_setup_teardown(completion_twice_is_refused, make, unmake),
		cmocka_unit_test_setup_teardown(completion_of_what_was_not_sent_is_refused, make,
						unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
