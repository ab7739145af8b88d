/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "util/hugemem.h"

static const size_t sizes[] = { 1,
				HUGEMEM_ALIGN - 1,
				HUGEMEM_MIN - 1,
				HUGEMEM_MIN,
				HUGEMEM_PAGE - 1,
				HUGEMEM_PAGE,
				HUGEMEM_PAGE + 1,
				5 * HUGEMEM_PAGE + HUGEMEM_ALIGN };

static void areas_are_zero_aligned_and_whole(void **state)
{
	(void)state;
	/* The second round gets what the first one has written into. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			size_t size = sizes[i],
			       align = size < HUGEMEM_MIN ? HUGEMEM_ALIGN : HUGEMEM_PAGE;
			uint8_t *p = hugemem_alloc(size);

			assert_non_null(p);
			if ((uintptr_t)p % align)
				fail_msg("%zu bytes lie at %p", size, (void *)p);
			for (size_t k = 0; k < size; k++) {
				if (p[k])
					fail_msg("%zu bytes: byte %zu is not 0", size, k);
			}
			memset(p, 0xa5, size);
			hugemem_free(p, size);
		}
	}
}

static void areas_do_not_overlap(void **state)
{
	enum { N = sizeof(sizes) / sizeof(sizes[0]) };
	uint8_t *p[N];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		p[i] = hugemem_alloc(sizes[i]);
		assert_non_null(p[i]);
		memset(p[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < N; i++) {
		for (size_t k = 0; k < sizes[i]; k++) {
			if (p[i][k] != i + 1)
				fail_msg("%zu bytes: another area wrote byte %zu", sizes[i], k);
		}
		hugemem_free(p[i], sizes[i]);
	}
}

static void what_cannot_be_had_is_null(void **state)
{
	(void)state;
	assert_null(hugemem_alloc(SIZE_MAX));
	assert_null(hugemem_alloc(SIZE_MAX / 2));
	hugemem_free(NULL, 1);
	hugemem_free(NULL, HUGEMEM_PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(areas_are_zero_aligned_and_whole),
		cmocka_unit_test(areas_do_not_overlap),
		cmocka_unit_test(what_cannot_be_had_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
