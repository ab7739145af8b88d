/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * will: a word in memory that the kernel marks when a thread dies, however it
 * dies. (It is the kernel's robust futex list, with a list of one.)
 *
 * A dying thread's list is read before the memory of its process is torn down
 * and long before its descriptors are closed. So the mark comes some
 * microseconds after SIGKILL, whatever the process has mapped and opened.
 *
 * The list that the C library keeps for a thread is replaced: a thread with a
 * will must not hold robust mutexes. Both functions are called by that thread.
 */
#ifndef XB_DP_WILL_H
#define XB_DP_WILL_H

#include <linux/futex.h>
#include <stdint.h>

struct will {
	struct robust_list_head head;
	struct robust_list entry;
};

/*
 * Writes the thread's number into @word; when the thread ends the kernel puts
 * XB_WORKER_GONE (bpf/xb_maps.h) there instead. @will and @word must stay until
 * then. A kernel that cannot do it leaves @word at 0: never marked.
 */
void will_make(struct will *will, uint32_t *word);

/* The thread lives on, but what watches the word is to believe that it has gone. */
void will_fulfil(uint32_t *word);

#endif
