/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/plan.h"
#include "ctl/rtmsg.h"
#include "util/bitset.h"

#define BR 5

/* ---- a kernel made of structs ---- */

struct world {
	struct mirror *m;
	struct conf *conf;
};

static struct rtmsg_info bridge_msg(void)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };

	i.link.ifindex = BR;
	i.link.present = LINK_HAS_BRIDGE | LINK_HAS_KIND | LINK_HAS_MTU;
	i.link.flags = 1;
	i.link.mtu = 1500;
	snprintf(i.link.name, sizeof(i.link.name), "br0");
	snprintf(i.link.kind, sizeof(i.link.kind), "bridge");
	i.link.bridge.ageing_time_ns = 300000000000ULL;
	i.link.bridge.forward_delay_ns = 15000000000ULL;
	i.link.bridge.vlan_protocol = 0x8100;
	return i;
}

static struct rtmsg_info port_msg(uint32_t n, const char *kind)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };

	i.link.ifindex = 10 + n;
	i.link.master = BR;
	i.link.present = LINK_HAS_BRPORT | LINK_HAS_MASTER | LINK_HAS_MTU;
	i.link.mtu = 1500;
	i.link.carrier = true;
	snprintf(i.link.name, sizeof(i.link.name), "p%u", n);
	snprintf(i.link.kind, sizeof(i.link.kind), "%s", kind);
	i.link.brport.present = BRPORT_HAS_STATE;
	i.link.brport.state = PORT_FORWARDING;
	i.link.brport.flags =
		BRPORT_LEARNING | BRPORT_UNICAST_FLOOD | BRPORT_MCAST_FLOOD | BRPORT_BCAST_FLOOD;
	return i;
}

static void tell(struct world *w, const struct rtmsg_info *i)
{
	bool changed = false;

	assert_int_equal(mirror_apply(w->m, i, NULL, &changed), 0);
}

static void world_init(struct world *w, const char *conf)
{
	w->m = mirror_new();
	assert_non_null(w->m);
	if (conf) {
		assert_int_equal(conf_parse("test", conf, strlen(conf), &w->conf, NULL, NULL), 0);
	} else {
		w->conf = conf_defaults();
		assert_non_null(w->conf);
	}
}

static void world_fini(struct world *w)
{
	mirror_free(w->m);
	conf_free(w->conf);
}

static struct plan *plan_of(const struct world *w, plan_veto_fn veto)
{
	struct plan_input in = {
		.mirror = w->m, .conf = w->conf, .frame_size = 2048, .port_veto = veto
	};
	struct plan *p = NULL;

	assert_int_equal(plan_make(&in, &p), 0);
	return p;
}

/* ---- one port ---- */

static void port_locked(struct rtmsg_info *i)
{
	i->link.brport.flags |= BRPORT_LOCKED;
}

static void port_jumbo(struct rtmsg_info *i)
{
	i->link.mtu = 9000;
}

static void port_biggest(struct rtmsg_info *i)
{
	i->link.mtu = 1770;
}

static void port_too_big(struct rtmsg_info *i)
{
	i->link.mtu = 1771;
}

