/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard against the kernel: what nft, tc and ip set up in a network namespace of
 * this program's own is found, and announced. Needs root.
 */
#include "../unit/unit.h"

/* Before the kernel's own definitions of the same. */
#include <net/if.h>
#include <netinet/in.h>

#include <errno.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/netfilter_bridge/ebtables.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ctl/guard.h"
#include "util/kernel.h"

#define ANNOUNCED_MSEC 5000

static struct guard *guard;

/* Standard error stays: it says why a command failed. */
static bool run(const char *command)
{
	return system(command) == 0;
}

static bool is_readable(int msec)
{
	struct pollfd p = { .fd = guard_fd(guard), .events = POLLIN };

	return poll(&p, 1, msec) == 1;
}

static void refresh(void)
{
	guard_drain(guard);
	assert_int_equal(guard_refresh(guard), 0);
}

static const char *netfilter(void)
{
	const char *what = NULL;

	return guard_has_bridge_netfilter(guard, &what) ? what : "";
}

static const char *tc_of(const char *ifname)
{
	const char *what = NULL;

	return guard_has_tc(guard, if_nametoindex(ifname), &what) ? what : "";
}

/* Each test begins with nothing to find, on the veth pair ga and gb. */
static int set_up(void **state)
{
	(void)state;
	/* Without addresses of their own making, which would be announced at any time. */
	if (!run("ip link add ga type veth peer name gb && "
		 "ip link set ga addrgenmode none up && ip link set gb addrgenmode none up"))
		return -1;
	if (guard_open(&guard))
		return -1;
	return guard_refresh(guard);
}

static int tear_down(void **state)
{
	(void)state;
	guard_close(guard);
	run("nft flush ruleset 2>/dev/null");
	return run("ip link del ga") ? 0 : -1;
}

static void nothing_is_found_where_nothing_is(void **state)
{
	(void)state;
	assert_string_equal(netfilter(), "");
	assert_string_equal(tc_of("ga"), "");
	assert_string_equal(tc_of("gb"), "");
	assert_false(guard_has_address(guard, if_nametoindex("ga")));
}

/* What a command does is announced, and found after guard_refresh(). */
static void do_announced(const char *command)
{
	guard_drain(guard);
	if (!run(command))
		fail_msg("%s", command);
	if (!is_readable(ANNOUNCED_MSEC))
		fail_msg("not announced: %s", command);
	refresh();
}

static void bridge_base_chains_are_found(void **state)
{
	(void)state;
	do_announced("nft add table bridge t");
	assert_true(run("nft add chain bridge t plain"));
	refresh();
	assert_string_equal(netfilter(), "");
	do_announced("nft 'add chain bridge t c { type filter hook forward priority 0; }'");
	assert_string_equal(netfilter(), "nftables chain of family bridge");
	assert_string_equal(tc_of("ga"), "");
	do_announced("nft delete chain bridge t c");
	assert_string_equal(netfilter(), "");
}

static void netdev_chains_are_found_at_their_device(void **state)
{
	(void)state;
	assert_true(run("nft 'add table netdev t; add chain netdev t c "
			"{ type filter hook ingress device ga priority 0; }'"));
	refresh();
	assert_string_equal(tc_of("ga"), "nftables netdev chain");
	assert_string_equal(tc_of("gb"), "");
	assert_string_equal(netfilter(), "");
	do_announced("nft delete table netdev t");
	assert_string_equal(tc_of("ga"), "");
}

static void inet_ingress_chains_are_found_at_their_devices(void **state)
{
	(void)state;
	assert_true(run("nft 'add table inet t; add chain inet t c "
			"{ type filter hook ingress devices = { ga, gb } priority 0; }'"));
	refresh();
	assert_string_equal(tc_of("ga"), "nftables netdev chain");
	assert_string_equal(tc_of("gb"), "nftables netdev chain");
	assert_string_equal(tc_of("lo"), "");
	assert_string_equal(netfilter(), "");
}

