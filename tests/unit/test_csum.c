/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CSUM_SEED (hexadecimal) and CSUM_ROUNDS in the environment replace the seed
 * and the number of random packets.
 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/csum.h"

#define BUF_SIZE 2048

/* xorshift64*: the same packets for the same seed on every machine. */
static uint64_t rnd_state;

static uint32_t rnd(uint32_t below)
{
	rnd_state ^= rnd_state >> 12;
	rnd_state ^= rnd_state << 25;
	rnd_state ^= rnd_state >> 27;
	return (uint32_t)((rnd_state * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* The plain reference: one 16-bit word at a time, as the RFC says it. */
static uint32_t plain_add(uint32_t sum, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void set16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint8_t *from_hex(const char *s, uint32_t *len)
{
	size_t n = strlen(s) / 2;
	uint8_t *p = malloc(n ? n : 1);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		char two[3] = { s[i * 2], s[i * 2 + 1], 0 };

		p[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	*len = (uint32_t)n;
	return p;
}

/* clang-format off */
#define ETH  "020000000b01020000000a01"
#define TCP4 "0800" "4500003cd7cc400040064eed0a0000010a000002" \
	"e55000092dc4d74100000000a002faf0" "1431" \
	"0000020405b40402080ab94bc53c000000000103030a"
#define UDP4(sum) "0800" "4500002392b64000401194110a0000010a000002" \
	"9c400009000f" sum "7061727469616c"
#define TCP6 "86dd" "600f2be200280640" \
	"fd000000000000000000000000000001fd000000000000000000000000000002" \
	"e6e20009bdd4483900000000a002fd20" "fa32" \
	"0000020405a00402080ad0aafbf9000000000103030a"
#define UDP6(sum) "86dd" "6007cf6600101140" \
	"fd000000000000000000000000000001fd000000000000000000000000000002" \
	"9c4000090010" sum "7061727469616c21"
/* A TCP SYN in an Ethernet frame, and tunnels around it: without and with an outer checksum. */
#define INNER(sum) "020000000d01020000000c000800" \
	"4500003c701240004006b6a50a0100010a010002df7800093b4fbc5300000000a002fd5c" sum \
	"0000020405820402080a1398aa34000000000103030a"
#define IN_UDP(port, hdr, sum) "0800" "4500006e934000004011d33c0a0000010a000002" \
	"daf4" port "005a0000" hdr INNER(sum)
#define VXLAN_PLAIN(sum) IN_UDP("12b5", "0800000000000700", sum)
#define IN_GRE(hdr) "0800" "4500006200000000402fd33c0a0000010a000002" hdr INNER("1433")
#define VXLAN_CSUM(sum) "0800" "4500006e938100004011d2fb0a0000010a000002" \
	"c8d312b5005af0df" "0800000000000800" "020000000d01020000000c010800" \
	"4500003ca1234000400683940a0101010a0101028ce20009f20fa6cf00000000a002fd5c" sum \
	"0000020405820402080a21cb46f4000000000103030a"
/* UDP6 behind @hdrs, of which @next is the first and @len what there is with them. */
#define UDP6_EXT(len, next, hdrs) "86dd" "6007cf66" len next "40" \
	"fd000000000000000000000000000001fd000000000000000000000000000002" \
	hdrs "9c4000090010" "fa25" "7061727469616c21"
#define DSTOPTS "3c00010400000000"

/* Frames as Linux sent them into a veth device; the want column is worked out by hand. */
static const struct {
	const char *name;
	const char *hex;
	enum csum_result want;
	uint32_t at; /* where the checksum is */
	uint16_t sum;
} known[] = {
	{ "TCP over IPv4", ETH TCP4, CSUM_COMPLETED, 50, 0xd021 },
	{ "UDP over IPv4", ETH UDP4("1423"), CSUM_COMPLETED, 40, 0x974c },
	{ "TCP over IPv6", ETH TCP6, CSUM_COMPLETED, 70, 0x974d },
	{ "UDP over IPv6", ETH UDP6("fa25"), CSUM_COMPLETED, 60, 0xb127 },
	{ "padding is not counted", ETH UDP4("1423") "ffffffffffffffffffff",
	  CSUM_COMPLETED, 40, 0x974c },
	{ "one tag", ETH "8100000a" UDP4("1423"), CSUM_COMPLETED, 44, 0x974c },
	{ "two tags", ETH "88a8000a" "81000014" TCP6, CSUM_COMPLETED, 78, 0x974d },
	{ "three tags are not looked behind", ETH "88a8000a" "81000014" "81000014" TCP6,
	  CSUM_NOT_L4, 82, 0xfa32 },
	{ "already complete", ETH UDP4("974c"), CSUM_WAS_COMPLETE, 40, 0x974c },
	{ "wrong, but not partial", ETH UDP4("1424"), CSUM_WAS_COMPLETE, 40, 0x1424 },
	{ "no checksum", ETH UDP4("0000"), CSUM_WAS_COMPLETE, 40, 0 },
	{ "no checksum over IPv6", ETH UDP6("0000"), CSUM_WAS_COMPLETE, 60, 0 },
	{ "inside VXLAN, outer without", ETH VXLAN_PLAIN("1433"), CSUM_COMPLETED, 100, 0xa1dc },
	{ "inside VXLAN, outer without, complete", ETH VXLAN_PLAIN("a1dc"),
	  CSUM_WAS_COMPLETE, 100, 0xa1dc },
	{ "inside VXLAN, outer complete", ETH VXLAN_CSUM("1633"), CSUM_COMPLETED, 100, 0xa643 },
	{ "inside Geneve", ETH IN_UDP("17c1", "0000655800000900", "1433"), CSUM_COMPLETED, 100, 0xa1dc },
	{ "inside Geneve of an unknown version", ETH IN_UDP("17c1", "4000655800000900", "1433"),
	  CSUM_WAS_COMPLETE, 100, 0x1433 },
	{ "inside Geneve of another protocol", ETH IN_UDP("17c1", "0000655900000900", "1433"),
	  CSUM_WAS_COMPLETE, 100, 0x1433 },
	{ "inside GRE", ETH IN_GRE("00006558"), CSUM_COMPLETED, 88, 0xa1dc },
	{ "inside GRE of version 1", ETH IN_GRE("00016558"), CSUM_NOT_L4, 88, 0x1433 },
	{ "IP packet longer than the UDP segment", ETH "0800"
	  "4500002892b64000401194110a0000010a000002" "9c400009000f" "1423" "7061727469616c"
	  "ffffffffff", CSUM_COMPLETED, 40, 0x974c },
	{ "eight extension headers", ETH UDP6_EXT("0050", "3c",
	  DSTOPTS DSTOPTS DSTOPTS DSTOPTS DSTOPTS DSTOPTS DSTOPTS "1100010400000000"),
	  CSUM_COMPLETED, 124, 0xb127 },
	{ "nine are not looked behind", ETH UDP6_EXT("0058", "3c",
	  DSTOPTS DSTOPTS DSTOPTS DSTOPTS DSTOPTS DSTOPTS DSTOPTS DSTOPTS "1100010400000000"),
	  CSUM_NOT_L4, 132, 0xfa25 },
	{ "ARP", ETH "0806" "0001080006040001" "020000000a010a000001" "0000000000000a000002",
	  CSUM_NOT_L4, 20, 0x0001 },
	{ "UDP that adds up to zero sends ffff", ETH "0800"
	  "4500001e00000000401166cd0a0000010a000002" "00010002000a" "141e" "ebd4",
	  CSUM_COMPLETED, 40, 0xffff },
	{ "the same in TCP sends zero", ETH "0800"
	  "4500002800000000400666ce0a0000010a000002" "0001000200000000000000005000ffff"
	  "141d" "9bdf",
	  CSUM_COMPLETED, 50, 0 },
};
/* clang-format on */

static void known_frames_get_the_checksum_that_belongs_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(known); i++) {
		uint32_t len, at = known[i].at;
		uint8_t *p = from_hex(known[i].hex, &len), *before = from_hex(known[i].hex, &len);
		enum csum_result res = csum_complete(p, len);

		if (res != known[i].want)
			fail_msg("%s: result %d", known[i].name, res);
		if (get16(p + at) != known[i].sum)
			fail_msg("%s: checksum %04x", known[i].name, get16(p + at));
		memcpy(before + at, p + at, 2);
		if (memcmp(p, before, len) != 0)
			fail_msg("%s: wrote elsewhere", known[i].name);
		free(p);
		free(before);
	}
}

/* Each copy ends where the frame does, so a sanitizer sees a read behind it. */
static void cut_frames_are_left_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(known); i++) {
		uint32_t len;
		uint8_t *whole = from_hex(known[i].hex, &len);

		/* Of a padded frame only a cut of the packet matters. */
		if (strstr(known[i].name, "padding"))
			len -= 10;
		for (uint32_t n = 0; n < len; n++) {
			uint8_t *p = malloc(n ? n : 1);
			enum csum_result res;

			assert_non_null(p);
			memcpy(p, whole, n);
			res = csum_complete(p, n);
			if (res != CSUM_MALFORMED && res != CSUM_NOT_L4)
				fail_msg("%s cut to %u: result %d", known[i].name, n, res);
			if (memcmp(p, whole, n) != 0)
				fail_msg("%s cut to %u: written", known[i].name, n);
			free(p);
		}
		free(whole);
	}
}

static void lengths_that_lie_are_malformed(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		const char *hex;
		uint32_t at;
		uint8_t value;
		enum csum_result want;
	} rows[] = {
		{ "IPv4 version 5",                 ETH TCP4, 14, 0x55, CSUM_MALFORMED },
		{ "IPv4 header of 16 bytes",        ETH TCP4, 14, 0x44, CSUM_MALFORMED },
		{ "IPv4 header longer than packet", ETH UDP4("1423"), 14, 0x4f, CSUM_MALFORMED },
		{ "IPv4 total above the frame",     ETH TCP4, 17, 0x3d, CSUM_MALFORMED },
		{ "IPv4 total below the header",    ETH TCP4, 17, 0x13, CSUM_MALFORMED },
		{ "IPv4 total cuts the TCP header", ETH TCP4, 17, 0x27, CSUM_MALFORMED },
		{ "IPv4 total cuts the UDP header", ETH UDP4("1423"), 17, 0x1b, CSUM_MALFORMED },
		{ "IPv4 more fragments",            ETH TCP4, 20, 0x20, CSUM_NOT_L4 },
		{ "IPv4 last fragment",             ETH TCP4, 21, 0x01, CSUM_NOT_L4 },
		{ "IPv4 SCTP",                      ETH TCP4, 23, 132, CSUM_NOT_L4 },
		{ "UDP length above the packet",    ETH UDP4("1423"), 39, 0x10, CSUM_MALFORMED },
		{ "UDP length below its header",    ETH UDP4("1423"), 39, 0x07, CSUM_MALFORMED },
		{ "IPv6 version 4",                 ETH TCP6, 14, 0x40, CSUM_MALFORMED },
		{ "IPv6 length above the frame",    ETH TCP6, 19, 0x29, CSUM_MALFORMED },
		{ "IPv6 length cuts TCP",           ETH TCP6, 19, 0x13, CSUM_MALFORMED },
		{ "IPv6 length 0",                  ETH TCP6, 19, 0x00, CSUM_MALFORMED },
		{ "IPv6 option header too long",    ETH TCP6, 20, 0, CSUM_MALFORMED },
		{ "IPv6 routing header too long",   ETH UDP6("fa25"), 20, 43, CSUM_MALFORMED },
		{ "ICMPv6",                         ETH TCP6, 20, 58, CSUM_NOT_L4 },
		{ "VXLAN without a VNI",            ETH VXLAN_PLAIN("1433"), 42, 0, CSUM_WAS_COMPLETE },
		{ "inner total above the frame",    ETH VXLAN_PLAIN("1433"), 67, 0x3d, CSUM_WAS_COMPLETE },
		{ "another UDP port",               ETH VXLAN_PLAIN("1433"), 37, 0, CSUM_WAS_COMPLETE },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		uint32_t len;
		uint8_t *p = from_hex(rows[i].hex, &len), *before = malloc(len);
		enum csum_result res;

		assert_non_null(before);
		p[rows[i].at] = rows[i].value;
		memcpy(before, p, len);
		res = csum_complete(p, len);
		if (res != rows[i].want)
			fail_msg("%s: result %d", rows[i].name, res);
		if (memcmp(p, before, len) != 0)
			fail_msg("%s: written", rows[i].name);
		free(p);
		free(before);
	}
}

