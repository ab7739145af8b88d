/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast groups, router ports and queriers: built messages, and recorded ones against iproute2.
 */
#include "message.h"
#include "recording.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/if_bridge.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/limits.h"

#define NSEC_PER_TICK 10000000ULL

static void start_mdb(uint16_t type, uint32_t bridge)
{
	struct br_port_msg pm = { .family = AF_BRIDGE, .ifindex = bridge };

	start(type, &pm, sizeof(pm));
}

/* Begins MDBA_MDB_ENTRY_INFO; @at are the nests that entry_end() ends. */
static void entry(size_t at[3], const struct br_mdb_entry *e)
{
	at[0] = nest(MDBA_MDB);
	at[1] = nest(MDBA_MDB_ENTRY);
	at[2] = nest(MDBA_MDB_ENTRY_INFO);
	raw(e, sizeof(*e));
}

static void entry_end(const size_t at[3])
{
	nest_end(at[2]);
	nest_end(at[1]);
	nest_end(at[0]);
}

static struct br_mdb_entry entry4(void)
{
	struct br_mdb_entry e = { .ifindex = 11 };

	e.addr.proto = htons(ETH_P_IP);
	e.addr.u.ip4 = htonl(0xef010101);
	return e;
}

static void entry_of(struct br_mdb_entry e, uint16_t type, const void *data, size_t len)
{
	size_t at[3];

	start_mdb(RTM_NEWMDB, 5);
	entry(at, &e);
	if (type)
		attr(type, data, len);
	entry_end(at);
}

/* ---- what must be refused ---- */

static void short_header(void)
{
	start(RTM_NEWMDB, "\7\0\0", 4);
}

static void no_bridge(void)
{
	start_mdb(RTM_NEWMDB, 0);
}

static void short_entry(void)
{
	size_t a, b;

	start_mdb(RTM_NEWMDB, 5);
	a = nest(MDBA_MDB);
	b = nest(MDBA_MDB_ENTRY);
	attr(MDBA_MDB_ENTRY_INFO, "01234567890123456789012", 24);
	nest_end(b);
	nest_end(a);
}

static void entry_without_port(void)
{
	struct br_mdb_entry e = entry4();

	e.ifindex = 0;
	entry_of(e, 0, NULL, 0);
}

static void entry_vid_4095(void)
{
	struct br_mdb_entry e = entry4();

	e.vid = 4095;
	entry_of(e, 0, NULL, 0);
}

static void entry_of_arp(void)
{
	struct br_mdb_entry e = entry4();

	e.addr.proto = htons(ETH_P_ARP);
	entry_of(e, 0, NULL, 0);
}

static void source_of_16_bytes(void)
{
	entry_of(entry4(), MDBA_MDB_EATTR_SOURCE, "0123456789012345", 16);
}

static void source_of_4_bytes(void)
{
	struct br_mdb_entry e = entry4();

	e.addr.proto = htons(ETH_P_IPV6);
	entry_of(e, MDBA_MDB_EATTR_SOURCE, "0123", 4);
}

static void mode_2(void)
{
	entry_of(entry4(), MDBA_MDB_EATTR_GROUP_MODE, "\2", 1);
}

static void mode_of_4_bytes(void)
{
	entry_of(entry4(), MDBA_MDB_EATTR_GROUP_MODE, "\1\0\0", 4);
}

static void attr_beyond_the_entry(void)
{
	size_t at[3];
	struct br_mdb_entry e = entry4();

	start_mdb(RTM_NEWMDB, 5);
	entry(at, &e);
	attr_u32(MDBA_MDB_EATTR_TIMER, 7);
	((struct nlattr *)(void *)(w.b + w.len - 8))->nla_len = 16;
	entry_end(at);
}

static void entry_beyond_its_nest(void)
{
	size_t at;

	start_mdb(RTM_NEWMDB, 5);
	at = nest(MDBA_MDB);
	attr_u32(MDBA_MDB_ENTRY, 0);
	((struct nlattr *)(void *)(w.b + w.len - 8))->nla_len = 64;
	nest_end(at);
}

