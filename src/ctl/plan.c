/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include "util/bitset.h"

/* What the XDP program needs in front of a frame, and header plus two tags. */
#define XDP_HEADROOM 256
#define HEADER_MAX   (14 + 4 + 4)

/* Above this many VLANs of its ports, a bridge that does not filter cannot be learned for. */
#define LEARN_VLANS_MAX 16

uint32_t plan_max_mtu(uint32_t frame_size)
{
	return frame_size - XDP_HEADROOM - HEADER_MAX;
}

static bool in_list(const char *kind, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(kind, *list))
			return true;
	}
	return false;
}

static bool is_virtual_kind(const char *kind)
{
	static const char *const list[] = { "veth", "tun", NULL };

	return in_list(kind, list);
}

/* Their frames carry metadata that a copy of the bytes would lose. */
static bool is_tunnel_kind(const char *kind)
{
	static const char *const list[] = { "vxlan",     "geneve",  "gretap", "ip6gretap", "erspan",
					    "ip6erspan", "bareudp", "batadv", "l2tpeth",   NULL };

	return in_list(kind, list);
}

/* A device without a kind is a real one: judged by its driver when it is tried. */
static bool is_unsupported_kind(const char *kind)
{
	return kind[0] && !is_virtual_kind(kind) && !is_tunnel_kind(kind);
}

static enum path_reason port_veto(const struct plan_input *in, uint32_t ifindex)
{
	return in->port_veto ? in->port_veto(in->veto_arg, ifindex) : PATH_NONE;
}

/* ---- a port ---- */

static bool state_learns(uint8_t state)
{
	return state == PORT_LEARNING || state == PORT_FORWARDING;
}

/*
 * With multiple spanning trees frames go by the state of their VLAN's instance
 * alone, but the kernel takes no station for a port whose own state, that of the
 * common tree, does not learn (net/bridge/br_fdb.c, __br_fdb_add() and
 * fdb_add_entry(); seen on 6.12 and 7.2). It must hear the frames itself.
 */
static bool learns_in_vlans_alone(const struct plan_bridge *b, const struct mirror_link *l)
{
	const struct brport_info *bp = &l->info.brport;

	if (!b->attr.mst || !b->attr.learning || !(bp->flags & BRPORT_LEARNING) ||
	    state_learns(bp->state) || !l->vlans)
		return false;
	for (uint32_t vid = 1; vid <= VID_MAX; vid++) {
		if ((l->vlans->mv[vid] & MV_MEMBER) && state_learns(MV_STATE_OF(l->vlans->mv[vid])))
			return true;
	}
	return false;
}

static enum path_reason port_reason(const struct plan_input *in, const struct plan_bridge *b,
				    const struct mirror_link *l, const struct plan_port *p)
{
	enum conf_engine engine = conf_port_engine(in->conf, b->name, p->name);
	const struct brport_info *bp = &l->info.brport;

	if (!conf_port_is_selected(in->conf, b->name, p->name))
		return PATH_EXCLUDED;
	if (engine == CONF_ENGINE_KERNEL)
		return PATH_CONFIGURED;
	if (is_unsupported_kind(l->info.kind))
		return PATH_UNSUPPORTED;
	if (p->is_virtual && engine != CONF_ENGINE_USER &&
	    !conf_port_accelerate_virtual(in->conf, b->name, p->name))
		return PATH_VIRTUAL;
	if (p->mtu > plan_max_mtu(in->frame_size))
		return PATH_MTU;
	if (bp->flags & (BRPORT_LOCKED | BRPORT_MAB))
		return PATH_LOCKED;
	if (p->is_tunnel)
		return PATH_VLAN_TUNNEL;
	if (!(p->attr.flags & MP_DOWN) && learns_in_vlans_alone(b, l))
		return PATH_MST;
	return port_veto(in, p->ifindex);
}

