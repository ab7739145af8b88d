// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the XDP program does with a frame, by running the loaded program on
 * frames of the table: its verdict and the one counter that moved.
 */
#include "env.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

#define SLOT      7
#define ALONE     8 /* slot of the stand-alone port */
#define BRIDGE    5
#define QUEUE     1
#define MAX_LEN   2000
#define UPPER     42
#define FRAME_MAX 8192

/* clang-format off */
#define UC    "020000000001 020000000002 "
#define OTHER "02000000000a 020000000002 "
#define BC    "ffffffffffff 020000000002 "
#define MC4   "01005e010203 020000000002 "
#define MC6   "333300000001 020000000002 "
#define LL(x) "0180c20000" x " 020000000002 "
#define Q(vid) "8100 0" vid " "
#define AD(vid) "88a8 0" vid " "
#define IP4(proto, sum) "0800 46000020 00000000 01" proto sum " 0a000001 e0000001 94040000 "
#define IGMP IP4("02", "3ad6")
#define PIM  IP4("67", "3a71")
#define UDP  IP4("11", "3ac7")
/* Version and header length, total length, checksum. */
#define IP4_OF(vihl, total, sum) "0800 " vihl "00" total "00000000 0111" sum "0a000001 ef010101 "
#define IP6_OF(ver, plen, next) "86dd " ver "0000000" plen next "01 fe800000000000000000000000000001 " \
	"ff050000000000000000000000000001 "
#define IP6(next) "86dd 60000000 0020" next "01 fe800000000000000000000000000001 " \
	"ff020000000000000000000000000001 "
#define HBH(next) next "00 050200000100 "
#define HBH2(next) next "01 0502000001000000 000000000000 "

#define USER XB_PORT_USER
#define OPEN XB_BRIDGE_OPEN
#define FILT (XB_BRIDGE_OPEN | XB_BRIDGE_FILTERING)
#define SNOOP (XB_BRIDGE_OPEN | XB_BRIDGE_SNOOPING)
#define DOUBT (SNOOP | XB_BRIDGE_MCAST_PASS)
#define NEIGH (XB_BRIDGE_OPEN | XB_BRIDGE_NEIGH)

