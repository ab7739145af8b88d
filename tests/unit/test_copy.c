/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a verdict to the copies that wait for the end of the batch: no socket is used. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "dp/worker_priv.h"
#include "rings.h"

#define N_FRAMES   16
#define FRAME_SIZE 2048
#define N_PORTS    5 /* slots 1..5; 1 is the ingress, 5 the host */
#define LEN        60

struct port {
	struct ring_mem tx, comp;
	struct sock sock;
	struct wport *wport;
};

struct rig {
	struct worker *w;
	struct umem umem;
	struct view view;
	struct view_bridge bridge;
	struct view_port in;
	struct count_vlan count[VID_N];
	struct port port[N_PORTS + 1];
	struct flood_dst dst[N_PORTS];
	struct verdict r;
};

static int port_make(struct rig *g, uint16_t slot)
{
	struct port *p = &g->port[slot];
	int err;

	ring_prod_init(&p->sock.txq.tx, &p->tx);
	ring_cons_init(&p->sock.txq.comp, &p->comp);
	p->sock.fd = -1;
	p->sock.sends = true;
	err = txq_init(&p->sock.txq, FRAME_SIZE, N_FRAMES, 1000);
	if (!err)
		err = wport_new(&p->wport, slot, 8);
	if (err)
		return err;
	p->wport->tx = &p->sock;
	g->w->port[slot] = p->wport;
	g->w->open[g->w->n_open++] = p->wport;
	return 0;
}

static int make(void **state)
{
	struct rig *g = calloc(1, sizeof(*g));

	if (!g)
		return -1;
	*state = g;
	g->w = calloc(1, sizeof(*g->w));
	g->umem = (struct umem){ .area = calloc(N_FRAMES, FRAME_SIZE),
				 .frame_size = FRAME_SIZE,
				 .frame_shift = 11,
				 .n_frames = N_FRAMES };
	if (!g->w || !g->umem.area)
		return -1;
	g->w->cfg.umem = &g->umem;
	g->w->cfg.event_fd = -1;
	g->w->count = calloc(XB_MAX_PORTS, sizeof(*g->w->count));
	g->w->view = &g->view;
	g->view.bridge[0] = &g->bridge;
	g->bridge.count = g->count;
	g->in.slot = 1;
	g->r = (struct verdict){ .vid = 10,
				 .tci = 10,
				 .tpid = 0x8100,
				 .count_len = LEN,
				 .is_flood = true,
				 .in = &g->in,
				 .dst = g->dst };
	for (uint16_t slot = 1; slot <= N_PORTS; slot++) {
		if (port_make(g, slot))
			return -1;
	}
	return g->w->count ? pool_new(&g->w->pool, 0, N_FRAMES) : -1;
}

static int unmake(void **state)
{
	struct rig *g = *state;

	for (int i = 1; i <= N_PORTS; i++) {
		txq_fini(&g->port[i].sock.txq);
		wport_free(g->port[i].wport);
	}
	pool_free(g->w->pool);
	free(g->w->count);
	free(g->w);
	free(g->umem.area);
	free(g);
	return 0;
}

/* Adds port @slot to where the frame goes. */
static void to(struct rig *g, uint16_t slot, uint16_t flags)
{
	g->dst[g->r.n++] = (struct flood_dst){ .port = slot, .flags = flags, .max_len = 1518 };
}

/* Distributes an untagged frame that lies @headroom bytes into its UMEM frame; its index. */
static uint32_t distribute(struct rig *g, uint32_t headroom, uint64_t seq)
{
	uint32_t frame;
	struct frame f;
	uint8_t *data;

	assert_int_equal(pool_get(g->w->pool, &frame, 1), 1);
	data = g->umem.area + umem_addr(&g->umem, frame) + headroom;
	for (int i = 0; i < LEN; i++)
		data[i] = (uint8_t)(i + 1);
	assert_int_equal(frame_parse(&f, data, LEN, headroom, 0x8100), 0);
	copy_distribute(g->w, frame, &f, &g->r, seq);
	return frame;
}

static uint64_t dropped(const struct rig *g, uint16_t slot, enum drop_reason reason)
{
	return g->w->count[slot].drop[reason];
}

