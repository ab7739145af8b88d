/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/rtsock.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "ctl/rtmsg.h"

#define RX_SIZE     (1U << 20)
#define ANSWER_MSEC 2000
#define CMD_BUFFER  (256U << 10) /* at least: the errors of a batch of requests */

/* Older headers lack them. */
#ifndef RTNLGRP_BRVLAN
#define RTNLGRP_BRVLAN 33
#endif

struct rtsock {
	struct nl_sock *events;
	struct nl_sock *cmd;
	uint32_t seq;
	void *rx;
};

static int set_buffer(int fd, uint32_t size)
{
	int v = size > INT32_MAX ? INT32_MAX : (int)size;

	/* Without CAP_NET_ADMIN only up to rmem_max. */
	if (!setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &v, sizeof(v)))
		return 0;
	return setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)) ? -errno : 0;
}

static int sock_open(uint32_t rcvbuf, struct nl_sock **out)
{
	struct nl_sock *s = nl_socket_alloc();
	struct timeval tv = { .tv_sec = ANSWER_MSEC / 1000 };
	int one = 1, fd, err;

	if (!s)
		return -ENOMEM;
	err = nl_connect(s, NETLINK_ROUTE);
	if (err < 0) {
		nl_socket_free(s);
		return err == -NLE_NOMEM ? -ENOMEM : -EIO;
	}
	fd = nl_socket_get_fd(s);
	err = set_buffer(fd, rcvbuf);
	if (!err && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)))
		err = -errno;
	if (err) {
		nl_socket_free(s);
		return err;
	}
	/* Shorter answers to errors, filters in dumps: old kernels know neither and need not. */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	*out = s;
	return 0;
}

