/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of the steps of a reconciliation, with a data plane that only writes
 * down what it was told: a letter for the step and a number for the port (1 to
 * 9) or 0 for the host's. In lower case what opens, in upper case what ends:
 *
 *	v  a view is published		o, C  a port opens, closes
 *	g, G  the bridge's gate		w, W  the private veth pair
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/local.h"
#include "core/view.h"
#include "ctl/ethdev.h"
#include "ctl/guard.h"
#include "ctl/hostpair.h"
#include "ctl/ports.h"
#include "ctl/rtmsg.h"
#include "ctl/state.h"
#include "xb_maps.h"

#define BR         5
#define PORT_IF(n) (10 + (n))
#define H_IF       900

static struct {
	char steps[256];
	size_t n;
	struct view *view;
	uint32_t refuse; /* index of an interface that cannot be opened */
	uint32_t dead;   /* of one whose socket is dead */
	bool is_open[XB_MAX_BRIDGES];
	uint32_t n_pairs, n_queues;
	uint32_t n_reads, n_port_reads; /* of the whole FDB, of a port's entries */
	uint32_t n_rules;
	uint32_t br_flags[XB_MAX_BRIDGES];
	int read_error; /* of reading the FDB */
	bool no_uppers;
	uint16_t upper[8]; /* that were told last, of whichever port */
	uint32_t n_uppers, n_uppers_told;
	uint32_t flags[XB_MAX_PORTS];
	char rxvlan[32];
	struct ctl *c;
	struct conf *conf;
} w;

static void step(char what, uint32_t n)
{
	if (n > 9)
		n = 0;
	w.n += (size_t)snprintf(w.steps + w.n, sizeof(w.steps) - w.n, "%s%c%u", w.n ? " " : "",
				what, n);
	assert_true(w.n < sizeof(w.steps));
}

/* ---- the data plane ---- */

int dp_port_open(struct dp *dp, const struct dp_port_config *cfg, enum path_reason *reason,
		 const char **why)
{
	(void)dp;
	if (cfg->ifindex == w.refuse && cfg->receive) {
		*reason = PATH_XDP_BUSY;
		*why = "another XDP program";
		return -EBUSY;
	}
	/* The workers know the port before frames come. */
	assert_non_null(w.view);
	assert_non_null(w.view->port[cfg->slot]);
	assert_int_equal(w.view->port[cfg->slot]->bridge, cfg->rules.bridge);
	step('o', cfg->ifindex - 10);
	return 0;
}

void dp_port_close(struct dp *dp, uint16_t slot, bool gone, struct dp_port_counters *last)
{
	const struct ctl_port *p = &w.c->port[slot];

	(void)dp;
	(void)gone;
	last->user.rx_frames = 3;
	step('C', p->ifindex - 10);
	if (p->ifindex == w.dead)
		w.dead = 0;
}

int dp_port_rules_set(struct dp *dp, uint16_t slot, const struct xb_port_rules *rules)
{
	(void)dp;
	w.flags[slot] = rules->flags;
	w.n_rules++;
	return 0;
}

int dp_port_uppers_set(struct dp *dp, uint16_t slot, const uint16_t *vid, uint32_t n)
{
	(void)dp;
	(void)slot;
	assert_true(n <= N_ELEM(w.upper));
	if (n)
		memcpy(w.upper, vid, n * sizeof(*vid));
	w.n_uppers = n;
	w.n_uppers_told++;
	return n && w.no_uppers ? -E2BIG : 0;
}

int dp_port_info(struct dp *dp, uint16_t slot, struct dp_port_info *out)
{
	(void)dp;
	*out = (struct dp_port_info){ .open = true, .recovers_tags = true };
	out->dead = w.dead && w.c->port[slot].ifindex == w.dead;
	return 0;
}

int dp_bridge_rules_set(struct dp *dp, uint16_t bridge, const struct dp_bridge_rules *rules)
{
	bool open = rules->flags & XB_BRIDGE_OPEN;

	(void)dp;
	if (open != w.is_open[bridge])
		step(open ? 'g' : 'G', bridge);
	w.is_open[bridge] = open;
	w.br_flags[bridge] = rules->flags;
	return 0;
}