static void sums_of_every_length_and_alignment_equal_the_reference(void **state)
{
	uint8_t buf[320], back[2];

	(void)state;
	rnd_state = 1;
	for (int fill = 0; fill < 3; fill++) {
		for (size_t i = 0; i < sizeof(buf); i++)
			buf[i] = fill == 2 ? (uint8_t)rnd(256) : (uint8_t)-fill;
		for (uint32_t at = 0; at < 8; at++) {
			for (uint32_t len = 0; len <= 300; len++) {
				uint16_t got = csum_fold_bytes(buf + at, len);

				memcpy(back, &got, 2);
				if (get16(back) != plain_add(0, buf + at, len))
					fail_msg("%u bytes at %u, fill %d", len, at, fill);
			}
		}
	}
}

enum field {
	FIELD_PARTIAL,
	FIELD_COMPLETE,
	FIELD_COMPLETE_LIKE_PARTIAL,
	FIELD_WRONG,
	FIELD_ZERO, /* UDP only */
	FIELD_N,
};

/* An IP packet and the segment in it. */
struct seg {
	uint32_t ip; /* where the IP header is */
	uint32_t at; /* where the segment is */
	uint8_t proto;
	bool v6;
	bool fragment;
	uint8_t addrs[32]; /* as the pseudo-header has them */
};

