/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control-kernel.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "ctl/ethdev.h"
#include "ctl/guard.h"
#include "ctl/hostpair.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "util/clock.h"

#define BR             5
#define PORT_IF(i)     (10 + (i))
#define DATAGRAM       32768
#define ROOM           (128U << 10) /* for one datagram and the message that did not fit in */
#define VLANS_OF_ENTRY 500          /* in one message of a dump */

uint64_t kernel_n_views, kernel_n_rules;

static struct {
	enum kernel_list list;
	uint32_t n_ports;
	struct view *view;
	bool is_gone[KERNEL_PORTS][VID_N]; /* a VLAN of a port that an event took away */
	uint32_t buf[ROOM / sizeof(uint32_t)];
	size_t len;
	rtsock_fn fn;
	void *arg;
	int err;
} k;

void kernel_set(enum kernel_list list, uint32_t n_ports)
{
	memset(k.is_gone, 0, sizeof(k.is_gone));
	k.list = list;
	kernel_n_views = kernel_n_rules = 0;
	k.n_ports = n_ports < KERNEL_PORTS ? n_ports : KERNEL_PORTS;
}

/* ---- writing messages ---- */

/* Hands what was written to the parser, and its messages on. */
static void flush(void)
{
	const uint8_t *p = (const uint8_t *)k.buf;
	struct rtmsg_info m;

	for (size_t len = k.len; len && !k.err; p += m.size, len -= m.size) {
		const struct nlmsghdr *h = (const void *)p;

		k.err = rtmsg_parse(h, len, &m);
		if (!k.err)
			k.err = k.fn(k.arg, &m, h);
	}
	k.len = 0;
}

static void *put(size_t len)
{
	void *p = (uint8_t *)k.buf + k.len;

	if (k.len + NLMSG_ALIGN(len) > sizeof(k.buf))
		abort();
	memset(p, 0, NLMSG_ALIGN(len));
	k.len += NLMSG_ALIGN(len);
	return p;
}

static struct nlmsghdr *begin(uint16_t type, const void *fixed, size_t len)
{
	struct nlmsghdr *h;

	if (k.len >= DATAGRAM)
		flush();
	h = put(sizeof(*h));
	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_MULTI;
	memcpy(put(len), fixed, len);
	return h;
}

static void end(struct nlmsghdr *h)
{
	h->nlmsg_len = (uint32_t)((uint8_t *)k.buf + k.len - (uint8_t *)h);
}

static void attr(uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = put(NLA_HDRLEN + len);

	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	a->nla_type = type;
	memcpy((uint8_t *)a + NLA_HDRLEN, data, len);
}

static void attr_u8(uint16_t type, uint8_t v)
{
	attr(type, &v, sizeof(v));
}

static void attr_u32(uint16_t type, uint32_t v)
{
	attr(type, &v, sizeof(v));
}

static struct nlattr *nest(uint16_t type)
{
	struct nlattr *a = put(NLA_HDRLEN);

	a->nla_type = type;
	return a;
}

static void nest_end(struct nlattr *a)
{
	a->nla_len = (uint16_t)((uint8_t *)k.buf + k.len - (uint8_t *)a);
}

/* ---- links ---- */

struct mac kernel_port_mac(uint32_t i)
{
	return mac_from_u64(0x020000000100ULL + i);
}

static void put_head(const char *name, uint32_t master, uint32_t i)
{
	struct mac mac = kernel_port_mac(i);

	attr(IFLA_IFNAME, name, strlen(name) + 1);
	attr(IFLA_ADDRESS, &mac, MAC_LEN);
	attr_u32(IFLA_MTU, 1500);
	attr_u8(IFLA_CARRIER, 1);
	attr_u32(IFLA_NUM_RX_QUEUES, 1);
	if (master)
		attr_u32(IFLA_MASTER, master);
}

static void put_bridge(void)
{
	struct ifinfomsg ifi = { .ifi_index = BR, .ifi_flags = IFF_UP, .ifi_type = 1 };
	struct nlmsghdr *h = begin(RTM_NEWLINK, &ifi, sizeof(ifi));
	struct nlattr *info, *data;

	put_head("br0", 0, KERNEL_PORTS);
	info = nest(IFLA_LINKINFO);
	attr(IFLA_INFO_KIND, "bridge", sizeof("bridge"));
	data = nest(IFLA_INFO_DATA);
	attr_u32(IFLA_BR_FORWARD_DELAY, 1500);
	attr_u32(IFLA_BR_AGEING_TIME, 30000);
	attr_u8(IFLA_BR_VLAN_FILTERING, 1);
	nest_end(data);
	nest_end(info);
	end(h);
}

