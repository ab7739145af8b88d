/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ctl.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "ctl/away.h"
#include "ctl/ctlsock.h"
#include "ctl/due.h"
#include "ctl/guard.h"
#include "ctl/hostpair.h"
#include "ctl/notify.h"
#include "ctl/ports.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "util/clock.h"

#define EVENT_DATAGRAMS 4096 /* read at once: a storm must not keep the loop for ever */
#define LOOK_PAUSE_NS   (5 * NSEC_PER_SEC)
#define RESYNC_PAUSE_NS (NSEC_PER_SEC)
#define RESYNC_TRIES    8 /* interrupted dumps in a row before the loop gets a turn */
#define DRAIN_TRIES     64

/* ---- messages of the kernel ---- */

static void set_resync(struct ctl *c)
{
	c->resync_wanted = true;
	if (!c->resync_from_ns)
		c->resync_from_ns = clock_now_ns();
}

static int take_event(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct ctl *c = arg;

	if (i->type == RTMSG_NEIGH) {
		fdbsync_apply(c, &i->neigh);
		return 0;
	}
	if (i->type == RTMSG_MDB) {
		mdbsync_apply(c, i, h);
		return 0;
	}
	/* Until the redirect to a vanished port ends its frames are lost: that cannot wait. */
	if (i->type == RTMSG_LINK && i->link.deleted && i->link.family == LINK_FAMILY_ANY)
		reconcile_link_gone(c, i->link.ifindex);
	/*
	 * A device on top of a bridge that needs an address of its own there (a
	 * macvlan) makes the bridge promiscuous, and the kernel tells nobody.
	 */
	if (i->type == RTMSG_LINK &&
	    (ctl_bridge_by_ifindex(c, i->link.lower) || ctl_bridge_by_ifindex(c, i->link.ifindex)))
		c->poll_wanted = true;
	if (i->type == RTMSG_LINK)
		brpoll_link(c, &i->link);
	return mirror_apply(c->mirror, i, h, &c->plan_wanted);
}

/* True if more may wait. */
static bool read_some_events(struct ctl *c)
{
	int err = rtsock_events(c->rt, EVENT_DATAGRAMS, take_event, c);

	if (c->mirror->is_unsure)
		set_resync(c);
	if (err >= 0)
		return err;
	if (err == -ENOBUFS)
		c->stats.n_overruns++;
	else
		c->stats.n_bad_messages++;
	if (log_limit_ok(&c->limit_resync, "netlink", c->now_ns))
		history_add(&c->history, LOG_LEVEL_WARN,
			    "events of the kernel were lost (%s): reading all again",
			    strerror(-err));
	brpoll_unread(c);
	set_resync(c);
	return true;
}

void ctl_read_events(struct ctl *c)
{
	for (uint32_t i = 0; i < DRAIN_TRIES && read_some_events(c); i++)
		ctl_alive(c);
}

static int take_mirror(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	bool changed;
	struct mirror **m = arg;

	return mirror_apply(*m, i, h, &changed);
}

struct mirror_reading {
	struct mirror *m; /* first: take_mirror() */
	struct ctl *c;
};

/* As take_mirror(), for the mirror in use. */
static int take_states(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct mirror_reading *r = arg;

	return mirror_apply(r->m, i, h, &r->c->plan_wanted);
}

static void watchdog_feed(struct ctl *c, uint64_t now_ns)
{
	if (!c->watchdog_ns || now_ns - c->watchdog_sent_ns <= c->watchdog_ns / 4)
		return;
	(void)notify_send("WATCHDOG=1");
	c->watchdog_sent_ns = now_ns;
}

