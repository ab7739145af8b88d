/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "core/limits.h"
#include "ctl/rtmsg.h"

static void start_link(uint16_t type, unsigned char family, int index)
{
	struct ifinfomsg ifi = { .ifi_family = family, .ifi_index = index, .ifi_type = 1 };

	start(type, &ifi, sizeof(ifi));
}

static void start_neigh(uint16_t type, uint8_t flags)
{
	struct ndmsg nd = { .ndm_family = AF_BRIDGE, .ndm_ifindex = 11, .ndm_flags = flags };

	start(type, &nd, sizeof(nd));
}

static void start_vlan(uint16_t type)
{
	struct br_vlan_msg vm = { .family = AF_BRIDGE, .ifindex = 11 };

	start(type, &vm, sizeof(vm));
}

static void vlan_element(uint16_t vid, uint16_t flags)
{
	struct bridge_vlan_info i = { .flags = flags, .vid = vid };

	attr(IFLA_BRIDGE_VLAN_INFO, &i, sizeof(i));
}

static void vlan_entry(uint16_t vid, uint16_t flags, uint16_t last, int state)
{
	struct bridge_vlan_info i = { .flags = flags, .vid = vid };
	size_t at = nest(BRIDGE_VLANDB_ENTRY);

	attr(BRIDGE_VLANDB_ENTRY_INFO, &i, sizeof(i));
	if (last)
		attr_u16(BRIDGE_VLANDB_ENTRY_RANGE, last);
	if (state >= 0)
		attr_u8(BRIDGE_VLANDB_ENTRY_STATE, (uint8_t)state);
	nest_end(at);
}

/* Messages that must be refused, and the word that the reason must contain. */
static void no_index(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 0);
}

static void short_fixed(void)
{
	start(RTM_NEWLINK, "\0\0\0", 4);
}

static void short_mtu(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr_u16(IFLA_MTU, 1500);
}

static void long_mtu(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr(IFLA_MTU, "12345678", 8);
}

static void open_name(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr(IFLA_IFNAME, "p1", 2);
}

static void empty_name(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr(IFLA_IFNAME, NULL, 0);
}

static void long_name(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr(IFLA_IFNAME, "sixteen-letters-", 17);
}

static void long_address(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr(IFLA_ADDRESS, "0123456789012345678901234567890123456789", 33);
}

static void attr_beyond_the_end(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr_u32(IFLA_MTU, 1500);
	((struct nlattr *)(void *)(w.b + w.len - 8))->nla_len = 12;
}

static void attr_shorter_than_its_header(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr_u32(IFLA_MTU, 1500);
	((struct nlattr *)(void *)(w.b + w.len - 8))->nla_len = 3;
}

static void half_attr_at_the_end(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr_u32(IFLA_MTU, 1500);
	w.len += 2;
}

static void two_linkinfos(void)
{
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	nest_end(nest(IFLA_LINKINFO));
	nest_end(nest(IFLA_LINKINFO));
}

static void nested_attr_beyond_its_nest(void)
{
	size_t at;

	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	at = nest(IFLA_LINKINFO);
	attr(IFLA_INFO_KIND, "bridge", 7);
	nest_end(at);
	((struct nlattr *)(void *)(w.b + at + 4))->nla_len = 40;
}

static void with_kind(const char *kind, uint16_t type, const void *data, size_t len)
{
	size_t info, inner;

	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	info = nest(IFLA_LINKINFO);
	attr(IFLA_INFO_KIND, kind, strlen(kind) + 1);
	inner = nest(IFLA_INFO_DATA);
	attr(type, data, len);
	nest_end(inner);
	nest_end(info);
}

static void bridge_pvid_4095(void)
{
	with_kind("bridge", IFLA_BR_VLAN_DEFAULT_PVID, "\xff\x0f", 2);
}

static void bridge_short_boolopt(void)
{
	with_kind("bridge", IFLA_BR_MULTI_BOOLOPT, "\0\0\0", 4);
}

