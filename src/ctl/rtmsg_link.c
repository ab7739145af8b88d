/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "ctl/rtmsg_parts.h"
#include "ctl/rtnew.h"

enum { NEST_INFO, NEST_PROTINFO, NEST_AF_SPEC, NEST_XDP };
enum { NEST_DATA, NEST_SLAVE_DATA };
enum { NEST_QUERIER };

struct bridge_read {
	struct bridge_info b;
	struct br_boolopt_multi opt;
};

struct querier_read {
	struct querier_info ip4, ip6;
	uint8_t address4[4];
};

/* clang-format off */
static const struct rtattr_rule link_rules[] = {
	RTATTR(struct link_info, IFLA_ADDRESS,       HWADDR, LINK_HAS_MAC,         mac),
	RTATTR(struct link_info, IFLA_IFNAME,        NAME,   LINK_HAS_NAME,        name),
	RTATTR(struct link_info, IFLA_MTU,           RAW,    LINK_HAS_MTU,         mtu),
	RTATTR(struct link_info, IFLA_LINK,          RAW,    LINK_HAS_LOWER,       lower),
	RTATTR(struct link_info, IFLA_QDISC,         TEXT,   LINK_HAS_QDISC,       qdisc),
	RTATTR(struct link_info, IFLA_MASTER,        RAW,    LINK_HAS_MASTER,      master),
	RTATTR(struct link_info, IFLA_OPERSTATE,     RAW,    LINK_HAS_OPERSTATE,   operstate),
	RTATTR(struct link_info, IFLA_PROMISCUITY,   RAW,    LINK_HAS_PROMISCUITY, promiscuity),
	RTATTR(struct link_info, IFLA_NUM_TX_QUEUES, RAW,    LINK_HAS_TX_QUEUES,   num_tx_queues),
	RTATTR(struct link_info, IFLA_NUM_RX_QUEUES, RAW,    LINK_HAS_RX_QUEUES,   num_rx_queues),
	RTATTR(struct link_info, IFLA_CARRIER,       BOOL,   LINK_HAS_CARRIER,     carrier),
	RTATTR(struct link_info, IFLA_LINK_NETNSID,  RAW,    LINK_HAS_LOWER_NETNSID, lower_netnsid),
	RTATTR(struct link_info, IFLA_MAX_MTU,       RAW,    LINK_HAS_MAX_MTU,     max_mtu),
	RTATTR(struct link_info, IFLA_ALLMULTI,      RAW,    LINK_HAS_ALLMULTI,    allmulti),
	RTATTR_BIT(IFLA_PHYS_SWITCH_ID, MARK, LINK_HAS_SWITCH_ID),
	RTATTR_BIT(IFLA_NEW_NETNSID,    MARK, LINK_HAS_NEW_NETNS),
	RTATTR_NESTED(IFLA_PROTINFO, 0,            NEST_PROTINFO),
	RTATTR_NESTED(IFLA_LINKINFO, 0,            NEST_INFO),
	RTATTR_NESTED(IFLA_AF_SPEC,  0,            NEST_AF_SPEC),
	RTATTR_NESTED(IFLA_XDP,      LINK_HAS_XDP, NEST_XDP),
};

static const struct rtattr_rule info_rules[] = {
	RTATTR(struct link_info, IFLA_INFO_KIND,       TEXT, LINK_HAS_KIND,       kind),
	RTATTR(struct link_info, IFLA_INFO_SLAVE_KIND, TEXT, LINK_HAS_SLAVE_KIND, slave_kind),
	RTATTR_NESTED(IFLA_INFO_DATA,       0, NEST_DATA),
	RTATTR_NESTED(IFLA_INFO_SLAVE_DATA, 0, NEST_SLAVE_DATA),
};

