/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbgen.h"

#include <ctype.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

uint64_t gen_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void put(uint8_t *p, uint64_t v, unsigned int n)
{
	while (n--) {
		p[n] = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get(const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

uint32_t gen_size_min(const struct gen_template *t)
{
	return 14 + 4 * t->n_tags + GEN_HEADER;
}

void gen_write(const struct gen_template *t, uint64_t seq, uint64_t now_ns, uint8_t *buf)
{
	uint8_t *p = buf + 12;

	memset(buf, 0, t->size);
	memcpy(buf, t->dst, 6);
	memcpy(buf + 6, t->src, 6);
	for (uint32_t i = 0; i < t->n_tags; i++, p += 4) {
		put(p, t->tag[i].tpid, 2);
		put(p + 2, t->tag[i].tci, 2);
	}
	put(p, GEN_ETHERTYPE, 2);
	put(p + 2, GEN_MAGIC, 4);
	put(p + 6, t->source, 4);
	gen_renumber(t, seq, now_ns, buf);
}

void gen_renumber(const struct gen_template *t, uint64_t seq, uint64_t now_ns, uint8_t *buf)
{
	uint8_t *p = buf + 14 + 4 * t->n_tags;

	put(p + 8, seq, 8);
	put(p + 16, now_ns, 8);
}

bool gen_read(const uint8_t *buf, size_t len, struct gen_info *out)
{
	size_t at = 12;
	uint64_t type;

	for (int i = 0; i <= GEN_TAGS_MAX; i++, at += 4) {
		if (len < at + 2 + GEN_HEADER)
			return false;
		type = get(buf + at, 2);
		if (type != ETH_P_8021Q && type != ETH_P_8021AD)
			break;
	}
	if (len < at + 2 + GEN_HEADER || get(buf + at, 2) != GEN_ETHERTYPE ||
	    get(buf + at + 2, 4) != GEN_MAGIC)
		return false;
	out->source = (uint32_t)get(buf + at + 6, 4);
	out->seq = get(buf + at + 10, 8);
	out->sent_ns = get(buf + at + 18, 8);
	return true;
}

bool gen_parse_mac(const char *s, uint8_t *out)
{
	unsigned int b[6];
	char end;

	if (!strcmp(s, "broadcast"))
		s = "ff:ff:ff:ff:ff:ff";
	if (sscanf(s, "%2x:%2x:%2x:%2x:%2x:%2x%c", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5],
		   &end) != 6)
		return false;
	for (int i = 0; i < 6; i++)
		out[i] = (uint8_t)b[i];
	return true;
}

bool gen_parse_number(const char *s, uint64_t max, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*out = strtoull(s, &end, 10);
	return !errno && !*end && *out <= max;
}

bool gen_parse_tag(const char *s, struct gen_tag *out)
{
	unsigned int tpid = ETH_P_8021Q, vid, priority = 0;
	char end;

	if (sscanf(s, "%4x:%u:%u%c", &tpid, &vid, &priority, &end) != 3 &&
	    (priority = 0, sscanf(s, "%4x:%u%c", &tpid, &vid, &end)) != 2 &&
	    (tpid = ETH_P_8021Q, sscanf(s, "%u%c", &vid, &end)) != 1)
		return false;
	if (vid > 4095 || priority > 7)
		return false;
	out->tpid = (uint16_t)tpid;
	out->tci = (uint16_t)(priority << 13 | vid);
	return true;
}

static int hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = tolower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_hex_line(const char *s, uint8_t *buf)
{
	int n = 0;

	for (;;) {
		s += strspn(s, " \t\r\n");
		if (!*s)
			return n;
		if (n == GEN_FRAME_MAX || hex_digit(s[0]) < 0 || hex_digit(s[1]) < 0)
			return -1;
		buf[n++] = (uint8_t)(hex_digit(s[0]) << 4 | hex_digit(s[1]));
		s += 2;
	}
}

int gen_read_hex(FILE *f, uint8_t *buf)
{
	static char line[3 * GEN_FRAME_MAX + 2];
	int n;

	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		n = read_hex_line(line, buf);
		if (n)
			return n;
	}
	return 0;
}

int gen_bind(int fd, const char *dev, uint16_t ethertype)
{
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ethertype) };

	ll.sll_ifindex = (int)if_nametoindex(dev);
	if (!ll.sll_ifindex || bind(fd, (struct sockaddr *)&ll, sizeof(ll)) < 0) {
		fprintf(stderr, "xbgen: cannot use %s: %s\n", dev, strerror(errno));
		return -1;
	}
	return 0;
}

int gen_socket(const char *dev)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		perror("xbgen: packet socket");
		return -1;
	}
	if (gen_bind(fd, dev, 0)) {
		close(fd);
		return -1;
	}
	return fd;
}
