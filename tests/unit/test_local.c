/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/local.h"
#include "core/local_told.h"
#include "core/model.h"

#define GRACE 100
#define HOST  9

/* ---- a bridge: ports 1..3, the host in slot 9 ---- */

static struct model *m;
static struct local *l;
static struct view *v;
static struct model_bridge_attr br;
static uint64_t now;

/* What the kernel has in the end, and what local_settle() did. */
static struct {
	uint64_t there; /* key of a local entry, 0: none */
	uint16_t slot;
	int err;
	uint32_t n_asked;
	uint64_t stored, dropped;
	uint16_t stored_slot;
} kernel;

static void store(void *arg, uint64_t key, uint16_t slot)
{
	(void)arg;
	kernel.stored = key;
	kernel.stored_slot = slot;
}

static void drop(void *arg, uint64_t key)
{
	(void)arg;
	kernel.dropped = key;
}

static int ask(void *arg, uint64_t key, uint16_t *slot)
{
	(void)arg;
	kernel.n_asked++;
	if (kernel.err)
		return kernel.err;
	*slot = kernel.slot;
	return kernel.there == key;
}

static const struct local_ops ops = { .store = store, .drop = drop, .ask = ask };

static uint64_t key(uint16_t vid, uint8_t n)
{
	return (uint64_t)vid << 48 | 0x020000000a00ULL | n;
}

static void own(uint16_t slot, uint8_t n)
{
	struct mac mac = mac_from_u64(n ? key(0, n) : 0);

	assert_int_equal(local_set_owner(l, slot, &mac), 0);
}

static void port(uint16_t slot)
{
	struct model_port_attr a = { .state = PORT_FORWARDING, .mtu = 1500 };

	if (slot == HOST)
		a.flags = MP_HOST;
	assert_int_equal(model_port_set(m, slot, &a, NULL), 0);
}

static void vlan(uint16_t slot, uint16_t vid, bool is_member)
{
	uint8_t mv = is_member ? MV_MEMBER | MV_STATE(PORT_FORWARDING) : 0;

	assert_int_equal(model_port_vlan_set(m, slot, vid, mv), 0);
}

static void bridge(void)
{
	assert_int_equal(model_bridge_set(m, 0, &br, NULL, NULL, NULL), 0);
}

static unsigned int settle(void)
{
	return local_settle(l, m, now, GRACE, &ops);
}

static void publish(void)
{
	assert_true(local_publish(l, m) >= 0);
	view_free(v);
	v = view_build(m, NULL, NULL);
	assert_non_null(v);
}

/* Both sides give the same answer. */
static bool is_local(uint16_t vid, uint8_t n)
{
	bool has = local_has(l, m, key(vid, n));

	publish();
	assert_int_equal(local_set_has(v, v->bridge[0], key(vid, n)), has);
	return has;
}

static int setup(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	br = (struct model_bridge_attr){ .filtering = true, .tpid = 0x8100, .host_port = HOST };
	now = 1000;
	v = NULL;
	m = model_new();
	l = local_new(0);
	if (!m || !l)
		return -1;
	bridge();
	for (uint16_t i = 1; i <= 3; i++)
		port(i);
	port(HOST);
	vlan(1, 10, true);
	vlan(2, 20, true);
	vlan(HOST, 10, true);
	own(1, 0xa1);
	own(2, 0xa2);
	own(HOST, 0xb0);
	publish();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	view_free(v);
	model_free(m);
	local_free(l);
	return 0;
}

/* ---- computed ---- */

