/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups, routers and queriers from a kernel that is written here into the
 * model, and who decides multicast: bridge br0 with ports in slots 1..3, its
 * host port in slot 9.
 */
#include "message.h"

#include <errno.h>

#include <arpa/inet.h>
#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "ctl/mcast.h"
#include "ctl/ports.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "util/clock.h"

#define BR_IF      5
#define PORT_IF(n) (10 + (n))
#define HOST       9

struct member {
	uint32_t ifindex;
	uint8_t group; /* 239.1.1.x */
};

static struct {
	struct member member[16];
	uint32_t n, n_dumps;
	uint32_t n_more; /* members 232.x, of port 7 */
	struct {
		uint32_t ifindex;
		bool ip4, ip6;
	} router[4];
	uint32_t n_routers;
	struct member ends; /* while a table is read; ifindex 0: none */
	int error;          /* of reading the table */
	struct bridge_info bridge;
	struct link_info link;
	int address_error; /* of reading addresses */
	uint32_t n_address_errors, n_address_dumps;
} kernel;

static struct {
	char steps[64];
	uint32_t n_beats;
} plane;

static struct ctl *ctl;

static void step(const char *what)
{
	strncat(plane.steps, what, sizeof(plane.steps) - strlen(plane.steps) - 1);
}

/* ---- the kernel ---- */

static void start_mdb(uint16_t type)
{
	struct br_port_msg pm = { .family = AF_BRIDGE, .ifindex = BR_IF };

	start(type, &pm, sizeof(pm));
}

static void put_group(uint32_t ifindex, uint32_t ip4)
{
	struct br_mdb_entry e = { .ifindex = ifindex };
	size_t at[3];

	e.addr.proto = htons(0x0800);
	e.addr.u.ip4 = htonl(ip4);
	at[0] = nest(MDBA_MDB);
	at[1] = nest(MDBA_MDB_ENTRY);
	at[2] = nest(MDBA_MDB_ENTRY_INFO);
	raw(&e, sizeof(e));
	for (int i = 2; i >= 0; i--)
		nest_end(at[i]);
}

static void put_member(const struct member *m)
{
	put_group(m->ifindex, 0xef010100U | m->group);
}

static void put_router(uint32_t ifindex, bool ip4, bool ip6)
{
	size_t at = nest(MDBA_ROUTER), port = nest(MDBA_ROUTER_PORT);

	raw(&ifindex, sizeof(ifindex));
	if (ip4)
		attr_u32(MDBA_ROUTER_PATTR_INET_TIMER, 100);
	if (ip6)
		attr_u32(MDBA_ROUTER_PATTR_INET6_TIMER, 100);
	nest_end(port);
	nest_end(at);
}

static void tell(void)
{
	struct rtmsg_info i;

	assert_int_equal(rtmsg_parse(message(), w.len, &i), 0);
	assert_int_equal(i.type, RTMSG_MDB);
	mdbsync_apply(ctl, &i, message());
}

static void tell_member(uint16_t type, uint32_t ifindex, uint8_t group)
{
	start_mdb(type);
	put_member(&(struct member){ ifindex, group });
	tell();
}

static void kernel_has(uint32_t ifindex, uint8_t group)
{
	kernel.member[kernel.n++] = (struct member){ ifindex, group };
}

static int answer(rtsock_fn fn, void *arg)
{
	struct rtmsg_info i;

	assert_int_equal(rtmsg_parse(message(), w.len, &i), 0);
	return fn(arg, &i, message());
}

/* Each member comes in a datagram of its own. */
int rtsock_dump(struct rtsock *s, enum rtreq_dump what, rtsock_fn fn, void (*tick)(void *arg),
		void *arg)
{
	int err = 0;

	(void)s;
	if (what == RTREQ_ADDRS6) {
		bool is_failing = kernel.n_address_dumps++ < kernel.n_address_errors;
		struct rtmsg_info i = { .type = RTMSG_ADDR };

		i.addr.ifindex = BR_IF;
		i.addr.is_usable = true;
		memcpy(i.addr.address, kernel.bridge.querier[QUERIER_IP6].address,
		       sizeof(i.addr.address));
		return is_failing ? kernel.address_error : fn(arg, &i, NULL);
	}
	if (what != RTREQ_MDB)
		return 0;
	kernel.n_dumps++;
	if (kernel.error)
		return kernel.error;
	for (uint32_t i = 0; !err && i < kernel.n; i++) {
		start_mdb(RTM_GETMDB);
		put_member(&kernel.member[i]);
		err = answer(fn, arg);
		tick(arg);
	}
	for (uint32_t i = 0; !err && i < kernel.n_more; i++) {
		start_mdb(RTM_GETMDB);
		put_group(PORT_IF(7), 0xe8000000U + i);
		err = answer(fn, arg);
	}
	for (uint32_t i = 0; !err && i < kernel.n_routers; i++) {
		start_mdb(RTM_GETMDB);
		put_router(kernel.router[i].ifindex, kernel.router[i].ip4, kernel.router[i].ip6);
		err = answer(fn, arg);
	}
	return err;
}

