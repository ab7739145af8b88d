/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard: what XDP would bypass in silence, and what a device does to frames
 * behind our back: netfilter hooks of the bridge family and br_netfilter, tc
 * filters and queueing disciplines, IP addresses on a port, VLAN offload.
 *
 * Control thread only; each question is a netlink exchange or an ioctl, bounded
 * to 1 s.
 */
#ifndef XB_CTL_GUARD_H
#define XB_CTL_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct guard;

int guard_open(struct guard **out);
void guard_close(struct guard *g);

/* Readable when something may have changed (nf_tables, tc, addresses); guard_drain() empties it. */
int guard_fd(const struct guard *g);
void guard_drain(struct guard *g);

/* Reads everything again. 0 or a negative errno; then the answers below are the old ones. */
int guard_refresh(struct guard *g);

/* True if nf_tables has a chain, or ebtables a table, in the bridge family. @what: for the log. */
bool guard_has_bridge_netfilter(const struct guard *g, const char **what);

/* True if the interface has a tc filter, or a root qdisc that is not a default one. */
bool guard_has_tc(const struct guard *g, uint32_t ifindex, const char **what);

/* True if the interface has an IPv4 address, or an IPv6 one that is not link-local. */
bool guard_has_address(const struct guard *g, uint32_t ifindex);

/*
 * Switches off the device's VLAN tag stripping ("rx-vlan-hw-parse") and reads
 * back that it is off; @was_on tells whether to restore it by
 * guard_rxvlan_restore(). -EOPNOTSUPP if it cannot be switched off.
 */
int guard_rxvlan_off(const char *ifname, bool *was_on);
int guard_rxvlan_restore(const char *ifname);

#endif
