/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `verify` compares: a bridge br0 with ports p1..p3 in slots 1..3 (p2 is
 * down and has p3 as its backup port) that is equal on both sides, and then
 * differs in one thing. The kernel is written here.
 */
#include "message.h"

#include <arpa/inet.h>
#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/local.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "ctl/verify.h"

#define BR_IF      5
#define PORT_IF(n) (10 + (n))
#define HOST       9

typedef void change_fn(struct mirror *m);

static struct ctl *ctl;
static struct view *view;
static uint32_t n_polls;
static change_fn *kernel_change; /* what the kernel says otherwise */
static bool kernel_has_joined;   /* its host is in 239.1.1.1 */

/* ---- the kernel ---- */

static void tell(struct mirror *m, const struct rtmsg_info *i)
{
	bool changed = false;

	assert_int_equal(mirror_apply(m, i, NULL, &changed), 0);
}

static void tell_bridge(struct mirror *m)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };
	struct link_info *l = &i.link;

	l->ifindex = BR_IF;
	l->present = LINK_HAS_BRIDGE | LINK_HAS_KIND | LINK_HAS_MTU;
	l->flags = 1;
	l->mtu = 1500;
	snprintf(l->name, sizeof(l->name), "br0");
	snprintf(l->kind, sizeof(l->kind), "bridge");
	l->bridge.flags = BRIDGE_MCAST_SNOOPING;
	l->bridge.mcast_router = 1;
	l->bridge.igmp_version = 2;
	l->bridge.mld_version = 1;
	l->bridge.vlan_protocol = 0x8100;
	l->bridge.ageing_time_ns = 300000000000ULL;
	tell(m, &i);
}

static void tell_port(struct mirror *m, uint32_t n)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };
	struct link_info *l = &i.link;

	l->ifindex = PORT_IF(n);
	l->master = BR_IF;
	l->present = LINK_HAS_BRPORT | LINK_HAS_MASTER | LINK_HAS_MTU;
	l->flags = 1;
	l->mtu = 1500;
	l->carrier = n != 2;
	snprintf(l->name, sizeof(l->name), "p%u", n);
	snprintf(l->kind, sizeof(l->kind), "veth");
	l->brport.present = BRPORT_HAS_STATE;
	l->brport.state = PORT_FORWARDING;
	if (n == 2) {
		l->brport.present |= BRPORT_HAS_BACKUP_PORT;
		l->brport.backup_port = PORT_IF(3);
	}
	tell(m, &i);
}

static struct mirror *make_mirror(void)
{
	struct mirror *m = mirror_new();

	assert_non_null(m);
	tell_bridge(m);
	for (uint32_t n = 1; n <= 3; n++)
		tell_port(m, n);
	return m;
}

int ctl_read_mirror(struct ctl *c, struct mirror **out)
{
	(void)c;
	*out = make_mirror();
	if (kernel_change)
		kernel_change(*out);
	return 0;
}

static void start_joined(void)
{
	struct br_port_msg pm = { .family = AF_BRIDGE, .ifindex = BR_IF };
	struct br_mdb_entry e = { .ifindex = BR_IF };
	size_t at[3];

	start(RTM_GETMDB, &pm, sizeof(pm));
	e.addr.proto = htons(0x0800);
	e.addr.u.ip4 = htonl(0xef010101U);
	at[0] = nest(MDBA_MDB);
	at[1] = nest(MDBA_MDB_ENTRY);
	at[2] = nest(MDBA_MDB_ENTRY_INFO);
	raw(&e, sizeof(e));
	for (int i = 2; i >= 0; i--)
		nest_end(at[i]);
}

int rtsock_dump(struct rtsock *s, enum rtreq_dump what, rtsock_fn fn, void (*tick)(void *arg),
		void *arg)
{
	struct rtmsg_info i;

	(void)s;
	(void)tick;
	if (what != RTREQ_MDB || !kernel_has_joined)
		return 0;
	start_joined();
	assert_int_equal(rtmsg_parse(message(), w.len, &i), 0);
	return fn(arg, &i, message());
}