static void br_netfilter_counts_with_a_chain_that_it_calls(void **state)
{
	(void)state;
	if (access("/proc/sys/net/bridge/bridge-nf-call-iptables", F_OK))
		skip(); /* br_netfilter is not loaded */
	assert_true(run("echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables"));
	assert_true(run("echo 1 >/proc/sys/net/bridge/bridge-nf-call-ip6tables"));
	refresh();
	assert_string_equal(netfilter(), "");
	assert_true(run("nft 'add table ip6 t; add chain ip6 t c "
			"{ type filter hook forward priority 0; }'"));
	refresh();
	assert_string_equal(netfilter(), "br_netfilter (net.bridge.bridge-nf-call-ip6tables = 1)");
	assert_true(run("echo 0 >/proc/sys/net/bridge/bridge-nf-call-ip6tables"));
	refresh();
	assert_string_equal(netfilter(), "");
	assert_true(run("nft 'add table inet t; add chain inet t c "
			"{ type filter hook forward priority 0; }'"));
	refresh();
	assert_string_equal(netfilter(), "br_netfilter (net.bridge.bridge-nf-call-iptables = 1)");
}

/* A table "filter" of ebtables without rules: in, forward, out, with that policy of the second. */
static void set_ebtables_policy(int policy)
{
	struct ebt_entries e[3] = { { .name = "INPUT", .policy = EBT_ACCEPT },
				    { .name = "FORWARD", .policy = policy },
				    { .name = "OUTPUT", .policy = EBT_ACCEPT } };
	struct ebt_replace r = { .name = "filter",
				 .entries_size = sizeof(e),
				 .entries = (char *)e };
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);

	/* The length says what r points to as well; the kernel reads only r there. */
	assert_true(fd >= 0);
	for (unsigned int i = 0; i < N_ELEM(e); i++) {
		r.valid_hooks |= 1U << (NF_BR_LOCAL_IN + i);
		r.hook_entry[NF_BR_LOCAL_IN + i] = &e[i];
	}
	assert_int_equal(setsockopt(fd, IPPROTO_IP, EBT_SO_SET_ENTRIES, &r, sizeof(r) + sizeof(e)),
			 0);
	close(fd);
}

static void ebtables_counts_with_a_policy(void **state)
{
	(void)state;
	if (access("/sys/module/ebtable_filter", F_OK))
		skip(); /* not there, or not loaded */
	refresh();
	assert_string_equal(netfilter(), "");
	set_ebtables_policy(EBT_DROP);
	refresh();
	assert_string_equal(netfilter(), "ebtables table filter");
	set_ebtables_policy(EBT_ACCEPT);
	refresh();
	assert_string_equal(netfilter(), "");
}

static void filters_count_and_an_empty_clsact_does_not(void **state)
{
	static const char *const rows[][2] = {
		{ "clsact", "ingress" },
		{ "clsact", "egress" },
		{ "ingress", "parent ffff:" },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		char text[256];

		snprintf(text, sizeof(text), "tc qdisc add dev ga %s", rows[i][0]);
		do_announced(text);
		assert_string_equal(tc_of("ga"), "");
		snprintf(text, sizeof(text),
			 "tc filter add dev ga %s protocol all u32 match u32 0 0 classid 1:1",
			 rows[i][1]);
		do_announced(text);
		assert_string_equal(tc_of("ga"), "tc filter");
		assert_string_equal(tc_of("gb"), "");
		snprintf(text, sizeof(text), "tc qdisc del dev ga %s", rows[i][0]);
		do_announced(text);
		assert_string_equal(tc_of("ga"), "");
	}
}

static void shaping_qdiscs_are_found(void **state)
{
	(void)state;
	do_announced("tc qdisc add dev gb root tbf rate 1mbit burst 10k latency 50ms");
	assert_string_equal(tc_of("gb"), "queueing discipline");
	assert_string_equal(tc_of("ga"), "");
	do_announced("tc qdisc del dev gb root");
	assert_string_equal(tc_of("gb"), "");
	do_announced("tc qdisc add dev ga root handle 1: htb");
	assert_string_equal(tc_of("ga"), "queueing discipline");
}

static void tcx_programs_are_found(void **state)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a;
	int prog, link;

	(void)state;
	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	a.insns = (uintptr_t)pass;
	a.insn_cnt = N_ELEM(pass);
	a.license = (uintptr_t) "GPL";
	prog = (int)syscall(__NR_bpf, BPF_PROG_LOAD, &a, sizeof(a));
	assert_true(prog >= 0);
	memset(&a, 0, sizeof(a));
	a.link_create.prog_fd = (uint32_t)prog;
	a.link_create.target_ifindex = if_nametoindex("ga");
	a.link_create.attach_type = 47; /* BPF_TCX_EGRESS */
	link = (int)syscall(__NR_bpf, BPF_LINK_CREATE, &a, sizeof(a));
	close(prog);
	if (link < 0) {
		struct utsname u;

		/* Only a kernel before 6.6 may refuse. */
		assert_false(uname(&u));
		assert_true(kernel_parse(u.release) < KERNEL_V(6, 6));
		skip();
	}
	assert_string_equal(tc_of("ga"), "tcx program");
	assert_string_equal(tc_of("gb"), "");
	close(link);
}