static const struct row {
	const char *name;
	const char *frame; /* hexadecimal, followed by zeros */
	uint32_t len;
	uint32_t port;
	uint32_t bridge;
	uint16_t tpid;
	enum punt_reason want; /* PUNT_NONE: redirected */
} rows[] = {
	{ "known port, plain frame",       UC "0800",                60, USER, OPEN, 0x8100, PUNT_NONE },
	{ "port without rules",            UC "0800",                60, 0,    OPEN, 0x8100, PUNT_PORT },
	{ "bridge being resynchronised",   UC "0800",                60, USER, 0,    0x8100, PUNT_BRIDGE_GATE },
	{ "shortest frame",                UC "0800",                14, USER, OPEN, 0x8100, PUNT_NONE },
	{ "tag cut off",                   UC "8100",                17, USER, OPEN, 0x8100, PUNT_RUNT },
	{ "tag and nothing else",          UC Q("005") "0800",       18, USER, OPEN, 0x8100, PUNT_NONE },
	{ "longest that fits",             UC "0800",           MAX_LEN, USER, OPEN, 0x8100, PUNT_NONE },
	{ "one byte too long",             UC "0800",       MAX_LEN + 1, USER, OPEN, 0x8100, PUNT_OVERSIZE },
	{ "several fragments",             UC "0800",              6000, USER, OPEN, 0x8100, PUNT_OVERSIZE },
	{ "group source",   "020000000001 030000000002 0800",        60, USER, OPEN, 0x8100, PUNT_SOURCE },
	{ "zero source",    "020000000001 000000000000 0800",        60, USER, OPEN, 0x8100, PUNT_SOURCE },

	{ "VLAN with a device",            UC Q("02a") "0800",       60, USER, OPEN, 0x8100, PUNT_VLAN_UPPER },
	{ "the same, other protocol",      UC AD("02a") "0800",      60, USER, OPEN, 0x8100, PUNT_VLAN_UPPER },
	{ "the same, filtering",           UC Q("02a") "0800",       60, USER, FILT, 0x88a8, PUNT_VLAN_UPPER },
	{ "the same, with priority",       UC "8100 e02a 0800",      60, USER, OPEN, 0x8100, PUNT_VLAN_UPPER },
	{ "VLAN without a device",         UC Q("02b") "0800",       60, USER, OPEN, 0x8100, PUNT_NONE },
	{ "inner VLAN has a device",       UC AD("005") Q("02a"),    60, USER, OPEN, 0x8100, PUNT_NONE },
	{ "no tag, like its bytes",        UC "0800 002a",           60, USER, OPEN, 0x8100, PUNT_NONE },

	{ "spanning tree",                 LL("00") "0026",          60, USER, OPEN, 0x8100, PUNT_LINK_LOCAL },
	{ "LLDP",                          LL("0e") "88cc",          60, USER, OPEN, 0x8100, PUNT_LINK_LOCAL },
	{ "last link-local address",       LL("0f") "0800",          60, USER, OPEN, 0x8100, PUNT_LINK_LOCAL },
	{ "just behind it",                LL("10") "0800",          60, USER, OPEN, 0x8100, PUNT_NONE },
	{ "MRP",                           UC "88e3",                60, USER, OPEN, 0x8100, PUNT_CONTROL },
	{ "CFM",                           UC "8902",                60, USER, OPEN, 0x8100, PUNT_CONTROL },
	{ "pause",                         UC "8808",                60, USER, OPEN, 0x8100, PUNT_CONTROL },
	{ "CFM in the bridge's tag",       UC Q("005") "8902",       60, USER, FILT, 0x8100, PUNT_CONTROL },
	{ "CFM in another tag",            UC AD("005") "8902",      60, USER, FILT, 0x8100, PUNT_NONE },
	{ "CFM in a tag, not filtering",   UC AD("005") "8902",      60, USER, OPEN, 0x8100, PUNT_CONTROL },
	{ "CFM in two tags",               UC Q("005") Q("006") "8902", 60, USER, OPEN, 0x8100, PUNT_NONE },

	{ "multicast, no snooping",        MC4 IGMP,            60, USER, OPEN, 0x8100, PUNT_NONE },
	{ "IGMP",                          MC4 IGMP,            60, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "PIM",                           MC4 PIM,            60, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "IGMP in a tag",                 MC4 Q("005") IGMP,   64, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "UDP multicast",                 MC4 UDP,                  60, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "UDP multicast, five words",     MC4 IP4_OF("45", "0020", "bfca"), 60, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "no byte more than told",        MC4 IP4_OF("45", "0020", "bfca"), 46, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "one byte less than told",       MC4 IP4_OF("45", "0020", "bfca"), 45, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "in a tag, one byte less",       MC4 Q("005") IP4_OF("45", "0020", "bfca"), 49, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "told less than the header",     MC4 IP4_OF("45", "0013", "bfd7"), 60, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "header of four words",          MC4 IP4_OF("44", "0020", "c0ca"), 60, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "header of fifteen, cut off",    MC4 IP4_OF("4f", "003c", "b5ae"), 60, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "header of fifteen words",       MC4 IP4_OF("4f", "003c", "b5ae"), 74, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "version of IPv4",               MC4 IP4_OF("55", "0020", "afca"), 60, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "checksum of IPv4",              MC4 IP4_OF("45", "0020", "bfcb"), 60, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "checksum with options",         MC4 IP4("11", "3ac6"), 60, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "malformed, no snooping",        MC4 IP4_OF("55", "0020", "afca"), 60, USER, OPEN, 0x8100, PUNT_NONE },
	{ "IPv4 multicast cut off",        MC4 "0800 46",            15, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "nothing behind the type",       MC4 "0800",               14, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "UDP multicast, in doubt",       MC4 UDP,                  60, USER, DOUBT, 0x8100, PUNT_MCAST },
	{ "IGMP, in doubt",                MC4 IGMP,                 60, USER, DOUBT, 0x8100, PUNT_MCAST_CONTROL },
	{ "other multicast, in doubt",     MC4 "88b5",               60, USER, DOUBT, 0x8100, PUNT_MCAST },
	{ "broadcast, in doubt",           BC "0800",                60, USER, DOUBT, 0x8100, PUNT_NONE },
	{ "unicast, in doubt",             UC UDP,                   60, USER, DOUBT, 0x8100, PUNT_NONE },
	{ "IGMP in another tag",           MC4 AD("005") IGMP,       64, USER, SNOOP | FILT, 0x8100, PUNT_NONE },
	{ "IGMP in another tag, not filtering", MC4 AD("005") IGMP,  64, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "IGMP in two tags",              MC4 Q("005") Q("006") IGMP, 68, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "other multicast",               MC4 "88b5",               60, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "IPv6 multicast",                MC6 IP6_OF("6", "0008", "11"), 62, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "IPv6 payload cut off",          MC6 IP6_OF("6", "0008", "11"), 61, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "IPv6 without payload",          MC6 IP6_OF("6", "0000", "3b"), 90, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "version of IPv6",               MC6 IP6_OF("5", "0008", "11"), 90, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "IPv6, in doubt",                MC6 IP6_OF("6", "0008", "11"), 90, USER, DOUBT, 0x8100, PUNT_MCAST },
	{ "hop-by-hop, then UDP",          MC6 IP6("00") HBH("11"),  90, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "broadcast with snooping",       BC "0800",                60, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "unicast with snooping",         UC IGMP,             60, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "MLD query",                     MC6 IP6("00") HBH("3a") "82", 90, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "MLD done",                      MC6 IP6("00") HBH("3a") "84", 90, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "MLDv2 report",                  MC6 IP6("00") HBH("3a") "8f", 90, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "MLDv2 report, longer option",   MC6 IP6("00") HBH2("3a") "8f", 90, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "router discovery",              MC6 IP6("3a") "97",       90, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "PIM over IPv6",                 MC6 IP6("67") "20",       90, USER, SNOOP, 0x8100, PUNT_MCAST_CONTROL },
	{ "router solicitation, snooping", MC6 IP6("3a") "85",       90, USER, SNOOP, 0x8100, PUNT_NONE },
	{ "router solicitation, snooping, suppressed", MC6 IP6("3a") "85", 90, USER, SNOOP | NEIGH, 0x8100, PUNT_NEIGH },
	{ "multicast of a locked port",    MC4 UDP,                  60, USER | XB_PORT_LOCKED, SNOOP, 0x8100, PUNT_LOCKED },
	{ "IPv6 multicast cut off",        MC6 "86dd 60",            15, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },
	{ "hop-by-hop header cut off",     MC6 IP6("00") "3a",       55, USER, SNOOP, 0x8100, PUNT_MCAST_BAD },

	{ "ARP, nobody answers",           BC "0806",                60, USER, OPEN, 0x8100, PUNT_NONE },
	{ "ARP",                           BC "0806",                60, USER, NEIGH, 0x8100, PUNT_NEIGH },
	{ "ARP to one station",            UC "0806",                60, USER, NEIGH, 0x8100, PUNT_NEIGH },
	{ "RARP",                          BC "8035",                60, USER, NEIGH, 0x8100, PUNT_NEIGH },
	{ "ARP in the bridge's tag",       BC AD("005") "0806",      60, USER, NEIGH | FILT, 0x88a8, PUNT_NEIGH },
	{ "ARP in another tag",            BC Q("005") "0806",       60, USER, NEIGH | FILT, 0x88a8, PUNT_NONE },
	{ "router solicitation",           UC IP6("3a") "85",        90, USER, NEIGH, 0x8100, PUNT_NEIGH },
	{ "redirect",                      UC IP6("3a") "89",        90, USER, NEIGH, 0x8100, PUNT_NEIGH },
	{ "neighbour solicitation, tag",   UC Q("005") IP6("3a") "87", 90, USER, NEIGH, 0x8100, PUNT_NEIGH },
	{ "echo request",                  UC IP6("3a") "80",        90, USER, NEIGH, 0x8100, PUNT_NONE },
	{ "router renumbering",            UC IP6("3a") "8a",        90, USER, NEIGH, 0x8100, PUNT_NONE },
	{ "TCP",                           UC IP6("06") "87",        90, USER, NEIGH, 0x8100, PUNT_NONE },

	{ "locked",                        UC "0800",                60, USER | XB_PORT_LOCKED, OPEN, 0x8100, PUNT_LOCKED },
	{ "tunnel",                        UC "0800",                60, USER | XB_PORT_TUNNEL, OPEN, 0x8100, PUNT_TUNNEL },
	{ "locked, link-local",            LL("00") "0026",          60, USER | XB_PORT_LOCKED, OPEN, 0x8100, PUNT_LINK_LOCAL },
	{ "address of the host",           OTHER "0800",             60, USER, OPEN, 0x8100, PUNT_LOCAL },
	{ "address of the host, tagged",   OTHER Q("005") "0800",    60, USER, FILT, 0x8100, PUNT_LOCAL },
	{ "broadcast",                     BC "0800",                60, USER, OPEN, 0x8100, PUNT_NONE },
};
/* clang-format on */

