/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `mdb`: who gets which multicast, who asks for members, and who decides by it. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/show_priv.h"
#include "util/clock.h"

struct show_member {
	struct mdb_key key;
	uint16_t slot;
	uint8_t flags;
};

/* ---- who decides ---- */

static const char *const family_names[QUERIER_N] = {
	[QUERIER_IP4] = "IPv4", [QUERIER_IP6] = "IPv6"
};

static void doubt_text(const struct ctl_mcast *m, uint64_t now_ns, char *buf, size_t size)
{
	size_t len = 0;

	for (uint32_t q = 0; q < QUERIER_N && len < size; q++) {
		uint64_t wait_ns = querier_wait_ns(&m->querier[q], now_ns);
		enum querier_why why;

		if (querier_state(&m->querier[q], now_ns, &why) != QUERIER_DOUBT)
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s: %s", len ? "; " : "",
					family_names[q], querier_why_text(why));
		if (wait_ns && len < size)
			len += (size_t)snprintf(
				buf + len, size - len, ", for %llu s more",
				(unsigned long long)((wait_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC));
	}
}

static void pass_text(struct show *s, const struct ctl_bridge *b, enum mcast_pass pass, char *buf,
		      size_t size)
{
	const struct mirror_link *l;
	char detail[CTL_NOTE_SIZE] = "";

	if (pass == MCAST_PASS_QUERIER)
		doubt_text(&b->mcast, s->now_ns, detail, sizeof(detail));
	l = pass == MCAST_PASS_TO_UNICAST ? mirror_find(s->c->mirror, b->mcast.to_unicast) : NULL;
	if (l)
		snprintf(detail, sizeof(detail), "%s", l->info.name);
	snprintf(buf, size, "%s%s%s%s", mcast_pass_text(pass), detail[0] ? " (" : "", detail,
		 detail[0] ? ")" : "");
}

json_t *show_multicast(struct show *s, const struct ctl_bridge *b)
{
	enum mcast_pass pass = brpoll_pass(s->c, b);
	char text[2 * CTL_NOTE_SIZE];
	json_t *o = json_object();

	pass_text(s, b, pass, text, sizeof(text));
	show_set(s, o, "snooping", json_boolean(b->mcast.snooping));
	show_set(s, o, "path",
		 json_string(pass == MCAST_PASS_NONE && b->is_open ? "user" : "kernel"));
	show_set(s, o, "reason",
		 json_string(pass == MCAST_PASS_NONE ? "none" : mcast_pass_name(pass)));
	show_set(s, o, "reason_text", show_string(text));
	return o;
}

/* ---- queriers and routers ---- */

static json_t *address(int family, const uint8_t *a)
{
	char text[INET6_ADDRSTRLEN];

	return json_string(inet_ntop(family, a, text, sizeof(text)) ? text : "");
}

static json_t *querier(struct show *s, const struct ctl_bridge *b, uint32_t q)
{
	const struct mirror_link *l = mirror_find(s->c->mirror, b->ifindex), *port;
	const struct querier *state = &b->mcast.querier[q];
	const struct querier_info *i;
	enum querier_why why;
	json_t *o = json_object();

	show_set(s, o, "state",
		 json_string(querier_state_name(querier_state(state, s->now_ns, &why))));
	show_set(s, o, "why", json_string(querier_why_text(why)));
	if (querier_wait_ns(state, s->now_ns))
		show_set_count(s, o, "wait", querier_wait_ns(state, s->now_ns) / NSEC_PER_SEC);
	if (!l)
		return o;
	i = &l->info.bridge.querier[q];
	if (i->present & QUERIER_HAS_ADDRESS)
		show_set(s, o, "address",
			 address(q == QUERIER_IP4 ? AF_INET : AF_INET6, i->address));
	if (state->has_other && state->other_ends_ns > s->now_ns)
		show_set_count(s, o, "timer", (state->other_ends_ns - s->now_ns) / NSEC_PER_SEC);
	port = i->present & QUERIER_HAS_PORT ? mirror_find(s->c->mirror, i->port) : NULL;
	if (port)
		show_set(s, o, "ifname", show_string(port->info.name));
	return o;
}

static json_t *routers(struct show *s, uint16_t flag)
{
	json_t *list = json_array();

	for (uint32_t slot = 1; slot < XB_MAX_PORTS; slot++) {
		const struct ctl_port *p = &s->c->port[slot];

		if (p->is_used && p->bridge == s->i && (p->router & flag) &&
		    show_wants_port(s, (uint16_t)slot))
			show_append(s, list, show_string(p->name));
	}
	return list;
}

