/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mac: Ethernet addresses. No state, any thread.
 */
#ifndef XB_UTIL_MAC_H
#define XB_UTIL_MAC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAC_LEN      6
#define MAC_STR_SIZE 18 /* "xx:xx:xx:xx:xx:xx" and the final 0 */

struct mac {
	uint8_t b[MAC_LEN];
};

static inline bool mac_equal(const struct mac *a, const struct mac *b)
{
	return !memcmp(a->b, b->b, MAC_LEN);
}

static inline bool mac_is_zero(const struct mac *m)
{
	return !(m->b[0] | m->b[1] | m->b[2] | m->b[3] | m->b[4] | m->b[5]);
}

/* True for broadcast as well. */
static inline bool mac_is_multicast(const struct mac *m)
{
	return m->b[0] & 1;
}

static inline bool mac_is_broadcast(const struct mac *m)
{
	return (m->b[0] & m->b[1] & m->b[2] & m->b[3] & m->b[4] & m->b[5]) == 0xff;
}

/* A number below 2^48; the first byte of the address is the most significant. */
static inline uint64_t mac_to_u64(const struct mac *m)
{
	return (uint64_t)m->b[0] << 40 | (uint64_t)m->b[1] << 32 | (uint64_t)m->b[2] << 24 |
	       (uint64_t)m->b[3] << 16 | (uint64_t)m->b[4] << 8 | m->b[5];
}

static inline struct mac mac_from_u64(uint64_t v)
{
	return (struct mac){ { (uint8_t)(v >> 40), (uint8_t)(v >> 32), (uint8_t)(v >> 24),
			       (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v } };
}

/* Writes "xx:xx:xx:xx:xx:xx" into @buf of MAC_STR_SIZE bytes and returns it. */
const char *mac_format(const struct mac *m, char *buf);

/* Reads six hexadecimal bytes, of one or two digits, between colons. -EINVAL for anything else. */
int mac_parse(const char *s, struct mac *out);

#endif