static struct prog_set *set;
static int sock;

static int fd_of(uint32_t id)
{
	int fd = bpf_prog_get_fd_by_id(id);

	assert_true(fd >= 0);
	return fd;
}

/* Runs program @fd on a frame that came in on @queue. The frame must come out as it went in. */
static uint32_t run_frame(int fd, const uint8_t *frame, uint32_t len, uint32_t queue)
{
	static uint8_t out[FRAME_MAX];
	struct xdp_md ctx = { .data_end = len,
			      .ingress_ifindex = env_index("va"),
			      .rx_queue_index = queue };
	struct bpf_test_run_opts t = { .sz = sizeof(t),
				       .data_in = frame,
				       .data_size_in = len,
				       .data_out = out,
				       .data_size_out = sizeof(out),
				       .ctx_in = &ctx,
				       .ctx_size_in = sizeof(ctx) };
	int err = bpf_prog_test_run_opts(fd, &t);

	if (err)
		fail_msg("test run: %s", strerror(-err));
	assert_int_equal(t.data_size_out, len);
	assert_memory_equal(out, frame, len);
	return t.retval;
}

static uint32_t run_hex(uint16_t slot, const char *hex, uint32_t len, uint32_t queue)
{
	static uint8_t frame[FRAME_MAX];
	int fd = fd_of(prog_id(set, slot));
	uint32_t action;

	memset(frame, 0, sizeof(frame));
	env_hex(hex, frame, sizeof(frame));
	action = run_frame(fd, frame, len, queue);
	close(fd);
	return action;
}

