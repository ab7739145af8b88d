/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rig: what the tests of dp_test stand on: a namespace with veth pairs p1..p4
 * (slots 1..4) and h1..h4 (their other ends), frames that carry a sequence
 * number and the time, and a data plane with one bridge over the ports. What
 * goes wrong ends the process.
 */
#ifndef XB_TESTS_NETNS_DP_RIG_H
#define XB_TESTS_NETNS_DP_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "dp/dp.h"

struct fdb;
struct model;

#define N_PORTS   4
#define ETHER_EXP 0x88b5
#define PIN_DIR   "/sys/fs/bpf/xbridged"

#define FAIL(...)                                                    \
	do {                                                         \
		fprintf(stderr, "FAIL %s:%d: ", __func__, __LINE__); \
		fprintf(stderr, __VA_ARGS__);                        \
		fputc('\n', stderr);                                 \
		exit(1);                                             \
	} while (0)

#define EQUAL(what, got, want)                                                     \
	do {                                                                       \
		uint64_t g_ = (uint64_t)(got), w_ = (uint64_t)(want);              \
		if (g_ != w_)                                                      \
			FAIL("%s is %llu, not %llu", what, (unsigned long long)g_, \
			     (unsigned long long)w_);                              \
	} while (0)

/* What is sent; the time tells late frames. */
struct payload {
	uint8_t dst[6], src[6];
	uint16_t type_be;
	uint16_t pad;
	uint32_t seq;
	uint64_t sent_ns;
	uint8_t fill[32];
} __attribute__((packed));

struct got {
	struct payload p;
	uint16_t tci; /* of the tag that the stack took off, 0 without */
	uint32_t len;
};

struct net {
	struct dp *dp;
	struct model *model;
	struct fdb *fdb;
	struct count_vlan *count;
	int host[N_PORTS + 1]; /* packet sockets on h1..h4 */
};

static const uint8_t broadcast[6] = { 255, 255, 255, 255, 255, 255 };

/* Four ports of a bridge that does not filter; of VLAN 10, untagged and tagged. */
static const char *const plain[] = { "", "", "", "" };
static const char *const mixed[] = { "u", "u", "t", "t" };

extern struct dp_config config;

/* ---- wire.c: links and frames ---- */

void nap_ms(long ms);
void run(const char *cmd);

/* A network and a mount namespace of its own. False if this is not allowed here. */
bool enter_namespaces(void);
void make_links(void);
void make_link(int i);
/* A packet socket on h@i. */
int host_open(int i);

/* The address of host @i. */
void mac_of(int i, uint8_t *mac);
void send_frame(const struct net *n, int from, const uint8_t *dst, uint32_t seq);
void send_to(const struct net *n, int from, int to, uint32_t seq);

/* The next frame of ours on h@i, within @ms. */
bool recv_frame(const struct net *n, int i, int ms, struct got *g);
void expect(const struct net *n, int i, uint32_t seq, uint16_t tci);
void expect_any(const struct net *n, int i);
void expect_none(const struct net *n, int i);
/* Frames that come to h@i until @want are there, or none has come for a while. */
uint32_t count_received(const struct net *n, int i, uint32_t want);

/* ---- rig.c: the data plane ---- */

/* @how: "u": VLAN 10 untagged, "t": tagged, "": no VLANs. Port 4 is the host when @host. */
struct net *net_open(const char *const *how, bool host);
void net_close(struct net *n);
struct dp_port_config port_config(int i);
void port_open(struct net *n, int i, bool receive);
/* Changes the state in a new view; returns when that is published. */
void port_set_state(struct net *n, int i, uint8_t state);
/* Every frame is somewhere, and after a while none is on its way. */
void check_frames(struct net *n);
struct dp_port_counters counters(struct net *n, int i);
/* What the counters say, for a test that failed. */
void dump(const struct net *n);
uint32_t heartbeat_ms(void);

/* Zeroed memory that child processes share. */
void *shared_new(size_t size);
void child_end(pid_t pid);

/* ---- the tests ---- */

void known_unicast_goes_to_one_port(void);
void a_flood_leaves_with_and_without_tag(void);
void a_tag_is_kept_and_taken_off(void);
void many_floods_are_counted_exactly(void);
void the_host_waits_until_the_kernel_has_learned(void);
void a_port_is_promiscuous_while_it_is_open(void);
void a_port_closes_and_opens_under_traffic(void);
void a_port_that_vanishes_is_seen_and_closed(void);
void frames_of_a_closed_port_go_to_the_others(void);
void nothing_leaves_a_port_once_the_view_that_blocks_it_is_published(void);
void every_queue_is_served(void);
void what_cannot_be_served_is_refused(void);
void no_frame_is_forwarded_late_after_a_stall(void);

#endif
