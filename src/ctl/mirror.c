/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/mirror.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/rtmsg.h"
#include "util/bitset.h"

/* A namespace with more devices than this is not one that we serve in full. */
#define MIRROR_LINKS_MAX 65536

struct mirror *mirror_new(void)
{
	return calloc(1, sizeof(struct mirror));
}

static void link_free(struct mirror_link *l)
{
	free(l->vlans);
	free(l->away);
	free(l);
}

void mirror_free(struct mirror *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		link_free(m->link[i]);
	free(m->link);
	free(m);
}

/* Where @ifindex is, or would be. */
static uint32_t position(const struct mirror *m, uint32_t ifindex)
{
	uint32_t lo = 0, hi = m->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->link[mid]->info.ifindex < ifindex)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct mirror_link *mirror_find(const struct mirror *m, uint32_t ifindex)
{
	uint32_t i = position(m, ifindex);

	return i < m->n && m->link[i]->info.ifindex == ifindex ? m->link[i] : NULL;
}

struct mirror_link *mirror_find_name(const struct mirror *m, const char *name)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->link[i]->seen_device && !strcmp(m->link[i]->info.name, name))
			return m->link[i];
	}
	return NULL;
}

static struct mirror_link *link_make(struct mirror *m, uint32_t ifindex)
{
	uint32_t i = position(m, ifindex);
	struct mirror_link *l;

	if (i < m->n && m->link[i]->info.ifindex == ifindex)
		return m->link[i];
	if (m->n >= MIRROR_LINKS_MAX)
		return NULL;
	if (m->n == m->size) {
		uint32_t size = m->size ? m->size * 2 : 64;
		struct mirror_link **v = realloc(m->link, size * sizeof(*v));

		if (!v)
			return NULL;
		m->link = v;
		m->size = size;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->info.ifindex = ifindex;
	memmove(&m->link[i + 1], &m->link[i], (m->n - i) * sizeof(m->link[0]));
	m->link[i] = l;
	m->n++;
	return l;
}

/* A port that leaves is nobody's backup any more, and the kernel does not say so. */
static void forget_backup(struct mirror *m, uint32_t ifindex)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct brport_info *bp = &m->link[i]->info.brport;

		if (!(bp->present & BRPORT_HAS_BACKUP_PORT) || bp->backup_port != ifindex)
			continue;
		bp->present &= ~(uint32_t)BRPORT_HAS_BACKUP_PORT;
		bp->backup_port = 0;
	}
}

static bool link_remove(struct mirror *m, uint32_t ifindex)
{
	uint32_t i = position(m, ifindex);

	if (i >= m->n || m->link[i]->info.ifindex != ifindex)
		return false;
	forget_backup(m, ifindex);
	link_free(m->link[i]);
	m->n--;
	memmove(&m->link[i], &m->link[i + 1], (m->n - i) * sizeof(m->link[0]));
	return true;
}

static struct mirror_vlans *vlans_make(struct mirror_link *l)
{
	if (!l->vlans)
		l->vlans = calloc(1, sizeof(*l->vlans));
	return l->vlans;
}

static void vlan_clear(struct mirror_vlans *v, uint32_t vid)
{
	if (v->mv[vid] & MV_MEMBER)
		v->n--;
	if (v->opts[vid] & MIRROR_VLAN_SUPPRESS)
		v->n_suppress--;
	if (v->opts[vid] & MIRROR_VLAN_TUNNEL)
		v->n_tunnel--;
	v->mv[vid] = 0;
	v->opts[vid] = 0;
	if (v->pvid == vid)
		v->pvid = VID_NONE;
}

static void opt_set(struct mirror_vlans *v, uint32_t vid, uint8_t bit, bool on, uint32_t *n)
{
	if (on && !(v->opts[vid] & bit))
		++*n;
	else if (!on && (v->opts[vid] & bit))
		--*n;
	v->opts[vid] = (uint8_t)(on ? v->opts[vid] | bit : v->opts[vid] & ~bit);
}

