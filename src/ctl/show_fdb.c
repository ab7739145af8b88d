/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `fdb`: entries as `bridge fdb` shows them, and `flood`: where unknown ones go. */
#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>

#include "core/view.h"
#include "ctl/show_priv.h"
#include "util/clock.h"

#define N_BUCKETS 16

#define NOT_DYNAMIC (FDB_LOCAL | FDB_STATIC | FDB_EXTERN | FDB_STICKY)

bool show_wants_entry(const struct show *s, const struct fdb_entry *e)
{
	const struct ctlmsg_request *r = &s->req;

	if ((r->present & CTLMSG_HAS_VLAN) && e->vid != r->vid)
		return false;
	if ((r->present & CTLMSG_HAS_MAC) && !mac_equal(&e->mac, &r->mac))
		return false;
	switch (r->kind) {
	case CTLMSG_KIND_DYNAMIC:
		return !(e->flags & NOT_DYNAMIC);
	case CTLMSG_KIND_STATIC:
		return (e->flags & FDB_STATIC) && !(e->flags & FDB_LOCAL);
	case CTLMSG_KIND_LOCAL:
		return e->flags & FDB_LOCAL;
	case CTLMSG_KIND_EXTERN:
		return e->flags & FDB_EXTERN;
	case CTLMSG_KIND_STICKY:
		return e->flags & FDB_STICKY;
	default:
		return true;
	}
}

bool show_walk(struct show *s, uint32_t n_buckets, fdb_cb cb, void *arg)
{
	const struct ctl_bridge *b;

	while (s->i < XB_MAX_BRIDGES && !(s->c->bridge[s->i].is_used && s->c->bridge[s->i].fdb &&
					  show_wants_bridge(s, s->i)))
		s->i++;
	if (s->i == XB_MAX_BRIDGES)
		return false;
	b = &s->c->bridge[s->i];
	if (s->fdb != b->fdb) {
		s->fdb = b->fdb;
		s->cursor = (struct fdb_cursor){ 0 };
	}
	if (!fdb_walk(b->fdb, &s->cursor, n_buckets, cb, arg)) {
		s->i++;
		s->fdb = NULL;
	}
	return true;
}

/* ---- entries: there may be millions, so they are written without a tree in between ---- */

/* A name as a JSON string, with quotes. */
static const char *quote(const char *name, char *buf, size_t size)
{
	size_t len = 1;
	json_t *v;

	buf[0] = '"';
	for (const char *p = name; *p && len + 2 < size; p++) {
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			goto slow;
		buf[len++] = *p;
	}
	memcpy(buf + len, "\"", 2);
	return buf;

slow:
	v = show_string(name);
	len = v ? json_dumpb(v, buf, size - 1, JSON_ENCODE_ANY) : 0;
	json_decref(v);
	buf[len < size ? len : 0] = 0;
	return len && len < size ? buf : "\"?\"";
}

static const char *flag_texts(uint16_t flags, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", flags & FDB_EXTERN ? ",\"extern_learn\"" : "",
		 flags & FDB_STICKY ? ",\"sticky\"" : "", flags & FDB_LOCKED ? ",\"locked\"" : "");
	return buf[0] ? buf + 1 : buf;
}

static const char *entry_state(uint16_t flags)
{
	if (flags & FDB_LOCAL)
		return "permanent";
	return flags & FDB_STATIC ? "static" : "";
}

/* "" for entries that no frame refreshes. */
static const char *age_text(const struct show *s, const struct fdb_entry *e, char *buf, size_t size)
{
	int64_t age = clock_diff(s->now_ns, e->seen_ns);

	if (e->flags & (FDB_LOCAL | FDB_STATIC))
		return "";
	snprintf(buf, size, ",\"age\":%lld",
		 (long long)(age < 0 ? 0 : age) / (long long)NSEC_PER_SEC);
	return buf;
}

