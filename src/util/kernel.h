/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel: the version of the running kernel. Any thread.
 */
#ifndef XB_UTIL_KERNEL_H
#define XB_UTIL_KERNEL_H

#include <stdint.h>

/* A version as one number that can be compared: KERNEL_V(6, 1). */
#define KERNEL_V(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor))

/* "6.1.0-18-amd64" is KERNEL_V(6, 1); 0 for text that does not begin like a version. */
uint32_t kernel_parse(const char *release);

#endif