static const struct rtattr_rule xdp_rules[] = {
	RTATTR(struct link_info, IFLA_XDP_ATTACHED,    RAW, 0, xdp_mode),
	RTATTR(struct link_info, IFLA_XDP_PROG_ID,     RAW, 0, xdp_prog_id),
	RTATTR(struct link_info, IFLA_XDP_DRV_PROG_ID, RAW, 0, xdp_drv_prog_id),
	RTATTR(struct link_info, IFLA_XDP_SKB_PROG_ID, RAW, 0, xdp_skb_prog_id),
	RTATTR(struct link_info, IFLA_XDP_HW_PROG_ID,  RAW, 0, xdp_hw_prog_id),
};

static const struct rtattr_rule vlan_rules[] = {
	RTATTR(struct link_info, IFLA_VLAN_ID,       VID,  LINK_HAS_VLAN, vlan_id),
	RTATTR(struct link_info, IFLA_VLAN_PROTOCOL, TPID, 0,             vlan_protocol),
};

static const struct rtattr_rule bridge_rules[] = {
	RTATTR(struct bridge_read, IFLA_BR_FORWARD_DELAY,     TICKS, BRIDGE_HAS_FORWARD_DELAY, b.forward_delay_ns),
	RTATTR(struct bridge_read, IFLA_BR_AGEING_TIME,       TICKS, BRIDGE_HAS_AGEING_TIME, b.ageing_time_ns),
	RTATTR(struct bridge_read, IFLA_BR_STP_STATE,         RAW,   BRIDGE_HAS_STP, b.stp),
	RTATTR(struct bridge_read, IFLA_BR_VLAN_PROTOCOL,     TPID,  BRIDGE_HAS_VLAN_PROTOCOL, b.vlan_protocol),
	RTATTR(struct bridge_read, IFLA_BR_GROUP_FWD_MASK,    RAW,   BRIDGE_HAS_GROUP_FWD_MASK, b.group_fwd_mask),
	RTATTR(struct bridge_read, IFLA_BR_GROUP_ADDR,        RAW,   BRIDGE_HAS_GROUP_ADDR, b.group_addr),
	RTATTR(struct bridge_read, IFLA_BR_VLAN_DEFAULT_PVID, PVID,  BRIDGE_HAS_DEFAULT_PVID, b.default_pvid),
	RTATTR(struct bridge_read, IFLA_BR_MULTI_BOOLOPT,     RAW,   BRIDGE_HAS_BOOLOPT, opt),
	RTATTR(struct bridge_read, RTNEW_BR_FDB_N_LEARNED,    RAW,   BRIDGE_HAS_FDB_N_LEARNED, b.fdb_n_learned),
	RTATTR(struct bridge_read, RTNEW_BR_FDB_MAX_LEARNED,  RAW,   BRIDGE_HAS_FDB_MAX_LEARNED, b.fdb_max_learned),
	RTATTR(struct bridge_read, IFLA_BR_MCAST_ROUTER,       RAW,   BRIDGE_HAS_MCAST_ROUTER, b.mcast_router),
	RTATTR(struct bridge_read, IFLA_BR_MCAST_IGMP_VERSION, RAW,   BRIDGE_HAS_IGMP_VERSION, b.igmp_version),
	RTATTR(struct bridge_read, IFLA_BR_MCAST_MLD_VERSION,  RAW,   BRIDGE_HAS_MLD_VERSION, b.mld_version),
	RTATTR(struct bridge_read, IFLA_BR_MCAST_QUERY_INTVL,  LTICKS, BRIDGE_HAS_QUERY_INTERVAL, b.query_interval_ns),
	RTATTR(struct bridge_read, IFLA_BR_MCAST_QUERY_RESPONSE_INTVL, LTICKS, BRIDGE_HAS_QUERY_RESPONSE, b.query_response_ns),
	RTATTR(struct bridge_read, IFLA_BR_MCAST_QUERIER_INTVL, LTICKS, BRIDGE_HAS_QUERIER_INTERVAL, b.querier_interval_ns),
	RTATTR_NESTED(IFLA_BR_MCAST_QUERIER_STATE, BRIDGE_HAS_QUERIER_STATE, NEST_QUERIER),
	RTATTR_BIT(IFLA_BR_VLAN_FILTERING,    FLAG, BRIDGE_VLAN_FILTERING),
	RTATTR_BIT(IFLA_BR_TOPOLOGY_CHANGE,   FLAG, BRIDGE_TOPOLOGY_CHANGE),
	RTATTR_BIT(IFLA_BR_MCAST_SNOOPING,    FLAG, BRIDGE_MCAST_SNOOPING),
	RTATTR_BIT(IFLA_BR_MCAST_QUERIER,     FLAG, BRIDGE_MCAST_QUERIER),
	RTATTR_BIT(IFLA_BR_NF_CALL_IPTABLES,  FLAG, BRIDGE_NF_CALL_IPTABLES),
	RTATTR_BIT(IFLA_BR_NF_CALL_IP6TABLES, FLAG, BRIDGE_NF_CALL_IP6TABLES),
	RTATTR_BIT(IFLA_BR_NF_CALL_ARPTABLES, FLAG, BRIDGE_NF_CALL_ARPTABLES),
};