int dp_host_attach(struct dp *dp, uint32_t hq_ifindex, uint32_t bridge_ifindex, const char **why)
{
	(void)dp;
	(void)hq_ifindex;
	(void)bridge_ifindex;
	(void)why;
	return 0;
}

void dp_publish(struct dp *dp, struct view *v)
{
	(void)dp;
	step('v', 0);
	/* A worker drops what a snooping bridge learns from: the rules pass it before. */
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++)
		assert_true(!v->bridge[i] || !(v->bridge[i]->flags & VB_SNOOPING) ||
			    !w.is_open[i] || (w.br_flags[i] & XB_BRIDGE_SNOOPING));
	view_free(w.view);
	w.view = v;
}

const struct view *dp_view(const struct dp *dp)
{
	(void)dp;
	return w.view;
}

void dp_gate_set(struct dp *dp, bool open)
{
	(void)dp;
	(void)open;
}

void dp_sweep(struct dp *dp)
{
	(void)dp;
}

/* ---- what else it asks ---- */

int hostpair_make(uint32_t bridge_ifindex, uint32_t mtu, uint32_t *h_ifindex, uint32_t *q_ifindex)
{
	(void)bridge_ifindex;
	(void)mtu;
	*h_ifindex = H_IF + 2 * w.n_pairs;
	*q_ifindex = *h_ifindex + 1;
	w.n_pairs++;
	step('w', 0);
	return 0;
}

int hostpair_remove(uint32_t bridge_ifindex)
{
	(void)bridge_ifindex;
	step('W', 0);
	return 0;
}

int hostpair_set_mtu(uint32_t bridge_ifindex, uint32_t mtu)
{
	(void)bridge_ifindex;
	(void)mtu;
	return 0;
}

int ethdev_queues(const char *ifname, uint32_t *n_rx, uint32_t *n_tx)
{
	(void)ifname;
	*n_rx = *n_tx = w.n_queues;
	return 0;
}

bool guard_has_bridge_netfilter(const struct guard *g, const char **what)
{
	(void)g;
	(void)what;
	return false;
}

bool guard_has_tc(const struct guard *g, uint32_t ifindex, const char **what)
{
	(void)g;
	(void)ifindex;
	(void)what;
	return false;
}

bool guard_has_address(const struct guard *g, uint32_t ifindex)
{
	(void)g;
	(void)ifindex;
	return false;
}

int guard_rxvlan_off(const char *ifname, bool *was_on)
{
	*was_on = strcmp(w.rxvlan, ifname) != 0;
	snprintf(w.rxvlan, sizeof(w.rxvlan), "%s", ifname);
	return 0;
}

int guard_rxvlan_restore(const char *ifname)
{
	if (!strcmp(w.rxvlan, ifname))
		w.rxvlan[0] = '\0';
	return 0;
}

int fdbsync_read_ports(struct ctl *c)
{
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		w.n_port_reads += c->port[i].fdb_wanted;
		c->port[i].fdb_wanted = false;
	}
	return 0;
}

int fdbsync_read(struct ctl *c)
{
	if (w.read_error)
		return w.read_error;
	w.n_reads++;
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++)
		c->port[i].fdb_wanted = false;
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++)
		c->bridge[i].has_fdb = c->bridge[i].is_used;
	return 0;
}

void fdbsync_forget_port(struct ctl *c, uint16_t bridge, uint16_t slot)
{
	struct fdb_filter all = { .port = slot, .vid = FDB_ANY };

	fdb_flush(c->bridge[bridge].fdb, &all);
}

void fdbsync_flush_left(struct ctl *c)
{
	(void)c;
}

void locals_set_device(struct ctl *c, struct ctl_port *p, const struct mac *mac)
{
	(void)c;
	(void)p;
	(void)mac;
}

void locals_forget(struct ctl *c, uint16_t bridge)
{
	local_free(c->bridge[bridge].local);
	c->bridge[bridge].local = NULL;
}

void ctl_alive(struct ctl *c)
{
	(void)c;
}

void ctl_read_events(struct ctl *c)
{
	(void)c;
}

/* ---- the kernel ---- */

static void tell(const struct rtmsg_info *i)
{
	bool changed = false;

	assert_int_equal(mirror_apply(w.c->mirror, i, NULL, &changed), 0);
}

