/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message: writes one rtnetlink message, attribute by attribute, and parses it.
 * There is one message under construction; start() begins another one.
 */
#ifndef XB_TESTS_MESSAGE_H
#define XB_TESTS_MESSAGE_H

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <linux/netlink.h>

#include "ctl/rtmsg.h"

/* A message under construction. */
static struct {
	_Alignas(4) char b[4096];
	size_t len;
} w;

static inline const struct nlmsghdr *message(void)
{
	struct nlmsghdr *h = (void *)w.b;

	h->nlmsg_len = (uint32_t)w.len;
	return h;
}

static inline void raw(const void *data, size_t len)
{
	assert_true(w.len + NLMSG_ALIGN(len) <= sizeof(w.b));
	if (len)
		memcpy(w.b + w.len, data, len);
	memset(w.b + w.len + len, 0, NLMSG_ALIGN(len) - len);
	w.len += NLMSG_ALIGN(len);
}

static inline void start(uint16_t type, const void *fixed, size_t fixed_len)
{
	struct nlmsghdr h = { .nlmsg_type = type, .nlmsg_flags = NLM_F_MULTI, .nlmsg_seq = 7 };

	w.len = 0;
	raw(&h, sizeof(h));
	raw(fixed, fixed_len);
}

static inline void attr(uint16_t type, const void *data, size_t len)
{
	struct nlattr a = { .nla_len = (uint16_t)(sizeof(a) + len), .nla_type = type };

	raw(&a, sizeof(a));
	raw(data, len);
}

static inline void attr_u8(uint16_t type, uint8_t v)
{
	attr(type, &v, sizeof(v));
}

static inline void attr_u16(uint16_t type, uint16_t v)
{
	attr(type, &v, sizeof(v));
}

static inline void attr_u32(uint16_t type, uint32_t v)
{
	attr(type, &v, sizeof(v));
}

static inline size_t nest(uint16_t type)
{
	size_t at = w.len;

	attr(type | NLA_F_NESTED, NULL, 0);
	return at;
}

static inline void nest_end(size_t at)
{
	((struct nlattr *)(void *)(w.b + at))->nla_len = (uint16_t)(w.len - at);
}

/* Parses a copy that ends where the message ends, so that a sanitizer sees an overrun. */
static inline int parse_copy(struct rtmsg_info *m)
{
	char *copy = malloc(w.len);
	int err;

	assert_non_null(copy);
	memcpy(copy, message(), w.len);
	err = rtmsg_parse((const void *)copy, w.len, m);
	free(copy);
	return err;
}

#endif
