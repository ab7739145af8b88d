/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame: the Ethernet header of a frame in memory, and the one VLAN tag that a
 * bridge looks at.
 *
 * Only the outermost tag counts, and only when its TPID is the bridge's own
 * VLAN protocol. A tag of the other protocol, and every tag further in, is
 * payload: it is never read, changed or removed here.
 *
 * A struct frame describes bytes that the caller owns; it owns nothing itself.
 * The functions touch only [data - headroom, data + len). They keep the fields
 * in step with the bytes, so a frame is parsed once. No state, no allocation;
 * any thread, one at a time for each frame.
 */
#ifndef XB_CORE_FRAME_H
#define XB_CORE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_HDR_LEN    14 /* two addresses and the EtherType */
#define FRAME_TAG_LEN    4
#define FRAME_TAGGED_MIN 20 /* shortest frame that starts with a tag */

enum {
	FRAME_TPID_NONE = 0,    /* the bridge does not look at VLAN tags */
	FRAME_TPID_Q = 0x8100,  /* 802.1Q */
	FRAME_TPID_AD = 0x88a8, /* 802.1ad */
};

struct frame {
	uint8_t *data;      /* first byte of the destination address */
	uint32_t len;       /* bytes of the whole frame from @data on */
	uint32_t headroom;  /* bytes in front of @data that may be written */
	uint64_t dmac;      /* as mac_to_u64() gives it */
	uint64_t smac;      /* likewise */
	uint16_t ethertype; /* host order; what stands at offset 12, so a TPID in a tagged frame */
	uint16_t tci;       /* host order; of the bridge's tag, 0 without one */
	bool has_tag;       /* the frame starts with a tag of the bridge's protocol */
};

enum frame_class {
	FRAME_UNICAST,
	FRAME_MULTICAST,
	FRAME_BROADCAST,
};

/*
 * Describes the @len bytes at @data, in front of which @headroom bytes are
 * free. @tpid is the bridge's VLAN protocol, FRAME_TPID_NONE when it does not
 * filter VLANs.
 *
 * Returns 0, or -EBADMSG with *@f unchanged for a frame that the kernel drops
 * before its bridge sees it: one shorter than its header, or one that starts
 * with a tag, of either protocol and whatever @tpid is, and ends before the
 * two bytes behind the EtherType that follows the tag. Reads the frame only.
 */
int frame_parse(struct frame *f, uint8_t *data, uint32_t len, uint32_t headroom, uint16_t tpid);

/*
 * Puts a tag in front of all that the frame has. @data moves FRAME_TAG_LEN
 * bytes down; nothing behind the addresses is written.
 * Returns 0, or -ENOBUFS when the headroom is too small, with nothing changed.
 */
int frame_push_tag(struct frame *f, uint16_t tpid, uint16_t tci);

/*
 * Removes the bridge's tag; the frame must have one (@has_tag). @data moves
 * FRAME_TAG_LEN bytes up. What follows is payload from now on: @has_tag is
 * false even when the next tag is of the same protocol.
 */
void frame_pop_tag(struct frame *f);

/* Overwrites priority, DEI and VID of the bridge's tag; the frame must have one. */
void frame_set_tci(struct frame *f, uint16_t tci);

/*
 * The two forms in which a frame of VLAN @vid leaves a port of a bridge of
 * protocol @tpid. The first pushes a tag or rewrites the one that is there and
 * keeps priority and DEI; -ENOBUFS as frame_push_tag(). The second removes the
 * bridge's tag if there is one. Either may follow the other, but a frame that
 * was untagged has lost its priority.
 */
int frame_make_tagged(struct frame *f, uint16_t tpid, uint16_t vid);
void frame_make_untagged(struct frame *f);

/* VID of the bridge's tag; 0 for an untagged and for a priority-tagged frame. */
static inline uint16_t frame_vid(const struct frame *f)
{
	return f->tci & 0x0fff;
}

/* TCI of the frame in VLAN @vid: priority and DEI as received, 0 if it came untagged. */
static inline uint16_t frame_tagged_tci(const struct frame *f, uint16_t vid)
{
	return (uint16_t)((f->tci & 0xf000) | vid);
}

/* By the destination address alone. */
static inline enum frame_class frame_class(const struct frame *f)
{
	if (!(f->dmac >> 40 & 1))
		return FRAME_UNICAST;
	return f->dmac == 0xffffffffffff ? FRAME_BROADCAST : FRAME_MULTICAST;
}

/* False for a source that no station can have: a group address, or zero. */
static inline bool frame_source_valid(const struct frame *f)
{
	return f->smac && !(f->smac >> 40 & 1);
}

/* The destination is one of 01:80:c2:00:00:00 to 01:80:c2:00:00:0f. */
static inline bool frame_is_reserved(const struct frame *f)
{
	return f->dmac >> 4 == 0x0180c200000;
}

#endif
