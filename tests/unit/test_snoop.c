/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/snoop.h"

#define MAX_LEN 128

/* clang-format off */
#define MC    "01005e010101 020000000002 "
#define T4    "0800 "
#define T6    "86dd "
/* Total length 0x20; the sum is right. */
#define IP4   "45000020 00000000 0111bfca 0a000001 ef010101 "
#define IP6   "60000000 0008 1101 fe800000000000000000000000000001 ff050000000000000000000000000001 "

static const struct row {
	const char *name;
	const char *frame; /* hexadecimal, followed by zeros */
	uint32_t len;
	uint16_t tpid;
	enum snoop_kind kind;
	const char *key; /* as rig_mdb_key(), for data */
	bool routers_only;
} rows[] = {
	{ "IPv4",                      MC T4 IP4, 60, 0, SNOOP_DATA, "239.1.1.1/10.0.0.1", true },
	{ "no byte more than told",    MC T4 IP4, 46, 0, SNOOP_DATA, "239.1.1.1/10.0.0.1", true },
	{ "one byte less than told",   MC T4 IP4, 45, 0, SNOOP_BAD },
	{ "header cut off",            MC T4 IP4, 33, 0, SNOOP_BAD },
	{ "nothing behind the type",   MC T4, 14, 0, SNOOP_BAD },
	{ "header alone", MC T4 "45000014 00000000 0111bfd6 0a000001 ef010101", 34, 0, SNOOP_DATA,
	  "239.1.1.1/10.0.0.1", true },
	{ "told less than the header", MC T4 "45000013 00000000 0111bfd7 0a000001 ef010101", 60, 0, SNOOP_BAD },
	{ "version",   MC T4 "55000020 00000000 0111afca 0a000001 ef010101", 60, 0, SNOOP_BAD },
	{ "header of four words", MC T4 "44000020 00000000 0111c0ca 0a000001 ef010101", 60, 0, SNOOP_BAD },
	{ "header with options", MC T4 "46000020 00000000 01112ac6 0a000001 ef010101 94040000", 60, 0,
	  SNOOP_DATA, "239.1.1.1/10.0.0.1", true },
	{ "options cut off", MC T4 "46000014 00000000 01112ad2 0a000001 ef010101 94040000", 37, 0, SNOOP_BAD },
	{ "checksum",  MC T4 "45000020 00000000 0111bfcb 0a000001 ef010101", 60, 0, SNOOP_BAD },
	{ "link-local group", MC T4 "45000020 00000000 0111cfc7 0a000001 e0000005", 60, 0, SNOOP_DATA,
	  "224.0.0.5/10.0.0.1", false },
	{ "group beside them", MC T4 "45000020 00000000 0111cec7 0a000001 e0000105", 60, 0, SNOOP_DATA,
	  "224.0.1.5/10.0.0.1", true },
	{ "IPv4 unicast", MC T4 "45000020 00000000 0111a5cc 0a000001 0a000001", 60, 0, SNOOP_DATA,
	  "10.0.0.1/10.0.0.1", true },
	{ "IGMP",      MC T4 "45000020 00000000 0102bfd9 0a000001 ef010101", 60, 0, SNOOP_CONTROL },
	{ "PIM",       MC T4 "45000020 00000000 0167bf74 0a000001 ef010101", 60, 0, SNOOP_CONTROL },

	{ "IPv6",                      MC T6 IP6, 62, 0, SNOOP_DATA, "ff05::1/fe80::1", true },
	{ "IPv6, padded",              MC T6 IP6, 90, 0, SNOOP_DATA, "ff05::1/fe80::1", true },
	{ "IPv6, payload cut off",     MC T6 IP6, 61, 0, SNOOP_BAD },
	{ "IPv6, header cut off",      MC T6 IP6, 53, 0, SNOOP_BAD },
	{ "IPv6, no payload", MC T6 "60000000 0000 1101 fe800000000000000000000000000001 "
	  "ff050000000000000000000000000001", 90, 0, SNOOP_BAD },
	{ "IPv6, version", MC T6 "50000000 0008 1101 fe800000000000000000000000000001 "
	  "ff050000000000000000000000000001", 90, 0, SNOOP_BAD },
	{ "all nodes", MC T6 "60000000 0008 1101 fe800000000000000000000000000001 "
	  "ff020000000000000000000000000001", 90, 0, SNOOP_DATA, "ff02::1/fe80::1", false },
	{ "all routers", MC T6 "60000000 0008 1101 fe800000000000000000000000000001 "
	  "ff020000000000000000000000000002", 90, 0, SNOOP_DATA, "ff02::2/fe80::1", true },
	{ "hop-by-hop header", MC T6 "60000000 0008 0001 fe800000000000000000000000000001 "
	  "ff050000000000000000000000000001", 90, 0, SNOOP_CONTROL },

	{ "no IP",     MC "88b5", 60, 0, SNOOP_DATA, "1:0:5e:1:1:1", false },
	{ "802.3",     MC "0026", 60, 0, SNOOP_DATA, "1:0:5e:1:1:1", false },
	{ "ARP",       MC "0806", 60, 0, SNOOP_DATA, "1:0:5e:1:1:1", false },
	{ "tag",       MC "8100 0005" T4 IP4, 64, 0, SNOOP_DATA, "239.1.1.1/10.0.0.1", true },
	{ "tag of the other protocol", MC "88a8 0005" T4 IP4, 64, 0, SNOOP_DATA, "239.1.1.1/10.0.0.1", true },
	{ "two tags",  MC "8100 0005 8100 0006" T4 IP4, 64, 0, SNOOP_DATA, "1:0:5e:1:1:1", false },
	{ "tag cuts the packet off",   MC "8100 0005" T4 IP4, 49, 0, SNOOP_BAD },
	{ "filtering, no tag",         MC T4 IP4, 60, 0x8100, SNOOP_DATA, "239.1.1.1/10.0.0.1", true },
	{ "filtering, tag",  MC "8100 0005" T4 IP4, 64, 0x8100, SNOOP_DATA, "239.1.1.1/10.0.0.1", true },
	{ "filtering, tag of the other protocol", MC "88a8 0005" T4 IP4, 64, 0x8100, SNOOP_DATA,
	  "1:0:5e:1:1:1", false },
	{ "filtering 802.1ad", MC "88a8 0005" T6 IP6, 66, 0x88a8, SNOOP_DATA, "ff05::1/fe80::1", true },
	{ "shortest with a tag",       MC "8100 0005 88b5", 20, 0x8100, SNOOP_DATA, "1:0:5e:1:1:1", false },
};
/* clang-format on */

