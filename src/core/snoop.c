/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/snoop.h"

#define TYPE_IP4 0x0800
#define TYPE_IP6 0x86dd

#define IP4_MIN_LEN   20
#define IP4_TOTAL_LEN 2
#define IP4_PROTOCOL  9
#define IP4_SOURCE    12
#define IP4_GROUP     16
#define PROTOCOL_IGMP 2
#define PROTOCOL_PIM  103

#define IP6_LEN         40
#define IP6_PAYLOAD_LEN 4
#define IP6_NEXT        6
#define IP6_SOURCE      8
#define IP6_GROUP       24
#define NEXT_HOP_BY_HOP 0

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* The sum over a header is 0xffff when its checksum is right, in either byte order. */
static bool checksum_is_right(const uint8_t *p, uint32_t len)
{
	uint64_t sum = 0;
	uint32_t word;

	for (uint32_t i = 0; i < len; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		sum += word;
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* 224.0.0.0/24 is everybody's on the link. */
static bool is_local4(const uint8_t *group)
{
	return group[0] == 224 && !group[1] && !group[2];
}

static enum snoop_kind parse_ip4(const uint8_t *p, uint32_t len, struct snooped *out)
{
	uint32_t header_len, total_len;

	if (len < IP4_MIN_LEN || p[0] >> 4 != 4)
		return SNOOP_BAD;
	header_len = (p[0] & 0xfU) * 4;
	if (header_len < IP4_MIN_LEN || header_len > len || !checksum_is_right(p, header_len))
		return SNOOP_BAD;
	total_len = get16(p + IP4_TOTAL_LEN);
	if (total_len > len || total_len < header_len)
		return SNOOP_BAD;
	if (p[IP4_PROTOCOL] == PROTOCOL_IGMP || p[IP4_PROTOCOL] == PROTOCOL_PIM)
		return SNOOP_CONTROL;

	*out = (struct snooped){ .key.family = MDB_IP4, .routers_only = !is_local4(p + IP4_GROUP) };
	memcpy(out->key.group, p + IP4_GROUP, MDB_IP4_LEN);
	memcpy(out->key.source, p + IP4_SOURCE, MDB_IP4_LEN);
	return SNOOP_DATA;
}

static enum snoop_kind parse_ip6(const uint8_t *p, uint32_t len, struct snooped *out)
{
	static const uint8_t all_nodes[MDB_IP6_LEN] = { 0xff, 0x02, [MDB_IP6_LEN - 1] = 1 };
	uint32_t payload_len;

	if (len < IP6_LEN || p[0] >> 4 != 6)
		return SNOOP_BAD;
	payload_len = get16(p + IP6_PAYLOAD_LEN);
	if (!payload_len || payload_len > len - IP6_LEN)
		return SNOOP_BAD;
	if (p[IP6_NEXT] == NEXT_HOP_BY_HOP)
		return SNOOP_CONTROL;

	*out = (struct snooped){
		.key.family = MDB_IP6,
		.routers_only = memcmp(p + IP6_GROUP, all_nodes, sizeof(all_nodes)) != 0,
	};
	memcpy(out->key.group, p + IP6_GROUP, MDB_IP6_LEN);
	memcpy(out->key.source, p + IP6_SOURCE, MDB_IP6_LEN);
	return SNOOP_DATA;
}

enum snoop_kind snoop_parse(const struct frame *f, uint16_t tpid, struct snooped *out)
{
	bool has_tag =
		tpid ? f->has_tag : f->ethertype == FRAME_TPID_Q || f->ethertype == FRAME_TPID_AD;
	uint32_t skip = FRAME_HDR_LEN + (has_tag ? FRAME_TAG_LEN : 0);
	uint16_t type = get16(f->data + skip - 2);

	if (type == TYPE_IP4)
		return parse_ip4(f->data + skip, f->len - skip, out);
	if (type == TYPE_IP6)
		return parse_ip6(f->data + skip, f->len - skip, out);
	*out = (struct snooped){ .key.family = MDB_L2 };
	memcpy(out->key.group, f->data, MDB_L2_LEN);
	return SNOOP_DATA;
}
