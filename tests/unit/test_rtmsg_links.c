/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices, bridges and ports, in recorded messages against what iproute2 said. */
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/if.h>
#include <linux/rtnetlink.h>

#define NS_PER_TICK 10000000

static const char *const oper_states[] = { "UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN",
					   "TESTING", "DORMANT",    "UP" };

/* While the kernel's STP runs, the states of ports change by themselves meanwhile. */
static bool states_move(struct step *s)
{
	return bridge_option(s, "stp_state") == 1;
}

static const struct flag brport_flags[] = {
	{ "hairpin", BRPORT_HAIRPIN, true },
	{ "guard", BRPORT_GUARD, true },
	{ "root_block", BRPORT_ROOT_BLOCK, true },
	{ "fastleave", BRPORT_FAST_LEAVE, true },
	{ "learning", BRPORT_LEARNING, true },
	{ "flood", BRPORT_UNICAST_FLOOD, true },
	{ "mcast_flood", BRPORT_MCAST_FLOOD, true },
	{ "bcast_flood", BRPORT_BCAST_FLOOD, true },
	{ "mcast_to_unicast", BRPORT_MCAST_TO_UCAST, true },
	{ "neigh_suppress", BRPORT_NEIGH_SUPPRESS, true },
	{ "neigh_vlan_suppress", BRPORT_NEIGH_VLAN_SUPPRESS, true },
	{ "neigh_forward_grat", BRPORT_NEIGH_FORWARD_GRAT, true },
	{ "vlan_tunnel", BRPORT_VLAN_TUNNEL, true },
	{ "isolated", BRPORT_ISOLATED, true },
	{ "locked", BRPORT_LOCKED, true },
	{ "mab", BRPORT_MAB, true },
	{ "proxy_arp", BRPORT_PROXYARP, false },
	{ "proxy_arp_wifi", BRPORT_PROXYARP_WIFI, false },
};

static const struct flag bridge_flags[] = {
	{ "vlan_filtering", BRIDGE_VLAN_FILTERING, false },
	{ "topology_change", BRIDGE_TOPOLOGY_CHANGE, false },
	{ "mcast_snooping", BRIDGE_MCAST_SNOOPING, false },
	{ "mcast_querier", BRIDGE_MCAST_QUERIER, false },
	{ "nf_call_iptables", BRIDGE_NF_CALL_IPTABLES, false },
	{ "nf_call_ip6tables", BRIDGE_NF_CALL_IP6TABLES, false },
	{ "nf_call_arptables", BRIDGE_NF_CALL_ARPTABLES, false },
};

static const struct flag bridge_opts[] = {
	{ "no_linklocal_learn", BRIDGE_OPT_NO_LL_LEARN, false },
	{ "mcast_vlan_snooping", BRIDGE_OPT_MCAST_VLAN_SNOOPING, false },
	{ "mst_enabled", BRIDGE_OPT_MST, false },
	{ "mdb_offload_fail_notification", BRIDGE_OPT_MDB_OFFLOAD_FAIL, false },
	{ "fdb_local_vlan_0", BRIDGE_OPT_FDB_LOCAL_VLAN_0, false },
};

static void say_flags(struct lines *out, const char *name, const struct flag *f, size_t n,
		      uint32_t present, uint32_t flags)
{
	for (size_t i = 0; i < n; i++) {
		if (present & f[i].bit)
			say(out, "%s %s %d", name, f[i].key, !!(flags & f[i].bit));
	}
}

/* Numbers: iproute2's name and ours. */
struct number {
	const char *key;
	uint32_t bit;
	size_t off;
};

static const struct number link_numbers[] = {
	{ "mtu", LINK_HAS_MTU, offsetof(struct link_info, mtu) },
	{ "max_mtu", LINK_HAS_MAX_MTU, offsetof(struct link_info, max_mtu) },
	{ "promiscuity", LINK_HAS_PROMISCUITY, offsetof(struct link_info, promiscuity) },
	{ "allmulti", LINK_HAS_ALLMULTI, offsetof(struct link_info, allmulti) },
	{ "num_rx_queues", LINK_HAS_RX_QUEUES, offsetof(struct link_info, num_rx_queues) },
	{ "num_tx_queues", LINK_HAS_TX_QUEUES, offsetof(struct link_info, num_tx_queues) },
};