static void rules_set(uint16_t slot, uint32_t port, uint32_t bridge, uint16_t tpid)
{
	struct xb_port p = { .flags = port, .bridge = BRIDGE, .max_len = MAX_LEN };
	struct xb_bridge b = { .flags = bridge, .tpid = htons(tpid) };

	assert_int_equal(prog_port_set(set, slot, &p), 0);
	assert_int_equal(prog_bridge_set(set, BRIDGE, &b), 0);
}

/* Which counter went up by one, all others staying; PUNT_NONE: redirected. */
static enum punt_reason moved(const struct xb_punts *a, const struct xb_punts *b)
{
	enum punt_reason found = PUNT_N;
	uint64_t total = b->redirected - a->redirected;

	if (total == 1)
		found = PUNT_NONE;
	for (unsigned int i = 0; i < PUNT_N; i++) {
		total += b->punt[i] - a->punt[i];
		if (b->punt[i] != a->punt[i])
			found = i;
	}
	return total == 1 ? found : PUNT_N;
}

#define ROW_TRIES 3

/* A frame of the stack may come in between and be counted, too: then once more. */
static bool row_holds(const char *name, uint16_t slot, const char *hex, uint32_t len,
		      enum punt_reason want, uint32_t want_action)
{
	struct xb_punts a, b;
	enum punt_reason got = PUNT_N;
	uint32_t action = 0;

	for (int i = 0; i < ROW_TRIES && got == PUNT_N; i++) {
		assert_int_equal(prog_punts_read(set, slot, &a), 0);
		action = run_hex(slot, hex, len, QUEUE);
		assert_int_equal(prog_punts_read(set, slot, &b), 0);
		got = moved(&a, &b);
	}
	if (action == want_action && got == want &&
	    b.dropped - a.dropped == (want_action == XDP_DROP))
		return true;
	print_error("%s: action %u, want %u; counter %d, want %d\n", name, action, want_action,
		    (int)got, (int)want);
	return false;
}

static void a_frame_passes_for_one_reason_or_is_redirected(void **state)
{
	size_t n_bad = 0;

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		const struct row *r = &rows[i];

		rules_set(SLOT, r->port, r->bridge, r->tpid);
		n_bad += !row_holds(r->name, SLOT, r->frame, r->len, r->want,
				    r->want ? XDP_PASS : XDP_REDIRECT);
	}
	assert_int_equal(n_bad, 0);
}