static void router_of(const void *data, size_t len, uint16_t type, const void *value, size_t size)
{
	size_t at, port;

	start_mdb(RTM_NEWMDB, 5);
	at = nest(MDBA_ROUTER);
	port = nest(MDBA_ROUTER_PORT);
	raw(data, len);
	if (type)
		attr(type, value, size);
	nest_end(port);
	nest_end(at);
}

static void short_router(void)
{
	router_of("", 0, 0, NULL, 0);
}

static void router_without_port(void)
{
	router_of("\0\0\0", 4, 0, NULL, 0);
}

static void router_timer_of_8_bytes(void)
{
	router_of("\13\0\0", 4, MDBA_ROUTER_PATTR_INET_TIMER, "\1\0\0\0\0\0\0", 8);
}

static void router_vid_0(void)
{
	router_of("\13\0\0", 4, MDBA_ROUTER_PATTR_VID, "\0", 2);
}

static void querier_of(uint16_t type, const void *data, size_t len)
{
	size_t info, inner, state;

	start(RTM_NEWLINK, &(struct ifinfomsg){ .ifi_index = 5 }, sizeof(struct ifinfomsg));
	info = nest(IFLA_LINKINFO);
	attr(IFLA_INFO_KIND, "bridge", 7);
	inner = nest(IFLA_INFO_DATA);
	state = nest(IFLA_BR_MCAST_QUERIER_STATE);
	attr(type, data, len);
	nest_end(state);
	nest_end(inner);
	nest_end(info);
}

static void querier_long_address(void)
{
	querier_of(BRIDGE_QUERIER_IP_ADDRESS, "0123456789012345", 16);
}

static void querier_short_address(void)
{
	querier_of(BRIDGE_QUERIER_IPV6_ADDRESS, "0123", 4);
}

static void querier_short_timer(void)
{
	querier_of(BRIDGE_QUERIER_IPV6_OTHER_TIMER, "0123", 4);
}

static void malformed_messages_are_refused_with_a_reason(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		void (*make)(void);
		const char *why; /* part of it */
	} rows[] = {
		{ "shorter than br_port_msg",    short_header,           "fixed part" },
		{ "no bridge",                   no_bridge,              "without a bridge" },
		{ "entry of 24 bytes",           short_entry,            "ENTRY_INFO" },
		{ "entry without a port",        entry_without_port,     "without an interface" },
		{ "entry in VLAN 4095",          entry_vid_4095,         "VLAN id" },
		{ "entry of ARP",                entry_of_arp,           "family" },
		{ "IPv4 source of 16 bytes",     source_of_16_bytes,     "EATTR_SOURCE" },
		{ "IPv6 source of 4 bytes",      source_of_4_bytes,      "EATTR_SOURCE" },
		{ "group mode 2",                mode_2,                 "include nor exclude" },
		{ "group mode of 4 bytes",       mode_of_4_bytes,        "GROUP_MODE" },
		{ "attribute beyond its entry",  attr_beyond_the_entry,  "do not fill" },
		{ "entry beyond its nest",       entry_beyond_its_nest,  "do not fill" },
		{ "router port without number",  short_router,           "ROUTER_PORT" },
		{ "router port 0",               router_without_port,    "without an interface" },
		{ "router timer of 8 bytes",     router_timer_of_8_bytes, "INET_TIMER" },
		{ "router port in VLAN 0",       router_vid_0,           "PATTR_VID" },
		{ "querier: IPv4 of 16 bytes",   querier_long_address,   "QUERIER_IP_ADDRESS" },
		{ "querier: IPv6 of 4 bytes",    querier_short_address,  "QUERIER_IPV6_ADDRESS" },
		{ "querier: timer of 4 bytes",   querier_short_timer,    "QUERIER_IPV6_OTHER_TIMER" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct rtmsg_info m;

		rows[i].make();
		if (parse_copy(&m) != -EBADMSG)
			fail_msg("%s: accepted", rows[i].name);
		if (!m.why || !strstr(m.why, rows[i].why))
			fail_msg("%s: the reason is \"%s\"", rows[i].name, m.why);
		assert_int_equal(m.type, RTMSG_OTHER);
	}
}

