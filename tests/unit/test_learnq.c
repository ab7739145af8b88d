/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "dp/learnq.h"

static int make(void **state)
{
	static struct learnq q;

	*state = &q;
	return learnq_init(&q);
}

static int unmake(void **state)
{
	learnq_fini(*state);
	return 0;
}

static void events_come_numbered_and_in_order(void **state)
{
	struct learnq *q = *state;
	struct dp_learn v[4];

	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(learnq_add(q, &(struct dp_learn){ .key = 100 + i }), i + 1);
	/* Not before the end of the batch. */
	assert_int_equal(learnq_read(q, v, 4), 0);
	learnq_flush(q);
	assert_int_equal(learnq_read(q, v, 2), 2);
	assert_false(learnq_is_empty(q));
	assert_int_equal(learnq_read(q, v + 2, 2), 1);
	assert_true(learnq_is_empty(q));
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(v[i].key, 100 + i);
		assert_int_equal(v[i].seq, i + 1);
	}
}

static void reader_is_woken_only_when_it_had_everything(void **state)
{
	struct learnq *q = *state;
	struct dp_learn v;

	assert_false(learnq_flush(q)); /* nothing new */
	learnq_add(q, &(struct dp_learn){ 0 });
	assert_true(learnq_flush(q));
	learnq_add(q, &(struct dp_learn){ 0 });
	assert_false(learnq_flush(q));
	learnq_read(q, &v, 1);
	learnq_read(q, &v, 1);
	learnq_add(q, &(struct dp_learn){ 0 });
	assert_true(learnq_flush(q));
}

static void a_full_queue_counts_what_is_lost(void **state)
{
	struct learnq *q = *state;
	struct dp_learn v;

	for (uint64_t i = 0; i < LEARNQ_SIZE; i++)
		assert_int_equal(learnq_add(q, &(struct dp_learn){ .key = i }), i + 1);
	assert_int_equal(learnq_add(q, &(struct dp_learn){ .key = 1 }), 0);
	assert_int_equal(q->n_lost, 1);
	learnq_flush(q);
	assert_int_equal(learnq_read(q, &v, 1), 1);
	assert_int_equal(v.key, 0);
	/* One place is free again; the number goes on. */
	assert_int_equal(learnq_add(q, &(struct dp_learn){ .key = 2 }), LEARNQ_SIZE + 1);
	assert_int_equal(learnq_add(q, &(struct dp_learn){ .key = 3 }), 0);
	assert_int_equal(q->n_lost, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_come_numbered_and_in_order, make, unmake),
		cmocka_unit_test_setup_teardown(reader_is_woken_only_when_it_had_everything, make,
						unmake),
		cmocka_unit_test_setup_teardown(a_full_queue_counts_what_is_lost, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
