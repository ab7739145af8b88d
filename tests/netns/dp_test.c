/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dp_test: the data plane alone, through dp/dp.h, between veth ports of a
 * network namespace of its own: what comes out, byte by byte, the counters, and
 * that no frame of the UMEM is lost. Root; exits with 77 without.
 *
 * Ports are p1..p4 (slots 1..4), their other ends h1..h4. XB_HEARTBEAT_MS in the
 * environment is for machines whose clock stalls; the default is 100.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <urcu/urcu-qsbr.h>

#include "core/fdb.h"
#include "core/model.h"
#include "dp/dp.h"
#include "util/clock.h"

#define N_PORTS   4
#define ETHER_EXP 0x88b5
#define PIN_DIR   "/sys/fs/bpf/xbridged"

#define FAIL(...)                                                    \
	do {                                                         \
		fprintf(stderr, "FAIL %s:%d: ", __func__, __LINE__); \
		fprintf(stderr, __VA_ARGS__);                        \
		fputc('\n', stderr);                                 \
		exit(1);                                             \
	} while (0)

#define EQUAL(what, got, want)                                                     \
	do {                                                                       \
		uint64_t g_ = (uint64_t)(got), w_ = (uint64_t)(want);              \
		if (g_ != w_)                                                      \
			FAIL("%s is %llu, not %llu", what, (unsigned long long)g_, \
			     (unsigned long long)w_);                              \
	} while (0)

/* What is sent; the time tells late frames. */
struct payload {
	uint8_t dst[6], src[6];
	uint16_t type_be;
	uint16_t pad;
	uint32_t seq;
	uint64_t sent_ns;
	uint8_t fill[32];
} __attribute__((packed));

struct got {
	struct payload p;
	uint16_t tci; /* of the tag that the stack took off, 0 without */
	uint32_t len;
};

struct net {
	struct dp *dp;
	struct model *model;
	struct fdb *fdb;
	struct count_vlan *count;
	int host[N_PORTS + 1]; /* packet sockets on h1..h4 */
};

static const uint8_t broadcast[6] = { 255, 255, 255, 255, 255, 255 };

static void nap_ms(long ms)
{
	const struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

static void run(const char *cmd)
{
	if (system(cmd))
		FAIL("%s", cmd);
}

/* ---- the namespace ---- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

/* False if this is not allowed here. */
static bool enter_namespaces(void)
{
	if (geteuid() || unshare(CLONE_NEWNET | CLONE_NEWNS))
		return false;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL))
		return false;
	/* Nothing but the test's own frames. */
	write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	return true;
}

static void make_links(void)
{
	char cmd[160];

	run("ip link set lo up");
	for (int i = 1; i <= N_PORTS; i++) {
		snprintf(cmd, sizeof(cmd),
			 "ip link add p%d type veth peer name h%d && ip link set h%d up && "
			 "ip link set p%d up",
			 i, i, i, i);
		run(cmd);
	}
}

static void make_link(int i)
{
	char cmd[160];

	snprintf(cmd, sizeof(cmd),
		 "ip link add p%d type veth peer name h%d && "
		 "ip link set h%d up && ip link set p%d up",
		 i, i, i, i);
	run(cmd);
}

static int host_open(int i)
{
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = htobe16(ETH_P_ALL) };
	const int one = 1, room = 64 << 20;
	char name[IF_NAMESIZE];
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(name, sizeof(name), "h%d", i);
	a.sll_ifindex = (int)if_nametoindex(name);
	if (fd < 0 || !a.sll_ifindex || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		FAIL("packet socket on %s: %s", name, strerror(errno));
	return fd;
}

/* ---- frames ---- */

static void mac_of(int i, uint8_t *mac)
{
	const uint8_t m[6] = { 2, 0, 0, 0, 0, (uint8_t)i };

	memcpy(mac, m, 6);
}

