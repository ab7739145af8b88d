/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

void nap_ms(long ms)
{
	const struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

void run(const char *cmd)
{
	if (system(cmd))
		FAIL("%s", cmd);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

bool enter_namespaces(void)
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

void make_links(void)
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

void make_link(int i)
{
	char cmd[160];

	snprintf(cmd, sizeof(cmd),
		 "ip link add p%d type veth peer name h%d && "
		 "ip link set h%d up && ip link set p%d up",
		 i, i, i, i);
	run(cmd);
}

int host_open(int i)
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

void mac_of(int i, uint8_t *mac)
{
	const uint8_t m[6] = { 2, 0, 0, 0, 0, (uint8_t)i };

	memcpy(mac, m, 6);
}

void send_frame(const struct net *n, int from, const uint8_t *dst, uint32_t seq)
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

void send_to(const struct net *n, int from, int to, uint32_t seq)
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

bool recv_frame(const struct net *n, int i, int ms, struct got *g)
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

void expect(const struct net *n, int i, uint32_t seq, uint16_t tci)
{
	struct got g;

	if (!recv_frame(n, i, 1000, &g)) {
		dump(n);
		FAIL("frame %u did not come to h%d", seq, i);
	}
	EQUAL("sequence number", g.p.seq, seq);
	EQUAL("TCI", g.tci, tci);
}

void expect_any(const struct net *n, int i)
{
	struct got g;

	if (!recv_frame(n, i, 1000, &g)) {
		dump(n);
		FAIL("no frame came to h%d", i);
	}
}

void expect_none(const struct net *n, int i)
{
	struct got g;

	if (recv_frame(n, i, 30, &g))
		FAIL("frame %u came to h%d", g.p.seq, i);
}

uint32_t count_received(const struct net *n, int i, uint32_t want)
{
	uint32_t n_got = 0;
	struct got g;

	while (n_got < want && recv_frame(n, i, 500, &g))
		n_got++;
	while (recv_frame(n, i, 0, &g))
		n_got++;
	return n_got;
}