static void an_address_is_local_in_the_vlans_of_its_devices(void **state)
{
	static const struct {
		const char *name;
		uint16_t vid;
		uint8_t mac;
		bool want;
	} rows[] = {
		// clang-format off
		{ "VLAN 0",                         0, 0xa1, true  },
		{ "a VLAN of the port",            10, 0xa1, true  },
		{ "a VLAN of another port",        20, 0xa1, false },
		{ "VLAN 0 of the bridge",           0, 0xb0, true  },
		{ "a VLAN of the bridge",          10, 0xb0, true  },
		{ "a VLAN that the bridge is not in", 20, 0xb0, false },
		{ "nobody's address",               0, 0x99, false },
		{ "nobody's address in a VLAN",    10, 0x99, false },
		// clang-format on
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		if (is_local(rows[i].vid, rows[i].mac) != rows[i].want)
			fail_msg("%s: not %d", rows[i].name, rows[i].want);
	}
}

static void an_address_of_two_devices_is_local_as_long_as_either_is_there(void **state)
{
	(void)state;
	own(HOST, 0xa2);
	assert_true(is_local(10, 0xa2));
	assert_true(is_local(20, 0xa2));
	own(2, 0);
	assert_true(is_local(10, 0xa2));
	assert_false(is_local(20, 0xa2));
	assert_true(is_local(0, 0xa2));
	own(HOST, 0);
	assert_false(is_local(0, 0xa2));
	assert_false(is_local(10, 0xa2));
}

static void a_changed_address_takes_the_place_of_the_old_one(void **state)
{
	(void)state;
	own(1, 0xa7);
	assert_false(is_local(10, 0xa1));
	assert_false(is_local(0, 0xa1));
	assert_true(is_local(10, 0xa7));
}

static void with_fdb_local_vlan_0_the_vlans_have_none(void **state)
{
	(void)state;
	br.local_vlan_0 = true;
	bridge();
	assert_true(is_local(0, 0xa1));
	assert_false(is_local(10, 0xa1));
	br.local_vlan_0 = false;
	bridge();
	assert_true(is_local(10, 0xa1));
}

static void a_port_that_has_left_owns_nothing(void **state)
{
	(void)state;
	model_port_del(m, 1);
	own(1, 0);
	assert_false(is_local(0, 0xa1));
	assert_false(is_local(10, 0xa1));
}

static void an_address_goes_without_memory(void **state)
{
	struct local_info before, after;

	(void)state;
	/* Every place is taken: the next address needs memory. */
	for (uint8_t i = 0; i < 5; i++)
		own(100 + i, i + 1);
	local_info(l, &before);
	own(200, 0);
	own(100, 0);
	local_info(l, &after);
	assert_int_equal(after.mem_size, before.mem_size);
	assert_int_equal(after.n_addresses, before.n_addresses - 1);
	assert_false(local_is_owned(l, key(0, 1)));
	/* They were all taken indeed. */
	own(100, 1);
	own(200, 0x77);
	local_info(l, &after);
	assert_true(after.mem_size > before.mem_size);
}

static void only_what_changes_is_published(void **state)
{
	uint64_t gen;

	(void)state;
	gen = m->gen;
	own(1, 0xa1);
	assert_int_equal(local_publish(l, m), 0);
	assert_int_equal(m->gen, gen);
	own(1, 0xa7);
	assert_int_equal(local_publish(l, m), 1);
	assert_true(m->bridge[0]->gen > gen);
}

/* ---- told ---- */

static void a_computed_entry_is_nothing_to_store(void **state)
{
	(void)state;
	assert_int_equal(local_told(l, m, key(10, 0xa1), 1, now), LOCAL_OWN);
	assert_int_equal(local_told(l, m, key(0, 0xb0), HOST, now), LOCAL_OWN);
	assert_false(local_waits(l));
}

static void a_removed_entry_is_an_exception_until_it_comes_again(void **state)
{
	(void)state;
	local_untold(l, key(10, 0xa1), now);
	assert_int_equal(settle(), LOCAL_MORE);
	assert_true(is_local(10, 0xa1));
	now += GRACE;
	assert_int_equal(settle(), LOCAL_CHANGED);
	assert_int_equal(kernel.n_asked, 1);
	assert_true(local_is_exception(l, key(10, 0xa1)));
	assert_false(is_local(10, 0xa1));
	assert_true(is_local(0, 0xa1));
	/* Told once more: nothing new, and nobody is asked. */
	local_untold(l, key(10, 0xa1), now);
	assert_int_equal(settle(), LOCAL_SETTLED);
	assert_int_equal(local_told(l, m, key(10, 0xa1), 1, now), LOCAL_OWN);
	assert_true(is_local(10, 0xa1));
}

