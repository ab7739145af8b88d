/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * caps: the capabilities that the daemon keeps (capabilities(7)). Main thread,
 * before any other thread exists.
 */
#ifndef XB_XBRIDGED_CAPS_H
#define XB_XBRIDGED_CAPS_H

/*
 * Drops every capability but those that are needed, also from the bounding set.
 * 0; -EPERM if a needed one is not there, with its name in @missing; or what
 * the kernel said.
 */
int caps_drop(const char **missing);

#endif