void ctl_alive(struct ctl *c)
{
	uint64_t now_ns = clock_now_ns(), limit_ns;

	dp_control_beat(c->dp, now_ns);
	watchdog_feed(c, now_ns);
	limit_ns = (uint64_t)c->conf->resync_deadline_ms * NSEC_PER_MSEC;
	if (!c->resync_from_ns || c->is_overdue || now_ns - c->resync_from_ns <= limit_ns)
		return;
	c->is_overdue = true;
	history_add(&c->history, LOG_LEVEL_WARN,
		    "configuration could not be read in time: the kernel forwards meanwhile");
	/* What stand-alone bridges do is in the file. */
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used && c->bridge[i].source == CONF_SOURCE_KERNEL)
			ports_bridge_shut(c, &c->bridge[i]);
	}
}

static void resync_tick(void *arg)
{
	struct mirror_reading *r = arg;

	ctl_alive(r->c);
}

int ctl_read_mirror(struct ctl *c, struct mirror **out)
{
	static const enum rtreq_dump dumps[] = { RTREQ_LINKS, RTREQ_BRIDGE_LINKS, RTREQ_VLANS };
	struct mirror_reading r = { .m = mirror_new(), .c = c };
	int err = r.m ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < sizeof(dumps) / sizeof(dumps[0]); i++) {
		err = rtsock_dump(c->rt, dumps[i], take_mirror, resync_tick, &r);
		/* A kernel without a bridge, or without VLAN filtering, has no VLANs to tell. */
		if (dumps[i] == RTREQ_VLANS && err == -EOPNOTSUPP)
			err = 0;
	}
	if (err) {
		mirror_free(r.m);
		return err;
	}
	*out = r.m;
	return 0;
}

/* What is found is a change; what is not read now is read in one of the next rounds. */
static void look_away(struct ctl *c, struct mirror *m, uint32_t max)
{
	struct mirror_reading r = { .m = m, .c = c };
	int err = away_look(m, &c->away_next, max, &c->plan_wanted, resync_tick, &r);

	c->away_at_ns = c->now_ns;
	if (err && log_limit_ok(&c->limit_bad, "away", c->now_ns))
		log_debug("other namespaces could not be looked into: %s", strerror(-err));
}

/*
 * Reads until nothing waits. After a loss what still waits is older than what was
 * lost: taken in after a dump that has both, it would undo what was lost, and
 * nobody would tell again. -EAGAIN: the kernel is faster than we are.
 */
static int drain(struct ctl *c)
{
	int err = 1;

	for (uint32_t i = 0; err && i < DRAIN_TRIES; i++) {
		err = rtsock_events(c->rt, EVENT_DATAGRAMS, take_event, c);
		if (err < 0 && err != -ENOBUFS && err != -EBADMSG)
			return err;
		ctl_alive(c);
	}
	return err ? -EAGAIN : 0;
}

/*
 * Start, a lost message and an unparsable one all come here. Events that wait
 * are read first and again afterwards: what they say twice does no harm.
 */
static int resync(struct ctl *c)
{
	struct mirror *m;
	int err = -EINTR;

	for (uint32_t i = 0; err == -EINTR && i < RESYNC_TRIES; i++) {
		err = drain(c);
		if (!err)
			err = ctl_read_mirror(c, &m);
	}
	if (err)
		return err;
	for (uint32_t i = 0; i < c->mirror->n; i++) {
		uint32_t ifindex = c->mirror->link[i]->info.ifindex;

		if (!mirror_find(m, ifindex))
			reconcile_link_gone(c, ifindex);
	}
	mirror_keep_away(m, c->mirror);
	c->away_next = 0;
	look_away(c, m, AWAY_NAMESPACES);
	mirror_free(c->mirror);
	c->mirror = m;
	c->stats.n_resyncs++;
	c->resync_wanted = false;
	c->plan_wanted = true;
	c->fdb_wanted = true;
	c->routers_wanted = true;
	brpoll_unread(c);
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used)
			mdbsync_unread(c, &c->bridge[i]);
	}
	return 0;
}