static void bridge_strange_protocol(void)
{
	with_kind("bridge", IFLA_BR_VLAN_PROTOCOL, "\x08\x00", 2);
}

static void vlan_device_0(void)
{
	with_kind("vlan", IFLA_VLAN_ID, "\0\0", 2);
}

static void port_state_5(void)
{
	size_t at;

	start_link(RTM_NEWLINK, AF_BRIDGE, 11);
	at = nest(IFLA_PROTINFO);
	attr_u8(IFLA_BRPORT_STATE, 5);
	nest_end(at);
}

static void port_learning_u32(void)
{
	size_t at;

	start_link(RTM_NEWLINK, AF_BRIDGE, 11);
	at = nest(IFLA_PROTINFO);
	attr_u32(IFLA_BRPORT_LEARNING, 1);
	nest_end(at);
}

static void list(const uint16_t (*v)[2], size_t n)
{
	size_t at;

	start_link(RTM_NEWLINK, AF_BRIDGE, 11);
	at = nest(IFLA_AF_SPEC);
	for (size_t i = 0; i < n; i++)
		vlan_element(v[i][0], v[i][1]);
	nest_end(at);
}

#define LIST(name, ...)                                     \
	static void name(void)                              \
	{                                                   \
		static const uint16_t v[][2] = __VA_ARGS__; \
		list(v, N_ELEM(v));                         \
	}
#define BEGIN BRIDGE_VLAN_INFO_RANGE_BEGIN
#define END   BRIDGE_VLAN_INFO_RANGE_END

LIST(list_vid_0, { { 0, 0 } })
LIST(list_vid_4095, { { 4095, 0 } })
LIST(list_end_without_begin, { { 2, END } })
LIST(list_begin_without_end, { { 2, BEGIN } })
LIST(list_begin_twice, { { 2, BEGIN }, { 3, BEGIN } })
LIST(list_element_inside_a_range, { { 2, BEGIN }, { 3, 0 }, { 4, END } })
LIST(list_backwards, { { 9, BEGIN }, { 8, END } })
LIST(list_range_to_4095, { { 9, BEGIN }, { 4095, END } })
LIST(list_range_of_pvids,
     { { 8, BEGIN | BRIDGE_VLAN_INFO_PVID }, { 9, END | BRIDGE_VLAN_INFO_PVID } })

static void list_short_element(void)
{
	size_t at;

	start_link(RTM_NEWLINK, AF_BRIDGE, 11);
	at = nest(IFLA_AF_SPEC);
	attr_u16(IFLA_BRIDGE_VLAN_INFO, 1);
	nest_end(at);
}

static void mst(bool msti, int state)
{
	size_t spec, all, one;

	start_link(RTM_NEWLINK, AF_BRIDGE, 11);
	spec = nest(IFLA_AF_SPEC);
	all = nest(IFLA_BRIDGE_MST);
	one = nest(IFLA_BRIDGE_MST_ENTRY);
	if (msti)
		attr_u16(IFLA_BRIDGE_MST_ENTRY_MSTI, 3);
	attr_u8(IFLA_BRIDGE_MST_ENTRY_STATE, (uint8_t)state);
	nest_end(one);
	nest_end(all);
	nest_end(spec);
}

static void mst_without_instance(void)
{
	mst(false, 3);
}

static void mst_state_5(void)
{
	mst(true, 5);
}

static void entry_vid_0(void)
{
	start_vlan(RTM_NEWVLAN);
	vlan_entry(0, 0, 0, 3);
}

static void entry_vid_4095(void)
{
	start_vlan(RTM_DELVLAN);
	vlan_entry(4095, 0, 0, -1);
}

static void entry_backwards(void)
{
	start_vlan(RTM_NEWVLAN);
	vlan_entry(20, 0, 10, 3);
}

static void entry_state_5(void)
{
	start_vlan(RTM_NEWVLAN);
	vlan_entry(20, 0, 0, 5);
}

