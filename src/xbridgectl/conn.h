/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conn: one question to the daemon over its control socket.
 */
#ifndef XB_XBRIDGECTL_CONN_H
#define XB_XBRIDGECTL_CONN_H

#include <stddef.h>

#define CONN_PATIENCE_S 20 /* how long the daemon may say nothing */

/*
 * Sends @request, one line, and reads the answer, one line: the caller frees
 * *@answer, which has a final 0 instead of the newline. 0; -ETIMEDOUT; -EPIPE: the
 * connection ended within the answer; or why the daemon cannot be reached.
 */
int conn_ask(const char *path, const char *request, char **answer, size_t *len);

#endif
