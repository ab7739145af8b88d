/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "dp/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <urcu/urcu-qsbr.h>

#include "dp/worker_priv.h"
#include "util/bitset.h"
#include "util/clock.h"

/* Rounds between two checks of the frame sum in debug builds. */
#define CHECK_ROUNDS 4096
/* First nap while frames are in flight; it doubles as long as nothing comes back. */
#define RETRY_NS  1000000ULL
#define IDLE_NAPS 400 /* between two rounds, for all cases */
#define JOIN_SEC  1
#define SLICE_NS  100000 /* the shortest that the kernel takes */
/* Taken from one nap; more are taken after the next. */
#define N_EVENTS 16

void worker_tell(struct worker *w)
{
	const uint64_t one = 1;

	(void)!write(w->cfg.event_fd, &one, sizeof(one));
}

void worker_wake(struct worker *w)
{
	const uint64_t one = 1;

	(void)!write(w->wake_fd, &one, sizeof(one));
}

static void beat(struct worker *w)
{
	__atomic_store_n(&w->cfg.gate->worker_at_ns[w->cfg.index], w->now_ns, __ATOMIC_RELEASE);
	w->beat_ns = w->now_ns;
}

/*
 * The gate was shut by a beat that was too old: the kernel bridge forwards
 * meanwhile, and what lies in the rings must not come after its frames.
 */
static void after_stall(struct worker *w)
{
	count_add(&w->stats.n_stalls, 1);
	ingress_drop_stale(w);
	egress_drop_held(w);
}

static void check_sum(struct worker *w)
{
#ifdef XB_DEBUG
	struct dp_frame_sum s;

	if (w->stats.n_loops % CHECK_ROUNDS)
		return;
	frames_sum(w, &s);
	assert(s.pool + s.fill + s.batch + s.tx == s.all);
#else
	(void)w;
#endif
}

/* One round. False if there was nothing to do. */
static bool worker_round(struct worker *w)
{
	uint32_t n;

	if (worker_is_late(w))
		after_stall(w);
	w->now_ns = clock_now_ns();
	beat(w);
	cmd_serve(w);

	w->view = rcu_dereference(*w->cfg.view);
	n = egress_reap(w);
	egress_release_held(w);
	n += ingress_run(w);
	egress_flush(w);
	if (learnq_flush(&w->learn))
		worker_tell(w);
	ingress_refill(w);
	w->view = NULL;
	urcu_qsbr_quiescent_state();

	count_add(&w->stats.n_loops, 1);
	check_sum(w);
	return n;
}

/* How long the worker may sleep if nothing wakes it. */
static uint64_t nap_ns(struct worker *w)
{
	uint64_t nap = w->cfg.heartbeat_ns / 4, now_ns = clock_now_ns();

	/* Nobody says when a frame has been sent, or when a full device has room again. */
	if (w->n_in_flight_ports || w->n_dirty) {
		if (RETRY_NS << w->nap_shift < nap)
			nap = RETRY_NS << w->nap_shift++;
	}
	for (uint32_t i = 0; w->n_held && i < w->n_open; i++) {
		int64_t left = clock_diff(hold_deadline_ns(&w->open[i]->hold), now_ns);

		if (w->open[i]->hold.n && left < (int64_t)nap)
			nap = left > 0 ? (uint64_t)left : 0;
	}
	return nap;
}

/* A socket that reports an error has lost its device. */
static void note_event(struct worker *w, const struct epoll_event *ev)
{
	struct sock *s = ev->data.ptr;
	uint64_t count;

	if (!s) {
		(void)!read(w->wake_fd, &count, sizeof(count));
		return;
	}
	if (!(ev->events & (EPOLLERR | EPOLLHUP)))
		return;
	(void)epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	if (w->port[s->slot])
		egress_port_failed(w, w->port[s->slot]);
}

/*
 * Returns how many events came. Not poll(): it would ask every socket each
 * time, and in copy mode asking means trying to send.
 */
static int worker_sleep(struct worker *w)
{
	uint64_t ns = nap_ns(w);
	const struct timespec ts = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				     .tv_nsec = (long)(ns % NSEC_PER_SEC) };
	struct epoll_event ev[N_EVENTS];
	int n;

	urcu_qsbr_thread_offline();
	n = epoll_pwait2(w->epoll_fd, ev, N_EVENTS, &ts, NULL);
	urcu_qsbr_thread_online();
	count_add(&w->stats.n_polls, 1);
	for (int i = 0; i < n; i++)
		note_event(w, &ev[i]);
	return n;
}

/*
 * Sleeps until there may be something to do. When nothing is under way only an
 * event brings work: after a nap that none has ended a beat is due, but not a
 * round through all rings, of which an idle daemon may have hundreds.
 */
static void worker_idle(struct worker *w)
{
	for (uint32_t i = 0; i < IDLE_NAPS; i++) {
		if (worker_sleep(w) || w->n_in_flight_ports || w->n_dirty || w->n_held)
			return;
		if (worker_is_late(w))
			return;
		w->now_ns = clock_now_ns();
		beat(w);
	}
}

