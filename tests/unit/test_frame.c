/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "core/frame.h"
#include "util/mac.h"

#define Q    FRAME_TPID_Q
#define AD   FRAME_TPID_AD
#define NONE FRAME_TPID_NONE

#define ROOM     8
#define BUF_SIZE 96
#define PAYLOAD  20

#define DST 0x02000000cc99
#define SRC 0x02000000aa01

struct tag {
	uint16_t tpid;
	uint16_t tci;
};

static size_t put_be16(uint8_t *p, size_t at, uint16_t v)
{
	p[at] = (uint8_t)(v >> 8);
	p[at + 1] = (uint8_t)v;
	return at + 2;
}

/* A frame with up to three tags (tpid 0 ends them), EtherType 0x88b5 and a counting payload. */
static uint32_t build(uint8_t *p, const struct tag *tags)
{
	struct mac d = mac_from_u64(DST), s = mac_from_u64(SRC);
	size_t at = 12;

	memcpy(p, d.b, MAC_LEN);
	memcpy(p + MAC_LEN, s.b, MAC_LEN);
	for (int i = 0; i < 3 && tags[i].tpid; i++) {
		at = put_be16(p, at, tags[i].tpid);
		at = put_be16(p, at, tags[i].tci);
	}
	at = put_be16(p, at, 0x88b5);
	for (uint8_t i = 0; i < PAYLOAD; i++)
		p[at++] = (uint8_t)(0xc0 + i);
	return (uint32_t)at;
}

/* The fields of @f say what is in its bytes, and the bytes are those of @tags. */
static void assert_frame(const char *name, const struct frame *f, const struct tag *tags)
{
	uint8_t want[BUF_SIZE];
	uint32_t len = build(want, tags);

	if (f->len != len || memcmp(f->data, want, len) != 0)
		fail_msg("%s: other bytes came out", name);
	if (f->dmac != DST || f->smac != SRC)
		fail_msg("%s: addresses lost", name);
	if (f->ethertype != (tags[0].tpid ? tags[0].tpid : 0x88b5))
		fail_msg("%s: EtherType %04x", name, f->ethertype);
}

/* clang-format off */
static const struct {
	const char *name;
	uint16_t tpid;
	struct tag in[3];
	bool has_tag;
	uint16_t tci;
	uint16_t vid;           /* VLAN that ingress gives the frame */
	struct tag tagged[3];   /* as it leaves a tagged port */
	struct tag untagged[3]; /* as it leaves an untagged port */
} forms[] = {
	{ "untagged takes the PVID", Q, {{0}}, false, 0, 10, {{Q, 10}}, {{0}} },
	{ "tagged stays", Q, {{Q, 20}}, true, 20, 20, {{Q, 20}}, {{0}} },
	{ "priority and DEI of a tag stay", Q, {{Q, 0x700a}}, true, 0x700a, 10, {{Q, 0x700a}}, {{0}} },
	{ "priority tag takes the PVID and keeps priority and DEI", Q,
	  {{Q, 0xb000}}, true, 0xb000, 10, {{Q, 0xb00a}}, {{0}} },
	{ "outer tag counts, inner stays", Q, {{Q, 10}, {Q, 20}}, true, 10, 10,
	  {{Q, 10}, {Q, 20}}, {{Q, 20}} },
	{ "inner tag of the other protocol stays", Q, {{Q, 10}, {AD, 30}}, true, 10, 10,
	  {{Q, 10}, {AD, 30}}, {{AD, 30}} },
	{ "tag of the other protocol is payload", Q, {{AD, 10}, {Q, 20}}, false, 0, 10,
	  {{Q, 10}, {AD, 10}, {Q, 20}}, {{AD, 10}, {Q, 20}} },
	{ "priority of the other protocol's tag is not copied", Q, {{AD, 0xf00a}}, false, 0, 10,
	  {{Q, 10}, {AD, 0xf00a}}, {{AD, 0xf00a}} },
	{ "802.1ad: untagged", AD, {{0}}, false, 0, 10, {{AD, 10}}, {{0}} },
	{ "802.1ad: priority tag", AD, {{AD, 0x8000}}, true, 0x8000, 10, {{AD, 0x800a}}, {{0}} },
	{ "802.1ad: 802.1Q priority tag is payload", AD, {{Q, 0xa000}}, false, 0, 10,
	  {{AD, 10}, {Q, 0xa000}}, {{Q, 0xa000}} },
	{ "802.1ad: two tags", AD, {{AD, 10}, {Q, 20}}, true, 10, 10,
	  {{AD, 10}, {Q, 20}}, {{Q, 20}} },
	{ "802.1ad: two 802.1Q tags", AD, {{Q, 10}, {Q, 20}}, false, 0, 10,
	  {{AD, 10}, {Q, 10}, {Q, 20}}, {{Q, 10}, {Q, 20}} },
	{ "VID 4094", Q, {{Q, 0xffff}}, true, 0xffff, 4094, {{Q, 0xfffe}}, {{0}} },
};
/* clang-format on */