/* The only pending copy of @slot. */
static const uint8_t *copy_of(const struct rig *g, uint16_t slot, uint32_t len)
{
	const struct wport *p = g->port[slot].wport;

	assert_int_equal(p->n_pending, 1);
	assert_int_equal(p->pending[0].len, len);
	return g->umem.area + p->pending[0].addr;
}

static void assert_untagged(const uint8_t *d)
{
	for (int i = 0; i < LEN; i++)
		assert_int_equal(d[i], i + 1);
}

static void assert_tagged(const uint8_t *d)
{
	static const uint8_t tag[] = { 0x81, 0, 0, 10 };

	assert_memory_equal(d + 12, tag, sizeof(tag));
	for (int i = 0; i < LEN; i++)
		assert_int_equal(d[i < 12 ? i : i + 4], i + 1);
}

static void equal_copies_share_one_frame(void **state)
{
	struct rig *g = *state;
	uint32_t frame;

	to(g, 1, FLOOD_UNTAGGED); /* where it came from */
	to(g, 2, FLOOD_UNTAGGED);
	to(g, 3, FLOOD_UNTAGGED);
	frame = distribute(g, 256, 0);
	assert_int_equal(pool_refs(g->w->pool, frame), 2);
	assert_int_equal(g->w->pool->n_free, N_FRAMES - 1);
	assert_ptr_equal(copy_of(g, 2, LEN), copy_of(g, 3, LEN));
	assert_untagged(copy_of(g, 2, LEN));
	assert_int_equal(g->port[1].wport->n_pending, 0);
	assert_int_equal(g->count[10].tx_frames, 2);
	assert_int_equal(g->count[10].tx_bytes, 2 * LEN);
}

static void two_forms_take_one_frame_more(void **state)
{
	struct rig *g = *state;
	uint32_t frame;

	to(g, 2, FLOOD_UNTAGGED);
	to(g, 3, 0);
	to(g, 4, 0);
	frame = distribute(g, 256, 0);
	assert_untagged(copy_of(g, 2, LEN));
	assert_tagged(copy_of(g, 3, LEN + 4));
	assert_ptr_equal(copy_of(g, 3, LEN + 4), copy_of(g, 4, LEN + 4));
	/* What most want is made in place. */
	assert_int_equal(pool_refs(g->w->pool, frame), 2);
	assert_int_equal(g->w->pool->n_free, N_FRAMES - 2);
}

static void without_a_free_frame_the_second_form_is_dropped(void **state)
{
	struct rig *g = *state;
	uint32_t frame[N_FRAMES];

	pool_get(g->w->pool, frame, N_FRAMES - 1);
	to(g, 2, FLOOD_UNTAGGED);
	to(g, 3, FLOOD_UNTAGGED);
	to(g, 4, 0);
	distribute(g, 256, 0);
	assert_untagged(copy_of(g, 2, LEN));
	assert_untagged(copy_of(g, 3, LEN));
	assert_int_equal(g->port[4].wport->n_pending, 0);
	assert_int_equal(dropped(g, 4, DROP_NO_FRAME), 1);
	assert_int_equal(g->count[10].tx_frames, 2);
}

static void without_headroom_the_tagged_form_is_dropped(void **state)
{
	struct rig *g = *state;

	to(g, 2, 0);
	to(g, 3, FLOOD_UNTAGGED);
	distribute(g, 3, 0);
	assert_untagged(copy_of(g, 3, LEN));
	assert_int_equal(dropped(g, 2, DROP_NO_ROOM), 1);
	/* The frame that was to hold it is free again. */
	assert_int_equal(g->w->pool->n_free, N_FRAMES - 1);
}

static void copies_without_a_way_out_are_counted_there(void **state)
{
	struct rig *g = *state;

	g->port[2].sock.dead = true;
	g->w->port[3] = NULL;
	g->port[4].sock.txq.cap = 0;
	for (uint16_t slot = 2; slot <= N_PORTS; slot++)
		to(g, slot, FLOOD_UNTAGGED);
	distribute(g, 256, 0);
	assert_int_equal(dropped(g, 2, DROP_NO_PORT), 1);
	assert_int_equal(dropped(g, 3, DROP_NO_PORT), 1);
	assert_int_equal(dropped(g, 4, DROP_TX_FULL), 1);
	assert_untagged(copy_of(g, 5, LEN));
}