static void do_resync(struct ctl *c)
{
	int err;

	if (c->now_ns < c->resync_next_ns)
		return;
	err = resync(c);
	c->resync_next_ns = clock_now_ns() + RESYNC_PAUSE_NS;
	if (err && log_limit_ok(&c->limit_resync, "netlink", c->now_ns))
		history_add(&c->history, LOG_LEVEL_ERR,
			    "cannot read the configuration of the kernel: %s", strerror(-err));
}

/*
 * States that `bridge mst set` changes are not notified (kernels up to 7.2): as
 * long as a bridge has MST on they are read every mst-poll, and at once after a
 * port's notification, which a daemon for spanning trees often causes as well.
 */
static void poll_mst(struct ctl *c, bool at_once)
{
	struct mirror_reading r = { .m = c->mirror, .c = c };
	int err;

	if (!c->has_mst ||
	    (!at_once && c->now_ns - c->mst_at_ns < (uint64_t)c->conf->mst_poll_ms * NSEC_PER_MSEC))
		return;
	c->mst_at_ns = c->now_ns;
	err = rtsock_dump(c->rt, RTREQ_VLANS, take_states, NULL, &r);
	if (err && err != -EINTR)
		set_resync(c);
}

/* ---- one round: everything that is due, in the order that keeps traffic right ---- */

static void do_plan(struct ctl *c)
{
	int err;

	c->plan_wanted = false;
	err = reconcile_run(c);
	if (!err)
		return;
	if (err == -EINTR || err == -ETIMEDOUT || err == -ENOBUFS)
		set_resync(c);
	c->plan_wanted = true;
	if (log_limit_ok(&c->limit_bad, "plan", c->now_ns))
		history_add(&c->history, LOG_LEVEL_ERR,
			    "a change could not be applied, trying again: %s", strerror(-err));
}

/* Four system calls: for what netlink tells too, or what an administrator does once. */
static void look_at_port(struct ctl *c, struct ctl_port *p)
{
	struct dp_port_info info;

	ports_check_queues(c, p);
	if (!p->is_open || dp_port_info(c->dp, ctl_slot(c, p), &info) || !info.dead)
		return;
	history_add(&c->history, LOG_LEVEL_NOTICE, "port %s: its socket is dead, reading all again",
		    p->name);
	reconcile_link_gone(c, p->ifindex);
	set_resync(c);
}

static void check_ports(struct ctl *c)
{
	bool look = c->now_ns - c->looked_ns >= LOOK_PAUSE_NS;

	if (c->now_ns - c->checked_ns < DUE_CHECK_NS)
		return;
	c->checked_ns = c->now_ns;
	c->poll_wanted = true;
	if (c->fdb_again_ns && c->fdb_again_ns <= c->now_ns)
		c->plan_wanted = c->fdb_wanted = true;
	if (look)
		c->looked_ns = c->now_ns;
	for (uint32_t i = 1; i < c->slot_end; i++) {
		struct ctl_port *p = &c->port[i];

		if (!p->is_used)
			continue;
		if ((p->retry_ns && p->veto != PATH_NONE && p->retry_ns <= c->now_ns) ||
		    (p->egress_retry_ns && p->egress_retry_ns <= c->now_ns))
			c->plan_wanted = true;
		if (look)
			look_at_port(c, p);
	}
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		const struct ctl_bridge *b = &c->bridge[i];

		if (b->is_used && b->veto != PATH_NONE && b->retry_ns <= c->now_ns)
			c->plan_wanted = true;
	}
}

static void sleep_until(struct ctl *c, uint64_t due_ns)
{
	int64_t us = clock_diff(due_ns, clock_now_ns()) / 1000 + 1;
	struct timeval wait = { 0, 1000 };

	if (us > 1000)
		wait = (struct timeval){ us / 1000000, us % 1000000 };
	/* It is in the queue already, or was: this needs no memory. */
	(void)event_add(c->ev_tick, &wait);
}