/* ---- the rest of the daemon ---- */

void ctl_catch_up(struct ctl *c)
{
	n_polls += c->poll_wanted;
	c->poll_wanted = false;
}

void ctl_read_events(struct ctl *c)
{
	(void)c;
}

void ctl_alive(struct ctl *c)
{
	(void)c;
}

void locals_settle_now(struct ctl *c)
{
	(void)c;
}

bool fdbsync_find(struct ctl *c, const struct neigh_info *n, struct ctl_bridge **b, uint16_t *slot)
{
	(void)c;
	(void)n;
	(void)b;
	(void)slot;
	return false;
}

struct ctl_port *ctl_port_by_ifindex(struct ctl *c, uint32_t ifindex)
{
	for (uint32_t i = 1; ifindex && i < XB_MAX_PORTS; i++) {
		if (c->port[i].is_used && c->port[i].ifindex == ifindex)
			return &c->port[i];
	}
	return NULL;
}

struct ctl_port *ctl_find_port(struct ctl *c, uint16_t bridge, const struct plan_port *pp)
{
	(void)bridge;
	return ctl_port_by_ifindex(c, pp->ifindex);
}

struct ctl_bridge *ctl_bridge_by_ifindex(struct ctl *c, uint32_t ifindex)
{
	return ifindex == BR_IF ? &c->bridge[0] : NULL;
}

struct ctl_bridge *ctl_planned_bridge(struct ctl *c, const struct plan_bridge *pb)
{
	return ctl_bridge_by_ifindex(c, pb->ifindex);
}

const struct view *dp_view(const struct dp *dp)
{
	(void)dp;
	return view;
}

static void publish(void)
{
	struct view *v = view_build(ctl->model, view, NULL);

	assert_non_null(v);
	view_free(view);
	view = v;
	ctl->model_gen = ctl->model->gen;
}

static void put_plan(struct plan_bridge *pb)
{
	struct ctl_bridge *b = &ctl->bridge[0];

	b->hold_ns = pb->hold_ns;
	pb->attr.host_port = HOST;
	assert_int_equal(model_bridge_set(ctl->model, 0, &pb->attr, b->fdb, NULL, NULL), 0);
	assert_int_equal(model_port_set(ctl->model, HOST, &pb->host, NULL), 0);
	assert_int_equal(pb->n_ports, 3);
	for (uint16_t slot = 1; slot <= 3; slot++) {
		ctl->port[slot].is_used = true;
		ctl->port[slot].ifindex = PORT_IF(slot);
		if (slot == 2)
			pb->port[slot - 1].attr.backup = 3;
		assert_int_equal(model_port_set(ctl->model, slot, &pb->port[slot - 1].attr, NULL),
				 0);
	}
	ctl->port[HOST] = (struct ctl_port){ .is_used = true, .is_host = true, .name = "br0" };
	ctl->slot_end = HOST + 1;
}

static int setup(void **state)
{
	const struct fdb_config cfg = { .max_entries = 16 };
	struct plan_input in = { 0 };
	struct plan *plan;

	(void)state;
	kernel_change = NULL;
	kernel_has_joined = false;
	ctl = calloc(1, sizeof(*ctl));
	assert_non_null(ctl);
	ctl->conf = conf_defaults();
	ctl->model = model_new();
	ctl->mirror = make_mirror();
	ctl->bridge[0] = (struct ctl_bridge){ .is_used = true,
					      .name = "br0",
					      .ifindex = BR_IF,
					      .source = CONF_SOURCE_KERNEL,
					      .host_slot = HOST,
					      .mcast = { .snooping = true },
					      .fdb = fdb_new(&cfg),
					      .local = local_new(0) };
	assert_true(ctl->conf && ctl->model && ctl->bridge[0].fdb && ctl->bridge[0].local);
	in.mirror = ctl->mirror;
	in.conf = ctl->conf;
	in.frame_size = ctl->conf->frame_size;
	assert_int_equal(plan_make(&in, &plan), 0);
	assert_int_equal(plan->n_bridges, 1);
	put_plan(&plan->bridge[0]);
	plan_free(plan);
	view = NULL;
	n_polls = 0;
	publish();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	view_free(view);
	model_free(ctl->model);
	local_free(ctl->bridge[0].local);
	fdb_free(ctl->bridge[0].fdb);
	mirror_free(ctl->mirror);
	conf_free(ctl->conf);
	free(ctl);
	return 0;
}