static void tell_bridge(uint32_t ifindex, bool deleted)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };

	i.link.ifindex = ifindex;
	i.link.deleted = deleted;
	i.link.present = LINK_HAS_BRIDGE | LINK_HAS_KIND | LINK_HAS_MTU;
	i.link.flags = 1;
	i.link.mtu = 1500;
	snprintf(i.link.name, sizeof(i.link.name), "br%u", ifindex == BR ? 0 : ifindex % 5);
	snprintf(i.link.kind, sizeof(i.link.kind), "bridge");
	i.link.bridge.ageing_time_ns = 300000000000ULL;
	tell(&i);
}

static struct rtmsg_info port_msg(uint32_t n, uint32_t bridge)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };

	i.link.ifindex = PORT_IF(n);
	i.link.present = LINK_HAS_MTU;
	i.link.flags = 1;
	i.link.mtu = 1500;
	i.link.carrier = true;
	snprintf(i.link.name, sizeof(i.link.name), "p%u", n);
	if (!bridge)
		return i;
	i.link.master = bridge;
	i.link.present |= LINK_HAS_BRPORT | LINK_HAS_MASTER;
	i.link.brport.present = BRPORT_HAS_STATE;
	i.link.brport.state = PORT_FORWARDING;
	i.link.brport.flags =
		BRPORT_LEARNING | BRPORT_UNICAST_FLOOD | BRPORT_MCAST_FLOOD | BRPORT_BCAST_FLOOD;
	return i;
}

static void tell_port(uint32_t n, uint32_t bridge)
{
	struct rtmsg_info i = port_msg(n, bridge);

	tell(&i);
}

static void tell_gone(uint32_t n)
{
	struct rtmsg_info i = port_msg(n, 0);

	i.link.deleted = true;
	reconcile_link_gone(w.c, i.link.ifindex);
	tell(&i);
}

static void reload(const char *conf)
{
	conf_free(w.conf);
	w.conf = NULL;
	assert_int_equal(conf_parse("test", conf, strlen(conf), &w.conf, NULL, NULL), 0);
	w.c->conf = w.conf;
	w.c->statics_wanted = true;
}

/* Runs a reconciliation; the steps must be @want. */
static void expect(const char *what, const char *want)
{
	assert_int_equal(reconcile_run(w.c), 0);
	if (strcmp(w.steps, want))
		fail_msg("%s: \"%s\", not \"%s\"", what, w.steps, want);
	w.steps[0] = '\0';
	w.n = 0;
}

static int setup(void **state)
{
	static char guard;

	(void)state;
	memset(&w, 0, sizeof(w));
	w.c = calloc(1, sizeof(*w.c));
	if (!w.c)
		return -1;
	w.c->guard = (struct guard *)(void *)&guard;
	w.c->mirror = mirror_new();
	w.c->model = model_new();
	w.c->now_ns = 1000000000;
	w.n_queues = 1;
	reload("");
	log_set_level(LOG_LEVEL_ERR);
	return w.c->mirror && w.c->model ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	view_free(w.view);
	reconcile_close_all(w.c);
	model_free(w.c->model);
	mirror_free(w.c->mirror);
	conf_free(w.conf);
	free(w.c);
	return 0;
}

static void two_ports(void)
{
	tell_bridge(BR, false);
	tell_port(1, BR);
	tell_port(2, BR);
	expect("two ports", "v0 w0 o0 o1 o2 g0");
}

/* ---- the tests ---- */

static void nothing_is_done_twice(void **state)
{
	(void)state;
	two_ports();
	expect("again", "");
}

static void set_snooping(bool on)
{
	struct bridge_info *b = &mirror_find(w.c->mirror, BR)->info.bridge;

	b->flags = on ? BRIDGE_MCAST_SNOOPING : 0;
	b->mcast_router = 1;
}

/* And what ends to pass does so after the view: see dp_publish(). */
static void snooping_begins_in_the_rules_and_ends_in_the_view(void **state)
{
	const uint32_t both = XB_BRIDGE_SNOOPING | XB_BRIDGE_MCAST_PASS;

	(void)state;
	two_ports();
	for (uint32_t i = 0; i < 2; i++) {
		bool on = !i;

		set_snooping(on);
		w.c->fdb_wanted = true;
		w.read_error = -ETIMEDOUT;
		assert_int_equal(reconcile_run(w.c), -ETIMEDOUT);
		/* Between the two all multicast is the kernel's, however long that lasts. */
		assert_int_equal(w.br_flags[0] & both, both);
		assert_int_equal(!!(w.view->bridge[0]->flags & VB_SNOOPING), on);
		w.read_error = 0;
		assert_int_equal(reconcile_run(w.c), 0);
		assert_int_equal(w.br_flags[0] & both, on ? both : 0);
	}
}

