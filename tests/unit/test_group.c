/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program is linked with --wrap=calloc and --wrap=free. */
#include "allocs.h"
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/group.h"

#define S 1000000000ULL

/* ---- who gets a frame ---- */

#define G4    "ip=239.1.1.1/10.0.0.1"
#define G6    "ip=ff05::1/fe80::1"
#define ON    "br snoop querier4 querier6"
#define V3    "br snoop querier4 querier6 igmp3 mld2"
#define PORTS "; 1; 2; 3; 4; h"

static const struct row {
	const char *name;
	const char *bridge;
	const char *frame; /* in at port 1 */
	const char *want;
	enum drop_reason drop;
} rows[] = {
	/* clang-format off */
	{ "members", ON PORTS "; mdb 239.1.1.1 0 2; mdb 239.1.1.1 0 3", "mc<01 " G4, "2: 3:" },
	{ "another group", ON PORTS "; mdb 239.1.1.2 0 2", "mc<01 " G4, "", DROP_NO_MEMBER },
	{ "no querier", "br snoop querier6" PORTS "; mdb 239.1.1.1 0 2", "mc<01 " G4, "2: 3: 4: h:" },
	{ "no querier of the other family", "br snoop querier4" PORTS "; mdb 239.1.1.1 0 2", "mc<01 " G4, "2:" },
	{ "snooping off", "br querier4" PORTS "; mdb 239.1.1.1 0 2", "mc<01 " G4, "2: 3: 4: h:" },
	{ "the member alone is the ingress port", ON PORTS "; mdb 239.1.1.1 0 1", "mc<01 " G4, "" },
	{ "host joined", ON PORTS "; mdb 239.1.1.1 0 9; mdb 239.1.1.1 0 3", "mc<01 " G4, "3: h:" },
	{ "link-local group", ON PORTS, "mc<01 ip=224.0.0.5", "2: 3: 4: h:" },
	{ "link-local group with an entry", ON PORTS "; mdb 224.0.0.5 0 4", "mc<01 ip=224.0.0.5", "4:" },
	{ "IPv6 members", ON PORTS "; mdb ff05::1 0 2", "mc<01 " G6, "2:" },
	{ "no IPv6 querier", "br snoop querier4" PORTS "; mdb ff05::1 0 2", "mc<01 " G6, "2: 3: 4: h:" },
	{ "unregistered IPv6", ON PORTS, "mc<01 ip=ff02::2", "", DROP_NO_MEMBER },
	{ "all nodes", ON PORTS, "mc<01 ip=ff02::1", "2: 3: 4: h:" },
	{ "not IP, by its address", "br snoop" PORTS "; mdb 1:0:5e:1:2:3 0 2", "mc<01", "2:" },
	{ "not IP, unregistered", ON PORTS, "mc<01", "2: 3: 4: h:" },
	{ "IP does not go by its address", ON PORTS "; mdb 1:0:5e:1:2:3 0 2", "mc<01 " G4, "", DROP_NO_MEMBER },
	{ "broadcast is not snooped", ON PORTS "; mdb 239.1.1.1 0 2", "ff<01 " G4, "2: 3: 4: h:" },
	{ "nor is unicast", ON PORTS "; mdb 239.1.1.1 0 2; fdb 03 0 3", "03<01 " G4, "3:" },

	{ "routers of unregistered groups", ON "; 1; 2 router4; 3 router6; 4; h", "mc<01 " G4, "2:" },
	{ "the same, IPv6", ON "; 1; 2 router4; 3 router6; 4; h", "mc<01 " G6, "3:" },
	{ "members and routers", ON "; 1; 2 router4; 3 router6; 4; h; mdb 239.1.1.1 0 4", "mc<01 " G4, "2: 4:" },
	{ "a member that is a router: one copy", ON "; 1; 2 router4; h; mdb 239.1.1.1 0 2", "mc<01 " G4, "2:" },
	{ "not IP: IPv4 routers", ON "; 1; 2 router4; 3 router6; 4; h; mdb 1:0:5e:1:2:3 0 4", "mc<01", "2: 4:" },
	{ "the host is a router", ON "; 1; 2; h router4", "mc<01 " G4, "h:" },
	{ "of the other family", ON "; 1; 2; h router6; mdb 239.1.1.1 0 2", "mc<01 " G4, "2:" },
	{ "a router of IP, a frame that is not", ON "; 1; 2; h router4; mdb 1:0:5e:1:2:3 0 2", "mc<01", "2:" },
	{ "a router for all", ON "; 1; 2; h routerl2; mdb 1:0:5e:1:2:3 0 2", "mc<01", "2: h:" },
	{ "a router for all, IP", ON "; 1; 2; h routerl2", "mc<01 " G4, "h:" },
	{ "all multicast", ON " allmulti; 1; 2; h; mdb 239.1.1.1 0 2", "mc<01 " G4, "2: h:" },
	{ "all multicast, unregistered", ON " allmulti; 1; 2; h", "mc<01 " G4, "h:" },
	{ "promiscuous", ON " promisc; 1; 2; h; mdb 239.1.1.1 0 2", "mc<01 " G4, "2: h:" },

	{ "source first", V3 PORTS "; mdb 239.1.1.1 0 2; mdb 239.1.1.1/10.0.0.1 0 3", "mc<01 " G4, "3:" },
	{ "another source", V3 PORTS "; mdb 239.1.1.1 0 2; mdb 239.1.1.1/10.0.0.2 0 3", "mc<01 " G4, "2:" },
	{ "sources in version 2", ON PORTS "; mdb 239.1.1.1 0 2; mdb 239.1.1.1/10.0.0.1 0 3", "mc<01 " G4, "2:" },
	{ "include mode", V3 PORTS "; mdb 239.1.1.1 0 2 include; mdb 239.1.1.1 0 3", "mc<01 " G4, "3:" },
	{ "include mode in version 2", ON PORTS "; mdb 239.1.1.1 0 2 include", "mc<01 " G4, "2:" },
	{ "include mode of a source", V3 PORTS "; mdb 239.1.1.1/10.0.0.1 0 2 include", "mc<01 " G4, "2:" },
	{ "include mode, host", V3 PORTS "; mdb 239.1.1.1 0 9 include", "mc<01 " G4, "h:" },
	{ "blocked", V3 PORTS "; mdb 239.1.1.1/10.0.0.1 0 2 blocked; mdb 239.1.1.1/10.0.0.1 0 3;"
	  "mdb 239.1.1.1 0 4", "mc<01 " G4, "3:" },
	{ "blocked in version 2", ON PORTS "; mdb 239.1.1.1 0 2 blocked", "mc<01 " G4, "" , DROP_NO_MEMBER },
	{ "a router that is blocked", V3 "; 1; 2 router4; 3 router4; h; mdb 239.1.1.1 0 2 blocked;"
	  "mdb 239.1.1.1 0 3 include", "mc<01 " G4, "2: 3:" },
	{ "IPv6 source first", V3 PORTS "; mdb ff05::1 0 2; mdb ff05::1/fe80::1 0 3", "mc<01 " G6, "3:" },
	{ "IPv6 include mode", V3 PORTS "; mdb ff05::1 0 2 include; mdb ff05::1 0 3", "mc<01 " G6, "3:" },

	{ "flags of floods do not count", ON "; 1; 2 -mcast proxyarp; h; mdb 239.1.1.1 0 2", "mc<01 " G4, "2:" },
	{ "isolated", ON "; 1 isolated; 2 isolated; 3; h; mdb 239.1.1.1 0 2; mdb 239.1.1.1 0 3", "mc<01 " G4, "3:" },
	{ "hairpin", ON "; 1 hairpin; 2; h; mdb 239.1.1.1 0 1; mdb 239.1.1.1 0 2", "mc<01 " G4, "1: 2:" },
	{ "MTU", ON "; 1; 2 mtu=60; 3; h; mdb 239.1.1.1 0 2; mdb 239.1.1.1 0 3", "mc<01 +30 " G4, "3:" },
	{ "states", ON "; 1; 2 state=4; 3 state=2; 4; h; mdb 239.1.1.1 0 2; mdb 239.1.1.1 0 3; mdb 239.1.1.1 0 4",
	  "mc<01 " G4, "4:" },
	{ "a backup port is for unicast alone", ON "; 1; 2 down backup=3; 3; h; mdb 239.1.1.1 0 2", "mc<01 " G4, "2:" },
	{ "a learning port", ON "; 1 state=2; 2; h; mdb 239.1.1.1 0 2", "mc<01 " G4, "", DROP_LEARNING },

	{ "VLAN", ON " filter; 1 10p; 2 10; 3 10u; h 10; mdb 239.1.1.1 10 2; mdb 239.1.1.1 10 3",
	  "mc<01 " G4, "2:q10 3:" },
	{ "entry of another VLAN", ON " filter; 1 10 20; 2 10 20; h 10; mdb 239.1.1.1 20 2", "mc<01 q10 " G4, "",
	  DROP_NO_MEMBER },
	{ "entry of no VLAN while filtering", ON " filter; 1 10; 2 10; h 10; mdb 239.1.1.1 0 2", "mc<01 q10 " G4,
	  "", DROP_NO_MEMBER },
	{ "entry of a VLAN while not", ON "; 1 10; 2 10; h; mdb 239.1.1.1 10 2", "mc<01 q10 " G4, "", DROP_NO_MEMBER },
	{ "a member that has left the VLAN", ON " filter; 1 10; 2 20; h; mdb 239.1.1.1 10 2", "mc<01 q10 " G4, "",
	  DROP_NO_MEMBER },
	{ "VLAN blocked at the member", ON " filter; 1 10; 2 10=4; 3 10; h; mdb 239.1.1.1 10 2; mdb 239.1.1.1 10 3",
	  "mc<01 q10 " G4, "3:q10" },
	{ "router in another VLAN", ON " filter; 1 10; 2 20 router4; 3 10u router4; h", "mc<01 q10 " G4, "3:" },
	{ "host joined, not in the VLAN", ON " filter; 1 10; 2 10; h 20; mdb 239.1.1.1 10 9; mdb 239.1.1.1 10 2",
	  "mc<01 q10 " G4, "2:q10" },
	{ "promiscuous host, not in the VLAN", ON " filter promisc; 1 10; 2 10; h 20; mdb 239.1.1.1 10 2",
	  "mc<01 q10 " G4, "2:q10 h:q10" },
	{ "not filtering: behind a tag", ON PORTS "; mdb 239.1.1.1 0 2", "mc<01 a7 " G4, "2:a7" },
	{ "not filtering: behind two tags", ON PORTS "; mdb 239.1.1.1 0 2", "mc<01 q7,q8 " G4, "2:q7,q8 3:q7,q8 4:q7,q8 h:q7,q8" },
	/* clang-format on */
};

