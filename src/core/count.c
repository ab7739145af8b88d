/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/count.h"

#include <stddef.h>

static void sum(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += count_read(&from[i]);
}

/* Both structs are nothing but counters. */
void count_port_sum(struct count_port *to, const struct count_port *from)
{
	sum((uint64_t *)to, (const uint64_t *)from, sizeof(*to) / sizeof(uint64_t));
}

void count_vlan_sum(struct count_vlan *to, const struct count_vlan *from)
{
	sum((uint64_t *)to, (const uint64_t *)from, sizeof(*to) / sizeof(uint64_t));
}
