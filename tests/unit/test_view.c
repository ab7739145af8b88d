/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program is linked with --wrap=calloc and --wrap=free. */
#include "allocs.h"
#include "rig.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_VLANS 40

static long n_first; /* held by the first view of open_two() */
/* A bridge with four ports in VLANs 1..N_VLANS, and another one with two. */
static void open_two(struct rig *r)
{
	struct model_port_attr a = rig_port_attr("1p");

	n_before_fail = -1;
	for (uint32_t vid = 1; vid <= N_VLANS; vid++)
		a.vlan[vid] = MV_MEMBER | MV_STATE(PORT_FORWARDING);
	rig_open(r, "br filter; h 1");
	for (uint16_t slot = 1; slot <= 4; slot++)
		assert_int_equal(model_port_set(r->m, slot, &a, NULL), 0);
	assert_int_equal(model_bridge_set(r->m, 1, &(struct model_bridge_attr){ .tpid = 0x8100 },
					  r->fdb, NULL, NULL),
			 0);
	a.bridge = 1;
	for (uint16_t slot = 20; slot <= 21; slot++)
		assert_int_equal(model_port_set(r->m, slot, &a, NULL), 0);
	view_free(r->v);
	n_first = n_held;
	r->v = view_build(r->m, NULL, NULL);
	assert_non_null(r->v);
	n_first = n_held - n_first;
}

static struct model_port_attr attr_of(const struct rig *r, uint16_t slot)
{
	return r->m->port[slot]->a;
}

static void put(struct rig *r, uint16_t slot, const struct model_port_attr *a)
{
	assert_int_equal(model_port_set(r->m, slot, a, NULL), 0);
}

static void nothing(struct rig *r)
{
	struct model_port_attr a = attr_of(r, 2);

	put(r, 2, &a);
}

static void vlan_untagged(struct rig *r)
{
	assert_int_equal(model_port_vlan_set(r->m, 2, 7,
					     MV_MEMBER | MV_UNTAGGED | MV_STATE(PORT_FORWARDING)),
			 0);
}

static void vlan_left(struct rig *r)
{
	struct model_port_attr a = attr_of(r, 2);

	a.vlan[7] = 0;
	put(r, 2, &a);
}

static void vlan_blocked(struct rig *r)
{
	assert_int_equal(model_port_vlan_set(r->m, 2, 7, MV_MEMBER | MV_STATE(PORT_BLOCKING)), 0);
}

static void vlan_new(struct rig *r)
{
	assert_int_equal(model_port_vlan_set(r->m, 2, 100, MV_MEMBER | MV_STATE(PORT_FORWARDING)),
			 0);
}

static void pvid(struct rig *r)
{
	struct model_port_attr a = attr_of(r, 2);

	a.pvid = 9;
	put(r, 2, &a);
}

static void learning(struct rig *r)
{
	struct model_port_attr a = attr_of(r, 2);

	a.flags &= (uint16_t)~MP_LEARNING;
	put(r, 2, &a);
}

static void port_state(struct rig *r)
{
	struct model_port_attr a = attr_of(r, 2);

	a.state = PORT_BLOCKING;
	put(r, 2, &a);
}

static void ageing(struct rig *r)
{
	r->br.learning = false;
	assert_int_equal(model_bridge_set(r->m, 0, &r->br, r->fdb, NULL, NULL), 0);
}

static void promisc(struct rig *r)
{
	r->br.promisc = true;
	assert_int_equal(model_bridge_set(r->m, 0, &r->br, r->fdb, NULL, NULL), 0);
}

static void port_gone(struct rig *r)
{
	model_port_del(r->m, 2);
}

static void bridge_gone(struct rig *r)
{
	model_bridge_del(r->m, 1);
}

static void backup_of_an_up_port(struct rig *r)
{
	struct model_port_attr a = attr_of(r, 2);

	a.backup = 3;
	put(r, 2, &a);
}

static void down_with_backup(struct rig *r)
{
	struct model_port_attr a = attr_of(r, 2);

	a.backup = 3;
	a.flags |= MP_DOWN;
	put(r, 2, &a);
}

static void port_moved(struct rig *r)
{
	struct model_port_attr a = attr_of(r, 2);

	a.bridge = 1;
	put(r, 2, &a);
}

