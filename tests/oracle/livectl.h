/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * livectl: what a live run asks the daemon over its control socket: whether it
 * has acted on all that was configured, and by which path a frame went.
 */
#ifndef XB_ORACLE_LIVECTL_H
#define XB_ORACLE_LIVECTL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/drop.h"

#define LIVECTL_WHY_SIZE 256

/* Of one port since its counters began; of a port that the daemon does not have, 0. */
struct livectl_counts {
	uint64_t redirected;
	uint64_t passed[PUNT_N];
};

enum livectl_state {
	LIVECTL_READY,
	LIVECTL_NOT_YET, /* why says what is missing */
	LIVECTL_BROKEN,  /* it could not do what it should */
};

/*
 * Whether the daemon's tables equal the kernel's and each port of br0 is where
 * it will be: on the user path, or left to the kernel for a reason.
 */
enum livectl_state livectl_state(const char *socket, char *why);

/* 0 or a negative errno. */
int livectl_counts(const char *socket, const char *port, struct livectl_counts *out);

#endif
