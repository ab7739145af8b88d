/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/dp.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <urcu/urcu-qsbr.h>

#include "dp/dp_priv.h"
#include "dp/prog.h"
#include "dp/umem.h"
#include "dp/worker.h"
#include "util/clock.h"

/* The gate is shut: for so long frames come in that passed it before. */
#define SERVE_NS 5000000L
/* Then for so long the devices may take to send what they have. */
#define DRAIN_MS 1000

static void nap(long ns)
{
	const struct timespec ts = { .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

static int config_check(const struct dp_config *c, const char **why)
{
	if (c->n_workers != 1) {
		*why = "this version has exactly one worker thread";
		return -EINVAL;
	}
	if (!umem_ring_is_valid(c->rx_ring) || !umem_ring_is_valid(c->tx_ring) ||
	    !umem_ring_is_valid(c->fill_ring) || !umem_ring_is_valid(c->completion_ring)) {
		*why = "ring sizes are powers of two up to 8192";
		return -EINVAL;
	}
	if (!c->batch || c->batch > WORKER_MAX_BATCH) {
		*why = "the batch is 1 to 256 frames";
		return -EINVAL;
	}
	if (c->heartbeat_ns < NSEC_PER_MSEC) {
		*why = "the heartbeat is at least one millisecond";
		return -EINVAL;
	}
	return 0;
}

static const char *umem_why(int err)
{
	switch (err) {
	case -EINVAL:
		return "frames are 2048 or 4096 bytes, and 64 to 4194304 of them";
	case -EPERM:
		return "AF_XDP needs CAP_NET_RAW, and CAP_IPC_LOCK or a higher RLIMIT_MEMLOCK";
	case -ENOBUFS:
		return "locked memory is limited: raise it (LimitMEMLOCK= in the unit), "
		       "or lower umem-frames";
	case -EAFNOSUPPORT:
	case -EOPNOTSUPP:
		return "the kernel has no AF_XDP sockets (CONFIG_XDP_SOCKETS)";
	default:
		return "memory for frames cannot be registered with the kernel";
	}
}

static int open_umem(struct dp *dp, const char **why)
{
	const struct umem_config cfg = {
		.n_frames = dp->cfg.n_frames,
		.frame_size = dp->cfg.frame_size,
		.fill_ring = dp->cfg.fill_ring,
		.completion_ring = dp->cfg.completion_ring,
	};
	int err = umem_open(&cfg, &dp->umem);

	if (err)
		*why = umem_why(err);
	return err;
}

static int open_progs(struct dp *dp, const char **why)
{
	int err = prog_set_open(dp->cfg.pin_dir, &dp->progs, why);

	if (err)
		return err;
	dp->gate = prog_gate(dp->progs);
	dp->gate->open = 0;
	dp->gate->heartbeat_ns = dp->cfg.heartbeat_ns;
	dp->gate->control_beat_ns = dp->cfg.control_heartbeat_ns;
	dp_control_beat(dp, clock_now_ns());
	return 0;
}

static int start_workers(struct dp *dp, const char **why)
{
	uint32_t n_each = dp->cfg.n_frames / dp->cfg.n_workers;

	for (uint32_t i = 0; i < dp->cfg.n_workers; i++) {
		const struct worker_config cfg = {
			.index = i,
			.cpu = dp->cfg.worker_cpu[i],
			.batch = dp->cfg.batch,
			.fill_ring = dp->cfg.fill_ring,
			.heartbeat_ns = dp->cfg.heartbeat_ns,
			.gate = dp->gate,
			.umem = dp->umem,
			.first_frame = i * n_each,
			.n_frames = n_each,
			.view = (const struct view *const *)&dp->view,
			.event_fd = dp->event_fd,
		};
		int err = worker_start(&cfg, &dp->worker[i]);

		if (err) {
			*why = err == -EINVAL ? "a worker cannot run on that CPU"
					      : "a worker thread cannot be started";
			return err;
		}
		dp->n_workers++;
	}
	return 0;
}

/* False if a thread did not end: then nothing that it uses may be freed. */
static bool stop_workers(struct dp *dp)
{
	bool all = true;

	for (uint32_t i = 0; i < dp->n_workers; i++) {
		if (worker_stop(dp->worker[i]))
			all = false;
	}
	return all;
}

static void free_all(struct dp *dp)
{
	for (uint32_t i = 0; i < dp->n_workers; i++)
		worker_free(dp->worker[i]);
	prog_set_close(dp->progs);
	umem_close(dp->umem);
	view_free(dp->view);
	if (dp->event_fd >= 0)
		close(dp->event_fd);
	free(dp);
}

int dp_open(const struct dp_config *cfg, struct dp **out, const char **why)
{
	struct dp *dp;
	int err;

	err = config_check(cfg, why);
	if (err)
		return err;
	dp = calloc(1, sizeof(*dp));
	if (!dp) {
		*why = "out of memory";
		return -ENOMEM;
	}
	dp->cfg = *cfg;
	dp->event_fd = -1;
	/* First: another daemon may serve this namespace, and a sentinel wants a low descriptor. */
	err = open_progs(dp, why);
	if (err)
		goto err_free;
	dp->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dp->event_fd < 0) {
		*why = "no more file descriptors";
		err = -errno;
		goto err_free;
	}
	err = open_umem(dp, why);
	if (err)
		goto err_free;
	err = start_workers(dp, why);
	if (err)
		goto err_stop;
	*out = dp;
	return 0;

err_stop:
	if (!stop_workers(dp))
		return err;
err_free:
	free_all(dp);
	return err;
}

/* Frames in RX rings, with the workers, or on their way out; -1: a worker does not answer. */
static int64_t n_unfinished(struct dp *dp)
{
	struct dp_frame_sum s;
	int64_t n;

	if (!dp_frames(dp, &s))
		return -1;
	n = (int64_t)(s.tx + s.batch);
	for (uint32_t slot = 0; slot < XB_MAX_PORTS; slot++) {
		uint32_t n_waiting = 0;

		if (!dp->port[slot])
			continue;
		if (worker_port_waiting(dp->port[slot]->worker, dp->port[slot]->wport, &n_waiting))
			return -1;
		n += n_waiting;
	}
	return n;
}

/* The gate is shut: what came before that goes its way. */
static void drain(struct dp *dp)
{
	/*
	 * The program decides some time before its frames are in the RX rings, and
	 * a busy machine can make that long. This waits for every softirq that runs.
	 */
	(void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	nap(SERVE_NS);
	for (int i = 0; i < DRAIN_MS && n_unfinished(dp) > 0; i++)
		nap(1000000L);
}

void dp_close(struct dp *dp, bool detach)
{
	if (!dp)
		return;
	/* If a worker does not answer, the gate does it, and a frame may overtake another. */
	for (uint32_t i = 0; i < dp->n_workers; i++)
		(void)worker_leave(dp->worker[i]);
	dp_gate_set(dp, false);
	drain(dp);
	if (!stop_workers(dp))
		return;
	dp_ports_free(dp, detach);
	free_all(dp);
}

int dp_cleanup(const char *pin_dir)
{
	return prog_cleanup(pin_dir);
}

void dp_sweep(struct dp *dp)
{
	prog_sweep(dp->progs);
}

void dp_gate_set(struct dp *dp, bool open)
{
	__atomic_store_n(&dp->gate->open, open ? 1 : 0, __ATOMIC_RELEASE);
}

void dp_control_beat(struct dp *dp, uint64_t now_ns)
{
	__atomic_store_n(&dp->gate->control_at_ns, now_ns, __ATOMIC_RELEASE);
}

static int bridge_check(uint16_t bridge)
{
	return bridge < XB_MAX_BRIDGES ? 0 : -EINVAL;
}

int dp_bridge_rules_set(struct dp *dp, uint16_t bridge, const struct dp_bridge_rules *rules)
{
	const struct xb_bridge b = { .flags = rules->flags, .tpid = htobe16(rules->tpid) };

	return bridge_check(bridge) ?: prog_bridge_set(dp->progs, bridge, &b);
}

int dp_local_add(struct dp *dp, uint16_t bridge, const struct mac *mac)
{
	return bridge_check(bridge) ?: prog_local_add(dp->progs, bridge, mac);
}

int dp_local_del(struct dp *dp, uint16_t bridge, const struct mac *mac)
{
	return bridge_check(bridge) ?: prog_local_del(dp->progs, bridge, mac);
}

int dp_host_attach(struct dp *dp, uint32_t hq_ifindex, uint32_t bridge_ifindex, const char **why)
{
	return prog_host_attach(dp->progs, hq_ifindex, bridge_ifindex, why);
}

void dp_publish(struct dp *dp, struct view *v)
{
	struct view *old = rcu_xchg_pointer(&dp->view, v);

	urcu_qsbr_synchronize_rcu();
	view_free(old);
}

const struct view *dp_view(const struct dp *dp)
{
	return dp->view;
}

static void event_write(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

uint32_t dp_learn_read(struct dp *dp, struct dp_learn *v, uint32_t n)
{
	uint32_t n_read = 0;
	uint64_t count;
	bool waits = false;

	/* First cleared, then read: what comes in between is announced again. */
	(void)!read(dp->event_fd, &count, sizeof(count));
	for (uint32_t i = 0; i < dp->n_workers; i++) {
		n_read += worker_learn_read(dp->worker[i], v + n_read, n - n_read);
		waits |= worker_learn_waits(dp->worker[i]);
	}
	if (waits)
		event_write(dp->event_fd);
	return n_read;
}

void dp_learn_done(struct dp *dp, uint8_t worker, uint64_t seq)
{
	if (worker < dp->n_workers)
		worker_learn_done(dp->worker[worker], seq);
}

int dp_event_fd(const struct dp *dp)
{
	return dp->event_fd;
}

bool dp_frames(struct dp *dp, struct dp_frame_sum *out)
{
	struct dp_frame_sum all = { 0 }, s;

	for (uint32_t i = 0; i < dp->n_workers; i++) {
		if (worker_frames(dp->worker[i], &s))
			return false;
		all.all += s.all;
		all.pool += s.pool;
		all.fill += s.fill;
		all.batch += s.batch;
		all.tx += s.tx;
	}
	*out = all;
	return true;
}

void dp_stats_read(struct dp *dp, struct dp_stats *out)
{
	*out = (struct dp_stats){ 0 };
	for (uint32_t i = 0; i < dp->n_workers; i++)
		worker_stats_add(dp->worker[i], out);
}