static void a_port_is_on_the_path_that_its_kind_and_options_allow(void **state)
{
	static const struct {
		const char *name;
		const char *kind;
		const char *conf;
		void (*edit)(struct rtmsg_info *i);
		enum path_reason want;
	} rows[] = {
		{ "a NIC", "", NULL, NULL, PATH_NONE },
		{ "veth by default", "veth", NULL, NULL, PATH_VIRTUAL },
		{ "tun by default", "tun", NULL, NULL, PATH_VIRTUAL },
		{ "veth when asked for", "veth", "accelerate-virtual = yes", NULL, PATH_NONE },
		{ "veth of one bridge", "veth", "bridge br0 { accelerate-virtual = yes }", NULL,
		  PATH_NONE },
		{ "veth with engine = user", "veth", "bridge br0 { port p1 { engine = user } }",
		  NULL, PATH_NONE },
		{ "veth with engine = auto", "veth", "bridge br0 { port p1 { engine = auto } }",
		  NULL, PATH_VIRTUAL },
		{ "engine = kernel", "", "bridge br0 { port p1 { engine = kernel } }", NULL,
		  PATH_CONFIGURED },
		{ "left out", "", "bridge br0 { exclude-ports = { \"p*\" } }", NULL,
		  PATH_EXCLUDED },
		{ "bond", "bond", NULL, NULL, PATH_UNSUPPORTED },
		{ "VLAN device", "vlan", NULL, NULL, PATH_UNSUPPORTED },
		{ "macvlan", "macvlan", NULL, NULL, PATH_UNSUPPORTED },
		{ "locked", "", NULL, port_locked, PATH_LOCKED },
		{ "MTU 9000", "", NULL, port_jumbo, PATH_MTU },
		{ "largest MTU that fits", "", NULL, port_biggest, PATH_NONE },
		{ "one above it", "", NULL, port_too_big, PATH_MTU },
	};

	(void)state;
	for (size_t k = 0; k < N_ELEM(rows); k++) {
		struct rtmsg_info br = bridge_msg(), i = port_msg(1, rows[k].kind);
		struct world w;
		struct plan *p;

		world_init(&w, rows[k].conf);
		tell(&w, &br);
		if (rows[k].edit)
			rows[k].edit(&i);
		tell(&w, &i);
		p = plan_of(&w, NULL);
		assert_int_equal(p->n_bridges, 1);
		assert_int_equal(p->bridge[0].n_ports, 1);
		if (p->bridge[0].port[0].reason != rows[k].want)
			fail_msg("%s: %s, not %s", rows[k].name,
				 path_name(p->bridge[0].port[0].reason), path_name(rows[k].want));
		assert_int_equal(p->bridge[0].port[0].receive, rows[k].want == PATH_NONE);
		plan_free(p);
		world_fini(&w);
	}
}

/*
 * A port whose own state does not learn, with VLAN 10 in some state: the kernel
 * would refuse what is learned there.
 */
static void a_port_that_learns_in_its_vlans_alone_is_left_to_the_kernel(void **state)
{
	static const struct {
		const char *name;
		bool mst, learning, down;
		uint8_t port, vlan;
		enum path_reason want;
	} rows[] = {
		/* clang-format off */
		{ "all forwards",           true,  true,  false, PORT_FORWARDING, PORT_FORWARDING, PATH_NONE },
		{ "instance blocks",        true,  true,  false, PORT_FORWARDING, PORT_BLOCKING,   PATH_NONE },
		{ "port learns",            true,  true,  false, PORT_LEARNING,   PORT_FORWARDING, PATH_NONE },
		{ "both block",             true,  true,  false, PORT_BLOCKING,   PORT_BLOCKING,   PATH_NONE },
		{ "instance forwards",      true,  true,  false, PORT_BLOCKING,   PORT_FORWARDING, PATH_MST },
		{ "instance learns",        true,  true,  false, PORT_LISTENING,  PORT_LEARNING,   PATH_MST },
		{ "port disabled",          true,  true,  false, PORT_DISABLED,   PORT_FORWARDING, PATH_MST },
		{ "nothing is received",    true,  true,  true,  PORT_DISABLED,   PORT_FORWARDING, PATH_NONE },
		{ "nothing is learned",     true,  false, false, PORT_BLOCKING,   PORT_FORWARDING, PATH_NONE },
		{ "one tree, blocked port", false, true,  false, PORT_BLOCKING,   PORT_FORWARDING, PATH_NONE },
		/* clang-format on */
	};

	(void)state;
	for (size_t k = 0; k < N_ELEM(rows); k++) {
		struct rtmsg_info br = bridge_msg(), i = port_msg(1, "");
		struct mirror_vlans *v = calloc(1, sizeof(*v));
		struct world w;
		struct plan *p;

		world_init(&w, NULL);
		br.link.bridge.boolopt = rows[k].mst ? BRIDGE_OPT_MST : 0;
		i.link.flags = rows[k].down ? 0 : 1;
		i.link.brport.state = rows[k].port;
		if (!rows[k].learning)
			i.link.brport.flags &= ~(uint32_t)BRPORT_LEARNING;
		tell(&w, &br);
		tell(&w, &i);
		assert_non_null(v);
		v->n = 1;
		v->mv[10] = (uint8_t)(MV_MEMBER | MV_STATE(rows[k].vlan));
		mirror_find(w.m, i.link.ifindex)->vlans = v;
		p = plan_of(&w, NULL);
		if (p->bridge[0].port[0].reason != rows[k].want)
			fail_msg("%s: %s", rows[k].name, path_name(p->bridge[0].port[0].reason));
		plan_free(p);
		world_fini(&w);
	}
}

