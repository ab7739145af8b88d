/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * away: looks for VLAN devices on links of this network namespace that are in
 * other ones. No message tells of them here, so the kernel is asked: for the
 * namespaces that ours has an id for, and for the VLAN devices of each in which
 * we have the right (CAP_NET_ADMIN).
 *
 * Control thread only.
 */
#ifndef XB_CTL_AWAY_H
#define XB_CTL_AWAY_H

#include <stdbool.h>
#include <stdint.h>

struct mirror;

#define AWAY_NAMESPACES 1024 /* more are not looked at */
#define AWAY_SLICE      64   /* enough for one of many looks */

/*
 * Looks into @max namespaces from the *@next-th on, and tells @m what is found by
 * mirror_add_away(), with @changed. Moves *@next on; behind the last one it is 0.
 * Calls @tick, if not NULL, before each. What may not be looked at is left out.
 * 0, -ENOMEM or what the kernel said to the question for namespaces.
 */
int away_look(struct mirror *m, uint32_t *next, uint32_t max, bool *changed,
	      void (*tick)(void *arg), void *arg);

#endif
