/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-show: `xbridgectl fdb` of a bridge that knows many stations, from the
 * start of the program to its end, as text and as JSON; beside it the CPU time of
 * both sides, and the longest that the daemon's event loop was kept from anything
 * else.
 *
 * usage: bench-show [XBRIDGECTL]
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "control-kernel.h"
#include "ctl/ctlsock.h"

#define N_STATIONS 400000
#define N_VIDS     64
#define SIZE_MIN   (N_STATIONS * 40.0) /* bytes of an answer that has them all */

struct loop {
	struct ctl *c;
	uint64_t last_ns, longest_ns; /* CPU time between two turns of the event loop */
	int status;
};

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;
	uint64_t now = bench_cpu_ns();

	(void)fd;
	(void)what;
	if (l->last_ns && now - l->last_ns > l->longest_ns)
		l->longest_ns = now - l->last_ns;
	l->last_ns = now;
}

static void on_child(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;

	(void)fd;
	(void)what;
	if (waitpid(-1, &l->status, WNOHANG) > 0)
		event_base_loopbreak(l->c->base);
}

static int fill(struct ctl *c)
{
	uint16_t slot = 0;

	for (uint32_t i = 0; i < N_STATIONS; i++) {
		struct fdb_entry e = { .mac = mac_from_u64(0x020000100000ULL + i),
				       .vid = (uint16_t)(1 + i % N_VIDS),
				       .flags = i % 2 ? FDB_KERNEL : 0,
				       .seen_ns = c->now_ns };

		do
			slot = (uint16_t)(slot + 1 < c->slot_end ? slot + 1 : 1);
		while (!c->port[slot].is_used || c->port[slot].is_host);
		e.port = slot;
		if (fdb_add(c->bridge[0].fdb, &e))
			return -1;
	}
	return 0;
}

static pid_t run(const char *program, const char *socket, const char *option, const char *to)
{
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(99);
	execl(program, "xbridgectl", "-s", socket, option, "fdb", (char *)NULL);
	_exit(99);
}

/* Of this thread and of programs that have ended. */
static uint64_t used_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return bench_cpu_ns() + 1000000000ULL * (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       1000ULL * (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int measure(struct loop *l, const char *program, const char *option, const char *name)
{
	struct bench_runs runs = { .n = 0 }, cpu = { .n = 0 }, longest = { .n = 0 };
	char line[64], to[64];
	struct stat st;

	snprintf(to, sizeof(to), "/tmp/bench-show.%d", (int)getpid());
	for (int i = 0; i <= BENCH_RUNS; i++) {
		uint64_t start = bench_now_ns(), start_cpu = used_ns();

		l->last_ns = l->longest_ns = 0;
		l->status = -1;
		if (run(program, l->c->conf->control_socket, option, to) < 0)
			return -1;
		event_base_dispatch(l->c->base);
		if (l->status || stat(to, &st) || (double)st.st_size < SIZE_MIN)
			return -1;
		if (!i)
			continue;
		bench_add(&runs, (double)(bench_now_ns() - start) / 1e6);
		bench_add(&cpu, (double)(used_ns() - start_cpu) / 1e6);
		bench_add(&longest, (double)l->longest_ns / 1e6);
	}
	unlink(to);
	snprintf(line, sizeof(line), "show.fdb-400k.%s", name);
	bench_report(line, "ms", &runs, NULL);
	snprintf(line, sizeof(line), "show.fdb-400k.%s.cpu", name);
	bench_report(line, "ms", &cpu, NULL);
	snprintf(line, sizeof(line), "show.fdb-400k.%s.blocked", name);
	bench_report(line, "ms", &longest, NULL);
	return 0;
}

static int serve(struct loop *l, const char *program)
{
	const struct timeval tick = { .tv_usec = 1000 };
	struct event *ev_tick = event_new(l->c->base, -1, EV_PERSIST, on_tick, l);
	struct event *ev_child = evsignal_new(l->c->base, SIGCHLD, on_child, l);
	int err = -1;

	if (ev_tick && ev_child && !event_add(ev_tick, &tick) && !event_add(ev_child, NULL) &&
	    !ctlsock_open(l->c, &l->c->sock)) {
		err = measure(l, program, "--", "text") || measure(l, program, "-j", "json");
		ctlsock_close(l->c->sock);
	}
	if (ev_tick)
		event_free(ev_tick);
	if (ev_child)
		event_free(ev_child);
	return err;
}

int main(int argc, char **argv)
{
	struct loop l = { 0 };
	int err = -1;

	kernel_set(KERNEL_LIST_RANGE, KERNEL_PORTS);
	l.c = kernel_ctl_new();
	if (!l.c)
		return 1;
	snprintf(l.c->conf->control_socket, sizeof(l.c->conf->control_socket),
		 "/tmp/bench-show.%d.sock", (int)getpid());
	l.c->base = event_base_new();
	if (l.c->base && !kernel_start(l.c) && !fill(l.c))
		err = serve(&l, argc > 1 ? argv[1] : "./xbridgectl");
	if (l.c->base)
		event_base_free(l.c->base);
	kernel_ctl_free(l.c);
	if (err)
		fprintf(stderr, "bench-show: failed\n");
	return err || bench_finish() ? 1 : 0;
}