/* ---- what is read ---- */

static int keep_member(void *arg, const struct mdb_info *m)
{
	*(struct mdb_info *)arg = *m;
	return 0;
}

static int keep_router(void *arg, const struct router_info *r)
{
	*(struct router_info *)arg = *r;
	return 0;
}

static void members_have_group_source_and_mode(void **state)
{
	struct br_mdb_entry e = entry4();
	struct rtmsg_info m;
	struct mdb_info i;
	size_t at[3];

	(void)state;
	e.vid = 4094;
	e.state = MDB_PERMANENT;
	e.flags = MDB_FLAGS_BLOCKED | MDB_FLAGS_OFFLOAD;
	start_mdb(RTM_DELMDB, 5);
	entry(at, &e);
	attr_u32(MDBA_MDB_EATTR_TIMER, 100);
	attr(MDBA_MDB_EATTR_SOURCE, "\12\0\0\1", 4);
	attr(250, "later kernels", 13);
	attr_u8(MDBA_MDB_EATTR_GROUP_MODE, MCAST_INCLUDE);
	entry_end(at);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_MDB);
	assert_int_equal(m.mdb.ifindex, 5);
	assert_int_equal(m.mdb.n_members, 1);
	assert_int_equal(m.mdb.n_routers, 0);
	assert_true(m.mdb.deleted);
	assert_int_equal(rtmsg_mdb(message(), keep_member, &i), 0);
	assert_true(i.deleted && i.is_permanent && i.is_include && i.is_blocked);
	assert_int_equal(i.bridge, 5);
	assert_int_equal(i.ifindex, 11);
	assert_int_equal(i.vid, 4094);
	assert_int_equal(i.proto, 0x0800);
	assert_memory_equal(i.group, "\xef\1\1\1\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_memory_equal(i.source, "\12\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

/* An Ethernet group; a mode means nothing there, and no attribute is needed. */
static void ethernet_groups_are_told_by_their_six_bytes(void **state)
{
	struct br_mdb_entry e = { .ifindex = 5 };
	struct rtmsg_info m;
	struct mdb_info i;

	(void)state;
	memset(&e.addr.u, 0xaa, sizeof(e.addr.u));
	memcpy(e.addr.u.mac_addr, "\1\2\3\4\5\6", 6);
	entry_of(e, 0, NULL, 0);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(rtmsg_mdb(message(), keep_member, &i), 0);
	assert_int_equal(i.proto, 0);
	assert_int_equal(i.ifindex, i.bridge);
	assert_memory_equal(i.group, "\1\2\3\4\5\6\0\0\0\0\0\0\0\0\0\0", 16);
	assert_false(i.deleted || i.is_permanent || i.is_include || i.is_blocked);
}

static void router_ports_have_families_only_where_told(void **state)
{
	struct router_info r;
	struct rtmsg_info m;

	(void)state;
	router_of("\13\0\0", 4, MDBA_ROUTER_PATTR_INET6_TIMER, "\x64\0\0", 4);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.mdb.n_routers, 1);
	assert_int_equal(rtmsg_routers(message(), keep_router, &r), 0);
	assert_int_equal(r.bridge, 5);
	assert_int_equal(r.ifindex, 11);
	assert_int_equal(r.present, ROUTER_HAS_IP6);
	assert_int_equal(r.left6_ns, 100 * NSEC_PER_TICK);
	router_of("\13\0\0", 4, 0, NULL, 0);
	assert_int_equal(rtmsg_routers(message(), keep_router, &r), 0);
	assert_int_equal(r.present, 0);
	assert_false(r.deleted);
}

