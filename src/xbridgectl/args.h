/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * args: the words of the command line, as iproute2's users know them, and what
 * they ask of the daemon. No state.
 */
#ifndef XB_XBRIDGECTL_ARGS_H
#define XB_XBRIDGECTL_ARGS_H

#include <stddef.h>

#include "ctl/ctlmsg.h"

/*
 * Reads @n words, options not among them. A word may be shortened as long as it
 * is the only one that begins so. 0, or -EINVAL and a sentence in @why of @size
 * bytes.
 */
int args_parse(int n, char *const *word, struct ctlmsg_request *out, char *why, size_t size);

#endif