static void put_options(void)
{
	attr_u8(IFLA_BRPORT_STATE, BR_STATE_FORWARDING);
	attr_u8(IFLA_BRPORT_LEARNING, 1);
	attr_u8(IFLA_BRPORT_UNICAST_FLOOD, 1);
	attr_u8(IFLA_BRPORT_MCAST_FLOOD, 1);
	attr_u8(IFLA_BRPORT_BCAST_FLOOD, 1);
}

static void put_port(uint32_t i)
{
	struct ifinfomsg ifi = { .ifi_index = (int)PORT_IF(i), .ifi_flags = IFF_UP, .ifi_type = 1 };
	struct nlmsghdr *h = begin(RTM_NEWLINK, &ifi, sizeof(ifi));
	struct nlattr *info, *data;
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "swp%u", i);
	put_head(name, BR, i);
	info = nest(IFLA_LINKINFO);
	attr(IFLA_INFO_SLAVE_KIND, "bridge", sizeof("bridge"));
	data = nest(IFLA_INFO_SLAVE_DATA);
	put_options();
	nest_end(data);
	nest_end(info);
	end(h);
}

static uint16_t vlan_flags(uint32_t vid)
{
	return k.list == KERNEL_LIST_MIXED && vid % 2 ? BRIDGE_VLAN_INFO_UNTAGGED : 0;
}

static void put_info(uint32_t vid, uint16_t flags)
{
	struct bridge_vlan_info v = { .flags = flags, .vid = (uint16_t)vid };

	attr(IFLA_BRIDGE_VLAN_INFO, &v, sizeof(v));
}

/* Neighbours with the same flags as one range, as the kernel does it. */
static void put_list(uint32_t port)
{
	const bool *gone = k.is_gone[port];

	for (uint32_t vid = 1, last; vid <= KERNEL_VLANS; vid = last + 1) {
		last = vid;
		if (gone[vid])
			continue;
		while (last < KERNEL_VLANS && !gone[last + 1] &&
		       vlan_flags(last + 1) == vlan_flags(vid))
			last++;
		if (last == vid) {
			put_info(vid, vlan_flags(vid));
			continue;
		}
		put_info(vid, vlan_flags(vid) | BRIDGE_VLAN_INFO_RANGE_BEGIN);
		put_info(last, vlan_flags(vid) | BRIDGE_VLAN_INFO_RANGE_END);
	}
}

static void put_bridge_link(uint32_t i)
{
	struct ifinfomsg ifi = { .ifi_family = AF_BRIDGE,
				 .ifi_index = (int)PORT_IF(i),
				 .ifi_flags = IFF_UP };
	struct nlmsghdr *h = begin(RTM_NEWLINK, &ifi, sizeof(ifi));
	struct nlattr *a;
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "swp%u", i);
	put_head(name, BR, i);
	a = nest(IFLA_PROTINFO | NLA_F_NESTED);
	put_options();
	nest_end(a);
	a = nest(IFLA_AF_SPEC);
	put_list(i);
	nest_end(a);
	end(h);
}

/* ---- VLANs ---- */

static void put_entry(uint32_t vid)
{
	struct bridge_vlan_info v = { .flags = vlan_flags(vid), .vid = (uint16_t)vid };
	struct nlattr *a = nest(BRIDGE_VLANDB_ENTRY | NLA_F_NESTED);

	attr(BRIDGE_VLANDB_ENTRY_INFO, &v, sizeof(v));
	attr_u8(BRIDGE_VLANDB_ENTRY_STATE, BR_STATE_FORWARDING);
	nest_end(a);
}

static void put_vlans(uint32_t port, uint32_t first, uint32_t last, uint16_t type)
{
	struct br_vlan_msg vm = { .family = AF_BRIDGE, .ifindex = PORT_IF(port) };
	struct nlmsghdr *h = begin(type, &vm, sizeof(vm));

	for (uint32_t vid = first; vid <= last; vid++)
		put_entry(vid);
	end(h);
}

static void put_all_vlans(void)
{
	for (uint32_t i = 0; i < k.n_ports; i++) {
		for (uint32_t vid = 1; vid <= KERNEL_VLANS; vid += VLANS_OF_ENTRY)
			put_vlans(i, vid, vid + VLANS_OF_ENTRY - 1, RTM_NEWVLAN);
	}
}

/* ---- forwarding entries: the port's own address in VLAN 0 and each of its VLANs ---- */

static void put_neigh(uint32_t i, uint32_t vid)
{
	struct ndmsg nd = { .ndm_family = AF_BRIDGE,
			    .ndm_ifindex = (int)PORT_IF(i),
			    .ndm_state = NUD_PERMANENT };
	struct nda_cacheinfo age = { .ndm_refcnt = 0 };
	struct nlmsghdr *h = begin(RTM_NEWNEIGH, &nd, sizeof(nd));
	struct mac mac = kernel_port_mac(i);
	uint16_t v = (uint16_t)vid;

	attr(NDA_LLADDR, &mac, MAC_LEN);
	attr_u32(NDA_MASTER, BR);
	attr(NDA_CACHEINFO, &age, sizeof(age));
	if (v)
		attr(NDA_VLAN, &v, sizeof(v));
	end(h);
}