/* The same rows on a port that no kernel bridge stands behind. */
static void a_stand_alone_port_drops_what_would_pass_but_link_local(void **state)
{
	size_t n_bad = 0;

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		const struct row *r = &rows[i];
		uint32_t action = !r->want ? XDP_REDIRECT : XDP_DROP;

		if (r->want == PUNT_LINK_LOCAL)
			action = XDP_PASS;
		rules_set(ALONE, r->port, r->bridge, r->tpid);
		n_bad += !row_holds(r->name, ALONE, r->frame, r->len, r->want, action);
	}
	assert_int_equal(n_bad, 0);
}

static void the_gate_and_the_beats_shut_the_way(void **state)
{
	struct xb_gate *g = prog_gate(set);
	uint64_t now = clock_now_ns(), s = NSEC_PER_SEC, hour = 3600 * s;
	const struct {
		const char *name;
		uint64_t open, beat, worker_at, control_beat, control_at;
		uint32_t worker;
		enum punt_reason want;
	} v[] = {
		{ "open", 1, hour, now, hour, now, 0, PUNT_NONE },
		{ "shut", 0, hour, now, hour, now, 0, PUNT_GATE },
		{ "worker stalled", 1, s, now - 2 * s, hour, now, 0, PUNT_BEAT },
		{ "worker just in time", 1, hour, now - 2 * s, hour, now, 0, PUNT_NONE },
		{ "worker ahead of the clock", 1, s, now + hour, hour, now, 0, PUNT_NONE },
		{ "control stalled", 1, hour, now, s, now - 2 * s, 0, PUNT_CONTROL_BEAT },
		{ "control not checked", 1, hour, now, 0, 0, 0, PUNT_NONE },
		{ "worker lives", 1, hour, now, hour, now, 77, PUNT_NONE },
		{ "worker died", 1, hour, now, hour, now, 77 | XB_WORKER_GONE, PUNT_GATE },
		{ "never beaten", 1, s, 0, hour, now, 0, PUNT_BEAT },
	};

	(void)state;
	rules_set(SLOT, USER, OPEN, 0x8100);
	for (size_t i = 0; i < N_ELEM(v); i++) {
		*g = (struct xb_gate){ .heartbeat_ns = v[i].beat,
				       .open = v[i].open,
				       .control_beat_ns = v[i].control_beat,
				       .control_at_ns = v[i].control_at };
		/* The queue is served by worker 2; the others do not matter. */
		g->worker_at_ns[2] = v[i].worker_at;
		g->worker[1] = XB_WORKER_GONE;
		g->worker[2] = v[i].worker;
		assert_true(row_holds(v[i].name, SLOT, UC "0800", 60, v[i].want,
				      v[i].want ? XDP_PASS : XDP_REDIRECT));
	}
	env_gate_open(set);
}

static void a_shut_gate_drops_on_a_stand_alone_port(void **state)
{
	(void)state;
	rules_set(ALONE, USER, OPEN, 0x8100);
	prog_gate(set)->open = 0;
	assert_true(row_holds("data", ALONE, UC "0800", 60, PUNT_GATE, XDP_DROP));
	assert_true(row_holds("link-local", ALONE, LL("00") "0026", 60, PUNT_GATE, XDP_PASS));
	env_gate_open(set);
}

static void a_queue_without_a_socket_passes(void **state)
{
	(void)state;
	rules_set(SLOT, USER, OPEN, 0x8100);
	assert_int_equal(run_hex(SLOT, UC "0800", 60, QUEUE - 1), XDP_PASS);
	prog_sock_clear(set, SLOT, QUEUE);
	assert_true(row_holds("cleared", SLOT, UC "0800", 60, PUNT_NO_SOCKET, XDP_PASS));
	assert_int_equal(prog_sock_set(set, SLOT, QUEUE, sock, 2), 0);
	assert_true(row_holds("set again", SLOT, UC "0800", 60, PUNT_NONE, XDP_REDIRECT));
}