/* @in goes to the code, @want is what must come out. */
struct pkt {
	uint8_t in[BUF_SIZE];
	uint8_t want[BUF_SIZE];
	uint32_t len;
	struct seg seg[2]; /* the inner one last */
	uint32_t n_segs;
	bool looks_partial; /* some field equals its pseudo-header */
};

static uint8_t *put(struct pkt *k, uint32_t n)
{
	uint8_t *p = k->in + k->len;

	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)rnd(256);
	k->len += n;
	return p;
}

static void put_eth(struct pkt *k, bool v6)
{
	put(k, 12);
	for (uint32_t n = rnd(3); n; n--)
		set16(put(k, 4), rnd(2) ? 0x8100 : 0x88a8);
	set16(put(k, 2), v6 ? 0x86dd : 0x0800);
}

static void put_ipv4(struct pkt *k, struct seg *s)
{
	uint32_t opts = rnd(4) ? 0 : rnd(11) * 4;
	uint8_t *p = put(k, 20 + opts);

	p[0] = (uint8_t)(0x45 + opts / 4);
	if (s->fragment)
		set16(p + 6, rnd(2) ? 0x2000 : 1 + rnd(0x1fff));
	else
		set16(p + 6, rnd(2) << 14);
	p[9] = s->proto;
	memcpy(s->addrs, p + 12, 8);
}

