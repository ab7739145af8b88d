/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/history.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "util/clock.h"

void history_add(struct history *h, enum log_level level, const char *fmt, ...)
{
	struct history_item *i = &h->item[h->n++ % HISTORY_N];
	struct timespec ts;
	va_list ap;

	clock_gettime(CLOCK_REALTIME, &ts);
	i->real_ms = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
	i->level = level;
	va_start(ap, fmt);
	vsnprintf(i->text, sizeof(i->text), fmt, ap);
	va_end(ap);
	h->limit.interval_ns = HISTORY_SEC * NSEC_PER_SEC;
	h->limit.burst = HISTORY_BURST;
	if (log_limit_ok(&h->limit, "events", clock_now_ns()))
		log_write(level, "%s", i->text);
}