static void entry_without_vlan(void)
{
	size_t at;

	start_vlan(RTM_NEWVLAN);
	at = nest(BRIDGE_VLANDB_ENTRY);
	attr_u8(BRIDGE_VLANDB_ENTRY_STATE, 3);
	nest_end(at);
}

static void global_without_vlan(void)
{
	start_vlan(RTM_NEWVLAN);
	nest_end(nest(BRIDGE_VLANDB_GLOBAL_OPTIONS));
}

static void neigh_without_address(void)
{
	start_neigh(RTM_NEWNEIGH, 0);
}

static void neigh_long_address(void)
{
	start_neigh(RTM_NEWNEIGH, 0);
	attr(NDA_LLADDR, "12345678", 8);
}

static void neigh_vid(uint16_t vid)
{
	start_neigh(RTM_NEWNEIGH, 0);
	attr(NDA_LLADDR, "\2\0\0\0\0\1", 6);
	attr_u16(NDA_VLAN, vid);
}

static void neigh_vid_0(void)
{
	neigh_vid(0);
}

static void neigh_vid_4095(void)
{
	neigh_vid(4095);
}

static void neigh_short_age(void)
{
	start_neigh(RTM_NEWNEIGH, 0);
	attr(NDA_LLADDR, "\2\0\0\0\0\1", 6);
	attr(NDA_CACHEINFO, "123456789012", 12);
}

static void error_without_number(void)
{
	start(NLMSG_ERROR, NULL, 0);
}

static void error_above_0(void)
{
	start(NLMSG_ERROR, "\1\0\0", 4);
}

static void overrun(void)
{
	start(NLMSG_OVERRUN, NULL, 0);
}

static void malformed_messages_are_refused_with_a_reason(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		void (*make)(void);
		const char *why; /* part of it */
	} rows[] = {
		{ "link without an index",       no_index,           "index" },
		{ "shorter than ifinfomsg",      short_fixed,        "fixed part" },
		{ "MTU of two bytes",            short_mtu,          "IFLA_MTU" },
		{ "MTU of eight bytes",          long_mtu,           "IFLA_MTU" },
		{ "name without an end",         open_name,          "IFLA_IFNAME" },
		{ "empty name",                  empty_name,         "IFLA_IFNAME" },
		{ "name too long",               long_name,          "IFLA_IFNAME" },
		{ "address too long",            long_address,       "IFLA_ADDRESS" },
		{ "attribute beyond the end",    attr_beyond_the_end, "do not fill" },
		{ "attribute of three bytes",    attr_shorter_than_its_header, "do not fill" },
		{ "half an attribute",           half_attr_at_the_end, "do not fill" },
		{ "IFLA_LINKINFO twice",         two_linkinfos,      "IFLA_LINKINFO" },
		{ "inner attribute beyond nest", nested_attr_beyond_its_nest, "do not fill" },
		{ "bridge: PVID 4095",           bridge_pvid_4095,   "DEFAULT_PVID" },
		{ "bridge: boolopt of 4 bytes",  bridge_short_boolopt, "BOOLOPT" },
		{ "bridge: VLAN protocol IP",    bridge_strange_protocol, "VLAN_PROTOCOL" },
		{ "VLAN device with VID 0",      vlan_device_0,      "IFLA_VLAN_ID" },
		{ "port state 5",                port_state_5,       "BRPORT_STATE" },
		{ "port flag of four bytes",     port_learning_u32,  "BRPORT_LEARNING" },
		{ "list: VID 0",                 list_vid_0,         "VLAN id" },
		{ "list: VID 4095",              list_vid_4095,      "VLAN id" },
		{ "list: end without begin",     list_end_without_begin, "range" },
		{ "list: begin without end",     list_begin_without_end, "range" },
		{ "list: begin twice",           list_begin_twice,   "range" },
		{ "list: element in a range",    list_element_inside_a_range, "range" },
		{ "list: backwards",             list_backwards,     "ends before" },
		{ "list: range up to 4095",      list_range_to_4095, "VLAN id" },
		{ "list: range of PVIDs",        list_range_of_pvids, "PVIDs" },
		{ "list: element of two bytes",  list_short_element, "VLAN_INFO" },
		{ "MST without instance",        mst_without_instance, "complete" },
		{ "MST state 5",                 mst_state_5,        "MST_ENTRY_STATE" },
		{ "entry: VID 0",                entry_vid_0,        "VLAN id" },
		{ "entry: VID 4095",             entry_vid_4095,     "VLAN id" },
		{ "entry: backwards",            entry_backwards,    "ends before" },
		{ "entry: state 5",              entry_state_5,      "ENTRY_STATE" },
		{ "entry without VLAN",          entry_without_vlan, "without its VLAN" },
		{ "global without VLAN",         global_without_vlan, "without its VLAN" },
		{ "neigh without address",       neigh_without_address, "Ethernet address" },
		{ "neigh with 8 address bytes",  neigh_long_address, "Ethernet address" },
		{ "neigh with VID 0",            neigh_vid_0,        "NDA_VLAN" },
		{ "neigh with VID 4095",         neigh_vid_4095,     "NDA_VLAN" },
		{ "neigh with short cacheinfo",  neigh_short_age,    "NDA_CACHEINFO" },
		{ "error without a number",      error_without_number, "error" },
		{ "error above 0",               error_above_0,      "error" },
		{ "the kernel lost messages",    overrun,            "lost" },
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
		assert_int_equal(m.size, w.len);
		assert_int_equal(m.nl_seq, 7);
	}
}