static void got_bridge(const char *name, const struct bridge_info *b, struct lines *out)
{
	char mac[MAC_STR_SIZE];

	say_flags(out, name, bridge_flags, N_ELEM(bridge_flags), b->present, b->flags);
	say_flags(out, name, bridge_opts, N_ELEM(bridge_opts), b->boolopt_mask, b->boolopt);
	say(out, "%s forward_delay %d", name, (int)(b->forward_delay_ns / NS_PER_TICK));
	say(out, "%s ageing_time %d", name, (int)(b->ageing_time_ns / NS_PER_TICK));
	say(out, "%s stp_state %u", name, b->stp);
	say(out, "%s vlan_protocol %s", name, b->vlan_protocol == 0x8100 ? "802.1Q" : "802.1ad");
	say(out, "%s vlan_default_pvid %u", name, b->default_pvid);
	say(out, "%s group_fwd_mask %#x", name, b->group_fwd_mask);
	say(out, "%s group_addr %s", name, mac_format(&b->group_addr, mac));
	say(out, "%s mcast_router %u", name, b->mcast_router);
	say(out, "%s mcast_igmp_version %u", name, b->igmp_version);
	say(out, "%s mcast_mld_version %u", name, b->mld_version);
	say(out, "%s mcast_query_intvl %d", name, (int)(b->query_interval_ns / NS_PER_TICK));
	say(out, "%s mcast_querier_intvl %d", name, (int)(b->querier_interval_ns / NS_PER_TICK));
	say(out, "%s mcast_query_response_intvl %d", name,
	    (int)(b->query_response_ns / NS_PER_TICK));
	say(out, "%s fdb_max_learned %d", name,
	    b->present & BRIDGE_HAS_FDB_MAX_LEARNED ? (int)b->fdb_max_learned : -1);
	say(out, "%s fdb_n_learned %d", name,
	    b->present & BRIDGE_HAS_FDB_N_LEARNED ? (int)b->fdb_n_learned : -1);
}

static void want_bridge(const char *name, const json_t *o, struct lines *out)
{
	static const char *const same[] = { "forward_delay",       "ageing_time",
					    "stp_state",           "vlan_default_pvid",
					    "fdb_max_learned",     "fdb_n_learned",
					    "mcast_router",        "mcast_igmp_version",
					    "mcast_mld_version",   "mcast_query_intvl",
					    "mcast_querier_intvl", "mcast_query_response_intvl" };

	say_json_flags(out, name, bridge_flags, N_ELEM(bridge_flags), o);
	say_json_flags(out, name, bridge_opts, N_ELEM(bridge_opts), o);
	for (size_t i = 0; i < N_ELEM(same); i++)
		say(out, "%s %s %ld", name, same[i], num(o, same[i]));
	say(out, "%s vlan_protocol %s", name, str(o, "vlan_protocol"));
	say(out, "%s group_fwd_mask %#lx", name, num(o, "group_fwd_mask"));
	say(out, "%s group_addr %s", name, str(o, "group_addr"));
}

static void got_brport(struct step *s, const char *name, const struct brport_info *p,
		       struct lines *out, bool bridge_link)
{
	for (size_t i = 0; i < N_ELEM(brport_flags); i++) {
		if (!bridge_link || brport_flags[i].in_bridge_link)
			say_flags(out, name, &brport_flags[i], 1, p->present, p->flags);
	}
	assert_true(p->present & BRPORT_HAS_STATE);
	if (!states_move(s))
		say(out, "%s state %s", name, stp_states[p->state]);
	say(out, "%s mcast_router %u", name, p->mcast_router);
	if (!bridge_link)
		say(out, "%s group_fwd_mask %u", name, p->group_fwd_mask);
	if (p->present & BRPORT_HAS_BACKUP_PORT)
		say(out, "%s backup_port %s", name, name_of(s, p->backup_port));
}

static void want_brport(struct step *s, const char *name, const json_t *o, struct lines *out,
			bool bridge_link)
{
	say_json_flags(out, name, brport_flags, N_ELEM(brport_flags), o);
	if (!states_move(s))
		say(out, "%s state %s", name, str(o, "state"));
	say(out, "%s mcast_router %ld", name,
	    num(o, bridge_link ? "mcast_router" : "multicast_router"));
	if (!bridge_link)
		say(out, "%s group_fwd_mask %ld", name, num(o, "group_fwd_mask"));
	if (*str(o, "backup_port"))
		say(out, "%s backup_port %s", name, str(o, "backup_port"));
}