/* The bits are QUERIER_HAS_*, those of IPv6 moved up by QUERIER_IP6_SHIFT. */
#define QUERIER_IP6_SHIFT 8
#define Q4(bit)           (bit)
#define Q6(bit)           ((bit) << QUERIER_IP6_SHIFT)

static const struct rtattr_rule querier_rules[] = {
	RTATTR(struct querier_read, BRIDGE_QUERIER_IP_ADDRESS,       RAW,    Q4(QUERIER_HAS_ADDRESS), address4),
	RTATTR(struct querier_read, BRIDGE_QUERIER_IP_PORT,          RAW,    Q4(QUERIER_HAS_PORT),    ip4.port),
	RTATTR(struct querier_read, BRIDGE_QUERIER_IP_OTHER_TIMER,   LTICKS, Q4(QUERIER_HAS_TIMER),   ip4.left_ns),
	RTATTR(struct querier_read, BRIDGE_QUERIER_IPV6_ADDRESS,     RAW,    Q6(QUERIER_HAS_ADDRESS), ip6.address),
	RTATTR(struct querier_read, BRIDGE_QUERIER_IPV6_PORT,        RAW,    Q6(QUERIER_HAS_PORT),    ip6.port),
	RTATTR(struct querier_read, BRIDGE_QUERIER_IPV6_OTHER_TIMER, LTICKS, Q6(QUERIER_HAS_TIMER),   ip6.left_ns),
};

