/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctlsock_path: the control socket as a file, and who may use it. No event loop,
 * no state.
 *
 * Control thread only.
 */
#ifndef XB_CTL_CTLSOCK_PATH_H
#define XB_CTL_CTLSOCK_PATH_H

#include <stdbool.h>
#include <sys/types.h>

#define CTLSOCK_NO_GROUP ((gid_t)-1)

/*
 * A listening socket at @path, non-blocking, and in *@lock_fd the lock that keeps
 * others off as long as it is open. Errors as ctlsock_open().
 */
int ctlsock_listen(const char *path, gid_t gid, int *lock_fd);

/* The group's number, or CTLSOCK_NO_GROUP if there is none of that name. */
gid_t ctlsock_group(const char *name);

/* True if the process at the other end of @fd may use the socket. */
bool ctlsock_peer_may(int fd, gid_t gid);

#endif