void ctl_catch_up(struct ctl *c)
{
	bool is_planned;

	c->now_ns = clock_now_ns();
	ctl_alive(c);
	if (learn_run(c))
		event_active(c->ev_dp, EV_READ, 0);
	(void)read_some_events(c);
	if (c->resync_wanted)
		do_resync(c);
	brpoll_ask(c);
	is_planned = c->plan_wanted;
	if (is_planned) {
		poll_mst(c, true);
		do_plan(c);
	}
	/* What is explained only by the next plan can wait for it. */
	if (!c->plan_wanted)
		locals_settle(c, is_planned);
	/* Of a bridge that the plan brought. */
	brpoll_ask(c);
	mdbsync_run(c);
	brpoll_decide(c);
	sleep_until(c, due_ns(c));
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	ctl_catch_up(arg);
}

/*
 * Not everything that the guard looks at is announced (ebtables, sysctls, tcx
 * programs), so it looks again every few seconds. What could not be read is read
 * again soon; until then the last answers hold.
 */
static void guard_look(struct ctl *c)
{
	int err;

	if (!c->guard || (!c->guard_wanted && c->now_ns - c->guard_at_ns < DUE_GUARD_NS))
		return;
	err = guard_refresh(c->guard);
	c->guard_at_ns = c->now_ns;
	c->guard_wanted = err != 0;
	c->plan_wanted = true;
	if (err && log_limit_ok(&c->limit_bad, "guard", c->now_ns))
		log_warn("netfilter, tc or addresses could not be read: %s", strerror(-err));
}

static void on_guard(evutil_socket_t fd, short what, void *arg)
{
	struct ctl *c = arg;

	(void)fd;
	(void)what;
	c->now_ns = clock_now_ns();
	guard_drain(c->guard);
	c->guard_wanted = true;
	guard_look(c);
	ctl_catch_up(c);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct ctl *c = arg;

	(void)fd;
	(void)what;
	c->now_ns = clock_now_ns();
	learn_refresh(c);
	guard_look(c);
	if (c->now_ns - c->away_at_ns >= DUE_GUARD_NS)
		look_away(c, c->mirror, AWAY_SLICE);
	poll_mst(c, false);
	check_ports(c);
	ctl_catch_up(c);
}

/* ---- signals ---- */

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
	struct ctl *c = arg;

	(void)what;
	log_notice("signal %d: stopping", (int)fd);
	event_base_loopexit(c->base, NULL);
}

static void report_conf(void *arg, const char *line)
{
	(void)arg;
	log_err("%s", line);
}

/* What cannot change while sockets are open. */
static bool needs_restart(const struct conf *a, const struct conf *b)
{
	return a->workers != b->workers || a->umem_frames != b->umem_frames ||
	       a->frame_size != b->frame_size || a->rx_ring != b->rx_ring ||
	       a->fill_ring != b->fill_ring || a->tx_ring != b->tx_ring ||
	       a->completion_ring != b->completion_ring || a->batch != b->batch ||
	       a->heartbeat_ms != b->heartbeat_ms ||
	       a->control_heartbeat_ms != b->control_heartbeat_ms ||
	       a->netlink_buffer != b->netlink_buffer || a->fdb_max != b->fdb_max ||
	       a->n_worker_cpus != b->n_worker_cpus ||
	       memcmp(a->worker_cpus, b->worker_cpus, sizeof(a->worker_cpus)) ||
	       strcmp(a->control_socket, b->control_socket) ||
	       strcmp(a->control_group, b->control_group);
}

