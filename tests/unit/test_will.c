/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/will.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "xb_maps.h"

/* Where a dead process has left its mark. */
static uint32_t *shared_word(void)
{
	uint32_t *word = mmap(NULL, sizeof(*word), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(word, MAP_FAILED);
	return word;
}

static void *make_and_end(void *word)
{
	static struct will will; /* read by the kernel after the return */

	will_make(&will, word);
	return (void *)(uintptr_t) * (uint32_t *)word;
}

static void a_thread_that_ends_is_marked(void **state)
{
	uint32_t word = 0;
	pthread_t thread;
	void *living;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, make_and_end, &word), 0);
	assert_int_equal(pthread_join(thread, &living), 0);
	assert_true((uintptr_t)living && !((uintptr_t)living & XB_WORKER_GONE));
	assert_true(word & XB_WORKER_GONE);
}

static void a_killed_process_is_marked(void **state)
{
	uint32_t *word = shared_word();
	static struct will will;
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		will_make(&will, word);
		kill(getpid(), SIGKILL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(*word, XB_WORKER_GONE);
	munmap(word, sizeof(*word));
}

static void a_fulfilled_will_looks_like_a_death(void **state)
{
	uint32_t word = 77;

	(void)state;
	will_fulfil(&word);
	assert_true(word & XB_WORKER_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_ends_is_marked),
		cmocka_unit_test(a_killed_process_is_marked),
		cmocka_unit_test(a_fulfilled_will_looks_like_a_death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