static void send_frame(const struct net *n, int from, const uint8_t *dst, uint32_t seq)
{
	struct payload p = { .type_be = htobe16(ETHER_EXP), .seq = seq, .sent_ns = clock_now_ns() };

	memcpy(p.dst, dst, 6);
	mac_of(from, p.src);
	for (int i = 0; i < 1000; i++) {
		if (send(n->host[from], &p, sizeof(p), 0) == (ssize_t)sizeof(p))
			return;
		nap_ms(1);
	}
	FAIL("send on h%d: %s", from, strerror(errno));
}

static void send_to(const struct net *n, int from, int to, uint32_t seq)
{
	uint8_t dst[6];

	mac_of(to, dst);
	send_frame(n, from, dst, seq);
}

static uint16_t tci_of(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct tpacket_auxdata aux;

		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			return aux.tp_vlan_tci;
	}
	return 0;
}

/* The next frame of ours on h@i, within @ms. */
static bool recv_frame(const struct net *n, int i, int ms, struct got *g)
{
	struct pollfd fd = { .fd = n->host[i], .events = POLLIN };
	uint64_t end = clock_now_ns() + (uint64_t)ms * NSEC_PER_MSEC;

	do {
		char ctl[256];
		struct iovec iov = { &g->p, sizeof(g->p) };
		struct msghdr m = { .msg_iov = &iov,
				    .msg_iovlen = 1,
				    .msg_control = ctl,
				    .msg_controllen = sizeof(ctl) };
		ssize_t len = recvmsg(n->host[i], &m, 0);

		if (len == (ssize_t)sizeof(g->p) && be16toh(g->p.type_be) == ETHER_EXP) {
			g->tci = tci_of(&m);
			g->len = (uint32_t)len;
			return true;
		}
		if (len < 0)
			(void)poll(&fd, 1, ms ? 1 : 0);
	} while (clock_diff(end, clock_now_ns()) > 0);
	return false;
}

/* What the counters say, for a test that failed. */
static void dump(const struct net *n)
{
	struct dp_frame_sum s = { 0 };
	struct dp_stats st;

	if (!n->dp)
		return;
	dp_stats_read(n->dp, &st);
	dp_frames(n->dp, &s);
	fprintf(stderr,
		"pool %llu, fill %llu, batch %llu, tx %llu; rounds %llu, naps %llu, kicks %llu, "
		"held %llu, expired %llu, stalls %llu\n",
		(unsigned long long)s.pool, (unsigned long long)s.fill, (unsigned long long)s.batch,
		(unsigned long long)s.tx, (unsigned long long)st.n_loops,
		(unsigned long long)st.n_polls, (unsigned long long)st.kicks,
		(unsigned long long)st.host_held, (unsigned long long)st.host_hold_expired,
		(unsigned long long)st.n_stalls);
	for (uint16_t i = 1; i <= N_PORTS; i++) {
		struct dp_port_counters c;

		if (dp_port_counters(n->dp, i, &c))
			continue;
		fprintf(stderr, "p%u: redirected %llu, received %llu, sent %llu", i,
			(unsigned long long)c.redirected, (unsigned long long)c.user.rx_frames,
			(unsigned long long)c.user.tx_frames);
		for (unsigned int k = 0; k < PUNT_N; k++) {
			if (c.punt[k])
				fprintf(stderr, ", %s %llu", punt_name(k),
					(unsigned long long)c.punt[k]);
		}
		for (unsigned int k = 0; k < DROP_N; k++) {
			if (c.user.drop[k])
				fprintf(stderr, ", %s %llu", drop_name(k),
					(unsigned long long)c.user.drop[k]);
		}
		fputc('\n', stderr);
	}
}

static void expect(const struct net *n, int i, uint32_t seq, uint16_t tci)
{
	struct got g;

	if (!recv_frame(n, i, 1000, &g)) {
		dump(n);
		FAIL("frame %u did not come to h%d", seq, i);
	}
	EQUAL("sequence number", g.p.seq, seq);
	EQUAL("TCI", g.tci, tci);
}

static void expect_any(const struct net *n, int i)
{
	struct got g;

	if (!recv_frame(n, i, 1000, &g)) {
		dump(n);
		FAIL("no frame came to h%d", i);
	}
}

