/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mcaster: a member, a sender and an observer of multicast, and a querier.
 *
 * usage: mcaster join DEV READY GROUP[,SOURCE]...
 *		is a member until a signal comes; makes the file READY when it is
 *	  mcaster send DEV NUMBER COUNT GROUP...
 *		sends COUNT datagrams to each group in turn, one a millisecond, as
 *		sender NUMBER
 *	  mcaster watch DEV READY GRACE
 *		prints "SENDER GROUP COUNT DISORDERED" for what came in on DEV, GRACE
 *		ms after something of sender 0, or when a signal comes
 *	  mcaster query DEV SOURCE
 *		sends one general query (IGMPv2 or MLDv1, answers within 1 s) from the
 *		IPv4 or link-local IPv6 address SOURCE
 *
 * GROUP is an IPv4 or IPv6 address, or to send an Ethernet one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT      5099
#define MAGIC     0x6d636173u
#define TYPE_TEST 0x88b5
#define FLOWS_MAX 256

/* What each datagram, or Ethernet frame, carries. */
struct payload {
	uint32_t magic, sender, number;
};

static volatile sig_atomic_t is_over;

static void on_signal(int n)
{
	(void)n;
	is_over = 1;
}

static int complain(const char *what)
{
	fprintf(stderr, "mcaster: %s: %s\n", what, strerror(errno));
	return 1;
}

static void be_ready(const char *path)
{
	FILE *f = fopen(path, "w");

	if (f)
		fclose(f);
}

/* Length of the address of @text, 0 if it is none. */
static socklen_t parse_address(const char *text, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in *a4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *a6 = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &a4->sin_addr) == 1) {
		a4->sin_family = AF_INET;
		a4->sin_port = htons(port);
		return sizeof(*a4);
	}
	if (inet_pton(AF_INET6, text, &a6->sin6_addr) != 1)
		return 0;
	a6->sin6_family = AF_INET6;
	a6->sin6_port = htons(port);
	return sizeof(*a6);
}

/* ---- join ---- */

static int join_one(const char *dev, char *text)
{
	char *source = strchr(text, ',');
	struct group_source_req r = { .gsr_interface = if_nametoindex(dev) };
	struct group_req any = { .gr_interface = r.gsr_interface };
	int fd, err;

	if (source)
		*source++ = '\0';
	if (!parse_address(text, 0, &r.gsr_group) ||
	    (source && !parse_address(source, 0, &r.gsr_source)))
		return -1;
	any.gr_group = r.gsr_group;
	fd = socket(r.gsr_group.ss_family, SOCK_DGRAM, 0);
	if (source)
		err = setsockopt(fd, r.gsr_group.ss_family == AF_INET ? SOL_IP : SOL_IPV6,
				 MCAST_JOIN_SOURCE_GROUP, &r, sizeof(r));
	else
		err = setsockopt(fd, r.gsr_group.ss_family == AF_INET ? SOL_IP : SOL_IPV6,
				 MCAST_JOIN_GROUP, &any, sizeof(any));
	return err;
}

static int join_main(char **argv)
{
	for (char **group = argv + 2; *group; group++) {
		if (join_one(argv[0], *group))
			return complain(*group);
	}
	be_ready(argv[1]);
	while (!is_over)
		poll(NULL, 0, 100);
	return 0;
}

/* ---- send ---- */

static int send_frame(const char *dev, const unsigned int *mac, const struct payload *p)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(TYPE_TEST),
				  .sll_ifindex = (int)if_nametoindex(dev),
				  .sll_halen = ETH_ALEN };
	uint8_t frame[46] = { 0 };
	int fd = socket(AF_PACKET, SOCK_DGRAM, 0);
	ssize_t n;

	for (size_t i = 0; i < ETH_ALEN; i++)
		to.sll_addr[i] = (uint8_t)mac[i];
	memcpy(frame, p, sizeof(*p));
	n = sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to));
	close(fd);
	return n == sizeof(frame) ? 0 : -1;
}

