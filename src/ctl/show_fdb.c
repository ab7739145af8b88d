/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `fdb`: entries as `bridge fdb` shows them, and `flood`: where unknown ones go. */
#include <event2/buffer.h>
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

/* ---- entries: there may be millions, so they are written without a tree or printf() ---- */

#define TEXT_SIZE  8192
#define ENTRY_SIZE 512 /* the longest one: two names of 112 bytes and what is around them */
#define QUOTE_SIZE 112

/* Entries that go to the answer together. */
struct entries {
	struct show *s;
	char *p; /* where the next one begins */
	char text[TEXT_SIZE];
};

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

static char *add_name(char *p, const char *key, const char *name)
{
	char buf[QUOTE_SIZE];

	return stpcpy(stpcpy(p, key), quote(name, buf, sizeof(buf)));
}

static char *add_number(char *p, const char *key, uint64_t n)
{
	char digits[24], *d = digits + sizeof(digits) - 1;

	*d = '\0';
	do {
		*--d = (char)('0' + n % 10);
	} while (n /= 10);
	return stpcpy(stpcpy(p, key), d);
}

static char *add_flags(char *p, uint16_t flags)
{
	static const struct {
		uint16_t bit;
		const char *text;
	} names[] = {
		{ FDB_EXTERN, "\"extern_learn\"," },
		{ FDB_STICKY, "\"sticky\"," },
		{ FDB_LOCKED, "\"locked\"," },
	};

	p = stpcpy(p, ",\"flags\":[");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (flags & names[i].bit)
			p = stpcpy(p, names[i].text);
	}
	return stpcpy(p[-1] == ',' ? p - 1 : p, "]");
}

static const char *entry_state(uint16_t flags)
{
	if (flags & FDB_LOCAL)
		return ",\"state\":\"permanent\"";
	return flags & FDB_STATIC ? ",\"state\":\"static\"" : ",\"state\":\"\"";
}

/* Not of entries that no frame refreshes. */
static char *add_age(char *p, const struct show *s, const struct fdb_entry *e)
{
	int64_t age = clock_diff(s->now_ns, e->seen_ns);

	if (e->flags & (FDB_LOCAL | FDB_STATIC))
		return p;
	return add_number(p, ",\"age\":", age < 0 ? 0 : (uint64_t)age / NSEC_PER_SEC);
}

static void entries_flush(struct entries *w)
{
	if (evbuffer_add(w->s->out, w->text, (size_t)(w->p - w->text)))
		w->s->has_failed = true;
	w->p = w->text;
}

static void put_entry(const struct fdb_entry *e, void *arg)
{
	struct entries *w = arg;
	struct show *s = w->s;
	const struct ctl_port *port = &s->c->port[e->port];
	char mac[MAC_STR_SIZE], *p;

	if (!port->is_used || !show_wants_port(s, e->port) || !show_wants_entry(s, e))
		return;
	if (w->p + ENTRY_SIZE > w->text + sizeof(w->text))
		entries_flush(w);
	p = stpcpy(w->p, s->n++ ? ",{\"mac\":\"" : "{\"mac\":\"");
	p = stpcpy(p, mac_format(&e->mac, mac));
	p = add_name(p, "\",\"ifname\":", port->name);
	if (e->vid)
		p = add_number(p, ",\"vlan\":", e->vid);
	p = add_flags(p, e->flags);
	p = add_name(p, ",\"master\":", s->c->bridge[port->bridge].name);
	p = stpcpy(p, entry_state(e->flags));
	p = add_age(p, s, e);
	w->p = stpcpy(p, e->flags & FDB_KERNEL ? ",\"kernel\":true}" : ",\"kernel\":false}");
}

bool show_fdb_unit(struct show *s)
{
	struct entries w;
	bool is_more;

	if (!s->phase) {
		show_text(s, "[");
		s->phase = 1;
	}
	if (s->phase == 1) {
		s->phase += !show_locals(s);
		return true;
	}
	w.s = s;
	w.p = w.text;
	is_more = show_walk(s, N_BUCKETS, put_entry, &w);
	entries_flush(&w);
	if (!is_more)
		show_text(s, "]");
	return is_more;
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