static void put_entry(const struct fdb_entry *e, void *arg)
{
	struct show *s = arg;
	const struct ctl_port *p = &s->c->port[e->port];
	char mac[MAC_STR_SIZE], name[112], master[112], vlan[24] = "", flags[48], age[40];

	if (!p->is_used || !show_wants_port(s, e->port) || !show_wants_entry(s, e))
		return;
	if (e->vid)
		snprintf(vlan, sizeof(vlan), "\"vlan\":%u,", e->vid);
	if (evbuffer_add_printf(s->out,
				"%s{\"mac\":\"%s\",\"ifname\":%s,%s\"flags\":[%s],\"master\":%s,"
				"\"state\":\"%s\"%s,\"kernel\":%s}",
				s->n ? "," : "", mac_format(&e->mac, mac),
				quote(p->name, name, sizeof(name)), vlan,
				flag_texts(e->flags, flags, sizeof(flags)),
				quote(s->c->bridge[p->bridge].name, master, sizeof(master)),
				entry_state(e->flags), age_text(s, e, age, sizeof(age)),
				e->flags & FDB_KERNEL ? "true" : "false") < 0)
		s->has_failed = true;
	s->n++;
}

bool show_fdb_unit(struct show *s)
{
	if (!s->phase++)
		show_text(s, "[");
	if (show_walk(s, N_BUCKETS, put_entry, s))
		return true;
	show_text(s, "]");
	return false;
}

/* ---- flood arrays ---- */

static json_t *flood_list(struct show *s, const struct flood_array *a)
{
	static const struct {
		uint16_t bit;
		const char *name;
	} names[] = {
		{ FLOOD_UNTAGGED, "untagged" },
		{ FLOOD_ISOLATED, "isolated" },
		{ FLOOD_HAIRPIN, "hairpin" },
		{ FLOOD_HOST, "host" },
	};
	json_t *list = json_array();

	for (uint32_t i = 0; i < a->n; i++) {
		json_t *flags = json_array();

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			/* Without VLANs there is no tag that could be taken off. */
			if (!s->j && names[k].bit == FLOOD_UNTAGGED)
				continue;
			if (a->dst[i].flags & names[k].bit)
				show_append(s, flags, json_string(names[k].name));
		}
		show_append(s, list,
			    json_pack("{s:o, s:o}", "ifname",
				      show_string(s->c->port[a->dst[i].port].name), "flags",
				      flags));
	}
	return list;
}

static json_t *flood_vlan(struct show *s, const struct view_vlan *v)
{
	json_t *o = json_object();

	show_set(s, o, "ifname", show_string(s->c->bridge[s->i].name));
	if (s->j)
		show_set_count(s, o, "vlan", s->j);
	show_set(s, o, "unknown_unicast", flood_list(s, &v->flood[FLOOD_UNKNOWN]));
	show_set(s, o, "multicast", flood_list(s, &v->flood[FLOOD_MULTICAST]));
	show_set(s, o, "broadcast", flood_list(s, &v->flood[FLOOD_BROADCAST]));
	return o;
}

/* The next VLAN of the view from (s->i, s->j) on that the request wants; NULL: none. */
static const struct view_vlan *next_flood(struct show *s)
{
	const struct view *view = dp_view(s->c->dp);

	for (; s->i < XB_MAX_BRIDGES; s->i++, s->j = 0) {
		const struct view_bridge *b = view ? view->bridge[s->i] : NULL;

		if (!b || !s->c->bridge[s->i].is_used || !show_wants_bridge(s, s->i))
			continue;
		for (; s->j < VID_N; s->j++) {
			const struct view_vlan *v = view_vlan(b, (uint16_t)s->j);

			if (v && (!(s->req.present & CTLMSG_HAS_VLAN) || s->j == s->req.vid))
				return v;
		}
	}
	return NULL;
}

bool show_flood_unit(struct show *s)
{
	const struct view_vlan *v = next_flood(s);

	if (!s->phase++)
		show_text(s, "[");
	if (!v) {
		show_text(s, "]");
		return false;
	}
	show_item(s, flood_vlan(s, v));
	s->j++;
	return true;
}
