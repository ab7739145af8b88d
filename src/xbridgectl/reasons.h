/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reasons: what the names of reasons mean (core/drop.h), without a daemon.
 */
#ifndef XB_XBRIDGECTL_REASONS_H
#define XB_XBRIDGECTL_REASONS_H

#include <stdbool.h>
#include <stdio.h>

/* All reasons with their meaning, as text or as JSON. 0 or -ENOMEM. */
int reasons_print(FILE *f, bool json);

#endif