int rtsock_link(struct rtsock *s, uint32_t ifindex, rtsock_fn fn, void *arg)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };

	(void)s;
	assert_int_equal(ifindex, BR_IF);
	/* The answer may wait for a lock. */
	assert_true(plane.n_beats > 0);
	plane.n_beats = 0;
	i.link = kernel.link;
	i.link.ifindex = BR_IF;
	i.link.present = LINK_HAS_BRIDGE;
	i.link.bridge = kernel.bridge;
	return fn(arg, &i, NULL);
}

/* The member that ends does so once the table is being read. */
void ctl_read_events(struct ctl *c)
{
	struct member ends = kernel.ends;

	(void)c;
	if (!ends.ifindex || !kernel.n_dumps)
		return;
	kernel.ends.ifindex = 0;
	tell_member(RTM_DELMDB, ends.ifindex, ends.group);
}

void ctl_alive(struct ctl *c)
{
	(void)c;
	plane.n_beats++;
}

/* ---- the rest of the daemon ---- */

struct ctl_port *ctl_port_by_ifindex(struct ctl *c, uint32_t ifindex)
{
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		if (c->port[i].is_used && c->port[i].ifindex == ifindex)
			return &c->port[i];
	}
	return NULL;
}

struct ctl_bridge *ctl_bridge_by_ifindex(struct ctl *c, uint32_t ifindex)
{
	return ifindex == BR_IF ? &c->bridge[0] : NULL;
}

void ports_bridge_mcast(struct ctl *c, struct ctl_bridge *b)
{
	(void)c;
	step(b->mcast.pass == MCAST_PASS_NONE ? "user " : "kernel ");
}

int reconcile_publish(struct ctl *c)
{
	step("view ");
	c->model_gen = c->model->gen;
	return 0;
}

const struct view *dp_view(const struct dp *dp)
{
	static char there;

	(void)dp;
	return (const struct view *)(const void *)&there;
}

static void add_port(uint16_t slot)
{
	struct model_port_attr a = { .state = PORT_FORWARDING };

	ctl->port[slot] = (struct ctl_port){ .is_used = true, .ifindex = PORT_IF(slot) };
	assert_int_equal(model_port_set(ctl->model, slot, &a, NULL), 0);
}

static int setup(void **state)
{
	const struct fdb_config cfg = { .max_entries = 16 };
	struct model_bridge_attr br = { .snooping = true, .tpid = 0x8100, .host_port = HOST };
	struct model_port_attr host = { .flags = MP_HOST };
	struct rtmsg_info link = { .type = RTMSG_LINK };
	bool changed;

	memset(&kernel, 0, sizeof(kernel));
	memset(&plane, 0, sizeof(plane));
	ctl = calloc(1, sizeof(*ctl));
	if (!ctl)
		return -1;
	ctl->conf = conf_defaults();
	ctl->model = model_new();
	ctl->mirror = mirror_new();
	ctl->now_ns = 1000 * 1000000000ULL;
	ctl->slot_end = HOST + 1;
	ctl->bridge[0] = (struct ctl_bridge){ .is_used = true,
					      .ifindex = BR_IF,
					      .source = CONF_SOURCE_KERNEL,
					      .host_slot = HOST,
					      .n_receive = 1,
					      .mcast = { .snooping = true },
					      .fdb = fdb_new(&cfg) };
	if (!ctl->conf || !ctl->model || !ctl->mirror || !ctl->bridge[0].fdb)
		return -1;
	link.link.ifindex = BR_IF;
	link.link.present = LINK_HAS_BRIDGE;
	if (mirror_apply(ctl->mirror, &link, NULL, &changed) ||
	    model_bridge_set(ctl->model, 0, &br, ctl->bridge[0].fdb, NULL, NULL))
		return -1;
	for (uint16_t i = 1; i <= 2; i++)
		add_port(i);
	ctl->port[HOST] = (struct ctl_port){ .is_used = true, .is_host = true };
	if (model_port_set(ctl->model, HOST, &host, NULL))
		return -1;
	*state = ctl;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fdb_free(ctl->bridge[0].fdb);
	model_free(ctl->model);
	mirror_free(ctl->mirror);
	conf_free(ctl->conf);
	free(ctl);
	return 0;
}

