/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ethdev.h"
#include "ctl/guard.h"
#include "ctl/hostpair.h"
#include "ctl/state.h"
#include "util/bitset.h"
#include "util/clock.h"
#include "xb_maps.h"

#define RETRY_FIRST_NS (NSEC_PER_SEC / 2)
#define RETRY_MAX_NS   (60 * NSEC_PER_SEC)
#define UPPERS_SIZE    (bitset_words(VID_N) * sizeof(uint64_t))

static void set_retry(struct ctl *c, uint64_t *retry_ns, uint32_t *n_tries)
{
	uint64_t wait = RETRY_FIRST_NS << (*n_tries < 7 ? *n_tries : 7);

	++*n_tries;
	*retry_ns = c->now_ns + (wait < RETRY_MAX_NS ? wait : RETRY_MAX_NS);
}

/* ---- closing ---- */

/* A port that is opened again goes on counting where it was. */
static void counters_keep(struct ctl_port *p, struct dp_port_counters *last)
{
	uint64_t *to = (uint64_t *)&p->closed;

	/* The struct is nothing but counters; what was in flight is not any more. */
	last->tx_in_flight = 0;
	for (size_t i = 0; i < sizeof(*last) / sizeof(*to); i++)
		to[i] += ((const uint64_t *)last)[i];
}

void ports_close(struct ctl *c, struct ctl_port *p, bool gone)
{
	struct dp_port_counters last = { 0 };

	if (p->is_open) {
		ctl_alive(c);
		dp_port_close(c->dp, ctl_slot(c, p), gone, &last);
		counters_keep(p, &last);
	}
	/* A port that could not be opened has it switched off as well. */
	if (p->rxvlan_was_on && !gone)
		(void)guard_rxvlan_restore(p->name);
	p->rxvlan_was_on = false;
	p->is_open = p->is_receive = p->has_rules = false;
	free(p->uppers);
	p->uppers = NULL;
	p->uppers_failed = false;
}

static void host_close(struct ctl *c, struct ctl_bridge *b, bool gone)
{
	if (b->host_slot) {
		ports_close(c, &c->port[b->host_slot], gone);
		c->port[b->host_slot].ifindex = 0;
	}
	if (b->h_ifindex)
		(void)hostpair_remove(b->ifindex);
	b->h_ifindex = b->q_ifindex = 0;
}

void ports_host_close(struct ctl *c, struct ctl_bridge *b)
{
	host_close(c, b, false);
}

/* Until there is another pair the kernel forwards, and floods to the host itself. */
static void host_gone(struct ctl *c, struct ctl_bridge *b)
{
	ports_bridge_shut(c, b);
	host_close(c, b, true);
	c->plan_wanted = true;
	history_add(&c->history, LOG_LEVEL_WARN,
		    "bridge %s: its private veth pair has gone: making another one", b->name);
}

static struct ctl_bridge *bridge_of_pair(struct ctl *c, uint32_t ifindex)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct ctl_bridge *b = &c->bridge[i];

		if (b->is_used && (b->h_ifindex == ifindex || b->q_ifindex == ifindex))
			return b;
	}
	return NULL;
}

void reconcile_link_gone(struct ctl *c, uint32_t ifindex)
{
	struct ctl_bridge *b = ifindex ? bridge_of_pair(c, ifindex) : NULL;
	struct ctl_port *p;

	if (b) {
		host_gone(c, b);
		return;
	}
	p = ctl_port_by_ifindex(c, ifindex);
	if (!p)
		return;
	/* Another device may come with this index: nothing is known about that one. */
	p->veto = PATH_NONE;
	p->n_tries = 0;
	p->retry_ns = p->egress_retry_ns = 0;
	if (!p->is_open)
		return;
	ports_close(c, p, true);
	history_add(&c->history, LOG_LEVEL_NOTICE, "port %s of %s has gone: given back", p->name,
		    c->bridge[p->bridge].name);
}

/* The bridge's gate; shut, every frame of its ports passes to the kernel. */
void ports_bridge_rules(struct ctl *c, struct ctl_bridge *b, const struct plan_bridge *pb,
			bool open)
{
	struct dp_bridge_rules r = { .tpid = pb ? pb->attr.tpid : 0x8100 };

	if (open)
		r.flags |= XB_BRIDGE_OPEN;
	if (pb && pb->attr.filtering)
		r.flags |= XB_BRIDGE_FILTERING;
	if (pb && pb->snooping)
		r.flags |= XB_BRIDGE_SNOOPING;
	if (pb && pb->snooping && b->mcast.pass != MCAST_PASS_NONE)
		r.flags |= XB_BRIDGE_MCAST_PASS;
	if (pb && pb->neigh)
		r.flags |= XB_BRIDGE_NEIGH;
	(void)dp_bridge_rules_set(c->dp, ctl_index(c, b), &r);
	b->rules = r;
	b->is_open = open;
}