static void put_routing(struct pkt *k, struct seg *s)
{
	uint32_t n = 1 + rnd(3);
	bool backwards = rnd(2);
	uint8_t *p = put(k, 8 + n * 16);

	p[1] = (uint8_t)(n * 2);
	p[2] = backwards ? 4 : (uint8_t)(rnd(2) * 2);
	p[3] = (uint8_t)rnd(3);
	if (p[3])
		memcpy(s->addrs + 16, p + 8 + (backwards ? 0 : (n - 1) * 16), 16);
}

/* An extension header of type @type; what follows it is written into it later. */
static void put_ext(struct pkt *k, struct seg *s, uint8_t type)
{
	if (type == 43) {
		put_routing(k, s);
	} else if (type == 44) {
		uint8_t *p = put(k, 8);

		if (s->fragment)
			set16(p + 2, rnd(2) ? 1 : (1 + rnd(0x1ffe)) << 3);
		else
			set16(p + 2, rnd(4) << 1);
	} else {
		uint32_t n = rnd(3);

		put(k, 8 + n * 8)[1] = (uint8_t)n;
	}
}

static void put_ipv6(struct pkt *k, struct seg *s)
{
	static const uint8_t order[] = { 0, 60, 43, 44, 60 };
	uint8_t *p = put(k, 40), *next = p + 6;

	p[0] = 0x60;
	memcpy(s->addrs, p + 8, 32);
	for (size_t i = 0; i < N_ELEM(order); i++) {
		if (rnd(6) && !(order[i] == 44 && s->fragment))
			continue;
		*next = order[i];
		next = k->in + k->len;
		put_ext(k, s, order[i]);
	}
	*next = s->proto;
}