/* The slots that are in the group, a bit each. */
static uint32_t slots(uint8_t group)
{
	struct mdb_key k = { .family = MDB_IP4, .group = { 239, 1, 1, group } };
	uint32_t bits = 0;

	for (uint16_t i = 1; i <= HOST; i++) {
		if (model_mdb_get(ctl->model, 0, &k, i))
			bits |= 1U << i;
	}
	return bits;
}

#define BIT(n) (1U << (n))

/* ---- groups ---- */

static void members_come_and_go_by_notifications(void **state)
{
	(void)state;
	tell_member(RTM_NEWMDB, PORT_IF(1), 1);
	tell_member(RTM_NEWMDB, PORT_IF(2), 1);
	tell_member(RTM_NEWMDB, BR_IF, 1);
	tell_member(RTM_NEWMDB, PORT_IF(2), 7);
	assert_int_equal(slots(1), BIT(1) | BIT(2) | BIT(HOST));
	assert_int_equal(slots(7), BIT(2));
	tell_member(RTM_DELMDB, PORT_IF(1), 1);
	tell_member(RTM_DELMDB, PORT_IF(2), 7);
	/* Twice is once. */
	tell_member(RTM_DELMDB, PORT_IF(2), 7);
	assert_int_equal(slots(1), BIT(2) | BIT(HOST));
	assert_int_equal(slots(7), 0);
	assert_int_equal(kernel.n_dumps, 0);
}

static void a_port_that_comes_later_finds_its_groups(void **state)
{
	(void)state;
	ctl->bridge[0].mcast.has_mdb = true;
	kernel_has(PORT_IF(3), 1);
	tell_member(RTM_NEWMDB, PORT_IF(3), 1);
	assert_int_equal(slots(1), 0);
	add_port(3);
	mdbsync_unread(ctl, &ctl->bridge[0]);
	assert_int_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_UNREAD);
	mdbsync_run(ctl);
	assert_int_equal(slots(1), BIT(3));
	assert_true(ctl->bridge[0].mcast.has_mdb);
	/* And takes them along. */
	model_port_del(ctl->model, 3);
	assert_int_equal(slots(1), 0);
	/* Nothing is read without need. */
	mdbsync_run(ctl);
	assert_int_equal(kernel.n_dumps, 1);
}

static void what_the_table_does_not_have_is_gone(void **state)
{
	(void)state;
	tell_member(RTM_NEWMDB, PORT_IF(1), 1);
	tell_member(RTM_NEWMDB, PORT_IF(1), 2);
	kernel_has(PORT_IF(1), 2);
	ctl->mdb_wanted = true;
	mdbsync_run(ctl);
	assert_int_equal(slots(1), 0);
	assert_int_equal(slots(2), BIT(1));
}

/* The second reading finds what the first may have missed. */
static void a_member_that_leaves_while_the_table_is_told_makes_it_read_again(void **state)
{
	(void)state;
	kernel_has(PORT_IF(1), 1);
	kernel_has(PORT_IF(1), 2);
	kernel.ends = (struct member){ PORT_IF(1), 1 };
	ctl->mdb_wanted = true;
	mdbsync_run(ctl);
	assert_int_equal(kernel.n_dumps, 2);
	assert_true(ctl->bridge[0].mcast.has_mdb);
	assert_false(ctl->mdb_wanted);
}