static void uppers_are_replaced_as_a_set(void **state)
{
	static const uint16_t two[] = { 1, 4094 }, one[] = { UPPER }, bad[] = { 4095 };
	static const uint16_t none[] = { 0 };

	(void)state;
	rules_set(SLOT, USER, OPEN, 0x8100);
	assert_int_equal(prog_uppers_set(set, SLOT, two, 2), 0);
	assert_int_equal(run_hex(SLOT, UC Q("02a") "0800", 60, QUEUE), XDP_REDIRECT);
	assert_int_equal(run_hex(SLOT, UC Q("001") "0800", 60, QUEUE), XDP_PASS);
	assert_int_equal(run_hex(SLOT, UC Q("ffe") "0800", 60, QUEUE), XDP_PASS);
	assert_int_equal(prog_uppers_set(set, SLOT, bad, 1), -EINVAL);
	assert_int_equal(prog_uppers_set(set, SLOT, NULL, 0), 0);
	assert_int_equal(run_hex(SLOT, UC Q("001") "0800", 60, QUEUE), XDP_REDIRECT);
	/* A device of VLAN 0 takes frames with a priority tag, but none without a tag. */
	assert_int_equal(prog_uppers_set(set, SLOT, none, 1), 0);
	assert_int_equal(run_hex(SLOT, UC "8100 a000 0800", 60, QUEUE), XDP_PASS);
	assert_int_equal(run_hex(SLOT, UC "0800", 60, QUEUE), XDP_REDIRECT);
	/* New rules do not forget them. */
	assert_int_equal(prog_uppers_set(set, SLOT, one, 1), 0);
	rules_set(SLOT, USER, OPEN, 0x8100);
	assert_int_equal(run_hex(SLOT, UC Q("02a") "0800", 60, QUEUE), XDP_PASS);
}

static void addresses_belong_to_one_bridge_and_can_be_deleted(void **state)
{
	const struct mac m = { { 2, 0, 0, 0, 0, 0x55 } };
	const char *frame = "020000000055 020000000002 0800";

	(void)state;
	rules_set(SLOT, USER, OPEN, 0x8100);
	assert_int_equal(prog_local_add(set, BRIDGE + 1, &m), 0);
	assert_int_equal(run_hex(SLOT, frame, 60, QUEUE), XDP_REDIRECT);
	assert_int_equal(prog_local_add(set, BRIDGE, &m), 0);
	assert_int_equal(prog_local_add(set, BRIDGE, &m), 0);
	assert_int_equal(run_hex(SLOT, frame, 60, QUEUE), XDP_PASS);
	assert_int_equal(prog_local_del(set, BRIDGE, &m), 0);
	assert_int_equal(prog_local_del(set, BRIDGE, &m), 0);
	assert_int_equal(run_hex(SLOT, frame, 60, QUEUE), XDP_REDIRECT);
}

static void numbers_out_of_range_are_refused(void **state)
{
	struct xb_port p = { .bridge = XB_MAX_BRIDGES };
	struct xb_bridge b = { 0 };
	struct xb_punts n;

	(void)state;
	assert_int_equal(prog_port_set(set, SLOT, &p), -EINVAL);
	p.bridge = 0;
	assert_int_equal(prog_port_set(set, XB_MAX_PORTS, &p), -EINVAL);
	assert_int_equal(prog_bridge_set(set, XB_MAX_BRIDGES, &b), -EINVAL);
	assert_int_equal(prog_sock_set(set, SLOT, XB_MAX_QUEUES, sock, 0), -EINVAL);
	assert_int_equal(prog_sock_set(set, SLOT, 0, sock, XB_MAX_WORKERS), -EINVAL);
	assert_int_equal(prog_punts_read(set, XB_MAX_PORTS, &n), -EINVAL);
}

static void port_ready(uint16_t slot, const char *name, bool standalone)
{
	struct prog_port_config cfg = {
		.ifindex = env_index(name), .name = name, .slot = slot, .standalone = standalone
	};
	static const uint16_t uppers[] = { UPPER };
	const char *why = NULL;
	bool tags;

	if (prog_attach(set, &cfg, &tags, &why))
		fail_msg("attach: %s", why);
	assert_int_equal(prog_sock_set(set, slot, QUEUE, sock, 2), 0);
	assert_int_equal(prog_uppers_set(set, slot, uppers, 1), 0);
}

static void ports_make(void)
{
	env_run("ip link add va numrxqueues 2 numtxqueues 2 type veth peer name vb && "
		"ip link set va up && ip link set vb up");
	env_veth("vc", "vd");
}

static void set_ready(void)
{
	const struct mac host = { { 2, 0, 0, 0, 0, 0x0a } };

	set = env_set_open();
	sock = env_xsk();
	port_ready(SLOT, "va", false);
	port_ready(ALONE, "vc", true);
	assert_int_equal(prog_local_add(set, BRIDGE, &host), 0);
	env_gate_open(set);
}