static int end_walk(void *arg, const struct mdb_info *m)
{
	(void)m;
	++*(uint32_t *)arg;
	return 5;
}

static void a_callback_ends_the_walk(void **state)
{
	struct br_mdb_entry e = entry4();
	uint32_t n = 0;
	size_t at[3];

	(void)state;
	start_mdb(RTM_NEWMDB, 5);
	entry(at, &e);
	entry_end(at);
	entry(at, &e);
	entry_end(at);
	assert_int_equal(rtmsg_mdb(message(), end_walk, &n), 5);
	assert_int_equal(n, 1);
	/* What is no such message has none. */
	start(RTM_NEWLINK, &(struct ifinfomsg){ .ifi_index = 5 }, sizeof(struct ifinfomsg));
	assert_int_equal(rtmsg_mdb(message(), end_walk, &n), 0);
}

static void tables_of_other_families_are_not_ours(void **state)
{
	struct br_port_msg pm = { .family = AF_INET, .ifindex = 5 };
	struct rtmsg_info m;

	(void)state;
	start(RTM_NEWMDB, &pm, sizeof(pm));
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_OTHER);
}

static void queriers_are_told_by_family(void **state)
{
	const struct querier_info *q;
	struct rtmsg_info m;
	uint64_t timer = 25500;

	(void)state;
	querier_of(BRIDGE_QUERIER_IP_ADDRESS, "\12\0\0\2", 4);
	assert_int_equal(parse_copy(&m), 0);
	assert_true(m.link.bridge.present & BRIDGE_HAS_QUERIER_STATE);
	q = m.link.bridge.querier;
	assert_int_equal(q[QUERIER_IP4].present, QUERIER_HAS_ADDRESS);
	assert_memory_equal(q[QUERIER_IP4].address, "\12\0\0\2\0\0\0\0", 8);
	assert_int_equal(q[QUERIER_IP6].present, 0);

	querier_of(BRIDGE_QUERIER_IPV6_OTHER_TIMER, &timer, sizeof(timer));
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(q[QUERIER_IP4].present, 0);
	assert_int_equal(q[QUERIER_IP6].present, QUERIER_HAS_TIMER);
	assert_int_equal(q[QUERIER_IP6].left_ns, 255000000000);

	/* A number that no clock has does not become a short time. */
	timer = UINT64_MAX / 1000;
	querier_of(BRIDGE_QUERIER_IP_OTHER_TIMER, &timer, sizeof(timer));
	assert_int_equal(parse_copy(&m), 0);
	assert_true(q[QUERIER_IP4].left_ns == UINT64_MAX);
}

/* ---- recorded messages ---- */

struct arg {
	struct step *s;
	struct lines *out;
};

static const char *group_text(uint16_t proto, const uint8_t *group, char *buf)
{
	if (!proto)
		snprintf(buf, INET6_ADDRSTRLEN, "%02x:%02x:%02x:%02x:%02x:%02x", group[0], group[1],
			 group[2], group[3], group[4], group[5]);
	else
		assert_non_null(inet_ntop(proto == ETH_P_IP ? AF_INET : AF_INET6, group, buf,
					  INET6_ADDRSTRLEN));
	return buf;
}

static int got_member(void *arg, const struct mdb_info *m)
{
	static const uint8_t any[16];
	char group[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN] = "";
	const struct arg *a = arg;

	assert_false(m->deleted);
	if (memcmp(m->source, any, sizeof(any)))
		group_text(m->proto, m->source, source);
	say(a->out, "%s: %s in %s from %s vlan %d %s%s%s", name_of(a->s, m->bridge),
	    name_of(a->s, m->ifindex), group_text(m->proto, m->group, group), source,
	    m->vid ? m->vid : -1, m->is_permanent ? "permanent" : "temp",
	    m->is_include ? " include" : "", m->is_blocked ? " blocked" : "");
	return 0;
}