static void got_link(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		     struct lines *out)
{
	const struct link_info *l = &m->link;
	const char *name = l->name;
	char mac[MAC_STR_SIZE];

	(void)h;
	if (m->type != RTMSG_LINK)
		return;
	assert_int_equal(l->family, LINK_FAMILY_ANY);
	assert_true(l->present & LINK_HAS_NAME);
	say(out, "%s ifindex %u", name, l->ifindex);
	for (size_t i = 0; i < N_ELEM(link_numbers); i++) {
		if (l->present & link_numbers[i].bit)
			say(out, "%s %s %u", name, link_numbers[i].key,
			    *(const uint32_t *)(const void *)((const char *)l +
							      link_numbers[i].off));
	}
	say(out, "%s up %d %d", name, !!(l->flags & IFF_UP), !!(l->flags & IFF_LOWER_UP));
	say(out, "%s qdisc %s", name, l->qdisc);
	say(out, "%s operstate %s", name, oper_states[l->operstate]);
	say(out, "%s address %s", name, mac_format(&l->mac, mac));
	say(out, "%s kind %s slave %s", name, l->kind, l->slave_kind);
	if (l->present & LINK_HAS_MASTER)
		say(out, "%s master %s", name, name_of(s, l->master));
	if (l->present & LINK_HAS_LOWER)
		say(out, "%s lower %u netns %d", name, l->lower,
		    l->present & LINK_HAS_LOWER_NETNSID ? l->lower_netnsid : -1);
	if (l->present & LINK_HAS_VLAN)
		say(out, "%s vlan %u %s", name, l->vlan_id,
		    l->vlan_protocol == 0x8100 ? "802.1Q" : "802.1ad");
	if (l->present & LINK_HAS_BRIDGE)
		got_bridge(name, &l->bridge, out);
	if (l->present & LINK_HAS_BRPORT)
		got_brport(s, name, &l->brport, out, false);
}

static void want_kind(struct step *s, const char *name, const json_t *l, struct lines *out)
{
	const json_t *info = json_object_get(l, "linkinfo");
	const json_t *data = json_object_get(info, "info_data");

	say(out, "%s kind %s slave %s", name, str(info, "info_kind"), str(info, "info_slave_kind"));
	if (!strcmp(str(info, "info_kind"), "vlan"))
		say(out, "%s vlan %ld %s", name, num(data, "id"), str(data, "protocol"));
	if (!strcmp(str(info, "info_kind"), "bridge"))
		want_bridge(name, data, out);
	if (!strcmp(str(info, "info_slave_kind"), "bridge"))
		want_brport(s, name, json_object_get(info, "info_slave_data"), out, false);
}

static void want_link(struct step *s, const json_t *l, struct lines *out)
{
	const char *name = str(l, "ifname");
	const json_t *flags = json_object_get(l, "flags");

	say(out, "%s ifindex %ld", name, num(l, "ifindex"));
	for (size_t i = 0; i < N_ELEM(link_numbers); i++) {
		if (num(l, link_numbers[i].key) >= 0)
			say(out, "%s %s %ld", name, link_numbers[i].key,
			    num(l, link_numbers[i].key));
	}
	say(out, "%s up %d %d", name, has_flag(flags, "UP"), has_flag(flags, "LOWER_UP"));
	say(out, "%s qdisc %s", name, str(l, "qdisc"));
	say(out, "%s operstate %s", name, str(l, "operstate"));
	say(out, "%s address %s", name, str(l, "address"));
	if (*str(l, "master"))
		say(out, "%s master %s", name, str(l, "master"));
	if (*str(l, "link"))
		say(out, "%s lower %ld netns %ld", name,
		    num(link_by(s, "ifname", str(l, "link"), 0), "ifindex"),
		    num(l, "link_netnsid"));
	else if (num(l, "link_index") >= 0)
		say(out, "%s lower %ld netns %ld", name, num(l, "link_index"),
		    num(l, "link_netnsid"));
	want_kind(s, name, l, out);
}