static const struct rtattr_rule brport_rules[] = {
	RTATTR(struct brport_info, IFLA_BRPORT_STATE,            STATE, BRPORT_HAS_STATE, state),
	RTATTR(struct brport_info, IFLA_BRPORT_MULTICAST_ROUTER, RAW,   BRPORT_HAS_MCAST_ROUTER, mcast_router),
	RTATTR(struct brport_info, IFLA_BRPORT_GROUP_FWD_MASK,   RAW,   BRPORT_HAS_GROUP_FWD_MASK, group_fwd_mask),
	RTATTR(struct brport_info, IFLA_BRPORT_BACKUP_PORT,      RAW,   BRPORT_HAS_BACKUP_PORT, backup_port),
	RTATTR(struct brport_info, RTNEW_BRPORT_BACKUP_NHID,     RAW,   BRPORT_HAS_BACKUP_NHID, backup_nhid),
	RTATTR_BIT(IFLA_BRPORT_MODE,                 FLAG, BRPORT_HAIRPIN),
	RTATTR_BIT(IFLA_BRPORT_GUARD,                FLAG, BRPORT_GUARD),
	RTATTR_BIT(IFLA_BRPORT_PROTECT,              FLAG, BRPORT_ROOT_BLOCK),
	RTATTR_BIT(IFLA_BRPORT_FAST_LEAVE,           FLAG, BRPORT_FAST_LEAVE),
	RTATTR_BIT(IFLA_BRPORT_LEARNING,             FLAG, BRPORT_LEARNING),
	RTATTR_BIT(IFLA_BRPORT_UNICAST_FLOOD,        FLAG, BRPORT_UNICAST_FLOOD),
	RTATTR_BIT(IFLA_BRPORT_PROXYARP,             FLAG, BRPORT_PROXYARP),
	RTATTR_BIT(IFLA_BRPORT_PROXYARP_WIFI,        FLAG, BRPORT_PROXYARP_WIFI),
	RTATTR_BIT(IFLA_BRPORT_MCAST_FLOOD,          FLAG, BRPORT_MCAST_FLOOD),
	RTATTR_BIT(IFLA_BRPORT_MCAST_TO_UCAST,       FLAG, BRPORT_MCAST_TO_UCAST),
	RTATTR_BIT(IFLA_BRPORT_VLAN_TUNNEL,          FLAG, BRPORT_VLAN_TUNNEL),
	RTATTR_BIT(IFLA_BRPORT_BCAST_FLOOD,          FLAG, BRPORT_BCAST_FLOOD),
	RTATTR_BIT(IFLA_BRPORT_NEIGH_SUPPRESS,       FLAG, BRPORT_NEIGH_SUPPRESS),
	RTATTR_BIT(IFLA_BRPORT_ISOLATED,             FLAG, BRPORT_ISOLATED),
	RTATTR_BIT(IFLA_BRPORT_MRP_RING_OPEN,        FLAG, BRPORT_MRP_RING_OPEN),
	RTATTR_BIT(IFLA_BRPORT_MRP_IN_OPEN,          FLAG, BRPORT_MRP_IN_OPEN),
	RTATTR_BIT(IFLA_BRPORT_LOCKED,               FLAG, BRPORT_LOCKED),
	RTATTR_BIT(RTNEW_BRPORT_MAB,                 FLAG, BRPORT_MAB),
	RTATTR_BIT(RTNEW_BRPORT_NEIGH_VLAN_SUPPRESS, FLAG, BRPORT_NEIGH_VLAN_SUPPRESS),
	RTATTR_BIT(RTNEW_BRPORT_NEIGH_FORWARD_GRAT,  FLAG, BRPORT_NEIGH_FORWARD_GRAT),
};
/* clang-format on */

static const struct rtattr_table link_table = RTATTR_TABLE(link_rules);
static const struct rtattr_table info_table = RTATTR_TABLE(info_rules);
static const struct rtattr_table xdp_table = RTATTR_TABLE(xdp_rules);
static const struct rtattr_table vlan_table = RTATTR_TABLE(vlan_rules);
static const struct rtattr_table bridge_table = RTATTR_TABLE(bridge_rules);
static const struct rtattr_table querier_table = RTATTR_TABLE(querier_rules);
static const struct rtattr_table brport_table = RTATTR_TABLE(brport_rules);

static int read_querier(const struct nlattr *a, struct bridge_info *b, const char **why)
{
	struct querier_read r = { 0 };
	uint32_t present = 0;
	struct rtattr_out ro = { .base = &r, .present = &present };
	int err;

	err = rtattr_read(rtattr_inside(a), &querier_table, &ro, why);
	if (err)
		return err;
	memcpy(r.ip4.address, r.address4, sizeof(r.address4));
	r.ip4.present = present & (Q6(1) - 1);
	r.ip6.present = present >> QUERIER_IP6_SHIFT;
	b->querier[QUERIER_IP4] = r.ip4;
	b->querier[QUERIER_IP6] = r.ip6;
	return 0;
}

