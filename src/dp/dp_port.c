/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "dp/dp.h"
#include "dp/dp_priv.h"
#include "dp/prog.h"
#include "dp/sock.h"
#include "dp/umem.h"
#include "dp/worker.h"
#include "dp/wport.h"
#include "util/clock.h"

#define SERVE_MS 5
#define DRAIN_MS 100
/*
 * A zero-copy driver lets the memory go some time after the socket was closed,
 * in a kernel worker (xp_release_deferred()), and tells nobody.
 */
#define ZC_RELEASE_MS 100

/* Ethernet header and one tag: what an MTU does not count. */
#define L2_LEN 18

static void nap_ms(long ms)
{
	const struct timespec ts = { .tv_nsec = ms * 1000000L };

	nanosleep(&ts, NULL);
}

struct failure {
	enum path_reason reason;
	const char *why;
};

static int fail(struct failure *f, int err, enum path_reason reason, const char *why)
{
	f->reason = reason;
	f->why = why;
	return err;
}

static int check_config(const struct dp *dp, const struct dp_port_config *c, struct failure *f)
{
	uint32_t n_rx = dp->n_rx_queues + c->n_rx_queues;

	if (!c->slot || c->slot >= XB_MAX_PORTS || !c->n_tx_queues || dp->port[c->slot])
		return fail(f, -EINVAL, PATH_FAILED, "port slot is not free, or no TX queue");
	if (!c->receive)
		return 0;
	if (!c->n_rx_queues || c->n_rx_queues > XB_MAX_QUEUES)
		return fail(
			f, -EINVAL, PATH_QUEUES,
			"the device has more receive queues than 16: lower them with ethtool -L");
	if (c->mtu + L2_LEN > umem_max_len(dp->umem))
		return fail(f, -EMSGSIZE, PATH_MTU,
			    "frames of this MTU do not fit into one buffer: raise frame-size");
	if (dp->cfg.n_frames / dp->cfg.n_workers / 2 / n_rx < WORKER_MIN_FILL)
		return fail(f, -ENOSPC, PATH_LIMIT,
			    "no frames left for its queues: raise umem-frames");
	return 0;
}

static const char *sock_why(int err)
{
	switch (err) {
	case -EBUSY:
		return "another AF_XDP socket has the queue";
	case -ENODEV:
		return "the device has gone";
	case -EOPNOTSUPP:
		return "the driver or the kernel does not support AF_XDP on this device";
	case -EINVAL:
		return "the device has no such queue";
	case -ENOMEM:
	case -ENOBUFS:
		return "no memory for rings: raise RLIMIT_MEMLOCK";
	default:
		return "the AF_XDP socket could not be opened";
	}
}

/* ---- sockets ---- */

/* One socket; every worker sends through the queue of its own number. */
static int open_sock(struct dp *dp, struct dp_port *p, uint32_t queue, bool zero_copy)
{
	const struct dp_port_config *c = &p->cfg;
	bool sends = queue < c->n_tx_queues && queue < dp->cfg.n_workers;
	uint32_t cap = dp->cfg.n_frames / 4;
	const struct sock_config sc = {
		.ifindex = c->ifindex,
		.slot = c->slot,
		.queue = (uint16_t)queue,
		.rx_ring = c->receive ? dp->cfg.rx_ring : 0,
		.tx_ring = sends ? dp->cfg.tx_ring : 0,
		.tx_cap = cap < dp->cfg.tx_ring ? cap : dp->cfg.tx_ring,
		.zero_copy = zero_copy,
	};
	struct sock *s;
	int err = sock_open(dp->umem, &sc, &s);

	if (!err)
		wport_add_sock(p->wport, s);
	return err;
}

static int open_queues(struct dp *dp, struct dp_port *p, bool zero_copy)
{
	uint32_t n = p->cfg.receive ? p->cfg.n_rx_queues : 1;
	int err;

	err = wport_new(&p->wport, p->cfg.slot, dp->cfg.batch);
	if (err)
		return err;
	for (uint32_t q = 0; q < n && !err; q++)
		err = open_sock(dp, p, q, zero_copy);
	if (err) {
		wport_free(p->wport);
		p->wport = NULL;
	}
	return err;
}

