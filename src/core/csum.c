/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/csum.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/frame.h"

#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define TYPE_ETH  0x6558 /* an Ethernet frame inside Geneve or GRE */

#define PROTO_HOPOPTS  0
#define PROTO_IPV4     4
#define PROTO_TCP      6
#define PROTO_UDP      17
#define PROTO_IPV6     41
#define PROTO_ROUTING  43
#define PROTO_FRAGMENT 44
#define PROTO_GRE      47
#define PROTO_DSTOPTS  60

#define PORT_VXLAN  4789
#define PORT_GENEVE 6081

#define IPV4_HDR_LEN  20
#define IPV6_HDR_LEN  40
#define IPV6_ADDR_LEN 16
#define TCP_HDR_LEN   20
#define UDP_HDR_LEN   8
#define TUN_HDR_LEN   8 /* VXLAN, and Geneve without options */

#define MAX_TAGS     2
#define MAX_EXT_HDRS 8

/* The transport part of an IP packet. */
struct l4 {
	uint8_t *p;
	uint32_t len;
	uint8_t proto;
	uint8_t *field;  /* where the checksum is; NULL if the protocol is not TCP or UDP */
	uint16_t pseudo; /* folded sum of the pseudo-header, memory order; if @field */
};

static uint16_t load16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t load_be16(const uint8_t *p)
{
	return be16toh(load16(p));
}

static uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Ones' complement addition: what is carried out at the top comes in at the bottom. */
static uint64_t add64(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

static uint16_t fold(uint64_t s)
{
	s = (s & 0xffffffff) + (s >> 32);
	s = (s & 0xffff) + (s >> 16 & 0xffff) + (s >> 32);
	s = (s & 0xffff) + (s >> 16);
	return (uint16_t)((s & 0xffff) + (s >> 16));
}

/* Four sums at a time, because one would wait for its own carry on every word. */
static uint64_t sum_bytes(const uint8_t *p, uint32_t len)
{
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (; len >= 32; p += 32, len -= 32) {
		a = add64(a, load64(p));
		b = add64(b, load64(p + 8));
		c = add64(c, load64(p + 16));
		d = add64(d, load64(p + 24));
	}
	for (; len >= 8; p += 8, len -= 8)
		a = add64(a, load64(p));
	if (len & 4) {
		b = add64(b, load32(p));
		p += 4;
	}
	if (len & 2) {
		c = add64(c, load16(p));
		p += 2;
	}
	if (len & 1)
		d = add64(d, htobe16((uint16_t)(*p << 8)));
	return add64(add64(a, b), add64(c, d));
}

uint16_t csum_fold_bytes(const uint8_t *data, uint32_t len)
{
	return fold(sum_bytes(data, len));
}

/*
 * Finds the checksum field and completes the pseudo-header, of which @addrs is
 * the sum of the addresses. Returns CSUM_WAS_COMPLETE for a TCP or UDP segment
 * that is all there.
 */
static enum csum_result locate_field(struct l4 *l, uint64_t addrs)
{
	uint32_t at;

	l->field = NULL;
	if (l->proto == PROTO_TCP) {
		if (l->len < TCP_HDR_LEN)
			return CSUM_MALFORMED;
		at = 16;
	} else if (l->proto == PROTO_UDP) {
		uint32_t n;

		if (l->len < UDP_HDR_LEN)
			return CSUM_MALFORMED;
		n = load_be16(l->p + 4);
		if (n < UDP_HDR_LEN || n > l->len)
			return CSUM_MALFORMED;
		l->len = n;
		at = 6;
	} else {
		return CSUM_NOT_L4;
	}
	/* The length fits into 16 bits, as that of the packet did. */
	l->field = l->p + at;
	l->pseudo = fold(add64(addrs, (uint64_t)htobe16((uint16_t)l->len) + htobe16(l->proto)));
	return CSUM_WAS_COMPLETE;
}

static enum csum_result locate_ipv4(uint8_t *p, uint32_t len, struct l4 *l)
{
	uint32_t hdr_len, total;

	if (len < IPV4_HDR_LEN || p[0] >> 4 != 4)
		return CSUM_MALFORMED;
	hdr_len = (p[0] & 0xfu) * 4;
	total = load_be16(p + 2);
	if (hdr_len < IPV4_HDR_LEN || total < hdr_len || total > len)
		return CSUM_MALFORMED;
	/* "More fragments", or an offset. */
	if (load_be16(p + 6) & 0x3fff)
		return CSUM_NOT_L4;

	l->p = p + hdr_len;
	l->len = total - hdr_len;
	l->proto = p[9];
	return locate_field(l, load64(p + 12));
}

/*
 * The address that the pseudo-header counts as the destination: with hops left
 * it is the last one of the routing header @h of @len bytes. NULL for a kind
 * of routing header that is not known, @dst when there are no hops left.
 */
static const uint8_t *final_dst(const uint8_t *h, uint32_t len, const uint8_t *dst)
{
	if (!h[3])
		return dst;
	if (len < 8 + IPV6_ADDR_LEN)
		return NULL;
	if (h[2] == 0 || h[2] == 2)
		return h + len - IPV6_ADDR_LEN;
	/* Segment routing lists the segments backwards. */
	return h[2] == 4 ? h + 8 : NULL;
}

/*
 * Steps over one extension header, which starts with eight bytes at least.
 * Returns its length, 0 if what follows cannot be completed.
 */
static uint32_t ext_len(const uint8_t *h, uint8_t proto, uint32_t len, const uint8_t **dst)
{
	uint32_t n = 8 + h[1] * 8u;

	if (proto == PROTO_FRAGMENT)
		return load_be16(h + 2) & 0xfff9 ? 0 : 8;
	if (proto == PROTO_ROUTING && n <= len) {
		*dst = final_dst(h, n, *dst);
		if (!*dst)
			return 0;
	}
	return n;
}

static bool is_ext(uint8_t proto)
{
	return proto == PROTO_HOPOPTS || proto == PROTO_ROUTING || proto == PROTO_FRAGMENT ||
	       proto == PROTO_DSTOPTS;
}

static enum csum_result locate_ipv6(uint8_t *p, uint32_t len, struct l4 *l)
{
	const uint8_t *src = p + 8, *dst = p + 24;
	uint64_t addrs;

	if (len < IPV6_HDR_LEN || p[0] >> 4 != 6)
		return CSUM_MALFORMED;
	l->proto = p[6];
	l->len = load_be16(p + 4);
	l->p = p + IPV6_HDR_LEN;
	if (l->len > len - IPV6_HDR_LEN)
		return CSUM_MALFORMED;

	for (int i = 0; is_ext(l->proto); i++) {
		uint32_t n;

		if (i == MAX_EXT_HDRS)
			return CSUM_NOT_L4;
		if (l->len < 8)
			return CSUM_MALFORMED;
		n = ext_len(l->p, l->proto, l->len, &dst);
		if (!n)
			return CSUM_NOT_L4;
		if (n > l->len)
			return CSUM_MALFORMED;
		l->proto = l->p[0];
		l->p += n;
		l->len -= n;
	}

	addrs = add64(add64(load64(src), load64(src + 8)), add64(load64(dst), load64(dst + 8)));
	return locate_field(l, addrs);
}

static enum csum_result locate_ip(uint8_t *p, uint32_t len, uint16_t type, struct l4 *l)
{
	if (type == TYPE_IPV4)
		return locate_ipv4(p, len, l);
	if (type == TYPE_IPV6)
		return locate_ipv6(p, len, l);
	return CSUM_NOT_L4;
}

static enum csum_result locate_eth(uint8_t *p, uint32_t len, struct l4 *l)
{
	uint32_t at = FRAME_HDR_LEN;
	uint16_t type;

	if (len < at)
		return CSUM_MALFORMED;
	type = load_be16(p + at - 2);
	for (int i = 0; i < MAX_TAGS && (type == FRAME_TPID_Q || type == FRAME_TPID_AD); i++) {
		at += FRAME_TAG_LEN;
		if (len < at)
			return CSUM_MALFORMED;
		type = load_be16(p + at - 2);
	}
	return locate_ip(p + at, len - at, type, l);
}

/* What is @hdr_len bytes into @o, if there are that many. */
static enum csum_result locate_payload(const struct l4 *o, uint32_t hdr_len, uint16_t type,
				       struct l4 *in)
{
	if (o->len < hdr_len)
		return CSUM_MALFORMED;
	if (type == TYPE_ETH)
		return locate_eth(o->p + hdr_len, o->len - hdr_len, in);
	return locate_ip(o->p + hdr_len, o->len - hdr_len, type, in);
}

static enum csum_result locate_in_udp(const struct l4 *o, struct l4 *in)
{
	uint16_t port = load_be16(o->p + 2);
	const uint8_t *h = o->p + UDP_HDR_LEN;

	if ((port != PORT_VXLAN && port != PORT_GENEVE) || o->len < UDP_HDR_LEN + TUN_HDR_LEN)
		return CSUM_NOT_L4;
	if (port == PORT_GENEVE) {
		if (h[0] >> 6)
			return CSUM_NOT_L4;
		return locate_payload(o, UDP_HDR_LEN + TUN_HDR_LEN + (h[0] & 0x3fu) * 4,
				      load_be16(h + 2), in);
	}
	/* Without this flag there is no valid VNI, so it is not VXLAN. */
	if (!(h[0] & 0x08))
		return CSUM_NOT_L4;
	return locate_payload(o, UDP_HDR_LEN + TUN_HDR_LEN, TYPE_ETH, in);
}

static enum csum_result locate_in_gre(const struct l4 *o, struct l4 *in)
{
	uint32_t hdr_len = 4;
	uint16_t flags;

	if (o->len < hdr_len)
		return CSUM_MALFORMED;
	flags = load_be16(o->p);
	/* A version, or the source routes that nobody sends. */
	if (flags & 0x4007)
		return CSUM_NOT_L4;
	/* Checksum, key and sequence number are of four bytes each. */
	hdr_len += (flags >> 15 & 1u) * 4 + (flags >> 13 & 1u) * 4 + (flags >> 12 & 1u) * 4;
	return locate_payload(o, hdr_len, load_be16(o->p + 2), in);
}

static enum csum_result locate_inner(const struct l4 *o, struct l4 *in)
{
	switch (o->proto) {
	case PROTO_UDP:
		return locate_in_udp(o, in);
	case PROTO_GRE:
		return locate_in_gre(o, in);
	case PROTO_IPV4:
		return locate_payload(o, 0, TYPE_IPV4, in);
	case PROTO_IPV6:
		return locate_payload(o, 0, TYPE_IPV6, in);
	default:
		return CSUM_NOT_L4;
	}
}

/* Only for a segment with a checksum field. */
static enum csum_result finish(const struct l4 *l)
{
	uint16_t sum;

	/* The sum of a pseudo-header is never 0, so a UDP checksum of 0 is left alone. */
	if (load16(l->field) != l->pseudo)
		return CSUM_WAS_COMPLETE;
	/* The field itself brings the pseudo-header into the sum. */
	sum = (uint16_t)~csum_fold_bytes(l->p, l->len);
	if (!sum && l->proto == PROTO_UDP)
		sum = 0xffff;
	memcpy(l->field, &sum, sizeof(sum));
	return CSUM_COMPLETED;
}

enum csum_result csum_complete(uint8_t *data, uint32_t len)
{
	enum csum_result res, inner_res = CSUM_NOT_L4;
	/* Until something else is found: a protocol that has nothing inside. */
	struct l4 l = { .proto = PROTO_TCP }, in;

	res = locate_eth(data, len, &l);
	if (res == CSUM_MALFORMED)
		return res;
	/*
	 * The inner one first: an outer checksum that is already finished was
	 * made for a finished inner one, so it must only be added up again
	 * (when it equals its pseudo-header by chance) over that.
	 */
	if (locate_inner(&l, &in) == CSUM_WAS_COMPLETE)
		inner_res = finish(&in);
	if (res == CSUM_WAS_COMPLETE)
		res = finish(&l);
	return inner_res == CSUM_COMPLETED ? inner_res : res;
}