static void put_neighs(void)
{
	for (uint32_t i = 0; i < k.n_ports; i++) {
		for (uint32_t vid = 0; vid <= KERNEL_VLANS; vid++)
			put_neigh(i, vid);
	}
}

/* ---- in place of the sockets ---- */

static void put_links(void)
{
	put_bridge();
	for (uint32_t i = 0; i < k.n_ports; i++)
		put_port(i);
}

int rtsock_dump(struct rtsock *s, enum rtreq_dump what, rtsock_fn fn, void (*tick)(void *arg),
		void *arg)
{
	(void)s;
	(void)tick;
	k.fn = fn;
	k.arg = arg;
	k.err = 0;
	k.len = 0;
	if (what == RTREQ_LINKS)
		put_links();
	for (uint32_t i = 0; what == RTREQ_BRIDGE_LINKS && i < k.n_ports; i++)
		put_bridge_link(i);
	if (what == RTREQ_VLANS)
		put_all_vlans();
	if (what == RTREQ_NEIGHS)
		put_neighs();
	flush();
	return k.err;
}

int rtsock_dump_port(struct rtsock *s, uint32_t ifindex, rtsock_fn fn, void (*tick)(void *arg),
		     void *arg)
{
	(void)s;
	(void)ifindex;
	(void)fn;
	(void)tick;
	(void)arg;
	return -EOPNOTSUPP;
}

int rtsock_neigh(struct rtsock *s, uint32_t ifindex, uint16_t vid, const struct mac *mac,
		 rtsock_fn fn, void *arg)
{
	(void)s;
	(void)ifindex;
	(void)vid;
	(void)mac;
	(void)fn;
	(void)arg;
	return -EOPNOTSUPP;
}

int rtsock_link(struct rtsock *s, uint32_t ifindex, rtsock_fn fn, void *arg)
{
	(void)s;
	(void)ifindex;
	(void)fn;
	(void)arg;
	return -EOPNOTSUPP;
}

int rtsock_request(struct rtsock *s, const void *buf, size_t len, int *last)
{
	(void)s;
	(void)buf;
	(void)len;
	(void)last;
	return 0;
}

static int take_event(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct ctl *c = arg;

	return mirror_apply(c->mirror, i, h, &c->plan_wanted);
}

int kernel_vlan_event(struct ctl *c, uint32_t port, uint16_t vid, bool comes, bool alone)
{
	k.fn = take_event;
	k.arg = c;
	k.err = 0;
	k.len = 0;
	k.is_gone[port][vid] = !comes;
	put_vlans(port, vid, vid, comes ? RTM_NEWVLAN : RTM_DELVLAN);
	if (!alone)
		put_bridge_link(port);
	flush();
	return k.err;
}

/* ---- in place of the data plane ---- */

const struct view *kernel_view(void)
{
	return k.view;
}

void dp_publish(struct dp *dp, struct view *v)
{
	(void)dp;
	view_free(k.view);
	k.view = v;
	kernel_n_views++;
}

const struct view *dp_view(const struct dp *dp)
{
	(void)dp;
	return k.view;
}

int dp_port_open(struct dp *dp, const struct dp_port_config *cfg, enum path_reason *reason,
		 const char **why)
{
	(void)dp;
	(void)cfg;
	(void)reason;
	(void)why;
	return 0;
}

void dp_port_close(struct dp *dp, uint16_t slot, bool gone, struct dp_port_counters *last)
{
	(void)dp;
	(void)slot;
	(void)gone;
	(void)last;
}

int dp_port_rules_set(struct dp *dp, uint16_t slot, const struct xb_port_rules *rules)
{
	(void)dp;
	(void)slot;
	(void)rules;
	kernel_n_rules++;
	return 0;
}

int dp_port_uppers_set(struct dp *dp, uint16_t slot, const uint16_t *vid, uint32_t n)
{
	(void)dp;
	(void)slot;
	(void)vid;
	(void)n;
	return 0;
}

int dp_port_info(struct dp *dp, uint16_t slot, struct dp_port_info *out)
{
	(void)dp;
	(void)slot;
	*out = (struct dp_port_info){ .open = true, .recovers_tags = true };
	return 0;
}

int dp_bridge_rules_set(struct dp *dp, uint16_t bridge, const struct dp_bridge_rules *rules)
{
	(void)dp;
	(void)bridge;
	(void)rules;
	return 0;
}

int dp_host_attach(struct dp *dp, uint32_t hq_ifindex, uint32_t bridge_ifindex, const char **why)
{
	(void)dp;
	(void)hq_ifindex;
	(void)bridge_ifindex;
	(void)why;
	return 0;
}