static int read_bridge(const struct nlattr *a, struct link_info *l, const char **why)
{
	struct bridge_read r = { 0 };
	struct rtattr_out ro = { .base = &r, .present = &r.b.present, .flags = &r.b.flags };
	int err;

	err = rtattr_read(rtattr_inside(a), &bridge_table, &ro, why);
	if (!err)
		err = read_querier(ro.nest[NEST_QUERIER], &r.b, why);
	if (err)
		return err;
	r.b.boolopt = r.opt.optval;
	r.b.boolopt_mask = r.opt.optmask;
	l->bridge = r.b;
	l->present |= LINK_HAS_BRIDGE;
	return 0;
}

static int read_brport(const struct nlattr *a, struct link_info *l, const char **why)
{
	struct rtattr_out ro = {
		.base = &l->brport,
		.present = &l->brport.present,
		.flags = &l->brport.flags,
	};

	l->present |= LINK_HAS_BRPORT;
	return rtattr_read(rtattr_inside(a), &brport_table, &ro, why);
}

static int read_info(const struct nlattr *a, struct link_info *l, const char **why)
{
	struct rtattr_out ro = { .base = l, .present = &l->present };
	const struct nlattr *data, *slave_data;
	int err;

	err = rtattr_read(rtattr_inside(a), &info_table, &ro, why);
	if (err)
		return err;
	data = ro.nest[NEST_DATA];
	slave_data = ro.nest[NEST_SLAVE_DATA];
	if (data && !strcmp(l->kind, "bridge"))
		err = read_bridge(data, l, why);
	else if (data && !strcmp(l->kind, "vlan"))
		err = rtattr_read(rtattr_inside(data), &vlan_table, &ro, why);
	if (!err && slave_data && !strcmp(l->slave_kind, "bridge"))
		err = read_brport(slave_data, l, why);
	return err;
}

/* What only the device's own message has. */
static int read_device(const struct rtattr_out *top, struct link_info *l, const char **why)
{
	struct rtattr_out ro = { .base = l, .present = &l->present };
	int err;

	err = rtattr_read(rtattr_inside(top->nest[NEST_XDP]), &xdp_table, &ro, why);
	if (err)
		return err;
	return read_info(top->nest[NEST_INFO], l, why);
}

/* What only the bridge's message about a port has. */
static int read_port(const struct rtattr_out *top, struct rtmsg_info *out)
{
	int err;

	err = rtmsg_check_af_spec(top->nest[NEST_AF_SPEC], out);
	if (err || out->link.is_self || !top->nest[NEST_PROTINFO])
		return err;
	return read_brport(top->nest[NEST_PROTINFO], &out->link, &out->why);
}

int rtmsg_read_link(const struct nlmsghdr *h, struct rtmsg_info *out)
{
	const struct ifinfomsg *ifi = NLMSG_DATA(h);
	struct link_info *l = &out->link;
	struct rtattr_out ro = { .base = l, .present = &l->present };
	int err;

	if (ifi->ifi_family != AF_UNSPEC && ifi->ifi_family != AF_BRIDGE)
		return 0;
	if (ifi->ifi_index <= 0)
		return rtmsg_refuse(out, "a link without an index");

	l->ifindex = (uint32_t)ifi->ifi_index;
	l->family = ifi->ifi_family == AF_BRIDGE ? LINK_FAMILY_BRIDGE : LINK_FAMILY_ANY;
	l->deleted = h->nlmsg_type == RTM_DELLINK;
	l->type = ifi->ifi_type;
	l->flags = ifi->ifi_flags;
	l->change = ifi->ifi_change;

	err = rtattr_read(rtmsg_attrs(h, sizeof(*ifi)), &link_table, &ro, &out->why);
	if (err)
		return err;
	err = l->family == LINK_FAMILY_BRIDGE ? read_port(&ro, out)
					      : read_device(&ro, l, &out->why);
	if (err)
		return err;
	out->type = RTMSG_LINK;
	return 0;
}
