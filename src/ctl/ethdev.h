/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethdev: what a device tells through ethtool and netlink does not: how many
 * of its queues are in use. Control thread only.
 */
#ifndef XB_CTL_ETHDEV_H
#define XB_CTL_ETHDEV_H

#include <stdint.h>

/*
 * Queues in use; netlink only knows how many there could be. A driver that
 * does not tell has one of each. 0, or -ENODEV.
 */
int ethdev_queues(const char *ifname, uint32_t *n_rx, uint32_t *n_tx);

#endif
