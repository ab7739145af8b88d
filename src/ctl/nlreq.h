/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nlreq: one netlink request and its whole answer, over a socket of its own
 * that is closed afterwards, so that no late answer can be taken for another.
 * For the rare questions and orders; rtsock is for the bridge's own traffic.
 *
 * Control thread only. Bounded to 1 s.
 */
#ifndef XB_CTL_NLREQ_H
#define XB_CTL_NLREQ_H

struct nl_msg;
struct nlmsghdr;

/*
 * Sees each message of an answer but its end. The header's length is checked, what
 * follows it is not. A value other than 0 ends the request and is returned by it.
 */
typedef int (*nlreq_fn)(void *arg, const struct nlmsghdr *h);

/*
 * Sends @msg, a request for the kernel's @protocol (NETLINK_ROUTE, ...), and
 * waits for its acknowledgement, or with NLM_F_DUMP in @msg for the dump's end.
 * @fn may be NULL. The caller keeps @msg; its sequence number is overwritten.
 *
 * 0, what @fn returned, or what the kernel said; -EINTR: the dump was
 * interrupted by a change, ask again; -ETIMEDOUT: no end of the answer in time;
 * -EBADMSG: an answer that is not one.
 */
int nlreq_run(int protocol, struct nl_msg *msg, nlreq_fn fn, void *arg);

#endif