static void expect_none(const struct net *n, int i)
{
	struct got g;

	if (recv_frame(n, i, 30, &g))
		FAIL("frame %u came to h%d", g.p.seq, i);
}

static uint32_t count_received(const struct net *n, int i, uint32_t want)
{
	uint32_t n_got = 0;
	struct got g;

	while (n_got < want && recv_frame(n, i, 500, &g))
		n_got++;
	while (recv_frame(n, i, 0, &g))
		n_got++;
	return n_got;
}

/* ---- the data plane ---- */

static struct dp_config config = {
	.n_frames = 8192,
	.frame_size = 2048,
	.rx_ring = 2048,
	.fill_ring = 2048,
	.tx_ring = 2048,
	.completion_ring = 2048,
	.batch = 64,
	.n_workers = 1,
	.worker_cpu = { -1 },
	.heartbeat_ns = 100 * NSEC_PER_MSEC,
	.pin_dir = PIN_DIR,
};

static void publish(struct net *n)
{
	struct view *v = view_build(n->model, dp_view(n->dp), NULL);

	if (!v)
		FAIL("no view");
	dp_publish(n->dp, v);
}

static struct dp_port_config port_config(int i)
{
	struct dp_port_config c = {
		.slot = (uint16_t)i,
		.n_rx_queues = 1,
		.n_tx_queues = 1,
		.mtu = 1500,
		.receive = true,
		.rules = { .flags = 1 /* XB_PORT_USER */, .bridge = 1 },
	};

	snprintf(c.name, sizeof(c.name), "p%d", i);
	c.ifindex = if_nametoindex(c.name);
	return c;
}

static void port_open(struct net *n, int i, bool receive)
{
	struct dp_port_config c = port_config(i);
	enum path_reason reason;
	const char *why = NULL;
	int err;

	c.receive = receive;
	err = dp_port_open(n->dp, &c, &reason, &why);
	if (err)
		FAIL("p%d: %s: %s (%s)", i, strerror(-err), why, path_name(reason));
}

static void model_port(struct net *n, int i, const char *how, uint16_t flags)
{
	struct model_port_attr a = {
		.bridge = 1,
		.flags = MP_LEARNING | MP_UNICAST_FLOOD | MP_MCAST_FLOOD | MP_BCAST_FLOOD | flags,
		.state = PORT_FORWARDING,
		.mtu = 1500,
	};

	/* "u": VLAN 10 untagged, "t": tagged, "": a bridge that does not filter. */
	if (*how) {
		a.vlan[10] =
			MV_MEMBER | MV_STATE(PORT_FORWARDING) | (*how == 'u' ? MV_UNTAGGED : 0);
		a.pvid = *how == 'u' ? 10 : VID_NONE;
	}
	if (model_port_set(n->model, (uint16_t)i, &a, NULL))
		FAIL("model_port_set");
}

/* @how: one string per port, see model_port(). Port 4 is the host when @host. */
static struct net *net_open(const char *const *how, bool host)
{
	const struct fdb_config fc = { .max_entries = 1024 };
	const struct model_bridge_attr ba = {
		.filtering = *how[0],
		.learning = true,
		.tpid = 0x8100,
		.host_port = host ? N_PORTS : 0,
	};
	const struct dp_bridge_rules rules = { .flags = 1 | (*how[0] ? 2 : 0), .tpid = 0x8100 };
	struct net *n = calloc(1, sizeof(*n));
	const char *why = NULL;
	int err;

	n->model = model_new();
	n->fdb = fdb_new(&fc);
	n->count = calloc(VID_N, sizeof(*n->count));
	if (!n->model || !n->fdb || !n->count ||
	    model_bridge_set(n->model, 1, &ba, n->fdb, n->count, NULL))
		FAIL("model");
	err = dp_open(&config, &n->dp, &why);
	if (err)
		FAIL("dp_open: %s: %s", strerror(-err), why);
	for (int i = 1; i <= N_PORTS; i++)
		model_port(n, i, how[i - 1], host && i == N_PORTS ? MP_HOST : 0);
	publish(n);
	if (dp_bridge_rules_set(n->dp, 1, &rules))
		FAIL("dp_bridge_rules_set");
	for (int i = 1; i <= N_PORTS; i++) {
		port_open(n, i, !(host && i == N_PORTS));
		n->host[i] = host_open(i);
	}
	dp_gate_set(n->dp, true);
	return n;
}

