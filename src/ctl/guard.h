/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard: what XDP would bypass in silence, and what a device does to frames
 * behind our back: netfilter hooks of the bridge family and br_netfilter, tc
 * filters and queueing disciplines, IP addresses on a port, VLAN offload.
 *
 * It speaks of the namespace in which it was opened and is refreshed. Control
 * thread only; each question is a netlink exchange or an ioctl, bounded to 1 s.
 */
#ifndef XB_CTL_GUARD_H
#define XB_CTL_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct guard;

int guard_open(struct guard **out);
void guard_close(struct guard *g);

/*
 * Readable when something may have changed (nf_tables, tc, addresses), also when
 * the kernel dropped an announcement; guard_drain() empties it. Nothing announces
 * ebtables, the switches of br_netfilter and tcx programs.
 */
int guard_fd(const struct guard *g);
void guard_drain(struct guard *g);

/* Reads everything again. 0 or a negative errno; then the answers below are the old ones. */
int guard_refresh(struct guard *g);

/*
 * True if nf_tables has a chain with a hook in the bridge family, ebtables a rule
 * or a policy other than ACCEPT, or br_netfilter is on for a protocol that has a
 * chain of nf_tables or a table of iptables to send frames to. (It is on by
 * default where it is loaded; without those it decides nothing.) @what is set
 * with true: constant text for the log.
 */
bool guard_has_bridge_netfilter(const struct guard *g, const char **what);

/*
 * True if the interface has a tc filter, a qdisc that is not a default one, a
 * netdev chain of nf_tables, or a tcx program (that is asked now, not at the
 * refresh). @what as above.
 */
bool guard_has_tc(const struct guard *g, uint32_t ifindex, const char **what);

/* True if the interface has an IPv4 address, or an IPv6 one that is not link-local. */
bool guard_has_address(const struct guard *g, uint32_t ifindex);

/*
 * Switches off the device's VLAN tag stripping ("rx-vlan-hw-parse") and reads
 * back that it is off; @was_on tells whether to restore it by
 * guard_rxvlan_restore(). 0 also for a device that does not strip; -EOPNOTSUPP if
 * it cannot be switched off. @was_on is set with 0 only.
 */
int guard_rxvlan_off(const char *ifname, bool *was_on);

/* Switches it on again. -EOPNOTSUPP if it stays off. */
int guard_rxvlan_restore(const char *ifname);

#endif