/* Values that wait for a restart stay as they are, so that the struct tells the truth. */
static void keep_fixed(struct conf *to, const struct conf *from)
{
	to->workers = from->workers;
	to->umem_frames = from->umem_frames;
	to->frame_size = from->frame_size;
	to->rx_ring = from->rx_ring;
	to->fill_ring = from->fill_ring;
	to->tx_ring = from->tx_ring;
	to->completion_ring = from->completion_ring;
	to->batch = from->batch;
	to->heartbeat_ms = from->heartbeat_ms;
	to->control_heartbeat_ms = from->control_heartbeat_ms;
	to->netlink_buffer = from->netlink_buffer;
	to->fdb_max = from->fdb_max;
	to->n_worker_cpus = from->n_worker_cpus;
	memcpy(to->worker_cpus, from->worker_cpus, sizeof(to->worker_cpus));
	memcpy(to->control_socket, from->control_socket, sizeof(to->control_socket));
	memcpy(to->control_group, from->control_group, sizeof(to->control_group));
}

static void on_reload(evutil_socket_t fd, short what, void *arg)
{
	struct ctl *c = arg;
	struct conf *conf;
	char state[96];
	int err;

	(void)fd;
	(void)what;
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		 clock_now_ns() / 1000);
	(void)notify_send(state);
	err = c->conf_path ? conf_load(c->conf_path, &conf, report_conf, NULL) : -ENOENT;
	if (err) {
		history_add(&c->history, LOG_LEVEL_ERR,
			    "configuration not reloaded: %s; the old one stays",
			    err == -ENOENT ? "there is no file" : "it has errors");
	} else {
		if (needs_restart(conf, c->conf))
			history_add(
				&c->history, LOG_LEVEL_WARN,
				"some changed values (rings, UMEM, workers, heartbeats, sockets) "
				"take effect after a restart");
		keep_fixed(conf, c->conf);
		conf_free(c->conf);
		c->conf = conf;
		log_set_level(c->debug ? LOG_LEVEL_DEBUG : conf->log_level);
		history_add(&c->history, LOG_LEVEL_NOTICE, "configuration reloaded");
		c->plan_wanted = true;
		c->statics_wanted = true;
		ctl_catch_up(c);
	}
	(void)notify_send("READY=1");
}

/* ---- start and stop ---- */

static struct dp_config dp_config_of(const struct conf *conf, const char *pin_dir)
{
	struct dp_config d = {
		.n_frames = conf->umem_frames,
		.frame_size = conf->frame_size,
		.rx_ring = conf->rx_ring,
		.fill_ring = conf->fill_ring,
		.tx_ring = conf->tx_ring,
		.completion_ring = conf->completion_ring,
		.batch = conf->batch,
		.n_workers = conf->workers,
		.heartbeat_ns = (uint64_t)conf->heartbeat_ms * NSEC_PER_MSEC,
		.control_heartbeat_ns = (uint64_t)conf->control_heartbeat_ms * NSEC_PER_MSEC,
		.pin_dir = pin_dir,
	};

	for (uint32_t i = 0; i < XB_MAX_WORKERS; i++)
		d.worker_cpu[i] = i < conf->n_worker_cpus ? (int)conf->worker_cpus[i] : -1;
	return d;
}

static struct event *add_event(struct ctl *c, int fd, short what, event_callback_fn fn)
{
	struct event *e = event_new(c->base, fd, (short)(what | EV_PERSIST), fn, c);

	if (e && event_add(e, NULL)) {
		event_free(e);
		return NULL;
	}
	return e;
}

static int add_events(struct ctl *c)
{
	static const struct {
		int sig;
		event_callback_fn fn;
	} signals[] = { { SIGTERM, on_stop }, { SIGINT, on_stop }, { SIGHUP, on_reload } };
	const struct timeval tick = { 0, 0 };

	c->base = event_base_new();
	if (!c->base)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		c->ev_signal[i] = add_event(c, signals[i].sig, EV_SIGNAL, signals[i].fn);
		if (!c->ev_signal[i])
			return -ENOMEM;
	}
	c->ev_rt = add_event(c, rtsock_event_fd(c->rt), EV_READ, on_event);
	c->ev_dp = add_event(c, dp_event_fd(c->dp), EV_READ, on_event);
	c->ev_tick = event_new(c->base, -1, 0, on_tick, c);
	if (!c->ev_rt || !c->ev_dp || !c->ev_tick || event_add(c->ev_tick, &tick))
		return -ENOMEM;
	if (c->guard) {
		c->ev_guard = add_event(c, guard_fd(c->guard), EV_READ, on_guard);
		if (!c->ev_guard)
			return -ENOMEM;
	}
	return 0;
}

