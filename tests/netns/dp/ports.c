/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports that open, close, vanish, or cannot be opened. */
#include "rig.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void a_port_is_promiscuous_while_it_is_open(void)
{
	struct net *n = net_open(plain, true);

	run("ip -d link show p1 | grep -q 'promiscuity 1 '");
	run("ip -d link show p4 | grep -q 'promiscuity 0 '"); /* sends only */
	dp_port_close(n->dp, 1, false, NULL);
	run("ip -d link show p1 | grep -q 'promiscuity 0 '");
	net_close(n);
}

/*
 * A process that sends broadcasts from h@from once *@go is set, until it is
 * killed. Started before dp_open(), or it would hold the sockets as well.
 */
static pid_t sender_start(int from, const bool *go)
{
	pid_t pid = fork();
	struct net n = { 0 };

	if (pid < 0)
		FAIL("fork");
	if (pid)
		return pid;
	n.host[from] = host_open(from);
	while (!__atomic_load_n(go, __ATOMIC_ACQUIRE))
		nap_ms(1);
	for (uint32_t seq = 1;; seq++) {
		send_frame(&n, from, broadcast, seq);
		if (seq % 16 == 0)
			nap_ms(1);
	}
}

void a_port_closes_and_opens_under_traffic(void)
{
	bool *go = shared_new(sizeof(*go));
	pid_t pid = sender_start(1, go);
	struct net *n = net_open(mixed, false);
	struct dp_frame_sum s;
	struct got g;

	__atomic_store_n(go, true, __ATOMIC_RELEASE);
	for (int round = 0; round < 5; round++) {
		nap_ms(20);
		dp_port_close(n->dp, 3, false, NULL);
		if (!dp_frames(n->dp, &s))
			FAIL("the worker did not answer");
		EQUAL("pool + fill + batch + tx", s.pool + s.fill + s.batch + s.tx, s.all);
		port_open(n, 3, true);
	}
	dp_port_close(n->dp, 1, false, NULL); /* that receives */
	child_end(pid);
	if (!counters(n, 3).user.tx_frames && !recv_frame(n, 3, 500, &g))
		FAIL("nothing went to p3 after it was opened again");
	port_open(n, 1, true);
	while (recv_frame(n, 2, 0, &g))
		;
	send_frame(n, 1, broadcast, 7);
	expect(n, 2, 7, 0);
	net_close(n);
}

/* Frames that the kernel has sent on p@i. */
static uint64_t n_sent(int i)
{
	unsigned long long rx, tx, n = 0;
	char line[512], name[16];
	FILE *f = fopen("/proc/net/dev", "r");

	snprintf(name, sizeof(name), "p%d:", i);
	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, name);

		if (at && sscanf(at + strlen(name), "%*u %llu %*u %*u %*u %*u %*u %*u %*u %llu",
				 &rx, &tx) == 2)
			n = tx;
	}
	if (f)
		fclose(f);
	return n;
}

static void wait_sent(int i, uint64_t n)
{
	for (int k = 0; k < 5000 && n_sent(i) < n; k++)
		nap_ms(1);
	if (n_sent(i) < n)
		FAIL("p%d does not send any more", i);
}

void nothing_leaves_a_port_once_the_view_that_blocks_it_is_published(void)
{
	static const uint8_t states[] = { PORT_BLOCKING, PORT_DISABLED, PORT_LEARNING };
	bool *go = shared_new(sizeof(*go));
	pid_t pid = sender_start(1, go);
	struct net *n = net_open(plain, false);
	uint64_t out, in;

	__atomic_store_n(go, true, __ATOMIC_RELEASE);
	for (uint32_t round = 0; round < 100; round++) {
		wait_sent(2, n_sent(2) + 20);
		/* p2, where the frames go, or p1, where they come in. */
		port_set_state(n, round % 2 ? 1 : 2, states[round % 3]);
		out = n_sent(2);
		in = n_sent(3);
		nap_ms(5);
		EQUAL("frames on p2", n_sent(2), out);
		if (round % 2)
			EQUAL("frames of p1 on p3", n_sent(3), in);
		port_set_state(n, round % 2 ? 1 : 2, PORT_FORWARDING);
	}
	child_end(pid);
	net_close(n);
}

void a_port_that_vanishes_is_seen_and_closed(void)
{
	struct net *n = net_open(plain, false);
	struct dp_port_info info;
	struct got g;

	close(n->host[3]);
	run("ip link del p3");
	for (uint32_t seq = 1; seq <= 10; seq++) {
		send_frame(n, 1, broadcast, seq);
		expect(n, 2, seq, 0);
	}
	if (dp_port_info(n->dp, 3, &info) || !info.dead)
		FAIL("p3 is not dead");
	if (!counters(n, 3).user.drop[DROP_NO_PORT])
		FAIL("no copies were refused");
	dp_port_close(n->dp, 3, true, NULL);
	EQUAL("closed", dp_port_info(n->dp, 3, &info), -ENOENT);
	check_frames(n);
	make_link(3);
	port_open(n, 3, true);
	n->host[3] = host_open(3);
	send_frame(n, 1, broadcast, 11);
	expect(n, 3, 11, 0);
	while (recv_frame(n, 2, 0, &g))
		;
	net_close(n);
}

