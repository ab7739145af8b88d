/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "core/limits.h"
#include "ctl/rtmsg_parts.h"
#include "ctl/rtnew.h"

struct entry {
	struct vlan_info v;
	struct bridge_vlan_info info;
};

enum {
	ENTRY_GOT_VID = 1U << 30,
	ENTRY_GOT_RANGE = 1U << 31,
};

/* clang-format off */
static const struct rtattr_rule entry_rules[] = {
	RTATTR(struct entry, BRIDGE_VLANDB_ENTRY_INFO,         RAW,   ENTRY_GOT_VID, info),
	RTATTR(struct entry, BRIDGE_VLANDB_ENTRY_RANGE,        VID,   ENTRY_GOT_RANGE, v.vid_last),
	RTATTR(struct entry, BRIDGE_VLANDB_ENTRY_STATE,        STATE, VLAN_HAS_STATE, v.state),
	RTATTR(struct entry, BRIDGE_VLANDB_ENTRY_MCAST_ROUTER, RAW,   VLAN_HAS_MCAST_ROUTER, v.mcast_router),
	RTATTR(struct entry, RTNEW_VLAN_NEIGH_SUPPRESS,        BOOL,  VLAN_HAS_NEIGH_SUPPRESS, v.neigh_suppress),
	RTATTR(struct entry, RTNEW_VLAN_NEIGH_FORWARD_GRAT,    BOOL,  VLAN_HAS_NEIGH_FORWARD_GRAT, v.neigh_forward_grat),
	RTATTR_BIT(BRIDGE_VLANDB_ENTRY_TUNNEL_INFO, MARK, VLAN_HAS_TUNNEL),
};

static const struct rtattr_rule global_rules[] = {
	RTATTR(struct entry, BRIDGE_VLANDB_GOPTS_ID,             VID,  ENTRY_GOT_VID, v.vid_first),
	RTATTR(struct entry, BRIDGE_VLANDB_GOPTS_RANGE,          VID,  ENTRY_GOT_RANGE, v.vid_last),
	RTATTR(struct entry, BRIDGE_VLANDB_GOPTS_MCAST_SNOOPING, BOOL, VLAN_HAS_MCAST_SNOOPING, v.mcast_snooping),
	RTATTR(struct entry, BRIDGE_VLANDB_GOPTS_MCAST_QUERIER,  BOOL, VLAN_HAS_MCAST_QUERIER, v.mcast_querier),
	RTATTR(struct entry, BRIDGE_VLANDB_GOPTS_MSTI,           RAW,  VLAN_HAS_MSTI, v.msti),
};

static const struct rtattr_rule mst_rules[] = {
	RTATTR(struct mst_info, IFLA_BRIDGE_MST_ENTRY_MSTI,  RAW,   1U << 0, msti),
	RTATTR(struct mst_info, IFLA_BRIDGE_MST_ENTRY_STATE, STATE, 1U << 1, state),
};
/* clang-format on */

static const struct rtattr_table entry_table = RTATTR_TABLE(entry_rules);
static const struct rtattr_table global_table = RTATTR_TABLE(global_rules);
static const struct rtattr_table mst_table = RTATTR_TABLE(mst_rules);

/* A walk over a list; without a callback it only checks and counts. */
struct walk {
	rtmsg_vlan_fn vlan;
	rtmsg_mst_fn mst;
	void *arg;
	uint32_t ifindex;
	bool deleted;
	uint32_t n;
	const char *why;
};

static int refuse(struct walk *w, const char *why)
{
	w->why = why;
	return -EBADMSG;
}

static int tell_vlan(struct walk *w, struct vlan_info *v)
{
	v->ifindex = w->ifindex;
	v->deleted = w->deleted;
	w->n++;
	return w->vlan ? w->vlan(w->arg, v) : 0;
}

static uint16_t vlan_flags(const struct bridge_vlan_info *i)
{
	return (uint16_t)((i->flags & BRIDGE_VLAN_INFO_PVID ? VLAN_PVID : 0) |
			  (i->flags & BRIDGE_VLAN_INFO_UNTAGGED ? VLAN_UNTAGGED : 0) |
			  (i->flags & BRIDGE_VLAN_INFO_BRENTRY ? VLAN_BRENTRY : 0) |
			  (i->flags & BRIDGE_VLAN_INFO_ONLY_OPTS ? VLAN_ONLY_OPTS : 0));
}

/* The rules that hold for a range wherever it was told. */
static int check_range(struct walk *w, const struct vlan_info *v)
{
	if (v->vid_first == VID_NONE || v->vid_first > VID_MAX || v->vid_last > VID_MAX)
		return refuse(w, "not a VLAN id");
	if (v->vid_last < v->vid_first)
		return refuse(w, "a range of VLANs that ends before it begins");
	if ((v->flags & VLAN_PVID) && v->vid_last != v->vid_first)
		return refuse(w, "a range of PVIDs");
	return 0;
}