/* ---- one bridge ---- */

/* It says so in no message of its own. */
static void a_new_bridge_is_a_member_of_its_default_pvid(void **state)
{
	static const struct {
		const char *name;
		uint32_t present;
		uint16_t pvid;
		uint32_t want_n;
	} rows[] = {
		{ "1", BRIDGE_HAS_DEFAULT_PVID, 1, 1 },
		{ "another", BRIDGE_HAS_DEFAULT_PVID, 4094, 1 },
		{ "none", BRIDGE_HAS_DEFAULT_PVID, VID_NONE, 0 },
		{ "a kernel without VLANs", 0, 0, 0 },
	};

	(void)state;
	for (size_t k = 0; k < N_ELEM(rows); k++) {
		struct rtmsg_info br = bridge_msg();
		const struct mirror_vlans *v;
		struct world w;

		world_init(&w, NULL);
		br.link.bridge.present |= rows[k].present;
		br.link.bridge.default_pvid = rows[k].pvid;
		tell(&w, &br);
		v = mirror_find(w.m, BR)->vlans;
		if ((v ? v->n : 0) != rows[k].want_n)
			fail_msg("%s: %u VLANs", rows[k].name, v ? v->n : 0);
		if (v) {
			assert_int_equal(v->pvid, rows[k].pvid);
			assert_int_equal(v->mv[rows[k].pvid],
					 MV_MEMBER | MV_UNTAGGED | MV_STATE(PORT_FORWARDING));
		}
		world_fini(&w);
	}
}

static void fdb_limit(struct rtmsg_info *br, struct rtmsg_info *i)
{
	(void)i;
	br->link.bridge.fdb_max_learned = 100;
}

static void mst(struct rtmsg_info *br, struct rtmsg_info *i)
{
	(void)i;
	br->link.bridge.boolopt = BRIDGE_OPT_MST;
}

static void nf_call(struct rtmsg_info *br, struct rtmsg_info *i)
{
	(void)i;
	br->link.bridge.flags |= BRIDGE_NF_CALL_IP6TABLES;
}

static void switchdev(struct rtmsg_info *br, struct rtmsg_info *i)
{
	(void)br;
	i->link.present |= LINK_HAS_SWITCH_ID;
}

static void vxlan(struct rtmsg_info *br, struct rtmsg_info *i)
{
	(void)br;
	snprintf(i->link.kind, sizeof(i->link.kind), "vxlan");
}

static void backup(struct rtmsg_info *br, struct rtmsg_info *i)
{
	(void)br;
	i->link.brport.present |= BRPORT_HAS_BACKUP_PORT;
	i->link.brport.backup_port = 12;
}

static void backup_nhid(struct rtmsg_info *br, struct rtmsg_info *i)
{
	backup(br, i);
	i->link.brport.present |= BRPORT_HAS_BACKUP_NHID;
	i->link.brport.backup_nhid = 7;
}

static void to_unicast(struct rtmsg_info *br, struct rtmsg_info *i)
{
	(void)br;
	i->link.brport.flags |= BRPORT_MCAST_TO_UCAST;
}

