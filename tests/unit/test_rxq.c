/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdlib.h>

#include "dp/pool.h"
#include "dp/rxq.h"
#include "rings.h"

#define FRAME_SIZE 2048
#define N_FRAMES   32

struct fix {
	struct ring_mem rx, fill;
	struct rxq q;
	struct pool *pool;
};

static int make(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	ring_cons_init(&f->q.rx, &f->rx);
	ring_prod_init(&f->q.fill, &f->fill);
	return rxq_init(&f->q, FRAME_SIZE, N_FRAMES) ?: pool_new(&f->pool, 0, N_FRAMES);
}

static int unmake(void **state)
{
	struct fix *f = *state;

	rxq_fini(&f->q);
	pool_free(f->pool);
	free(f);
	return 0;
}

/* The kernel takes the next frame of the fill ring and receives @len bytes into it. */
static uint64_t kernel_receives(struct fix *f, uint32_t len)
{
	uint64_t addr = f->fill.addr[f->fill.consumer++ % RINGS_SIZE] + 256;

	kernel_puts_desc(&f->rx, addr, len);
	return addr;
}

static void fill_ring_gets_no_more_than_the_target(void **state)
{
	struct fix *f = *state;

	f->q.target = 5;
	assert_int_equal(rxq_refill(&f->q, f->pool), 5);
	assert_int_equal(rxq_refill(&f->q, f->pool), 0);
	assert_int_equal(ring_len(&f->fill), 5);
	assert_int_equal(f->pool->n_free, N_FRAMES - 5);
	/* A target that falls takes nothing back. */
	f->q.target = 2;
	assert_int_equal(rxq_refill(&f->q, f->pool), 0);
	assert_int_equal(f->q.n_held, 5);
}

static void full_fill_ring_takes_only_what_fits(void **state)
{
	struct fix *f = *state;

	f->q.target = N_FRAMES;
	assert_int_equal(rxq_refill(&f->q, f->pool), RINGS_SIZE);
	assert_int_equal(ring_len(&f->fill), RINGS_SIZE);
	assert_int_equal(f->pool->n_free, N_FRAMES - RINGS_SIZE);
	kernel_receives(f, 60);
	assert_int_equal(rxq_refill(&f->q, f->pool), 1);
	assert_int_equal(f->pool->n_free + f->q.n_held, N_FRAMES);
}

static void empty_pool_fills_nothing(void **state)
{
	struct fix *f = *state;
	uint32_t all[N_FRAMES];

	assert_int_equal(pool_get(f->pool, all, N_FRAMES), N_FRAMES);
	f->q.target = 4;
	assert_int_equal(rxq_refill(&f->q, f->pool), 0);
	pool_put(f->pool, all[7]);
	assert_int_equal(rxq_refill(&f->q, f->pool), 1);
	assert_int_equal(f->fill.addr[0], all[7] * FRAME_SIZE);
}

static void received_frames_come_in_order(void **state)
{
	struct fix *f = *state;
	struct rxq_frame v[RINGS_SIZE];
	uint64_t addr[3];

	f->q.target = RINGS_SIZE;
	rxq_refill(&f->q, f->pool);
	for (uint32_t i = 0; i < 3; i++)
		addr[i] = kernel_receives(f, 60 + i);
	assert_int_equal(rxq_n_waiting(&f->q), 3);
	assert_int_equal(rxq_recv(&f->q, v, 2), 2);
	assert_int_equal(rxq_recv(&f->q, v + 2, RINGS_SIZE), 1);
	assert_int_equal(rxq_recv(&f->q, v + 3, RINGS_SIZE), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(v[i].addr, addr[i]);
		assert_int_equal(v[i].len, 60 + i);
		assert_int_equal(v[i].frame, addr[i] / FRAME_SIZE);
	}
	assert_int_equal(f->q.n_held, RINGS_SIZE - 3);
	assert_int_equal(f->rx.consumer, 3);
}

static void what_the_kernel_never_had_is_refused(void **state)
{
	struct fix *f = *state;
	struct rxq_frame v[RINGS_SIZE];
	uint64_t good;

	f->q.target = 2;
	rxq_refill(&f->q, f->pool);
	kernel_puts_desc(&f->rx, (uint64_t)N_FRAMES * FRAME_SIZE, 60); /* no such frame */
	kernel_puts_desc(&f->rx, UINT64_MAX, 60);
	kernel_puts_desc(&f->rx, 20 * FRAME_SIZE, 60); /* in the pool */
	good = kernel_receives(f, 60);
	kernel_puts_desc(&f->rx, good, 60); /* twice */
	assert_int_equal(rxq_recv(&f->q, v, RINGS_SIZE), 1);
	assert_int_equal(v[0].addr, good);
	assert_int_equal(f->q.n_bad, 4);
	assert_int_equal(f->q.n_held, 1);
	assert_int_equal(ring_len(&f->rx), 0);
}

static void length_past_the_frame_is_not_read(void **state)
{
	static const struct {
		const char *name;
		uint32_t len, want, n_bad;
	} rows[] = {
		/* clang-format off */
		{ "to the last byte", FRAME_SIZE - 256,     FRAME_SIZE - 256, 0 },
		{ "one too many",     FRAME_SIZE - 256 + 1, 0,                1 },
		{ "all bits",         UINT32_MAX,           0,                2 },
		/* clang-format on */
	};
	struct fix *f = *state;
	struct rxq_frame v;

	f->q.target = RINGS_SIZE;
	rxq_refill(&f->q, f->pool);
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		kernel_receives(f, rows[i].len);
		if (rxq_recv(&f->q, &v, 1) != 1 || v.len != rows[i].want ||
		    f->q.n_bad != rows[i].n_bad)
			fail_msg("%s", rows[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fill_ring_gets_no_more_than_the_target, make,
						unmake),
		cmocka_unit_test_setup_teardown(full_fill_ring_takes_only_what_fits, make, unmake),
		cmocka_unit_test_setup_teardown(empty_pool_fills_nothing, make, unmake),
		cmocka_unit_test_setup_teardown(received_frames_come_in_order, make, unmake),
		cmocka_unit_test_setup_teardown(what_the_kernel_never_had_is_refused, make, unmake),
		cmocka_unit_test_setup_teardown(length_past_the_frame_is_not_read, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