/* The object stays open for the groups that follow. */
static void put_head(struct show *s)
{
	const struct ctl_bridge *b = &s->c->bridge[s->i];
	json_t *o = json_object();
	char *text;

	show_set(s, o, "ifname", show_string(b->name));
	show_set(s, o, "multicast", show_multicast(s, b));
	if (b->mcast.snooping) {
		show_set(s, o, "querier",
			 json_pack("{s:o, s:o}", "ipv4", querier(s, b, QUERIER_IP4), "ipv6",
				   querier(s, b, QUERIER_IP6)));
		show_set(s, o, "router",
			 json_pack("{s:o, s:o}", "ipv4", routers(s, MP_ROUTER4), "ipv6",
				   routers(s, MP_ROUTER6)));
	}
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (!text) {
		s->has_failed = true;
		return;
	}
	text[strlen(text) - 1] = 0;
	show_text(s, text);
	show_text(s, ",\"groups\":[");
	free(text);
}

/* ---- groups ---- */

static void count_member(const struct mdb_key *k, uint16_t slot, uint8_t flags, void *arg)
{
	struct show *s = arg;

	(void)k;
	(void)flags;
	if (show_wants_port(s, slot))
		s->n_members++;
}

static void keep_member(const struct mdb_key *k, uint16_t slot, uint8_t flags, void *arg)
{
	struct show *s = arg;

	if (show_wants_port(s, slot))
		s->member[s->n_members++] = (struct show_member){ *k, slot, flags };
}

static int compare(const void *a, const void *b)
{
	const struct show_member *x = a, *y = b;
	int d = memcmp(x->key.group, y->key.group, sizeof(x->key.group));

	d = d ? d : memcmp(&x->key, &y->key, sizeof(x->key));
	return d ? d : (int)x->slot - (int)y->slot;
}

/* Groups come and go between the parts of an answer: it tells of those of its beginning. */
static void take_members(struct show *s)
{
	uint32_t n;

	free(s->member);
	s->member = NULL;
	s->n_members = s->j = 0;
	if (!s->c->model->bridge[s->i])
		return;
	model_mdb_each(s->c->model, (uint16_t)s->i, count_member, s);
	n = s->n_members;
	s->n_members = 0;
	if (!n)
		return;
	s->member = calloc(n, sizeof(*s->member));
	if (!s->member) {
		s->has_failed = true;
		return;
	}
	model_mdb_each(s->c->model, (uint16_t)s->i, keep_member, s);
	qsort(s->member, n, sizeof(*s->member), compare);
}

static json_t *group_address(const struct mdb_key *k, const uint8_t *a)
{
	char text[MAC_STR_SIZE];
	struct mac mac;

	if (k->family != MDB_L2)
		return address(k->family == MDB_IP4 ? AF_INET : AF_INET6, a);
	memcpy(mac.b, a, sizeof(mac.b));
	return json_string(mac_format(&mac, text));
}

static json_t *member_object(struct show *s, const struct show_member *m)
{
	json_t *o = json_object();

	show_set(s, o, "ifname", show_string(s->c->port[m->slot].name));
	if (s->c->port[m->slot].is_host)
		show_set(s, o, "host", json_true());
	if (m->flags & MDB_INCLUDE)
		show_set(s, o, "filter_mode", json_string("include"));
	if (m->flags & MDB_BLOCKED)
		show_set(s, o, "blocked", json_true());
	return o;
}

static void put_group(struct show *s)
{
	const struct mdb_key *k = &s->member[s->j].key;
	json_t *o = json_object(), *members = json_array();

	show_set(s, o, "grp", group_address(k, k->group));
	if (mdb_key_has_source(k))
		show_set(s, o, "src", group_address(k, k->source));
	if (k->vid != VID_NONE)
		show_set_count(s, o, "vlan", k->vid);
	while (s->j < s->n_members && mdb_key_equal(&s->member[s->j].key, k))
		show_append(s, members, member_object(s, &s->member[s->j++]));
	show_set(s, o, "members", members);
	show_item(s, o);
}

static void next_bridge(struct show *s)
{
	while (s->i < XB_MAX_BRIDGES &&
	       (!s->c->bridge[s->i].is_used || !show_wants_bridge(s, s->i)))
		s->i++;
}

/* Phase 0: between two bridges, or before the first one; 1: in one's groups. */
bool show_mdb_unit(struct show *s)
{
	if (!s->has_list)
		show_text(s, "[");
	if (s->phase && s->j < s->n_members) {
		put_group(s);
		return true;
	}
	if (s->phase) {
		show_text(s, "]}");
		s->i++;
	}
	next_bridge(s);
	if (s->i == XB_MAX_BRIDGES) {
		show_text(s, "]");
		return false;
	}
	show_text(s, s->phase ? "," : "");
	s->has_list = true;
	s->phase = 1;
	s->n = 0;
	take_members(s);
	put_head(s);
	return true;
}
