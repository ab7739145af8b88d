/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/frame.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#define ADDRS_LEN    12
#define TYPE_OFFSET  12
#define TCI_OFFSET   14
#define MAC_U64_MASK ((UINT64_C(1) << 48) - 1)

static uint16_t load_be16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static uint64_t load_be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static void store_be16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

int frame_parse(struct frame *f, uint8_t *data, uint32_t len, uint32_t headroom, uint16_t tpid)
{
	uint16_t type, tci = 0;
	bool has_tag;

	if (len < FRAME_HDR_LEN)
		return -EBADMSG;
	type = load_be16(data + TYPE_OFFSET);
	if (len < FRAME_TAGGED_MIN && (type == FRAME_TPID_Q || type == FRAME_TPID_AD))
		return -EBADMSG;
	has_tag = tpid && type == tpid;
	if (has_tag)
		tci = load_be16(data + TCI_OFFSET);

	f->data = data;
	f->len = len;
	f->headroom = headroom;
	/* Eight bytes from 0 and from 4 stay inside the header and hold one address each. */
	f->dmac = load_be64(data) >> 16;
	f->smac = load_be64(data + 4) & MAC_U64_MASK;
	f->ethertype = type;
	f->tci = tci;
	f->has_tag = has_tag;
	return 0;
}

int frame_push_tag(struct frame *f, uint16_t tpid, uint16_t tci)
{
	if (f->headroom < FRAME_TAG_LEN)
		return -ENOBUFS;

	f->data -= FRAME_TAG_LEN;
	f->headroom -= FRAME_TAG_LEN;
	f->len += FRAME_TAG_LEN;
	memmove(f->data, f->data + FRAME_TAG_LEN, ADDRS_LEN);
	store_be16(f->data + TYPE_OFFSET, tpid);
	store_be16(f->data + TCI_OFFSET, tci);
	f->ethertype = tpid;
	f->tci = tci;
	f->has_tag = true;
	return 0;
}

void frame_pop_tag(struct frame *f)
{
	assert(f->has_tag);

	memmove(f->data + FRAME_TAG_LEN, f->data, ADDRS_LEN);
	f->data += FRAME_TAG_LEN;
	f->headroom += FRAME_TAG_LEN;
	f->len -= FRAME_TAG_LEN;
	f->ethertype = load_be16(f->data + TYPE_OFFSET);
	f->tci = 0;
	f->has_tag = false;
}

void frame_set_tci(struct frame *f, uint16_t tci)
{
	assert(f->has_tag);

	store_be16(f->data + TCI_OFFSET, tci);
	f->tci = tci;
}

int frame_make_tagged(struct frame *f, uint16_t tpid, uint16_t vid)
{
	uint16_t tci = frame_tagged_tci(f, vid);

	if (!f->has_tag)
		return frame_push_tag(f, tpid, tci);
	/* The common case is a tag that is right: do not dirty the cache line. */
	if (tci != f->tci)
		frame_set_tci(f, tci);
	return 0;
}

void frame_make_untagged(struct frame *f)
{
	if (f->has_tag)
		frame_pop_tag(f);
}
