/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the kernel's messages to the view, with all VLANs on each port: what one
 * of them costs does not grow with the others. The same in numbers, with 100
 * ports: make bench BENCH=control.
 */
#include "unit.h"

#include "control-kernel.h"

#include "core/local.h"

#define N_PORTS 8

static struct ctl *c;

/* The view before; only to be compared with. */
static struct {
	const struct view_vlan *vlan[VID_N];
	const struct view_port *port[XB_MAX_PORTS];
	uint64_t n_views, n_rules;
} was;

static void remember(void)
{
	const struct view *v = kernel_view();

	for (uint16_t vid = 0; vid < VID_N; vid++)
		was.vlan[vid] = view_vlan(v->bridge[0], vid);
	memcpy(was.port, v->port, sizeof(was.port));
	was.n_views = kernel_n_views;
	was.n_rules = kernel_n_rules;
}

static void expect_changed(const char *name, uint32_t n_vlans, uint32_t n_ports)
{
	const struct view *v = kernel_view();
	uint32_t vlans = 0, ports = 0;

	for (uint16_t vid = 0; vid < VID_N; vid++)
		vlans += was.vlan[vid] != view_vlan(v->bridge[0], vid);
	for (uint32_t i = 0; i < XB_MAX_PORTS; i++)
		ports += was.port[i] != v->port[i];
	/* A place that was given back may be taken at once: fewer may look changed. */
	if (vlans > n_vlans || ports > n_ports || kernel_n_views != was.n_views + 1 ||
	    kernel_n_rules != was.n_rules)
		fail_msg("%s: %u VLANs, %u ports, %llu views, %llu rules", name, vlans, ports,
			 (unsigned long long)(kernel_n_views - was.n_views),
			 (unsigned long long)(kernel_n_rules - was.n_rules));
}

static uint32_t n_members(uint16_t vid)
{
	const struct view_vlan *v = view_vlan(kernel_view()->bridge[0], vid);

	return v ? v->flood[FLOOD_BROADCAST].n : 0;
}

static int setup(void **state)
{
	(void)state;
	kernel_set(KERNEL_LIST_MIXED, N_PORTS);
	c = kernel_ctl_new();
	return c ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	kernel_ctl_free(c);
	return 0;
}

static void all_vlans_of_all_ports_are_in_the_view(void **state)
{
	struct mac mac = kernel_port_mac(3);
	const struct view_bridge *b;
	struct fdb_stats st;

	(void)state;
	assert_int_equal(kernel_start(c), 0);
	for (uint16_t vid = 1; vid <= KERNEL_VLANS; vid++)
		assert_int_equal(n_members(vid), N_PORTS);
	assert_int_equal(n_members(KERNEL_VLANS + 1), 0);
	assert_int_equal(kernel_n_views, 1);
	/* The ports' own addresses are in each VLAN, and in no table. */
	b = kernel_view()->bridge[0];
	assert_true(local_set_has(kernel_view(), b, fdb_key(KERNEL_VLANS, &mac)));
	assert_false(local_set_has(kernel_view(), b, fdb_key(KERNEL_VLANS + 1, &mac)));
	fdb_stats(c->bridge[0].fdb, &st);
	assert_int_equal(st.n_entries, 0);
}

static void one_event_leaves_other_vlans_and_ports_as_they_are(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		uint16_t vid;
		bool comes, alone;
		uint32_t n_members;
	} rows[] = {
		{ "goes",                  1234, false, true, N_PORTS - 1 },
		{ "comes",                 1234, true, true, N_PORTS },
		{ "goes, with the list",   4000, false, false, N_PORTS - 1 },
		{ "comes, with the list",  4000, true, false, N_PORTS },
	};
	/* clang-format on */

	(void)state;
	assert_int_equal(kernel_start(c), 0);
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		remember();
		assert_int_equal(kernel_vlan_event(c, 5, rows[i].vid, rows[i].comes, rows[i].alone),
				 0);
		assert_int_equal(reconcile_run(c), 0);
		expect_changed(rows[i].name, 1, 1);
		assert_int_equal(n_members(rows[i].vid), rows[i].n_members);
	}
}

static void a_burst_makes_one_view(void **state)
{
	(void)state;
	assert_int_equal(kernel_start(c), 0);
	remember();
	for (uint16_t i = 0; i < 50; i++)
		assert_int_equal(kernel_vlan_event(c, i % 2, (uint16_t)(100 + i), false, true), 0);
	assert_int_equal(reconcile_run(c), 0);
	expect_changed("50 VLANs", 50, 2);
	assert_int_equal(n_members(149), N_PORTS - 1);
	assert_int_equal(n_members(150), N_PORTS);

	remember();
	assert_int_equal(reconcile_run(c), 0);
	assert_int_equal(kernel_n_views, was.n_views);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_vlans_of_all_ports_are_in_the_view, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_event_leaves_other_vlans_and_ports_as_they_are,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_burst_makes_one_view, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
