/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * punt: which frames the XDP program leaves to the kernel, in plain C.
 */
#ifndef XB_ORACLE_PUNT_H
#define XB_ORACLE_PUNT_H

#include "core/drop.h"
#include "world.h"

/* PUNT_NONE if the program hands the @len bytes at @p, come in on @port, to a worker. */
enum punt_reason punt_reason(const struct world *w, const struct plan_port *port, const uint8_t *p,
			     size_t len);

#endif