/* Every frame is somewhere, and after a while none is on its way. */
static void check_frames(struct net *n)
{
	struct dp_frame_sum s = { 0 };

	for (int i = 0; i < 500; i++) {
		if (!dp_frames(n->dp, &s))
			FAIL("the worker did not answer");
		EQUAL("pool + fill + batch + tx", s.pool + s.fill + s.batch + s.tx, s.all);
		if (!s.tx && !s.batch)
			return;
		nap_ms(2);
	}
	FAIL("%llu frames in TX, %llu held", (unsigned long long)s.tx, (unsigned long long)s.batch);
}

static struct dp_port_counters counters(struct net *n, int i)
{
	struct dp_port_counters c;

	if (dp_port_counters(n->dp, (uint16_t)i, &c))
		FAIL("no counters of p%d", i);
	return c;
}

static void net_close(struct net *n)
{
	check_frames(n);
	dp_close(n->dp, true);
	for (int i = 1; i <= N_PORTS; i++)
		close(n->host[i]);
	model_free(n->model);
	fdb_free(n->fdb);
	free(n->count);
	free(n);
}

/* ---- the tests ---- */

static const char *const plain[] = { "", "", "", "" };
static const char *const mixed[] = { "u", "u", "t", "t" };

static void known_unicast_goes_to_one_port(void)
{
	struct net *n = net_open(plain, false);
	struct dp_learn v[8];

	send_frame(n, 1, broadcast, 1);
	for (int i = 2; i <= N_PORTS; i++)
		expect(n, i, 1, 0);
	send_to(n, 2, 1, 2);
	expect(n, 1, 2, 0);
	send_to(n, 3, 1, 3);
	expect(n, 1, 3, 0);
	for (int i = 2; i <= N_PORTS; i++)
		expect_none(n, i);

	EQUAL("learn events", dp_learn_read(n->dp, v, 8), 3);
	EQUAL("station", v[0].key, UINT64_C(0x020000000001));
	EQUAL("port", v[0].port, 1);
	EQUAL("sequence", v[2].seq, 3);
	EQUAL("frames received by p1", counters(n, 1).user.rx_frames, 1);
	EQUAL("floods of p1", counters(n, 1).user.rx_flooded, 1);
	EQUAL("frames sent to p1", counters(n, 1).user.tx_frames, 2);
	EQUAL("bytes sent to p1", counters(n, 1).user.tx_bytes, 2 * sizeof(struct payload));
	EQUAL("learned on p3", counters(n, 3).user.learned, 1);

	/* Back to where it came from: dropped, at the port where it came in. */
	send_to(n, 1, 1, 4);
	expect_none(n, 2);
	EQUAL("same-port", counters(n, 1).user.drop[DROP_SAME_PORT], 1);
	net_close(n);
}

static void a_flood_leaves_with_and_without_tag(void)
{
	struct net *n = net_open(mixed, false);

	for (uint32_t seq = 1; seq <= 100; seq++) {
		send_frame(n, 1, broadcast, seq);
		expect(n, 2, seq, 0);
		expect(n, 3, seq, 10);
		expect(n, 4, seq, 10);
	}
	expect_none(n, 1);
	EQUAL("copies of VLAN 10", n->count[10].tx_frames, 300);
	EQUAL("frames of VLAN 10", n->count[10].rx_frames, 100);
	EQUAL("bytes sent to p3", counters(n, 3).user.tx_bytes, 100 * (sizeof(struct payload) + 4));
	net_close(n);
}

