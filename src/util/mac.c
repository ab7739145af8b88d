/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/mac.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

const char *mac_format(const struct mac *m, char *buf)
{
	static const char hex[] = "0123456789abcdef";

	for (int i = 0; i < MAC_LEN; i++) {
		buf[i * 3] = hex[m->b[i] >> 4];
		buf[i * 3 + 1] = hex[m->b[i] & 15];
		buf[i * 3 + 2] = ':';
	}
	buf[MAC_STR_SIZE - 1] = '\0';
	return buf;
}

int mac_parse(const char *s, struct mac *out)
{
	struct mac m;

	for (int i = 0; i < MAC_LEN; i++) {
		unsigned int v = 0;
		int n = 0;

		for (; n < 2 && isxdigit((unsigned char)*s); n++, s++) {
			int c = tolower((unsigned char)*s);

			v = v * 16 + (unsigned int)(c <= '9' ? c - '0' : c - 'a' + 10);
		}
		if (!n || *s != (i == MAC_LEN - 1 ? '\0' : ':'))
			return -EINVAL;
		m.b[i] = (uint8_t)v;
		s++;
	}
	*out = m;
	return 0;
}