static void a_frame_goes_to_members_and_routers(void **state)
{
	static struct rig_out out;

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct rig r;

		rig_open(&r, rows[i].bridge);
		rig_put(&r, 1, rows[i].frame, S, &out);
		rig_expect(rows[i].name, rows[i].frame, rows[i].want, &out);
		if (out.verdict.drop != rows[i].drop)
			fail_msg("%s: verdict %s, want %s", rows[i].name,
				 drop_name(out.verdict.drop), drop_name(rows[i].drop));
		rig_close(&r);
	}
}

static enum drop_reason verdict_of(const struct rig *r, const uint8_t *bytes, uint32_t len)
{
	uint8_t copy[RIG_MAX_LEN];
	struct frame f = { .data = copy, .len = len };
	struct verdict v;

	memcpy(copy, bytes, len);
	fwd_decide(r->v, 1, &f, S, &v);
	return v.drop;
}

static void what_only_the_kernel_can_decide_ends_here(void **state)
{
	uint8_t buf[RIG_MAX_LEN];
	struct rig r;
	uint32_t len;

	(void)state;
	rig_open(&r, ON PORTS "; mdb ff05::1 0 2");
	len = rig_frame("mc<01 " G6, buf);
	assert_int_equal(verdict_of(&r, buf, len), DROP_NONE);
	assert_int_equal(verdict_of(&r, buf, len - 1), DROP_MCAST_BAD);
	buf[20] = 0;
	assert_int_equal(verdict_of(&r, buf, len), DROP_MCAST_CONTROL);
	rig_close(&r);

	rig_open(&r, "br" PORTS);
	assert_int_equal(verdict_of(&r, buf, len), DROP_NONE);
	assert_int_equal(verdict_of(&r, buf, len - 1), DROP_NONE);
	rig_close(&r);
}