static uint64_t frames_in_fill(struct net *n)
{
	struct dp_frame_sum s;

	nap_ms(heartbeat_ms()); /* the worker refills at least so often */
	if (!dp_frames(n->dp, &s))
		FAIL("the worker did not answer");
	return s.fill;
}

void frames_of_a_closed_port_go_to_the_others(void)
{
	struct net *n = net_open(plain, false);
	uint64_t four = frames_in_fill(n), two, three;

	dp_port_close(n->dp, 3, false, NULL);
	dp_port_close(n->dp, 4, false, NULL);
	two = frames_in_fill(n);
	if (two < four * 3 / 4 || two > config.n_frames / 2)
		FAIL("%llu frames to receive for 4 ports, %llu for 2", (unsigned long long)four,
		     (unsigned long long)two);
	/* A port that comes finds its part. */
	port_open(n, 3, true);
	three = frames_in_fill(n);
	if (three < two + 64)
		FAIL("%llu frames to receive for 2 ports, %llu for 3", (unsigned long long)two,
		     (unsigned long long)three);
	net_close(n);
}

void every_queue_is_served(void)
{
	enum { QUEUES = 4, N = 64 };
	struct net *n = net_open(plain, false);
	struct dp_port_config c;
	struct dp_port_info info;
	enum path_reason reason;
	const char *why;

	dp_port_close(n->dp, 3, false, NULL);
	close(n->host[3]);
	run("ip link del p3");
	run("ip link add p3 numrxqueues 4 numtxqueues 4 type veth "
	    "peer name h3 numrxqueues 4 numtxqueues 4 && ip link set h3 up && ip link set p3 up");
	c = port_config(3);
	c.n_rx_queues = QUEUES;
	c.n_tx_queues = QUEUES;
	if (dp_port_open(n->dp, &c, &reason, &why))
		FAIL("p3: %s", why);
	n->host[3] = host_open(3);
	if (dp_port_info(n->dp, 3, &info))
		FAIL("no p3");
	EQUAL("sockets", info.n_queues, QUEUES);
	/* The stack chooses the queue by the flow: here, the destination. */
	for (uint32_t seq = 1; seq <= N; seq++)
		send_to(n, 3, 100 + (int)seq, seq);
	for (uint32_t i = 1; i <= N; i++)
		expect_any(n, 1);
	EQUAL("redirected", counters(n, 3).redirected, N);
	send_frame(n, 1, broadcast, 1000);
	expect(n, 3, 1000, 0);
	dp_port_close(n->dp, 3, false, NULL);
	check_frames(n);
	run("ip link del p3");
	make_link(3);
	net_close(n);
}

void what_cannot_be_served_is_refused(void)
{
	static const struct {
		const char *name;
		uint16_t slot;
		uint32_t mtu, n_rx;
		int err;
		enum path_reason reason;
	} rows[] = {
		/* clang-format off */
		{ "slot 0",             0,  1500, 1,  -EINVAL,   PATH_FAILED },
		{ "slot past the end",  XB_MAX_PORTS, 1500, 1, -EINVAL, PATH_FAILED },
		{ "slot in use",        1,  1500, 1,  -EINVAL,   PATH_FAILED },
		{ "MTU of jumbo frames", 9, 9000, 1,  -EMSGSIZE, PATH_MTU },
		{ "one byte too long",  9,  2048 - 256 - 18 + 1, 1, -EMSGSIZE, PATH_MTU },
		{ "no queue",           9,  1500, 0,  -EINVAL,   PATH_QUEUES },
		{ "too many queues",    9,  1500, 17, -EINVAL,   PATH_QUEUES },
		{ "no such queue",      9,  1500, 2,  -EINVAL,   PATH_SOCKET },
		/* clang-format on */
	};
	struct net *n = net_open(plain, false);
	struct dp_port_info info;

	dp_port_close(n->dp, 3, false, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum path_reason reason = PATH_NONE;
		const char *why = NULL;
		struct dp_port_config c = port_config(3);
		int err;

		c.slot = rows[i].slot;
		c.mtu = rows[i].mtu;
		c.n_rx_queues = rows[i].n_rx;
		err = dp_port_open(n->dp, &c, &reason, &why);
		if (err != rows[i].err || reason != rows[i].reason || !why)
			FAIL("%s: %s (%s): %s", rows[i].name, strerror(-err), path_name(reason),
			     why ? why : "");
		EQUAL(rows[i].name, dp_port_info(n->dp, 9, &info), -ENOENT);
	}
	/* Nothing of it is left. */
	port_open(n, 3, true);
	send_frame(n, 1, broadcast, 1);
	expect(n, 3, 1, 0);
	net_close(n);
}