int rtsock_open(uint32_t rcvbuf, struct rtsock **out)
{
	static const int groups[] = { RTNLGRP_LINK, RTNLGRP_NEIGH, RTNLGRP_BRVLAN, RTNLGRP_MDB };
	struct rtsock *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->rx = malloc(RX_SIZE);
	if (!s->rx)
		err = -ENOMEM;
	if (!err)
		err = sock_open(rcvbuf, &s->events);
	if (!err)
		err = sock_open(rcvbuf > CMD_BUFFER ? rcvbuf : CMD_BUFFER, &s->cmd);
	for (size_t i = 0; !err && i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (nl_socket_add_membership(s->events, groups[i]) < 0)
			err = -EIO;
	}
	if (err) {
		rtsock_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void rtsock_close(struct rtsock *s)
{
	if (!s)
		return;
	if (s->events)
		nl_socket_free(s->events);
	if (s->cmd)
		nl_socket_free(s->cmd);
	free(s->rx);
	free(s);
}

int rtsock_event_fd(const struct rtsock *s)
{
	return nl_socket_get_fd(s->events);
}

/* One datagram into s->rx; its length, or a negative errno. Only the kernel is believed. */
static ssize_t receive(struct rtsock *s, struct nl_sock *sk, int flags)
{
	struct sockaddr_nl from;
	struct iovec iov = { .iov_base = s->rx, .iov_len = RX_SIZE };
	struct msghdr mh = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1
	};
	ssize_t n;

	do {
		n = recvmsg(nl_socket_get_fd(sk), &mh, flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (mh.msg_flags & MSG_TRUNC)
		return -EBADMSG;
	if (from.nl_pid)
		return 0;
	return n;
}

/* Messages of one datagram. 0, what @fn returned, or -EBADMSG. */
static int each_message(const void *buf, size_t len, rtsock_fn fn, void *arg)
{
	const uint8_t *p = buf;
	struct rtmsg_info i;
	int err;

	for (; len; p += i.size, len -= i.size) {
		const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)p;

		err = rtmsg_parse(h, len, &i);
		if (!err)
			err = fn(arg, &i, h);
		if (err)
			return err;
	}
	return 0;
}

int rtsock_events(struct rtsock *s, uint32_t max_datagrams, rtsock_fn fn, void *arg)
{
	for (uint32_t k = 0; k < max_datagrams; k++) {
		ssize_t n = receive(s, s->events, MSG_DONTWAIT);
		int err;

		if (n == -EAGAIN)
			return 0;
		if (n < 0)
			return (int)n;
		err = each_message(s->rx, (size_t)n, fn, arg);
		if (err)
			return err;
	}
	return 1;
}

struct dump {
	uint32_t seq;
	rtsock_fn fn;
	void *arg;
	bool is_done, is_interrupted;
	bool is_failed; /* only the end is looked for */
};

static int dump_message(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct dump *d = arg;

	if (i->nl_seq != d->seq || d->is_done)
		return 0;
	if (i->nl_flags & NLM_F_DUMP_INTR)
		d->is_interrupted = true;
	if (i->type == RTMSG_DONE || i->type == RTMSG_ERROR) {
		d->is_done = true;
		return i->error;
	}
	d->is_done = !(i->nl_flags & NLM_F_MULTI);
	if (d->is_failed)
		return 0;
	return d->fn(d->arg, i, h);
}

static int send_all(struct rtsock *s, const void *buf, size_t len)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	ssize_t n;

	do {
		n = sendto(nl_socket_get_fd(s->cmd), buf, len, 0, (struct sockaddr *)&to,
			   sizeof(to));
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int ask(struct rtsock *s, const void *req, size_t len, struct dump *d,
	       void (*tick)(void *arg))
{
	int err = send_all(s, req, len);

	if (err)
		return err;
	while (!d->is_done) {
		ssize_t n = receive(s, s->cmd, 0);
		int e;

		if (n < 0)
			return err ? err : n == -EAGAIN ? -ETIMEDOUT : (int)n;
		/*
		 * After an error the rest is read all the same: the kernel refuses
		 * another dump as long as one waits to be read.
		 */
		d->is_failed = err != 0;
		e = each_message(s->rx, (size_t)n, dump_message, d);
		err = err ? err : e;
		if (tick)
			tick(d->arg);
	}
	return err;
}

/* @len: of the request, or a negative errno. */
static int ask_whole(struct rtsock *s, const void *req, int len, struct dump *d,
		     void (*tick)(void *arg))
{
	int err = len < 0 ? len : ask(s, req, (size_t)len, d, tick);

	return !err && d->is_interrupted ? -EINTR : err;
}

int rtsock_dump(struct rtsock *s, enum rtreq_dump what, rtsock_fn fn, void (*tick)(void *arg),
		void *arg)
{
	uint32_t req[RTREQ_SIZE / sizeof(uint32_t)];
	struct dump d = { .seq = ++s->seq, .fn = fn, .arg = arg };

	return ask_whole(s, req, rtreq_dump(req, sizeof(req), what, d.seq), &d, tick);
}

int rtsock_dump_port(struct rtsock *s, uint32_t ifindex, rtsock_fn fn, void (*tick)(void *arg),
		     void *arg)
{
	uint32_t req[RTREQ_SIZE / sizeof(uint32_t)];
	struct dump d = { .seq = ++s->seq, .fn = fn, .arg = arg };

	return ask_whole(s, req, rtreq_port_neighs(req, sizeof(req), ifindex, d.seq), &d, tick);
}

int rtsock_link(struct rtsock *s, uint32_t ifindex, rtsock_fn fn, void *arg)
{
	uint32_t req[RTREQ_SIZE / sizeof(uint32_t)];
	struct dump d = { .seq = ++s->seq, .fn = fn, .arg = arg };
	int len = rtreq_link(req, sizeof(req), ifindex, d.seq);

	return len < 0 ? len : ask(s, req, (size_t)len, &d, NULL);
}

int rtsock_station(struct rtsock *s, const struct rtreq_station *st, rtsock_fn fn, void *arg)
{
	uint32_t req[RTREQ_SIZE / sizeof(uint32_t)];
	struct dump d = { .seq = ++s->seq, .fn = fn, .arg = arg };
	int len = rtreq_station_get(req, sizeof(req), st, d.seq);

	return len < 0 ? len : ask(s, req, (size_t)len, &d, NULL);
}

int rtsock_neigh(struct rtsock *s, uint32_t ifindex, uint16_t vid, const struct mac *mac,
		 rtsock_fn fn, void *arg)
{
	uint32_t req[RTREQ_SIZE / sizeof(uint32_t)];
	struct dump d = { .seq = ++s->seq, .fn = fn, .arg = arg };
	int len = rtreq_neigh(req, sizeof(req), ifindex, vid, mac, d.seq);

	return len < 0 ? len : ask(s, req, (size_t)len, &d, NULL);
}

struct failures {
	int n;
	int last;
};

static int count_failure(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct failures *f = arg;

	(void)h;
	if (i->type == RTMSG_ERROR && i->error) {
		f->n++;
		f->last = i->error;
	}
	return 0;
}

int rtsock_request(struct rtsock *s, const void *buf, size_t len, int *last)
{
	struct failures f = { 0 };
	int err = send_all(s, buf, len);

	if (err)
		return err;
	/* The kernel answers before sendto() returns: what is there now is all. */
	for (;;) {
		ssize_t n = receive(s, s->cmd, MSG_DONTWAIT);

		if (n == -EAGAIN)
			break;
		if (n < 0)
			return (int)n;
		err = each_message(s->rx, (size_t)n, count_failure, &f);
		if (err)
			return err;
	}
	if (last)
		*last = f.last;
	return f.n;
}
