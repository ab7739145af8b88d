/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neigh: a forwarding entry of the kernel in the words of core/fdb. Pure; any
 * thread.
 */
#ifndef XB_CTL_NEIGH_H
#define XB_CTL_NEIGH_H

#include <stdint.h>

#include "core/fdb.h"
#include "core/netinfo.h"

/* enum fdb_flag of what the kernel told; FDB_KERNEL always. */
static inline uint16_t neigh_fdb_flags(const struct neigh_info *n)
{
	uint16_t flags = FDB_KERNEL;

	if (n->state & NEIGH_STATE_PERMANENT)
		flags |= FDB_LOCAL;
	else if (n->state & NEIGH_STATE_NOARP)
		flags |= FDB_STATIC;
	if (n->flags & NEIGH_FLAG_STICKY)
		flags |= FDB_STICKY;
	if (n->flags & NEIGH_FLAG_EXT_LEARNED)
		flags |= FDB_EXTERN;
	if (n->flags_ext & NEIGH_FLAG_EXT_LOCKED)
		flags |= FDB_LOCKED;
	return flags;
}

#endif
