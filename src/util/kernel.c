/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/kernel.h"

#include <stdlib.h>

uint32_t kernel_parse(const char *release)
{
	char *end;
	unsigned long major = strtoul(release, &end, 10), minor;

	if (*release < '0' || *release > '9' || *end != '.' || end[1] < '0' || end[1] > '9')
		return 0;
	minor = strtoul(end + 1, &end, 10);
	if (major > UINT16_MAX || minor > UINT16_MAX)
		return 0;
	return KERNEL_V(major, minor);
}