static uint16_t port_flags(const struct mirror_link *l, bool is_virtual)
{
	static const struct {
		uint32_t from;
		uint16_t to;
	} map[] = {
		{ BRPORT_HAIRPIN, MP_HAIRPIN },
		{ BRPORT_LEARNING, MP_LEARNING },
		{ BRPORT_UNICAST_FLOOD, MP_UNICAST_FLOOD },
		{ BRPORT_MCAST_FLOOD, MP_MCAST_FLOOD },
		{ BRPORT_BCAST_FLOOD, MP_BCAST_FLOOD },
		{ BRPORT_PROXYARP, MP_PROXYARP },
		{ BRPORT_ISOLATED, MP_ISOLATED },
	};
	uint16_t flags = is_virtual ? MP_CSUM : 0;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		if (l->info.brport.flags & map[i].from)
			flags |= map[i].to;
	}
	return flags;
}

static uint64_t *uppers_make(struct plan_port *p)
{
	if (!p->uppers)
		p->uppers = calloc(bitset_words(VID_N), sizeof(*p->uppers));
	return p->uppers;
}

static int port_uppers(const struct mirror *m, const struct mirror_link *l, struct plan_port *p)
{
	if (l->away) {
		if (!uppers_make(p))
			return -ENOMEM;
		memcpy(p->uppers, l->away, bitset_words(VID_N) * sizeof(*p->uppers));
	}
	for (uint32_t i = 0; i < m->n; i++) {
		const struct link_info *u = &m->link[i]->info;

		if (!(u->present & LINK_HAS_VLAN) || u->lower != p->ifindex ||
		    (u->present & LINK_HAS_LOWER_NETNSID))
			continue;
		if (!uppers_make(p))
			return -ENOMEM;
		bitset_set(p->uppers, u->vlan_id);
	}
	return 0;
}

static void set_vlans(struct model_port_attr *a, const struct mirror_vlans *v)
{
	if (!v)
		return;
	memcpy(a->vlan, v->mv, sizeof(a->vlan));
	a->pvid = v->pvid;
}

static void set_link(struct plan_port *p, const struct mirror_link *l)
{
	p->ifindex = l->info.ifindex;
	memcpy(p->name, l->info.name, sizeof(p->name));
	p->mac = l->info.mac;
	p->mtu = l->info.mtu;
	p->n_rx_queues = l->info.num_rx_queues ? l->info.num_rx_queues : 1;
	p->is_virtual = is_virtual_kind(l->info.kind);
	p->hides_tags = !strcmp(l->info.kind, "veth");
}

static int kernel_port(const struct plan_input *in, struct plan_bridge *b,
		       const struct mirror_link *l)
{
	struct plan_port *p = &b->port[b->n_ports++];
	const struct brport_info *bp = &l->info.brport;

	set_link(p, l);
	p->is_locked = bp->flags & BRPORT_LOCKED;
	p->is_tunnel = (bp->flags & BRPORT_VLAN_TUNNEL) && l->vlans && l->vlans->n_tunnel;
	p->mode = conf_port_mode(in->conf, b->name, p->name);
	p->backup = bp->present & BRPORT_HAS_BACKUP_PORT ? bp->backup_port : 0;
	p->attr.flags = port_flags(l, p->is_virtual);
	if (!(l->info.flags & IFF_UP) || !l->info.carrier)
		p->attr.flags |= MP_DOWN;
	p->attr.state = bp->state;
	p->attr.mtu = p->mtu;
	set_vlans(&p->attr, l->vlans);
	p->reason = port_reason(in, b, l, p);
	return port_uppers(in->mirror, l, p);
}

/* ---- what a port does to its whole bridge ---- */

static enum path_reason bridge_reason_of_port(const struct mirror_link *l)
{
	const struct brport_info *bp = &l->info.brport;

	if (l->info.present & LINK_HAS_SWITCH_ID)
		return PATH_SWITCHDEV;
	if (is_tunnel_kind(l->info.kind))
		return PATH_TUNNEL_DEVICE;
	/* What is for it may leave with a tunnel's metadata. */
	if ((bp->present & BRPORT_HAS_BACKUP_NHID) && bp->backup_nhid)
		return PATH_BACKUP_NHID;
	return PATH_NONE;
}

static bool port_wants_neigh(const struct mirror_link *l)
{
	if (l->info.brport.flags & (BRPORT_PROXYARP | BRPORT_PROXYARP_WIFI | BRPORT_NEIGH_SUPPRESS))
		return true;
	return (l->info.brport.flags & BRPORT_NEIGH_VLAN_SUPPRESS) && l->vlans &&
	       l->vlans->n_suppress;
}

