/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `port` and `vlan`: ports as `bridge link` and `bridge vlan` show them, and more. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "ctl/show_priv.h"

#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP 0x10000
#endif

struct name_of_bit {
	uint32_t bit;
	const char *name;
};
#define N_ELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The names are iproute2's, in its order. */
static const struct name_of_bit link_flags[] = {
	{ IFF_LOOPBACK, "LOOPBACK" },
	{ IFF_BROADCAST, "BROADCAST" },
	{ IFF_MULTICAST, "MULTICAST" },
	{ IFF_NOARP, "NOARP" },
	{ IFF_ALLMULTI, "ALLMULTI" },
	{ IFF_PROMISC, "PROMISC" },
	{ IFF_UP, "UP" },
	{ IFF_LOWER_UP, "LOWER_UP" },
};

static const struct name_of_bit model_options[] = {
	{ MP_HAIRPIN, "hairpin" },         { MP_LEARNING, "learning" },
	{ MP_UNICAST_FLOOD, "flood" },     { MP_MCAST_FLOOD, "mcast_flood" },
	{ MP_BCAST_FLOOD, "bcast_flood" }, { MP_ISOLATED, "isolated" },
};

static const struct name_of_bit kernel_options[] = {
	{ BRPORT_GUARD, "guard" },
	{ BRPORT_ROOT_BLOCK, "root_block" },
	{ BRPORT_FAST_LEAVE, "fastleave" },
	{ BRPORT_MCAST_TO_UCAST, "mcast_to_unicast" },
	{ BRPORT_NEIGH_SUPPRESS, "neigh_suppress" },
	{ BRPORT_NEIGH_VLAN_SUPPRESS, "neigh_vlan_suppress" },
	{ BRPORT_VLAN_TUNNEL, "vlan_tunnel" },
	{ BRPORT_PROXYARP, "proxy_arp" },
	{ BRPORT_PROXYARP_WIFI, "proxy_arp_wifi" },
	{ BRPORT_LOCKED, "locked" },
	{ BRPORT_MAB, "mab" },
};

static void set_options(struct show *s, json_t *o, const struct name_of_bit *v, size_t n,
			uint32_t flags, uint32_t known)
{
	for (size_t i = 0; i < n; i++) {
		if (known & v[i].bit)
			show_set(s, o, v[i].name, json_boolean(flags & v[i].bit));
	}
}

/* Of the options that do so, the name of the first that the port has on. */
static const char *neigh_option(const struct brport_info *bp)
{
	const uint32_t bits = BRPORT_NEIGH_SUPPRESS | BRPORT_NEIGH_VLAN_SUPPRESS | BRPORT_PROXYARP |
			      BRPORT_PROXYARP_WIFI;

	for (size_t i = 0; i < N_ELEM(kernel_options); i++) {
		if (bits & bp->flags & kernel_options[i].bit)
			return kernel_options[i].name;
	}
	return "such an option";
}

json_t *show_neigh(struct show *s, const struct ctl_bridge *b)
{
	const struct mirror_link *l = b->neigh ? mirror_find(s->c->mirror, b->neigh) : NULL;
	json_t *o = json_object();
	char text[CTL_NOTE_SIZE] = "";

	if (l)
		snprintf(text, sizeof(text), "ARP and ND of the whole bridge, %s has %s on",
			 l->info.name, neigh_option(&l->info.brport));
	show_set(s, o, "path", json_string(!b->neigh && b->is_open ? "user" : "kernel"));
	show_set(s, o, "reason", json_string(b->neigh ? "neigh" : "none"));
	show_set(s, o, "reason_text", show_string(text));
	if (l)
		show_set(s, o, "ifname", show_string(l->info.name));
	return o;
}

static json_t *flag_list(struct show *s, uint32_t flags)
{
	json_t *list = json_array();

	if ((flags & IFF_UP) && !(flags & IFF_RUNNING))
		show_append(s, list, json_string("NO-CARRIER"));
	for (size_t i = 0; i < N_ELEM(link_flags); i++) {
		if (flags & link_flags[i].bit)
			show_append(s, list, json_string(link_flags[i].name));
	}
	return list;
}

static const char *mode_name(const struct ctl_port *p, const struct dp_port_info *info)
{
	if (!p->is_open)
		return "none";
	if (!info->receive)
		return "tx-only";
	return info->zero_copy ? "zero-copy" : "copy";
}

/* What xbridged does with the port. */
static void set_data_plane(struct show *s, json_t *o, uint16_t slot)
{
	const struct ctl_port *p = &s->c->port[slot];
	enum path_reason reason = show_port_reason(s->c, p);
	const char *note = p->note[0] ? p->note : s->c->bridge[p->bridge].note;
	struct dp_port_info info = { 0 };

	if (p->is_open && dp_port_info(s->c->dp, slot, &info))
		info = (struct dp_port_info){ 0 };
	show_path(s, o, reason == PATH_NONE ? "user" : "kernel", reason);
	show_set(s, o, "note", show_string(note[0] ? note : info.note));
	show_set(s, o, "mode", json_string(mode_name(p, &info)));
	show_set_count(s, o, "queues", info.n_queues);
	show_set_count(s, o, "xdp_prog_id", info.prog_id);
	show_set(s, o, "recovers_tags", json_boolean(info.recovers_tags));
	show_set(s, o, "virtual", json_boolean(p->is_virtual));
}

