/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdbload: enters or removes many forwarding entries of one port of a bridge, as
 * fast as the kernel takes them.
 *
 *	fdbload add|dynamic|del DEV COUNT [FIRST]
 *
 * add: static ones; dynamic: as if learned. Entry I is 02:fd:xx:xx:xx:xx with I
 * in its last four bytes. Prints how many the kernel refused, and the time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 128

struct request {
	struct nlmsghdr h;
	struct ndmsg nd;
	struct nlattr mac;
	uint8_t addr[8]; /* six, and padding */
};

struct job {
	uint16_t type, flags;
	uint16_t state;
	uint8_t nd_flags;
	int ifindex;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void fill(const struct job *j, struct request *r, uint32_t i)
{
	uint32_t be = htonl(i);

	*r = (struct request){
		.h = { .nlmsg_len = sizeof(*r),
		       .nlmsg_type = j->type,
		       .nlmsg_flags = j->flags,
		       .nlmsg_seq = i },
		.nd = { .ndm_family = AF_BRIDGE,
			.ndm_ifindex = j->ifindex,
			.ndm_state = j->state,
			.ndm_flags = j->nd_flags },
		.mac = { .nla_len = NLA_HDRLEN + 6, .nla_type = NDA_LLADDR },
		.addr = { 0x02, 0xfd },
	};
	memcpy(r->addr + 2, &be, sizeof(be));
}

/* Only refusals are answered. */
static uint32_t count_refused(int fd)
{
	static char buf[65536] __attribute__((aligned(8)));
	uint32_t n = 0;
	ssize_t got;

	while ((got = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		const struct nlmsghdr *h;

		for (size_t at = 0; at + sizeof(*h) <= (size_t)got;
		     at += NLMSG_ALIGN(h->nlmsg_len)) {
			h = (const struct nlmsghdr *)(buf + at);
			if (h->nlmsg_len < sizeof(*h))
				break;
			n += h->nlmsg_type == NLMSG_ERROR;
		}
	}
	return n;
}

static bool run(const struct job *j, int fd, uint32_t first, uint32_t count, uint32_t *refused)
{
	static struct request r[BATCH];

	for (uint32_t i = 0; i < count;) {
		uint32_t n = count - i < BATCH ? count - i : BATCH;

		for (uint32_t k = 0; k < n; k++)
			fill(j, &r[k], first + i + k);
		if (send(fd, r, n * sizeof(r[0]), 0) < 0) {
			perror("fdbload: send");
			return false;
		}
		*refused += count_refused(fd);
		i += n;
	}
	return true;
}

static bool job_make(struct job *j, const char *what, const char *dev)
{
	bool is_del = !strcmp(what, "del"), is_dynamic = !strcmp(what, "dynamic");

	*j = (struct job){
		.type = is_del ? RTM_DELNEIGH : RTM_NEWNEIGH,
		.flags = NLM_F_REQUEST | (is_del ? 0 : NLM_F_CREATE | NLM_F_REPLACE),
		.state = is_dynamic ? NUD_REACHABLE : NUD_NOARP,
		.nd_flags = NTF_MASTER,
		.ifindex = (int)if_nametoindex(dev),
	};
	return j->ifindex && (is_del || is_dynamic || !strcmp(what, "add"));
}

int main(int argc, char **argv)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), size = 4 << 20;
	uint64_t from = now_ns();
	uint32_t refused = 0, count, first;
	struct job j;

	if (argc < 4 || fd < 0 || !job_make(&j, argv[1], argv[2])) {
		fprintf(stderr, "usage: fdbload add|dynamic|del DEV COUNT [FIRST]\n");
		return 2;
	}
	count = (uint32_t)strtoul(argv[3], NULL, 10);
	first = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (!run(&j, fd, first, count, &refused))
		return 1;
	printf("%u entries, %u refused, %llu ms\n", count, refused,
	       (unsigned long long)((now_ns() - from) / 1000000));
	close(fd);
	return refused ? 1 : 0;
}