static void one_port_or_option_can_keep_the_whole_bridge_on_the_kernel_path(void **state)
{
	static const struct {
		const char *name;
		const char *conf;
		void (*edit)(struct rtmsg_info *br, struct rtmsg_info *i);
		enum path_reason want;
	} rows[] = {
		{ "nothing special", NULL, NULL, PATH_NONE },
		{ "engine = kernel", "bridge br0 { engine = kernel }", NULL, PATH_CONFIGURED },
		{ "fdb_max_learned", NULL, fdb_limit, PATH_FDB_LIMIT },
		{ "MST, polled", NULL, mst, PATH_NONE },
		{ "mst = kernel", "mst = kernel", mst, PATH_MST },
		{ "nf_call_ip6tables", NULL, nf_call, PATH_NETFILTER },
		{ "nf_call ignored", "netfilter = ignore", nf_call, PATH_NONE },
		{ "switchdev port", NULL, switchdev, PATH_SWITCHDEV },
		{ "vxlan port", NULL, vxlan, PATH_TUNNEL_DEVICE },
		{ "backup port", NULL, backup, PATH_NONE },
		{ "backup nexthop", NULL, backup_nhid, PATH_BACKUP_NHID },
		{ "mcast_to_unicast", NULL, to_unicast, PATH_NONE },
	};

	(void)state;
	for (size_t k = 0; k < N_ELEM(rows); k++) {
		struct rtmsg_info br = bridge_msg(), i = port_msg(1, ""), other = port_msg(2, "");
		struct world w;
		struct plan *p;

		world_init(&w, rows[k].conf);
		if (rows[k].edit)
			rows[k].edit(&br, &i);
		tell(&w, &br);
		tell(&w, &i);
		tell(&w, &other);
		p = plan_of(&w, NULL);
		if (p->bridge[0].reason != rows[k].want)
			fail_msg("%s: %s, not %s", rows[k].name, path_name(p->bridge[0].reason),
				 path_name(rows[k].want));
		assert_int_equal(p->bridge[0].n_receive, rows[k].want == PATH_NONE ? 2 : 0);
		plan_free(p);
		world_fini(&w);
	}
}

/* ---- multicast ---- */

static void multicast_options_reach_the_model(void **state)
{
	struct rtmsg_info br = bridge_msg(), i = port_msg(1, ""), other = port_msg(2, "");
	struct plan_bridge *b;
	struct world w;
	struct plan *p;

	(void)state;
	world_init(&w, NULL);
	br.link.allmulti = 1;
	br.link.bridge.flags |= BRIDGE_MCAST_SNOOPING;
	br.link.bridge.boolopt |= BRIDGE_OPT_MCAST_VLAN_SNOOPING;
	br.link.bridge.igmp_version = 3;
	br.link.bridge.mld_version = 2;
	to_unicast(&br, &i);
	tell(&w, &br);
	tell(&w, &i);
	tell(&w, &other);
	p = plan_of(&w, NULL);
	b = &p->bridge[0];
	assert_true(b->snooping && b->vlan_snooping && b->attr.snooping);
	assert_true(b->attr.igmp_v3 && b->attr.mld_v2 && b->attr.allmulti);
	assert_int_equal(b->to_unicast, i.link.ifindex);
	plan_free(p);

	br.link.allmulti = 0;
	br.link.bridge.flags = br.link.bridge.boolopt = 0;
	br.link.bridge.igmp_version = 2;
	br.link.bridge.mld_version = 1;
	i.link.brport.flags &= ~(uint32_t)BRPORT_MCAST_TO_UCAST;
	tell(&w, &br);
	tell(&w, &i);
	p = plan_of(&w, NULL);
	b = &p->bridge[0];
	assert_false(b->snooping || b->vlan_snooping || b->attr.snooping);
	assert_false(b->attr.igmp_v3 || b->attr.mld_v2 || b->attr.allmulti);
	assert_int_equal(b->to_unicast, 0);
	plan_free(p);
	world_fini(&w);
}

/* ---- ARP and ND, tunnels ---- */

