/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/count.h"

#include <stddef.h>

void count_learned(struct count_port *c, enum fdb_learned what)
{
	switch (what) {
	case FDB_NEW:
		count_add(&c->learned, 1);
		break;
	case FDB_MOVED:
		count_add(&c->moved, 1);
		break;
	case FDB_OWN:
		count_add(&c->own_source, 1);
		break;
	case FDB_FULL:
		count_add(&c->fdb_full, 1);
		break;
	case FDB_LIMIT:
		count_add(&c->fdb_limit, 1);
		break;
	case FDB_BUSY:
		count_add(&c->fdb_busy, 1);
		break;
	case FDB_STUCK:
		count_add(&c->fdb_sticky, 1);
		break;
	case FDB_SAME:
	case FDB_REFRESHED:
		break;
	}
}

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