/*
 * One IFLA_BRIDGE_VLAN_INFO. A range is two of them; @first is the VID that the
 * range began with, VID_NONE outside of one.
 */
static int list_element(struct walk *w, const struct nlattr *a, uint16_t *first)
{
	struct bridge_vlan_info i;
	struct vlan_info v = { .source = VLAN_IN_LINK };
	int err;

	if (nla_len(a) != sizeof(i))
		return refuse(w, "IFLA_BRIDGE_VLAN_INFO is malformed");
	memcpy(&i, nla_data(a), sizeof(i));
	if (!(i.flags & BRIDGE_VLAN_INFO_RANGE_END) != !*first)
		return refuse(w, "a range of VLANs that does not begin or end");
	v.vid_first = *first ? *first : i.vid;
	v.vid_last = i.vid;
	v.flags = vlan_flags(&i);
	err = check_range(w, &v);
	if (err)
		return err;
	*first = i.flags & BRIDGE_VLAN_INFO_RANGE_BEGIN ? i.vid : VID_NONE;
	return *first ? 0 : tell_vlan(w, &v);
}

static int walk_list(struct walk *w, const struct nlattr *af_spec)
{
	struct rtattr_run run = rtattr_inside(af_spec);
	const struct nlattr *a;
	uint16_t first = VID_NONE;
	int err;

	while ((a = rtattr_next(&run))) {
		if (nla_type(a) != IFLA_BRIDGE_VLAN_INFO)
			continue;
		err = list_element(w, a, &first);
		if (err)
			return err;
	}
	if (run.len)
		return refuse(w, "IFLA_AF_SPEC is malformed");
	return first ? refuse(w, "a range of VLANs that does not end") : 0;
}

static int mst_element(struct walk *w, const struct nlattr *a)
{
	struct mst_info m = { .ifindex = w->ifindex };
	uint32_t present = 0;
	struct rtattr_out ro = { .base = &m, .present = &present };
	int err;

	err = rtattr_read(rtattr_inside(a), &mst_table, &ro, &w->why);
	if (err)
		return err;
	if (present != 3)
		return refuse(w, "a spanning tree state that is not complete");
	w->n++;
	return w->mst ? w->mst(w->arg, &m) : 0;
}

static int walk_mst_nest(struct walk *w, const struct nlattr *nest)
{
	struct rtattr_run run = rtattr_inside(nest);
	const struct nlattr *a;
	int err;

	while ((a = rtattr_next(&run))) {
		if (nla_type(a) != IFLA_BRIDGE_MST_ENTRY)
			continue;
		err = mst_element(w, a);
		if (err)
			return err;
	}
	return run.len ? refuse(w, "IFLA_BRIDGE_MST is malformed") : 0;
}

static int walk_mst(struct walk *w, const struct nlattr *af_spec)
{
	struct rtattr_run run = rtattr_inside(af_spec);
	const struct nlattr *a;
	int err;

	while ((a = rtattr_next(&run))) {
		if (nla_type(a) != IFLA_BRIDGE_MST)
			continue;
		err = walk_mst_nest(w, a);
		if (err)
			return err;
	}
	return 0;
}

/* A network card that answers for its own switch says so by a flag. */
static int read_bridge_flags(const struct nlattr *af_spec, struct rtmsg_info *out)
{
	struct rtattr_run run = rtattr_inside(af_spec);
	const struct nlattr *a;
	uint16_t flags;

	while ((a = rtattr_next(&run))) {
		if (nla_type(a) != IFLA_BRIDGE_FLAGS)
			continue;
		if (nla_len(a) != sizeof(flags))
			return rtmsg_refuse(out, "IFLA_BRIDGE_FLAGS is malformed");
		memcpy(&flags, nla_data(a), sizeof(flags));
		out->link.is_self = flags & BRIDGE_FLAGS_SELF;
	}
	return 0;
}

int rtmsg_check_af_spec(const struct nlattr *af_spec, struct rtmsg_info *out)
{
	struct walk vlans = { .ifindex = out->link.ifindex };
	struct walk mst = { .ifindex = out->link.ifindex };
	int err;

	err = walk_list(&vlans, af_spec);
	if (err)
		return rtmsg_refuse(out, vlans.why);
	err = walk_mst(&mst, af_spec);
	if (err)
		return rtmsg_refuse(out, mst.why);
	err = read_bridge_flags(af_spec, out);
	if (err)
		return err;
	if (out->link.is_self)
		return 0;
	out->link.n_vlans = (uint16_t)vlans.n;
	out->link.n_mst = (uint16_t)mst.n;
	return 0;
}

