/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "livetext.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/mac.h"

#define TPID_Q  0x8100
#define TPID_AD 0x88a8

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool live_from_hex(const char *text, struct live_frame *out)
{
	size_t n = strlen(text) / 2;

	if (n > LIVE_FRAME_MAX || strlen(text) % 2)
		return false;
	for (size_t i = 0; i < n; i++) {
		int hi = digit(text[2 * i]), lo = digit(text[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return false;
		out->bytes[i] = (uint8_t)(hi << 4 | lo);
	}
	out->len = (uint32_t)n;
	return true;
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static bool is_tag(uint16_t type)
{
	return type == TPID_Q || type == TPID_AD;
}

uint16_t live_ethertype(const uint8_t *p, uint32_t len, uint32_t *payload)
{
	uint32_t at = 12;

	while (at + 2 <= len) {
		uint16_t type = get16(p + at);

		if (!is_tag(type) || at + 6 > len) {
			*payload = at + 2;
			return type;
		}
		at += 4;
	}
	*payload = len;
	return 0;
}

struct text {
	char v[256];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->v + t->n, sizeof(t->v) - t->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->n += (size_t)n;
	if (t->n >= sizeof(t->v))
		t->n = sizeof(t->v) - 1;
}

const char *live_describe(const uint8_t *p, uint32_t len)
{
	static struct text t;
	char dst[MAC_STR_SIZE], src[MAC_STR_SIZE];
	struct mac mac[2];
	uint32_t at = 12;

	t.n = 0;
	if (len < 14) {
		add(&t, "%u bytes, no header", len);
		return t.v;
	}
	memcpy(mac, p, sizeof(mac));
	add(&t, "%s < %s", mac_format(&mac[0], dst), mac_format(&mac[1], src));
	for (; at + 4 <= len && is_tag(get16(p + at)); at += 4) {
		uint16_t tci = get16(p + at + 2);

		add(&t, ", %s %u", get16(p + at) == TPID_Q ? "802.1Q" : "802.1ad", tci & 0xfff);
		if (tci >> 12)
			add(&t, " prio %u%s", tci >> 13, tci & 0x1000 ? " dei" : "");
	}
	if (at + 2 <= len)
		add(&t, ", 0x%04x", get16(p + at));
	add(&t, ", %u bytes", len);
	return t.v;
}
