/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes out, byte by byte, and the counters. */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "util/clock.h"

void known_unicast_goes_to_one_port(void)
{
	struct net *n = net_open(plain, false);
	struct dp_learn v[8];

	send_frame(n, 1, broadcast, 1);
	for (int i = 2; i <= N_PORTS; i++)
		expect(n, i, 1, 0);
	send_to(n, 2, 1, 2);
	expect(n, 1, 2, 0);
	send_to(n, 3, 1, 3);
	expect(n, 1, 3, 0);
	for (int i = 2; i <= N_PORTS; i++)
		expect_none(n, i);

	EQUAL("learn events", dp_learn_read(n->dp, v, 8), 3);
	EQUAL("station", v[0].key, UINT64_C(0x020000000001));
	EQUAL("port", v[0].port, 1);
	EQUAL("sequence", v[2].seq, 3);
	EQUAL("frames received by p1", counters(n, 1).user.rx_frames, 1);
	EQUAL("floods of p1", counters(n, 1).user.rx_flooded, 1);
	EQUAL("frames sent to p1", counters(n, 1).user.tx_frames, 2);
	EQUAL("bytes sent to p1", counters(n, 1).user.tx_bytes, 2 * sizeof(struct payload));
	EQUAL("learned on p3", counters(n, 3).user.learned, 1);

	/* Back to where it came from: dropped, at the port where it came in. */
	send_to(n, 1, 1, 4);
	expect_none(n, 2);
	for (int i = 0; i < 200 && !counters(n, 1).user.drop[DROP_SAME_PORT]; i++)
		nap_ms(5);
	EQUAL("same-port", counters(n, 1).user.drop[DROP_SAME_PORT], 1);
	net_close(n);
}

void a_flood_leaves_with_and_without_tag(void)
{
	struct net *n = net_open(mixed, false);

	for (uint32_t seq = 1; seq <= 100; seq++) {
		send_frame(n, 1, broadcast, seq);
		expect(n, 2, seq, 0);
		expect(n, 3, seq, 10);
		expect(n, 4, seq, 10);
	}
	expect_none(n, 1);
	EQUAL("copies of VLAN 10", count_read(&n->count[10].tx_frames), 300);
	EQUAL("frames of VLAN 10", count_read(&n->count[10].rx_frames), 100);
	EQUAL("bytes sent to p3", counters(n, 3).user.tx_bytes, 100 * (sizeof(struct payload) + 4));
	net_close(n);
}

/* A frame with a tag of VLAN 10 and priority 5 from h3. */
static void send_tagged(const struct net *n, uint32_t seq)
{
	struct payload p = { .type_be = htobe16(ETHER_EXP), .seq = seq, .sent_ns = clock_now_ns() };
	uint8_t buf[sizeof(p) + 4] = { 0 };

	memset(p.dst, 255, sizeof(p.dst));
	mac_of(3, p.src);
	memcpy(buf, &p, 12);
	memcpy(buf + 12, (const uint8_t[]){ 0x81, 0x00, 0xa0, 0x0a }, 4);
	memcpy(buf + 16, (const uint8_t *)&p + 12, sizeof(p) - 12);
	if (send(n->host[3], buf, sizeof(buf), 0) != (ssize_t)sizeof(buf))
		FAIL("send: %s", strerror(errno));
}

void a_tag_is_kept_and_taken_off(void)
{
	struct net *n = net_open(mixed, false);

	for (uint32_t seq = 1; seq <= 100; seq++) {
		send_tagged(n, seq);
		expect(n, 1, seq, 0);
		expect(n, 2, seq, 0);
		expect(n, 4, seq, 0xa00a);
	}
	expect_none(n, 3);
	EQUAL("bytes sent to p4", counters(n, 4).user.tx_bytes, 100 * (sizeof(struct payload) + 4));
	EQUAL("bytes sent to p1", counters(n, 1).user.tx_bytes, 100 * sizeof(struct payload));
	net_close(n);
}

void many_floods_are_counted_exactly(void)
{
	enum { N = 100000 };
	struct net *n = net_open(mixed, false);
	struct dp_port_counters in;
	uint64_t start;

	start = clock_now_ns();
	for (uint32_t seq = 1; seq <= N; seq++)
		send_frame(n, 1, broadcast, seq);
	/*
	 * Each frame was redirected, or passed when the worker had no CPU for a
	 * heartbeat; then received, or met a full RX ring or an empty fill ring.
	 */
	for (int i = 0; i < 5000; i++) {
		in = counters(n, 1);
		if (in.user.rx_frames + in.xsk_rx_ring_full + in.xsk_fill_empty == in.redirected)
			break;
		nap_ms(1);
	}
	check_frames(n);
	printf("  %d floods to 3 ports in %llu ms: received %llu, ring full %llu, no fill %llu\n",
	       N, (unsigned long long)((clock_now_ns() - start) / NSEC_PER_MSEC),
	       (unsigned long long)in.user.rx_frames, (unsigned long long)in.xsk_rx_ring_full,
	       (unsigned long long)in.xsk_fill_empty);
	EQUAL("redirected or passed", in.redirected + in.punt[PUNT_BEAT], N);
	EQUAL("received or dropped by the kernel",
	      in.user.rx_frames + in.xsk_rx_ring_full + in.xsk_fill_empty, in.redirected);
	for (int i = 2; i <= N_PORTS; i++) {
		struct dp_port_counters c = counters(n, i);

		EQUAL("copies sent or dropped",
		      c.user.tx_frames + c.user.drop[DROP_TX_FULL] + c.user.drop[DROP_NO_FRAME] +
			      c.user.drop[DROP_STALE] + in.user.drop[DROP_STALE],
		      in.user.rx_frames);
		EQUAL("copies that came", count_received(n, i, (uint32_t)c.user.tx_frames),
		      c.user.tx_frames);
		EQUAL("in flight", c.tx_in_flight, 0);
	}
	net_close(n);
}

void the_host_waits_until_the_kernel_has_learned(void)
{
	struct net *n = net_open(plain, true);
	struct dp_stats st;

	/* Known in advance: nothing waits. */
	dp_learn_done(n->dp, 0, 1);
	send_frame(n, 1, broadcast, 1);
	expect(n, 3, 1, 0);
	expect(n, N_PORTS, 1, 0);
	dp_stats_read(n->dp, &st);
	EQUAL("held", st.host_held, 0);

	/* Nobody says that the kernel has learned this one: 5 ms, then it goes. */
	send_frame(n, 2, broadcast, 2);
	expect(n, 3, 2, 0);
	expect(n, N_PORTS, 2, 0);
	dp_stats_read(n->dp, &st);
	EQUAL("held", st.host_held, 1);
	EQUAL("expired", st.host_hold_expired, 1);

	/* The other ports do not wait, and the order is kept. */
	for (uint32_t seq = 3; seq <= 12; seq++)
		send_frame(n, 3, broadcast, seq);
	for (uint32_t seq = 3; seq <= 12; seq++)
		expect(n, N_PORTS, seq, 0);
	net_close(n);
}
