/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program is linked with --wrap=calloc and --wrap=free. */
#include "allocs.h"
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct mdb_key key4(uint16_t vid, uint32_t group, uint32_t source)
{
	struct mdb_key k = { .vid = vid, .family = MDB_IP4 };

	group = htonl(group);
	source = htonl(source);
	memcpy(k.group, &group, sizeof(group));
	memcpy(k.source, &source, sizeof(source));
	return k;
}

static int set(struct rig *r, uint32_t group, uint16_t slot, uint8_t flags)
{
	struct mdb_key k = key4(0, group, 0);

	return model_mdb_set(r->m, 0, &k, slot, flags);
}

static uint8_t get(const struct rig *r, uint32_t group, uint16_t slot)
{
	struct mdb_key k = key4(0, group, 0);

	return model_mdb_get(r->m, 0, &k, slot);
}

static const struct model_mdb *mdb_of(const struct rig *r)
{
	return &r->m->bridge[0]->mdb;
}

static void a_membership_is_set_changed_and_removed(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1; 2; h");
	assert_int_equal(get(&r, 0xe0010101, 1), 0);
	assert_int_equal(set(&r, 0xe0010101, 1, 0), -ENOENT);
	assert_int_equal(set(&r, 0xe0010101, 1, MDB_MEMBER), 0);
	assert_int_equal(set(&r, 0xe0010101, RIG_HOST, MDB_MEMBER), 0);
	assert_int_equal(set(&r, 0xe0010101, 2, 0), -ENOENT);
	assert_int_equal(get(&r, 0xe0010101, 1), MDB_MEMBER);
	assert_int_equal(get(&r, 0xe0010101, 2), 0);
	assert_int_equal(get(&r, 0xe0010102, 1), 0);
	assert_int_equal(set(&r, 0xe0010101, 1, MDB_MEMBER | MDB_INCLUDE), 0);
	assert_int_equal(get(&r, 0xe0010101, 1), MDB_MEMBER | MDB_INCLUDE);
	assert_int_equal(mdb_of(&r)->n_groups, 1);
	assert_int_equal(mdb_of(&r)->n_members, 2);
	assert_int_equal(set(&r, 0xe0010101, 1, 0), 0);
	assert_int_equal(get(&r, 0xe0010101, RIG_HOST), MDB_MEMBER);
	assert_int_equal(set(&r, 0xe0010101, RIG_HOST, 0), 0);
	assert_int_equal(mdb_of(&r)->n_groups, 0);
	assert_int_equal(mdb_of(&r)->n_members, 0);
	rig_close(&r);
}

static void groups_differ_in_vlan_family_address_and_source(void **state)
{
	const struct mdb_key all[] = {
		key4(1, 0xe0010101, 0),
		key4(2, 0xe0010101, 0),
		key4(1, 0xe0010102, 0),
		key4(1, 0xe0010101, 0x0a000001),
		key4(1, 0xe0010101, 0x0a000002),
		{ .vid = 1, .family = MDB_IP6, .group = "\xe0\x01\x01\x01" },
		{ .vid = 1, .family = MDB_L2, .group = "\xe0\x01\x01\x01" },
	};
	struct rig r;

	(void)state;
	rig_open(&r, "br filter; 1 1 2; 2 1 2");
	for (size_t i = 0; i < N_ELEM(all); i++) {
		for (size_t j = i; j < N_ELEM(all); j++)
			assert_int_equal(model_mdb_get(r.m, 0, &all[j], 1), 0);
		assert_int_equal(model_mdb_set(r.m, 0, &all[i], 1, MDB_MEMBER), 0);
	}
	assert_int_equal(mdb_of(&r)->n_groups, N_ELEM(all));
	for (size_t i = 0; i < N_ELEM(all); i++)
		assert_int_equal(model_mdb_get(r.m, 0, &all[i], 1), MDB_MEMBER);
	rig_close(&r);
}

