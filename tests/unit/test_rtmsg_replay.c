/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages recorded from three kernels, against what iproute2 said at the time.
 * Both sides are written as lines of text, sorted, and compared.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>

#include "core/limits.h"
#include "ctl/rtmsg.h"

#define NS_PER_TICK 10000000

static const char *const kernels[] = { "6.1", "6.12", "7.2" };
static const char *const scenarios[] = { "basic", "mst", "ustp", "two", "big" };

static const char *const stp_states[] = { "disabled", "listening", "learning", "forwarding",
					  "blocking" };
static const char *const oper_states[] = { "UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN",
					   "TESTING", "DORMANT",    "UP" };

/* The lines of one side. */
struct lines {
	char **v;
	size_t n, size;
};

__attribute__((format(printf, 2, 3))) static void say(struct lines *l, const char *fmt, ...)
{
	va_list ap;

	if (l->n == l->size) {
		l->size = l->size ? l->size * 2 : 64;
		l->v = realloc(l->v, l->size * sizeof(*l->v));
		assert_non_null(l->v);
	}
	va_start(ap, fmt);
	assert_true(vasprintf(&l->v[l->n++], fmt, ap) >= 0);
	va_end(ap);
}

static void lines_free(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct lines){ 0 };
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What is being compared. */
struct step {
	const char *kernel, *scenario;
	const char *bin;
	size_t bin_len;
	json_t *json;  /* this step's */
	json_t *state; /* what iproute2 said last of each subject */
	size_t n_compared;
};

static void compare(struct step *s, const char *what, struct lines *want, struct lines *got)
{
	size_t n = want->n < got->n ? want->n : got->n, i = 0;

	if (want->n)
		qsort(want->v, want->n, sizeof(*want->v), by_text);
	if (got->n)
		qsort(got->v, got->n, sizeof(*got->v), by_text);
	while (i < n && !strcmp(want->v[i], got->v[i]))
		i++;
	if (i < want->n || i < got->n)
		fail_msg("linux %s, %s, step %d (%s), %s: want \"%s\", got \"%s\"", s->kernel,
			 s->scenario, (int)json_integer_value(json_object_get(s->json, "n")),
			 json_string_value(json_object_get(s->json, "label")), what,
			 i < want->n ? want->v[i] : "no more", i < got->n ? got->v[i] : "no more");
	s->n_compared += want->n;
	lines_free(want);
	lines_free(got);
}

static const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* Numbers, booleans and hexadecimal strings; -1 if absent. */
static long num(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!v)
		return -1;
	if (json_is_string(v))
		return strtol(json_string_value(v), NULL, 16);
	return json_is_integer(v) ? (long)json_integer_value(v) : json_is_true(v);
}

static const json_t *link_by(struct step *s, const char *key, const char *name, uint32_t index)
{
	const json_t *l;
	size_t i;

	json_array_foreach(json_object_get(s->state, "ip-link"), i, l)
	{
		if (key ? !strcmp(str(l, key), name) : num(l, "ifindex") == (long)index)
			return l;
	}
	return NULL;
}

static const char *name_of(struct step *s, uint32_t ifindex)
{
	const json_t *l = link_by(s, NULL, NULL, ifindex);

	static char unnamed[4][16];
	static unsigned int i;

	if (l)
		return str(l, "ifname");
	snprintf(unnamed[++i % 4], sizeof(unnamed[0]), "port%u", ifindex);
	return unnamed[i % 4];
}

static long bridge_option(struct step *s, const char *key)
{
	const json_t *info = json_object_get(link_by(s, "ifname", "br0", 0), "linkinfo");

	return num(json_object_get(info, "info_data"), key);
}

/*
 * While stations age in a second, one that was learned may be gone between the
 * dump and iproute2's look.
 */
static bool ages_fast(struct step *s)
{
	long ticks = bridge_option(s, "ageing_time");

	return ticks >= 0 && ticks < 1000;
}

/* While the kernel's STP runs, the states of ports change by themselves meanwhile. */
static bool states_move(struct step *s)
{
	return bridge_option(s, "stp_state") == 1;
}