/* ---- what may differ ---- */

static struct bridge_info *bridge_of(struct mirror *m)
{
	return &mirror_find(m, BR_IF)->info.bridge;
}

static void link_allmulti(struct mirror *m)
{
	mirror_find(m, BR_IF)->info.allmulti = 1;
}

static void link_kind(struct mirror *m)
{
	snprintf(mirror_find(m, PORT_IF(1))->info.kind, NETINFO_NAME_SIZE, "tun");
}

static void link_switch(struct mirror *m)
{
	mirror_find(m, PORT_IF(1))->info.present |= LINK_HAS_SWITCH_ID;
}

static void link_upper(struct mirror *m)
{
	struct link_info *l = &mirror_find(m, PORT_IF(1))->info;

	l->present |= LINK_HAS_VLAN;
	l->vlan_id = 7;
}

static void bridge_igmp(struct mirror *m)
{
	bridge_of(m)->igmp_version = 3;
}

static void bridge_mld(struct mirror *m)
{
	bridge_of(m)->mld_version = 2;
}

static void bridge_is_router(struct mirror *m)
{
	bridge_of(m)->mcast_router = 2;
}

static void port_backup(struct mirror *m)
{
	mirror_find(m, PORT_IF(2))->info.brport.backup_port = PORT_IF(1);
}

static void port_no_backup(struct mirror *m)
{
	mirror_find(m, PORT_IF(2))->info.brport.present &= ~(uint32_t)BRPORT_HAS_BACKUP_PORT;
}

static void set_model(const struct model_bridge_attr *a)
{
	assert_int_equal(model_bridge_set(ctl->model, 0, a, ctl->bridge[0].fdb, NULL, NULL), 0);
	publish();
}

static void model_floods(void)
{
	struct model_bridge_attr a = ctl->model->bridge[0]->a;

	a.snooping = false;
	set_model(&a);
}

static void model_has_igmp_v3(void)
{
	struct model_bridge_attr a = ctl->model->bridge[0]->a;

	a.igmp_v3 = true;
	set_model(&a);
}

static void model_has_mld_v2(void)
{
	struct model_bridge_attr a = ctl->model->bridge[0]->a;

	a.mld_v2 = true;
	set_model(&a);
}

static void model_has_allmulti(void)
{
	struct model_bridge_attr a = ctl->model->bridge[0]->a;

	a.allmulti = true;
	set_model(&a);
}

static void set_backup(uint16_t slot)
{
	struct model_port_attr a = ctl->model->port[2]->a;

	a.backup = slot;
	assert_int_equal(model_port_set(ctl->model, 2, &a, NULL), 0);
	ctl->model_gen = ctl->model->gen;
}

static void model_has_other_backup(void)
{
	set_backup(1);
	publish();
}

/* The model is right again, and no view is made of it. */
static void view_has_no_backup(void)
{
	set_backup(0);
	publish();
	set_backup(3);
}

static void model_host_leads_to_routers(void)
{
	struct model_port_attr a = ctl->model->port[HOST]->a;

	a.flags |= MP_ROUTER4;
	assert_int_equal(model_port_set(ctl->model, HOST, &a, NULL), 0);
	publish();
}

static void host_joins(void)
{
	const struct mdb_key k = { .family = MDB_IP4, .group = { 239, 1, 1, 1 } };

	assert_int_equal(model_mdb_set(ctl->model, 0, &k, HOST, MDB_MEMBER), 0);
	publish();
}

static void kernel_host_joins(void)
{
	kernel_has_joined = true;
}

