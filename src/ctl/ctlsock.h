/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctlsock: the control socket: who may connect, and no client, however slow or
 * broken, can hold up the control thread or make it use much memory.
 *
 * Root and the members of the group `control-group` may use it. At most
 * CTLSOCK_CLIENTS_MAX clients at a time; one that says nothing, or does not
 * read its answer, for CTLSOCK_IDLE_S is cut. A client costs less than 1 MiB.
 *
 * Control thread only.
 */
#ifndef XB_CTL_CTLSOCK_H
#define XB_CTL_CTLSOCK_H

struct ctl;
struct ctlsock;

#define CTLSOCK_CLIENTS_MAX 16
#define CTLSOCK_IDLE_S      10

/*
 * Listens at c->conf->control_socket, in the event loop c->base. Makes the
 * directory (0755) if it is not there; the socket gets mode 0660, owner root and
 * the group. What a dead daemon left is replaced. A file PATH.lock says whether
 * another lives and stays for good. SIGPIPE is ignored from now on.
 *
 * 0; -EADDRINUSE: another daemon listens there; -EEXIST: the path is something
 * else than a socket; or why it cannot be made. A group that does not exist is
 * logged and means root alone.
 */
int ctlsock_open(struct ctl *c, struct ctlsock **out);

/* Cuts all clients and removes the socket. NULL is allowed. */
void ctlsock_close(struct ctlsock *s);

#endif