/* A walk over the datagrams of one dump or of a step's events. */
typedef void (*message_fn)(struct step *, const struct nlmsghdr *, const struct rtmsg_info *,
			   struct lines *);

static void each_message(struct step *s, const json_t *where, message_fn fn, struct lines *out)
{
	size_t off = (size_t)json_integer_value(json_array_get(where, 0)), i;
	const json_t *len_json;

	json_array_foreach(json_array_get(where, 1), i, len_json)
	{
		size_t len = (size_t)json_integer_value(len_json);
		char *copy = malloc(len), *p = copy; /* so that a sanitizer sees an overrun */
		struct rtmsg_info m;

		assert_non_null(copy);
		assert_true(off + len <= s->bin_len);
		memcpy(copy, s->bin + off, len);
		for (off += len; len; p += m.size, len -= m.size) {
			const struct nlmsghdr *h = (const void *)p;

			if (rtmsg_parse(h, len, &m))
				fail_msg("linux %s, %s, offset %zu: %s", s->kernel, s->scenario,
					 off - len, m.why);
			assert_true(m.size && m.size <= len);
			fn(s, h, &m, out);
		}
		free(copy);
	}
}

static void each_of_dump(struct step *s, const char *dump, message_fn fn, struct lines *out)
{
	each_message(s, json_object_get(json_object_get(s->json, "dumps"), dump), fn, out);
}

/* Flags of a port: iproute2's name, our bit, and whether `bridge link` has it too. */
struct flag {
	const char *key;
	uint32_t bit;
	bool in_bridge_link;
};

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