struct change {
	const char *name;
	void (*apply)(struct rig *r);
	uint32_t n_floods;   /* made anew */
	uint32_t n_vlans;    /* of bridge 0 that are not the same as before */
	uint32_t n_ports;    /* likewise, of all */
	bool same_bridge[2]; /* as a whole */
};

/* clang-format off */
static const struct change changes[] = {
	/* name                          apply         floods vlans    ports bridges */
	{ "the same again",              nothing,       0,     0,       0, { true, true } },
	{ "untag rule of a VLAN",        vlan_untagged, 1,     1,       1, { false, true } },
	{ "state of a VLAN",             vlan_blocked,  1,     1,       1, { false, true } },
	{ "a VLAN less",                 vlan_left,     1,     1,       1, { false, true } },
	{ "a VLAN that nobody had",      vlan_new,      1,     1,       1, { false, true } },
	{ "PVID",                        pvid,          0,     0,       1, { true, true } },
	{ "learning",                    learning,      0,     0,       1, { true, true } },
	{ "port state",                  port_state,    N_VLANS, N_VLANS, 1, { false, true } },
	{ "backup port",                 backup_of_an_up_port, 0, 0,    1, { true, true } },
	{ "down, with a backup port",    down_with_backup, 0,  0,       1, { true, true } },
	{ "ageing time 0",               ageing,        0,     0,       0, { false, true } },
	{ "promiscuous host",            promisc,       N_VLANS, N_VLANS, 5, { false, true } },
	{ "a port less",                 port_gone,     N_VLANS, N_VLANS, 1, { false, true } },
	{ "a port of another bridge",    port_moved,    N_VLANS + 1, N_VLANS, 1, { false, false } },
	{ "a bridge less",               bridge_gone,   0,     0,       2, { true, false } },
};
/* clang-format on */

static uint32_t n_other_vlans(const struct view *a, const struct view *b)
{
	uint32_t n = 0;

	for (uint16_t vid = 0; vid < VID_N; vid++)
		n += view_vlan(a->bridge[0], vid) != view_vlan(b->bridge[0], vid);
	return n;
}

static uint32_t n_other_ports(const struct view *a, const struct view *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < XB_MAX_PORTS; i++)
		n += a->port[i] != b->port[i];
	return n;
}

static void a_change_builds_anew_what_it_touches(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(changes); i++) {
		const struct change *c = &changes[i];
		uint32_t n_floods = 99;
		struct view *v;
		struct rig r;

		open_two(&r);
		c->apply(&r);
		v = view_build(r.m, r.v, &n_floods);
		assert_non_null(v);
		if (n_floods != c->n_floods || n_other_vlans(v, r.v) != c->n_vlans ||
		    n_other_ports(v, r.v) != c->n_ports)
			fail_msg("%s: %u flood arrays, %u VLANs, %u ports", c->name, n_floods,
				 n_other_vlans(v, r.v), n_other_ports(v, r.v));
		for (int b = 0; b < 2; b++) {
			if ((v->bridge[b] == r.v->bridge[b]) != c->same_bridge[b])
				fail_msg("%s: bridge %d", c->name, b);
		}
		assert_int_equal(v->gen, r.v->gen + 1);
		view_free(v);
		rig_close(&r);
	}
}

static void a_view_that_shares_forwards_as_one_from_nothing(void **state)
{
	static struct rig_out got, want;
	static const char *const frames[] = { "ff<01 q7", "99<01 q7", "ff<01 q8", "ff<01",
					      "mc<01 q100" };

	(void)state;
	for (size_t i = 0; i < N_ELEM(changes); i++) {
		struct view *shared, *fresh, *first;
		struct rig r;

		open_two(&r);
		changes[i].apply(&r);
		first = r.v;
		shared = view_build(r.m, first, NULL);
		fresh = view_build(r.m, NULL, NULL);
		for (size_t f = 0; f < N_ELEM(frames); f++) {
			r.v = shared;
			rig_put(&r, 1, frames[f], 1, &got);
			r.v = fresh;
			rig_put(&r, 1, frames[f], 1, &want);
			if (memcmp(got.n, want.n, sizeof(got.n)) != 0 ||
			    memcmp(got.bytes, want.bytes, sizeof(got.bytes)) != 0 ||
			    got.verdict.drop != want.verdict.drop)
				fail_msg("%s: %s", changes[i].name, frames[f]);
		}
		view_free(first);
		view_free(shared);
		rig_close(&r);
	}
}