static void the_whole_fdb_is_read_for_a_bridge_and_not_for_a_port(void **state)
{
	(void)state;
	two_ports();
	assert_int_equal(w.n_reads, 1);
	assert_int_equal(w.n_port_reads, 0);
	for (uint32_t n = 3; n <= 5; n++)
		tell_port(n, BR);
	expect("three more", "G0 v0 o3 o4 o5 g0");
	assert_int_equal(w.n_reads, 1);
	assert_int_equal(w.n_port_reads, 3);
	expect("again", "");
	assert_int_equal(w.n_port_reads, 3);
}

static void rules_are_set_when_they_are_others(void **state)
{
	uint32_t before;

	(void)state;
	two_ports();
	before = w.n_rules;
	expect("again", "");
	assert_int_equal(w.n_rules, before);
	w.dead = PORT_IF(2);
	expect("opened anew", "G0 C2 o2 g0");
	assert_int_equal(w.n_rules, before + 1);
}

static void the_kernel_forwards_until_a_new_port_is_open(void **state)
{
	(void)state;
	two_ports();
	tell_port(3, BR);
	expect("a third", "G0 v0 o3 g0");
}

static void a_port_that_leaves_is_closed_before_the_view_without_it(void **state)
{
	(void)state;
	two_ports();
	tell_port(1, 0);
	expect("p1 leaves", "C1 v0");
	tell_port(1, BR);
	expect("p1 is back", "G0 v0 o1 g0");
}

static void a_port_with_a_dead_socket_is_opened_anew_with_the_next_plan(void **state)
{
	(void)state;
	two_ports();
	w.dead = PORT_IF(2);
	expect("p2 was down", "G0 C2 o2 g0");
	expect("again", "");
}

static void tell_vlan_device(uint16_t vid, bool deleted)
{
	struct rtmsg_info up = { .type = RTMSG_LINK };

	up.link.ifindex = 1000U + vid;
	up.link.present = LINK_HAS_VLAN | LINK_HAS_LOWER;
	up.link.lower = PORT_IF(1);
	up.link.vlan_id = vid;
	up.link.deleted = deleted;
	snprintf(up.link.kind, sizeof(up.link.kind), "vlan");
	tell(&up);
}

/* Those two sets have been taken for the same one. */
static void other_vlan_devices_on_a_port_are_told_whatever_they_are(void **state)
{
	(void)state;
	two_ports();
	tell_vlan_device(10, false);
	tell_vlan_device(50, false);
	expect("first set", "");
	assert_int_equal(w.n_uppers, 2);
	w.n_uppers_told = 0;
	expect("the same set", "");
	assert_int_equal(w.n_uppers_told, 0);
	tell_vlan_device(10, true);
	tell_vlan_device(50, true);
	tell_vlan_device(9, false);
	tell_vlan_device(81, false);
	expect("second set", "");
	assert_int_equal(w.n_uppers, 2);
	assert_int_equal(w.upper[0], 9);
	assert_int_equal(w.upper[1], 81);
	tell_vlan_device(9, true);
	tell_vlan_device(81, true);
	expect("none", "");
	assert_int_equal(w.n_uppers, 0);
}

static void the_set_of_before_is_told_again_after_one_that_failed(void **state)
{
	(void)state;
	two_ports();
	tell_vlan_device(10, false);
	expect("first set", "");
	w.no_uppers = true;
	tell_vlan_device(50, false);
	expect("no room", "");
	w.no_uppers = false;
	tell_vlan_device(50, true);
	w.n_uppers_told = 0;
	expect("first set again", "");
	assert_int_equal(w.n_uppers_told, 1);
	assert_int_equal(w.n_uppers, 1);
}