static void a_table_that_cannot_be_read_leaves_multicast_to_the_kernel(void **state)
{
	(void)state;
	ctl->bridge[0].mcast.has_mdb = true;
	ctl->mdb_wanted = true;
	kernel.error = -EINTR;
	mdbsync_run(ctl);
	assert_in_range(kernel.n_dumps, 2, 10);
	assert_int_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_UNREAD);
	assert_true(ctl->mdb_wanted);
	/* Not at once again. */
	kernel.n_dumps = 0;
	ctl->now_ns = ctl->mdb_next_ns - 1;
	mdbsync_run(ctl);
	assert_int_equal(kernel.n_dumps, 0);
	kernel.error = 0;
	ctl->now_ns = ctl->mdb_next_ns;
	mdbsync_run(ctl);
	assert_true(ctl->bridge[0].mcast.has_mdb);
	/* A kernel without the bridge module has no groups. */
	kernel.error = -EOPNOTSUPP;
	ctl->mdb_wanted = true;
	mdbsync_run(ctl);
	assert_true(ctl->bridge[0].mcast.has_mdb);
}

/* Of ports that we do not know even, so that it is the reading that ends. */
static void no_more_members_are_read_than_fit(void **state)
{
	struct ctl_mcast *m = &ctl->bridge[0].mcast;

	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		kernel.n_more = XB_MAX_MDB + more;
		ctl->mdb_wanted = true;
		mdbsync_run(ctl);
		assert_true(m->has_mdb);
		assert_int_equal(m->is_full, more);
	}
}

static void members_of_a_bridge_that_does_not_snoop_are_not_kept(void **state)
{
	(void)state;
	kernel_has(PORT_IF(1), 1);
	ctl->bridge[0].mcast.snooping = false;
	ctl->mdb_wanted = true;
	mdbsync_run(ctl);
	assert_int_equal(slots(1), 0);
	assert_false(ctl->mdb_wanted);
}

/* ---- routers and queriers ---- */

static uint32_t router_flags(uint16_t slot)
{
	return ctl->model->port[slot]->a.flags & (MP_ROUTER4 | MP_ROUTER6 | MP_ROUTER_L2);
}

static void routers_are_asked_for_when_one_is_told_of(void **state)
{
	(void)state;
	kernel.router[0].ifindex = PORT_IF(2);
	kernel.router[0].ip6 = true;
	kernel.n_routers = 1;
	start_mdb(RTM_NEWMDB);
	put_router(PORT_IF(2), false, false);
	tell();
	assert_true(ctl->poll_wanted);
	brpoll_ask(ctl);
	assert_false(ctl->poll_wanted);
	assert_int_equal(router_flags(1), 0);
	assert_int_equal(router_flags(2), MP_ROUTER6);
	assert_int_equal(ctl->port[2].router, MP_ROUTER6);

	/* A second family, or the end of one, is not told. */
	kernel.router[0].ip4 = true;
	ctl->now_ns += 2 * 1000000000ULL;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_int_equal(router_flags(2), MP_ROUTER4 | MP_ROUTER6);
	kernel.n_routers = 0;
	start_mdb(RTM_DELMDB);
	put_router(PORT_IF(2), false, false);
	tell();
	brpoll_ask(ctl);
	assert_int_equal(router_flags(2), 0);
}

static void tell_router(uint32_t ifindex)
{
	start_mdb(RTM_NEWMDB);
	put_router(ifindex, false, false);
	tell();
}

/* All groups are read with them: many notifications must not make that all we do. */
static void routers_that_are_told_of_often_are_read_ten_times_a_second(void **state)
{
	(void)state;
	ctl->bridge[0].mcast.has_mdb = true;
	tell_router(PORT_IF(1));
	brpoll_ask(ctl);
	assert_int_equal(kernel.n_dumps, 1);
	assert_int_not_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_UNREAD);
	for (uint32_t ms = 0; ms < 100; ms += 10) {
		tell_router(PORT_IF(2));
		brpoll_ask(ctl);
		assert_int_equal(kernel.n_dumps, 1);
		assert_int_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_UNREAD);
		ctl->now_ns += 10 * 1000000ULL;
	}
	/* However long the first reading took. No other news is needed for it. */
	ctl->now_ns = ctl->routers_urgent_ns;
	assert_false(ctl->poll_wanted);
	brpoll_ask(ctl);
	assert_int_equal(kernel.n_dumps, 2);
	assert_int_not_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_UNREAD);
}