static enum path_reason bridge_reason(const struct plan_input *in, const struct mirror_link *br,
				      const struct conf_bridge *cb)
{
	const struct bridge_info *bi = &br->info.bridge;

	if (cb && cb->engine == CONF_ENGINE_KERNEL)
		return PATH_CONFIGURED;
	if (bi->fdb_max_learned)
		return PATH_FDB_LIMIT;
	if ((bi->boolopt & BRIDGE_OPT_MST) && in->conf->mst == CONF_MST_KERNEL)
		return PATH_MST;
	if ((bi->flags &
	     (BRIDGE_NF_CALL_IPTABLES | BRIDGE_NF_CALL_IP6TABLES | BRIDGE_NF_CALL_ARPTABLES)) &&
	    in->conf->netfilter == CONF_REFUSE)
		return PATH_NETFILTER;
	return in->bridge_veto ? in->bridge_veto(in->veto_arg, br->info.ifindex) : PATH_NONE;
}

static void bridge_attr(struct plan_bridge *b, const struct mirror_link *br)
{
	const struct bridge_info *bi = &br->info.bridge;

	b->ifindex = br->info.ifindex;
	b->mac = br->info.mac;
	b->mtu = br->info.mtu;
	b->is_up = br->info.flags & IFF_UP;
	b->snooping = bi->flags & BRIDGE_MCAST_SNOOPING;
	b->vlan_snooping = bi->boolopt & BRIDGE_OPT_MCAST_VLAN_SNOOPING;
	b->routers_hidden = !bi->mcast_router;
	b->attr.snooping = b->snooping;
	b->attr.igmp_v3 = bi->igmp_version == 3;
	b->attr.mld_v2 = bi->mld_version == 2;
	b->attr.allmulti = br->info.allmulti > 0 || (br->info.flags & IFF_ALLMULTI);
	/* Even with an ageing time that is shorter, or 0 (net/bridge/br_fdb.c, hold_time()). */
	b->hold_ns = bi->flags & BRIDGE_TOPOLOGY_CHANGE ? bi->forward_delay_ns : bi->ageing_time_ns;
	b->attr.filtering = bi->flags & BRIDGE_VLAN_FILTERING;
	b->attr.tpid = bi->vlan_protocol == 0x88a8 ? 0x88a8 : 0x8100;
	b->attr.local_vlan_0 = bi->boolopt & BRIDGE_OPT_FDB_LOCAL_VLAN_0;
	b->attr.mst = bi->boolopt & BRIDGE_OPT_MST;
	b->attr.learning = b->hold_ns != 0;
	b->attr.promisc = br->info.promiscuity > 0 || (br->info.flags & IFF_PROMISC);
	b->host.flags = MP_HOST;
	b->host.state = b->is_up ? PORT_FORWARDING : PORT_DISABLED;
	b->host.mtu = b->mtu;
	set_vlans(&b->host, br->vlans);
}

static uint32_t count_ports(const struct mirror *m, uint32_t bridge)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n; i++)
		n += m->link[i]->seen_device && m->link[i]->bridge == bridge;
	return n;
}

/*
 * A notification of a write for a station has no VLAN on a bridge that does not
 * filter; the kernel then makes an entry in each VLAN of the port as well, and
 * these have to be deleted again (net/bridge/br_fdb.c, br_fdb_add()).
 */
static bool has_too_many_vlans(const struct plan_bridge *b, const struct mirror_link *l)
{
	return !b->attr.filtering && l->vlans && l->vlans->n > LEARN_VLANS_MAX;
}

static void finish_bridge(struct plan_bridge *b)
{
	for (uint32_t i = 0; i < b->n_ports; i++) {
		struct plan_port *p = &b->port[i];

		p->receive = b->reason == PATH_NONE && p->reason == PATH_NONE && p->ifindex;
		b->n_receive += p->receive;
	}
}

