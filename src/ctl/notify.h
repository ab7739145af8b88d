/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notify: tells the service manager how the daemon is (sd_notify(3)): a
 * datagram to the socket that NOTIFY_SOCKET names. Without it nothing happens.
 */
#ifndef XB_CTL_NOTIFY_H
#define XB_CTL_NOTIFY_H

#include <stdint.h>

/* @state: lines as in sd_notify(3). 0, or a negative errno. */
int notify_send(const char *state);

/* WATCHDOG_USEC of this process in nanoseconds; 0 if no watchdog is wanted. */
uint64_t notify_watchdog_ns(void);

#endif
