/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/nlreq.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/msg.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/clock.h"

#define ANSWER_NS NSEC_PER_SEC
#define RX_SIZE   (64U << 10) /* more than the kernel puts into one datagram of a dump */

struct answer {
	uint32_t seq;
	nlreq_fn fn;
	void *arg;
	bool is_done, is_interrupted;
};

/* The error code of NLMSG_ERROR, and of NLMSG_DONE, which very old kernels send without one. */
static int code_of(const struct nlmsghdr *h)
{
	int code;

	if (nlmsg_datalen(h) < (int)sizeof(code))
		return h->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
	memcpy(&code, nlmsg_data(h), sizeof(code));
	return code > 0 || code < -4095 ? -EBADMSG : code;
}

/* The messages of one datagram. */
static int read_messages(struct answer *a, const void *buf, size_t len)
{
	const struct nlmsghdr *h = buf;
	int left = (int)len, err;

	for (; left > 0; h = nlmsg_next((struct nlmsghdr *)h, &left)) {
		if (!nlmsg_ok(h, left))
			return -EBADMSG;
		if (h->nlmsg_seq != a->seq)
			continue;
		if (h->nlmsg_flags & NLM_F_DUMP_INTR)
			a->is_interrupted = true;
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) {
			a->is_done = true;
			return code_of(h);
		}
		err = a->fn && h->nlmsg_type >= NLMSG_MIN_TYPE ? a->fn(a->arg, h) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* Waits until @fd is readable; -ETIMEDOUT after @deadline_ns. */
static int wait_readable(int fd, uint64_t deadline_ns)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = clock_diff(deadline_ns, clock_now_ns());
		int n;

		if (left <= 0)
			return -ETIMEDOUT;
		n = poll(&p, 1, (int)((uint64_t)left / NSEC_PER_MSEC) + 1);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static int read_answer(int fd, struct answer *a)
{
	uint64_t deadline_ns = clock_now_ns() + ANSWER_NS;
	void *buf = malloc(RX_SIZE);
	int err = 0;

	if (!buf)
		return -ENOMEM;
	while (!err && !a->is_done) {
		struct sockaddr_nl from = { 0 };
		socklen_t from_len = sizeof(from);
		ssize_t n;

		err = wait_readable(fd, deadline_ns);
		if (err)
			break;
		n = recvfrom(fd, buf, RX_SIZE, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&from,
			     &from_len);
		if (n < 0)
			err = errno == EINTR || errno == EAGAIN ? 0 : -errno;
		else if (n > RX_SIZE)
			err = -EBADMSG;
		else if (!from.nl_pid) /* the kernel; nobody else is believed */
			err = read_messages(a, buf, (size_t)n);
	}
	free(buf);
	if (!err && a->is_interrupted)
		err = -EINTR;
	return err;
}

int nlreq_run(int protocol, struct nl_msg *msg, nlreq_fn fn, void *arg)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct answer a = { .seq = 1, .fn = fn, .arg = arg };
	struct nlmsghdr *h = nlmsg_hdr(msg);
	int fd, err = 0;

	h->nlmsg_seq = a.seq;
	h->nlmsg_flags |= NLM_F_REQUEST;
	if ((h->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		h->nlmsg_flags |= NLM_F_ACK;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return -errno;
	if (sendto(fd, h, h->nlmsg_len, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		err = -errno;
	if (!err)
		err = read_answer(fd, &a);
	close(fd);
	return err;
}