static void set_summary(struct show *s, json_t *o, uint16_t slot)
{
	struct dp_port_counters n;
	json_t *sums = json_object();
	uint64_t passed = 0, dropped;

	show_counters(s->c, slot, &n);
	dropped = n.dropped_standalone;
	for (uint32_t i = PUNT_NONE + 1; i < PUNT_N; i++)
		passed += n.punt[i];
	for (uint32_t i = DROP_NONE + 1; i < DROP_N; i++)
		dropped += n.user.drop[i];
	show_set_count(s, sums, "rx_frames", n.user.rx_frames);
	show_set_count(s, sums, "tx_frames", n.user.tx_frames);
	show_set_count(s, sums, "redirected", n.redirected);
	show_set_count(s, sums, "passed", passed);
	show_set_count(s, sums, "dropped", dropped);
	show_set(s, o, "counters", sums);
}

static void set_backup(struct show *s, json_t *o, const struct mirror_link *l)
{
	const struct mirror_link *to;

	if (!l || !l->bridge || !(l->info.brport.present & BRPORT_HAS_BACKUP_PORT))
		return;
	to = mirror_find(s->c->mirror, l->info.brport.backup_port);
	show_set(s, o, "backup_port", show_string(to ? to->info.name : ""));
}

bool show_port_unit(struct show *s)
{
	uint16_t slot = show_next_port(s, false);
	const struct ctl_port *p = &s->c->port[slot];
	const struct mirror_link *l;
	const struct model_port *m;
	json_t *o;

	if (!slot) {
		show_text(s, s->n ? "]" : "[]");
		return false;
	}
	if (!s->n)
		show_text(s, "[");
	l = mirror_find(s->c->mirror, p->ifindex);
	m = s->c->model->port[slot];
	o = json_object();
	show_set_count(s, o, "ifindex", p->ifindex);
	show_set(s, o, "ifname", show_string(p->name));
	show_set(s, o, "flags", flag_list(s, l ? l->info.flags : 0));
	show_set_count(s, o, "mtu", p->mtu);
	show_set(s, o, "master", show_string(s->c->bridge[p->bridge].name));
	if (m) {
		show_set(s, o, "state", json_string(show_state_name(m->a.state)));
		set_options(s, o, model_options, N_ELEM(model_options), m->a.flags, UINT32_MAX);
	}
	if (l && l->bridge)
		set_options(s, o, kernel_options, N_ELEM(kernel_options), l->info.brport.flags,
			    l->info.brport.present);
	set_backup(s, o, l);
	show_set(s, o, "multicast", show_multicast(s, &s->c->bridge[p->bridge]));
	show_set(s, o, "neigh", show_neigh(s, &s->c->bridge[p->bridge]));
	set_data_plane(s, o, slot);
	set_summary(s, o, slot);
	show_item(s, o);
	return true;
}

/* ---- VLANs ---- */

static json_t *vlan_range(struct show *s, const struct model_port_attr *a, uint32_t first,
			  uint32_t last)
{
	json_t *o = json_object(), *flags = json_array();

	show_set_count(s, o, "vlan", first);
	if (last > first)
		show_set_count(s, o, "vlanEnd", last);
	if (first == a->pvid)
		show_append(s, flags, json_string("PVID"));
	if (a->vlan[first] & MV_UNTAGGED)
		show_append(s, flags, json_string("Egress Untagged"));
	show_set(s, o, "flags", flags);
	show_set(s, o, "state", json_string(show_state_name(MV_STATE_OF(a->vlan[first]))));
	return o;
}

static json_t *vlan_list(struct show *s, const struct model_port_attr *a)
{
	json_t *list = json_array();
	uint32_t vid = 1, last;

	while (vid <= VID_MAX) {
		if (!(a->vlan[vid] & MV_MEMBER)) {
			vid++;
			continue;
		}
		last = vid;
		while (vid != a->pvid && last < VID_MAX && last + 1 != a->pvid &&
		       a->vlan[last + 1] == a->vlan[vid])
			last++;
		show_append(s, list, vlan_range(s, a, vid, last));
		vid = last + 1;
	}
	return list;
}

bool show_vlan_unit(struct show *s)
{
	uint16_t slot = show_next_port(s, true);
	const struct model_port *m = s->c->model->port[slot];

	if (!slot) {
		show_text(s, s->n ? "]" : "[]");
		return false;
	}
	if (!m)
		return true;
	if (!s->n)
		show_text(s, "[");
	show_item(s, json_pack("{s:o, s:o}", "ifname", show_string(s->c->port[slot].name), "vlans",
			       vlan_list(s, &m->a)));
	return true;
}