static int got_router(void *arg, const struct router_info *r)
{
	const struct arg *a = arg;

	/* The dumps of these kernels name the families, iproute2 does not print them. */
	assert_true(r->present & (ROUTER_HAS_IP4 | ROUTER_HAS_IP6));
	say(a->out, "%s: router %s", name_of(a->s, r->bridge), name_of(a->s, r->ifindex));
	return 0;
}

static void got_mdb(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
		    struct lines *out)
{
	struct arg a = { s, out };
	size_t before = out->n;

	if (m->type != RTMSG_MDB)
		return;
	assert_int_equal(rtmsg_mdb(h, got_member, &a), 0);
	assert_int_equal(out->n - before, m->mdb.n_members);
	before = out->n;
	assert_int_equal(rtmsg_routers(h, got_router, &a), 0);
	assert_int_equal(out->n - before, m->mdb.n_routers);
}

static void want_mdb(struct step *s, const json_t *o, struct lines *out)
{
	const json_t *e, *ports, *p;
	const char *bridge;
	size_t i;

	(void)s;
	json_array_foreach(json_object_get(o, "mdb"), i, e)
	{
		say(out, "%s: %s in %s from %s vlan %ld %s%s%s", str(e, "dev"), str(e, "port"),
		    str(e, "grp"), str(e, "src"), num(e, "vid"), str(e, "state"),
		    !strcmp(str(e, "filter_mode"), "include") ? " include" : "",
		    has_flag(json_object_get(e, "flags"), "blocked") ? " blocked" : "");
	}
	json_object_foreach((json_t *)(uintptr_t)json_object_get(o, "router"), bridge, ports)
	{
		json_array_foreach(ports, i, p) say(out, "%s: router %s", bridge, str(p, "port"));
	}
}

static void compare_mdb(struct step *s)
{
	struct lines want = { 0 }, got = { 0 };
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(s->state, "mdb"), i, o) want_mdb(s, o, &want);
	each_of_dump(s, "mdb", got_mdb, &got);
	compare(s, "bridge mdb", &want, &got);
}

static void recorded_tables_are_read_as_iproute2_reads_them(void **state)
{
	(void)state;
	each_step(compare_mdb, 200);
}

static void count_events(struct step *s, const struct nlmsghdr *h, const struct rtmsg_info *m,
			 struct lines *out)
{
	(void)s;
	(void)h;
	if (m->type == RTMSG_MDB)
		say(out, "members %u routers %u deleted %d", m->mdb.n_members, m->mdb.n_routers,
		    m->mdb.deleted);
}

static void count_step(struct step *s)
{
	struct lines got = { 0 };

	each_message(s, json_object_get(s->json, "events"), count_events, &got);
	for (size_t i = 0; i < got.n; i++) {
		/* One object in each, as the kernel writes them. */
		if (strncmp(got.v[i], "members 1 routers 0", 19) &&
		    strncmp(got.v[i], "members 0 routers 1", 19))
			fail_msg("linux %s, %s: \"%s\"", s->kernel, s->scenario, got.v[i]);
		s->n_compared++;
	}
	lines_free(&got);
}

static void a_recorded_notification_has_one_member_or_router(void **state)
{
	(void)state;
	each_step(count_step, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_messages_are_refused_with_a_reason),
		cmocka_unit_test(members_have_group_source_and_mode),
		cmocka_unit_test(ethernet_groups_are_told_by_their_six_bytes),
		cmocka_unit_test(router_ports_have_families_only_where_told),
		cmocka_unit_test(a_callback_ends_the_walk),
		cmocka_unit_test(tables_of_other_families_are_not_ours),
		cmocka_unit_test(queriers_are_told_by_family),
		cmocka_unit_test(recorded_tables_are_read_as_iproute2_reads_them),
		cmocka_unit_test(a_recorded_notification_has_one_member_or_router),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