static void lengths_of_the_header_are_checked(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		size_t len;        /* bytes in the buffer */
		uint32_t nlmsg_len;
		int err;
		size_t size;
	} rows[] = {
		{ "half a header",          8, 16, -EBADMSG,  8 },
		{ "says less than a header", 64, 15, -EBADMSG, 64 },
		{ "says nothing",           64,  0, -EBADMSG, 64 },
		{ "says more than is there", 64, 65, -EBADMSG, 64 },
		{ "just a header",          16, 16, 0,        16 },
		{ "another one behind it",  64, 16, 0,        16 },
		{ "padding behind it",      64, 17, 0,        20 },
		{ "padding is missing",     17, 17, 0,        17 },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct nlmsghdr *h = calloc(1, 64);
		struct rtmsg_info m;

		h->nlmsg_len = rows[i].nlmsg_len;
		h->nlmsg_type = NLMSG_NOOP;
		if (rtmsg_parse(h, rows[i].len, &m) != rows[i].err || m.size != rows[i].size)
			fail_msg("%s", rows[i].name);
		assert_int_equal(m.type, RTMSG_OTHER);
		free(h);
	}
}

static void unknown_attributes_and_messages_are_skipped(void **state)
{
	struct ifinfomsg ifi = { .ifi_family = AF_INET6, .ifi_index = 11 };
	struct ndmsg nd = { .ndm_family = AF_INET, .ndm_ifindex = 11 };
	struct rtmsg_info m;
	size_t at;

	(void)state;
	start_link(RTM_NEWLINK, AF_BRIDGE, 11);
	attr(IFLA_MAX + 100, "x", 1);
	attr_u32(IFLA_MTU, 1400);
	at = nest(IFLA_PROTINFO);
	attr(IFLA_BRPORT_MAX + 100, "yy", 2);
	attr_u8(IFLA_BRPORT_STATE, 3);
	nest_end(at);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_LINK);
	assert_int_equal(m.link.mtu, 1400);
	assert_int_equal(m.link.present, LINK_HAS_MTU | LINK_HAS_BRPORT);
	assert_int_equal(m.link.brport.present, BRPORT_HAS_STATE);

	start(RTM_NEWLINK, &ifi, sizeof(ifi));
	attr_u16(IFLA_MTU, 0);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_OTHER);
	start(RTM_NEWNEIGH, &nd, sizeof(nd));
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_OTHER);
	start(RTM_NEWROUTE, NULL, 0);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_OTHER);
}

