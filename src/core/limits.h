/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits: how large things may get. The BPF programs include this file too.
 */
#ifndef XB_CORE_LIMITS_H
#define XB_CORE_LIMITS_H

#define XB_MAX_BRIDGES 64
/* Port slots of a daemon, the host port of each bridge included; slot 0 is none. */
#define XB_MAX_PORTS   1024
#define XB_MAX_QUEUES  16 /* receive queues of one port */
#define XB_MAX_WORKERS 64
#define XB_MAX_MDB     65536 /* (group, port) pairs of one bridge */

#define VID_NONE 0
#define VID_MAX  4094
#define VID_N    4096

#endif