static void what_is_no_group_or_no_member_is_refused(void **state)
{
	const uint8_t member = MDB_MEMBER;
	/* clang-format off */
	const struct {
		const char *name;
		struct mdb_key k;
		uint16_t bridge, slot;
		uint8_t flags;
		int want;
	} rows[] = {
		{ "good", key4(0, 0xe0010101, 1), 0, 1, member, 0 },
		{ "VLAN", key4(4095, 0xe0010101, 0), 0, 1, member, -EINVAL },
		{ "family", { .family = MDB_FAMILY_N }, 0, 1, member, -EINVAL },
		{ "padding", { .family = MDB_IP4, .pad = 1 }, 0, 1, member, -EINVAL },
		{ "longer than IPv4", { .family = MDB_IP4, .group = "\1\2\3\4\5" }, 0, 1, member, -EINVAL },
		{ "longer source", { .family = MDB_IP4, .source = "\1\2\3\4\5" }, 0, 1, member, -EINVAL },
		{ "longer than a MAC", { .family = MDB_L2, .group = "\1\2\3\4\5\6\7" }, 0, 1, member, -EINVAL },
		{ "L2 with a source", { .family = MDB_L2, .source = "\2" }, 0, 1, member, -EINVAL },
		{ "flags without a member", key4(0, 0xe0010101, 0), 0, 1, MDB_BLOCKED, -EINVAL },
		{ "other flags", key4(0, 0xe0010101, 0), 0, 1, member | 8, -EINVAL },
		{ "no such bridge", key4(0, 0xe0010101, 0), 1, 1, member, -ENOENT },
		{ "bridge out of range", key4(0, 0xe0010101, 0), XB_MAX_BRIDGES, 1, member, -ENOENT },
		{ "no such port", key4(0, 0xe0010101, 0), 0, 3, member, -ENOENT },
		{ "port out of range", key4(0, 0xe0010101, 0), 0, XB_MAX_PORTS, member, -ENOENT },
	};
	/* clang-format on */
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1");
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		int got =
			model_mdb_set(r.m, rows[i].bridge, &rows[i].k, rows[i].slot, rows[i].flags);

		if (got != rows[i].want)
			fail_msg("%s: %d, want %d", rows[i].name, got, rows[i].want);
	}
	assert_int_equal(mdb_of(&r)->n_members, 1);
	rig_close(&r);
}

static void a_port_takes_its_memberships_along(void **state)
{
	struct model_port_attr a = rig_port_attr("");
	struct model_bridge_attr other = { .tpid = 0x8100 };
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1; 2; 3");
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(set(&r, 0xe0010100 + i, 1, MDB_MEMBER), 0);
		if (i % 2)
			assert_int_equal(set(&r, 0xe0010100 + i, 2, MDB_MEMBER), 0);
		if (i % 3)
			assert_int_equal(set(&r, 0xe0010100 + i, 3, MDB_MEMBER), 0);
	}
	model_port_del(r.m, 1);
	/* i % 2 or i % 3. */
	assert_int_equal(mdb_of(&r)->n_groups, 83);
	assert_int_equal(mdb_of(&r)->n_members, 50 + 66);
	assert_int_equal(model_bridge_set(r.m, 1, &other, r.fdb, NULL, NULL), 0);
	a.bridge = 1;
	assert_int_equal(model_port_set(r.m, 2, &a, NULL), 0);
	assert_int_equal(mdb_of(&r)->n_groups, 66);
	assert_int_equal(mdb_of(&r)->n_members, 66);
	assert_int_equal(set(&r, 0xe0010101, 2, MDB_MEMBER), -ENOENT);
	model_port_del(r.m, 3);
	assert_int_equal(mdb_of(&r)->n_groups, 0);
	rig_close(&r);
}

static void clearing_leaves_nothing(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1; 2");
	model_mdb_clear(r.m, 0);
	model_mdb_clear(r.m, 5);
	model_mdb_clear(r.m, XB_MAX_BRIDGES);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(set(&r, 0xe0010100 + i, 1 + i % 2, MDB_MEMBER), 0);
	model_mdb_clear(r.m, 0);
	assert_int_equal(mdb_of(&r)->n_groups, 0);
	assert_int_equal(get(&r, 0xe0010100, 1), 0);
	assert_int_equal(set(&r, 0xe0010100, 1, MDB_MEMBER), 0);
	rig_close(&r);
}

