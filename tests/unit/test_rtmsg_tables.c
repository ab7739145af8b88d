/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VLANs, spanning tree instances and forwarding entries, in recorded messages against iproute2. */
#include "recording.h"

#include <string.h>

#include "core/limits.h"

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

/*
 * While stations age in a second, one that was learned may be gone between the
 * dump and iproute2's look.
 */
static bool ages_fast(struct step *s)
{
	long ticks = bridge_option(s, "ageing_time");

	return ticks >= 0 && ticks < 1000;
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
	compare_lists(s);
	if (!json_object_size(s->state)) {
		compare_counts(s);
		return;
	}
	compare_vlans(s, "bridge");
	compare_vlans(s, "bridge-compressed");
	compare_vlans(s, "vlan");
	compare_vlans_global(s);
	compare_mst(s);
	compare_neighs(s);
}

static void recorded_tables_are_as_iproute2_showed_them(void **state)
{
	(void)state;
	each_step(compare_step, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_tables_are_as_iproute2_showed_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