static void addresses_that_are_not_ethernet_are_left_out(void **state)
{
	struct rtmsg_info m;

	(void)state;
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	attr(IFLA_ADDRESS, "\x0a\0\0\1", 4);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.link.present, 0);
	start_neigh(RTM_NEWNEIGH, NTF_SELF);
	attr(NDA_LLADDR, "01234567890123456789", 20);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_OTHER);
}

static void long_kinds_are_cut_and_match_nothing(void **state)
{
	struct rtmsg_info m;

	(void)state;
	with_kind("bridge-of-another-sort", IFLA_BR_VLAN_FILTERING, "\1\0\0\0", 4);
	assert_int_equal(parse_copy(&m), 0);
	assert_string_equal(m.link.kind, "bridge-of-anoth");
	assert_int_equal(m.link.present, LINK_HAS_KIND);
}

static void xdp_programs_are_told_by_mode(void **state)
{
	struct rtmsg_info m;
	size_t at;

	(void)state;
	start_link(RTM_NEWLINK, AF_UNSPEC, 11);
	at = nest(IFLA_XDP);
	attr_u8(IFLA_XDP_ATTACHED, XDP_ATTACHED_MULTI);
	attr_u32(IFLA_XDP_DRV_PROG_ID, 70);
	attr_u32(IFLA_XDP_SKB_PROG_ID, 71);
	nest_end(at);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.link.present, LINK_HAS_XDP);
	assert_int_equal(m.link.xdp_mode, LINK_XDP_MULTI);
	assert_int_equal(m.link.xdp_prog_id, 0);
	assert_int_equal(m.link.xdp_drv_prog_id, 70);
	assert_int_equal(m.link.xdp_skb_prog_id, 71);
}

static void switch_ports_and_moves_are_marked(void **state)
{
	struct rtmsg_info m;

	(void)state;
	start_link(RTM_DELLINK, AF_UNSPEC, 11);
	attr(IFLA_PHYS_SWITCH_ID, "\1\2\3", 3);
	attr_u32(IFLA_NEW_NETNSID, 4);
	assert_int_equal(parse_copy(&m), 0);
	assert_true(m.link.deleted);
	assert_int_equal(m.link.present, LINK_HAS_SWITCH_ID | LINK_HAS_NEW_NETNS);
}

/* Network cards with virtual functions answer bridge dumps for their own switch. */
static void a_cards_own_switch_is_not_the_bridge(void **state)
{
	struct rtmsg_info m;
	size_t at;

	(void)state;
	start_link(RTM_NEWLINK, AF_BRIDGE, 11);
	attr_u32(IFLA_MASTER, 5);
	at = nest(IFLA_AF_SPEC);
	attr_u16(IFLA_BRIDGE_FLAGS, BRIDGE_FLAGS_SELF);
	attr_u16(IFLA_BRIDGE_MODE, 0);
	vlan_element(1, 0);
	nest_end(at);
	at = nest(IFLA_PROTINFO);
	attr_u8(IFLA_BRPORT_STATE, 0);
	nest_end(at);
	assert_int_equal(parse_copy(&m), 0);
	assert_true(m.link.is_self);
	assert_int_equal(m.link.n_vlans, 0);
	assert_int_equal(m.link.present, LINK_HAS_MASTER);
	assert_int_equal(rtmsg_link_vlans(message(), NULL, NULL), 0);
}

static int keep_vlan(void *arg, const struct vlan_info *v)
{
	*(struct vlan_info *)arg = *v;
	return 5;
}