/* Without it a firewall would be bypassed in silence: that has to be asked for. */
static int start_guard(struct ctl *c)
{
	int err = guard_open(&c->guard);

	if (!err)
		err = guard_refresh(c->guard);
	if (!err)
		return 0;
	log_err("netfilter, tc and addresses of ports cannot be read: %s", strerror(-err));
	if (c->conf->netfilter == CONF_IGNORE && c->conf->tc == CONF_IGNORE)
		return 0;
	log_err("cannot start: to go on regardless set netfilter = ignore and tc = ignore");
	return err;
}

static int open_control_socket(struct ctl *c)
{
	int err = ctlsock_open(c, &c->sock);

	if (err == -EADDRINUSE)
		log_err("another daemon listens at %s (control-socket)", c->conf->control_socket);
	else if (err)
		log_err("cannot listen at %s (control-socket): %s", c->conf->control_socket,
			strerror(-err));
	return err;
}

static int start(struct ctl *c, const struct ctl_options *opt)
{
	struct dp_config d = dp_config_of(c->conf, opt->pin_dir);
	const char *why = "";
	int err;

	err = dp_open(&d, &c->dp, &why);
	if (err) {
		log_err("cannot start: %s (%s)", why, strerror(-err));
		return err;
	}
	err = rtsock_open(c->conf->netlink_buffer, &c->rt);
	if (err) {
		log_err("cannot open a netlink socket: %s", strerror(-err));
		return err;
	}
	(void)hostpair_remove_all();
	err = start_guard(c);
	if (err)
		return err;
	c->mirror = mirror_new();
	c->model = model_new();
	if (!c->mirror || !c->model)
		return -ENOMEM;
	err = add_events(c);
	return err ? err : open_control_socket(c);
}

static void stop(struct ctl *c)
{
	struct event *const events[] = { c->ev_rt,        c->ev_dp,        c->ev_guard,
					 c->ev_tick,      c->ev_signal[0], c->ev_signal[1],
					 c->ev_signal[2], c->ev_signal[3] };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (events[i])
			event_free(events[i]);
	}
	ctlsock_close(c->sock);
	if (c->dp)
		dp_close(c->dp, c->conf->detach_on_stop);
	reconcile_close_all(c);
	guard_close(c->guard);
	rtsock_close(c->rt);
	model_free(c->model);
	mirror_free(c->mirror);
	if (c->base)
		event_base_free(c->base);
	conf_free(c->conf);
}

int ctl_main(struct conf *conf, const struct ctl_options *opt)
{
	struct ctl *c = calloc(1, sizeof(*c));
	int err;

	if (!c) {
		conf_free(conf);
		return 1;
	}
	c->conf = conf;
	c->conf_path = opt->conf_path;
	c->debug = opt->debug;
	c->started_ns = c->now_ns = clock_now_ns();
	c->limit_resync = c->limit_learn = c->limit_locals = c->limit_bad =
		(struct log_limit){ .interval_ns = 10 * NSEC_PER_SEC, .burst = 5 };
	c->watchdog_ns = notify_watchdog_ns();
	log_set_level(c->debug ? LOG_LEVEL_DEBUG : conf->log_level);

	err = start(c, opt);
	if (!err) {
		set_resync(c);
		ctl_catch_up(c);
		log_notice(PACKAGE_STRING " is serving");
		(void)notify_send("READY=1");
		event_base_dispatch(c->base);
		(void)notify_send("STOPPING=1");
	}
	stop(c);
	free(c);
	return err ? 1 : 0;
}
