/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocs: calloc() and free() of what is tested, counted, and made to fail. The
 * program is linked with -Wl,--wrap=calloc -Wl,--wrap=free. One thread.
 */
#ifndef XB_UNIT_ALLOCS_H
#define XB_UNIT_ALLOCS_H

#include <stddef.h>

extern long n_allocs;
extern long n_held;        /* allocated and not freed */
extern long n_before_fail; /* successes left; negative, as at first: never fails */

void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *p);

#endif
