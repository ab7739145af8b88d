/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/mac.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const char *mac_format(const struct mac *m, char *buf)
{
	snprintf(buf, MAC_STR_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", m->b[0], m->b[1], m->b[2],
		 m->b[3], m->b[4], m->b[5]);
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
