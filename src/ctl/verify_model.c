/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is made of the kernel's configuration: the model, and with it the view
 * that workers have, must be what a plan makes of the kernel's answers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl/state.h"
#include "ctl/verify_priv.h"

/* Fields beyond those of the link messages, which are numbered in verify.c. */
enum {
	MODEL_FIRST = 1U << 20,
	MODEL_THERE = MODEL_FIRST,
	MODEL_FLAGS,
	MODEL_STATE,
	MODEL_PVID,
	MODEL_MTU,
	MODEL_HOLD,
	MODEL_VIEW,
	MODEL_BACKUP,
	MODEL_VIEW_BACKUP,
	MODEL_ROUTER,
	MODEL_VLAN = MODEL_FIRST + 4096,
};

/* Which ports lead to multicast routers is not in the plan: see verify_mdb.c. */
#define ROUTER_FLAGS (MP_ROUTER4 | MP_ROUTER6 | MP_ROUTER_L2)

static void compare_port(struct verify_result *r, uint32_t ifindex, const char *name,
			 const struct model_port_attr *k, const struct model_port *m)
{
	struct verify_place at = { .ifindex = ifindex, .kind = "model", .name = name };
	const struct model_port_attr *o = m ? &m->a : NULL;

	verify_number(r, &at, MODEL_THERE, "is there", 1, o != NULL);
	if (!o)
		return;
	verify_number(r, &at, MODEL_FLAGS, "flags", k->flags & ~ROUTER_FLAGS,
		      o->flags & ~ROUTER_FLAGS);
	verify_number(r, &at, MODEL_STATE, "state", k->state, o->state);
	verify_number(r, &at, MODEL_PVID, "pvid", k->pvid, o->pvid);
	verify_number(r, &at, MODEL_MTU, "mtu", k->mtu, o->mtu);
	for (uint32_t vid = 1; vid <= VID_MAX; vid++) {
		char field[16];

		if (k->vlan[vid] == o->vlan[vid])
			continue;
		snprintf(field, sizeof(field), "vlan %u", vid);
		verify_number(r, &at, MODEL_VLAN + vid, field, k->vlan[vid], o->vlan[vid]);
	}
}

static uint32_t bridge_bits(const struct model_bridge_attr *a)
{
	return (uint32_t)a->tpid << 16 | (a->filtering ? 1U : 0) | (a->promisc ? 2U : 0) |
	       (a->mst ? 4U : 0) | (a->learning ? 8U : 0) | (a->local_vlan_0 ? 16U : 0) |
	       (a->snooping ? 32U : 0) | (a->igmp_v3 ? 64U : 0) | (a->mld_v2 ? 128U : 0) |
	       (a->allmulti ? 256U : 0);
}

/* The plan has its index; the slot that it has with us, and when workers use it. */
static void compare_backup(struct ctl *c, struct verify_result *r, const struct ctl_bridge *b,
			   const struct plan_port *pp, uint16_t slot)
{
	struct verify_place model = { pp->ifindex, "model", pp->name };
	struct verify_place of_view = { pp->ifindex, "view", pp->name };
	const struct model_port *m = c->model->port[slot];
	const struct view *v = dp_view(c->dp);
	uint16_t want = pp->backup ? mdbsync_slot(c, b, pp->backup) : 0;

	if (!m)
		return;
	verify_number(r, &model, MODEL_BACKUP, "backup slot", want, m->a.backup);
	if (v && v->port[slot])
		verify_number(r, &of_view, MODEL_VIEW_BACKUP, "backup slot",
			      pp->attr.flags & MP_DOWN ? want : 0, v->port[slot]->backup);
}

/* Whether the bridge itself is a router: not in the table of groups. */
static void compare_host_router(struct ctl *c, struct verify_result *r, const struct ctl_bridge *b,
				const struct mirror_link *l)
{
	struct verify_place at = { l->info.ifindex, "model", l->info.name };
	const struct model_port *m = c->model->port[b->host_slot];

	if (m && (l->info.bridge.flags & BRIDGE_MCAST_SNOOPING))
		verify_number(r, &at, MODEL_ROUTER, "router flags",
			      mcast_host_router_flags(&l->info.bridge), m->a.flags & ROUTER_FLAGS);
}

static void compare_bridge(struct ctl *c, struct verify_result *r, const struct plan_bridge *pb,
			   const struct mirror_link *l)
{
	struct verify_place at = { .ifindex = pb->ifindex, .kind = "model", .name = pb->name };
	const struct ctl_bridge *b = ctl_planned_bridge(c, pb);
	const struct model_bridge *m = b ? c->model->bridge[ctl_index(c, b)] : NULL;

	verify_number(r, &at, MODEL_THERE, "is there", 1, m != NULL);
	if (!m)
		return;
	verify_number(r, &at, MODEL_FLAGS, "bridge options", bridge_bits(&pb->attr),
		      bridge_bits(&m->a));
	verify_number(r, &at, MODEL_HOLD, "hold time", pb->hold_ns, b->hold_ns);
	compare_port(r, UINT32_MAX - pb->ifindex, pb->name, &pb->host,
		     c->model->port[b->host_slot]);
	compare_host_router(c, r, b, l);
	for (uint32_t i = 0; i < pb->n_ports; i++) {
		const struct plan_port *pp = &pb->port[i];
		struct ctl_port *p = ctl_find_port(c, ctl_index(c, b), pp);

		compare_port(r, pp->ifindex, pp->name, &pp->attr,
			     p ? c->model->port[ctl_slot(c, p)] : NULL);
		if (p)
			compare_backup(c, r, b, pp, ctl_slot(c, p));
	}
	verify_number(r, &at, MODEL_FIRST + 100, "ports", pb->n_ports + (b->host_slot != 0),
		      m->n_ports);
}

int verify_model(struct ctl *c, struct verify_result *r, const struct mirror *kernel)
{
	const struct plan_input in = { .mirror = kernel,
				       .conf = c->conf,
				       .frame_size = c->conf->frame_size };
	struct verify_place at = { .kind = "view", .name = "of the workers" };
	struct plan *plan;
	int err = plan_make(&in, &plan);

	if (err)
		return err;
	for (uint32_t i = 0; i < plan->n_bridges; i++) {
		const struct plan_bridge *pb = &plan->bridge[i];

		if (pb->source == CONF_SOURCE_KERNEL && pb->reason != PATH_WAITING)
			compare_bridge(c, r, pb, mirror_find(kernel, pb->ifindex));
	}
	verify_number(r, &at, MODEL_VIEW, "generation", c->model->gen, c->model_gen);
	plan_free(plan);
	return 0;
}