static int kernel_bridge(const struct plan_input *in, struct plan_bridge *b,
			 const struct mirror_link *br)
{
	const struct mirror *m = in->mirror;
	uint32_t n = count_ports(m, br->info.ifindex);
	int err;

	b->source = CONF_SOURCE_KERNEL;
	b->fdb_max = conf_bridge_fdb_max(in->conf, b->name);
	bridge_attr(b, br);
	b->reason = bridge_reason(in, br, b->conf);
	if (n >= XB_MAX_PORTS && b->reason == PATH_NONE)
		b->reason = PATH_LIMIT;

	b->port = calloc(n ? n : 1, sizeof(*b->port));
	if (!b->port)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct mirror_link *l = m->link[i];
		enum path_reason reason;

		if (!l->seen_device || l->bridge != br->info.ifindex)
			continue;
		err = kernel_port(in, b, l);
		if (err)
			return err;
		reason = bridge_reason_of_port(l);
		if (reason == PATH_NONE && has_too_many_vlans(b, l))
			reason = PATH_LEARN_VLANS;
		if (b->reason == PATH_NONE)
			b->reason = reason;
		if (!b->neigh && port_wants_neigh(l))
			b->neigh = l->info.ifindex;
		if (l->info.brport.flags & BRPORT_MCAST_TO_UCAST)
			b->to_unicast = l->info.ifindex;
	}
	finish_bridge(b);
	return 0;
}

/* ---- a bridge of the configuration file ---- */

static void file_port_attr(struct model_port_attr *a, const struct conf_bridge *cb,
			   const struct conf_port *cp, bool up)
{
	a->state = up ? PORT_FORWARDING : PORT_DISABLED;
	a->flags =
		(uint16_t)((cp->learning ? MP_LEARNING : 0) | (cp->flood ? MP_UNICAST_FLOOD : 0) |
			   (cp->mcast_flood ? MP_MCAST_FLOOD : 0) |
			   (cp->bcast_flood ? MP_BCAST_FLOOD : 0) |
			   (cp->isolated ? MP_ISOLATED : 0) | (cp->hairpin ? MP_HAIRPIN : 0));
	if (!cb->vlan_filtering)
		return;
	a->pvid = (uint16_t)cp->pvid;
	for (uint32_t vid = 1; vid <= VID_MAX; vid++) {
		if (conf_vlans_has(&cp->untagged, vid))
			a->vlan[vid] = MV_MEMBER | MV_UNTAGGED | MV_STATE(PORT_FORWARDING);
		else if (conf_vlans_has(&cp->tagged, vid))
			a->vlan[vid] = MV_MEMBER | MV_STATE(PORT_FORWARDING);
	}
}

static enum path_reason file_port_reason(const struct plan_input *in, const struct mirror_link *l,
					 const struct plan_port *p)
{
	if (!l)
		return PATH_WAITING;
	if (l->bridge)
		return PATH_CONFLICT;
	if (is_unsupported_kind(l->info.kind) || l->info.master)
		return PATH_UNSUPPORTED;
	if (is_tunnel_kind(l->info.kind))
		return PATH_TUNNEL_DEVICE;
	if (l->info.present & LINK_HAS_SWITCH_ID)
		return PATH_SWITCHDEV;
	if (p->mtu > plan_max_mtu(in->frame_size))
		return PATH_MTU;
	return port_veto(in, p->ifindex);
}

/* What must not even be sent to: somebody else forwards there, or the host lives there. */
static bool is_refused(enum path_reason reason)
{
	return reason == PATH_CONFLICT || reason == PATH_HAS_ADDRESS || reason == PATH_SWITCHDEV ||
	       reason == PATH_TUNNEL_DEVICE;
}

static void file_port(const struct plan_input *in, const struct conf_bridge *cb,
		      const struct conf_port *cp, struct plan_port *p)
{
	const struct mirror_link *l = mirror_find_name(in->mirror, cp->name);
	bool up = false;

	memcpy(p->name, cp->name, sizeof(p->name));
	if (l) {
		set_link(p, l);
		up = (l->info.flags & IFF_UP) && l->info.carrier;
	}
	p->mode = conf_port_mode(in->conf, cb->name, p->name);
	p->reason = file_port_reason(in, l, p);
	/* As if it were not there. */
	if (is_refused(p->reason)) {
		p->ifindex = 0;
		up = false;
	}
	file_port_attr(&p->attr, cb, cp, up);
	if (p->is_virtual)
		p->attr.flags |= MP_CSUM;
	p->attr.mtu = p->mtu;
}

