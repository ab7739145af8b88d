/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "util/kernel.h"

static void releases_become_numbers_that_compare(void **state)
{
	static const struct {
		const char *release;
		uint32_t want;
	} rows[] = {
		{ "6.1.0-18-amd64", KERNEL_V(6, 1) },
		{ "6.12.95+deb12-cloud-amd64", KERNEL_V(6, 12) },
		{ "7.2", KERNEL_V(7, 2) },
		{ "5.10.0", KERNEL_V(5, 10) },
		{ "", 0 },
		{ "linux", 0 },
		{ "6", 0 },
		{ "6.", 0 },
		{ "6.x", 0 },
		{ "-6.1", 0 },
		{ "99999999999.1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		if (kernel_parse(rows[i].release) != rows[i].want)
			fail_msg("\"%s\" is %#x", rows[i].release, kernel_parse(rows[i].release));
	}
	assert_true(KERNEL_V(5, 10) < KERNEL_V(6, 1) && KERNEL_V(6, 1) < KERNEL_V(6, 12) &&
		    KERNEL_V(6, 12) < KERNEL_V(7, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases_become_numbers_that_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
