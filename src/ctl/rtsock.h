/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtsock: the two rtnetlink sockets of the daemon. Events come in on one,
 * dumps and requests go over the other, so that an answer never hides behind a
 * burst of notifications.
 *
 * Control thread only. Nothing here interprets a message but to find the end of
 * an answer.
 */
#ifndef XB_CTL_RTSOCK_H
#define XB_CTL_RTSOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/rtreq.h"

struct nlmsghdr;
struct rtmsg_info;
struct rtsock;

/*
 * @rcvbuf bytes for the events, and at least as many for answers (the kernel has
 * a minimum). Subscribes before anything is read.
 */
int rtsock_open(uint32_t rcvbuf, struct rtsock **out);
void rtsock_close(struct rtsock *s);

/* Readable when events wait. */
int rtsock_event_fd(const struct rtsock *s);

/* A value other than 0 ends the reading and is returned. */
typedef int (*rtsock_fn)(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h);

/*
 * Reads events until none is left or @max_datagrams were read. 0: none is left;
 * 1: more may be there; -ENOBUFS: the kernel dropped events; -EBADMSG: one could
 * not be understood (after both: resynchronise); others: the socket is broken.
 */
int rtsock_events(struct rtsock *s, uint32_t max_datagrams, rtsock_fn fn, void *arg);

/*
 * Sends a dump request and hands each message of the answer to @fn. Calls
 * @tick, if not NULL, between datagrams. -EINTR: the dump was interrupted by a
 * change (NLM_F_DUMP_INTR): do it again; -ETIMEDOUT: no answer for 2 s;
 * otherwise what the kernel said.
 */
int rtsock_dump(struct rtsock *s, enum rtreq_dump what, rtsock_fn fn, void (*tick)(void *arg),
		void *arg);

/* The same for the forwarding entries of one port of a bridge, and perhaps of others. */
int rtsock_dump_port(struct rtsock *s, uint32_t ifindex, rtsock_fn fn, void (*tick)(void *arg),
		     void *arg);

/*
 * Asks for one device and hands the answer to @fn. The kernel's error, -ENODEV
 * among them; -ETIMEDOUT as above.
 */
int rtsock_link(struct rtsock *s, uint32_t ifindex, rtsock_fn fn, void *arg);

/*
 * Asks for one forwarding entry and hands the answer to @fn. The kernel's error:
 * -ENOENT if it has none, among others; -ETIMEDOUT as above.
 */
int rtsock_station(struct rtsock *s, const struct rtreq_station *st, rtsock_fn fn, void *arg);

/*
 * Asks for one forwarding entry of the bridge @ifindex (@vid may be VID_NONE)
 * and hands the answer to @fn. -ENOENT: there is none; otherwise as above.
 */
int rtsock_neigh(struct rtsock *s, uint32_t ifindex, uint16_t vid, const struct mac *mac,
		 rtsock_fn fn, void *arg);

/*
 * Sends @len bytes of requests in one call and reads the errors that they caused.
 * The kernel has done them all when this returns. Number of requests that
 * failed, the last error in @last (may be NULL); or a negative errno.
 */
int rtsock_request(struct rtsock *s, const void *buf, size_t len, int *last);

#endif