static void the_bridge_itself_is_a_router_when_it_is_told_to(void **state)
{
	struct querier_info *q = kernel.bridge.querier;

	(void)state;
	kernel.bridge.mcast_router = 2;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_int_equal(router_flags(HOST), MP_ROUTER4 | MP_ROUTER6 | MP_ROUTER_L2);
	/* A querier on no port may be the host, or one whose port has left. */
	kernel.bridge.mcast_router = 1;
	q[QUERIER_IP4].present = QUERIER_HAS_TIMER;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_int_equal(router_flags(HOST), 0);
	kernel.bridge.mcast_router = 0;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_int_equal(router_flags(HOST), 0);
}

static void a_querier_on_no_port_is_in_doubt_unless_the_bridge_is_a_router_anyway(void **state)
{
	static const struct {
		const char *name;
		uint32_t present;
		uint8_t mcast_router;
		uint64_t interval_s, left_s, want_s; /* interval 0: not told */
	} rows[] = {
		{ "nobody", 0, 1, 100, 0, 0 },
		{ "on a port", QUERIER_HAS_TIMER | QUERIER_HAS_PORT, 1, 100, 50, 0 },
		{ "on no port", QUERIER_HAS_TIMER, 1, 100, 50, 100 },
		{ "an interval that was longer", QUERIER_HAS_TIMER, 1, 100, 150, 150 },
		{ "an old kernel", QUERIER_HAS_TIMER, 1, 0, 50, 255 },
		{ "a router always", QUERIER_HAS_TIMER, 2, 100, 50, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct bridge_info b = { .mcast_router = rows[i].mcast_router };
		const struct mcast_addresses none = { 0 };
		struct querier_reading r;

		if (rows[i].interval_s)
			b.present = BRIDGE_HAS_QUERIER_INTERVAL;
		b.querier_interval_ns = rows[i].interval_s * NSEC_PER_SEC;
		for (uint32_t q = 0; q < QUERIER_N; q++) {
			b.querier[q].present = rows[i].present;
			b.querier[q].left_ns = rows[i].left_s * NSEC_PER_SEC;
			mcast_reading(&b, q, &none, 0, &r);
			if (r.is_hidden != (rows[i].want_s != 0) ||
			    (r.is_hidden && r.router_ns != rows[i].want_s * NSEC_PER_SEC))
				fail_msg("%s, family %u: hidden %d, %llu ns", rows[i].name, q,
					 r.is_hidden, (unsigned long long)r.router_ns);
		}
	}
}

static void what_bridges_do_not_tell_wants_a_plan(void **state)
{
	(void)state;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_false(ctl->plan_wanted);
	kernel.link.allmulti = 1;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_true(ctl->plan_wanted);
	assert_int_equal(mirror_find(ctl->mirror, BR_IF)->info.allmulti, 1);
	ctl->plan_wanted = false;
	kernel.bridge.flags = BRIDGE_MCAST_SNOOPING;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_true(ctl->plan_wanted);
	/* Asked for before its notification is read, which changes nothing then. */
	ctl->plan_wanted = false;
	kernel.bridge.igmp_version = 3;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_true(ctl->plan_wanted);
	/* A querier's timer runs. */
	ctl->plan_wanted = false;
	kernel.bridge.querier[QUERIER_IP4].left_ns = 1;
	ctl->poll_wanted = true;
	brpoll_ask(ctl);
	assert_false(ctl->plan_wanted);
}

/* Bits of a link message of the bridge. */
#define ON       (BRIDGE_MCAST_SNOOPING | BRIDGE_MCAST_QUERIER)
#define OFF      BRIDGE_MCAST_SNOOPING
#define NO_SNOOP BRIDGE_MCAST_QUERIER

/* The bridge's own querier counts, of both families. */
static void querier_has_counted(void)
{
	const struct querier q = { .is_read = true, .is_on = true, .address = QUERIER_ADDRESS_YES };

	kernel.bridge.flags = ON;
	kernel.bridge.query_response_ns = 10 * NSEC_PER_SEC;
	kernel.bridge.querier[QUERIER_IP6].address[0] = 0xfe;
	for (uint32_t i = 0; i < QUERIER_N; i++)
		ctl->bridge[0].mcast.querier[i] = q;
	ctl->bridge[0].mcast.has_mdb = true;
	assert_int_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_NONE);
}

