/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/history.h"
#include "util/log.h"

/* What was written to standard error while @run ran. */
static char *captured(void (*run)(void))
{
	static char buf[65536];
	FILE *f = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(f);
	dup2(fileno(f), STDERR_FILENO);
	run();
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(f);
	n = fread(buf, 1, sizeof(buf) - 1, f);
	buf[n] = '\0';
	fclose(f);
	return buf;
}

static uint32_t n_lines(const char *s)
{
	uint32_t n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void write_three(void)
{
	log_set_level(LOG_LEVEL_INFO);
	log_info("port %s\nis up", "p1");
	log_debug("nobody sees this");
	log_err("no");
}

static void an_event_is_one_line_with_its_level(void **state)
{
	(void)state;
	assert_string_equal(captured(write_three), "<6>port p1 is up\n<3>no\n");
}

static void write_long(void)
{
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_err("%s", text);
}

static void a_long_line_is_cut_and_still_ends(void **state)
{
	const char *s = captured(write_long);

	(void)state;
	assert_int_equal(n_lines(s), 1);
	assert_true(strlen(s) <= 1000);
	assert_int_equal(s[strlen(s) - 1], '\n');
}

static void levels_have_names(void **state)
{
	enum log_level l = LOG_LEVEL_ERR;

	(void)state;
	for (int i = LOG_LEVEL_ERR; i <= LOG_LEVEL_DEBUG; i++) {
		assert_int_equal(log_level_parse(log_level_name((enum log_level)i), &l), 0);
		assert_int_equal(l, i);
	}
	assert_int_not_equal(log_level_parse("loud", &l), 0);
}

static void write_limited(void)
{
	struct log_limit l = { .interval_ns = 100, .burst = 3 };

	for (uint64_t now = 1000; now < 1010; now++) {
		if (log_limit_ok(&l, "storm", now))
			log_info("event");
	}
	if (log_limit_ok(&l, "storm", 2000))
		log_info("later");
}

static void a_storm_is_cut_and_what_is_missing_is_told(void **state)
{
	(void)state;
	assert_string_equal(captured(write_limited),
			    "<6>event\n<6>event\n<6>event\n"
			    "<4>storm: 7 more of these were not logged\n<6>later\n");
}

static struct history history;

static void flap(void)
{
	for (int i = 0; i < 1000; i++)
		history_add(&history, LOG_LEVEL_INFO, "port p1 flaps, %d", i);
}

static void history_keeps_the_newest_and_the_log_is_not_flooded(void **state)
{
	(void)state;
	assert_int_equal(n_lines(captured(flap)), HISTORY_BURST);
	assert_int_equal(history.n, 1000);
	assert_string_equal(history.item[(history.n - 1) % HISTORY_N].text, "port p1 flaps, 999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_one_line_with_its_level),
		cmocka_unit_test(a_long_line_is_cut_and_still_ends),
		cmocka_unit_test(levels_have_names),
		cmocka_unit_test(a_storm_is_cut_and_what_is_missing_is_told),
		cmocka_unit_test(history_keeps_the_newest_and_the_log_is_not_flooded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