static void a_port_without_room_for_its_vlan_devices_passes_everything(void **state)
{
	struct rtmsg_info up = { .type = RTMSG_LINK };
	uint16_t slot;

	(void)state;
	two_ports();
	slot = ctl_slot(w.c, ctl_port_by_ifindex(w.c, PORT_IF(1)));
	assert_true(w.flags[slot] & XB_PORT_USER);
	up.link.ifindex = 30;
	up.link.present = LINK_HAS_VLAN | LINK_HAS_LOWER;
	up.link.lower = PORT_IF(1);
	up.link.vlan_id = 40;
	snprintf(up.link.kind, sizeof(up.link.kind), "vlan");
	tell(&up);
	w.no_uppers = true;
	expect("no room", "");
	assert_false(w.flags[slot] & XB_PORT_USER);
	w.no_uppers = false;
	expect("room", "");
	assert_true(w.flags[slot] & XB_PORT_USER);
}

static void look_at_queues(void)
{
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		if (w.c->port[i].is_used)
			ports_check_queues(w.c, &w.c->port[i]);
	}
}

static void ports_follow_the_number_of_their_queues(void **state)
{
	(void)state;
	two_ports();
	look_at_queues();
	expect("as before", "");
	w.n_queues = 4;
	look_at_queues();
	expect("more", "G0 C1 C2 o1 o2 g0");
	w.n_queues = XB_MAX_QUEUES + 1;
	look_at_queues();
	expect("too many", "G0 C1 C2 C0 W0");
	w.n_queues = 1;
	look_at_queues();
	expect("one again", "w0 o0 o1 o2 g0");
}

static void the_kernel_forwards_while_a_port_is_opened_in_another_way(void **state)
{
	(void)state;
	two_ports();
	reload("bridge br0 { port p1 { mode = copy } }");
	expect("mode", "G0 C1 o1 g0");
	reload("bridge br0 { port p1 { engine = kernel } }");
	expect("engine", "G0 C1 o1 g0");
	/* It goes on counting where it was. */
	assert_int_equal(ctl_port_by_ifindex(w.c, PORT_IF(1))->closed.user.rx_frames, 6);
}

static void a_bridge_for_the_kernel_is_shut_before_its_ports_close(void **state)
{
	(void)state;
	two_ports();
	reload("bridge br0 { engine = kernel }");
	expect("engine", "G0 C1 C2 C0 W0");
	reload("");
	expect("back", "w0 o0 o1 o2 g0");
	reload("bridges = { \"lan*\" }");
	expect("not named", "G0 C1 C2 C0 W0 v0");
}

static void a_port_that_cannot_receive_is_an_egress_and_is_tried_again(void **state)
{
	(void)state;
	w.refuse = PORT_IF(2);
	tell_bridge(BR, false);
	tell_port(1, BR);
	tell_port(2, BR);
	expect("refused", "v0 w0 o0 o1 o2 g0");
	assert_int_equal(ctl_port_by_ifindex(w.c, PORT_IF(2))->reason, PATH_XDP_BUSY);
	expect("too early", "");
	w.refuse = 0;
	w.c->now_ns += 1000000000;
	expect("again", "G0 C2 o2 g0");
	assert_int_equal(ctl_port_by_ifindex(w.c, PORT_IF(2))->reason, PATH_NONE);
}

static void stripping_of_tags_is_restored_after_failed_tries(void **state)
{
	(void)state;
	w.refuse = PORT_IF(1);
	tell_bridge(BR, false);
	tell_port(1, BR);
	assert_int_equal(reconcile_run(w.c), 0);
	w.c->now_ns += 1000000000;
	assert_int_equal(reconcile_run(w.c), 0);
	assert_string_equal(w.rxvlan, "p1");
	tell_port(1, 0);
	assert_int_equal(reconcile_run(w.c), 0);
	assert_string_equal(w.rxvlan, "");
}

static void a_bridge_made_again_under_its_name_is_another_one(void **state)
{
	(void)state;
	two_ports();
	tell_port(1, 0);
	tell_port(2, 0);
	tell_bridge(BR, true);
	tell_bridge(BR + 5, false);
	tell_port(1, BR + 5);
	expect("one burst", "G0 C1 C2 C0 W0 v0 w0 o0 o1 g0");
	assert_null(ctl_bridge_by_ifindex(w.c, BR));
	assert_non_null(ctl_bridge_by_ifindex(w.c, BR + 5));
}

