/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log: one line per event, on standard error.
 *
 * Each line begins with "<N>", the syslog level that journald understands,
 * when standard error is not a terminal; on a terminal it begins with the
 * level's name. Lines are written with one write() and are cut at 1,000 bytes.
 *
 * Any thread may log, but workers do not: they count (core/drop.h).
 */
#ifndef XB_UTIL_LOG_H
#define XB_UTIL_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* The values are those of syslog(3). */
enum log_level {
	LOG_LEVEL_ERR = 3,
	LOG_LEVEL_WARN = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

/* Lines above @level are not written. The default is LOG_LEVEL_INFO. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* The name of @level ("err", "warning", "notice", "info", "debug"), and back; -EINVAL for others.
 */
const char *log_level_name(enum log_level level);
int log_level_parse(const char *name, enum log_level *out);

void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_err(...)    log_write(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warn(...)   log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_notice(...) log_write(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)   log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)  log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

/*
 * A limit for one kind of message: at most @burst lines in each @interval_ns.
 * Zero-initialised apart from these two. Used by one thread.
 */
struct log_limit {
	uint64_t interval_ns;
	uint32_t burst;
	uint32_t n_sent;
	uint64_t n_suppressed;
	uint64_t start_ns;
};

/*
 * True if a line may be written at @now_ns. The first true after suppressed
 * ones writes a line of its own that says how many were left out.
 */
bool log_limit_ok(struct log_limit *l, const char *what, uint64_t now_ns);

#endif
