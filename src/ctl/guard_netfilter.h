/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard_netfilter: the bridge's packet filters that no netlink socket tells:
 * ebtables of the older kind, and br_netfilter. Control thread only.
 */
#ifndef XB_CTL_GUARD_NETFILTER_H
#define XB_CTL_GUARD_NETFILTER_H

#include "ctl/guard_facts.h"

/*
 * Constant text for the log, or NULL. ebtables counts with a rule, a chain of
 * the user's or a policy other than ACCEPT. br_netfilter counts when it is
 * switched on for a protocol that has a chain in @f or a table of iptables, so call
 * it when the chains are known: it is on by default wherever it is loaded,
 * and without a chain it decides nothing.
 */
const char *guard_netfilter_find(const struct guard_facts *f);

#endif
