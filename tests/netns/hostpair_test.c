/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pair of veth devices, made in a network namespace of this program's own. Needs root. */
#include "../unit/unit.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/hostpair.h"

#define QUIET_MSEC 200
#define BRIDGE     42U

static int with_ifreq(unsigned long request, const char *name, struct ifreq *r)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	assert_true(fd >= 0);
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", name);
	err = ioctl(fd, request, r) ? -errno : 0;
	close(fd);
	return err;
}

static int mtu_of(const char *name)
{
	struct ifreq r = { 0 };

	assert_int_equal(with_ifreq(SIOCGIFMTU, name, &r), 0);
	return r.ifr_mtu;
}

static bool has_inet6(const char *name)
{
	struct ifaddrs *all, *a;
	bool has = false;

	assert_int_equal(getifaddrs(&all), 0);
	for (a = all; a; a = a->ifa_next) {
		if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET6 && !strcmp(a->ifa_name, name))
			has = true;
	}
	freeifaddrs(all);
	return has;
}

static bool ipv6_is_disabled(const char *name)
{
	char path[128];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT; /* a kernel without IPv6 */
	c = fgetc(f);
	fclose(f);
	return c == '1';
}

/* Sees every frame of the namespace: lo is down, and nothing else is there. */
static int sniff_open(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));

	assert_true(fd >= 0);
	return fd;
}

static void both_ends_are_up_without_arp_and_with_the_mtu(void **state)
{
	static const char *const names[] = { "xbh42", "xbq42" };
	uint32_t h = 0, q = 0;

	(void)state;
	assert_int_equal(hostpair_make(BRIDGE, 1400, &h, &q), 0);
	assert_int_equal(h, if_nametoindex("xbh42"));
	assert_int_equal(q, if_nametoindex("xbq42"));
	for (size_t i = 0; i < N_ELEM(names); i++) {
		struct ifreq r = { 0 };

		assert_int_equal(with_ifreq(SIOCGIFFLAGS, names[i], &r), 0);
		assert_true(r.ifr_flags & IFF_UP);
		assert_true(r.ifr_flags & IFF_NOARP);
		assert_int_equal(mtu_of(names[i]), 1400);
		assert_true(ipv6_is_disabled(names[i]));
	}
	assert_int_equal(hostpair_remove(BRIDGE), 0);
}

static void the_end_that_receives_has_gro(void **state)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GGRO };
	struct ifreq r = { .ifr_data = (char *)&v };
	uint32_t h, q;

	(void)state;
	assert_int_equal(hostpair_make(BRIDGE, 1500, &h, &q), 0);
	assert_int_equal(with_ifreq(SIOCETHTOOL, "xbq42", &r), 0);
	assert_int_equal(v.data, 1);
	assert_int_equal(hostpair_remove(BRIDGE), 0);
}

static void nothing_is_sent_by_itself_and_no_address_appears(void **state)
{
	int fd = sniff_open();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint32_t h, q;

	(void)state;
	assert_int_equal(hostpair_make(BRIDGE, 1500, &h, &q), 0);
	assert_int_equal(poll(&p, 1, QUIET_MSEC), 0);
	assert_false(has_inet6("xbh42"));
	assert_false(has_inet6("xbq42"));
	assert_int_equal(hostpair_remove(BRIDGE), 0);
	close(fd);
}

static void the_mtu_of_both_ends_follows(void **state)
{
	uint32_t h, q;

	(void)state;
	assert_int_equal(hostpair_make(BRIDGE, 1500, &h, &q), 0);
	assert_int_equal(hostpair_set_mtu(BRIDGE, 9000), 0);
	assert_int_equal(mtu_of("xbh42"), 9000);
	assert_int_equal(mtu_of("xbq42"), 9000);
	assert_int_equal(hostpair_remove(BRIDGE), 0);
	assert_int_equal(hostpair_set_mtu(BRIDGE, 1500), -ENODEV);
}

static void a_leftover_pair_is_replaced(void **state)
{
	uint32_t h, q, h2, q2;

	(void)state;
	assert_int_equal(hostpair_make(BRIDGE, 1500, &h, &q), 0);
	assert_int_equal(hostpair_make(BRIDGE, 1400, &h2, &q2), 0);
	assert_int_not_equal(h, h2);
	assert_int_equal(h2, if_nametoindex("xbh42"));
	assert_int_equal(mtu_of("xbq42"), 1400);
	assert_int_equal(hostpair_remove(BRIDGE), 0);
}

static void removal_takes_both_ends(void **state)
{
	uint32_t h, q;

	(void)state;
	assert_int_equal(hostpair_remove(BRIDGE), -ENOENT);
	assert_int_equal(hostpair_make(BRIDGE, 1500, &h, &q), 0);
	assert_int_equal(hostpair_remove(BRIDGE), 0);
	assert_int_equal(if_nametoindex("xbh42"), 0);
	assert_int_equal(if_nametoindex("xbq42"), 0);
}

static void every_leftover_pair_is_found(void **state)
{
	uint32_t h, q;

	(void)state;
	assert_int_equal(hostpair_make(7, 1500, &h, &q), 0);
	assert_int_equal(hostpair_make(4294967295U, 1500, &h, &q), 0);
	assert_int_equal(hostpair_remove_all(), 2);
	assert_int_equal(if_nametoindex("xbh7") + if_nametoindex("xbq4294967295"), 0);
	assert_int_equal(hostpair_remove_all(), 0);
}

static void a_device_of_another_kind_is_left_alone(void **state)
{
	uint32_t h = 1, q = 2;

	(void)state;
	assert_int_equal(system("ip link add xbh42 type bridge"), 0);
	assert_int_equal(hostpair_make(BRIDGE, 1500, &h, &q), -EEXIST);
	assert_int_equal(hostpair_remove(BRIDGE), -EEXIST);
	assert_int_equal(hostpair_remove_all(), 0);
	assert_int_not_equal(if_nametoindex("xbh42"), 0);
	assert_int_equal(h, 1);
	assert_int_equal(system("ip link del xbh42"), 0);
}

static void an_mtu_that_cannot_be_leaves_nothing(void **state)
{
	uint32_t h, q;

	(void)state;
	assert_true(hostpair_make(BRIDGE, 70000, &h, &q) < 0);
	assert_int_equal(if_nametoindex("xbh42") + if_nametoindex("xbq42"), 0);
}

static void knows_its_names(void **state)
{
	static const struct {
		const char *name;
		bool want;
	} rows[] = {
		{ "xbh1", true },  { "xbq4294967295", true }, { "xbq4294967296", false },
		{ "xbh", false },  { "xbh0", false },         { "xbh01", false },
		{ "xbx1", false }, { "xbh1a", false },        { "eth0", false },
		{ "", false },     { "xb", false },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		if (hostpair_is_name(rows[i].name) != rows[i].want)
			fail_msg("\"%s\"", rows[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_are_up_without_arp_and_with_the_mtu),
		cmocka_unit_test(the_end_that_receives_has_gro),
		cmocka_unit_test(nothing_is_sent_by_itself_and_no_address_appears),
		cmocka_unit_test(the_mtu_of_both_ends_follows),
		cmocka_unit_test(a_leftover_pair_is_replaced),
		cmocka_unit_test(removal_takes_both_ends),
		cmocka_unit_test(every_leftover_pair_is_found),
		cmocka_unit_test(a_device_of_another_kind_is_left_alone),
		cmocka_unit_test(an_mtu_that_cannot_be_leaves_nothing),
		cmocka_unit_test(knows_its_names),
	};

	if (geteuid() || unshare(CLONE_NEWNET)) {
		puts("needs root and network namespaces");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