static void what_a_user_added_again_stays_without_the_device(void **state)
{
	(void)state;
	local_untold(l, key(10, 0xa1), now);
	now += GRACE;
	settle();
	local_told(l, m, key(10, 0xa1), 1, now);
	assert_int_equal(settle(), LOCAL_CHANGED);
	assert_true(is_local(10, 0xa1));
	assert_int_equal(settle(), LOCAL_SETTLED);
	kernel.there = key(10, 0xa1);
	kernel.slot = 1;
	own(1, 0xa7);
	assert_int_equal(settle() & LOCAL_MORE, 0);
	assert_int_equal(kernel.stored, key(10, 0xa1));
	/* If it was the kernel that added it, it goes like any other. */
	kernel.stored = kernel.there = 0;
	local_untold(l, key(10, 0xa7), now);
	now += GRACE;
	settle();
	local_told(l, m, key(10, 0xa7), 1, now);
	vlan(1, 10, false);
	assert_int_equal(settle() & LOCAL_MORE, 0);
	assert_int_equal(kernel.stored, 0);
}

static void an_exception_ends_with_the_membership(void **state)
{
	(void)state;
	local_untold(l, key(10, 0xa1), now);
	now += GRACE;
	settle();
	vlan(1, 10, false);
	assert_int_equal(settle(), LOCAL_CHANGED);
	publish();
	vlan(1, 10, true);
	assert_true(is_local(10, 0xa1));
}

static void the_kernel_is_believed_and_not_the_message(void **state)
{
	(void)state;
	/* Overlooked by a dump, say. */
	local_untold(l, key(10, 0xa1), now);
	kernel.there = key(10, 0xa1);
	kernel.slot = 1;
	now += GRACE;
	assert_int_equal(settle(), LOCAL_SETTLED);
	assert_true(is_local(10, 0xa1));
	/* It cannot be asked: nothing is decided. */
	local_untold(l, key(10, 0xa1), now);
	kernel.err = -ENOBUFS;
	now += GRACE;
	assert_int_equal(settle(), LOCAL_MORE);
	assert_true(is_local(10, 0xa1));
	kernel.err = 0;
	kernel.there = 0;
	now += GRACE;
	assert_int_equal(settle(), LOCAL_CHANGED);
	assert_false(is_local(10, 0xa1));
}

static void what_a_user_added_is_stored(void **state)
{
	(void)state;
	/* An address that no device has: at once; it is only settled that it stays. */
	assert_int_equal(local_told(l, m, key(10, 0x77), HOST, now), LOCAL_OTHER);
	kernel.there = key(10, 0x77);
	kernel.slot = HOST;
	now += GRACE;
	assert_int_equal(settle(), LOCAL_SETTLED);
	assert_int_equal(kernel.stored, key(10, 0x77));
	assert_int_equal(kernel.stored_slot, HOST);
	/* A port's own, in a VLAN that it is not in. */
	assert_int_equal(local_told(l, m, key(20, 0xa1), 2, now), LOCAL_WAITS);
	kernel.there = key(20, 0xa1);
	kernel.slot = 2;
	now += GRACE;
	assert_int_equal(settle(), LOCAL_SETTLED);
	assert_int_equal(kernel.stored, key(20, 0xa1));
	assert_int_equal(kernel.stored_slot, 2);
	assert_int_equal(kernel.dropped, 0);
}