static void the_port_that_arp_and_nd_go_to_the_kernel_for_is_named(void **state)
{
	/* Of p2 of three ports, with VLANs that suppress or map to a tunnel. */
	static const struct {
		const char *name;
		uint32_t flags, n_suppress, n_tunnel;
		uint32_t want; /* the port */
		enum path_reason reason;
	} rows[] = {
		/* clang-format off */
		{ "none of them",                 0,                          1, 1, 0, PATH_NONE },
		{ "neigh_suppress",               BRPORT_NEIGH_SUPPRESS,      0, 0, 12, PATH_NONE },
		{ "proxy_arp",                    BRPORT_PROXYARP,            0, 0, 12, PATH_NONE },
		{ "proxy_arp_wifi",               BRPORT_PROXYARP_WIFI,       0, 0, 12, PATH_NONE },
		{ "neigh_vlan_suppress",          BRPORT_NEIGH_VLAN_SUPPRESS, 1, 0, 12, PATH_NONE },
		{ "neigh_vlan_suppress in none",  BRPORT_NEIGH_VLAN_SUPPRESS, 0, 0, 0, PATH_NONE },
		{ "vlan_tunnel",                  BRPORT_VLAN_TUNNEL,         0, 1, 0, PATH_VLAN_TUNNEL },
		{ "vlan_tunnel without a tunnel", BRPORT_VLAN_TUNNEL,         0, 0, 0, PATH_NONE },
		/* clang-format on */
	};

	(void)state;
	for (size_t k = 0; k < N_ELEM(rows); k++) {
		struct mirror_vlans *v = calloc(1, sizeof(*v));
		struct rtmsg_info br = bridge_msg();
		struct world w;
		struct plan *p;

		world_init(&w, NULL);
		tell(&w, &br);
		for (uint32_t n = 1; n <= 3; n++) {
			struct rtmsg_info i = port_msg(n, "");

			i.link.brport.flags |= n == 2 ? rows[k].flags : 0;
			tell(&w, &i);
		}
		assert_non_null(v);
		v->n_suppress = rows[k].n_suppress;
		v->n_tunnel = rows[k].n_tunnel;
		mirror_find(w.m, 12)->vlans = v;
		p = plan_of(&w, NULL);
		if (p->bridge[0].neigh != rows[k].want ||
		    p->bridge[0].port[1].reason != rows[k].reason)
			fail_msg("%s: %u, %s", rows[k].name, p->bridge[0].neigh,
				 path_name(p->bridge[0].port[1].reason));
		plan_free(p);
		world_fini(&w);
	}
}

/* ---- backup ports ---- */

static void port_with_backup(struct world *w, uint32_t flags, bool carrier)
{
	struct rtmsg_info i = port_msg(1, "");

	i.link.flags = flags;
	i.link.carrier = carrier;
	i.link.brport.present |= BRPORT_HAS_BACKUP_PORT;
	i.link.brport.backup_port = 12;
	tell(w, &i);
}

static void a_port_is_down_when_it_is_not_up_or_has_no_carrier(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		bool carrier;
		bool is_down;
	} rows[] = {
		{ "up", 1, true, false },
		{ "without carrier", 1, false, true },
		{ "set down", 0, true, true },
		{ "both", 0, false, true },
	};
	struct rtmsg_info br = bridge_msg();

	(void)state;
	for (size_t k = 0; k < N_ELEM(rows); k++) {
		struct world w;
		struct plan *p;

		world_init(&w, NULL);
		tell(&w, &br);
		port_with_backup(&w, rows[k].flags, rows[k].carrier);
		p = plan_of(&w, NULL);
		if (rows[k].is_down != !!(p->bridge[0].port[0].attr.flags & MP_DOWN))
			fail_msg("%s", rows[k].name);
		assert_int_equal(p->bridge[0].port[0].backup, 12);
		plan_free(p);
		world_fini(&w);
	}
}

static void leaves(struct rtmsg_info *i)
{
	i->link.family = LINK_FAMILY_BRIDGE;
	i->link.deleted = true;
}

static void goes(struct rtmsg_info *i)
{
	i->link.deleted = true;
}