static void each_link_message_of_a_bridge_is_a_reading_of_its_queriers(void **state)
{
	static const struct {
		const char *name;
		uint32_t present;
		uint32_t flags[3];
		uint32_t n;
		bool has_other; /* in the first one */
		bool deleted;
		uint32_t ifindex;
		enum querier_why want;
	} rows[] = {
		{ "as before", ON, { ON, ON }, 2, false, false, BR_IF, QUERIER_WHY_OWN },
		{ "off", ON, { OFF }, 1, false, false, BR_IF, QUERIER_WHY_NOBODY },
		{ "off and on", ON, { OFF, ON }, 2, false, false, BR_IF, QUERIER_WHY_WAITING },
		{ "on, off and on",
		  ON,
		  { ON, OFF, ON },
		  3,
		  false,
		  false,
		  BR_IF,
		  QUERIER_WHY_WAITING },
		{ "another came and went",
		  ON,
		  { ON, ON },
		  2,
		  true,
		  false,
		  BR_IF,
		  QUERIER_WHY_WAITING },
		{ "without options", 0, { OFF, ON }, 2, false, false, BR_IF, QUERIER_WHY_OWN },
		{ "of a device", ON, { OFF, ON }, 2, false, false, BR_IF + 1, QUERIER_WHY_OWN },
		{ "deleted", ON, { OFF, ON }, 2, false, true, BR_IF, QUERIER_WHY_OWN },
		{ "snooping off and on",
		  ON,
		  { NO_SNOOP, ON },
		  2,
		  false,
		  false,
		  BR_IF,
		  QUERIER_WHY_UNREAD },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		querier_has_counted();
		for (uint32_t k = 0; k < rows[i].n; k++) {
			struct link_info l = { .ifindex = rows[i].ifindex,
					       .present = LINK_HAS_BRIDGE,
					       .deleted = rows[i].deleted };

			l.bridge = kernel.bridge;
			l.bridge.present = rows[i].present;
			l.bridge.flags = rows[i].flags[k];
			for (uint32_t q = 0; rows[i].has_other && !k && q < QUERIER_N; q++)
				l.bridge.querier[q].present = QUERIER_HAS_TIMER | QUERIER_HAS_PORT;
			brpoll_link(ctl, &l);
		}
		for (uint32_t q = 0; q < QUERIER_N; q++) {
			const struct querier *m = &ctl->bridge[0].mcast.querier[q];
			enum querier_why why;

			querier_state(m, clock_now_ns(), &why);
			if (why != rows[i].want)
				fail_msg("%s: family %u: %s", rows[i].name, q,
					 querier_why_text(why));
		}
		assert_int_equal(ctl->bridge[0].mcast.has_mdb, rows[i].want != QUERIER_WHY_UNREAD);
		/* What a poll finds afterwards ends no doubt. */
		if (rows[i].want != QUERIER_WHY_WAITING)
			continue;
		ctl->poll_wanted = true;
		brpoll_ask(ctl);
		assert_int_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_QUERIER);
	}
}

static void after_lost_messages_queriers_are_read_as_new(void **state)
{
	const struct querier *q = ctl->bridge[0].mcast.querier;

	(void)state;
	querier_has_counted();
	brpoll_unread(ctl);
	assert_true(ctl->poll_wanted);
	assert_false(q[QUERIER_IP4].is_read || q[QUERIER_IP6].is_read);
	assert_int_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_QUERIER);
	brpoll_ask(ctl);
	assert_true(q[QUERIER_IP4].is_read && q[QUERIER_IP6].is_read);
	assert_int_equal(brpoll_pass(ctl, &ctl->bridge[0]), MCAST_PASS_QUERIER);
}