/* A frame with a tag of VLAN 10 and priority 5 from h3. */
static void send_tagged(const struct net *n, uint32_t seq)
{
	struct payload p = { .type_be = htobe16(ETHER_EXP), .seq = seq, .sent_ns = clock_now_ns() };
	uint8_t buf[sizeof(p) + 4] = { 0 };

	memset(p.dst, 255, sizeof(p.dst));
	mac_of(3, p.src);
	memcpy(buf, &p, 12);
	memcpy(buf + 12, (const uint8_t[]){ 0x81, 0x00, 0xa0, 0x0a }, 4);
	memcpy(buf + 16, (const uint8_t *)&p + 12, sizeof(p) - 12);
	if (send(n->host[3], buf, sizeof(buf), 0) != (ssize_t)sizeof(buf))
		FAIL("send: %s", strerror(errno));
}

static void a_tag_is_kept_and_taken_off(void)
{
	struct net *n = net_open(mixed, false);

	for (uint32_t seq = 1; seq <= 100; seq++) {
		send_tagged(n, seq);
		expect(n, 1, seq, 0);
		expect(n, 2, seq, 0);
		expect(n, 4, seq, 0xa00a);
	}
	expect_none(n, 3);
	EQUAL("bytes sent to p4", counters(n, 4).user.tx_bytes, 100 * (sizeof(struct payload) + 4));
	EQUAL("bytes sent to p1", counters(n, 1).user.tx_bytes, 100 * sizeof(struct payload));
	net_close(n);
}

static void a_port_is_promiscuous_while_it_is_open(void)
{
	struct net *n = net_open(plain, true);

	run("ip -d link show p1 | grep -q 'promiscuity 1 '");
	run("ip -d link show p4 | grep -q 'promiscuity 0 '"); /* sends only */
	dp_port_close(n->dp, 1, false);
	run("ip -d link show p1 | grep -q 'promiscuity 0 '");
	net_close(n);
}

