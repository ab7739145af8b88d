/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hugemem: memory for tables that are read all over, in huge pages.
 *
 * With pages of 4 KiB nearly every access to a table of some MiB costs a walk
 * through the page tables, in a virtual machine through two of them; one page
 * of 2 MiB needs one entry of the TLB. The kernel is asked for huge pages,
 * it is not bound to give them: where it does not, everything works, more slowly.
 *
 * It knows nothing of what it hands out. Threads: [any], each function.
 */
#ifndef XB_UTIL_HUGEMEM_H
#define XB_UTIL_HUGEMEM_H

#include <stddef.h>

#define HUGEMEM_PAGE (2UL << 20)
/*
 * From this size on an area consists of huge pages alone. Less comes from the
 * heap, where a huge page would be mostly empty.
 */
#define HUGEMEM_MIN   (1UL << 20)
#define HUGEMEM_ALIGN 64 /* of any area, at least */

/*
 * @size (above 0) bytes, all 0, that belong to the caller; NULL: no memory. The
 * pages of an area of HUGEMEM_MIN or more are not present yet: whoever writes
 * into one first waits for the kernel to clear it.
 */
void *hugemem_alloc(size_t size);

/* Gives back an area that hugemem_alloc(@size) returned; NULL: nothing to do. */
void hugemem_free(void *p, size_t size);

#endif