static void without_addresses_only_the_own_querier_of_ipv6_is_unknown(void **state)
{
	static const struct {
		const char *name;
		int error;
		uint32_t n_errors;
		bool is_on, is_read6;
		uint32_t n_dumps;
	} rows[] = {
		{ "all", 0, 0, true, true, 1 },
		{ "no querier", -ETIMEDOUT, 9, false, true, 0 },
		{ "none", -ETIMEDOUT, 9, true, false, 1 },
		{ "at the second try", -EINTR, 1, true, true, 2 },
		{ "changing always", -EINTR, 99, true, false, 4 },
	};
	const struct querier *q = ctl->bridge[0].mcast.querier;

	(void)state;
	kernel.bridge.querier[QUERIER_IP6].address[0] = 0xfe;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		kernel.bridge.flags = rows[i].is_on ? BRIDGE_MCAST_QUERIER : 0;
		kernel.address_error = rows[i].error;
		kernel.n_address_errors = rows[i].n_errors;
		kernel.n_address_dumps = 0;
		memset(ctl->bridge[0].mcast.querier, 0, sizeof(ctl->bridge[0].mcast.querier));
		ctl->port[HOST].router = 0;
		kernel.bridge.mcast_router = 2;
		ctl->poll_wanted = true;
		brpoll_ask(ctl);
		if (!q[QUERIER_IP4].is_read || q[QUERIER_IP6].is_read != rows[i].is_read6 ||
		    kernel.n_address_dumps != rows[i].n_dumps)
			fail_msg("%s: %u dumps, IPv4 %d, IPv6 %d", rows[i].name,
				 kernel.n_address_dumps, q[QUERIER_IP4].is_read,
				 q[QUERIER_IP6].is_read);
		assert_int_equal(ctl->port[HOST].router, MP_ROUTER4 | MP_ROUTER6 | MP_ROUTER_L2);
		if (rows[i].is_read6 && rows[i].is_on)
			assert_int_equal(q[QUERIER_IP6].address, QUERIER_ADDRESS_YES);
	}
}

/* What the poll sees first is in a notification that waits, and finds nothing new then. */
static void a_change_that_the_poll_sees_first_is_a_change(void **state)
{
	static const struct {
		const char *name;
		struct bridge_info now;
		bool is_planned, is_unsure;
	} rows[] = {
		{ "nothing", { .ageing_time_ns = 1 }, false, false },
		{ "entries", { .ageing_time_ns = 1, .fdb_n_learned = 7 }, false, false },
		{ "a querier's timer",
		  { .ageing_time_ns = 1, .querier = { { .left_ns = 7 } } },
		  false,
		  false },
		{ "ageing", { .ageing_time_ns = 2 }, true, false },
		{ "protocol", { .ageing_time_ns = 1, .vlan_protocol = 0x88a8 }, true, false },
		{ "boolopt", { .ageing_time_ns = 1, .boolopt = 2 }, true, false },
		{ "limit", { .ageing_time_ns = 1, .fdb_max_learned = 9 }, true, false },
		{ "router", { .ageing_time_ns = 1, .mcast_router = 2 }, true, false },
		{ "version", { .ageing_time_ns = 1, .mld_version = 2 }, true, false },
		{ "default PVID", { .ageing_time_ns = 1, .default_pvid = 100 }, true, true },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct mirror_link *l = mirror_find(ctl->mirror, BR_IF);

		kernel.bridge = rows[i].now;
		l->info.bridge = rows[0].now;
		ctl->mirror->is_unsure = ctl->plan_wanted = false;
		ctl->poll_wanted = true;
		brpoll_ask(ctl);
		if (ctl->plan_wanted != rows[i].is_planned ||
		    ctl->mirror->is_unsure != rows[i].is_unsure)
			fail_msg("%s: plan %d, unsure %d", rows[i].name, ctl->plan_wanted,
				 ctl->mirror->is_unsure);
		assert_memory_equal(&l->info.bridge, &kernel.bridge, sizeof(kernel.bridge));
	}
}

/* ---- who decides ---- */

static void the_first_reason_that_holds_is_told(void **state)
{
	static const struct {
		const char *name;
		struct ctl_mcast m;
		enum mcast_pass want;
	} rows[] = {
		{ "no snooping", { .vlan_snooping = true, .to_unicast = 7 }, MCAST_PASS_NONE },
		{ "for each VLAN",
		  { .snooping = true, .vlan_snooping = true, .to_unicast = 7 },
		  MCAST_PASS_VLAN_SNOOPING },
		{ "to unicast",
		  { .snooping = true, .to_unicast = 7, .is_full = true },
		  MCAST_PASS_TO_UNICAST },
		{ "routers hidden",
		  { .snooping = true, .routers_hidden = true, .is_full = true },
		  MCAST_PASS_ROUTERS },
		{ "full", { .snooping = true, .is_full = true }, MCAST_PASS_LIMIT },
		{ "not read", { .snooping = true }, MCAST_PASS_UNREAD },
		{ "in doubt", { .snooping = true, .has_mdb = true }, MCAST_PASS_QUERIER },
		{ "nothing",
		  { .snooping = true,
		    .has_mdb = true,
		    .querier = { { .is_read = true }, { .is_read = true } } },
		  MCAST_PASS_NONE },
		{ "one family in doubt",
		  { .snooping = true, .has_mdb = true, .querier = { { .is_read = true } } },
		  MCAST_PASS_QUERIER },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct ctl_bridge b = { .mcast = rows[i].m };
		enum mcast_pass got = brpoll_pass(ctl, &b);

		if (got != rows[i].want)
			fail_msg("%s: %s", rows[i].name, mcast_pass_name(got));
		assert_true(!got == !mcast_pass_name(got)[0] && !got == !mcast_pass_text(got)[0]);
	}
}