static void a_promiscuous_host_comes_and_goes_in_every_vlan(void **state)
{
	const uint16_t not_its_own = 7;
	struct view *without, *with;
	struct model_port_attr host;
	struct rig r;

	(void)state;
	open_two(&r);
	promisc(&r);
	host = attr_of(&r, RIG_HOST);
	assert_false(host.vlan[not_its_own] & MV_MEMBER);
	with = view_build(r.m, r.v, NULL);
	assert_int_equal(view_vlan(with->bridge[0], not_its_own)->flood[FLOOD_UNKNOWN].n, 5);

	model_port_del(r.m, RIG_HOST);
	without = view_build(r.m, with, NULL);
	assert_int_equal(view_vlan(without->bridge[0], not_its_own)->flood[FLOOD_UNKNOWN].n, 4);

	view_free(with);
	put(&r, RIG_HOST, &host);
	with = view_build(r.m, without, NULL);
	assert_int_equal(view_vlan(with->bridge[0], not_its_own)->flood[FLOOD_UNKNOWN].n, 5);
	view_free(with);
	view_free(without);
	rig_close(&r);
}

/* A bridge with 64 ports in 4,000 VLANs. */
static void open_large(struct rig *r)
{
	struct model_port_attr a = rig_port_attr("1p");

	n_before_fail = -1;
	for (uint32_t vid = 1; vid <= 4000; vid++)
		a.vlan[vid] = MV_MEMBER | MV_STATE(PORT_FORWARDING);
	rig_open(r, "br filter; h 1");
	for (uint16_t slot = 1; slot <= 64; slot++)
		assert_int_equal(model_port_set(r->m, slot, &a, NULL), 0);
	view_free(r->v);
	r->v = view_build(r->m, NULL, NULL);
	assert_non_null(r->v);
}

static void one_vlan_of_one_port_leaves_all_others_as_they_are(void **state)
{
	static const struct {
		const char *name;
		uint16_t vid;
		uint8_t mv;
	} rows[] = {
		{ "leaves", 2222, 0 },
		{ "comes", 4040, MV_MEMBER | MV_STATE(PORT_FORWARDING) },
		{ "untagged", 1, MV_MEMBER | MV_UNTAGGED | MV_STATE(PORT_FORWARDING) },
	};
	struct rig r;

	(void)state;
	open_large(&r);
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		uint32_t n_floods = 99, n_chunks = 0;
		long held = n_held, n_before;
		struct view *v;

		assert_int_equal(model_port_vlan_set(r.m, 33, rows[i].vid, rows[i].mv), 0);
		n_before = n_allocs;
		v = view_build(r.m, r.v, &n_floods);
		assert_non_null(v);
		/* View, port, bridge, chunk and the VLAN's flood arrays. */
		if (n_floods != 1 || n_other_vlans(v, r.v) != 1 || n_other_ports(v, r.v) != 1 ||
		    n_allocs - n_before != 5)
			fail_msg("%s: %u flood arrays, %u VLANs, %u ports, %ld allocations",
				 rows[i].name, n_floods, n_other_vlans(v, r.v),
				 n_other_ports(v, r.v), n_allocs - n_before);
		for (uint32_t k = 0; k < N_ELEM(v->bridge[0]->chunk); k++)
			n_chunks += v->bridge[0]->chunk[k] != r.v->bridge[0]->chunk[k];
		assert_int_equal(n_chunks, 1);
		assert_int_equal(v->port[33]->vlan[rows[i].vid].flags & PV_MEMBER,
				 rows[i].mv & MV_MEMBER);
		view_free(r.v);
		r.v = v;
		assert_in_range(n_held - held, 0, 2);
	}
	rig_close(&r);
}

