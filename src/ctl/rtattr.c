/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/rtattr.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <linux/if_ether.h>
#include <netlink/attr.h>

#include "core/limits.h"
#include "util/mac.h"

#define NS_PER_TICK 10000000ULL /* the kernel's USER_HZ is 100 everywhere */
#define HWADDR_MAX  32
#define STATE_MAX   4

struct rtattr_run rtattr_inside(const struct nlattr *a)
{
	if (!a)
		return (struct rtattr_run){ NULL, 0 };
	return (struct rtattr_run){ nla_data(a), (size_t)nla_len(a) };
}

const struct nlattr *rtattr_next(struct rtattr_run *run)
{
	const struct nlattr *a = (const void *)run->p;
	size_t step;

	if (run->len < sizeof(*a) || a->nla_len < sizeof(*a) || a->nla_len > run->len)
		return NULL;
	/* The last attribute of a run may come without its padding. */
	step = NLA_ALIGN(a->nla_len);
	if (step > run->len)
		step = run->len;
	run->p += step;
	run->len -= step;
	return a;
}

static bool get_string(const struct rtattr_rule *r, char *field, const char *data, size_t len)
{
	size_t n;

	if (!len || data[len - 1])
		return false;
	n = strlen(data);
	if (n >= r->size) {
		if (r->kind == RTATTR_NAME)
			return false;
		n = r->size - 1U;
	}
	memset(field, 0, r->size);
	memcpy(field, data, n);
	return true;
}

static bool get_u8(const struct rtattr_rule *r, struct rtattr_out *out, const uint8_t *data,
		   size_t len)
{
	uint8_t *field = (uint8_t *)out->base + r->off;

	if (len != 1)
		return false;
	if (r->kind == RTATTR_FLAG) {
		*out->flags = *data ? *out->flags | r->bit : *out->flags & ~r->bit;
		return true;
	}
	if (r->kind == RTATTR_STATE && *data > STATE_MAX)
		return false;
	*field = r->kind == RTATTR_BOOL ? !!*data : *data;
	return true;
}

static bool get_u16(const struct rtattr_rule *r, void *field, const void *data, size_t len)
{
	uint16_t v;

	if (len != sizeof(v))
		return false;
	memcpy(&v, data, sizeof(v));
	if (r->kind == RTATTR_TPID) {
		v = ntohs(v);
		if (v != ETH_P_8021Q && v != ETH_P_8021AD)
			return false;
	} else if (v > VID_MAX || (v == VID_NONE && r->kind == RTATTR_VID)) {
		return false;
	}
	memcpy(field, &v, sizeof(v));
	return true;
}

static bool get_ticks(void *field, const void *data, size_t len)
{
	uint32_t ticks;
	uint64_t ns;

	if (len != sizeof(ticks))
		return false;
	memcpy(&ticks, data, sizeof(ticks));
	ns = ticks * NS_PER_TICK;
	memcpy(field, &ns, sizeof(ns));
	return true;
}

static bool get_long_ticks(void *field, const void *data, size_t len)
{
	uint64_t ticks, ns;

	if (len != sizeof(ticks))
		return false;
	memcpy(&ticks, data, sizeof(ticks));
	ns = ticks > UINT64_MAX / NS_PER_TICK ? UINT64_MAX : ticks * NS_PER_TICK;
	memcpy(field, &ns, sizeof(ns));
	return true;
}

static bool get_nest(const struct rtattr_rule *r, struct rtattr_out *out, const struct nlattr *a)
{
	/* Twice, and the one that was checked might not be the one that is walked later. */
	if (out->nest[r->off])
		return false;
	out->nest[r->off] = a;
	return true;
}

static bool get(const struct rtattr_rule *r, struct rtattr_out *out, const struct nlattr *a)
{
	char *field = (char *)out->base + r->off;
	const void *data = nla_data(a);
	size_t len = (size_t)nla_len(a);

	switch (r->kind) {
	case RTATTR_RAW:
		if (len != r->size)
			return false;
		memcpy(field, data, len);
		return true;
	case RTATTR_FLAG:
	case RTATTR_BOOL:
	case RTATTR_STATE:
		return get_u8(r, out, data, len);
	case RTATTR_VID:
	case RTATTR_PVID:
	case RTATTR_TPID:
		return get_u16(r, field, data, len);
	case RTATTR_TICKS:
		return get_ticks(field, data, len);
	case RTATTR_LTICKS:
		return get_long_ticks(field, data, len);
	case RTATTR_NAME:
	case RTATTR_TEXT:
		return get_string(r, field, data, len);
	case RTATTR_NEST:
		return get_nest(r, out, a);
	default:
		return true;
	}
}

/* An address that is not an Ethernet one is no error (tunnels and others have such). */
static int get_hwaddr(const struct rtattr_rule *r, struct rtattr_out *out, const struct nlattr *a)
{
	if (nla_len(a) > HWADDR_MAX)
		return -EBADMSG;
	if (nla_len(a) != MAC_LEN)
		return 0;
	memcpy((char *)out->base + r->off, nla_data(a), MAC_LEN);
	*out->present |= r->bit;
	return 0;
}

int rtattr_read(struct rtattr_run run, const struct rtattr_table *table, struct rtattr_out *out,
		const char **why)
{
	const struct nlattr *a;

	while ((a = rtattr_next(&run))) {
		int type = nla_type(a);
		const struct rtattr_rule *r;
		bool ok = true;

		if (type >= table->n || table->rules[type].kind == RTATTR_SKIP)
			continue;
		r = &table->rules[type];
		if (r->kind == RTATTR_HWADDR) {
			ok = !get_hwaddr(r, out, a);
		} else {
			ok = get(r, out, a);
			*out->present |= r->bit;
		}
		if (!ok) {
			*why = r->why;
			return -EBADMSG;
		}
	}
	if (run.len) {
		*why = "the attributes do not fill their room";
		return -EBADMSG;
	}
	return 0;
}
