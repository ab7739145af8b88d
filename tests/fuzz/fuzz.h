/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz: what each fuzz_<module>.c defines and may use.
 *
 * With --enable-fuzz libFuzzer calls the function with inputs of its own;
 * without, replay.c calls it with each file of tests/fuzz/corpus/<module>/,
 * as part of `make check`.
 */
#ifndef XB_TESTS_FUZZ_H
#define XB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Takes any @size bytes; returns 0. @data may be NULL if @size is 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what does not hold and ends the run, whether or not NDEBUG is defined. */
#define FUZZ_CHECK(condition)                                                                   \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

#endif