static void is_released(struct rtmsg_info *i)
{
	i->link.master = 0;
	i->link.present &= ~(uint32_t)(LINK_HAS_BRPORT | LINK_HAS_MASTER);
}

/* The kernel tells that it left and nothing about those whose backup it was. */
static void a_backup_port_that_left_is_none_when_it_comes_again(void **state)
{
	static void (*const ways[])(struct rtmsg_info * i) = { leaves, goes, is_released };
	struct rtmsg_info br = bridge_msg(), there = port_msg(2, "");

	(void)state;
	for (size_t k = 0; k < N_ELEM(ways); k++) {
		struct rtmsg_info i = port_msg(2, "");
		struct world w;
		struct plan *p;

		world_init(&w, NULL);
		tell(&w, &br);
		tell(&w, &there);
		port_with_backup(&w, 1, false);
		ways[k](&i);
		tell(&w, &i);
		tell(&w, &there);
		p = plan_of(&w, NULL);
		assert_int_equal(p->bridge[0].n_ports, 2);
		assert_int_equal(p->bridge[0].port[0].backup, 0);
		plan_free(p);
		world_fini(&w);
	}
}

static void hold_time_is_the_forward_delay_while_the_topology_changes(void **state)
{
	static const struct {
		const char *name;
		bool is_changing;
		uint64_t ageing_s, delay_s, want_s;
	} rows[] = {
		{ "as ever", false, 300, 15, 300 },
		{ "changing", true, 300, 15, 15 },
		{ "a shorter ageing time", true, 10, 15, 15 },
		{ "nothing ages", true, 0, 15, 15 },
		{ "nothing is learned", false, 0, 15, 0 },
		{ "no delay", true, 300, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct rtmsg_info br = bridge_msg();
		struct world w;
		struct plan *p;

		if (rows[i].is_changing)
			br.link.bridge.flags |= BRIDGE_TOPOLOGY_CHANGE;
		br.link.bridge.ageing_time_ns = rows[i].ageing_s * 1000000000ULL;
		br.link.bridge.forward_delay_ns = rows[i].delay_s * 1000000000ULL;
		world_init(&w, NULL);
		tell(&w, &br);
		p = plan_of(&w, NULL);
		if (p->bridge[0].hold_ns != rows[i].want_s * 1000000000ULL ||
		    p->bridge[0].attr.learning != (rows[i].want_s != 0))
			fail_msg("%s: %llu ns, learning %d", rows[i].name,
				 (unsigned long long)p->bridge[0].hold_ns,
				 p->bridge[0].attr.learning);
		plan_free(p);
		world_fini(&w);
	}
}

static void named_bridges_that_are_not_there_are_waited_for(void **state)
{
	struct world w;
	struct plan *p;

	(void)state;
	world_init(&w, "bridges = { \"br7\", \"lan*\" }\nbridge br8 { engine = user }");
	p = plan_of(&w, NULL);
	assert_int_equal(p->n_bridges, 2);
	for (uint32_t i = 0; i < p->n_bridges; i++)
		assert_int_equal(p->bridge[i].reason, PATH_WAITING);
	plan_free(p);
	world_fini(&w);
}

static enum path_reason deny_p1(void *arg, uint32_t ifindex)
{
	(void)arg;
	return ifindex == 11 ? PATH_XDP_BUSY : PATH_NONE;
}

static void a_vetoed_port_is_an_egress_only(void **state)
{
	struct rtmsg_info br = bridge_msg(), i = port_msg(1, ""), other = port_msg(2, "");
	struct world w;
	struct plan *p;

	(void)state;
	world_init(&w, NULL);
	tell(&w, &br);
	tell(&w, &i);
	tell(&w, &other);
	p = plan_of(&w, deny_p1);
	assert_int_equal(p->bridge[0].n_receive, 1);
	assert_int_equal(p->bridge[0].port[0].reason, PATH_XDP_BUSY);
	assert_false(p->bridge[0].port[0].receive);
	assert_true(p->bridge[0].port[1].receive);
	plan_free(p);
	world_fini(&w);
}

static void vlan_devices_on_a_port_are_its_uppers(void **state)
{
	struct rtmsg_info br = bridge_msg(), i = port_msg(1, ""), up = { .type = RTMSG_LINK };
	struct world w;
	struct plan *p;

	(void)state;
	world_init(&w, NULL);
	tell(&w, &br);
	tell(&w, &i);
	up.link.ifindex = 30;
	up.link.present = LINK_HAS_VLAN | LINK_HAS_LOWER;
	up.link.lower = 11;
	up.link.vlan_id = 40;
	snprintf(up.link.kind, sizeof(up.link.kind), "vlan");
	tell(&w, &up);
	p = plan_of(&w, NULL);
	assert_non_null(p->bridge[0].port[0].uppers);
	assert_int_equal(bitset_count(p->bridge[0].port[0].uppers, bitset_words(VID_N)), 1);
	assert_true(bitset_test(p->bridge[0].port[0].uppers, 40));
	plan_free(p);
	world_fini(&w);
}

static struct rtmsg_info vlan_device_msg(uint16_t vid)
{
	struct rtmsg_info up = { .type = RTMSG_LINK };

	up.link.ifindex = 30;
	up.link.present = LINK_HAS_VLAN | LINK_HAS_LOWER;
	up.link.lower = 11;
	up.link.vlan_id = vid;
	snprintf(up.link.kind, sizeof(up.link.kind), "vlan");
	return up;
}

static bool has_upper(const struct world *w, uint16_t vid)
{
	struct plan *p = plan_of(w, NULL);
	const uint64_t *set = p->bridge[0].port[0].uppers;
	bool has = set && bitset_test(set, vid);

	plan_free(p);
	return has;
}

static void a_vlan_device_that_moves_to_another_namespace_keeps_its_vlan(void **state)
{
	struct rtmsg_info br = bridge_msg(), i = port_msg(1, ""), up = vlan_device_msg(40);
	struct mirror *old;
	struct world w;

	(void)state;
	world_init(&w, NULL);
	tell(&w, &br);
	tell(&w, &i);
	tell(&w, &up);
	up.link.deleted = true;
	up.link.present |= LINK_HAS_NEW_NETNS;
	tell(&w, &up);
	assert_true(has_upper(&w, 40));
	/* All is read again, and nobody tells of it any more. */
	old = w.m;
	w.m = mirror_new();
	assert_non_null(w.m);
	tell(&w, &br);
	tell(&w, &i);
	mirror_keep_away(w.m, old);
	mirror_free(old);
	assert_true(has_upper(&w, 40));
	/* With the port it goes. */
	i.link.deleted = true;
	tell(&w, &i);
	i.link.deleted = false;
	tell(&w, &i);
	assert_false(has_upper(&w, 40));
	world_fini(&w);
}

static void only_a_vlan_device_of_this_port_keeps_its_vlan_when_it_moves(void **state)
{
	static const struct {
		const char *name;
		uint32_t missing, more, lower;
		bool want;
	} rows[] = {
		{ "moves", 0, 0, 11, true },
		{ "is deleted", LINK_HAS_NEW_NETNS, 0, 11, false },
		{ "is no VLAN device", LINK_HAS_VLAN, 0, 11, false },
		{ "is on another device", 0, 0, 12, false },
		{ "is on a device elsewhere", 0, LINK_HAS_LOWER_NETNSID, 11, false },
	};

	(void)state;
	for (size_t k = 0; k < N_ELEM(rows); k++) {
		struct rtmsg_info br = bridge_msg(), i = port_msg(1, "");
		struct rtmsg_info up = vlan_device_msg(40);
		struct world w;

		world_init(&w, NULL);
		tell(&w, &br);
		tell(&w, &i);
		up.link.deleted = true;
		up.link.present |= LINK_HAS_NEW_NETNS | rows[k].more;
		up.link.present &= ~rows[k].missing;
		up.link.lower = rows[k].lower;
		tell(&w, &up);
		if (has_upper(&w, 40) != rows[k].want)
			fail_msg("%s: expected %d", rows[k].name, rows[k].want);
		world_fini(&w);
	}
}

static void a_stand_alone_bridge_comes_from_the_file(void **state)
{
	static const char conf[] = "bridge sw0 { source = file\nvlan-filtering = yes\n"
				   "port e1 { pvid = 10\nvlans-untagged = { \"10\" }\n"
				   "vlans-tagged = { \"20-22\" } }\nport e2 { } }";
	struct rtmsg_info i = port_msg(1, "");
	struct world w;
	struct plan *p;
	struct plan_bridge *b;

	(void)state;
	world_init(&w, conf);
	snprintf(i.link.name, sizeof(i.link.name), "e1");
	i.link.present &= ~(uint32_t)(LINK_HAS_BRPORT | LINK_HAS_MASTER);
	i.link.master = 0;
	i.link.flags = 1;
	tell(&w, &i);
	p = plan_of(&w, NULL);
	assert_int_equal(p->n_bridges, 1);
	b = &p->bridge[0];
	assert_true(b->attr.standalone && b->attr.filtering);
	assert_int_equal(b->n_ports, 2);
	assert_int_equal(b->port[0].reason, PATH_NONE);
	assert_int_equal(b->port[1].reason, PATH_WAITING);
	assert_int_equal(b->n_receive, 1);
	assert_int_equal(b->port[0].attr.pvid, 10);
	assert_int_equal(b->port[0].attr.vlan[10],
			 MV_MEMBER | MV_UNTAGGED | MV_STATE(PORT_FORWARDING));
	assert_int_equal(b->port[0].attr.vlan[22], MV_MEMBER | MV_STATE(PORT_FORWARDING));
	assert_int_equal(b->port[0].attr.vlan[23], 0);
	plan_free(p);
	world_fini(&w);
}

/* The VLAN that ports and the bridge leave with it is told by nobody. */
static void a_new_default_pvid_has_the_vlans_read_again(void **state)
{
	struct rtmsg_info i = bridge_msg();
	struct world w;

	(void)state;
	world_init(&w, NULL);
	i.link.bridge.default_pvid = 1;
	tell(&w, &i);
	assert_false(w.m->is_unsure);
	i.link.bridge.ageing_time_ns++;
	tell(&w, &i);
	assert_false(w.m->is_unsure);
	i.link.bridge.default_pvid = 10;
	tell(&w, &i);
	assert_true(w.m->is_unsure);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_is_on_the_path_that_its_kind_and_options_allow),
		cmocka_unit_test(a_port_that_learns_in_its_vlans_alone_is_left_to_the_kernel),
		cmocka_unit_test(a_new_bridge_is_a_member_of_its_default_pvid),
		cmocka_unit_test(one_port_or_option_can_keep_the_whole_bridge_on_the_kernel_path),
		cmocka_unit_test(multicast_options_reach_the_model),
		cmocka_unit_test(the_port_that_arp_and_nd_go_to_the_kernel_for_is_named),
		cmocka_unit_test(a_port_is_down_when_it_is_not_up_or_has_no_carrier),
		cmocka_unit_test(a_backup_port_that_left_is_none_when_it_comes_again),
		cmocka_unit_test(hold_time_is_the_forward_delay_while_the_topology_changes),
		cmocka_unit_test(named_bridges_that_are_not_there_are_waited_for),
		cmocka_unit_test(a_vetoed_port_is_an_egress_only),
		cmocka_unit_test(vlan_devices_on_a_port_are_its_uppers),
		cmocka_unit_test(a_vlan_device_that_moves_to_another_namespace_keeps_its_vlan),
		cmocka_unit_test(only_a_vlan_device_of_this_port_keeps_its_vlan_when_it_moves),
		cmocka_unit_test(a_stand_alone_bridge_comes_from_the_file),
		cmocka_unit_test(a_new_default_pvid_has_the_vlans_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