static void put_ip(struct pkt *k, struct seg *s)
{
	s->ip = k->len;
	if (s->v6)
		put_ipv6(k, s);
	else
		put_ipv4(k, s);
	s->at = k->len;
}

/* An outer packet up to where the inner one starts. */
static void put_tunnel(struct pkt *k, const struct seg *inner)
{
	struct seg *s = &k->seg[k->n_segs++];
	static const uint8_t protos[] = { 17, 17, 17, 47, 4 };
	uint8_t *p;

	*s = (struct seg){ .proto = protos[rnd(N_ELEM(protos))], .v6 = rnd(2) };
	if (s->proto == 4 && inner->v6)
		s->proto = 41;
	put_eth(k, s->v6);
	put_ip(k, s);
	if (s->proto == 17 && rnd(2)) {
		set16(put(k, 8) + 2, 4789);
		put(k, 8)[0] = 8;
	} else if (s->proto == 17) {
		uint32_t opts = rnd(4);

		set16(put(k, 8) + 2, 6081);
		p = put(k, 8 + opts * 4);
		p[0] = (uint8_t)opts;
		set16(p + 2, 0x6558);
	} else if (s->proto == 47) {
		uint32_t c = rnd(2), key = rnd(2), seq = rnd(2);

		p = put(k, 4 + (c + key + seq) * 4);
		set16(p, c << 15 | key << 13 | seq << 12);
		set16(p + 2, 0x6558);
	} else {
		return;
	}
	put_eth(k, inner->v6);
}

static uint32_t pseudo_of(const struct seg *s, uint32_t len)
{
	uint8_t rest[4] = { 0, s->proto };

	set16(rest + 2, len);
	return plain_add(plain_add(0, s->addrs, s->v6 ? 32 : 8), rest, 4);
}

static uint32_t minus(uint32_t a, uint32_t b)
{
	uint8_t neg[2];

	set16(neg, ~b & 0xffff);
	return plain_add(a, neg, 2);
}

/* Writes the field of @s, for which every byte in the segment is final but the source port. */
static void end_segment(struct pkt *k, const struct seg *s, uint32_t end, enum field field)
{
	uint32_t len = end - s->at, at = s->at + (s->proto == 6 ? 16 : 6), pseudo, sum;

	pseudo = pseudo_of(s, len);
	set16(k->want + at, 0);
	if (field == FIELD_COMPLETE_LIKE_PARTIAL) {
		set16(k->want + s->at, 0);
		sum = plain_add(pseudo, k->want + s->at, len);
		set16(k->want + s->at, minus(~pseudo & 0xffff, sum));
		memcpy(k->in + s->at, k->want + s->at, 2);
	}
	sum = ~plain_add(pseudo, k->want + s->at, len) & 0xffff;
	if (!sum && s->proto == 17)
		sum = 0xffff;
	if (field == FIELD_WRONG)
		sum = pseudo ^ (1 + rnd(0xffff));
	else if (field == FIELD_ZERO)
		sum = 0;

	set16(k->want + at, sum);
	set16(k->in + at, field == FIELD_PARTIAL ? pseudo : sum);
	if (s->fragment)
		memcpy(k->want + at, k->in + at, 2);
	else if (get16(k->in + at) == pseudo)
		k->looks_partial = true;
}

