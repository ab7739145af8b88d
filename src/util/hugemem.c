/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/hugemem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

/* @len bytes, whole huge pages, that begin where a huge page may. */
static void *map_aligned(size_t len)
{
	size_t room = len + HUGEMEM_PAGE, head;
	uint8_t *p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	head = -(uintptr_t)p % HUGEMEM_PAGE;
	if (head)
		munmap(p, head);
	munmap(p + head + len, HUGEMEM_PAGE - head);
	return p + head;
}

void *hugemem_alloc(size_t size)
{
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	if (size >= HUGEMEM_MIN) {
		size = round_up(size, HUGEMEM_PAGE);
		p = map_aligned(size);
		/* A wish; a kernel without huge pages refuses, and small ones will do. */
		if (p)
			(void)madvise(p, size, MADV_HUGEPAGE);
		return p;
	}
	size = round_up(size, HUGEMEM_ALIGN);
	p = aligned_alloc(HUGEMEM_ALIGN, size);
	if (p)
		memset(p, 0, size);
	return p;
}

void hugemem_free(void *p, size_t size)
{
	if (!p)
		return;
	if (size >= HUGEMEM_MIN)
		munmap(p, round_up(size, HUGEMEM_PAGE));
	else
		free(p);
}
