/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FDB entries, as `bridge fdb` shows them. There may be millions: one in the
 * form that the daemon writes is printed straight from its bytes; any other JSON
 * goes through jansson, and looks the same.
 */
#include <errno.h>
#include <string.h>

#include "xbridgectl/text.h"

void text_fdb(FILE *f, const json_t *entry)
{
	const json_t *age = json_object_get(entry, "age");
	const char *state = text_get(entry, "state");
	json_t *flag;
	size_t i;

	fprintf(f, "%s dev %s", text_get(entry, "mac"), text_get(entry, "ifname"));
	if (text_number(entry, "vlan"))
		fprintf(f, " vlan %lld", text_number(entry, "vlan"));
	if (json_object_get(entry, "vlans"))
		fprintf(f, " vlans %s", text_get(entry, "vlans"));
	json_array_foreach(json_object_get(entry, "except"), i, flag)
		fprintf(f, "%s%lld", i ? "," : " except ", (long long)json_integer_value(flag));
	json_array_foreach(json_object_get(entry, "flags"), i, flag)
		fprintf(f, " %s", json_is_string(flag) ? json_string_value(flag) : "?");
	fprintf(f, " master %s", text_get(entry, "master"));
	if (state[0])
		fprintf(f, " %s", state);
	if (json_is_integer(age))
		fprintf(f, " age %lld", (long long)json_integer_value(age));
	fputc('\n', f);
}

/* ---- the daemon's form ---- */

#define LINE_SIZE 512
#define FLAGS_MAX 4

/* A part of the text; p is NULL: there is none. */
struct span {
	const char *p;
	size_t len;
};

struct entry {
	struct span mac, ifname, vlan, master, state, age;
	struct span flag[FLAGS_MAX];
	size_t n_flags;
};

struct scan {
	const char *p, *end;
};

static bool take(struct scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* Printable ASCII without escapes. */
static bool take_string(struct scan *s, struct span *out)
{
	if (!take(s, '"'))
		return false;
	out->p = s->p;
	while (s->p < s->end && *s->p >= ' ' && *s->p <= '~' && *s->p != '"' && *s->p != '\\')
		s->p++;
	out->len = (size_t)(s->p - out->p);
	return take(s, '"');
}

/* Digits without a sign, and no more than a VLAN or an age in seconds has. */
static bool take_number(struct scan *s, struct span *out)
{
	out->p = s->p;
	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	out->len = (size_t)(s->p - out->p);
	return out->len && out->len <= 12 && (out->len == 1 || *out->p != '0');
}

static bool take_flags(struct scan *s, struct entry *e)
{
	if (!take(s, '['))
		return false;
	if (take(s, ']'))
		return true;
	do {
		if (e->n_flags == FLAGS_MAX || !take_string(s, &e->flag[e->n_flags++]))
			return false;
	} while (take(s, ','));
	return take(s, ']');
}

static bool take_bool(struct scan *s)
{
	size_t len = s->p < s->end && *s->p == 't' ? strlen("true") : strlen("false");

	if ((size_t)(s->end - s->p) < len || memcmp(s->p, len == 4 ? "true" : "false", len) != 0)
		return false;
	s->p += len;
	return true;
}

static bool is(const struct span *s, const char *text)
{
	return s->len == strlen(text) && !memcmp(s->p, text, s->len);
}

static bool take_member(struct scan *s, struct entry *e)
{
	const struct {
		const char *key;
		bool (*take)(struct scan *s, struct span *out);
		struct span *to;
	} members[] = {
		{ "mac", take_string, &e->mac },     { "ifname", take_string, &e->ifname },
		{ "vlan", take_number, &e->vlan },   { "master", take_string, &e->master },
		{ "state", take_string, &e->state }, { "age", take_number, &e->age },
	};
	struct span key;

	if (!take_string(s, &key) || !take(s, ':'))
		return false;
	if (is(&key, "kernel"))
		return take_bool(s);
	if (is(&key, "flags"))
		return !e->n_flags && take_flags(s, e);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		/* The same one twice is not what the daemon writes. */
		if (is(&key, members[i].key))
			return !members[i].to->p && members[i].take(s, members[i].to);
	}
	return false;
}

/* The object that @s begins with, if it is in the daemon's form; @s is behind it then. */
static bool take_entry(struct scan *s, struct entry *e)
{
	struct scan t = *s;

	*e = (struct entry){ .n_flags = 0 };
	if (!take(&t, '{'))
		return false;
	do {
		if (!take_member(&t, e))
			return false;
	} while (take(&t, ','));
	if (!take(&t, '}') || !e->mac.p || !e->ifname.p || !e->master.p || !e->state.p)
		return false;
	*s = t;
	return true;
}

struct line {
	size_t len;
	char text[LINE_SIZE];
};

static void add(struct line *l, const char *before, const struct span *s)
{
	size_t n = strlen(before);

	if (n + s->len > sizeof(l->text) - l->len) {
		l->len = sizeof(l->text);
		return;
	}
	memcpy(l->text + l->len, before, n);
	memcpy(l->text + l->len + n, s->p, s->len);
	l->len += n + s->len;
}

/* False if it does not fit into a line. */
static bool print_entry(FILE *f, const struct entry *e)
{
	struct line l;

	l.len = 0;
	add(&l, "", &e->mac);
	add(&l, " dev ", &e->ifname);
	if (e->vlan.p && !is(&e->vlan, "0"))
		add(&l, " vlan ", &e->vlan);
	for (size_t i = 0; i < e->n_flags; i++)
		add(&l, " ", &e->flag[i]);
	add(&l, " master ", &e->master);
	if (e->state.len)
		add(&l, " ", &e->state);
	if (e->age.p)
		add(&l, " age ", &e->age);
	if (l.len >= sizeof(l.text))
		return false;
	l.text[l.len++] = '\n';
	fwrite(l.text, 1, l.len, f);
	return true;
}

/* ---- the list ---- */

int text_fdb_list(FILE *f, const char *list, size_t len)
{
	struct scan s = { .p = list, .end = list + len };
	json_error_t error;
	struct entry e;

	/* At the bracket or comma before an entry. */
	while (s.end - s.p > 2) {
		struct scan t = { .p = s.p + 1, .end = s.end };
		json_t *v;

		if (take_entry(&t, &e) && print_entry(f, &e)) {
			s = t;
			continue;
		}
		v = json_loadb(s.p + 1, (size_t)(s.end - s.p) - 1, JSON_DISABLE_EOF_CHECK, &error);
		if (!v)
			return -EINVAL;
		text_fdb(f, v);
		json_decref(v);
		s.p += 1 + error.position;
	}
	return 0;
}
