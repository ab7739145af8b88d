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
#include <stdlib.h>

/* Takes any @size bytes; returns 0. @data may be NULL if @size is 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run, and with it the test, whether or not NDEBUG is defined. */
#define FUZZ_CHECK(condition)     \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

#endif