static int file_bridge(const struct plan_input *in, struct plan_bridge *b)
{
	const struct conf_bridge *cb = b->conf;

	b->source = CONF_SOURCE_FILE;
	b->fdb_max = conf_bridge_fdb_max(in->conf, b->name);
	b->is_up = true;
	b->hold_ns = (uint64_t)cb->ageing_time_s * 1000000000ULL;
	b->attr.filtering = cb->vlan_filtering;
	b->attr.tpid = cb->vlan_protocol == 0x88a8 ? 0x88a8 : 0x8100;
	b->attr.learning = cb->ageing_time_s != 0;
	b->attr.standalone = true;
	b->port = calloc(cb->n_ports ? cb->n_ports : 1, sizeof(*b->port));
	if (!b->port)
		return -ENOMEM;
	for (uint32_t i = 0; i < cb->n_ports; i++)
		file_port(in, cb, &cb->port[i], &b->port[b->n_ports++]);
	finish_bridge(b);
	return 0;
}

/* ---- all of them ---- */

/* A bridge that the file names without a wildcard, and that is not there, is waited for. */
static bool is_named(const struct conf *c, const char *name)
{
	for (uint32_t i = 0; i < c->bridges.n; i++) {
		if (!strcmp(c->bridges.v[i], name))
			return true;
	}
	return conf_bridge_find(c, name) != NULL;
}

static bool has_bridge(const struct plan *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_bridges; i++) {
		if (!strcmp(p->bridge[i].name, name))
			return true;
	}
	return false;
}

static struct plan_bridge *add_bridge(struct plan *p, const struct conf *c, const char *name)
{
	struct plan_bridge *b;

	b = realloc(p->bridge, (p->n_bridges + 1) * sizeof(*b));
	if (!b)
		return NULL;
	p->bridge = b;
	b = &p->bridge[p->n_bridges++];
	memset(b, 0, sizeof(*b));
	strncpy(b->name, name, sizeof(b->name) - 1);
	b->conf = conf_bridge_find(c, name);
	return b;
}

static void add_waiting(struct plan *p, const struct conf *c, const char *name)
{
	struct plan_bridge *b;

	if (strpbrk(name, "*?[") || !is_named(c, name) || has_bridge(p, name))
		return;
	b = add_bridge(p, c, name);
	if (b)
		b->reason = PATH_WAITING;
}

static int add_bridges(struct plan *p, const struct plan_input *in)
{
	const struct mirror *m = in->mirror;
	const struct conf *c = in->conf;
	struct plan_bridge *b;
	int err = 0;

	for (uint32_t i = 0; !err && i < c->n_bridges; i++) {
		if (c->bridge[i].source != CONF_SOURCE_FILE)
			continue;
		b = add_bridge(p, c, c->bridge[i].name);
		err = b ? file_bridge(in, b) : -ENOMEM;
	}
	for (uint32_t i = 0; !err && i < m->n; i++) {
		const struct mirror_link *l = m->link[i];

		/* While names are exchanged two may have the same one: the next message tells. */
		if (!l->seen_device || !(l->info.present & LINK_HAS_BRIDGE) ||
		    !conf_bridge_is_selected(c, l->info.name) || has_bridge(p, l->info.name))
			continue;
		b = add_bridge(p, c, l->info.name);
		err = b ? kernel_bridge(in, b, l) : -ENOMEM;
	}
	for (uint32_t i = 0; !err && i < c->n_bridges; i++)
		add_waiting(p, c, c->bridge[i].name);
	for (uint32_t i = 0; !err && i < c->bridges.n; i++)
		add_waiting(p, c, c->bridges.v[i]);
	return err;
}

int plan_make(const struct plan_input *in, struct plan **out)
{
	struct plan *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	err = add_bridges(p, in);
	if (err) {
		plan_free(p);
		return err;
	}
	*out = p;
	return 0;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_bridges; i++) {
		for (uint32_t j = 0; j < p->bridge[i].n_ports; j++)
			free(p->bridge[i].port[j].uppers);
		free(p->bridge[i].port);
	}
	free(p->bridge);
	free(p);
}
