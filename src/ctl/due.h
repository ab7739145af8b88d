/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * due: when the control thread has to look again although nothing happens. It
 * sleeps until then, so that an idle daemon costs next to nothing. Pure.
 *
 * Control thread only.
 */
#ifndef XB_CTL_DUE_H
#define XB_CTL_DUE_H

#include <stdint.h>

#include "util/clock.h"

struct ctl;

#define DUE_LONG_NS  NSEC_PER_SEC         /* at the latest */
#define DUE_SHORT_NS (50 * NSEC_PER_MSEC) /* something waits, or is tried again */
#define DUE_GROW_NS  (10 * NSEC_PER_MSEC) /* a table is growing */

#define DUE_GUARD_NS (5 * NSEC_PER_SEC) /* from one look of the guard to the next */
#define DUE_CHECK_NS NSEC_PER_SEC       /* likewise for what is to be tried again */

/* Monotonic ns, at least DUE_GROW_NS after c->now_ns but for MST. */
uint64_t due_ns(const struct ctl *c);

#endif