static void addresses_are_found(void **state)
{
	static const char *const addresses[] = { "192.0.2.1/24", "169.254.1.1/16",
						 "2001:db8::1/64" };

	(void)state;
	for (size_t i = 0; i < N_ELEM(addresses); i++) {
		char text[128];

		snprintf(text, sizeof(text), "ip addr add %s dev ga nodad", addresses[i]);
		do_announced(text);
		assert_true(guard_has_address(guard, if_nametoindex("ga")));
		assert_false(guard_has_address(guard, if_nametoindex("gb")));
		snprintf(text, sizeof(text), "ip addr del %s dev ga", addresses[i]);
		do_announced(text);
		assert_false(guard_has_address(guard, if_nametoindex("ga")));
	}
	do_announced("ip addr add fe80::1234/64 dev ga nodad");
	assert_false(guard_has_address(guard, if_nametoindex("ga")));
}

/* The socket's buffer overflows: still announced, drained, and all found. */
static void lost_announcements_are_announced(void **state)
{
	(void)state;
	assert_true(run("for i in $(seq 250); do for j in 1 2 3 4; do "
			"echo addr add 10.$j.$i.1/32 dev ga; done; done | ip -batch - && "
			"ip addr flush dev ga && ip addr add 10.0.0.1/32 dev gb"));
	assert_true(is_readable(ANNOUNCED_MSEC));
	refresh();
	assert_false(is_readable(0));
	assert_false(guard_has_address(guard, if_nametoindex("ga")));
	assert_true(guard_has_address(guard, if_nametoindex("gb")));
}

static bool strips_tags(const char *ifname)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq r = { .ifr_data = (char *)&v };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", ifname);
	assert_int_equal(ioctl(fd, SIOCETHTOOL, &r), 0);
	close(fd);
	return v.data & ETH_FLAG_RXVLAN;
}

static void tag_stripping_goes_off_and_comes_back(void **state)
{
	bool was_on = false;

	(void)state;
	assert_true(strips_tags("ga"));
	assert_int_equal(guard_rxvlan_off("ga", &was_on), 0);
	assert_true(was_on);
	assert_false(strips_tags("ga"));
	assert_int_equal(guard_rxvlan_off("ga", &was_on), 0);
	assert_false(was_on);
	assert_int_equal(guard_rxvlan_restore("ga"), 0);
	assert_true(strips_tags("ga"));
}

static void a_device_that_never_stripped_needs_nothing(void **state)
{
	bool was_on = true;

	(void)state;
	assert_int_equal(guard_rxvlan_off("lo", &was_on), 0);
	assert_false(was_on);
	assert_int_equal(guard_rxvlan_restore("lo"), -EOPNOTSUPP);
	was_on = true;
	assert_int_equal(guard_rxvlan_off("none-such", &was_on), -ENODEV);
	assert_int_equal(guard_rxvlan_off("a-name-that-is-too-long", &was_on), -ENODEV);
	assert_true(was_on);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(nothing_is_found_where_nothing_is),
		ROW(bridge_base_chains_are_found),
		ROW(netdev_chains_are_found_at_their_device),
		ROW(inet_ingress_chains_are_found_at_their_devices),
		ROW(br_netfilter_counts_with_a_chain_that_it_calls),
		ROW(ebtables_counts_with_a_policy),
		ROW(filters_count_and_an_empty_clsact_does_not),
		ROW(shaping_qdiscs_are_found),
		ROW(tcx_programs_are_found),
		ROW(addresses_are_found),
		ROW(lost_announcements_are_announced),
		ROW(tag_stripping_goes_off_and_comes_back),
		ROW(a_device_that_never_stripped_needs_nothing),
	};

	if (geteuid() || unshare(CLONE_NEWNET)) {
		puts("needs root and network namespaces");
		return 77;
	}
	if (!run("command -v nft >/dev/null && command -v tc >/dev/null")) {
		puts("needs nft and tc");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