void ports_bridge_mcast(struct ctl *c, struct ctl_bridge *b)
{
	uint32_t flags = b->rules.flags & ~(uint32_t)XB_BRIDGE_MCAST_PASS;

	if ((flags & XB_BRIDGE_SNOOPING) && b->mcast.pass != MCAST_PASS_NONE)
		flags |= XB_BRIDGE_MCAST_PASS;
	if (flags == b->rules.flags)
		return;
	b->rules.flags = flags;
	(void)dp_bridge_rules_set(c->dp, ctl_index(c, b), &b->rules);
}

void ports_bridge_snoop(struct ctl *c, struct ctl_bridge *b)
{
	uint32_t flags = b->rules.flags;

	if (!b->is_open || !b->mcast.snooping)
		return;
	/* Until the view is there nobody but the kernel knows the groups. */
	if (!(flags & XB_BRIDGE_SNOOPING) || b->mcast.pass != MCAST_PASS_NONE)
		flags |= XB_BRIDGE_SNOOPING | XB_BRIDGE_MCAST_PASS;
	if (flags == b->rules.flags)
		return;
	b->rules.flags = flags;
	(void)dp_bridge_rules_set(c->dp, ctl_index(c, b), &b->rules);
}

void ports_bridge_shut(struct ctl *c, struct ctl_bridge *b)
{
	if (!b->is_open)
		return;
	b->rules.flags &= ~(uint32_t)XB_BRIDGE_OPEN;
	(void)dp_bridge_rules_set(c->dp, ctl_index(c, b), &b->rules);
	b->is_open = false;
}

void ports_check_queues(struct ctl *c, struct ctl_port *p)
{
	uint32_t n_rx, n_tx;

	if (p->is_host || !(p->is_receive || p->veto == PATH_QUEUES) ||
	    ethdev_queues(p->name, &n_rx, &n_tx) || n_rx == p->n_queues)
		return;
	history_add(&c->history, LOG_LEVEL_NOTICE, "port %s has %u receive queues now", p->name,
		    n_rx);
	p->n_queues = n_rx;
	p->is_stale = p->is_open;
	if (p->veto == PATH_QUEUES)
		p->veto = PATH_NONE;
	c->plan_wanted = true;
}

/* ---- opening ---- */

/*
 * Trying again disturbs traffic on some devices, so what a driver or a kernel
 * cannot do is tried again only when the port has changed.
 */
static bool may_pass(enum path_reason reason)
{
	return reason == PATH_XDP_BUSY || reason == PATH_SOCKET || reason == PATH_FAILED;
}

static void port_failed(struct ctl *c, struct ctl_port *p, enum path_reason reason, const char *why)
{
	p->veto = reason;
	p->retry_ns = 0;
	if (may_pass(reason) || !p->is_receive_wanted)
		set_retry(c, &p->retry_ns, &p->n_tries);
	if (strcmp(p->note, why)) {
		snprintf(p->note, sizeof(p->note), "%s", why);
		history_add(&c->history, LOG_LEVEL_WARN, "port %s: %s", p->name, why);
	}
}

static uint32_t port_rule_flags(const struct plan_port *pp)
{
	uint32_t flags = 0;

	if (pp->receive)
		flags |= XB_PORT_USER;
	if (pp->uppers)
		flags |= XB_PORT_UPPERS;
	if (pp->is_locked)
		flags |= XB_PORT_LOCKED;
	if (pp->is_tunnel)
		flags |= XB_PORT_TUNNEL;
	return flags;
}

/* A device that strips tags in hardware must stop, or tell the tag to the program. */
static int stop_stripping(struct ctl *c, struct ctl_port *p, const struct plan_port *pp)
{
	bool was_on = false;
	int err;

	if (!pp->receive || pp->is_virtual)
		return 0;
	err = guard_rxvlan_off(p->name, &was_on);
	/* At a second try it is off already; what it was at first counts. */
	p->rxvlan_was_on = p->rxvlan_was_on || was_on;
	if (err)
		port_failed(c, p, PATH_VLAN_ACCEL,
			    "the device strips VLAN tags and cannot be told not to "
			    "(ethtool -K DEV rxvlan off)");
	return err;
}

/* On a kernel that cannot tell a veth's accelerated tag, its VLANs would be lost in silence. */
static bool loses_tags(struct ctl *c, struct ctl_port *p, const struct plan_bridge *pb,
		       const struct plan_port *pp)
{
	struct dp_port_info info;

	if (!pp->receive || !pp->hides_tags || dp_port_info(c->dp, ctl_slot(c, p), &info))
		return false;
	if (!pb->attr.filtering && c->conf->unseen_tags == CONF_IGNORE)
		return false;
	return !info.recovers_tags;
}