static void say_json_flags(struct lines *out, const char *name, const struct flag *f, size_t n,
			   const json_t *o)
{
	for (size_t i = 0; i < n; i++) {
		if (json_object_get(o, f[i].key))
			say(out, "%s %s %ld", name, f[i].key, num(o, f[i].key));
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
	say(out, "%s fdb_max_learned %d", name,
	    b->present & BRIDGE_HAS_FDB_MAX_LEARNED ? (int)b->fdb_max_learned : -1);
	say(out, "%s fdb_n_learned %d", name,
	    b->present & BRIDGE_HAS_FDB_N_LEARNED ? (int)b->fdb_n_learned : -1);
}

static void want_bridge(const char *name, const json_t *o, struct lines *out)
{
	static const char *const same[] = {
		"forward_delay",     "ageing_time",     "stp_state",
		"vlan_default_pvid", "fdb_max_learned", "fdb_n_learned"
	};

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

static bool has_flag(const json_t *flags, const char *want)
{
	const json_t *f;
	size_t i;

	json_array_foreach(flags, i, f)
	{
		if (!strcmp(json_string_value(f), want))
			return true;
	}
	return false;
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

/* VLANs, one line for each VID, with or without what only RTM_GETVLAN tells. */
struct vlan_arg {
	struct step *s;
	struct lines *out;
};

static int got_vlan(void *arg, const struct vlan_info *v)
{
	const struct vlan_arg *a = arg;
	const char *name = name_of(a->s, v->ifindex);

	assert_false(v->deleted);
	for (uint32_t vid = v->vid_first; vid <= v->vid_last; vid++) {
		if (v->source == VLAN_GLOBAL) {
			say(a->out, "%s %u snooping %d querier %d msti %u", name, vid,
			    v->mcast_snooping, v->mcast_querier, v->msti);
			continue;
		}
		say(a->out, "%s %u%s%s", name, vid, v->flags & VLAN_PVID ? " pvid" : "",
		    v->flags & VLAN_UNTAGGED ? " untagged" : "");
		if (v->source == VLAN_IN_LINK)
			continue;
		assert_true(v->present & VLAN_HAS_STATE);
		say(a->out, "%s %u state %s router %u", name, vid, stp_states[v->state],
		    v->mcast_router);
		if (v->present & VLAN_HAS_NEIGH_SUPPRESS)
			say(a->out, "%s %u neigh_suppress %d", name, vid, v->neigh_suppress);
		if (v->present & VLAN_HAS_NEIGH_FORWARD_GRAT)
			say(a->out, "%s %u neigh_forward_grat %d", name, vid,
			    v->neigh_forward_grat);
	}
	return 0;
}

static int count_vlan(void *arg, const struct vlan_info *v)
{
	(void)v;
	++*(uint32_t *)arg;
	return 0;
}

static void got_vlans(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		      struct lines *out)
{
	struct vlan_arg a = { s, out };
	uint32_t n = 0;

	if (m->type == RTMSG_VLAN) {
		assert_int_equal(rtmsg_vlans(h, got_vlan, &a), 0);
		assert_int_equal(rtmsg_vlans(h, count_vlan, &n), 0);
		assert_int_equal(n, m->vlan.n_vlans);
	} else if (m->type == RTMSG_LINK) {
		assert_int_equal(rtmsg_link_vlans(h, got_vlan, &a), 0);
		assert_int_equal(rtmsg_link_vlans(h, count_vlan, &n), 0);
		assert_int_equal(n, m->link.n_vlans);
	}
}

static void want_vlan(const char *name, const json_t *v, bool detail, struct lines *out)
{
	static const struct flag opts[] = {
		{ "neigh_suppress", 0, false },
		{ "neigh_forward_grat", 0, false },
	};
	long last = json_object_get(v, "vlanEnd") ? num(v, "vlanEnd") : num(v, "vlan");
	const json_t *flags = json_object_get(v, "flags");
	char prefix[64];

	for (long vid = num(v, "vlan"); vid <= last; vid++) {
		snprintf(prefix, sizeof(prefix), "%s %ld", name, vid);
		say(out, "%s%s%s", prefix, has_flag(flags, "PVID") ? " pvid" : "",
		    has_flag(flags, "Egress Untagged") ? " untagged" : "");
		if (!detail)
			continue;
		say(out, "%s state %s router %ld", prefix, str(v, "state"), num(v, "mcast_router"));
		say_json_flags(out, prefix, opts, N_ELEM(opts), v);
	}
}

static void want_vlans(struct step *s, bool detail, struct lines *out)
{
	const json_t *port, *v;
	size_t i, j;

	json_array_foreach(json_object_get(s->state, "vlan"), i, port)
	{
		json_array_foreach(json_object_get(port, "vlans"), j, v)
			want_vlan(str(port, "ifname"), v, detail, out);
	}
}

static void compare_vlans(struct step *s, const char *dump)
{
	struct lines want = { 0 }, got = { 0 };

	want_vlans(s, !strcmp(dump, "vlan"), &want);
	each_of_dump(s, dump, got_vlans, &got);
	compare(s, dump, &want, &got);
}

static void compare_vlans_global(struct step *s)
{
	struct lines want = { 0 }, got = { 0 };
	const json_t *br, *v;
	size_t i, j;

	json_array_foreach(json_object_get(s->state, "vlan-global"), i, br)
	{
		json_array_foreach(json_object_get(br, "vlans"), j, v)
		{
			long last = num(v, json_object_get(v, "vlanEnd") ? "vlanEnd" : "vlan");

			for (long vid = num(v, "vlan"); vid <= last; vid++)
				say(&want, "%s %ld snooping %ld querier %ld msti %ld",
				    str(br, "ifname"), vid, num(v, "mcast_snooping"),
				    num(v, "mcast_querier"), num(v, "msti"));
		}
	}
	each_of_dump(s, "vlan-global", got_vlans, &got);
	compare(s, "vlan global", &want, &got);
}

static int got_mst_state(void *arg, const struct mst_info *m)
{
	const struct vlan_arg *a = arg;

	say(a->out, "%s msti %u %s", name_of(a->s, m->ifindex), m->msti, stp_states[m->state]);
	return 0;
}

static void got_mst(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		    struct lines *out)
{
	struct vlan_arg a = { s, out };
	size_t before = out->n;

	if (m->type != RTMSG_LINK)
		return;
	assert_int_equal(rtmsg_link_mst(h, got_mst_state, &a), 0);
	assert_int_equal(out->n - before, m->link.n_mst);
}

static void compare_mst(struct step *s)
{
	struct lines want = { 0 }, got = { 0 };
	const json_t *port, *e;
	size_t i, j;

	json_array_foreach(json_object_get(s->state, "mst"), i, port)
	{
		json_array_foreach(json_object_get(port, "mst"), j, e)
			say(&want, "%s msti %ld %s", str(port, "ifname"), num(e, "msti"),
			    str(e, "state"));
	}
	each_of_dump(s, "bridge-mst", got_mst, &got);
	compare(s, "mst", &want, &got);
}

static const char *neigh_state(uint16_t state)
{
	return state & NEIGH_STATE_PERMANENT ? "permanent"
	       : state & NEIGH_STATE_NOARP   ? "static"
	       : state & NEIGH_STATE_STALE   ? "stale"
					     : "";
}

static void got_neigh(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		      struct lines *out)
{
	const struct neigh_info *n = &m->neigh;
	char mac[MAC_STR_SIZE];

	(void)h;
	if (m->type != RTMSG_NEIGH || (!*neigh_state(n->state) && ages_fast(s)))
		return;
	assert_int_equal(!!(n->present & NEIGH_HAS_VID), n->vid != VID_NONE);
	assert_int_equal(n->is_self, !(n->present & NEIGH_HAS_MASTER));
	say(out, "%s dev %s vlan %d master %s state %s%s%s%s", mac_format(&n->mac, mac),
	    name_of(s, n->ifindex), n->vid,
	    n->present & NEIGH_HAS_MASTER ? name_of(s, n->master) : "", neigh_state(n->state),
	    n->is_self ? " self" : "", n->flags & NEIGH_FLAG_EXT_LEARNED ? " extern_learn" : "",
	    n->flags & NEIGH_FLAG_STICKY ? " sticky" : "");
}

static void compare_neighs(struct step *s)
{
	struct lines want = { 0 }, got = { 0 };
	const json_t *f;
	size_t i;

	json_array_foreach(json_object_get(s->state, "fdb"), i, f)
	{
		const json_t *flags = json_object_get(f, "flags");

		if (!*str(f, "state") && ages_fast(s))
			continue;
		say(&want, "%s dev %s vlan %ld master %s state %s%s%s%s", str(f, "mac"),
		    str(f, "ifname"), num(f, "vlan") > 0 ? num(f, "vlan") : 0, str(f, "master"),
		    str(f, "state"), has_flag(flags, "self") ? " self" : "",
		    has_flag(flags, "extern_learn") ? " extern_learn" : "",
		    has_flag(flags, "sticky") ? " sticky" : "");
	}
	each_of_dump(s, "neigh", got_neigh, &got);
	compare(s, "fdb", &want, &got);
}

static void got_type(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		     struct lines *out)
{
	static const char *const names[] = {
		[RTMSG_LINK] = "LINK", [RTMSG_VLAN] = "VLAN", [RTMSG_NEIGH] = "NEIGH"
	};
	bool deleted = m->type == RTMSG_LINK    ? m->link.deleted
		       : m->type == RTMSG_NEIGH ? m->neigh.deleted
						: m->vlan.deleted;

	(void)s;
	/* The kernel's own neighbour table, and MDB: not read. */
	if (m->type == RTMSG_OTHER)
		say(out, h->nlmsg_type == RTM_NEWNEIGH   ? "NEWNEIGH"
			 : h->nlmsg_type == RTM_DELNEIGH ? "DELNEIGH"
			 : h->nlmsg_type == RTM_NEWMDB   ? "NEWMDB"
							 : "DELMDB");
	else
		say(out, "%s%s", deleted ? "DEL" : "NEW", names[m->type]);
	assert_false(m->nl_flags & NLM_F_MULTI);
}

/* The recorded list holds each type once. */
static void compare_events(struct step *s)
{
	struct lines all = { 0 }, want = { 0 }, got = { 0 };
	const json_t *t;
	size_t i;

	json_array_foreach(json_object_get(s->json, "event_types"), i, t)
		say(&want, "%s", json_string_value(t));
	each_message(s, json_object_get(s->json, "events"), got_type, &all);
	for (i = 0; i < all.n; i++)
		say(&got, "%s", all.v[i]);
	lines_free(&all);
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

/* Both forms of a list of VLANs say the same. */
static void compare_lists(struct step *s)
{
	struct lines plain = { 0 }, ranges = { 0 };
	const json_t *dumps = json_object_get(s->json, "dumps");

	if (!json_object_get(dumps, "bridge") || !json_object_get(dumps, "bridge-compressed"))
		return;
	each_of_dump(s, "bridge", got_vlans, &plain);
	each_of_dump(s, "bridge-compressed", got_vlans, &ranges);
	compare(s, "VLAN lists", &plain, &ranges);
}

/* The scenario of large dumps has no state to compare with, but its steps tell how many. */
static void compare_counts(struct step *s)
{
	static const struct {
		int step;
		const char *dump;
		message_fn fn;
		const char *part; /* of the lines to count */
		size_t want;
	} rows[] = {
		{ 1, "bridge-compressed", got_vlans, "port11 ", 1000 },
		{ 1, "vlan", got_vlans, "port11 ", 1000 * 2 },
		{ 2, "bridge", got_vlans, "port11 ", 1000 },
		{ 2, "bridge", got_vlans, "port12 ", 1 + 49 },
		{ 3, "neigh", got_neigh, "state static", 400 },
		{ 4, "neigh", got_neigh, "state static", 0 },
	};

	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct lines got = { 0 };
		size_t n = 0;

		if (num(s->json, "n") != rows[i].step)
			continue;
		each_of_dump(s, rows[i].dump, rows[i].fn, &got);
		for (size_t j = 0; j < got.n; j++)
			n += strstr(got.v[j], rows[i].part) && !strstr(got.v[j], "neigh_");
		if (n != rows[i].want)
			fail_msg("linux %s, step %d, %s: want %zu, got %zu of \"%s\"", s->kernel,
				 rows[i].step, rows[i].dump, rows[i].want, n, rows[i].part);
		s->n_compared += n;
		lines_free(&got);
	}
}

static void compare_step(struct step *s)
{
	compare_events(s);
	compare_ends(s);
	compare_lists(s);
	if (!json_object_size(s->state)) {
		compare_counts(s);
		return;
	}
	compare_links(s);
	compare_ports(s, "bridge");
	compare_ports(s, "bridge-compressed");
	compare_vlans(s, "bridge");
	compare_vlans(s, "bridge-compressed");
	compare_vlans(s, "vlan");
	compare_vlans_global(s);
	compare_mst(s);
	compare_neighs(s);
}

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *p;

	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*len = (size_t)ftell(f);
	rewind(f);
	p = malloc(*len + 1);
	assert_non_null(p);
	assert_int_equal(fread(p, 1, *len, f), *len);
	fclose(f);
	return p;
}

static void replay(const char *kernel, const char *scenario)
{
	struct step s = { .kernel = kernel, .scenario = scenario, .state = json_object() };
	char path[128], *bin;
	json_error_t err;
	json_t *root, *json;
	size_t i;

	snprintf(path, sizeof(path), "tests/data/rtnetlink/linux-%s/%s.json", kernel, scenario);
	root = json_load_file(path, 0, &err);
	if (!root)
		fail_msg("%s: %s", path, err.text);
	snprintf(path, sizeof(path), "tests/data/rtnetlink/linux-%s/%s.bin", kernel, scenario);
	bin = read_file(path, &s.bin_len);
	s.bin = bin;
	json_array_foreach(json_object_get(root, "steps"), i, json)
	{
		s.json = json;
		json_object_update(s.state, json_object_get(json, "state"));
		compare_step(&s);
	}
	assert_true(s.n_compared > 100);
	json_decref(s.state);
	json_decref(root);
	free(bin);
}

static void recorded_messages_give_the_state_that_iproute2_showed(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_ELEM(kernels); k++) {
		for (size_t i = 0; i < N_ELEM(scenarios); i++)
			replay(kernels[k], scenarios[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_messages_give_the_state_that_iproute2_showed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
