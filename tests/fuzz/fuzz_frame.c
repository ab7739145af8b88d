/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame: one byte chooses the protocol, one the headroom, two are a TCI; the
 * rest is the frame. The buffer is headroom and frame and no more.
 */
#include <stdbool.h>
#include <string.h>

#include "core/frame.h"
#include "fuzz.h"

static const uint16_t tpids[] = { FRAME_TPID_NONE, FRAME_TPID_Q, FRAME_TPID_AD };

/* The fields say what the bytes say. */
static void check_parsed(const struct frame *f, uint16_t tpid)
{
	struct frame again;

	/* A frame of 14 or 15 bytes that was given a tag is sent, but would not be taken. */
	if (f->has_tag && f->len < FRAME_TAGGED_MIN)
		return;
	FUZZ_CHECK(!frame_parse(&again, f->data, f->len, f->headroom, tpid));
	FUZZ_CHECK(again.dmac == f->dmac && again.smac == f->smac);
	FUZZ_CHECK(again.ethertype == f->ethertype);
	/* Behind a tag that was popped there may be another, which does not count. */
	FUZZ_CHECK(!f->has_tag || (again.has_tag && again.tci == f->tci));
	FUZZ_CHECK(f->has_tag || !f->tci);
	FUZZ_CHECK(f->dmac < UINT64_C(1) << 48 && f->smac < UINT64_C(1) << 48);
}

static void check_forms(struct frame *f, uint16_t tpid, uint16_t tci)
{
	const uint8_t *end = f->data + f->len, *base = f->data - f->headroom;
	uint16_t vid = tci & 0xfff, prio = f->tci & 0xf000;
	bool has_room = f->has_tag || f->headroom >= FRAME_TAG_LEN;
	uint32_t payload_len =
		f->len - (f->has_tag ? FRAME_HDR_LEN + FRAME_TAG_LEN : FRAME_HDR_LEN);

	FUZZ_CHECK(!frame_make_tagged(f, tpid, vid) == has_room);
	if (has_room) {
		FUZZ_CHECK(f->has_tag && frame_vid(f) == vid && (f->tci & 0xf000) == prio);
		FUZZ_CHECK(f->len == payload_len + FRAME_HDR_LEN + FRAME_TAG_LEN);
		frame_set_tci(f, tci);
		check_parsed(f, tpid);
	}
	frame_make_untagged(f);
	FUZZ_CHECK(!f->has_tag && f->len == payload_len + FRAME_HDR_LEN);
	FUZZ_CHECK(f->data + f->len == end && f->data - f->headroom == base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint16_t tpid, tci;
	uint32_t headroom, len;
	struct frame f;
	uint8_t *buf;

	if (size < 4)
		return 0;
	tpid = tpids[data[0] % 3];
	headroom = data[1] % 16;
	tci = (uint16_t)(data[2] << 8 | data[3]);
	len = (uint32_t)size - 4;
	buf = malloc(headroom + len + 1);
	FUZZ_CHECK(buf);
	/* Up to the end of the allocation; the byte in front keeps it from being empty. */
	memset(buf, 0, headroom + 1);
	memcpy(buf + 1 + headroom, data + 4, len);

	if (!frame_parse(&f, buf + 1 + headroom, len, headroom, tpid)) {
		check_parsed(&f, tpid);
		FUZZ_CHECK(!frame_is_reserved(&f) || frame_class(&f) == FRAME_MULTICAST);
		if (tpid)
			check_forms(&f, tpid, tci);
		else
			FUZZ_CHECK(!f.has_tag);
		FUZZ_CHECK(!buf[0]);
	}
	free(buf);
	return 0;
}
