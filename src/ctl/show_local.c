/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's own addresses in `fdb`: one line for each device instead of one for each VLAN. */
#include "core/local.h"
#include "ctl/show_priv.h"

static bool wants_local(const struct show *s, const struct mac *mac, uint16_t slot)
{
	const struct ctlmsg_request *r = &s->req;

	if (r->kind != CTLMSG_KIND_ANY && r->kind != CTLMSG_KIND_LOCAL)
		return false;
	if ((r->present & CTLMSG_HAS_MAC) && !mac_equal(mac, &r->mac))
		return false;
	return show_wants_port(s, slot);
}

/* VLANs of the device in which the kernel has no entry. */
static json_t *exceptions(struct show *s, const struct local *l, const struct mac *mac)
{
	json_t *list = json_array();

	for (uint16_t vid = 0; vid <= VID_MAX; vid++) {
		if (local_is_exception(l, fdb_key(vid, mac)))
			show_append(s, list, json_integer(vid));
	}
	return list;
}

static void put_local(struct show *s, const struct ctl_bridge *b, const struct mac *mac,
		      uint16_t slot)
{
	const struct model_bridge *mb = s->c->model->bridge[s->i];
	const struct model_port *mp = s->c->model->port[slot];
	bool has_vlan = s->req.present & CTLMSG_HAS_VLAN;
	char text[MAC_STR_SIZE];
	json_t *o;

	/* Of one VLAN, it is an entry like any other. */
	if (has_vlan && (!local_has(b->local, s->c->model, fdb_key(s->req.vid, mac)) || !mp ||
			 !(mp->a.vlan[s->req.vid] & MV_MEMBER)))
		return;
	o = json_object();
	show_set(s, o, "mac", show_string(mac_format(mac, text)));
	show_set(s, o, "ifname", show_string(s->c->port[slot].name));
	if (has_vlan) {
		show_set_count(s, o, "vlan", s->req.vid);
	} else {
		show_set(s, o, "vlans", show_string(mb && mb->a.local_vlan_0 ? "all" : "port"));
		show_set(s, o, "except", exceptions(s, b->local, mac));
	}
	show_set(s, o, "flags", json_array());
	show_set(s, o, "master", show_string(b->name));
	show_set(s, o, "state", show_string("permanent"));
	show_set(s, o, "kernel", json_true());
	show_item(s, o);
}

bool show_locals(struct show *s)
{
	for (; s->i < XB_MAX_BRIDGES; s->i++, s->j = 0) {
		const struct ctl_bridge *b = &s->c->bridge[s->i];
		struct mac mac;
		uint16_t slot;

		if (!b->is_used || !b->local || !show_wants_bridge(s, s->i) ||
		    !local_owner(b->local, s->j, &mac, &slot))
			continue;
		s->j++;
		if (wants_local(s, &mac, slot))
			put_local(s, b, &mac, slot);
		return true;
	}
	s->i = s->j = 0;
	return false;
}