static void a_callback_ends_the_walk(void **state)
{
	struct vlan_info v = { 0 };

	(void)state;
	start_vlan(RTM_DELVLAN);
	vlan_entry(10, BRIDGE_VLAN_INFO_UNTAGGED, 20, -1);
	vlan_entry(30, 0, 0, -1);
	assert_int_equal(rtmsg_vlans(message(), keep_vlan, &v), 5);
	assert_int_equal(v.vid_first, 10);
	assert_int_equal(v.vid_last, 20);
	assert_int_equal(v.flags, VLAN_UNTAGGED);
	assert_int_equal(v.ifindex, 11);
	assert_int_equal(v.source, VLAN_IN_ENTRY);
	assert_int_equal(v.present, 0);
	assert_true(v.deleted);
}

static void the_deletion_of_vlan_0_is_nothing(void **state)
{
	struct rtmsg_info m;

	(void)state;
	start_vlan(RTM_DELVLAN);
	vlan_entry(0, 0, 0, -1);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_VLAN);
	assert_int_equal(m.vlan.n_vlans, 0);
}

static void entries_tell_their_age_and_owner(void **state)
{
	struct nda_cacheinfo ci = { .ndm_used = 300, .ndm_updated = 150 };
	struct rtmsg_info m;
	size_t at;

	(void)state;
	start_neigh(RTM_DELNEIGH, NTF_MASTER | NTF_SELF);
	attr(NDA_LLADDR, "\2\0\0\0\0\1", 6);
	attr(NDA_CACHEINFO, &ci, sizeof(ci));
	attr_u8(NDA_PROTOCOL, 186);
	attr_u32(NDA_FLAGS_EXT, NEIGH_FLAG_EXT_LOCKED);
	at = nest(NDA_FDB_EXT_ATTRS);
	attr_u8(NFEA_ACTIVITY_NOTIFY, FDB_NOTIFY_BIT);
	nest_end(at);
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_NEIGH);
	assert_int_equal(m.neigh.present, NEIGH_HAS_AGE | NEIGH_HAS_PROTOCOL | NEIGH_HAS_FLAGS_EXT |
						  NEIGH_HAS_NOTIFY);
	assert_true(m.neigh.deleted);
	assert_false(m.neigh.is_self);
	assert_int_equal(m.neigh.vid, VID_NONE);
	assert_int_equal(m.neigh.updated_age_ns, 1500000000);
	assert_int_equal(m.neigh.used_age_ns, 3000000000);
	assert_int_equal(m.neigh.protocol, 186);
	assert_int_equal(m.neigh.notify, 1);
	assert_int_equal(m.neigh.flags_ext, NEIGH_FLAG_EXT_LOCKED);
}

static void errors_and_interrupted_dumps_are_seen(void **state)
{
	struct nlmsgerr e = { .error = -EBUSY };
	struct rtmsg_info m;

	(void)state;
	start(NLMSG_ERROR, &e, sizeof(e));
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_ERROR);
	assert_int_equal(m.error, -EBUSY);
	start(NLMSG_DONE, "\0\0\0", 4);
	((struct nlmsghdr *)(void *)w.b)->nlmsg_flags |= NLM_F_DUMP_INTR;
	assert_int_equal(parse_copy(&m), 0);
	assert_int_equal(m.type, RTMSG_DONE);
	assert_int_equal(m.error, 0);
	assert_true(m.nl_flags & NLM_F_DUMP_INTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_messages_are_refused_with_a_reason),
		cmocka_unit_test(lengths_of_the_header_are_checked),
		cmocka_unit_test(unknown_attributes_and_messages_are_skipped),
		cmocka_unit_test(addresses_that_are_not_ethernet_are_left_out),
		cmocka_unit_test(long_kinds_are_cut_and_match_nothing),
		cmocka_unit_test(xdp_programs_are_told_by_mode),
		cmocka_unit_test(switch_ports_and_moves_are_marked),
		cmocka_unit_test(a_cards_own_switch_is_not_the_bridge),
		cmocka_unit_test(a_callback_ends_the_walk),
		cmocka_unit_test(the_deletion_of_vlan_0_is_nothing),
		cmocka_unit_test(entries_tell_their_age_and_owner),
		cmocka_unit_test(errors_and_interrupted_dumps_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