/* Zero-copy on all queues, or copy on all. */
static int open_socks(struct dp *dp, struct dp_port *p, struct failure *f)
{
	int err = -EOPNOTSUPP;

	if (p->cfg.mode != DP_MODE_COPY && p->cfg.receive) {
		err = open_queues(dp, p, true);
		if (err)
			snprintf(p->note, sizeof(p->note), "no zero-copy: %s", strerror(-err));
		p->zero_copy = !err;
	}
	if (err && p->cfg.mode != DP_MODE_ZERO_COPY)
		err = open_queues(dp, p, false);
	return err ? fail(f, err, PATH_SOCKET, sock_why(err)) : 0;
}

/* ---- promiscuous mode ---- */

/*
 * The kernel bridge makes its ports promiscuous only when it must; frames for
 * stations behind other ports have to come in here too. The membership ends
 * with the process. Protocol 0: the socket receives nothing.
 */
static int promisc_open(uint32_t ifindex, int *out)
{
	const struct packet_mreq mreq = {
		.mr_ifindex = (int)ifindex,
		.mr_type = PACKET_MR_PROMISC,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mreq, sizeof(mreq))) {
		int err = -errno;

		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

/* ---- open ---- */

static int attach(struct dp *dp, struct dp_port *p, struct failure *f)
{
	const struct prog_port_config pc = {
		.ifindex = p->cfg.ifindex,
		.name = p->cfg.name,
		.slot = p->cfg.slot,
		.recover_tags = p->cfg.recover_tags,
		.standalone = p->cfg.standalone,
	};
	int err = prog_attach(dp->progs, &pc, &p->recovers_tags, &f->why);

	if (err) {
		f->reason = err == -EBUSY ? PATH_XDP_BUSY : PATH_XDP_REFUSED;
		return err;
	}
	p->attached = true;
	return 0;
}

static void redirect_off(struct dp *dp, struct dp_port *p)
{
	for (uint32_t q = 0; p->cfg.receive && q < p->cfg.n_rx_queues; q++)
		prog_sock_clear(dp->progs, p->cfg.slot, q);
}

/* The rules last: from here on frames come. */
static int redirect_on(struct dp *dp, struct dp_port *p)
{
	int err = 0;

	for (uint32_t i = 0; p->cfg.receive && i < p->wport->n_socks && !err; i++) {
		const struct sock *s = p->wport->sock[i];

		err = prog_sock_set(dp->progs, p->cfg.slot, s->queue, s->fd,
				    worker_index(p->worker));
	}
	return p->cfg.receive && !err ? dp_port_rules_set(dp, p->cfg.slot, &p->cfg.rules) : err;
}

static void detach(struct dp *dp, struct dp_port *p)
{
	if (p->attached)
		prog_detach(dp->progs, p->cfg.slot);
	if (p->promisc_fd >= 0)
		close(p->promisc_fd);
}

static int port_set_up(struct dp *dp, struct dp_port *p, struct failure *f)
{
	int err;

	if (p->cfg.receive) {
		err = attach(dp, p, f);
		if (err)
			return err;
		err = promisc_open(p->cfg.ifindex, &p->promisc_fd);
		if (err)
			return fail(f, err, PATH_FAILED, "the device refuses promiscuous mode");
	}
	err = open_socks(dp, p, f);
	if (err)
		return err;
	err = worker_port_add(p->worker, p->wport);
	if (err) {
		/* It may yet take the port: then its memory must stay. */
		if (err == -ETIMEDOUT)
			p->wport = NULL;
		return fail(f, err, PATH_FAILED, "the worker thread does not answer");
	}
	return 0;
}

/* Ports that a worker kept because it did not answer: their queues would be busy. */
static void close_left(struct dp *dp)
{
	for (uint16_t slot = 0; slot < XB_MAX_PORTS; slot++) {
		if (dp->port[slot] && dp->port[slot]->is_closing)
			dp_port_close(dp, slot, true, NULL);
	}
}

int dp_port_open(struct dp *dp, const struct dp_port_config *cfg, enum path_reason *reason,
		 const char **why)
{
	struct failure f = { PATH_FAILED, "out of memory" };
	struct dp_port *p = NULL;
	int err;

	close_left(dp);
	err = check_config(dp, cfg, &f);
	if (err)
		goto err_out;
	p = calloc(1, sizeof(*p));
	if (!p) {
		err = -ENOMEM;
		goto err_out;
	}
	p->cfg = *cfg;
	p->promisc_fd = -1;
	p->worker = dp->worker[0];
	err = port_set_up(dp, p, &f);
	if (err)
		goto err_free;
	dp->port[cfg->slot] = p;
	dp->n_rx_queues += cfg->receive ? cfg->n_rx_queues : 0;
	err = redirect_on(dp, p);
	if (err) {
		dp_port_close(dp, cfg->slot, false, NULL);
		p = NULL;
		f = (struct failure){ PATH_SOCKET, "the socket cannot be put into the map" };
		goto err_out;
	}
	return 0;

err_free:
	detach(dp, p);
	wport_free(p->wport);
	free(p);
err_out:
	*reason = f.reason;
	*why = f.why;
	return err;
}

/* ---- counters ---- */

static void add_sock_stats(const struct wport *wp, struct dp_port_counters *out)
{
	struct sock_stats st;

	for (uint32_t i = 0; i < wp->n_socks; i++) {
		const struct sock *s = wp->sock[i];

		if (s->sends)
			out->tx_in_flight += __atomic_load_n(&s->txq.in_flight, __ATOMIC_RELAXED);
		if (sock_stats_read(s, &st))
			continue;
		out->xsk_rx_dropped += st.rx_dropped;
		out->xsk_rx_ring_full += st.rx_ring_full;
		out->xsk_fill_empty += st.fill_empty;
		out->xsk_tx_invalid += st.tx_invalid;
		out->xsk_tx_empty += st.tx_empty;
	}
}

static void add_prog_counts(const struct dp *dp, const struct dp_port *p,
			    struct dp_port_counters *out)
{
	struct xb_punts punts = { 0 };

	if (!p->cfg.receive || prog_punts_read(dp->progs, p->cfg.slot, &punts))
		return;
	out->redirected = punts.redirected;
	out->dropped_standalone = punts.dropped;
	memcpy(out->punt, punts.punt, sizeof(out->punt));
}

static void add_worker_counts(const struct dp *dp, const struct dp_port *p,
			      struct dp_port_counters *out)
{
	for (uint32_t i = 0; i < dp->n_workers; i++)
		count_port_sum(&out->user, worker_count(dp->worker[i], p->cfg.slot));
	add_sock_stats(p->wport, out);
}

/* ---- close ---- */

/* Waits until the worker has taken what came in before the redirect ended. */
static void serve_rest(struct dp_port *p)
{
	uint32_t n_waiting, n_quiet = 0;

	for (int i = 0; i < SERVE_MS && n_quiet < 2; i++) {
		nap_ms(1);
		if (worker_port_waiting(p->worker, p->wport, &n_waiting))
			return;
		n_quiet = n_waiting ? 0 : n_quiet + 1;
	}
}

/* The worker has let go: sends what is left and waits for it. */
static void drain(struct dp_port *p)
{
	struct sock *s = p->wport->tx;

	for (int i = 0; s && i < DRAIN_MS && !txq_is_drained(&s->txq); i++) {
		if (txq_n_unsent(&s->txq) && sock_kick(s) && sock_is_dead(s))
			return;
		if (txq_is_drained(&s->txq))
			return;
		nap_ms(1);
	}
}

static void close_socks(struct dp_port *p)
{
	for (uint32_t i = 0; i < p->wport->n_socks; i++)
		sock_close(p->wport->sock[i]);
	if (p->zero_copy)
		nap_ms(ZC_RELEASE_MS);
}

void dp_port_close(struct dp *dp, uint16_t slot, bool gone, struct dp_port_counters *last)
{
	struct dp_port *p = slot < XB_MAX_PORTS ? dp->port[slot] : NULL;
	struct dp_port_counters n = { 0 };

	if (!p)
		return;
	redirect_off(dp, p);
	if (!gone)
		serve_rest(p);
	/* The program's counts end with it, those of the worker when it has let go. */
	add_prog_counts(dp, p, &n);
	detach(dp, p);
	p->attached = false;
	p->promisc_fd = -1;
	/* A worker that does not answer keeps the port, without frames: see close_left(). */
	p->is_closing = worker_port_release(p->worker, p->wport) != 0;
	if (!gone && !p->is_closing)
		drain(p);
	add_worker_counts(dp, p, &n);
	if (last)
		*last = n;
	if (p->is_closing)
		return;
	close_socks(p);
	dp->port[slot] = NULL;
	dp->n_rx_queues -= p->cfg.receive ? p->cfg.n_rx_queues : 0;
	/* If it does not answer now it may use the record later: better lost than freed. */
	if (!worker_port_forget(p->worker, p->wport))
		wport_free(p->wport);
	free(p);
}

void dp_ports_free(struct dp *dp, bool take_off)
{
	for (uint32_t slot = 0; slot < XB_MAX_PORTS; slot++) {
		struct dp_port *p = dp->port[slot];

		if (!p)
			continue;
		redirect_off(dp, p);
		if (!take_off)
			p->attached = false;
		detach(dp, p);
		wport_free(p->wport);
		free(p);
		dp->port[slot] = NULL;
	}
}

/* ---- rules and numbers ---- */

int dp_port_rules_set(struct dp *dp, uint16_t slot, const struct xb_port_rules *rules)
{
	const struct xb_port x = {
		.flags = rules->flags,
		.bridge = rules->bridge,
		.max_len = (uint16_t)umem_max_len(dp->umem),
	};

	if (!slot || slot >= XB_MAX_PORTS)
		return -EINVAL;
	return prog_port_set(dp->progs, slot, &x);
}

int dp_port_uppers_set(struct dp *dp, uint16_t slot, const uint16_t *vid, uint32_t n)
{
	if (!slot || slot >= XB_MAX_PORTS)
		return -EINVAL;
	return prog_uppers_set(dp->progs, slot, vid, n);
}

/*
 * A device that goes away leaves an error on its sockets; a socket that only
 * receives has nothing else to say.
 */
static bool sock_check(struct sock *s)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (sock_is_dead(s))
		return true;
	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &err, &len) || err == ENETDOWN)
		__atomic_store_n(&s->dead, true, __ATOMIC_RELAXED);
	return sock_is_dead(s);
}

int dp_port_info(struct dp *dp, uint16_t slot, struct dp_port_info *out)
{
	const struct dp_port *p = slot < XB_MAX_PORTS ? dp->port[slot] : NULL;

	if (!p || p->is_closing)
		return -ENOENT;
	*out = (struct dp_port_info){
		.open = true,
		.receive = p->cfg.receive,
		.zero_copy = p->zero_copy,
		.recovers_tags = p->recovers_tags,
		.n_queues = p->wport->n_socks,
		.prog_id = p->attached ? prog_id(dp->progs, slot) : 0,
	};
	for (uint32_t i = 0; i < p->wport->n_socks; i++)
		out->dead |= sock_check(p->wport->sock[i]);
	memcpy(out->note, p->note, sizeof(out->note));
	return 0;
}

int dp_port_counters(struct dp *dp, uint16_t slot, struct dp_port_counters *out)
{
	const struct dp_port *p = slot < XB_MAX_PORTS ? dp->port[slot] : NULL;

	if (!p || p->is_closing)
		return -ENOENT;
	*out = (struct dp_port_counters){ 0 };
	add_prog_counts(dp, p, out);
	add_worker_counts(dp, p, out);
	return 0;
}
