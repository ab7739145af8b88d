/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostpair: the private veth pair through which the host gets its copies of
 * flooded frames: "xbh<N>", whose egress queue is an AF_XDP socket, and
 * "xbq<N>", where a tc program sends every frame into the bridge device as
 * received; N is the bridge's ifindex.
 *
 * Both ends have no IPv6, no ARP and no address before they are up, so that
 * nothing but our frames is ever on the pair. Control thread only.
 */
#ifndef XB_CTL_HOSTPAIR_H
#define XB_CTL_HOSTPAIR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Both ends are up when this returns. Removes a leftover pair of the same name
 * first; -EEXIST if a device that is no veth has one of the names: it stays.
 */
int hostpair_make(uint32_t bridge_ifindex, uint32_t mtu, uint32_t *h_ifindex, uint32_t *q_ifindex);

/* New MTU of both ends; -ENODEV when one is not there. */
int hostpair_set_mtu(uint32_t bridge_ifindex, uint32_t mtu);

/* 0; -ENOENT when it is not there; -EEXIST as above. */
int hostpair_remove(uint32_t bridge_ifindex);

/* Removes every pair that an earlier daemon left in this namespace. Number removed, or a negative
 * errno. */
int hostpair_remove_all(void);

/* True for the name of an end of such a pair. */
bool hostpair_is_name(const char *ifname);

#endif