static int send_datagram(const char *dev, const char *group, const struct payload *p)
{
	struct sockaddr_storage to;
	socklen_t len = parse_address(group, PORT, &to);
	int index = (int)if_nametoindex(dev), hops = 4, off = 0, fd;
	struct ip_mreqn how = { .imr_ifindex = index };
	ssize_t n;

	if (!len)
		return -1;
	fd = socket(to.ss_family, SOCK_DGRAM, 0);
	if (to.ss_family == AF_INET) {
		setsockopt(fd, SOL_IP, IP_MULTICAST_IF, &how, sizeof(how));
		setsockopt(fd, SOL_IP, IP_MULTICAST_TTL, &hops, sizeof(hops));
		setsockopt(fd, SOL_IP, IP_MULTICAST_LOOP, &off, sizeof(off));
	} else {
		setsockopt(fd, SOL_IPV6, IPV6_MULTICAST_IF, &index, sizeof(index));
		setsockopt(fd, SOL_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof(hops));
		setsockopt(fd, SOL_IPV6, IPV6_MULTICAST_LOOP, &off, sizeof(off));
	}
	n = sendto(fd, p, sizeof(*p), 0, (struct sockaddr *)&to, len);
	close(fd);
	return n == sizeof(*p) ? 0 : -1;
}

static int send_main(char **argv)
{
	struct payload p = { .magic = htonl(MAGIC), .sender = htonl((uint32_t)atoi(argv[1])) };
	uint32_t count = (uint32_t)atoi(argv[2]);

	for (uint32_t i = 0; i < count; i++) {
		p.number = htonl(i);
		for (char **group = argv + 3; *group; group++) {
			unsigned int m[6];
			int err;

			if (sscanf(*group, "%2x:%2x:%2x:%2x:%2x:%2x", &m[0], &m[1], &m[2], &m[3],
				   &m[4], &m[5]) == 6)
				err = send_frame(argv[0], m, &p);
			else
				err = send_datagram(argv[0], *group, &p);
			if (err)
				return complain(*group);
			usleep(1000);
		}
	}
	return 0;
}

/* ---- watch ---- */

struct flow {
	char group[INET6_ADDRSTRLEN];
	uint32_t sender, n, next, n_disordered;
};

static struct flow flow[FLOWS_MAX];
static uint32_t n_flows;
static bool is_at_end; /* the last frame has come */

static void count(const char *group, const void *data)
{
	struct payload p;
	uint32_t i = 0;

	memcpy(&p, data, sizeof(p));
	if (ntohl(p.magic) != MAGIC)
		return;
	if (!p.sender) {
		is_at_end = true;
		return;
	}
	while (i < n_flows &&
	       (strcmp(flow[i].group, group) != 0 || flow[i].sender != ntohl(p.sender)))
		i++;
	if (i == FLOWS_MAX)
		return;
	if (i == n_flows) {
		snprintf(flow[i].group, sizeof(flow[i].group), "%s", group);
		flow[i].sender = ntohl(p.sender);
		n_flows++;
	}
	flow[i].n++;
	if (ntohl(p.number) < flow[i].next)
		flow[i].n_disordered++;
	flow[i].next = ntohl(p.number) + 1;
}

/* A frame with its Ethernet header. */
static void take(const uint8_t *p, size_t len)
{
	uint16_t type = (uint16_t)(p[12] << 8 | p[13]);
	const uint8_t *ip = p + ETH_HLEN;
	char group[INET6_ADDRSTRLEN];

	if (len >= ETH_HLEN + sizeof(struct payload) && type == TYPE_TEST) {
		snprintf(group, sizeof(group), "%02x:%02x:%02x:%02x:%02x:%02x", p[0], p[1], p[2],
			 p[3], p[4], p[5]);
		count(group, ip);
	} else if (len >= ETH_HLEN + 28 + sizeof(struct payload) && type == ETH_P_IP &&
		   ip[9] == IPPROTO_UDP) {
		count(inet_ntop(AF_INET, ip + 16, group, sizeof(group)), ip + 28);
	} else if (len >= ETH_HLEN + 48 + sizeof(struct payload) && type == ETH_P_IPV6 &&
		   ip[6] == IPPROTO_UDP) {
		count(inet_ntop(AF_INET6, ip + 24, group, sizeof(group)), ip + 48);
	}
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int watch_main(char **argv)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = (int)if_nametoindex(argv[0]) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), size = 8 << 20;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t end_ms = 0;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return complain(argv[0]);
	be_ready(argv[1]);
	while (!is_over && (!end_ms || now_ms() < end_ms)) {
		uint8_t buf[2048];
		struct sockaddr_ll from;
		socklen_t from_len = sizeof(from);
		ssize_t n;

		if (is_at_end && !end_ms)
			end_ms = now_ms() + (uint64_t)atoi(argv[2]);
		if (poll(&poll_fd, 1, 20) <= 0)
			continue;
		n = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &from_len);
		if (n >= ETH_HLEN && from.sll_pkttype != PACKET_OUTGOING)
			take(buf, (size_t)n);
	}
	for (uint32_t i = 0; i < n_flows; i++)
		printf("%u %s %u %u\n", flow[i].sender, flow[i].group, flow[i].n,
		       flow[i].n_disordered);
	return 0;
}

