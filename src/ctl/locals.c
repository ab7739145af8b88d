/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/local.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "util/clock.h"

/* Links and VLANs that explain an entry are told within this time, or the kernel is asked. */
#define GRACE_NS (500 * NSEC_PER_MSEC)

#define PAUSE_MAX_NS (64 * NSEC_PER_SEC) /* between readings that do not help */

/* ---- addresses that the XDP programs pass ---- */

static uint32_t pass_position(const struct ctl *c, uint64_t key)
{
	uint32_t lo = 0, hi = c->n_locals;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->local[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * The program that passes frames for the host knows addresses without VLANs:
 * what it passes needlessly the kernel bridge forwards all the same.
 */
void locals_pass_add(struct ctl *c, uint16_t bridge, const struct mac *mac)
{
	uint64_t key = (uint64_t)bridge << 48 | mac_to_u64(mac);
	uint32_t i = pass_position(c, key);

	if (i < c->n_locals && c->local[i].key == key) {
		c->local[i].n++;
		return;
	}
	if (c->n_locals == c->local_size) {
		uint32_t size = c->local_size ? c->local_size * 2 : 64;
		struct ctl_local *v = realloc(c->local, size * sizeof(*v));

		if (!v)
			return; /* then workers deliver to the host instead */
		c->local = v;
		c->local_size = size;
	}
	memmove(&c->local[i + 1], &c->local[i], (c->n_locals - i) * sizeof(c->local[0]));
	c->local[i] = (struct ctl_local){ .key = key, .n = 1 };
	c->n_locals++;
	if (dp_local_add(c->dp, bridge, mac))
		history_add(&c->history, LOG_LEVEL_WARN,
			    "bridge %s: no room for another address of the host",
			    c->bridge[bridge].name);
}

void locals_pass_del(struct ctl *c, uint16_t bridge, const struct mac *mac)
{
	uint64_t key = (uint64_t)bridge << 48 | mac_to_u64(mac);
	uint32_t i = pass_position(c, key);

	if (i >= c->n_locals || c->local[i].key != key || --c->local[i].n)
		return;
	c->n_locals--;
	memmove(&c->local[i], &c->local[i + 1], (c->n_locals - i) * sizeof(c->local[0]));
	dp_local_del(c->dp, bridge, mac);
}

/* ---- devices ---- */

void locals_set_device(struct ctl *c, struct ctl_port *p, const struct mac *mac)
{
	if (mac_equal(&p->local, mac))
		return;
	if (local_set_owner(c->bridge[p->bridge].local, ctl_slot(c, p), mac))
		return; /* the next plan tries again */
	/* The new one first: it may be in use already, and both may be one device's. */
	if (!mac_is_zero(mac))
		locals_pass_add(c, p->bridge, mac);
	if (!mac_is_zero(&p->local))
		locals_pass_del(c, p->bridge, &p->local);
	p->local = *mac;
}

void locals_forget(struct ctl *c, uint16_t bridge)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_locals; i++) {
		if (c->local[i].key >> 48 == bridge) {
			struct mac mac = mac_from_u64(c->local[i].key & 0xffffffffffffULL);

			dp_local_del(c->dp, bridge, &mac);
		} else {
			c->local[n++] = c->local[i];
		}
	}
	c->n_locals = n;
	local_free(c->bridge[bridge].local);
	c->bridge[bridge].local = NULL;
}

/* ---- what the kernel's table has and devices do not explain ---- */

struct settling {
	struct ctl *c;
	struct ctl_bridge *b;
	struct neigh_info answer; /* the last one that was there: what is to be stored */
};

static void store(void *arg, uint64_t key, uint16_t slot)
{
	struct settling *s = arg;

	(void)key;
	if (s->c->port[slot].is_used)
		fdbsync_store_local(s->c, s->b, &s->answer, slot);
}

static void drop(void *arg, uint64_t key)
{
	struct settling *s = arg;

	fdbsync_drop_local(s->c, s->b, key);
}

struct answer {
	struct settling *s;
	uint16_t vid;
	uint16_t slot;
	bool is_there;
};

static int take_answer(void *arg, const struct rtmsg_info *i, const struct nlmsghdr *h)
{
	struct answer *a = arg;
	struct ctl_bridge *b;
	uint16_t slot;

	(void)h;
	/* With fdb_local_vlan_0 the kernel may answer with the entry of VLAN 0. */
	if (i->type != RTMSG_NEIGH || i->neigh.vid != a->vid ||
	    !(i->neigh.state & NEIGH_STATE_PERMANENT) ||
	    !fdbsync_find(a->s->c, &i->neigh, &b, &slot) || b != a->s->b)
		return 0;
	a->s->answer = i->neigh;
	a->is_there = true;
	a->slot = slot;
	return 0;
}

static int ask(void *arg, uint64_t key, uint16_t *slot)
{
	struct settling *s = arg;
	struct answer a = { .s = s, .vid = (uint16_t)(key >> 48) };
	struct mac mac = mac_from_u64(key & 0xffffffffffffULL);
	int err;

	/* Others may hold the lock that the answer needs. */
	ctl_alive(s->c);
	err = rtsock_neigh(s->c->rt, s->b->ifindex, a.vid, &mac, take_answer, &a);
	if (err)
		return err == -ENOENT ? 0 : err;
	*slot = a.slot;
	return a.is_there;
}

/* Reading does not help while as much contradicts: less and less often, then. */
static void read_later(struct ctl *c, const struct ctl_bridge *b)
{
	if (c->now_ns - c->locals_missed_ns > 4 * PAUSE_MAX_NS)
		c->locals_pause_ns = 0;
	c->locals_missed_ns = c->now_ns;
	c->locals_pause_ns = c->locals_pause_ns ? 2 * c->locals_pause_ns : NSEC_PER_SEC;
	if (c->locals_pause_ns > PAUSE_MAX_NS)
		c->locals_pause_ns = PAUSE_MAX_NS;
	fdbsync_again(c, c->locals_pause_ns);
	if (log_limit_ok(&c->limit_locals, "locals", c->now_ns))
		history_add(
			&c->history, LOG_LEVEL_WARN,
			"bridge %s: the kernel lacks more addresses of the host than can be kept: "
			"frames for them are the host's",
			b->name);
}

static void settle(struct ctl *c, uint64_t grace_ns)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		struct settling s = { .c = c, .b = &c->bridge[i] };
		const struct local_ops ops = {
			.store = store, .drop = drop, .ask = ask, .arg = &s
		};
		unsigned int rest;

		if (!s.b->is_used || s.b->source != CONF_SOURCE_KERNEL)
			continue;
		rest = local_settle(s.b->local, c->model, c->now_ns, grace_ns, &ops);
		if (rest & LOCAL_CHANGED)
			c->plan_wanted = true;
		if (rest & LOCAL_MISSED)
			read_later(c, s.b);
	}
}

static bool do_wait(const struct ctl *c)
{
	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		const struct ctl_bridge *b = &c->bridge[i];

		if (b->is_used && b->local && local_waits(b->local))
			return true;
	}
	return false;
}

void locals_settle(struct ctl *c, bool model_is_new)
{
	if (model_is_new || do_wait(c))
		settle(c, GRACE_NS);
}

void locals_settle_now(struct ctl *c)
{
	if (!c->plan_wanted)
		settle(c, 0);
}