static int port_open(struct ctl *c, struct ctl_port *p, const struct plan_bridge *pb,
		     const struct plan_port *pp)
{
	struct dp_port_config cfg = {
		.slot = ctl_slot(c, p),
		.ifindex = pp->ifindex,
		.mtu = pp->mtu,
		.receive = pp->receive,
		.recover_tags = pp->hides_tags,
		.standalone = pb->source == CONF_SOURCE_FILE,
		.mode = p->mode,
		/* Nothing comes in before it is known that no tag gets lost. */
		.rules = { .flags = port_rule_flags(pp) & ~(uint32_t)XB_PORT_USER,
			   .bridge = p->bridge },
	};
	enum path_reason reason = PATH_FAILED;
	const char *why = "";
	int err;

	p->is_receive_wanted = pp->receive;
	p->has_rules = false;
	err = ethdev_queues(pp->name, &cfg.n_rx_queues, &cfg.n_tx_queues);
	if (err) {
		port_failed(c, p, PATH_FAILED, "the interface has gone");
		return err;
	}
	p->n_queues = cfg.n_rx_queues;
	p->is_stale = false;
	if (cfg.n_rx_queues > XB_MAX_QUEUES && pp->receive) {
		port_failed(c, p, PATH_QUEUES, "it has more than 16 receive queues (ethtool -L)");
		return -E2BIG;
	}
	err = stop_stripping(c, p, pp);
	if (err)
		return err;
	memcpy(cfg.name, pp->name, sizeof(cfg.name));
	err = dp_port_open(c->dp, &cfg, &reason, &why);
	if (err) {
		port_failed(c, p, reason, why);
		return err;
	}
	p->is_open = true;
	p->is_receive = pp->receive;
	if (loses_tags(c, p, pb, pp)) {
		ports_close(c, p, false);
		port_failed(
			c, p, PATH_VLAN_ACCEL,
			"VLAN tags of this device cannot be seen (needs kernel 6.8; see unseen-tags)");
		return -EOPNOTSUPP;
	}
	p->egress_retry_ns = 0;
	/* An egress alone is no reason to believe that more would work. */
	if (!pp->receive)
		return 0;
	p->veto = p->reason = PATH_NONE;
	p->n_tries = 0;
	p->retry_ns = 0;
	p->note[0] = '\0';
	history_add(&c->history, LOG_LEVEL_INFO, "port %s of %s: user path", p->name, pb->name);
	return 0;
}

/* The next try makes a pair anew. */
static int bridge_failed(struct ctl *c, struct ctl_bridge *b, const char *what, int err)
{
	char note[CTL_NOTE_SIZE];

	snprintf(note, sizeof(note), "%s: %s", what, strerror(-err));
	ports_host_close(c, b);
	b->veto = PATH_FAILED;
	set_retry(c, &b->retry_ns, &b->n_tries);
	if (strcmp(b->note, note)) {
		memcpy(b->note, note, sizeof(b->note));
		history_add(&c->history, LOG_LEVEL_ERR, "bridge %s: %s", b->name, b->note);
	}
	return err;
}

static int host_open(struct ctl *c, struct ctl_bridge *b, const struct plan_bridge *pb)
{
	struct ctl_port *p = &c->port[b->host_slot];
	struct dp_port_config cfg = { .slot = b->host_slot,
				      .n_rx_queues = 1,
				      .n_tx_queues = 1,
				      .mtu = pb->mtu,
				      .mode = DP_MODE_COPY };
	enum path_reason reason;
	const char *why = "";
	int err;

	if (!b->host_slot)
		return 0;
	if (p->is_open && p->mtu != pb->mtu) {
		p->mtu = pb->mtu;
		(void)hostpair_set_mtu(b->ifindex, pb->mtu);
	}
	if (p->is_open)
		return 0;
	if (!b->h_ifindex) {
		err = hostpair_make(b->ifindex, pb->mtu, &b->h_ifindex, &b->q_ifindex);
		if (err)
			return bridge_failed(c, b, "cannot make the private veth pair", err);
	}
	err = dp_host_attach(c->dp, b->q_ifindex, b->ifindex, &why);
	if (err)
		return bridge_failed(c, b, why, err);
	cfg.ifindex = b->h_ifindex;
	snprintf(cfg.name, sizeof(cfg.name), "xbh%u", b->ifindex);
	cfg.rules.bridge = ctl_index(c, b);
	err = dp_port_open(c->dp, &cfg, &reason, &why);
	if (err)
		return bridge_failed(c, b, why, err);
	p->ifindex = b->h_ifindex;
	p->mtu = pb->mtu;
	p->is_open = true;
	b->veto = PATH_NONE;
	b->n_tries = 0;
	b->note[0] = '\0';
	return 0;
}

