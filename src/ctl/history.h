/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history: the last things that happened, for `xbridgectl status`. Each is
 * also a log line. Control thread only.
 */
#ifndef XB_CTL_HISTORY_H
#define XB_CTL_HISTORY_H

#include <stdint.h>

#include "util/log.h"

#define HISTORY_N    64
#define HISTORY_SIZE 160

#define HISTORY_SEC   10
#define HISTORY_BURST 200

struct history_item {
	uint64_t real_ms; /* CLOCK_REALTIME */
	enum log_level level;
	char text[HISTORY_SIZE];
};

struct history {
	struct history_item item[HISTORY_N];
	uint64_t n; /* ever added; the newest is (n - 1) % HISTORY_N */
	struct log_limit limit;
};

/*
 * Remembers the line and logs it; of a storm, a port that flaps say, only the
 * first HISTORY_BURST lines in HISTORY_SEC seconds are logged, and then how many
 * were not.
 */
void history_add(struct history *h, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
