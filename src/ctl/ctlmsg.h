/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctlmsg: the control protocol, as bytes.
 *
 * A client sends requests over a UNIX stream socket, each one line of JSON:
 *
 *	{"cmd":"fdb","args":{"dev":"p1","vlan":10}}
 *
 * and gets one line for each, in the same order: CTLMSG_OK_HEAD, the data,
 * CTLMSG_OK_TAIL, or an object with "ok" false, "error" (a sentence) and "errno".
 * An answer that has begun may end with the connection; it is then not JSON.
 *
 * No socket, no state. Any thread.
 */
#ifndef XB_CTL_CTLMSG_H
#define XB_CTL_CTLMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/limits.h"
#include "util/mac.h"

#define CTLMSG_OK_HEAD "{\"ok\":true,\"data\":"
#define CTLMSG_OK_TAIL "}\n"

#define CTLMSG_SOCKET "/run/xbridged/control.sock" /* by default */

#define CTLMSG_REQUEST_MAX 65536 /* bytes of a request, its newline included */
#define CTLMSG_DEPTH_MAX   4     /* objects and lists in one another */
#define CTLMSG_DEV_SIZE    16    /* an interface name and its final 0 */
#define CTLMSG_WHY_SIZE    128

enum ctlmsg_cmd {
	CTLMSG_STATUS,
	CTLMSG_PORT,
	CTLMSG_VLAN,
	CTLMSG_FDB,
	CTLMSG_FDB_FLUSH,
	CTLMSG_FLOOD,
	CTLMSG_MDB,
	CTLMSG_STATS,
	CTLMSG_VERIFY,
	CTLMSG_VERSION,
	CTLMSG_N,
};

/* Kinds of FDB entries; ANY when the request names none. */
enum ctlmsg_kind {
	CTLMSG_KIND_ANY,
	CTLMSG_KIND_DYNAMIC, /* none of the others */
	CTLMSG_KIND_STATIC,
	CTLMSG_KIND_LOCAL,
	CTLMSG_KIND_EXTERN,
	CTLMSG_KIND_STICKY,
	CTLMSG_KIND_N,
};

/* ctlmsg_request.present */
#define CTLMSG_HAS_DEV   0x01
#define CTLMSG_HAS_VLAN  0x02
#define CTLMSG_HAS_MAC   0x04
#define CTLMSG_HAS_KIND  0x08
#define CTLMSG_HAS_VLANS 0x10

/* What is not in `present` is 0. */
struct ctlmsg_request {
	enum ctlmsg_cmd cmd;
	uint32_t present;
	char dev[CTLMSG_DEV_SIZE]; /* a port, or a bridge for all of its ports */
	uint16_t vid;              /* 1..4094 */
	struct mac mac;
	enum ctlmsg_kind kind;
	bool vlans; /* statistics of each VLAN too */
};

/*
 * Reads one line, @len bytes at @text, with or without its newline. 0; -EBADMSG:
 * not a JSON object, too long or too deep; -EINVAL: no such command, an argument
 * that it does not take, or a value that is not allowed. On failure @why, of
 * CTLMSG_WHY_SIZE bytes, has a sentence in ASCII; *@out is untouched.
 */
int ctlmsg_parse(const char *text, size_t len, struct ctlmsg_request *out, char *why);

/* Writes the request as a line, with newline and final 0. Its length; -ENOSPC if it does not fit.
 */
int ctlmsg_format(const struct ctlmsg_request *r, char *buf, size_t size);

/* An error as a line, with newline and final 0; cut to fit. Its length. @size is at least 256. */
size_t ctlmsg_format_error(const char *why, int err, char *buf, size_t size);

/* True if the command takes all of the arguments @present. */
bool ctlmsg_takes(enum ctlmsg_cmd cmd, uint32_t present);

/* 1..15 bytes, none of them '/', a space or a control character. */
bool ctlmsg_dev_is_valid(const char *dev);

/* "fdb-flush" and so on; "" out of range. */
const char *ctlmsg_cmd_name(enum ctlmsg_cmd cmd);
/* "dynamic" and so on; "" for ANY and out of range. */
const char *ctlmsg_kind_name(enum ctlmsg_kind kind);
/* -EINVAL: no such kind. */
int ctlmsg_kind_parse(const char *name, enum ctlmsg_kind *out);

#endif