static void views_are_freed_in_any_order(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					 { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	(void)state;
	for (size_t i = 0; i < N_ELEM(orders); i++) {
		struct view *v[3];
		struct rig r;
		long held;

		open_two(&r);
		view_free(r.v);
		r.v = NULL;
		held = n_held;
		v[0] = view_build(r.m, NULL, NULL);
		vlan_untagged(&r);
		v[1] = view_build(r.m, v[0], NULL);
		pvid(&r);
		ageing(&r);
		v[2] = view_build(r.m, v[1], NULL);
		for (int j = 0; j < 3; j++) {
			assert_non_null(v[orders[i][j]]);
			view_free(v[orders[i][j]]);
		}
		assert_int_equal(n_held, held);
		rig_close(&r);
	}
}

static void without_memory_the_old_view_stays_as_it_was(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(changes); i++) {
		struct view *v = NULL;
		struct view snapshot;
		struct rig r;
		long held, n;

		open_two(&r);
		changes[i].apply(&r);
		snapshot = *r.v;
		held = n_held;
		for (n = 0; !v; n++) {
			assert_true(n < 1000);
			n_before_fail = n;
			v = view_build(r.m, r.v, NULL);
			n_before_fail = -1;
			if (!v)
				assert_int_equal(n_held, held);
			assert_memory_equal(&snapshot, r.v, sizeof(snapshot));
		}
		/* One failure for each allocation of the build that then succeeded. */
		assert_int_equal(n - 1, n_held - held);
		view_free(r.v);
		view_free(v);
		assert_int_equal(n_held, held - n_first);
		r.v = NULL;
		rig_close(&r);
	}
}

static void without_memory_the_model_stays_as_it_was(void **state)
{
	struct model_port_attr a = rig_port_attr("10");
	struct rig r;

	(void)state;
	open_two(&r);
	n_before_fail = 0;
	assert_true(model_port_set(r.m, 5, &a, NULL) < 0);
	assert_true(model_bridge_set(r.m, 2, &r.br, r.fdb, NULL, NULL) < 0);
	assert_null(model_new());
	n_before_fail = -1;
	assert_null(r.m->port[5]);
	assert_null(r.m->bridge[2]);
	assert_int_equal(r.m->bridge[0]->n_ports, 5);
	rig_close(&r);
}

static void what_is_out_of_range_is_refused(void **state)
{
	struct model_port_attr a = rig_port_attr("10");
	struct model_bridge_attr b = { .tpid = 0x9100 };
	bool changed = false;
	struct rig r;

	(void)state;
	open_two(&r);
	assert_true(model_bridge_set(r.m, 3, &b, NULL, NULL, NULL) < 0);
	b.tpid = 0x8100;
	assert_true(model_bridge_set(r.m, XB_MAX_BRIDGES, &b, NULL, NULL, NULL) < 0);
	assert_true(model_port_set(r.m, 0, &a, NULL) < 0);
	assert_true(model_port_set(r.m, XB_MAX_PORTS, &a, NULL) < 0);
	assert_true(model_port_vlan_set(r.m, 1, 0, 0) < 0);
	assert_true(model_port_vlan_set(r.m, 1, 4095, 0) < 0);
	assert_true(model_port_vlan_set(r.m, 77, 1, 0) < 0);
	a.bridge = 9;
	assert_true(model_port_set(r.m, 5, &a, NULL) < 0);
	a = attr_of(&r, 1);
	assert_int_equal(model_port_set(r.m, 1, &a, &changed), 0);
	assert_false(changed);
	a.mtu++;
	assert_int_equal(model_port_set(r.m, 1, &a, &changed), 0);
	assert_true(changed);
	rig_close(&r);
}

static void a_handle_names_the_entry_of_port_and_vlan(void **state)
{
	const struct view_port *p;
	struct rig r;

	(void)state;
	rig_open(&r, "br filter; 1 10; 2 10u; h 10");
	assert_ptr_equal(view_entry(r.v, 2 << 12 | 10, &p), &r.v->port[2]->vlan[10]);
	assert_ptr_equal(p, r.v->port[2]);
	assert_int_equal(p->vlan[10].flags,
			 PV_MEMBER | PV_UNTAGGED | PV_LEARN | PV_INGRESS | PV_EGRESS);
	assert_null(view_entry(r.v, 7 << 12 | 10, &p));
	assert_null(p);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_builds_anew_what_it_touches),
		cmocka_unit_test(a_view_that_shares_forwards_as_one_from_nothing),
		cmocka_unit_test(a_promiscuous_host_comes_and_goes_in_every_vlan),
		cmocka_unit_test(one_vlan_of_one_port_leaves_all_others_as_they_are),
		cmocka_unit_test(views_are_freed_in_any_order),
		cmocka_unit_test(without_memory_the_old_view_stays_as_it_was),
		cmocka_unit_test(without_memory_the_model_stays_as_it_was),
		cmocka_unit_test(what_is_out_of_range_is_refused),
		cmocka_unit_test(a_handle_names_the_entry_of_port_and_vlan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