/*
 * Frames that pass to the kernel bridge must not overtake those that wait here.
 * So the way here is shut by this thread, at a moment when nothing waits; until
 * it finds one it does not sleep.
 */
static void try_to_leave(struct worker *w, bool did)
{
	if ((did || w->n_dirty) && clock_diff(w->leave_by_ns, clock_now_ns()) > 0)
		return;
	will_fulfil(&w->cfg.gate->worker[w->cfg.index]);
	w->leave_by_ns = 0;
}

/*
 * The kernel bridge forwards in softirqs, ahead of all threads; this thread has
 * to wait for the processes on its CPU, and meanwhile the rings fill. With a short
 * slice it does not wait for the end of theirs (kernel 6.12; others ignore it).
 * It takes no more time than without. A policy that was chosen for it is kept.
 */
static void ask_for_short_slices(void)
{
	struct attr {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = { .size = sizeof(
			a) }; /* the kernel's struct sched_attr; its header and glibc's clash */

	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) || a.policy != SCHED_OTHER)
		return;
	a.runtime = SLICE_NS;
	(void)syscall(SYS_sched_setattr, 0, &a, 0);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	ask_for_short_slices();
	urcu_qsbr_register_thread();
	w->now_ns = clock_now_ns();
	beat(w);
	will_make(&w->will, &w->cfg.gate->worker[w->cfg.index]);
	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		bool did = worker_round(w);

		if (w->leave_by_ns)
			try_to_leave(w, did);
		else if (did)
			w->nap_shift = 0;
		else
			worker_idle(w);
	}
	will_fulfil(&w->cfg.gate->worker[w->cfg.index]);
	urcu_qsbr_unregister_thread();
	return NULL;
}

static int thread_start(struct worker *w)
{
	pthread_attr_t attr;
	cpu_set_t cpus;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	if (w->cfg.cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET((size_t)w->cfg.cpu, &cpus);
		err = pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	}
	if (!err)
		err = pthread_create(&w->thread, &attr, worker_main, w);
	pthread_attr_destroy(&attr);
	return -err;
}

static int worker_init(struct worker *w)
{
	struct epoll_event wake = { .events = EPOLLIN };
	int err;

	err = pool_new(&w->pool, w->cfg.first_frame, w->cfg.n_frames);
	if (err)
		return err;
	err = learnq_init(&w->learn);
	if (err)
		return err;
	w->count = calloc(XB_MAX_PORTS, sizeof(*w->count));
	w->scratch = calloc(bitset_words(w->cfg.umem->n_frames), sizeof(*w->scratch));
	if (!w->count || !w->scratch)
		return -ENOMEM;
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->wake_fd < 0 || w->done_fd < 0)
		return -errno;
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0 || epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->wake_fd, &wake))
		return -errno;
	return thread_start(w);
}

int worker_start(const struct worker_config *cfg, struct worker **out)
{
	struct worker *w;
	int err;

	if (!cfg->batch || cfg->batch > WORKER_MAX_BATCH)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->cfg = *cfg;
	w->epoll_fd = -1;
	w->wake_fd = -1;
	w->done_fd = -1;
	err = worker_init(w);
	if (err) {
		worker_free(w);
		return err;
	}
	*out = w;
	return 0;
}

int worker_stop(struct worker *w)
{
	struct timespec end;

	__atomic_store_n(&w->stop, true, __ATOMIC_RELEASE);
	worker_wake(w);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += JOIN_SEC;
	return -pthread_timedjoin_np(w->thread, NULL, &end);
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	if (w->done_fd >= 0)
		close(w->done_fd);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	free(w->scratch);
	free(w->count);
	learnq_fini(&w->learn);
	pool_free(w->pool);
	free(w);
}

uint32_t worker_learn_read(struct worker *w, struct dp_learn *v, uint32_t n)
{
	return learnq_read(&w->learn, v, n);
}

bool worker_learn_waits(const struct worker *w)
{
	return !learnq_is_empty(&w->learn);
}

void worker_learn_done(struct worker *w, uint64_t seq)
{
	__atomic_store_n(&w->learn_done, seq, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&w->n_held, __ATOMIC_SEQ_CST))
		worker_wake(w);
}

uint32_t worker_index(const struct worker *w)
{
	return w->cfg.index;
}

const struct count_port *worker_count(const struct worker *w, uint16_t slot)
{
	return &w->count[slot];
}

void worker_stats_add(const struct worker *w, struct dp_stats *to)
{
	to->n_loops += count_read(&w->stats.n_loops);
	to->n_polls += count_read(&w->stats.n_polls);
	to->n_stalls += count_read(&w->stats.n_stalls);
	to->host_held += count_read(&w->stats.host_held);
	to->host_hold_expired += count_read(&w->stats.host_hold_expired);
	to->kicks += count_read(&w->stats.kicks);
	to->learn_lost += count_read(&w->learn.n_lost);
}
