/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "allocs.h"

void *__real_calloc(size_t n, size_t size);
void __real_free(void *p);

long n_allocs;
long n_held;
long n_before_fail = -1;

void *__wrap_calloc(size_t n, size_t size)
{
	if (!n_before_fail)
		return NULL;
	if (n_before_fail > 0)
		n_before_fail--;
	n_held++;
	n_allocs++;
	return __real_calloc(n, size);
}

void __wrap_free(void *p)
{
	n_held -= p != NULL;
	__real_free(p);
}
