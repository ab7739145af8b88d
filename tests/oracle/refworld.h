/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refworld: the reference in the place of the core in a recorded world.
 */
#ifndef XB_ORACLE_REFWORLD_H
#define XB_ORACLE_REFWORLD_H

#include "reference.h"
#include "world.h"

/*
 * Decides about the frame with the configuration and the FDB entries that @w
 * has, and gives what was learned back to the FDB of @w. False without memory.
 */
bool refworld_frame(struct world *w, uint16_t in, const uint8_t *p, uint32_t len, uint64_t now_ns,
		    struct ref_result *out);

#endif