static void hex(const char *text, uint8_t *to)
{
	unsigned int byte;

	for (; *text; text += 2) {
		text += strspn(text, " ");
		if (!*text)
			return;
		assert_int_equal(sscanf(text, "%2x", &byte), 1);
		*to++ = (uint8_t)byte;
	}
}

/* Of exactly @len bytes, so that reading behind them is found. */
static enum snoop_kind parse(const uint8_t *bytes, uint32_t len, uint16_t tpid, struct snooped *out)
{
	uint8_t *copy = malloc(len);
	enum snoop_kind kind = SNOOP_BAD;
	struct frame f;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	if (!frame_parse(&f, copy, len, 0, tpid))
		kind = snoop_parse(&f, tpid, out);
	free(copy);
	return kind;
}

static void the_header_decides_what_a_frame_is_looked_up_by(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		const struct row *r = &rows[i];
		uint8_t bytes[MAX_LEN] = { 0 };
		enum snoop_kind kind;
		struct mdb_key want;
		struct snooped m;

		hex(r->frame, bytes);
		kind = parse(bytes, r->len, r->tpid, &m);
		if (kind != r->kind)
			fail_msg("%s: kind %d, want %d", r->name, kind, r->kind);
		if (kind != SNOOP_DATA)
			continue;
		want = rig_mdb_key(r->key, 0);
		/* An Ethernet group has no source to look at. */
		if (!mdb_key_equal(&m.key, &want) || m.routers_only != r->routers_only)
			fail_msg("%s: family %u, routers_only %d", r->name, m.key.family,
				 m.routers_only);
	}
}

static void no_byte_behind_the_frame_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		uint8_t bytes[MAX_LEN] = { 0 };
		struct snooped m;

		hex(rows[i].frame, bytes);
		for (uint32_t len = FRAME_HDR_LEN; len <= rows[i].len; len++)
			parse(bytes, len, rows[i].tpid, &m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_decides_what_a_frame_is_looked_up_by),
		cmocka_unit_test(no_byte_behind_the_frame_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