static void many_floods_are_counted_exactly(void)
{
	enum { N = 100000 };
	struct net *n = net_open(mixed, false);
	struct dp_port_counters in;
	uint64_t start;

	start = clock_now_ns();
	for (uint32_t seq = 1; seq <= N; seq++)
		send_frame(n, 1, broadcast, seq);
	/* Each frame was received, or found the RX ring full or the fill ring empty. */
	for (int i = 0; i < 5000; i++) {
		in = counters(n, 1);
		if (in.user.rx_frames + in.xsk_rx_ring_full + in.xsk_fill_empty == N)
			break;
		nap_ms(1);
	}
	check_frames(n);
	printf("  %d floods to 3 ports in %llu ms: received %llu, ring full %llu, no fill %llu\n",
	       N, (unsigned long long)((clock_now_ns() - start) / NSEC_PER_MSEC),
	       (unsigned long long)in.user.rx_frames, (unsigned long long)in.xsk_rx_ring_full,
	       (unsigned long long)in.xsk_fill_empty);
	EQUAL("redirected", in.redirected, N);
	EQUAL("received or dropped by the kernel",
	      in.user.rx_frames + in.xsk_rx_ring_full + in.xsk_fill_empty, N);
	for (int i = 2; i <= N_PORTS; i++) {
		struct dp_port_counters c = counters(n, i);

		EQUAL("copies sent or dropped",
		      c.user.tx_frames + c.user.drop[DROP_TX_FULL] + c.user.drop[DROP_NO_FRAME],
		      in.user.rx_frames);
		EQUAL("copies that came", count_received(n, i, (uint32_t)c.user.tx_frames),
		      c.user.tx_frames);
		EQUAL("in flight", c.tx_in_flight, 0);
	}
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

static void *shared_new(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		FAIL("mmap");
	return p;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_port_closes_and_opens_under_traffic(void)
{
	bool *go = shared_new(sizeof(*go));
	pid_t pid = sender_start(1, go);
	struct net *n = net_open(mixed, false);
	struct dp_frame_sum s;
	struct got g;

	__atomic_store_n(go, true, __ATOMIC_RELEASE);
	for (int round = 0; round < 5; round++) {
		nap_ms(20);
		dp_port_close(n->dp, 3, false);
		if (!dp_frames(n->dp, &s))
			FAIL("the worker did not answer");
		EQUAL("pool + fill + batch + tx", s.pool + s.fill + s.batch + s.tx, s.all);
		port_open(n, 3, true);
	}
	dp_port_close(n->dp, 1, false); /* that receives */
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

static void a_port_that_vanishes_is_seen_and_closed(void)
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
	dp_port_close(n->dp, 3, true);
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

static void the_host_waits_until_the_kernel_has_learned(void)
{
	struct net *n = net_open(plain, true);
	struct dp_stats st;

	/* Known in advance: nothing waits. */
	dp_learn_done(n->dp, 0, 1);
	send_frame(n, 1, broadcast, 1);
	expect(n, 3, 1, 0);
	expect(n, N_PORTS, 1, 0);
	dp_stats_read(n->dp, &st);
	EQUAL("held", st.host_held, 0);

	/* Nobody says that the kernel has learned this one: 5 ms, then it goes. */
	send_frame(n, 2, broadcast, 2);
	expect(n, 3, 2, 0);
	expect(n, N_PORTS, 2, 0);
	dp_stats_read(n->dp, &st);
	EQUAL("held", st.host_held, 1);
	EQUAL("expired", st.host_hold_expired, 1);

	/* The other ports do not wait, and the order is kept. */
	for (uint32_t seq = 3; seq <= 12; seq++)
		send_frame(n, 3, broadcast, seq);
	for (uint32_t seq = 3; seq <= 12; seq++)
		expect(n, N_PORTS, seq, 0);
	net_close(n);
}

static void every_queue_is_served(void)
{
	enum { QUEUES = 4, N = 64 };
	struct net *n = net_open(plain, false);
	struct dp_port_config c;
	struct dp_port_info info;
	enum path_reason reason;
	const char *why;

	dp_port_close(n->dp, 3, false);
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
	dp_port_close(n->dp, 3, false);
	check_frames(n);
	run("ip link del p3");
	make_link(3);
	net_close(n);
}

static void what_cannot_be_served_is_refused(void)
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

	dp_port_close(n->dp, 3, false);
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

/* ---- a stall ---- */

static uint32_t heartbeat_ms(void)
{
	return (uint32_t)(config.heartbeat_ns / NSEC_PER_MSEC);
}

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

static void no_frame_is_forwarded_late_after_a_stall(void)
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
	EQUAL("stalls", sh->n_stalls, 1);
	if (!sh->n_stale)
		FAIL("nothing was dropped as stale");
	printf("  %llu stale frames dropped\n", (unsigned long long)sh->n_stale);
	for (int i = 1; i <= N_PORTS; i++)
		close(mine.host[i]);
	munmap(sh, sizeof(*sh));
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {
#define TEST(f) { #f, f }
		TEST(known_unicast_goes_to_one_port),
		TEST(a_flood_leaves_with_and_without_tag),
		TEST(a_tag_is_kept_and_taken_off),
		TEST(a_port_is_promiscuous_while_it_is_open),
		TEST(many_floods_are_counted_exactly),
		TEST(a_port_closes_and_opens_under_traffic),
		TEST(a_port_that_vanishes_is_seen_and_closed),
		TEST(the_host_waits_until_the_kernel_has_learned),
		TEST(every_queue_is_served),
		TEST(what_cannot_be_served_is_refused),
		TEST(no_frame_is_forwarded_late_after_a_stall),
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (getenv("XB_HEARTBEAT_MS"))
		config.heartbeat_ns = strtoul(getenv("XB_HEARTBEAT_MS"), NULL, 10) * NSEC_PER_MSEC;
	if (!enter_namespaces()) {
		printf("needs root and namespaces\n");
		return 77;
	}
	make_links();
	/* A process for each: one that fails leaves nothing to the next. */
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			urcu_qsbr_register_thread();
			tests[i].run();
			urcu_qsbr_unregister_thread();
			exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			return 1;
		printf("%s: %s\n", status ? "FAIL" : "ok", tests[i].name);
		if (status)
			return 1;
	}
	return 0;
}
