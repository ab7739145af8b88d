/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dp_test: the data plane alone, through dp/dp.h, between veth ports of a
 * network namespace of its own: what comes out, byte by byte, the counters, and
 * that no frame of the UMEM is lost. Root; exits with 77 without.
 *
 * XB_HEARTBEAT_MS in the environment is for machines whose clock stalls; the
 * default is 100.
 */
#include "rig.h"

#include <sys/wait.h>
#include <unistd.h>
#include <urcu/urcu-qsbr.h>

#include "util/clock.h"

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {
#define TEST(f) { #f, f }
		TEST(known_unicast_goes_to_one_port),
		TEST(a_flood_leaves_with_and_without_tag),
		TEST(a_tag_is_kept_and_taken_off),
		TEST(a_port_is_promiscuous_while_it_is_open),
		TEST(many_floods_are_counted_exactly),
		TEST(a_port_closes_and_opens_under_traffic),
		TEST(a_port_that_vanishes_is_seen_and_closed),
		TEST(the_host_waits_until_the_kernel_has_learned),
		TEST(frames_of_a_closed_port_go_to_the_others),
		TEST(nothing_leaves_a_port_once_the_view_that_blocks_it_is_published),
		TEST(every_queue_is_served),
		TEST(what_cannot_be_served_is_refused),
		TEST(no_frame_is_forwarded_late_after_a_stall),
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (getenv("XB_HEARTBEAT_MS"))
		config.heartbeat_ns = strtoul(getenv("XB_HEARTBEAT_MS"), NULL, 10) * NSEC_PER_MSEC;
	if (!enter_namespaces()) {
		printf("needs root and namespaces\n");
		return 77;
	}
	make_links();
	/* A process for each: one that fails leaves nothing to the next. */
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			urcu_qsbr_register_thread();
			tests[i].run();
			urcu_qsbr_unregister_thread();
			exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			return 1;
		printf("%s: %s\n", status ? "FAIL" : "ok", tests[i].name);
		if (status)
			return 1;
	}
	return 0;
}