/* ---- what a change builds anew ---- */

#define N_GROUPS 20 /* in each of the VLANs 10 and 20 */

static struct mdb_key nth(uint16_t vid, uint32_t i)
{
	struct mdb_key k = rig_mdb_key("239.1.1.0", vid);

	k.group[3] = (uint8_t)i;
	return k;
}

static void member(struct rig *r, uint16_t vid, uint32_t i, uint16_t slot, uint8_t flags)
{
	struct mdb_key k = nth(vid, i);

	assert_int_equal(model_mdb_set(r->m, 0, &k, slot, flags), 0);
}

static void open_groups(struct rig *r)
{
	rig_open(r, ON " filter; 1 10 20; 2 10 20; 3 10 20; 4 10; h 10");
	for (uint32_t i = 0; i < N_GROUPS; i++) {
		member(r, 10, i, 2, MDB_MEMBER);
		member(r, 20, i, i % 2 ? 2 : 3, MDB_MEMBER);
	}
	member(r, 10, 0, 4, MDB_MEMBER | MDB_INCLUDE);
	view_free(r->v);
	r->v = view_build(r->m, NULL, NULL);
	assert_non_null(r->v);
}

static void port(struct rig *r, uint16_t slot, uint16_t set, uint16_t clear)
{
	struct model_port_attr a = r->m->port[slot]->a;

	a.flags = (uint16_t)((a.flags | set) & ~clear);
	assert_int_equal(model_port_set(r->m, slot, &a, NULL), 0);
}

