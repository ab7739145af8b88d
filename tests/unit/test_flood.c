/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/flood.h"

struct row {
	const char *name;
	const char *bridge;
	uint16_t vid;
	/* Members in order of slots: SLOT and u(ntagged) i(solated) p (hairpin) h(ost); NULL: none.
	 */
	const char *want[FLOOD_N];
};

static int by_slot(const void *a, const void *b)
{
	const struct flood_dst *x = a, *y = b;

	return (int)x->port - (int)y->port;
}

static void describe(const struct flood_array *a, char *text, size_t size)
{
	struct flood_dst dst[RIG_PORTS];

	*text = '\0';
	assert_true(a->n <= RIG_PORTS);
	if (!a->n)
		return;
	memcpy(dst, a->dst, a->n * sizeof(*dst));
	qsort(dst, a->n, sizeof(*dst), by_slot);
	for (uint32_t i = 0; i < a->n; i++) {
		size_t len = strlen(text);

		snprintf(text + len, size - len, "%s%u%s%s%s%s", i ? " " : "", dst[i].port,
			 dst[i].flags & FLOOD_UNTAGGED ? "u" : "",
			 dst[i].flags & FLOOD_ISOLATED ? "i" : "",
			 dst[i].flags & FLOOD_HAIRPIN ? "p" : "",
			 dst[i].flags & FLOOD_HOST ? "h" : "");
	}
}

static void each_class_has_the_members_that_take_it(void **state)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "not filtering", "br; 1; 2 10; h", 0, { "1u 2u", "1u 2u 9uh", "1u 2u 9uh" } },
		{ "members only", "br filter; 1 10; 2 20; 3 10u; h 10", 10,
		  { "1 3u", "1 3u 9h", "1 3u 9h" } },
		{ "host not in the VLAN", "br filter; 1 10; 2 10; h 20", 10, { "1 2", "1 2", "1 2" } },
		{ "host alone in the VLAN", "br filter; 1 20; h 10", 10, { "", "9h", "9h" } },
		{ "one class off at each", "br; 1 -flood; 2 -mcast; 3 -bcast; 4", 0,
		  { "2u 3u 4u", "1u 3u 4u", "1u 2u 4u" } },
		{ "proxyarp", "br; 1 proxyarp; 2; 3", 0, { "2u 3u", "2u 3u", "2u 3u" } },
		{ "states", "br; 1 state=0; 2 state=1; 3 state=2; 4 state=4; 5", 0, { "5u", "5u", "5u" } },
		{ "states of the VLAN", "br filter; 1 10=0; 2 10=1; 3 10=2; 4 10=4; 5 10=3", 10,
		  { "5", "5", "5" } },
		{ "MST ignores the port's", "br filter mst; 1 10 state=4; 2 10=4", 10, { "1", "1", "1" } },
		{ "flags of a copy", "br filter; 1 10u isolated; 2 10 hairpin; 3 10u isolated hairpin", 10,
		  { "1ui 2p 3uip", "1ui 2p 3uip", "1ui 2p 3uip" } },
		{ "promiscuous host", "br filter promisc; 1 10; h", 10, { "1 9h", "1 9h", "1 9h" } },
		{ "promiscuous member", "br filter promisc; 1 10; h 10u", 10, { "1 9uh", "1 9uh", "1 9uh" } },
		{ "host's VLAN blocked", "br filter; 1 10; h 10=4", 10, { "1", "1", "1" } },
		{ "host's VLAN blocked, promiscuous", "br filter promisc; 1 10; h 10=4", 10,
		  { "1 9h", "1 9h", "1 9h" } },
		{ "routers of each family", "br snoop; 1 router4; 2 router6; 3 router4 router6; 4; h", 0,
		  { "1u 2u 3u 4u", "1u 2u 3u 4u 9uh", "1u 2u 3u 4u 9uh", "1u 3u", "2u 3u" } },
		{ "routers without snooping", "br; 1 router4; 2 router6; h router4", 0,
		  { "1u 2u", "1u 2u 9uh", "1u 2u 9uh" } },
		{ "flood flags are not for routers", "br snoop; 1 router4 -mcast proxyarp; 2; h", 0,
		  { "2u", "2u 9uh", "2u 9uh", "1u" } },
		{ "routers' VLANs and states", "br snoop filter; 1 10 router4; 2 20 router4; 3 10=4 router4;"
		  "4 10u router4 state=4; 5 10u router4 isolated hairpin", 10,
		  { "1 5uip", "1 5uip", "1 5uip", "1 5uip" } },
		{ "the host is a router", "br snoop; 1; h router4", 0,
		  { "1u", "1u 9uh", "1u 9uh", "9uh" } },
		{ "of the other family, and not in the VLAN", "br snoop filter; 1 10; h 20 router6", 10,
		  { "1", "1", "1", "", "" } },
		{ "the host takes all multicast", "br snoop filter allmulti; 1 10 router4; h 10", 10,
		  { "1", "1 9h", "1 9h", "1 9h", "9h" } },
		{ "all multicast, not in the VLAN", "br snoop filter allmulti; 1 10 router4; h 20", 10,
		  { "1", "1", "1", "1", "" } },
		{ "promiscuous, not in the VLAN", "br snoop filter promisc; 1 10 router4; h 20", 10,
		  { "1 9h", "1 9h", "1 9h", "1 9h", "9h" } },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		const struct view_vlan *v;
		struct rig r;

		rig_open(&r, rows[i].bridge);
		v = view_vlan(r.v->bridge[0], rows[i].vid);
		assert_non_null(v);
		for (int c = 0; c < FLOOD_N; c++) {
			const char *want = rows[i].want[c] ? rows[i].want[c] : "";
			char text[128];

			describe(&v->flood[c], text, sizeof(text));
			if (strcmp(text, want) != 0)
				fail_msg("%s, class %d: \"%s\", want \"%s\"", rows[i].name, c, text,
					 want);
		}
		rig_close(&r);
	}
}