static void both_egress_forms_equal_the_kernel_s(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(forms); i++) {
		for (int untagged = 0; untagged < 2; untagged++) {
			uint8_t buf[BUF_SIZE];
			const char *name = forms[i].name;
			struct frame f;
			uint32_t len = build(buf + ROOM, forms[i].in);

			if (frame_parse(&f, buf + ROOM, len, ROOM, forms[i].tpid))
				fail_msg("%s: not parsed", name);
			if (f.has_tag != forms[i].has_tag || f.tci != forms[i].tci)
				fail_msg("%s: tag %d, TCI %04x", name, f.has_tag, f.tci);
			assert_frame(name, &f, forms[i].in);
			if (untagged)
				frame_make_untagged(&f);
			else if (frame_make_tagged(&f, forms[i].tpid, forms[i].vid))
				fail_msg("%s: no room", name);
			assert_frame(name, &f, untagged ? forms[i].untagged : forms[i].tagged);
			if (f.has_tag == (bool)untagged || f.data - f.headroom != buf)
				fail_msg("%s: flag or headroom is wrong", name);
			if (!untagged && frame_vid(&f) != forms[i].vid)
				fail_msg("%s: VID %u", name, frame_vid(&f));
		}
	}
}

static void one_form_follows_the_other(void **state)
{
	for (size_t i = 0; i < N_ELEM(forms); i++) {
		uint8_t buf[BUF_SIZE];
		struct frame f;
		uint32_t len = build(buf + ROOM, forms[i].in);

		(void)state;
		assert_int_equal(frame_parse(&f, buf + ROOM, len, ROOM, forms[i].tpid), 0);
		assert_int_equal(frame_make_tagged(&f, forms[i].tpid, forms[i].vid), 0);
		frame_make_untagged(&f);
		assert_frame(forms[i].name, &f, forms[i].untagged);
		frame_make_untagged(&f);
		assert_frame(forms[i].name, &f, forms[i].untagged);
		assert_int_equal(frame_make_tagged(&f, forms[i].tpid, forms[i].vid), 0);
		assert_int_equal(f.tci, forms[i].vid);
		assert_ptr_equal(f.data - f.headroom, buf);
	}
}

static void without_vlan_filtering_tags_are_payload(void **state)
{
	static const struct tag tags[3] = { { Q, 0xa00a }, { AD, 3 } };
	uint8_t buf[BUF_SIZE];
	struct frame f;
	uint32_t len = build(buf, tags);

	(void)state;
	assert_int_equal(frame_parse(&f, buf, len, 0, NONE), 0);
	assert_false(f.has_tag);
	assert_int_equal(f.tci, 0);
	assert_frame("unaware", &f, tags);
	frame_make_untagged(&f);
	assert_frame("unaware", &f, tags);

	/* A frame of zeroes has "EtherType" 0, which is no protocol of ours. */
	memset(buf, 0, sizeof(buf));
	assert_int_equal(frame_parse(&f, buf, 60, 0, NONE), 0);
	assert_false(f.has_tag);
}

static void cut_frames_are_refused(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		struct tag in[3];
		uint16_t tpid;
		uint32_t len;
		int want;
	} rows[] = {
		{ "nothing",                   {{0}},     NONE,  0, -EBADMSG },
		{ "13 bytes",                  {{0}},     Q,    13, -EBADMSG },
		{ "14 bytes",                  {{0}},     Q,    14, 0 },
		{ "tag without TCI",           {{Q, 1}},  Q,    14, -EBADMSG },
		{ "tag without EtherType",     {{Q, 1}},  Q,    17, -EBADMSG },
		{ "tag without payload",       {{Q, 1}},  Q,    18, -EBADMSG },
		{ "tag with one byte",         {{Q, 1}},  Q,    19, -EBADMSG },
		{ "tag with two bytes",        {{Q, 1}},  Q,    20, 0 },
		{ "802.1ad, one byte",         {{AD, 1}}, AD,   19, -EBADMSG },
		{ "802.1ad, two bytes",        {{AD, 1}}, AD,   20, 0 },
		{ "other protocol, one byte",  {{AD, 1}}, Q,    19, -EBADMSG },
		{ "other protocol, two bytes", {{AD, 1}}, Q,    20, 0 },
		{ "unaware, one byte",         {{Q, 1}},  NONE, 19, -EBADMSG },
		{ "unaware, two bytes",        {{Q, 1}},  NONE, 20, 0 },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		uint8_t buf[BUF_SIZE];
		struct frame f, before;
		int err;

		memset(&f, 0x5a, sizeof(f));
		before = f;
		build(buf, rows[i].in);
		err = frame_parse(&f, buf, rows[i].len, 3, rows[i].tpid);
		if (err != rows[i].want)
			fail_msg("%s: %d", rows[i].name, err);
		if (err && memcmp(&f, &before, sizeof(f)) != 0)
			fail_msg("%s: output was touched", rows[i].name);
		if (!err && (f.data != buf || f.len != rows[i].len || f.headroom != 3))
			fail_msg("%s: other bounds", rows[i].name);
	}
}

