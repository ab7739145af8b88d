/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that is stopped: the kernel has taken over, and old frames stay away. */
#include "rig.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

struct shared {
	bool ready, quit;
	uint64_t n_stalls, n_stale;
};

static void stalled_child(struct shared *sh)
{
	struct net *n = net_open(plain, false);
	struct dp_stats st;

	__atomic_store_n(&sh->ready, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&sh->quit, __ATOMIC_ACQUIRE))
		nap_ms(1);
	check_frames(n);
	dp_stats_read(n->dp, &st);
	sh->n_stalls = st.n_stalls;
	for (int i = 1; i <= N_PORTS; i++)
		sh->n_stale += counters(n, i).user.drop[DROP_STALE];
	net_close(n);
}

/* Sends for @ms at about 5,000/s and returns the next sequence number. */
static uint32_t send_for(const struct net *n, uint32_t seq, uint32_t ms)
{
	for (uint32_t i = 0; i < ms; i++) {
		for (int k = 0; k < 5; k++)
			send_frame(n, 1, broadcast, seq++);
		nap_ms(1);
	}
	return seq;
}

/* Takes what has come to h2; the oldest frame's age in ms. */
static uint64_t oldest_ms(const struct net *n, uint32_t *n_got)
{
	uint64_t oldest = 0;
	struct got g;

	for (*n_got = 0; recv_frame(n, 2, 0, &g); ++*n_got) {
		uint64_t age = clock_now_ns() - g.p.sent_ns;

		if (age > oldest)
			oldest = age;
	}
	return oldest / NSEC_PER_MSEC;
}

void no_frame_is_forwarded_late_after_a_stall(void)
{
	struct shared *sh =
		mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct net mine = { 0 };
	uint32_t n_got, seq;
	uint64_t oldest;
	pid_t pid = fork();

	if (!pid) {
		stalled_child(sh);
		exit(0);
	}
	while (!__atomic_load_n(&sh->ready, __ATOMIC_ACQUIRE))
		nap_ms(1);
	for (int i = 1; i <= N_PORTS; i++)
		mine.host[i] = host_open(i);
	seq = send_for(&mine, 1, 50);
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	nap_ms(20);
	oldest_ms(&mine, &n_got);
	if (n_got < 100)
		FAIL("only %u frames came before the stall", n_got);
	seq = send_for(&mine, seq, 3 * heartbeat_ms());
	oldest_ms(&mine, &n_got);
	EQUAL("frames forwarded while stopped", n_got, 0);
	kill(pid, SIGCONT);
	nap_ms(10);
	oldest = oldest_ms(&mine, &n_got);
	if (n_got)
		FAIL("%u frames of before came late, the oldest %llu ms", n_got,
		     (unsigned long long)oldest);
	send_for(&mine, seq, 50);
	nap_ms(20);
	oldest_ms(&mine, &n_got);
	if (n_got < 100)
		FAIL("only %u frames came after the stall", n_got);
	__atomic_store_n(&sh->quit, true, __ATOMIC_RELEASE);
	waitpid(pid, NULL, 0);
	/* A busy machine may add stalls of its own. */
	if (!sh->n_stalls || !sh->n_stale)
		FAIL("%llu stalls, %llu stale frames", (unsigned long long)sh->n_stalls,
		     (unsigned long long)sh->n_stale);
	printf("  %llu stale frames dropped\n", (unsigned long long)sh->n_stale);
	for (int i = 1; i <= N_PORTS; i++)
		close(mine.host[i]);
	munmap(sh, sizeof(*sh));
}