/* The IFLA_AF_SPEC of the bridge's own sort of link message; NULL for any other. */
static const struct nlattr *find_af_spec(const struct nlmsghdr *h, struct walk *w)
{
	const struct ifinfomsg *ifi = NLMSG_DATA(h);
	struct rtattr_run run = rtmsg_attrs(h, sizeof(*ifi));
	struct rtmsg_info flags = { 0 };
	const struct nlattr *a;

	if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) ||
	    ifi->ifi_family != AF_BRIDGE)
		return NULL;
	w->ifindex = (uint32_t)ifi->ifi_index;
	w->deleted = h->nlmsg_type == RTM_DELLINK;
	while ((a = rtattr_next(&run))) {
		if (nla_type(a) == IFLA_AF_SPEC)
			return read_bridge_flags(a, &flags) || flags.link.is_self ? NULL : a;
	}
	return NULL;
}

int rtmsg_link_vlans(const struct nlmsghdr *h, rtmsg_vlan_fn fn, void *arg)
{
	struct walk w = { .vlan = fn, .arg = arg };

	return walk_list(&w, find_af_spec(h, &w));
}

int rtmsg_link_mst(const struct nlmsghdr *h, rtmsg_mst_fn fn, void *arg)
{
	struct walk w = { .mst = fn, .arg = arg };

	return walk_mst(&w, find_af_spec(h, &w));
}

static int vlan_element(struct walk *w, const struct nlattr *a)
{
	bool global = nla_type(a) == BRIDGE_VLANDB_GLOBAL_OPTIONS;
	struct entry e = { .v.source = global ? VLAN_GLOBAL : VLAN_IN_ENTRY };
	struct rtattr_out ro = { .base = &e, .present = &e.v.present };
	int err;

	err = rtattr_read(rtattr_inside(a), global ? &global_table : &entry_table, &ro, &w->why);
	if (err)
		return err;
	if (!(e.v.present & ENTRY_GOT_VID))
		return refuse(w, "a VLAN entry without its VLAN");
	if (!global) {
		e.v.vid_first = e.info.vid;
		e.v.flags = vlan_flags(&e.info);
	}
	if (!(e.v.present & ENTRY_GOT_RANGE))
		e.v.vid_last = e.v.vid_first;
	e.v.present &= ~(uint32_t)(ENTRY_GOT_VID | ENTRY_GOT_RANGE);
	/*
	 * Kernels up to 6.12 at least tell that VLAN 0 was deleted when
	 * vlan_default_pvid goes from 0 to something: there was nothing.
	 */
	if (w->deleted && e.v.vid_last == VID_NONE)
		return 0;
	err = check_range(w, &e.v);
	return err ? err : tell_vlan(w, &e.v);
}

static int walk_vlans(struct walk *w, const struct nlmsghdr *h)
{
	const struct br_vlan_msg *vm = NLMSG_DATA(h);
	struct rtattr_run run = rtmsg_attrs(h, sizeof(*vm));
	const struct nlattr *a;
	int err;

	w->ifindex = vm->ifindex;
	w->deleted = h->nlmsg_type == RTM_DELVLAN;
	while ((a = rtattr_next(&run))) {
		if (nla_type(a) != BRIDGE_VLANDB_ENTRY &&
		    nla_type(a) != BRIDGE_VLANDB_GLOBAL_OPTIONS)
			continue;
		err = vlan_element(w, a);
		if (err)
			return err;
	}
	return run.len ? refuse(w, "the attributes do not fill their room") : 0;
}

int rtmsg_read_vlan(const struct nlmsghdr *h, struct rtmsg_info *out)
{
	const struct br_vlan_msg *vm = NLMSG_DATA(h);
	struct walk w = { 0 };
	int err;

	if (vm->family != AF_BRIDGE)
		return 0;
	if (!vm->ifindex || vm->ifindex > INT32_MAX)
		return rtmsg_refuse(out, "VLANs without an interface");
	err = walk_vlans(&w, h);
	if (err)
		return rtmsg_refuse(out, w.why);
	out->type = RTMSG_VLAN;
	out->vlan.ifindex = w.ifindex;
	out->vlan.n_vlans = w.n;
	out->vlan.deleted = w.deleted;
	return 0;
}

int rtmsg_vlans(const struct nlmsghdr *h, rtmsg_vlan_fn fn, void *arg)
{
	struct walk w = { .vlan = fn, .arg = arg };

	if (h->nlmsg_type != RTM_NEWVLAN && h->nlmsg_type != RTM_DELVLAN)
		return 0;
	return walk_vlans(&w, h);
}