/* ---- query ---- */

static uint16_t checksum(const uint8_t *p, size_t len, uint32_t sum)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* IPv4 header with the router alert, IGMPv2 general query. Length. */
static size_t make_query4(const struct sockaddr_in *from, uint8_t *p)
{
	static const uint8_t head[] = { 0x46, 0xc0, 0, 32, 0, 0, 0,   0, 1, IPPROTO_IGMP,
					0,    0,    0, 0,  0, 0, 224, 0, 0, 1,
					0x94, 4,    0, 0 };
	static const uint8_t query[] = { 0x11, 10, 0, 0, 0, 0, 0, 0 };
	uint16_t sum;

	memcpy(p, head, sizeof(head));
	memcpy(p + 12, &from->sin_addr, 4);
	sum = checksum(p, sizeof(head), 0);
	memcpy(p + 10, &sum, 2);
	memcpy(p + sizeof(head), query, sizeof(query));
	sum = checksum(query, sizeof(query), 0);
	memcpy(p + sizeof(head) + 2, &sum, 2);
	return sizeof(head) + sizeof(query);
}

/* IPv6 header, hop-by-hop header with the router alert, MLDv1 general query. Length. */
static size_t make_query6(const struct sockaddr_in6 *from, uint8_t *p)
{
	static const uint8_t head[] = { 0x60, 0, 0, 0, 0, 32, 0, 1 };
	static const uint8_t all_nodes[] = { 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
	static const uint8_t alert[] = { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0 };
	static const uint8_t query[24] = { 130, 0, 0, 0, 0x03, 0xe8 };
	uint16_t sum;

	memcpy(p, head, sizeof(head));
	memcpy(p + 8, &from->sin6_addr, 16);
	memcpy(p + 24, all_nodes, 16);
	memcpy(p + 40, alert, sizeof(alert));
	memcpy(p + 48, query, sizeof(query));
	/* Over the addresses, the length, the protocol and the message, in any order. */
	sum = checksum(query, sizeof(query), sizeof(query) + IPPROTO_ICMPV6);
	sum = checksum(p + 8, 32, (uint16_t)~ntohs(sum));
	memcpy(p + 50, &sum, 2);
	return 48 + sizeof(query);
}

static int query_main(char **argv)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_ifindex = (int)if_nametoindex(argv[0]),
				  .sll_halen = ETH_ALEN };
	static const uint8_t mac4[] = { 1, 0, 0x5e, 0, 0, 1 }, mac6[] = { 0x33, 0x33, 0, 0, 0, 1 };
	struct sockaddr_storage from;
	uint8_t buf[128];
	size_t len;
	int fd = socket(AF_PACKET, SOCK_DGRAM, 0);

	if (!parse_address(argv[1], 0, &from))
		return complain(argv[1]);
	if (from.ss_family == AF_INET) {
		to.sll_protocol = htons(ETH_P_IP);
		memcpy(to.sll_addr, mac4, sizeof(mac4));
		len = make_query4((struct sockaddr_in *)&from, buf);
	} else {
		to.sll_protocol = htons(ETH_P_IPV6);
		memcpy(to.sll_addr, mac6, sizeof(mac6));
		len = make_query6((struct sockaddr_in6 *)&from, buf);
	}
	if (sendto(fd, buf, len, 0, (struct sockaddr *)&to, sizeof(to)) != (ssize_t)len)
		return complain(argv[0]);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int n_args; /* at least */
		int (*run)(char **argv);
	} commands[] = {
		{ "join", 3, join_main },
		{ "send", 4, send_main },
		{ "watch", 3, watch_main },
		{ "query", 2, query_main },
	};
	struct sigaction a = { .sa_handler = on_signal };

	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGINT, &a, NULL);
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(argv[1], commands[i].name) && argc - 2 >= commands[i].n_args)
			return commands[i].run(argv + 2);
	}
	fprintf(stderr, "usage: mcaster join|send|watch|query ...; see mcaster.c\n");
	return 2;
}