static void classes_with_equal_members_share_an_array(void **state)
{
	const struct view_vlan *v;
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1; 2; h");
	v = view_vlan(r.v->bridge[0], 0);
	assert_ptr_equal(v->flood[FLOOD_MULTICAST].dst, v->flood[FLOOD_BROADCAST].dst);
	assert_ptr_not_equal(v->flood[FLOOD_UNKNOWN].dst, v->flood[FLOOD_MULTICAST].dst);
	rig_close(&r);
}

static void a_vlan_without_a_port_has_no_arrays(void **state)
{
	struct view_vlan *v = (struct view_vlan *)&v;
	struct rig r;

	(void)state;
	rig_open(&r, "br filter; 1 10; 2 20; h 10");
	assert_int_equal(flood_build(r.m, r.m->bridge[0], 30, &v), 0);
	assert_null(v);
	for (uint32_t vid = 0; vid < VID_N; vid++) {
		if (vid != 10 && vid != 20)
			assert_null(view_vlan(r.v->bridge[0], vid));
	}
	rig_close(&r);
}

static void each_member_brings_its_longest_frame(void **state)
{
	const struct flood_array *a;
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1 mtu=1500; 2 mtu=9000; h mtu=576");
	a = &view_vlan(r.v->bridge[0], 0)->flood[FLOOD_BROADCAST];
	assert_int_equal(a->n, 3);
	for (uint32_t i = 0; i < a->n; i++)
		assert_int_equal(a->dst[i].max_len, a->dst[i].port == 1   ? 1518
						    : a->dst[i].port == 2 ? 9018
									  : UINT32_MAX);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_class_has_the_members_that_take_it),
		cmocka_unit_test(classes_with_equal_members_share_an_array),
		cmocka_unit_test(a_vlan_without_a_port_has_no_arrays),
		cmocka_unit_test(each_member_brings_its_longest_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
