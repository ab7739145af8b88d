/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

/* Before the kernel's own definitions of the same. */
#include <netinet/in.h>

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ctl/guard_facts.h"
#include "ctl/guard_msg.h"

#define NFT(type) ((NFNL_SUBSYS_NFTABLES << 8) | (type))
#define NESTED    0x8000
#define PREFIX    2 /* NFTA_DEVICE_PREFIX */

/* A message that is being written. */
struct msg {
	union {
		struct nlmsghdr h;
		char b[16384];
	};
};

static void start(struct msg *m, uint16_t type, const void *head, size_t len)
{
	memset(m, 0, sizeof(*m));
	m->h.nlmsg_type = type;
	m->h.nlmsg_len = (uint32_t)NLMSG_LENGTH(len);
	memcpy(NLMSG_DATA(&m->h), head, len);
}

/* Appends an attribute; its address, for what is nested in it. */
static struct nlattr *put(struct msg *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = (struct nlattr *)(void *)(m->b + NLMSG_ALIGN(m->h.nlmsg_len));

	assert_true(NLMSG_ALIGN(m->h.nlmsg_len) + NLA_HDRLEN + len + 4 <= sizeof(*m));
	a->nla_type = type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	m->h.nlmsg_len = NLMSG_ALIGN(m->h.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static void end(struct msg *m, struct nlattr *nest)
{
	nest->nla_len = (uint16_t)(m->b + m->h.nlmsg_len - (char *)nest);
}

/* A copy of exactly its length, so that a sanitizer sees a read behind it. */
static struct nlmsghdr *exact(const struct msg *m)
{
	struct nlmsghdr *h = malloc(m->h.nlmsg_len);

	assert_non_null(h);
	memcpy(h, m, m->h.nlmsg_len);
	return h;
}

static int read_chain(const struct msg *m, struct guard_chain *out)
{
	struct nlmsghdr *h = exact(m);
	int err = guard_msg_chain(h, out);

	free(h);
	return err;
}

static void start_chain(struct msg *m, uint8_t family)
{
	struct nfgenmsg g = { .nfgen_family = family };

	start(m, NFT(NFT_MSG_NEWCHAIN), &g, sizeof(g));
	put(m, NFTA_CHAIN_TABLE, "t", 2);
	put(m, NFTA_CHAIN_NAME, "c", 2);
}

static struct nlattr *put_hook(struct msg *m, uint32_t num)
{
	uint32_t num_be = htonl(num);
	struct nlattr *nest = put(m, NFTA_CHAIN_HOOK | NESTED, NULL, 0);

	put(m, NFTA_HOOK_HOOKNUM, &num_be, sizeof(num_be));
	return nest;
}

static void a_chain_is_hooked_where_its_family_says(void **state)
{
	static const struct {
		const char *name;
		uint8_t family;
		int num; /* -1: no hook */
		enum guard_hook want;
	} rows[] = {
		{ "bridge forward", NFPROTO_BRIDGE, 2, GUARD_HOOK_BRIDGE },
		{ "bridge, not a base chain", NFPROTO_BRIDGE, -1, GUARD_HOOK_NONE },
		{ "ip", NFPROTO_IPV4, 0, GUARD_HOOK_IP },
		{ "ip6", NFPROTO_IPV6, 4, GUARD_HOOK_IP6 },
		{ "inet forward", NFPROTO_INET, 2, GUARD_HOOK_INET },
		{ "inet ingress", NFPROTO_INET, 5, GUARD_HOOK_DEV },
		{ "arp", NFPROTO_ARP, 0, GUARD_HOOK_ARP },
		{ "netdev egress", NFPROTO_NETDEV, 1, GUARD_HOOK_DEV },
		{ "a family of the future", 99, 0, GUARD_HOOK_NONE },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct guard_chain c;
		struct msg m;

		start_chain(&m, rows[i].family);
		if (rows[i].num >= 0)
			end(&m, put_hook(&m, (uint32_t)rows[i].num));
		if (read_chain(&m, &c) || c.hook != rows[i].want || c.n_devs)
			fail_msg("%s", rows[i].name);
	}
}

static void a_device_chain_names_its_devices(void **state)
{
	struct nlattr *hook, *devs;
	struct guard_chain c;
	struct msg m;

	(void)state;
	start_chain(&m, NFPROTO_NETDEV);
	hook = put_hook(&m, 0);
	put(&m, NFTA_HOOK_DEV, "eth0", 5);
	devs = put(&m, NFTA_HOOK_DEVS | NESTED, NULL, 0);
	put(&m, NFTA_DEVICE_NAME, "eth0", 5);
	put(&m, NFTA_DEVICE_NAME, "abcdefghijklmno", 16);
	put(&m, PREFIX, "veth", 4); /* without a NUL */
	end(&m, devs);
	end(&m, hook);
	assert_int_equal(read_chain(&m, &c), 0);
	assert_int_equal(c.n_devs, 3);
	assert_string_equal(c.devs[0].name, "eth0");
	assert_false(c.devs[0].is_prefix);
	assert_string_equal(c.devs[1].name, "abcdefghijklmno");
	assert_string_equal(c.devs[2].name, "veth");
	assert_true(c.devs[2].is_prefix);

	/* Kernels before 5.5 told only one. */
	start_chain(&m, NFPROTO_NETDEV);
	hook = put_hook(&m, 0);
	put(&m, NFTA_HOOK_DEV, "eth1", 5);
	end(&m, hook);
	assert_int_equal(read_chain(&m, &c), 0);
	assert_int_equal(c.n_devs, 1);
	assert_string_equal(c.devs[0].name, "eth1");
}

static void devices_that_are_not_understood_are_all_devices(void **state)
{
	static const char long_name[] = "abcdefghijklmnop";
	struct guard_chain c;

	(void)state;
	for (int row = 0; row < 3; row++) {
		struct nlattr *hook, *devs;
		struct msg m;

		start_chain(&m, NFPROTO_NETDEV);
		hook = put_hook(&m, 0);
		devs = put(&m, NFTA_HOOK_DEVS | NESTED, NULL, 0);
		for (int i = 0; row == 0 && i < GUARD_MAX_DEVS + 1; i++)
			put(&m, NFTA_DEVICE_NAME, "eth0", 5);
		if (row == 1)
			put(&m, NFTA_DEVICE_NAME, long_name, sizeof(long_name));
		if (row == 2)
			put(&m, 77, "eth0", 5);
		end(&m, devs);
		end(&m, hook);
		assert_int_equal(read_chain(&m, &c), 0);
		assert_int_equal(c.n_devs, row == 0 ? GUARD_MAX_DEVS : 1);
		assert_string_equal(c.devs[c.n_devs - 1].name, "");
		assert_true(c.devs[c.n_devs - 1].is_prefix);
	}
}

static void malformed_chains_are_refused(void **state)
{
	struct guard_chain c = { .n_devs = 9 };
	struct nlattr *hook;
	struct msg m;

	(void)state;
	start(&m, NFT(NFT_MSG_NEWCHAIN), "", 1); /* shorter than its header */
	m.h.nlmsg_len = NLMSG_HDRLEN + 2;
	assert_int_equal(read_chain(&m, &c), -EBADMSG);

	start_chain(&m, NFPROTO_BRIDGE); /* a hook without a number */
	put(&m, NFTA_CHAIN_HOOK | NESTED, NULL, 0);
	assert_int_equal(read_chain(&m, &c), -EBADMSG);

	start_chain(&m, NFPROTO_BRIDGE); /* a number of two bytes */
	hook = put(&m, NFTA_CHAIN_HOOK | NESTED, NULL, 0);
	put(&m, NFTA_HOOK_HOOKNUM, "\0", 2);
	end(&m, hook);
	assert_int_equal(read_chain(&m, &c), -EBADMSG);

	start_chain(&m, NFPROTO_NETDEV); /* a name that does not end */
	hook = put_hook(&m, 0);
	put(&m, NFTA_HOOK_DEV, "eth0", 4);
	end(&m, hook);
	assert_int_equal(read_chain(&m, &c), -EBADMSG);
	assert_int_equal(c.n_devs, 9);

	start_chain(&m, NFPROTO_BRIDGE);
	m.h.nlmsg_type = NFT(NFT_MSG_NEWRULE);
	assert_int_equal(read_chain(&m, &c), -ENOMSG);
}

static void only_qdiscs_that_shape_or_are_chosen_count(void **state)
{
	static const struct {
		const char *kind;
		uint32_t parent;
		enum guard_qdisc want;
	} rows[] = {
		{ "noqueue", TC_H_ROOT, GUARD_QDISC_DEFAULT },
		{ "pfifo_fast", TC_H_ROOT, GUARD_QDISC_DEFAULT },
		{ "fq_codel", 0x80010001, GUARD_QDISC_DEFAULT },
		{ "fq", TC_H_ROOT, GUARD_QDISC_DEFAULT },
		{ "sfq", TC_H_ROOT, GUARD_QDISC_DEFAULT },
		{ "mq", TC_H_ROOT, GUARD_QDISC_DEFAULT },
		{ "cake", TC_H_ROOT, GUARD_QDISC_OTHER },
		{ "htb", TC_H_ROOT, GUARD_QDISC_OTHER },
		{ "tbf", 0x80010001, GUARD_QDISC_OTHER },
		{ "netem", TC_H_ROOT, GUARD_QDISC_OTHER },
		{ "fq_", TC_H_ROOT, GUARD_QDISC_OTHER },
		{ "", TC_H_ROOT, GUARD_QDISC_OTHER },
		{ "clsact", TC_H_CLSACT, GUARD_QDISC_CLSACT },
		{ "ingress", TC_H_INGRESS, GUARD_QDISC_CLSACT },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct tcmsg tc = { .tcm_ifindex = 5, .tcm_parent = rows[i].parent };
		enum guard_qdisc got;
		uint32_t ifindex = 0;
		struct nlmsghdr *h;
		struct msg m;

		start(&m, RTM_NEWQDISC, &tc, sizeof(tc));
		put(&m, TCA_KIND, rows[i].kind, strlen(rows[i].kind) + 1);
		h = exact(&m);
		if (guard_msg_qdisc(h, &ifindex, &got) || got != rows[i].want || ifindex != 5)
			fail_msg("%s", rows[i].kind);
		free(h);
	}
}

static void malformed_tc_messages_are_refused(void **state)
{
	struct tcmsg tc = { .tcm_ifindex = 5, .tcm_parent = TC_H_ROOT };
	enum guard_qdisc q;
	uint32_t ifindex = 7;
	struct msg m;

	(void)state;
	start(&m, RTM_NEWQDISC, &tc, sizeof(tc)); /* no kind */
	assert_int_equal(guard_msg_qdisc(&m.h, &ifindex, &q), -EBADMSG);
	put(&m, TCA_KIND, "htb", 3); /* a kind that does not end */
	assert_int_equal(guard_msg_qdisc(&m.h, &ifindex, &q), -EBADMSG);
	m.h.nlmsg_len = NLMSG_HDRLEN + 8; /* a header that does not end */
	assert_int_equal(guard_msg_qdisc(&m.h, &ifindex, &q), -EBADMSG);
	tc.tcm_ifindex = 0;
	start(&m, RTM_NEWQDISC, &tc, sizeof(tc));
	put(&m, TCA_KIND, "htb", 4);
	assert_int_equal(guard_msg_qdisc(&m.h, &ifindex, &q), -EBADMSG);
	assert_int_equal(ifindex, 7);
	assert_int_equal(guard_msg_filter(&m.h), -ENOMSG);
	m.h.nlmsg_type = RTM_NEWTFILTER; /* a filter of a shared block has no interface */
	assert_int_equal(guard_msg_filter(&m.h), 0);
	assert_int_equal(guard_msg_qdisc(&m.h, &ifindex, &q), -ENOMSG);
	m.h.nlmsg_len = NLMSG_HDRLEN + 8;
	assert_int_equal(guard_msg_filter(&m.h), -EBADMSG);
}

static void addresses_count_but_link_local_inet6(void **state)
{
	static const struct {
		const char *name;
		uint8_t family, scope;
		bool want;
	} rows[] = {
		{ "IPv4", AF_INET, RT_SCOPE_UNIVERSE, true },
		{ "IPv4 link-local", AF_INET, RT_SCOPE_LINK, true },
		{ "IPv6", AF_INET6, RT_SCOPE_UNIVERSE, true },
		{ "IPv6 of the site", AF_INET6, RT_SCOPE_SITE, true },
		{ "IPv6 link-local", AF_INET6, RT_SCOPE_LINK, false },
		{ "another family", AF_MCTP, RT_SCOPE_UNIVERSE, false },
	};
	struct ifaddrmsg a = { .ifa_family = AF_INET };
	uint32_t ifindex = 7;
	bool counts = false;
	struct msg m;

	(void)state;
	start(&m, RTM_NEWADDR, &a, sizeof(a)); /* of no interface */
	assert_int_equal(guard_msg_addr(&m.h, &ifindex, &counts), -EBADMSG);
	m.h.nlmsg_len--;
	assert_int_equal(guard_msg_addr(&m.h, &ifindex, &counts), -EBADMSG);
	m.h.nlmsg_type = RTM_NEWLINK;
	assert_int_equal(guard_msg_addr(&m.h, &ifindex, &counts), -ENOMSG);
	assert_int_equal(ifindex, 7);
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		a.ifa_family = rows[i].family;
		a.ifa_scope = rows[i].scope;
		a.ifa_index = 9;
		start(&m, RTM_NEWADDR, &a, sizeof(a));
		if (guard_msg_addr(&m.h, &ifindex, &counts) || counts != rows[i].want ||
		    ifindex != 9)
			fail_msg("%s", rows[i].name);
	}
}

static void a_set_has_what_was_added(void **state)
{
	struct guard_set s = { 0 };

	(void)state;
	assert_false(guard_set_has(&s, 1));
	for (uint32_t i = 100; i > 0; i--) {
		assert_int_equal(guard_set_add(&s, 3 * i), 0);
		assert_int_equal(guard_set_add(&s, 3 * i), 0);
	}
	assert_int_equal(s.n, 100);
	guard_set_seal(&s);
	for (uint32_t i = 0; i < 310; i++)
		assert_int_equal(guard_set_has(&s, i), i && i <= 300 && i % 3 == 0);
	free(s.v);
}

static void a_hook_is_found_by_index_name_and_prefix(void **state)
{
	struct guard_facts f = { 0 };
	struct guard_chain c = { .hook = GUARD_HOOK_DEV,
				 .n_devs = 2,
				 .devs = { { .name = "none-such" },
					   { .name = "veth", .is_prefix = true } } };

	(void)state;
	assert_int_equal(guard_facts_add_chain(&f, &c), 0);
	f.hooked[0].ifindex = 5; /* as if the name had been there */
	assert_true(guard_facts_is_hooked(&f, 5, "renamed"));
	assert_true(guard_facts_is_hooked(&f, 6, "none-such"));
	assert_true(guard_facts_is_hooked(&f, 6, "veth1"));
	assert_false(guard_facts_is_hooked(&f, 6, "none-suc"));
	assert_false(guard_facts_is_hooked(&f, 0, ""));
	assert_true(f.has_hook[GUARD_HOOK_DEV] && !f.has_hook[GUARD_HOOK_BRIDGE]);
	guard_facts_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_hooked_where_its_family_says),
		cmocka_unit_test(a_device_chain_names_its_devices),
		cmocka_unit_test(devices_that_are_not_understood_are_all_devices),
		cmocka_unit_test(malformed_chains_are_refused),
		cmocka_unit_test(only_qdiscs_that_shape_or_are_chosen_count),
		cmocka_unit_test(malformed_tc_messages_are_refused),
		cmocka_unit_test(addresses_count_but_link_local_inet6),
		cmocka_unit_test(a_set_has_what_was_added),
		cmocka_unit_test(a_hook_is_found_by_index_name_and_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