static void what_was_added_and_removed_at_once_is_not_stored(void **state)
{
	(void)state;
	local_told(l, m, key(10, 0x77), HOST, now);
	local_untold(l, key(10, 0x77), now);
	local_told(l, m, key(20, 0xa1), 2, now);
	local_untold(l, key(20, 0xa1), now);
	now += GRACE;
	assert_int_equal(settle(), LOCAL_SETTLED);
	assert_int_equal(kernel.stored, 0);
	assert_int_equal(kernel.n_asked, 0);
}

/* A device gets an address and loses its entry before its link message is taken in. */
static void what_went_before_its_device_was_known_is_an_exception(void **state)
{
	(void)state;
	bridge();
	port(1);
	assert_int_equal(local_told(l, m, key(0, 7), 1, now), LOCAL_OTHER);
	local_untold(l, key(0, 7), now);
	local_settle(l, m, now, GRACE, &ops);
	own(1, 7);
	publish();
	now += GRACE;
	local_settle(l, m, now, GRACE, &ops);
	publish();
	assert_true(local_is_owner(l, key(0, 7), 1));
	assert_false(local_has(l, m, key(0, 7)));
}

/* What happens, in words: j, p: port 1 joins VLAN 30, leaves 10; a: its address becomes a7. */
static void happen(char what)
{
	switch (what) {
	case 'j':
		vlan(1, 30, true);
		break;
	case 'J':
		local_told(l, m, key(30, 0xa1), 1, now);
		break;
	case 'p':
		vlan(1, 10, false);
		break;
	case 'P':
		local_untold(l, key(10, 0xa1), now);
		break;
	case 'a':
		own(1, 0xa7);
		break;
	case 'A':
		local_untold(l, key(0, 0xa1), now);
		local_untold(l, key(10, 0xa1), now);
		local_told(l, m, key(0, 0xa7), 1, now);
		local_told(l, m, key(10, 0xa7), 1, now);
		break;
	case '.':
		assert_int_equal(settle() & ~(unsigned int)(LOCAL_MORE | LOCAL_CHANGED), 0);
		publish();
		break;
	default:
		fail_msg("%c?", what);
	}
}

static void messages_may_come_in_any_order(void **state)
{
	/* Small letters: links and VLANs; capital ones: the entries that this changed. */
	static const char *const orders[] = { "jJ",   "Jj",      "J.j",  "j.J",  "pP",  "Pp",
					      "P.p",  "p.P",     "aA",   "Aa",   "A.a", "a.A",
					      "JPpj", "J.P.p.j", "jpJP", "PJ.pj" };

	for (size_t i = 0; i < N_ELEM(orders); i++) {
		if (i) {
			assert_int_equal(teardown(state), 0);
			assert_int_equal(setup(state), 0);
		}
		for (const char *c = orders[i]; *c; c++) {
			happen(*c);
			now += GRACE / 10;
		}
		kernel.stored = 0;
		now += GRACE;
		if ((settle() & LOCAL_MORE) || kernel.n_asked || kernel.stored)
			fail_msg("%s: is not explained", orders[i]);
		for (uint16_t vid = 0; vid <= VID_MAX; vid++) {
			if (local_is_exception(l, key(vid, 0xa1)) ||
			    local_is_exception(l, key(vid, 0xa7)))
				fail_msg("%s: an exception in VLAN %u", orders[i], vid);
		}
	}
}

static void an_explanation_that_comes_late_puts_it_right(void **state)
{
	(void)state;
	/* VLAN 10 is left, but the link message comes after the grace time. */
	local_untold(l, key(10, 0xa1), now);
	now += GRACE;
	settle();
	assert_true(local_is_exception(l, key(10, 0xa1)));
	vlan(1, 10, false);
	settle();
	vlan(1, 10, true);
	assert_true(is_local(10, 0xa1));
	/* What was stored as long as the device's new address was not known goes again. */
	assert_int_equal(local_told(l, m, key(10, 0xa7), 1, now), LOCAL_OTHER);
	own(1, 0xa7);
	assert_int_equal(settle() & LOCAL_MORE, 0);
	assert_int_equal(kernel.dropped, key(10, 0xa7));
	/* And so does what was stored because the VLAN was told of late. */
	local_told(l, m, key(30, 0xa2), 2, now);
	kernel.there = key(30, 0xa2);
	kernel.slot = 2;
	now += GRACE;
	settle();
	assert_int_equal(kernel.stored, kernel.there);
	vlan(2, 30, true);
	settle();
	assert_int_equal(kernel.dropped, kernel.there);
}