/* A VLAN that is there keeps its state when a message does not tell one. */
static void vlan_put(struct mirror_vlans *v, uint32_t vid, const struct vlan_info *i)
{
	uint8_t state = v->mv[vid] & MV_MEMBER ? MV_STATE_OF(v->mv[vid]) : PORT_FORWARDING;
	uint8_t mv = v->mv[vid];

	if (i->present & VLAN_HAS_STATE)
		state = i->state;
	if (i->flags & VLAN_ONLY_OPTS) {
		if (!(mv & MV_MEMBER))
			return;
		mv &= MV_MEMBER | MV_UNTAGGED;
	} else {
		if (!(mv & MV_MEMBER))
			v->n++;
		mv = i->flags & VLAN_UNTAGGED ? MV_MEMBER | MV_UNTAGGED : MV_MEMBER;
		if (i->flags & VLAN_PVID)
			v->pvid = (uint16_t)vid;
		else if (v->pvid == vid)
			v->pvid = VID_NONE;
	}
	v->mv[vid] = (uint8_t)(mv | MV_STATE(state));
	if (i->present & VLAN_HAS_NEIGH_SUPPRESS)
		opt_set(v, vid, MIRROR_VLAN_SUPPRESS, i->neigh_suppress, &v->n_suppress);
	if (i->present & VLAN_HAS_TUNNEL)
		opt_set(v, vid, MIRROR_VLAN_TUNNEL, true, &v->n_tunnel);
}

struct vlan_walk {
	struct mirror_link *link;
	uint8_t listed[VID_N];
};

static int apply_vlan(void *arg, const struct vlan_info *i)
{
	struct vlan_walk *w = arg;
	struct mirror_vlans *v = w->link->vlans;

	if (i->source == VLAN_GLOBAL)
		return 0;
	for (uint32_t vid = i->vid_first; vid <= i->vid_last; vid++) {
		/* A bridge lists as its own only VLANs that it is a member of itself. */
		if (i->deleted)
			vlan_clear(v, vid);
		else
			vlan_put(v, vid, i);
		w->listed[vid] = 1;
	}
	return 0;
}

/* The link message has the whole list: what it does not name is gone. */
static int replace_vlans(struct mirror_link *l, const struct nlmsghdr *h, bool *changed)
{
	struct vlan_walk w = { .link = l };
	struct mirror_vlans *v = vlans_make(l), old;

	if (!v)
		return -ENOMEM;
	old = *v;
	rtmsg_link_vlans(h, apply_vlan, &w);
	for (uint32_t vid = 1; vid <= VID_MAX; vid++) {
		if (!w.listed[vid] && (v->mv[vid] & MV_MEMBER))
			vlan_clear(v, vid);
	}
	if (memcmp(&old, v, sizeof(old)))
		*changed = true;
	return 0;
}

static int apply_vlan_msg(struct mirror *m, const struct rtmsg_info *i, const struct nlmsghdr *h,
			  bool *changed)
{
	struct mirror_link *l = mirror_find(m, i->vlan.ifindex);
	struct vlan_walk w = { .link = l };
	struct mirror_vlans *v, old;

	if (!l)
		return 0;
	v = vlans_make(l);
	if (!v)
		return -ENOMEM;
	old = *v;
	rtmsg_vlans(h, apply_vlan, &w);
	if (memcmp(&old, v, sizeof(old)))
		*changed = true;
	return 0;
}

static void leave_bridge(struct mirror *m, struct mirror_link *l, bool *changed)
{
	if (l->bridge) {
		*changed = true;
		forget_backup(m, l->info.ifindex);
	}
	l->bridge = 0;
	free(l->vlans);
	l->vlans = NULL;
	l->info.present &= ~(uint32_t)LINK_HAS_BRPORT;
}

/*
 * When the default PVID changes, ports and the bridge leave the VLAN that it was
 * without a word (net/bridge/br_vlan.c tells of it only if that failed; 5.6 and
 * later, seen on 6.12).
 */
static bool has_left_default_pvid(const struct mirror_link *l, const struct link_info *i)
{
	return l->seen_device && (l->info.present & i->present & LINK_HAS_BRIDGE) &&
	       l->info.bridge.default_pvid != i->bridge.default_pvid;
}

/*
 * A bridge begins as a member of its default PVID, of which no message tells: the
 * device's first one knows of no VLANs (net/bridge/br_vlan.c,
 * br_vlan_bridge_event(); seen on 6.12 and 7.2). What was done to its VLANs
 * meanwhile is told later, or is in the dump that this message is of.
 */