static void compare_links(struct step *s)
{
	struct lines want = { 0 }, got = { 0 };
	const json_t *l;
	size_t i;

	json_array_foreach(json_object_get(s->state, "ip-link"), i, l) want_link(s, l, &want);
	each_of_dump(s, "link", got_link, &got);
	compare(s, "ip link", &want, &got);
}

static void got_port(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		     struct lines *out)
{
	const struct link_info *l = &m->link;

	(void)h;
	if (m->type != RTMSG_LINK)
		return;
	assert_int_equal(l->family, LINK_FAMILY_BRIDGE);
	assert_false(l->is_self);
	assert_int_equal(!(l->present & LINK_HAS_BRPORT), l->ifindex == l->master);
	if (!(l->present & LINK_HAS_BRPORT))
		return;
	say(out, "%s ifindex %u master %s", l->name, l->ifindex, name_of(s, l->master));
	got_brport(s, l->name, &l->brport, out, true);
}

static void compare_ports(struct step *s, const char *dump)
{
	struct lines want = { 0 }, got = { 0 };
	const json_t *l;
	size_t i;

	json_array_foreach(json_object_get(s->state, "link"), i, l)
	{
		say(&want, "%s ifindex %ld master %s", str(l, "ifname"), num(l, "ifindex"),
		    str(l, "master"));
		want_brport(s, str(l, "ifname"), l, &want, true);
	}
	each_of_dump(s, dump, got_port, &got);
	compare(s, "bridge link", &want, &got);
}

static void got_type(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		     struct lines *out)
{
	static const char *const names[] = {
		[RTMSG_LINK] = "LINK",
		[RTMSG_VLAN] = "VLAN",
		[RTMSG_NEIGH] = "NEIGH",
		[RTMSG_MDB] = "MDB",
	};
	bool deleted = m->type == RTMSG_LINK    ? m->link.deleted
		       : m->type == RTMSG_NEIGH ? m->neigh.deleted
		       : m->type == RTMSG_MDB   ? m->mdb.deleted
						: m->vlan.deleted;

	(void)s;
	/* The kernel's own neighbour table: not read. */
	if (m->type == RTMSG_OTHER)
		say(out, h->nlmsg_type == RTM_NEWNEIGH ? "NEWNEIGH" : "DELNEIGH");
	else
		say(out, "%s%s", deleted ? "DEL" : "NEW", names[m->type]);
	assert_false(m->nl_flags & NLM_F_MULTI);
}

static void compare_events(struct step *s)
{
	struct lines want = { 0 }, got = { 0 };
	const json_t *t;
	size_t i;

	json_array_foreach(json_object_get(s->json, "event_types"), i, t)
		say(&want, "%s", json_string_value(t));
	each_message(s, json_object_get(s->json, "events"), got_type, &got);
	compare(s, "events", &want, &got);
}

static void got_end(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		    struct lines *out)
{
	(void)s;
	(void)h;
	if (m->type == RTMSG_DONE || m->type == RTMSG_ERROR)
		say(out, "%d %d", m->type, m->error);
	else
		assert_true(m->nl_flags & NLM_F_MULTI);
}

/* Each dump has one last message, an error while the bridge module is not loaded. */
static void compare_ends(struct step *s)
{
	struct lines want = { 0 }, got = { 0 };
	const char *name;
	json_t *where;

	json_object_foreach(json_object_get(s->json, "dumps"), name, where)
	{
		bool refused = strstr(str(s->state, name), "not supported");

		say(&want, "%d %d", refused ? RTMSG_ERROR : RTMSG_DONE, refused ? -EOPNOTSUPP : 0);
		each_message(s, where, got_end, &got);
	}
	compare(s, "end of dumps", &want, &got);
}

static void compare_step(struct step *s)
{
	compare_events(s);
	compare_ends(s);
	/* The scenario of large dumps has no state to compare with. */
	if (!json_object_size(s->state))
		return;
	compare_links(s);
	compare_ports(s, "bridge");
	compare_ports(s, "bridge-compressed");
}

static void recorded_links_are_as_iproute2_showed_them(void **state)
{
	(void)state;
	each_step(compare_step, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_links_are_as_iproute2_showed_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
