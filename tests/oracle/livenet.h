/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * livenet: the bench of the recorded cases, in a real kernel: br0's ports
 * p1..p4, whose other ends h1..h4 are in another namespace. It sends frames,
 * hears what comes out of each port, what is delivered up to br0 and what the
 * bridge leaves to a port's own protocols, and runs a case's commands.
 *
 * The devices and the namespace are there before (live-guest.sh).
 */
#ifndef XB_ORACLE_LIVENET_H
#define XB_ORACLE_LIVENET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "livetext.h"

#define LIVE_PORTS      4
#define LIVE_BRIDGE     "br0"
#define LIVE_HEARD_MAX  16 /* frames that one place keeps */
#define LIVE_ERROR_SIZE 512

/* Where frames are heard. */
enum live_place {
	LIVE_UP,                            /* delivered up to br0 */
	LIVE_OUT,                           /* LIVE_OUT + n: came out of port n + 1 */
	LIVE_STACK = LIVE_OUT + LIVE_PORTS, /* left to the protocols of port n + 1 */
	LIVE_PLACES = LIVE_STACK + LIVE_PORTS
};

struct live_heard {
	uint32_t n, n_lost; /* lost: beyond LIVE_HEARD_MAX */
	struct live_frame v[LIVE_HEARD_MAX];
};

struct livenet;

/* @peer: the namespace of h1..h4. 0 or a negative errno. */
int livenet_open(const char *peer, struct livenet **out);
void livenet_close(struct livenet *n);

/* "br0" or "p1".."p4", both for frames that come out and for the stack. */
const char *livenet_name(enum live_place place);

/* Without br0, all devices up with the addresses and MTUs of the bench. */
int livenet_reset(struct livenet *n);

/*
 * Runs @count commands of a case, in order; "peer: " ones in the other
 * namespace. 0; or -EINVAL when one failed: then @error, of LIVE_ERROR_SIZE
 * bytes, has what it said.
 */
int livenet_run(struct livenet *n, const char *const *command, size_t count, char *error);

/* Hears br0 from now on; once it is there. 0 or a negative errno. */
int livenet_listen_up(struct livenet *n);

/* True when carriers and operational states of all devices agree. */
bool livenet_is_steady(struct livenet *n);

/* Sends a frame into port @name from its peer, or from the host through br0. */
int livenet_send(struct livenet *n, const char *name, const struct live_frame *f);

/*
 * Waits at most @ms for frames and adds what has come to the places. True if
 * something has come. What br0 says of its own (IGMP, IPv6) is not counted.
 */
bool livenet_hear(struct livenet *n, int ms);

struct live_heard *livenet_heard(struct livenet *n, enum live_place place);
void livenet_forget(struct livenet *n);

#endif
