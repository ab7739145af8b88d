/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtnew: numbers of the kernel's interface that the headers of the oldest system
 * we build on (Linux 6.1) do not have yet. They never change once released; each
 * line names the first release. Can go when those headers do.
 */
#ifndef XB_CTL_RTNEW_H
#define XB_CTL_RTNEW_H

/* clang-format off */
/* IFLA_INFO_DATA of a bridge */
#define RTNEW_BR_FDB_N_LEARNED           48 /* 6.7 */
#define RTNEW_BR_FDB_MAX_LEARNED         49 /* 6.7 */

/* Options of a bridge port */
#define RTNEW_BRPORT_MAB                 40 /* 6.2 */
#define RTNEW_BRPORT_NEIGH_VLAN_SUPPRESS 43 /* 6.4 */
#define RTNEW_BRPORT_BACKUP_NHID         44 /* 6.6 */
#define RTNEW_BRPORT_NEIGH_FORWARD_GRAT  45 /* 7.2 */

/* BRIDGE_VLANDB_ENTRY */
#define RTNEW_VLAN_NEIGH_SUPPRESS         9 /* 6.4 */
#define RTNEW_VLAN_NEIGH_FORWARD_GRAT    10 /* 7.2 */
/* clang-format on */

#endif