int dp_local_add(struct dp *dp, uint16_t bridge, const struct mac *mac)
{
	(void)dp;
	(void)bridge;
	(void)mac;
	return 0;
}

int dp_local_del(struct dp *dp, uint16_t bridge, const struct mac *mac)
{
	(void)dp;
	(void)bridge;
	(void)mac;
	return 0;
}

int dp_port_counters(struct dp *dp, uint16_t slot, struct dp_port_counters *out)
{
	(void)dp;
	(void)slot;
	*out = (struct dp_port_counters){ 0 };
	return 0;
}

bool dp_frames(struct dp *dp, struct dp_frame_sum *out)
{
	(void)dp;
	*out = (struct dp_frame_sum){ 0 };
	return true;
}

void dp_stats_read(struct dp *dp, struct dp_stats *out)
{
	(void)dp;
	*out = (struct dp_stats){ 0 };
}

void dp_gate_set(struct dp *dp, bool open)
{
	(void)dp;
	(void)open;
}

void dp_sweep(struct dp *dp)
{
	(void)dp;
}

/* ---- what else the daemon asks the system ---- */

int hostpair_make(uint32_t bridge_ifindex, uint32_t mtu, uint32_t *h_ifindex, uint32_t *q_ifindex)
{
	(void)bridge_ifindex;
	(void)mtu;
	*h_ifindex = 900;
	*q_ifindex = 901;
	return 0;
}

int hostpair_remove(uint32_t bridge_ifindex)
{
	(void)bridge_ifindex;
	return 0;
}

int hostpair_set_mtu(uint32_t bridge_ifindex, uint32_t mtu)
{
	(void)bridge_ifindex;
	(void)mtu;
	return 0;
}

int ethdev_queues(const char *ifname, uint32_t *n_rx, uint32_t *n_tx)
{
	(void)ifname;
	*n_rx = *n_tx = 1;
	return 0;
}

bool guard_has_bridge_netfilter(const struct guard *g, const char **what)
{
	(void)g;
	(void)what;
	return false;
}

bool guard_has_tc(const struct guard *g, uint32_t ifindex, const char **what)
{
	(void)g;
	(void)ifindex;
	(void)what;
	return false;
}

bool guard_has_address(const struct guard *g, uint32_t ifindex)
{
	(void)g;
	(void)ifindex;
	return false;
}

int guard_rxvlan_off(const char *ifname, bool *was_on)
{
	(void)ifname;
	*was_on = false;
	return 0;
}

int guard_rxvlan_restore(const char *ifname)
{
	(void)ifname;
	return 0;
}

enum learn_origin learn_origin(struct ctl *c, uint16_t bridge, uint64_t key, uint16_t slot)
{
	(void)c;
	(void)bridge;
	(void)key;
	(void)slot;
	return LEARN_NEWS;
}

void learn_again(struct ctl *c, uint16_t bridge, uint64_t key, uint16_t slot)
{
	(void)c;
	(void)bridge;
	(void)key;
	(void)slot;
}

int ctl_read_mirror(struct ctl *c, struct mirror **out)
{
	(void)c;
	(void)out;
	return -EOPNOTSUPP;
}

void ctl_alive(struct ctl *c)
{
	(void)c;
}

void ctl_catch_up(struct ctl *c)
{
	(void)c;
}

void ctl_read_events(struct ctl *c)
{
	(void)c;
}

/* ---- the daemon ---- */

struct ctl *kernel_ctl_new(void)
{
	struct ctl *c = calloc(1, sizeof(*c));
	static char guard;

	if (!c)
		return NULL;
	log_set_level(LOG_LEVEL_WARN);
	c->guard = (struct guard *)(void *)&guard;
	c->conf = conf_defaults();
	c->model = model_new();
	c->mirror = mirror_new();
	c->now_ns = clock_now_ns();
	if (c->conf && c->model && c->mirror)
		return c;
	kernel_ctl_free(c);
	return NULL;
}

void kernel_ctl_free(struct ctl *c)
{
	view_free(k.view);
	k.view = NULL;
	reconcile_close_all(c);
	model_free(c->model);
	mirror_free(c->mirror);
	conf_free(c->conf);
	free(c);
}

static int take_mirror(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	bool changed;

	return mirror_apply(arg, i, h, &changed);
}

int kernel_start(struct ctl *c)
{
	static const enum rtreq_dump dumps[] = { RTREQ_LINKS, RTREQ_BRIDGE_LINKS, RTREQ_VLANS };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(dumps) / sizeof(dumps[0]); i++)
		err = rtsock_dump(NULL, dumps[i], take_mirror, NULL, c->mirror);
	if (err)
		return err;
	c->fdb_wanted = true;
	return reconcile_run(c);
}