static void bridge(struct rig *r)
{
	assert_int_equal(model_bridge_set(r->m, 0, &r->br, r->fdb, NULL, NULL), 0);
}

static void joins(struct rig *r)
{
	member(r, 10, 3, 3, MDB_MEMBER);
}

static void leaves(struct rig *r)
{
	member(r, 10, 0, 4, 0);
}

static void last_leaves(struct rig *r)
{
	member(r, 10, 7, 2, 0);
}

static void new_group(struct rig *r)
{
	member(r, 10, 99, 3, MDB_MEMBER);
}

static void same_again(struct rig *r)
{
	member(r, 10, 3, 2, MDB_MEMBER);
}

static void host_joins(struct rig *r)
{
	member(r, 10, 3, RIG_HOST, MDB_MEMBER);
}

static void no_member_changes(struct rig *r)
{
	port(r, 1, MP_ISOLATED, 0);
}

static void flood_flag(struct rig *r)
{
	port(r, 2, 0, MP_MCAST_FLOOD);
}

static void member_is_isolated(struct rig *r)
{
	port(r, 4, MP_ISOLATED, 0);
}

static void vlan_is_blocked(struct rig *r)
{
	assert_int_equal(model_port_vlan_set(r->m, 2, 20, MV_MEMBER | MV_STATE(PORT_BLOCKING)), 0);
}

static void new_vlan(struct rig *r)
{
	assert_int_equal(model_port_vlan_set(r->m, 2, 30, MV_MEMBER | MV_STATE(PORT_FORWARDING)),
			 0);
}

static void router_comes(struct rig *r)
{
	port(r, 4, MP_ROUTER4, 0);
}

static void router_of_ipv6(struct rig *r)
{
	port(r, 4, MP_ROUTER6, 0);
}

static void version(struct rig *r)
{
	r->br.igmp_v3 = true;
	bridge(r);
}

static void querier(struct rig *r)
{
	r->br.querier4 = false;
	bridge(r);
}

static void port_goes(struct rig *r)
{
	model_port_del(r->m, 4);
}

/* clang-format off */
static const struct change {
	const char *name;
	void (*apply)(struct rig *r);
	uint32_t n_new;  /* entries that are not those of the view before */
	uint32_t n_gone;
	bool same_table;
	bool same_floods; /* the arrays of VLAN 10 */
} changes[] = {
	{ "the same again",              same_again,         0, 0, true, true },
	{ "a port joins",                joins,              1, 0, false, true },
	{ "a port leaves: took nothing", leaves,             1, 0, false, true },
	{ "the last member leaves",      last_leaves,        0, 1, false, true },
	{ "a new group",                 new_group,          1, 0, false, true },
	{ "the host joins",              host_joins,         1, 0, false, true },
	{ "a port that is no member",    no_member_changes,  0, 0, false, false },
	{ "a flood flag of a member",    flood_flag,         0, 0, false, false },
	{ "isolation of a member",       member_is_isolated, 1, 0, false, false },
	{ "state of a VLAN",             vlan_is_blocked,    N_GROUPS / 2, 0, false, true },
	{ "another VLAN",                new_vlan,           0, 0, true, true },
	{ "a router port",               router_comes,       N_GROUPS, 0, false, false },
	{ "one of the other family",     router_of_ipv6,     0, 0, false, false },
	{ "the version",                 version,            1, 0, false, true },
	{ "a querier goes",              querier,            0, 0, true, true },
	{ "a port goes",                 port_goes,          1, 0, false, false },
};
/* clang-format on */

