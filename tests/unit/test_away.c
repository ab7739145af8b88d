/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search for VLAN devices in other namespaces against a kernel in miniature,
 * which has some namespaces and in each some devices.
 */
#include "message.h"

#include <errno.h>

#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "ctl/away.h"
#include "ctl/mirror.h"
#include "ctl/nlreq.h"
#include "util/bitset.h"

#define PORT    11
#define OWN     7  /* id that our namespace has for itself */
#define FOREIGN 3  /* and for another one */
#define NO_ID   99 /* of IFLA_LINK_NETNSID: there is none */

struct device {
	int32_t ns;
	const char *kind;
	uint16_t vid;
	uint32_t lower;
	int32_t lower_ns;
};

static struct {
	uint32_t n_ns; /* ids 0 to n_ns - 1 */
	const struct device *dev;
	size_t n_devs;
	int32_t denied; /* an id for which we have no right */
	bool has_no_own;
	uint32_t n_interrupted; /* lists that have to be read once more */
	uint32_t n_lists;
} kernel;

static int tell_id(int32_t id, nlreq_fn fn, void *arg)
{
	struct rtgenmsg g = { 0 };

	start(RTM_NEWNSID, &g, sizeof(g));
	attr_u32(NETNSA_NSID, (uint32_t)id);
	return fn(arg, message());
}

static int tell_device(const struct device *d, nlreq_fn fn, void *arg)
{
	struct ifinfomsg m = { .ifi_index = 30 };
	size_t info, data;

	start(RTM_NEWLINK, &m, sizeof(m));
	attr(IFLA_IFNAME, "v", 2);
	attr_u32(IFLA_LINK, d->lower);
	if (d->lower_ns != NO_ID)
		attr_u32(IFLA_LINK_NETNSID, (uint32_t)d->lower_ns);
	info = nest(IFLA_LINKINFO);
	attr(IFLA_INFO_KIND, d->kind, strlen(d->kind) + 1);
	data = nest(IFLA_INFO_DATA);
	attr_u16(IFLA_VLAN_ID, d->vid);
	nest_end(data);
	nest_end(info);
	return fn(arg, message());
}

static int list_ids(nlreq_fn fn, void *arg)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < kernel.n_ns; i++)
		err = tell_id((int32_t)i, fn, arg);
	return err;
}

static int list_devices(int32_t ns, nlreq_fn fn, void *arg)
{
	int err = 0;

	kernel.n_lists++;
	if (ns == kernel.denied)
		return -EACCES;
	for (size_t i = 0; !err && i < kernel.n_devs; i++) {
		if (kernel.dev[i].ns == ns)
			err = tell_device(&kernel.dev[i], fn, arg);
	}
	if (!err && kernel.n_interrupted) {
		kernel.n_interrupted--;
		return -EINTR;
	}
	return err;
}

int nlreq_run(int protocol, struct nl_msg *msg, nlreq_fn fn, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct nlattr *a;

	assert_int_equal(protocol, NETLINK_ROUTE);
	if (h->nlmsg_type == RTM_GETLINK) {
		assert_true(h->nlmsg_flags & NLM_F_DUMP);
		a = nlmsg_find_attr(h, sizeof(struct ifinfomsg), IFLA_TARGET_NETNSID);
		assert_non_null(a);
		return list_devices(nla_get_s32(a), fn, arg);
	}
	assert_int_equal(h->nlmsg_type, RTM_GETNSID);
	if (h->nlmsg_flags & NLM_F_DUMP)
		return list_ids(fn, arg);
	assert_non_null(nlmsg_find_attr(h, sizeof(struct rtgenmsg), NETNSA_PID));
	return kernel.has_no_own ? -EPERM : tell_id(OWN, fn, arg);
}

static struct mirror *new_mirror(void)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };
	struct mirror *m = mirror_new();
	bool changed;

	assert_non_null(m);
	i.link.ifindex = PORT;
	assert_int_equal(mirror_apply(m, &i, NULL, &changed), 0);
	return m;
}

