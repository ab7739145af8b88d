/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/show.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "ctl/show_priv.h"
#include "util/clock.h"

/* 13 digits are milliseconds in a time. */
#define DUMP_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(13))

#define STEP_SIZE (32U << 10)
#define STEP_NS   NSEC_PER_MSEC

static bool (*const units[CTLMSG_N])(struct show *s) = {
	[CTLMSG_MDB] = show_mdb_unit,       [CTLMSG_STATUS] = show_status_unit,
	[CTLMSG_PORT] = show_port_unit,     [CTLMSG_VLAN] = show_vlan_unit,
	[CTLMSG_FDB] = show_fdb_unit,       [CTLMSG_FDB_FLUSH] = show_flush_unit,
	[CTLMSG_FLOOD] = show_flood_unit,   [CTLMSG_STATS] = show_stats_unit,
	[CTLMSG_VERIFY] = show_verify_unit, [CTLMSG_VERSION] = show_version_unit,
};

/* ---- writing ---- */

static int put(const char *buf, size_t size, void *arg)
{
	struct show *s = arg;

	if (evbuffer_add(s->out, buf, size))
		s->has_failed = true;
	return 0;
}

void show_text(struct show *s, const char *text)
{
	put(text, strlen(text), s);
}

void show_value(struct show *s, json_t *v)
{
	if (!v || json_dump_callback(v, put, s, DUMP_FLAGS))
		s->has_failed = true;
	json_decref(v);
}

void show_item(struct show *s, json_t *v)
{
	show_text(s, s->n++ ? "," : "");
	show_value(s, v);
}

void show_set(struct show *s, json_t *object, const char *key, json_t *v)
{
	if (json_object_set_new(object, key, v))
		s->has_failed = true;
}

void show_set_count(struct show *s, json_t *object, const char *key, uint64_t n)
{
	show_set(s, object, key, json_integer((json_int_t)n));
}

void show_append(struct show *s, json_t *list, json_t *v)
{
	if (json_array_append_new(list, v))
		s->has_failed = true;
}

json_t *show_string(const char *text)
{
	char plain[HISTORY_SIZE * 2];
	size_t i;

	for (i = 0; i < sizeof(plain) - 1 && text[i]; i++) {
		unsigned char b = (unsigned char)text[i];

		plain[i] = (char)(b < ' ' || b == 0x7f ? '?' : b);
	}
	plain[i] = 0;
	for (int k = 0; k < 2; k++) {
		json_t *v = json_string(plain);

		if (v)
			return v;
		/* Not UTF-8, most likely. */
		for (char *p = plain; *p; p++) {
			if (*p & 0x80)
				*p = '?';
		}
	}
	return NULL;
}

/* ---- which ports and bridges ---- */

static int find_dev(struct show *s)
{
	struct ctl *c = s->c;
	bool found = false;

	for (uint32_t i = 0; i < XB_MAX_BRIDGES; i++) {
		if (c->bridge[i].is_used && !strcmp(c->bridge[i].name, s->req.dev)) {
			s->dev_bridge = (int)i;
			found = true;
		}
	}
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		if (c->port[i].is_used && !c->port[i].is_host &&
		    !strcmp(c->port[i].name, s->req.dev)) {
			s->dev_slot = (uint16_t)i;
			found = true;
		}
	}
	return found ? 0 : -ENODEV;
}

bool show_wants_bridge(const struct show *s, uint32_t index)
{
	if (!(s->req.present & CTLMSG_HAS_DEV))
		return true;
	if (s->dev_slot && s->c->port[s->dev_slot].bridge == index)
		return true;
	return s->dev_bridge == (int)index;
}

bool show_wants_port(const struct show *s, uint16_t slot)
{
	if (!(s->req.present & CTLMSG_HAS_DEV) || slot == s->dev_slot)
		return true;
	return s->dev_bridge == (int)s->c->port[slot].bridge;
}

uint16_t show_next_port(struct show *s, bool hosts)
{
	while (s->i < XB_MAX_PORTS) {
		uint16_t slot = (uint16_t)s->i++;
		const struct ctl_port *p = &s->c->port[slot];

		if (slot && p->is_used && (hosts || !p->is_host) && show_wants_port(s, slot))
			return slot;
	}
	return 0;
}

/* ---- what more than one command tells ---- */

enum path_reason show_port_reason(const struct ctl *c, const struct ctl_port *p)
{
	const struct ctl_bridge *b = &c->bridge[p->bridge];

	if (p->reason != PATH_NONE)
		return p->reason;
	if (p->veto != PATH_NONE)
		return p->veto;
	if (b->reason != PATH_NONE)
		return b->reason;
	if (b->veto != PATH_NONE)
		return b->veto;
	if (!p->is_open || !p->is_receive)
		return PATH_WAITING;
	return b->is_open && c->is_gate_open ? PATH_NONE : PATH_RESYNC;
}

void show_path(struct show *s, json_t *o, const char *path, enum path_reason reason)
{
	show_set(s, o, "path", json_string(path));
	show_set(s, o, "reason", json_string(path_name(reason)));
	show_set(s, o, "reason_text", json_string(path_text(reason)));
}

const char *show_state_name(uint32_t state)
{
	static const char *const names[] = { "disabled", "listening", "learning", "forwarding",
					     "blocking" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

bool show_version_unit(struct show *s)
{
	show_value(s, json_pack("{s:s}", "version", PACKAGE_VERSION));
	return false;
}

/* ---- the answer ---- */

int show_new(struct ctl *c, const struct ctlmsg_request *r, struct show **out, const char **why)
{
	struct show *s = calloc(1, sizeof(*s));

	*why = "not enough memory";
	if (!s)
		return -ENOMEM;
	s->c = c;
	s->req = *r;
	s->unit = units[r->cmd];
	s->dev_bridge = SHOW_NO_BRIDGE;
	if ((r->present & CTLMSG_HAS_DEV) && find_dev(s)) {
		*why = "no bridge or port of this name is served";
		show_free(s);
		return -ENODEV;
	}
	if (r->cmd == CTLMSG_FDB_FLUSH && r->kind == CTLMSG_KIND_LOCAL) {
		*why = "addresses of the host cannot be flushed";
		show_free(s);
		return -EINVAL;
	}
	*out = s;
	return 0;
}

int show_step(struct show *s, struct evbuffer *out)
{
	size_t len = evbuffer_get_length(out);
	bool is_more;

	s->out = out;
	s->now_ns = clock_now_ns();
	if (!s->has_begun)
		show_text(s, CTLMSG_OK_HEAD);
	s->has_begun = true;
	do {
		is_more = s->unit(s);
	} while (is_more && !s->has_failed && evbuffer_get_length(out) - len < STEP_SIZE &&
		 clock_diff(clock_now_ns(), s->now_ns) < (int64_t)STEP_NS);
	if (!is_more)
		show_text(s, CTLMSG_OK_TAIL);
	if (s->has_failed)
		return -ENOMEM;
	return is_more;
}

void show_free(struct show *s)
{
	if (s)
		free(s->member);
	free(s);
}