static void push_needs_four_bytes_of_headroom(void **state)
{
	static const struct tag none[3] = { { 0 } }, one[3] = { { Q, 0x300a } };
	uint8_t buf[BUF_SIZE], before[BUF_SIZE];
	struct frame f;
	uint32_t len;

	(void)state;
	memset(buf, 0x11, sizeof(buf));
	len = build(buf + ROOM, none);
	memcpy(before, buf, sizeof(buf));
	assert_int_equal(frame_parse(&f, buf + ROOM, len, 3, Q), 0);
	assert_int_equal(frame_push_tag(&f, Q, 10), -ENOBUFS);
	assert_int_equal(frame_make_tagged(&f, Q, 10), -ENOBUFS);
	assert_memory_equal(buf, before, sizeof(buf));
	assert_frame("no room", &f, none);
	assert_int_equal(f.headroom, 3);
	assert_false(f.has_tag);

	f.headroom = 4;
	assert_int_equal(frame_push_tag(&f, Q, 0x300a), 0);
	assert_frame("room", &f, one);
	assert_int_equal(f.headroom, 0);
	/* Four bytes of headroom were given, so those below them are not ours. */
	assert_memory_equal(buf, before, ROOM - 4);
	/* A tag that is already there needs no room. */
	assert_int_equal(frame_make_tagged(&f, Q, 20), 0);
	assert_int_equal(f.tci, 0x3014);
	assert_int_equal(frame_push_tag(&f, Q, 1), -ENOBUFS);
}

static void set_tci_rewrites_two_bytes(void **state)
{
	static const struct tag in[3] = { { AD, 0xf00a }, { Q, 20 } };
	static const struct tag want[3] = { { AD, 0x2014 }, { Q, 20 } };
	uint8_t buf[BUF_SIZE];
	struct frame f;
	uint32_t len = build(buf, in);

	(void)state;
	assert_int_equal(frame_parse(&f, buf, len, 0, AD), 0);
	frame_set_tci(&f, 0x2014);
	assert_frame("set", &f, want);
	assert_int_equal(f.tci, 0x2014);
	assert_ptr_equal(f.data, buf);
}

static void addresses_are_classified(void **state)
{
	/* clang-format off */
	static const struct {
		uint64_t mac;
		enum frame_class class;
		bool source_valid;
		bool reserved;
	} rows[] = {
		{ 0x000000000000, FRAME_UNICAST,   false, false },
		{ 0x020000000001, FRAME_UNICAST,   true,  false },
		{ 0xfeffffffffff, FRAME_UNICAST,   true,  false },
		{ 0x000000000100, FRAME_UNICAST,   true,  false },
		{ 0x010000000000, FRAME_MULTICAST, false, false },
		{ 0x01005e010203, FRAME_MULTICAST, false, false },
		{ 0xfffffffffffe, FRAME_MULTICAST, false, false },
		{ 0xffffffffffff, FRAME_BROADCAST, false, false },
		{ 0x0180c1ffffff, FRAME_MULTICAST, false, false },
		{ 0x0180c2000000, FRAME_MULTICAST, false, true },
		{ 0x0180c200000f, FRAME_MULTICAST, false, true },
		{ 0x0180c2000010, FRAME_MULTICAST, false, false },
		{ 0x0080c2000000, FRAME_UNICAST,   true,  false },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct mac m = mac_from_u64(rows[i].mac);
		uint8_t buf[FRAME_HDR_LEN] = { 0 };
		struct frame f;

		memcpy(buf, m.b, MAC_LEN);
		memcpy(buf + MAC_LEN, m.b, MAC_LEN);
		assert_int_equal(frame_parse(&f, buf, sizeof(buf), 0, Q), 0);
		if (f.dmac != rows[i].mac || f.smac != rows[i].mac)
			fail_msg("row %zu: address misread", i);
		if (frame_class(&f) != rows[i].class)
			fail_msg("row %zu: class %d", i, frame_class(&f));
		if (frame_source_valid(&f) != rows[i].source_valid)
			fail_msg("row %zu: source", i);
		if (frame_is_reserved(&f) != rows[i].reserved)
			fail_msg("row %zu: reserved", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_egress_forms_equal_the_kernel_s),
		cmocka_unit_test(one_form_follows_the_other),
		cmocka_unit_test(without_vlan_filtering_tags_are_payload),
		cmocka_unit_test(cut_frames_are_refused),
		cmocka_unit_test(push_needs_four_bytes_of_headroom),
		cmocka_unit_test(set_tci_rewrites_two_bytes),
		cmocka_unit_test(addresses_are_classified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
