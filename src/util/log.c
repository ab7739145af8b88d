/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOG_LINE_MAX 1000

static _Atomic int max_level = LOG_LEVEL_INFO;

static const char *const level_names[] = {
	[LOG_LEVEL_ERR] = "err",   [LOG_LEVEL_WARN] = "warning", [LOG_LEVEL_NOTICE] = "notice",
	[LOG_LEVEL_INFO] = "info", [LOG_LEVEL_DEBUG] = "debug",
};

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

enum log_level log_get_level(void)
{
	return (enum log_level)atomic_load_explicit(&max_level, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
	if (level < LOG_LEVEL_ERR || level > LOG_LEVEL_DEBUG)
		return "unknown";
	return level_names[level];
}

int log_level_parse(const char *name, enum log_level *out)
{
	for (int i = LOG_LEVEL_ERR; i <= LOG_LEVEL_DEBUG; i++) {
		if (!strcmp(name, level_names[i])) {
			*out = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	char line[LOG_LINE_MAX];
	va_list ap;
	int n, m;

	if (level > log_get_level())
		return;

	if (isatty(STDERR_FILENO))
		n = snprintf(line, sizeof(line), "%s: ", log_level_name(level));
	else
		n = snprintf(line, sizeof(line), "<%d>", (int)level);

	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	if (m < 0)
		return;
	n = (int)strnlen(line, sizeof(line) - 2);

	/* One event, one line: an object's name may hold anything. */
	for (int i = 0; i < n; i++) {
		if (line[i] == '\n' || line[i] == '\r')
			line[i] = ' ';
	}
	line[n++] = '\n';
	/* There is nobody to tell that standard error is gone. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

bool log_limit_ok(struct log_limit *l, const char *what, uint64_t now_ns)
{
	if (now_ns - l->start_ns >= l->interval_ns) {
		if (l->n_suppressed)
			log_warn("%s: %" PRIu64 " more of these were not logged", what,
				 l->n_suppressed);
		l->start_ns = now_ns;
		l->n_sent = 0;
		l->n_suppressed = 0;
	}
	if (l->n_sent >= l->burst) {
		l->n_suppressed++;
		return false;
	}
	l->n_sent++;
	return true;
}