static void more_than_there_is_room_for_is_read_again(void **state)
{
	uint32_t n = 0;
	struct local_info info;

	(void)state;
	for (uint8_t mac = 1; mac <= 5; mac++) {
		for (uint16_t vid = 1; vid <= VID_MAX; vid++)
			n += local_told(l, m, key(vid, mac), 1, now) == LOCAL_OTHER;
	}
	assert_int_equal(n, 5 * VID_MAX);
	local_info(l, &info);
	assert_int_equal(info.n_waiting, LOCAL_TOLD_MAX);
	assert_int_equal(settle(), LOCAL_MORE);
	now += GRACE;
	assert_int_equal(settle() & LOCAL_MISSED, LOCAL_MISSED);
	/* Each question may wait for a lock of the kernel's, and traffic for us. */
	assert_int_equal(kernel.n_asked, LOCAL_ASK_MAX);
	assert_true(LOCAL_ASK_MAX <= 64);
	while (settle() & LOCAL_MORE)
		kernel.n_asked = 0;
	local_info(l, &info);
	assert_int_equal(info.n_waiting, 0);
}

/* ---- the table of words ---- */

static void words_are_found_until_they_are_removed(void **state)
{
	enum { N = 300 };
	static bool has[N];
	struct local_words t = { 0 };
	uint32_t n = 0, rnd = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct local_word_told *w;
		uint32_t k;

		rnd = rnd * 1103515245 + 12345;
		k = (rnd >> 8) % N;
		w = local_words_find(&t, key((uint16_t)k, 1));
		assert_int_equal(w != NULL, has[k]);
		if (w && i % 1000 > 500)
			continue;
		if (w)
			local_words_del(&t, w);
		else
			assert_non_null(local_words_add(&t, key((uint16_t)k, 1), LOCAL_WORD_GONE));
		has[k] = !has[k];
		n += has[k] ? 1U : -1U;
		assert_int_equal(t.n, n);
	}
	for (uint32_t k = 0; k < N; k++)
		assert_int_equal(local_words_find(&t, key((uint16_t)k, 1)) != NULL, has[k]);
	local_words_clear(&t);
}

/* ---- the whole table ---- */

static uint32_t n_missing;
static uint64_t missing_key;

static void count_missing(void *arg, uint64_t k, uint16_t slot)
{
	(void)arg;
	assert_true(local_is_owner(l, k & LOCAL_MAC_MASK, slot));
	n_missing++;
	missing_key = k;
}

static void a_tally_finds_what_the_kernel_lacks(void **state)
{
	struct local_tally *t = local_tally_new(l, 0);
	static const struct {
		uint16_t vid;
		uint8_t mac;
	} there[] = { { 0, 0xa1 },  { 10, 0xa1 }, { 0, 0xa2 },
		      { 20, 0xa2 }, { 0, 0xb0 },  { 10, 0x99 } };

	(void)state;
	assert_non_null(t);
	for (size_t i = 0; i < N_ELEM(there); i++)
		local_tick(t, key(there[i].vid, there[i].mac));
	n_missing = 0;
	local_each_missing(l, m, t, count_missing, NULL);
	assert_int_equal(n_missing, 1);
	assert_int_equal(missing_key, key(10, 0xb0));
	local_tick(t, key(10, 0xb0));
	n_missing = 0;
	local_each_missing(l, m, t, count_missing, NULL);
	assert_int_equal(n_missing, 0);
	local_tally_free(t);
}