static void end_packet(struct pkt *k)
{
	uint32_t end = k->len;

	for (uint32_t i = 0; i < k->n_segs; i++) {
		const struct seg *s = &k->seg[i];

		if (s->proto == 17)
			set16(k->in + s->at + 4, end - s->at);
		if (s->v6)
			set16(k->in + s->ip + 4, end - s->ip - 40);
		else
			set16(k->in + s->ip + 2, end - s->ip);
	}
	if (!rnd(4))
		put(k, rnd(20));
	memcpy(k->want, k->in, k->len);
	/* An outer checksum is made for an inner one that is finished. */
	for (uint32_t i = k->n_segs; i--;) {
		const struct seg *s = &k->seg[i];
		enum field f = (enum field)rnd(s->proto == 17 ? FIELD_N : FIELD_ZERO);

		if (s->proto == 6 || s->proto == 17)
			end_segment(k, s, end, f);
	}
}

static void make_packet(struct pkt *k)
{
	struct seg s = { .proto = rnd(2) ? 6 : 17, .v6 = rnd(2), .fragment = !rnd(12) };
	uint8_t *p;

	k->len = 0;
	k->n_segs = 0;
	k->looks_partial = false;
	if (rnd(4))
		put_eth(k, s.v6);
	else
		put_tunnel(k, &s);
	put_ip(k, &s);
	p = put(k, (s.proto == 6 ? 20 : 8) + (rnd(16) ? rnd(64) : rnd(1200)));
	set16(p + 2, 9);
	k->seg[k->n_segs++] = s;
	end_packet(k);
}

static enum csum_result want_result(const struct pkt *k)
{
	const struct seg *outer = &k->seg[0];

	if (k->looks_partial)
		return CSUM_COMPLETED;
	if (outer->fragment || (outer->proto != 6 && outer->proto != 17))
		return CSUM_NOT_L4;
	return CSUM_WAS_COMPLETE;
}

static void random_packets_equal_the_reference(void **state)
{
	const char *seed_env = getenv("CSUM_SEED"), *rounds_env = getenv("CSUM_ROUNDS");
	uint64_t seed = seed_env ? strtoull(seed_env, NULL, 16) : UINT64_C(0x9e3779b97f4a7c15);
	unsigned long rounds = rounds_env ? strtoul(rounds_env, NULL, 10) : 1000000;
	static struct pkt k;

	(void)state;
	rnd_state = seed | 1;
	for (unsigned long i = 0; i < rounds; i++) {
		enum csum_result res, want;

		make_packet(&k);
		want = want_result(&k);
		res = csum_complete(k.in, k.len);
		if (res == want && !memcmp(k.in, k.want, k.len))
			continue;
		fail_msg("packet %lu of seed %llx: result %d, want %d, bytes %s", i,
			 (unsigned long long)seed, res, want,
			 memcmp(k.in, k.want, k.len) ? "differ" : "equal");
	}
	print_message("%lu packets of seed %llx\n", rounds, (unsigned long long)seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_frames_get_the_checksum_that_belongs_there),
		cmocka_unit_test(cut_frames_are_left_alone),
		cmocka_unit_test(lengths_that_lie_are_malformed),
		cmocka_unit_test(sums_of_every_length_and_alignment_equal_the_reference),
		cmocka_unit_test(random_packets_equal_the_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