/* Frames are decided by the workers' view only when it knows what the kernel does. */
static void the_kernel_decides_before_a_view_and_a_worker_after_it(void **state)
{
	(void)state;
	ctl->poll_wanted = ctl->mdb_wanted = true;
	kernel_has(PORT_IF(1), 1);
	brpoll_ask(ctl);
	mdbsync_run(ctl);
	brpoll_decide(ctl);
	assert_string_equal(plane.steps, "view user ");
	/* The own querier was switched on: nobody knows when it counts. */
	plane.steps[0] = '\0';
	kernel.bridge.flags = BRIDGE_MCAST_QUERIER;
	kernel.bridge.query_response_ns = 10 * 1000000000ULL;
	ctl->poll_wanted = true;
	tell_member(RTM_NEWMDB, PORT_IF(2), 1);
	brpoll_ask(ctl);
	brpoll_decide(ctl);
	assert_string_equal(plane.steps, "kernel view kernel ");
	assert_int_equal(ctl->bridge[0].mcast.pass, MCAST_PASS_QUERIER);
	assert_false(ctl->model->bridge[0]->a.querier4);
}

static void snooping_and_versions_that_are_new_make_groups_unread(void **state)
{
	struct ctl_bridge *b = &ctl->bridge[0];
	struct plan_bridge pb = { .snooping = true };

	(void)state;
	b->mcast.has_mdb = true;
	brpoll_plan(ctl, b, &pb);
	assert_false(ctl->mdb_wanted);
	pb.attr.igmp_v3 = true;
	brpoll_plan(ctl, b, &pb);
	assert_true(ctl->mdb_wanted);
	assert_false(b->mcast.has_mdb);
	mdbsync_run(ctl);
	pb.snooping = false;
	brpoll_plan(ctl, b, &pb);
	assert_false(ctl->mdb_wanted);
	assert_int_equal(b->mcast.pass, MCAST_PASS_NONE);
	/* What was known of queriers is of the time before. */
	b->mcast.querier[QUERIER_IP4].is_read = true;
	b->mcast.counts[QUERIER_IP4] = true;
	pb.snooping = true;
	brpoll_plan(ctl, b, &pb);
	assert_true(ctl->mdb_wanted && ctl->poll_wanted);
	assert_false(b->mcast.querier[QUERIER_IP4].is_read);
	assert_false(b->mcast.counts[QUERIER_IP4] || pb.attr.querier4);
	assert_int_equal(b->mcast.pass, MCAST_PASS_UNREAD);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(members_come_and_go_by_notifications),
		T(a_port_that_comes_later_finds_its_groups),
		T(what_the_table_does_not_have_is_gone),
		T(a_member_that_leaves_while_the_table_is_told_makes_it_read_again),
		T(a_table_that_cannot_be_read_leaves_multicast_to_the_kernel),
		T(no_more_members_are_read_than_fit),
		T(members_of_a_bridge_that_does_not_snoop_are_not_kept),
		T(routers_are_asked_for_when_one_is_told_of),
		T(routers_that_are_told_of_often_are_read_ten_times_a_second),
		T(the_bridge_itself_is_a_router_when_it_is_told_to),
		T(a_querier_on_no_port_is_in_doubt_unless_the_bridge_is_a_router_anyway),
		T(what_bridges_do_not_tell_wants_a_plan),
		T(each_link_message_of_a_bridge_is_a_reading_of_its_queriers),
		T(after_lost_messages_queriers_are_read_as_new),
		T(without_addresses_only_the_own_querier_of_ipv6_is_unknown),
		T(a_change_that_the_poll_sees_first_is_a_change),
		T(the_first_reason_that_holds_is_told),
		T(the_kernel_decides_before_a_view_and_a_worker_after_it),
		T(snooping_and_versions_that_are_new_make_groups_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