static void a_frame_that_nobody_takes_is_counted_at_ingress(void **state)
{
	static const struct {
		const char *name;
		bool is_flood;
		uint16_t port, flags;
		uint32_t count_len;
		enum drop_reason reason;
	} rows[] = {
		/* clang-format off */
		{ "flood, back",       true,  1, 0,              LEN,  DROP_NO_MEMBER },
		{ "flood, isolated",   true,  2, FLOOD_ISOLATED, LEN,  DROP_NO_MEMBER },
		{ "unicast, back",     false, 1, 0,              LEN,  DROP_SAME_PORT },
		{ "unicast, isolated", false, 2, FLOOD_ISOLATED, LEN,  DROP_ISOLATED },
		{ "unicast, too long", false, 2, 0,              1519, DROP_TOO_LONG },
		/* clang-format on */
	};
	struct rig *g = *state;

	g->in.flags = VP_ISOLATED;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		uint64_t before = dropped(g, 1, rows[i].reason);

		g->r.n = 0;
		g->r.is_flood = rows[i].is_flood;
		g->r.count_len = rows[i].count_len;
		to(g, rows[i].port, rows[i].flags);
		distribute(g, 256, 0);
		if (dropped(g, 1, rows[i].reason) != before + 1 || g->w->pool->n_free != N_FRAMES ||
		    g->w->n_dirty)
			fail_msg("%s", rows[i].name);
	}
	assert_int_equal(g->count[10].tx_frames, 0);
}

static void the_host_waits_and_keeps_its_order(void **state)
{
	struct rig *g = *state;
	uint32_t first, second;

	to(g, 2, FLOOD_UNTAGGED);
	to(g, 5, FLOOD_UNTAGGED | FLOOD_HOST);
	first = distribute(g, 256, 1);
	second = distribute(g, 256, 0);
	assert_int_equal(g->port[2].wport->n_pending, 2);
	assert_int_equal(g->port[5].wport->n_pending, 0);
	assert_int_equal(g->w->n_held, 2);
	assert_int_equal(pool_refs(g->w->pool, second), 2);

	egress_release_held(g->w);
	assert_int_equal(g->w->n_held, 2);
	g->w->learn_done = 1;
	egress_release_held(g->w);
	assert_int_equal(g->w->n_held, 0);
	assert_int_equal(g->port[5].wport->n_pending, 2);
	assert_int_equal(g->port[5].wport->pending[0].addr / FRAME_SIZE, first);
	assert_int_equal(g->port[5].wport->pending[1].addr / FRAME_SIZE, second);
	assert_int_equal(g->w->stats.host_held, 2);
	assert_int_equal(g->w->stats.host_hold_expired, 0);

	/* Known by now: it does not wait. */
	distribute(g, 256, 1);
	assert_int_equal(g->port[5].wport->n_pending, 3);
}

static void a_full_hold_queue_sends_its_oldest(void **state)
{
	struct rig *g = *state;
	struct hold_copy c = { .len = LEN, .seq = 1 };
	uint32_t frame;

	/* One frame, held by all: the queue does not mind. */
	pool_get(g->w->pool, &frame, 1);
	pool_share(g->w->pool, frame, HOLD_SIZE);
	for (uint64_t i = 0; i <= HOLD_SIZE; i++) {
		c.addr = umem_addr(&g->umem, frame) + i;
		egress_hold(g->w, g->port[5].wport, &c);
	}
	assert_int_equal(g->w->n_held, HOLD_SIZE);
	assert_int_equal(g->port[5].wport->n_pending, 1);
	assert_int_equal(g->port[5].wport->pending[0].addr, umem_addr(&g->umem, frame));
	assert_int_equal(g->w->stats.host_hold_expired, 1);

	egress_drop_held(g->w);
	assert_int_equal(g->w->n_held, 0);
	assert_int_equal(dropped(g, 5, DROP_STALE), HOLD_SIZE);
	assert_int_equal(pool_refs(g->w->pool, frame), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make, unmake)
	const struct CMUnitTest tests[] = {
		TEST(equal_copies_share_one_frame),
		TEST(two_forms_take_one_frame_more),
		TEST(without_a_free_frame_the_second_form_is_dropped),
		TEST(without_headroom_the_tagged_form_is_dropped),
		TEST(copies_without_a_way_out_are_counted_there),
		TEST(a_frame_that_nobody_takes_is_counted_at_ingress),
		TEST(the_host_waits_and_keeps_its_order),
		TEST(a_full_hold_queue_sends_its_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