/* NULL is the empty set, and no other one is. */
static bool same_uppers(const uint64_t *a, const uint64_t *b)
{
	if (!a || !b)
		return a == b;
	return !memcmp(a, b, UPPERS_SIZE);
}

/* Says which VLANs of the port have devices. */
static int tell_uppers(struct ctl *c, const struct ctl_port *p, const uint64_t *set)
{
	uint16_t vid[VID_N];
	uint32_t n = 0;

	for (uint32_t i = 0; set && i < VID_N; i++) {
		if (bitset_test(set, i))
			vid[n++] = (uint16_t)i;
	}
	return dp_port_uppers_set(c->dp, ctl_slot(c, p), vid, n);
}

static int set_uppers(struct ctl *c, struct ctl_port *p, const struct plan_port *pp)
{
	uint64_t *set = NULL;
	int err = 0;

	if (!p->uppers_failed && same_uppers(pp->uppers, p->uppers))
		return 0;
	if (pp->uppers) {
		set = malloc(UPPERS_SIZE);
		if (!set)
			err = -ENOMEM;
		else
			memcpy(set, pp->uppers, UPPERS_SIZE);
	}
	if (!err)
		err = tell_uppers(c, p, set);
	p->uppers_failed = err != 0;
	if (!err) {
		free(p->uppers);
		p->uppers = set;
		return 0;
	}
	free(set);
	if (log_limit_ok(&c->limit_bad, "uppers", c->now_ns))
		history_add(&c->history, LOG_LEVEL_WARN,
			    "port %s: no room for its VLAN devices, left to the kernel: %s",
			    p->name, strerror(-err));
	return err;
}

/* A system call for each port and plan is saved where nothing has changed. */
static void set_rules(struct ctl *c, struct ctl_port *p, const struct xb_port_rules *r)
{
	if (p->has_rules && p->rules.flags == r->flags && p->rules.bridge == r->bridge)
		return;
	p->has_rules = !dp_port_rules_set(c->dp, ctl_slot(c, p), r);
	p->rules = *r;
}

/* Rules of an open port; opens it where it is wanted. True if every step worked. */
static bool open_port(struct ctl *c, struct ctl_bridge *b, const struct plan_bridge *pb,
		      const struct plan_port *pp)
{
	struct ctl_port *p = ctl_find_port(c, ctl_index(c, b), pp);
	struct xb_port_rules r = { .flags = port_rule_flags(pp), .bridge = ctl_index(c, b) };

	if (!pp->ifindex)
		return true;
	/* No slot was left for it: a flood would not reach it. */
	if (!p)
		return false;
	if (!p->is_open) {
		if (!pp->receive && p->egress_retry_ns > c->now_ns)
			return false;
		/* Opening takes its time, and a port that goes away meanwhile cannot wait. */
		ctl_alive(c);
		ctl_read_events(c);
		if (port_open(c, p, pb, pp)) {
			if (!pp->receive)
				p->egress_retry_ns = p->retry_ns;
			return false;
		}
	}
	/* What is for a VLAN device must not be forwarded past it. */
	if (set_uppers(c, p, pp))
		r.flags &= ~(uint32_t)XB_PORT_USER;
	set_rules(c, p, &r);
	return true;
}

/* A kernel's bridge needs the tables of the kernel, and not those of long ago. */
static bool may_forward(const struct ctl *c, const struct ctl_bridge *b)
{
	if (b->source == CONF_SOURCE_FILE)
		return true;
	return b->has_fdb && !(c->is_overdue && c->resync_wanted);
}

/* True if the plan has to be made again because a step failed. */
bool ports_open(struct ctl *c, struct plan_bridge *pb)
{
	struct ctl_bridge *b = ctl_planned_bridge(c, pb);
	bool ok = true;

	if (!b)
		return false;
	if (!pb->n_receive) {
		ports_bridge_rules(c, b, pb, false);
		ports_host_close(c, b);
		return false;
	}
	if (host_open(c, b, pb)) {
		ports_bridge_rules(c, b, pb, false);
		return true;
	}
	/* Every port is an egress: until all are open the kernel forwards. */
	for (uint32_t i = 0; i < pb->n_ports; i++)
		ok = open_port(c, b, pb, &pb->port[i]) && ok;
	if (b->host_slot && !c->port[b->host_slot].is_open)
		ok = false;
	if (!ok && pb->source == CONF_SOURCE_KERNEL) {
		ports_bridge_rules(c, b, pb, false);
		return true;
	}
	ports_bridge_rules(c, b, pb, may_forward(c, b));
	return !ok;
}