static uint32_t n_missing(const struct group_table *from, const struct group_table *in,
			  bool or_other)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= from->mask; i++) {
		const struct group *g = from->slot[i].group;
		const struct group *h = g ? group_find(in, &g->key) : NULL;

		n += g && (or_other ? h != g : !h);
	}
	return n;
}

static void a_change_builds_the_groups_that_it_touches(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(changes); i++) {
		const struct change *c = &changes[i];
		const struct group_table *a, *b;
		struct view *v;
		struct rig r;

		open_groups(&r);
		c->apply(&r);
		v = view_build(r.m, r.v, NULL);
		assert_non_null(v);
		a = r.v->bridge[0]->groups;
		b = v->bridge[0]->groups;
		if (n_missing(b, a, true) != c->n_new || n_missing(a, b, false) != c->n_gone)
			fail_msg("%s: %u new, %u gone", c->name, n_missing(b, a, true),
				 n_missing(a, b, false));
		if ((a == b) != c->same_table)
			fail_msg("%s: %s table", c->name, a == b ? "the same" : "another");
		if ((view_vlan(v->bridge[0], 10) == view_vlan(r.v->bridge[0], 10)) !=
		    c->same_floods)
			fail_msg("%s: flood arrays", c->name);
		view_free(v);
		rig_close(&r);
	}
}

static void without_groups_or_snooping_there_is_no_table(void **state)
{
	struct view *v;
	struct rig r;

	(void)state;
	open_groups(&r);
	assert_int_equal(r.v->bridge[0]->groups->n_groups, 2 * N_GROUPS);
	r.br.snooping = false;
	bridge(&r);
	v = view_build(r.m, r.v, NULL);
	assert_non_null(v);
	assert_null(v->bridge[0]->groups);
	view_free(r.v);
	r.br.snooping = true;
	bridge(&r);
	r.v = view_build(r.m, v, NULL);
	assert_int_equal(r.v->bridge[0]->groups->n_groups, 2 * N_GROUPS);
	view_free(v);
	/* Entries of VLANs are for nobody now. */
	r.br.filtering = false;
	bridge(&r);
	v = view_build(r.m, r.v, NULL);
	assert_null(v->bridge[0]->groups);
	view_free(r.v);
	r.br.filtering = true;
	bridge(&r);
	model_mdb_clear(r.m, 0);
	r.v = view_build(r.m, v, NULL);
	assert_null(r.v->bridge[0]->groups);
	view_free(v);
	rig_close(&r);
}

static void without_memory_nothing_is_lost_or_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(changes); i++) {
		struct view *v = NULL;
		struct rig r;
		long held;

		open_groups(&r);
		changes[i].apply(&r);
		held = n_held;
		for (long n = 0; !v; n++) {
			assert_true(n < 1000);
			n_before_fail = n;
			v = view_build(r.m, r.v, NULL);
			n_before_fail = -1;
			if (!v)
				assert_int_equal(n_held, held);
		}
		view_free(v);
		assert_int_equal(n_held, held);
		rig_close(&r);
	}
}

static void a_table_finds_each_of_many_groups(void **state)
{
	const uint32_t n = 5000;
	struct rig r;

	(void)state;
	rig_open(&r, ON "; 1; 2");
	for (uint32_t i = 0; i < n; i++) {
		struct mdb_key k = nth(0, i);

		k.group[2] = (uint8_t)(i >> 8);
		assert_int_equal(model_mdb_set(r.m, 0, &k, 1, MDB_MEMBER), 0);
	}
	view_free(r.v);
	r.v = view_build(r.m, NULL, NULL);
	assert_non_null(r.v);
	for (uint32_t i = 0; i < n; i++) {
		struct mdb_key k = nth(0, i);
		const struct group *g;

		k.group[2] = (uint8_t)(i >> 8);
		g = group_find(r.v->bridge[0]->groups, &k);
		assert_non_null(g);
		assert_true(mdb_key_equal(&g->key, &k));
		k.vid = 1;
		assert_null(group_find(r.v->bridge[0]->groups, &k));
	}
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_goes_to_members_and_routers),
		cmocka_unit_test(what_only_the_kernel_can_decide_ends_here),
		cmocka_unit_test(a_change_builds_the_groups_that_it_touches),
		cmocka_unit_test(without_groups_or_snooping_there_is_no_table),
		cmocka_unit_test(without_memory_nothing_is_lost_or_kept),
		cmocka_unit_test(a_table_finds_each_of_many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
