/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/will.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "xb_maps.h"

_Static_assert(XB_WORKER_GONE == FUTEX_OWNER_DIED, "the kernel writes this bit");

void will_make(struct will *will, uint32_t *word)
{
	will->head.list.next = &will->entry;
	will->head.list_op_pending = NULL;
	/* The word is elsewhere: in the gate, which the XDP programs read. */
	will->head.futex_offset = (long)((intptr_t)word - (intptr_t)&will->entry);
	will->entry.next = &will->head.list;
	__atomic_store_n(word, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (syscall(SYS_set_robust_list, &will->head, sizeof(will->head)))
		__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

void will_fulfil(uint32_t *word)
{
	__atomic_store_n(word, XB_WORKER_GONE, __ATOMIC_RELEASE);
}