static void a_port_that_changes_bridges_is_closed_in_the_old_one_first(void **state)
{
	(void)state;
	two_ports();
	tell_bridge(BR + 1, false);
	tell_port(2, BR + 1);
	expect("moved", "C2 v0 w0 o0 o2 g1");
}

static void a_lost_veth_pair_is_made_anew(void **state)
{
	(void)state;
	two_ports();
	w.c->plan_wanted = false;
	reconcile_link_gone(w.c, H_IF);
	assert_true(w.c->plan_wanted);
	expect("pair", "G0 C0 W0 w0 o0 g0");
	/* The far end was moved away. */
	reconcile_link_gone(w.c, H_IF + 3);
	expect("far end", "G0 C0 W0 w0 o0 g0");
	/* What is told of the old ones has no meaning any more. */
	reconcile_link_gone(w.c, H_IF);
	expect("late", "");
}

static void tables_that_are_too_old_keep_the_bridge_shut(void **state)
{
	(void)state;
	two_ports();
	w.c->is_overdue = w.c->resync_wanted = true;
	ports_bridge_shut(w.c, &w.c->bridge[0]);
	expect("stale", "G0");
	w.c->resync_wanted = false;
	expect("read", "g0");
	assert_false(w.c->is_overdue);
}

static const char sw0[] = "bridge sw0 { source = file\nport p1 { }\nport p2 { }\n"
			  "fdb \"02:00:00:00:00:01\" { port = p1 } }";

static uint64_t n_entries(void)
{
	struct fdb_stats st;

	fdb_stats(w.c->bridge[0].fdb, &st);
	return st.n_entries;
}

static void static_entries_stay_with_a_port_that_comes_again(void **state)
{
	struct rtmsg_info i = port_msg(1, 0);

	(void)state;
	reload(sw0);
	tell_port(2, 0);
	expect("p1 is not there", "v0 o2 g0");
	assert_int_equal(n_entries(), 1);
	tell_port(1, 0);
	expect("p1 comes", "v0 o1");
	assert_int_equal(n_entries(), 1);
	tell_gone(1);
	i.link.ifindex = PORT_IF(7);
	tell(&i);
	expect("p1 comes again in one burst", "C1 o7");
	assert_int_equal(n_entries(), 1);
}

static void a_port_of_a_kernel_bridge_is_no_port_of_a_stand_alone_one(void **state)
{
	(void)state;
	reload(sw0);
	tell_port(1, 0);
	tell_port(2, 0);
	expect("both", "v0 o1 o2 g0");
	tell_bridge(BR, false);
	tell_port(1, BR);
	expect("p1 is taken", "C1 v0 w0 o0 o1 g1");
	assert_int_equal(ctl_port_by_ifindex(w.c, PORT_IF(1))->bridge, 1);
	assert_true(w.is_open[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_done_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(snooping_begins_in_the_rules_and_ends_in_the_view,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_whole_fdb_is_read_for_a_bridge_and_not_for_a_port, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_are_set_when_they_are_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_kernel_forwards_until_a_new_port_is_open, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_port_that_leaves_is_closed_before_the_view_without_it, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_kernel_forwards_while_a_port_is_opened_in_another_way, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_port_without_room_for_its_vlan_devices_passes_everything, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			other_vlan_devices_on_a_port_are_told_whatever_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_set_of_before_is_told_again_after_one_that_failed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_port_with_a_dead_socket_is_opened_anew_with_the_next_plan, setup,
			teardown),
		cmocka_unit_test_setup_teardown(ports_follow_the_number_of_their_queues, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_bridge_for_the_kernel_is_shut_before_its_ports_close, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_port_that_cannot_receive_is_an_egress_and_is_tried_again, setup,
			teardown),
		cmocka_unit_test_setup_teardown(stripping_of_tags_is_restored_after_failed_tries,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_bridge_made_again_under_its_name_is_another_one,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_port_that_changes_bridges_is_closed_in_the_old_one_first, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_lost_veth_pair_is_made_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(tables_that_are_too_old_keep_the_bridge_shut, setup,
						teardown),
		cmocka_unit_test_setup_teardown(static_entries_stay_with_a_port_that_comes_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_port_of_a_kernel_bridge_is_no_port_of_a_stand_alone_one, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