struct seen {
	uint32_t n;
	uint64_t sum;
};

static void see(const struct mdb_key *k, uint16_t slot, uint8_t flags, void *arg)
{
	struct seen *s = arg;

	s->n++;
	s->sum += (uint64_t)k->group[2] * 1000000 + k->group[3] * 1000U + slot * 10U + flags;
}

static void a_walk_meets_each_membership_once(void **state)
{
	struct seen got = { 0 }, want = { 0 };
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1; 2; 3");
	model_mdb_each(r.m, 0, see, &got);
	model_mdb_each(r.m, 1, see, &got);
	assert_int_equal(got.n, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		struct mdb_key k = key4(0, 0xe0010000 + i, 0);

		for (uint16_t slot = 1; slot <= 3; slot++) {
			assert_int_equal(model_mdb_set(r.m, 0, &k, slot, MDB_MEMBER), 0);
			see(&k, slot, MDB_MEMBER, &want);
		}
	}
	model_mdb_each(r.m, 0, see, &got);
	assert_int_equal(got.n, 3000);
	assert_int_equal(got.sum, want.sum);
	rig_close(&r);
}

static void memberships_are_bounded(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1; 2");
	for (uint32_t i = 0; i < XB_MAX_MDB; i++)
		assert_int_equal(set(&r, 0xe0010000 + i / 2, 1 + i % 2, MDB_MEMBER), 0);
	assert_int_equal(set(&r, 0xef010101, 1, MDB_MEMBER), -ENOSPC);
	assert_int_equal(set(&r, 0xe0010000, 1, MDB_MEMBER | MDB_BLOCKED), 0);
	assert_int_equal(set(&r, 0xe0010000, 1, 0), 0);
	assert_int_equal(set(&r, 0xef010101, 1, MDB_MEMBER), 0);
	rig_close(&r);
}

static void without_memory_all_is_as_before(void **state)
{
	struct rig r;
	long held;
	int err;

	(void)state;
	rig_open(&r, "br; 1; 2; 3; 4; 5; 6");
	for (long n = 0;; n++) {
		held = n_held;
		n_before_fail = n;
		err = set(&r, 0xe0010101, 1, MDB_MEMBER);
		n_before_fail = -1;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(mdb_of(&r)->n_members, 0);
		assert_int_equal(mdb_of(&r)->n_groups, 0);
		/* The empty table may stay. */
		assert_true(n_held - held <= 1);
	}
	for (uint16_t slot = 2; slot <= 4; slot++)
		assert_int_equal(set(&r, 0xe0010101, slot, MDB_MEMBER), 0);
	held = n_held;
	n_before_fail = 0;
	assert_int_equal(set(&r, 0xe0010101, 5, MDB_MEMBER), -ENOMEM);
	n_before_fail = -1;
	assert_int_equal(n_held, held);
	assert_int_equal(mdb_of(&r)->n_members, 4);
	for (uint16_t slot = 1; slot <= 4; slot++)
		assert_int_equal(get(&r, 0xe0010101, slot), MDB_MEMBER);
	assert_int_equal(set(&r, 0xe0010101, 5, MDB_MEMBER), 0);
	rig_close(&r);
}

static void a_bridge_frees_its_groups(void **state)
{
	long begin = n_held, without;
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1; 2");
	rig_close(&r);
	without = n_held - begin;
	rig_open(&r, "br; 1; 2");
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(set(&r, 0xe0010100 + i, 1 + i % 2, MDB_MEMBER), 0);
	rig_close(&r);
	assert_int_equal(n_held - begin, 2 * without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_membership_is_set_changed_and_removed),
		cmocka_unit_test(groups_differ_in_vlan_family_address_and_source),
		cmocka_unit_test(what_is_no_group_or_no_member_is_refused),
		cmocka_unit_test(a_port_takes_its_memberships_along),
		cmocka_unit_test(clearing_leaves_nothing),
		cmocka_unit_test(a_walk_meets_each_membership_once),
		cmocka_unit_test(memberships_are_bounded),
		cmocka_unit_test(without_memory_all_is_as_before),
		cmocka_unit_test(a_bridge_frees_its_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