static void both_hosts_join(void)
{
	host_joins();
	kernel_has_joined = true;
}

/* ---- rows ---- */

static void append(char *text, size_t size, const struct verify_difference *d)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s: %s %s/%s", n ? "; " : "", d->what, d->object, d->kernel,
		 d->ours);
}

static void each_difference_is_told_and_nothing_else(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		change_fn *kernel;   /* changes what the kernel says */
		change_fn *mirror;   /* and what we have heard from it */
		void (*ours)(void);
		const char *want;
	} rows[] = {
		{ "equal", NULL, NULL, NULL, "" },
		{ "allmulti was not heard", link_allmulti, NULL, NULL,
		  "link br0: allmulti 1/0; model br0: bridge options 2164261160/2164260904" },
		{ "allmulti was heard", link_allmulti, link_allmulti, model_has_allmulti, "" },
		{ "allmulti in the model", NULL, NULL, model_has_allmulti,
		  "model br0: bridge options 2164260904/2164261160" },
		{ "IGMP version was not heard", bridge_igmp, NULL, model_has_igmp_v3,
		  "link br0: IGMP version 3/2" },
		{ "IGMP version is not in the model", bridge_igmp, bridge_igmp, NULL,
		  "model br0: bridge options 2164260968/2164260904" },
		{ "MLD version was not heard", bridge_mld, NULL, model_has_mld_v2,
		  "link br0: MLD version 2/1" },
		{ "MLD version is not in the model", bridge_mld, bridge_mld, NULL,
		  "model br0: bridge options 2164261032/2164260904" },
		{ "the model floods", NULL, NULL, model_floods,
		  "model br0: bridge options 2164260904/2164260872" },
		{ "mcast_router was not heard", bridge_is_router, NULL, NULL,
		  "link br0: mcast_router 2/1; model br0: router flags 7168/0" },
		{ "the model's host is a router", NULL, NULL, model_host_leads_to_routers,
		  "model br0: router flags 0/1024" },
		{ "another backup port", port_backup, NULL, NULL,
		  "link p2: backup port 11/13; model p2: backup slot 1/3; view p2: backup slot 1/3" },
		{ "no backup port any more", port_no_backup, NULL, NULL,
		  "link p2: backup port 0/13; model p2: backup slot 0/3; view p2: backup slot 0/3" },
		{ "another backup slot", NULL, NULL, model_has_other_backup,
		  "model p2: backup slot 3/1; view p2: backup slot 3/1" },
		{ "a view without the backup slot", NULL, NULL, view_has_no_backup,
		  "view p2: backup slot 3/0" },
		{ "the host has joined", NULL, NULL, kernel_host_joins,
		  "mdb br0: 239.1.1.1 vlan 0 br0/" },
		{ "the host has left", NULL, NULL, host_joins, "mdb br0: 239.1.1.1 vlan 0 /br0" },
		{ "the host is in it", NULL, NULL, both_hosts_join, "" },
		{ "another kind of device", link_kind, NULL, NULL, "link p1: kind 0/1" },
		{ "a port of a hardware switch", link_switch, NULL, NULL,
		  "link p1: hardware switch 1/0" },
		{ "a VLAN device", link_upper, NULL, NULL, "link p1: VLAN of device 7/0" },
	};
	/* clang-format on */
	struct verify_result *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		char got[1024] = "";

		assert_int_equal(setup(state), 0);
		kernel_change = rows[i].kernel;
		if (rows[i].mirror)
			rows[i].mirror(ctl->mirror);
		if (rows[i].ours)
			rows[i].ours();
		assert_int_equal(verify_run(ctl, r), 0);
		/* What the kernel does not tell of is asked for in each round. */
		assert_int_equal(n_polls, r->n_differences ? VERIFY_ROUNDS : 1);
		for (uint32_t k = 0; k < r->n; k++)
			append(got, sizeof(got), &r->v[k]);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: \"%s\"", rows[i].name, got);
		teardown(state);
	}
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_difference_is_told_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