static void a_tally_of_one_port_is_of_its_address_alone(void **state)
{
	struct local_tally *t = local_tally_new(l, 2);

	(void)state;
	assert_non_null(t);
	local_tick(t, key(0, 0xa2));
	local_tick(t, key(0, 0xa1));
	n_missing = 0;
	local_each_missing(l, m, t, count_missing, NULL);
	assert_int_equal(n_missing, 1);
	assert_int_equal(missing_key, key(20, 0xa2));
	local_tally_free(t);
	/* Of an address of several devices the first one's tally is enough. */
	own(1, 0xa2);
	t = local_tally_new(l, 2);
	assert_non_null(t);
	n_missing = 0;
	local_each_missing(l, m, t, count_missing, NULL);
	assert_int_equal(n_missing, 0);
	local_tally_free(t);
	t = local_tally_new(l, 77);
	assert_non_null(t);
	n_missing = 0;
	local_each_missing(l, m, t, count_missing, NULL);
	assert_int_equal(n_missing, 0);
	local_tally_free(t);
}

#define N_PORTS 100
#define N_VLANS 4000

static void a_vlan_of_a_port_costs_nothing(void **state)
{
	struct model_port_attr a = { .state = PORT_FORWARDING, .mtu = 1500 };
	struct local_info info;
	struct local_tally *t;

	(void)state;
	for (uint16_t vid = 1; vid <= N_VLANS; vid++)
		a.vlan[vid] = MV_MEMBER | MV_STATE(PORT_FORWARDING);
	for (uint16_t i = 0; i < N_PORTS; i++) {
		assert_int_equal(model_port_set(m, 100 + i, &a, NULL), 0);
		own(100 + i, (uint8_t)i);
		if (!i)
			own(100, 0xff);
	}
	t = local_tally_new(l, 0);
	assert_non_null(t);
	for (uint16_t i = 0; i < N_PORTS; i++) {
		for (uint16_t vid = 0; vid <= N_VLANS; vid++) {
			uint64_t k = key(vid, i ? (uint8_t)i : 0xff);

			assert_int_equal(local_told(l, m, k, 100 + i, now), LOCAL_OWN);
			local_tick(t, k);
		}
	}
	n_missing = 0;
	local_each_missing(l, m, t, count_missing, NULL);
	assert_int_equal(n_missing, 6); /* those of the small bridge */
	local_tally_free(t);
	local_info(l, &info);
	assert_int_equal(info.n_addresses, N_PORTS + 3);
	assert_int_equal(info.n_waiting, 0);
	assert_true(info.mem_size < 4096);
	assert_true(is_local(N_VLANS, 0x42));
	assert_false(is_local(N_VLANS + 1, 0x42));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_address_is_local_in_the_vlans_of_its_devices),
		T(an_address_of_two_devices_is_local_as_long_as_either_is_there),
		T(a_changed_address_takes_the_place_of_the_old_one),
		T(with_fdb_local_vlan_0_the_vlans_have_none),
		T(a_port_that_has_left_owns_nothing),
		T(an_address_goes_without_memory),
		T(only_what_changes_is_published),
		T(a_computed_entry_is_nothing_to_store),
		T(a_removed_entry_is_an_exception_until_it_comes_again),
		T(what_a_user_added_again_stays_without_the_device),
		T(an_exception_ends_with_the_membership),
		T(the_kernel_is_believed_and_not_the_message),
		T(what_a_user_added_is_stored),
		T(what_went_before_its_device_was_known_is_an_exception),
		T(what_was_added_and_removed_at_once_is_not_stored),
		T(messages_may_come_in_any_order),
		T(an_explanation_that_comes_late_puts_it_right),
		T(more_than_there_is_room_for_is_read_again),
		T(words_are_found_until_they_are_removed),
		T(a_tally_finds_what_the_kernel_lacks),
		T(a_tally_of_one_port_is_of_its_address_alone),
		T(a_vlan_of_a_port_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