static int begin_vlans(struct mirror_link *l, const struct link_info *i)
{
	const struct vlan_info first = { .flags = VLAN_PVID | VLAN_UNTAGGED };
	uint16_t pvid = i->bridge.default_pvid;

	if (!(i->bridge.present & BRIDGE_HAS_DEFAULT_PVID) || pvid == VID_NONE || l->vlans)
		return 0;
	if (!vlans_make(l))
		return -ENOMEM;
	vlan_put(l->vlans, pvid, &first);
	return 0;
}

int mirror_add_away(struct mirror *m, uint32_t lower, uint16_t vid, bool *changed)
{
	struct mirror_link *l = mirror_find(m, lower);

	if (!l)
		return 0;
	if (!l->away)
		l->away = calloc(bitset_words(VID_N), sizeof(*l->away));
	if (!l->away)
		return -ENOMEM;
	if (!bitset_test(l->away, vid))
		*changed = true;
	bitset_set(l->away, vid);
	return 0;
}

void mirror_keep_away(struct mirror *m, struct mirror *old)
{
	for (uint32_t i = 0; i < old->n; i++) {
		struct mirror_link *from = old->link[i];
		struct mirror_link *to = from->away ? mirror_find(m, from->info.ifindex) : NULL;

		if (!to || to->away)
			continue;
		to->away = from->away;
		from->away = NULL;
	}
}

/* A VLAN device that moves to another namespace still takes its VLAN from the port here. */
static int device_moves(struct mirror *m, const struct link_info *i, bool *changed)
{
	const uint32_t need = LINK_HAS_NEW_NETNS | LINK_HAS_VLAN | LINK_HAS_LOWER;

	if ((i->present & need) != need || (i->present & LINK_HAS_LOWER_NETNSID))
		return 0;
	return mirror_add_away(m, i->lower, i->vlan_id, changed);
}

static int apply_device(struct mirror *m, const struct link_info *i, bool *changed)
{
	struct mirror_link *l;
	uint32_t bridge;

	if (i->deleted) {
		if (device_moves(m, i, changed))
			return -ENOMEM;
		if (link_remove(m, i->ifindex))
			*changed = true;
		return 0;
	}
	l = link_make(m, i->ifindex);
	if (!l)
		return -ENOMEM;
	if (has_left_default_pvid(l, i))
		m->is_unsure = true;
	if (!l->seen_device && (i->present & LINK_HAS_BRIDGE) && begin_vlans(l, i))
		return -ENOMEM;
	bridge = i->present & LINK_HAS_BRPORT ? i->master : 0;
	if (bridge != l->bridge && l->seen_device)
		leave_bridge(m, l, changed);
	if (!l->seen_device || memcmp(&l->info, i, sizeof(*i)))
		*changed = true;
	l->info = *i;
	l->seen_device = true;
	l->bridge = bridge;
	return 0;
}

static int apply_port(struct mirror *m, const struct link_info *i, const struct nlmsghdr *h,
		      bool *changed)
{
	bool is_bridge = i->ifindex == i->master;
	struct mirror_link *l = mirror_find(m, i->ifindex);

	if (i->is_self)
		return 0;
	if (i->deleted) {
		if (l && !is_bridge)
			leave_bridge(m, l, changed);
		return 0;
	}
	if (!l) {
		l = link_make(m, i->ifindex);
		if (!l)
			return -ENOMEM;
		*changed = true;
	}
	if (!is_bridge) {
		if (l->bridge != i->master) {
			leave_bridge(m, l, changed);
			*changed = true;
		}
		l->bridge = i->master;
		l->info.master = i->master;
		if (i->present & LINK_HAS_BRPORT) {
			if (memcmp(&l->info.brport, &i->brport, sizeof(i->brport)))
				*changed = true;
			l->info.brport = i->brport;
			l->info.present |= LINK_HAS_BRPORT;
		}
	}
	return replace_vlans(l, h, changed);
}

int mirror_apply(struct mirror *m, const struct rtmsg_info *i, const struct nlmsghdr *h,
		 bool *changed)
{
	if (i->type == RTMSG_VLAN)
		return apply_vlan_msg(m, i, h, changed);
	if (i->type != RTMSG_LINK)
		return 0;
	if (i->link.family == LINK_FAMILY_BRIDGE)
		return apply_port(m, &i->link, h, changed);
	return apply_device(m, &i->link, changed);
}