static bool is_away(const struct mirror *m, uint16_t vid)
{
	const uint64_t *set = mirror_find(m, PORT)->away;

	return set && bitset_test(set, vid);
}

static void set_kernel(uint32_t n_ns, const struct device *d, size_t n)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.n_ns = n_ns;
	kernel.dev = d;
	kernel.n_devs = n;
	kernel.denied = -1;
}

static void a_vlan_device_elsewhere_on_a_port_of_ours_is_found(void **state)
{
	static const struct {
		const char *name;
		struct device d;
		bool has_no_own, want;
	} rows[] = {
		{ "on our port", { 1, "vlan", 40, PORT, OWN }, false, true },
		{ "on a device of its own", { 1, "vlan", 40, PORT, NO_ID }, false, false },
		{ "on one of a third namespace", { 1, "vlan", 40, PORT, FOREIGN }, false, false },
		{ "on one that we do not have", { 1, "vlan", 40, 12, OWN }, false, false },
		{ "no VLAN device", { 1, "macvlan", 40, PORT, OWN }, false, false },
		{ "ours is not told", { 1, "vlan", 40, PORT, FOREIGN }, true, true },
	};

	(void)state;
	for (size_t k = 0; k < N_ELEM(rows); k++) {
		struct mirror *m = new_mirror();
		bool changed = false;
		uint32_t next = 0;

		set_kernel(2, &rows[k].d, 1);
		kernel.has_no_own = rows[k].has_no_own;
		assert_int_equal(away_look(m, &next, 8, &changed, NULL, NULL), 0);
		if (is_away(m, 40) != rows[k].want || changed != rows[k].want)
			fail_msg("%s: expected %d", rows[k].name, rows[k].want);
		changed = false;
		assert_int_equal(away_look(m, &next, 8, &changed, NULL, NULL), 0);
		assert_false(changed);
		mirror_free(m);
	}
}

static void what_cannot_be_read_keeps_nothing_else_from_being_found(void **state)
{
	static const struct device d[] = { { 0, "vlan", 40, PORT, OWN },
					   { 1, "vlan", 41, PORT, OWN } };
	struct mirror *m = new_mirror();
	bool changed = false;
	uint32_t next = 0;

	(void)state;
	set_kernel(2, d, N_ELEM(d));
	kernel.denied = 0;
	kernel.n_interrupted = 1;
	assert_int_equal(away_look(m, &next, 8, &changed, NULL, NULL), 0);
	assert_false(is_away(m, 40));
	assert_true(is_away(m, 41));
	assert_int_equal(kernel.n_lists, 3);
	mirror_free(m);
}

static void looks_go_round_all_namespaces_up_to_a_bound(void **state)
{
	static const struct device d = { 4, "vlan", 40, PORT, OWN };
	struct mirror *m = new_mirror();
	bool changed = false;
	uint32_t next = 0;

	(void)state;
	set_kernel(5, &d, 1);
	assert_int_equal(away_look(m, &next, 3, &changed, NULL, NULL), 0);
	assert_int_equal(kernel.n_lists, 3);
	assert_int_equal(next, 3);
	assert_false(is_away(m, 40));
	assert_int_equal(away_look(m, &next, 3, &changed, NULL, NULL), 0);
	assert_int_equal(kernel.n_lists, 5);
	assert_int_equal(next, 0);
	assert_true(is_away(m, 40));
	set_kernel(AWAY_NAMESPACES + 1, &d, 1);
	assert_int_equal(away_look(m, &next, UINT32_MAX, &changed, NULL, NULL), 0);
	assert_int_equal(kernel.n_lists, AWAY_NAMESPACES);
	mirror_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vlan_device_elsewhere_on_a_port_of_ours_is_found),
		cmocka_unit_test(what_cannot_be_read_keeps_nothing_else_from_being_found),
		cmocka_unit_test(looks_go_round_all_namespaces_up_to_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