static void fragments_pass_however_long_frames_may_be(void **state)
{
	struct xb_port p = { .flags = USER, .bridge = BRIDGE, .max_len = FRAME_MAX };

	(void)state;
	rules_set(SLOT, USER, OPEN, 0x8100);
	assert_int_equal(prog_port_set(set, SLOT, &p), 0);
	assert_true(row_holds("one buffer", SLOT, UC "0800", 3000, PUNT_NONE, XDP_REDIRECT));
	assert_true(row_holds("two buffers", SLOT, UC "0800", 6000, PUNT_OVERSIZE, XDP_PASS));
}

/* The map of this name that program @fd uses. */
static int map_of(int fd, const char *name)
{
	uint32_t ids[16], len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = { .map_ids = (uintptr_t)ids, .nr_map_ids = N_ELEM(ids) };

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	for (uint32_t i = 0; i < info.nr_map_ids && i < N_ELEM(ids); i++) {
		struct bpf_map_info map = { 0 };
		int map_fd = bpf_map_get_fd_by_id(ids[i]);

		assert_true(map_fd >= 0);
		len = sizeof(map);
		assert_int_equal(bpf_obj_get_info_by_fd(map_fd, &map, &len), 0);
		if (!strcmp(map.name, name))
			return map_fd;
		close(map_fd);
	}
	fail_msg("no map %s", name);
	return -1;
}

static void one_lost_sentinel_shuts_the_gate(void **state)
{
	int fd = fd_of(prog_id(set, SLOT)), map = map_of(fd, "xb_sentinel"), spare = env_xsk();

	(void)state;
	rules_set(SLOT, USER, OPEN, 0x8100);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(bpf_map_delete_elem(map, &i), 0);
		assert_true(row_holds("lost", SLOT, UC "0800", 60, PUNT_GATE, XDP_PASS));
		assert_int_equal(bpf_map_update_elem(map, &i, &spare, BPF_ANY), 0);
		assert_true(row_holds("both", SLOT, UC "0800", 60, PUNT_NONE, XDP_REDIRECT));
	}
	close(spare);
	close(map);
	close(fd);
}

/* A daemon of its own process, with everything open, is killed; its maps live on by the pins. */
static void a_killed_daemon_leaves_a_shut_gate(void **state)
{
	uint8_t frame[60] = { 0 };
	int ready[2], fd;
	uint32_t id;
	pid_t pid;

	(void)state;
	env_hex(UC "0800", frame, sizeof(frame));
	env_ns_new();
	ports_make();
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		set_ready();
		rules_set(SLOT, USER, OPEN, 0x8100);
		id = prog_id(set, SLOT);
		if (write(ready[1], &id, sizeof(id)) != sizeof(id))
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	/* If the daemon fails, the read ends. */
	close(ready[1]);
	assert_int_equal(read(ready[0], &id, sizeof(id)), sizeof(id));
	fd = fd_of(id);
	assert_int_equal(run_frame(fd, frame, sizeof(frame), QUEUE), XDP_REDIRECT);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(run_frame(fd, frame, sizeof(frame), QUEUE), XDP_PASS);
	close(fd);
	close(ready[0]);
	env_run("find /sys/fs/bpf/xbt-%d -delete", (int)pid);
}

static int setup(void **state)
{
	(void)state;
	ports_make();
	set_ready();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	prog_detach(set, SLOT);
	prog_detach(set, ALONE);
	prog_set_close(set);
	close(sock);
	env_pin_dir_remove();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_passes_for_one_reason_or_is_redirected),
		cmocka_unit_test(a_stand_alone_port_drops_what_would_pass_but_link_local),
		cmocka_unit_test(the_gate_and_the_beats_shut_the_way),
		cmocka_unit_test(a_shut_gate_drops_on_a_stand_alone_port),
		cmocka_unit_test(a_queue_without_a_socket_passes),
		cmocka_unit_test(uppers_are_replaced_as_a_set),
		cmocka_unit_test(addresses_belong_to_one_bridge_and_can_be_deleted),
		cmocka_unit_test(numbers_out_of_range_are_refused),
		cmocka_unit_test(fragments_pass_however_long_frames_may_be),
		cmocka_unit_test(one_lost_sentinel_shuts_the_gate),
		cmocka_unit_test(a_killed_daemon_leaves_a_shut_gate),
	};

	env_need_root();
	return cmocka_run_group_tests(tests, setup, teardown);
}
