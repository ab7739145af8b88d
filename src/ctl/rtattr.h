/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtattr: reads a run of netlink attributes into a struct by a table, indexed by
 * attribute type, that says of each attribute what it must look like and where
 * its value goes. Attributes that the table does not name are skipped. No state,
 * any thread.
 */
#ifndef XB_CTL_RTATTR_H
#define XB_CTL_RTATTR_H

#include <stddef.h>
#include <stdint.h>

struct nlattr;

#define RTATTR_MAX_NESTS 4

enum rtattr_kind {
	RTATTR_SKIP,   /* not read */
	RTATTR_RAW,    /* exactly the field's size, host order */
	RTATTR_FLAG,   /* u8: sets `bit` in out->flags when not 0 */
	RTATTR_BOOL,   /* u8, into a bool */
	RTATTR_STATE,  /* u8: 0..4 */
	RTATTR_VID,    /* u16: 1..4094 */
	RTATTR_PVID,   /* u16: 0..4094 */
	RTATTR_TPID,   /* u16 in network order: 0x8100 or 0x88a8 */
	RTATTR_TICKS,  /* u32 of 1/100 s, into a uint64_t of nanoseconds */
	RTATTR_LTICKS, /* the same as a u64; as long as can be told if that is too long */
	RTATTR_HWADDR, /* up to 32 bytes; taken when there are six, otherwise as if absent */
	RTATTR_NAME,   /* string that fits into the field */
	RTATTR_TEXT,   /* string, cut to the field's size */
	RTATTR_MARK,   /* nothing but its presence */
	RTATTR_NEST,   /* attributes: out->nest[off]; at most once */
};

struct rtattr_rule {
	enum rtattr_kind kind;
	uint32_t bit; /* set in out->present */
	uint16_t off; /* of the field in out->base */
	uint16_t size;
	const char *why; /* text when it is not what it must be */
};

/* Elements of a table: for a field of struct @s, without a field, and for nested attributes. */
#define RTATTR(s, attr, k, b, field)                                                       \
	[attr] = { RTATTR_##k, (b), (uint16_t)offsetof(s, field), sizeof(((s *)0)->field), \
		   #attr " is malformed" }
#define RTATTR_BIT(attr, k, b)      [attr] = { RTATTR_##k, (b), 0, 0, #attr " is malformed" }
#define RTATTR_NESTED(attr, b, idx) [attr] = { RTATTR_NEST, (b), (idx), 0, #attr " is malformed" }

struct rtattr_table {
	const struct rtattr_rule *rules;
	uint16_t n; /* rules */
};

#define RTATTR_TABLE(r)                         \
	{                                       \
		(r), sizeof(r) / sizeof((r)[0]) \
	}

struct rtattr_out {
	void *base;
	uint32_t *present;
	uint32_t *flags; /* may be NULL when the table has no RTATTR_FLAG */
	const struct nlattr *nest[RTATTR_MAX_NESTS];
};

/* A run of attributes; what is left of it while one walks. */
struct rtattr_run {
	const char *p;
	size_t len;
};

/* The attributes inside of @a; an empty run when @a is NULL. */
struct rtattr_run rtattr_inside(const struct nlattr *a);

/*
 * Takes the next attribute off @run. NULL at the end, and where the rest cannot
 * be an attribute: then run->len is not 0.
 */
const struct nlattr *rtattr_next(struct rtattr_run *run);

/*
 * Reads @run by @table into @out. Returns 0, or -EBADMSG with a constant text in
 * @why (which is untouched otherwise); fields may then have been set already.
 */
int rtattr_read(struct rtattr_run run, const struct rtattr_table *table, struct rtattr_out *out,
		const char **why);

#endif
