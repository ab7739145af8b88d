/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ctlmsg.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FILTERS (CTLMSG_HAS_DEV | CTLMSG_HAS_VLAN | CTLMSG_HAS_MAC | CTLMSG_HAS_KIND)

/* clang-format off */
static const struct {
	const char *name;
	uint32_t takes;
} cmds[CTLMSG_N] = {
	[CTLMSG_STATUS]    = { "status",    0 },
	[CTLMSG_PORT]      = { "port",      CTLMSG_HAS_DEV },
	[CTLMSG_VLAN]      = { "vlan",      CTLMSG_HAS_DEV },
	[CTLMSG_FDB]       = { "fdb",       FILTERS },
	[CTLMSG_FDB_FLUSH] = { "fdb-flush", FILTERS },
	[CTLMSG_FLOOD]     = { "flood",     CTLMSG_HAS_DEV | CTLMSG_HAS_VLAN },
	[CTLMSG_MDB]       = { "mdb",       CTLMSG_HAS_DEV },
	[CTLMSG_STATS]     = { "stats",     CTLMSG_HAS_DEV | CTLMSG_HAS_VLANS },
	[CTLMSG_VERIFY]    = { "verify",    0 },
	[CTLMSG_VERSION]   = { "version",   0 },
};

static const char *const kinds[CTLMSG_KIND_N] = {
	[CTLMSG_KIND_ANY]     = "",
	[CTLMSG_KIND_DYNAMIC] = "dynamic",
	[CTLMSG_KIND_STATIC]  = "static",
	[CTLMSG_KIND_LOCAL]   = "local",
	[CTLMSG_KIND_EXTERN]  = "extern",
	[CTLMSG_KIND_STICKY]  = "sticky",
};
/* clang-format on */

const char *ctlmsg_cmd_name(enum ctlmsg_cmd cmd)
{
	return (unsigned int)cmd < CTLMSG_N ? cmds[cmd].name : "";
}

bool ctlmsg_takes(enum ctlmsg_cmd cmd, uint32_t present)
{
	return (unsigned int)cmd < CTLMSG_N && !(present & ~cmds[cmd].takes);
}

const char *ctlmsg_kind_name(enum ctlmsg_kind kind)
{
	return (unsigned int)kind < CTLMSG_KIND_N ? kinds[kind] : "";
}

int ctlmsg_kind_parse(const char *name, enum ctlmsg_kind *out)
{
	for (int i = CTLMSG_KIND_ANY + 1; i < CTLMSG_KIND_N; i++) {
		if (!strcmp(name, kinds[i])) {
			*out = (enum ctlmsg_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

bool ctlmsg_dev_is_valid(const char *dev)
{
	size_t len = strlen(dev);

	if (!len || len >= CTLMSG_DEV_SIZE)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char b = (unsigned char)dev[i];

		if (b <= ' ' || b == 0x7f || b == '/')
			return false;
	}
	return true;
}

__attribute__((format(printf, 3, 4))) static int refuse(int err, char *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, CTLMSG_WHY_SIZE, fmt, ap);
	va_end(ap);
	/* What the client sent must not reach its terminal as control characters. */
	for (char *p = why; *p; p++) {
		if (*p < ' ' || *p > '~')
			*p = '?';
	}
	return err;
}

/* ---- arguments: each takes one value ---- */

static int take_dev(const json_t *v, struct ctlmsg_request *r, char *why)
{
	const char *s = json_string_value(v);

	if (!s || !ctlmsg_dev_is_valid(s))
		return refuse(-EINVAL, why, "\"dev\" is the name of an interface");
	memcpy(r->dev, s, strlen(s) + 1);
	return 0;
}

static int take_vlan(const json_t *v, struct ctlmsg_request *r, char *why)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 1 || n > VID_MAX)
		return refuse(-EINVAL, why, "\"vlan\" is a number from 1 to %d", VID_MAX);
	r->vid = (uint16_t)n;
	return 0;
}

static int take_mac(const json_t *v, struct ctlmsg_request *r, char *why)
{
	const char *s = json_string_value(v);

	if (!s || mac_parse(s, &r->mac))
		return refuse(-EINVAL, why, "\"mac\" is an address like 02:00:00:00:00:01");
	return 0;
}

static int take_kind(const json_t *v, struct ctlmsg_request *r, char *why)
{
	const char *s = json_string_value(v);

	if (!s || ctlmsg_kind_parse(s, &r->kind))
		return refuse(-EINVAL, why, "\"kind\" is dynamic, static, local, extern or sticky");
	return 0;
}

static int take_vlans(const json_t *v, struct ctlmsg_request *r, char *why)
{
	if (!json_is_boolean(v))
		return refuse(-EINVAL, why, "\"vlans\" is true or false");
	r->vlans = json_is_true(v);
	return 0;
}

static const struct {
	const char *name;
	uint32_t bit;
	int (*take)(const json_t *v, struct ctlmsg_request *r, char *why);
} args[] = {
	{ "dev", CTLMSG_HAS_DEV, take_dev },       { "vlan", CTLMSG_HAS_VLAN, take_vlan },
	{ "mac", CTLMSG_HAS_MAC, take_mac },       { "kind", CTLMSG_HAS_KIND, take_kind },
	{ "vlans", CTLMSG_HAS_VLANS, take_vlans },
};
#define N_ARGS (sizeof(args) / sizeof(args[0]))

static int parse_arg(const char *key, const json_t *v, struct ctlmsg_request *r, char *why)
{
	for (size_t i = 0; i < N_ARGS; i++) {
		if (strcmp(key, args[i].name) != 0)
			continue;
		if (!ctlmsg_takes(r->cmd, args[i].bit))
			break;
		r->present |= args[i].bit;
		return args[i].take(v, r, why);
	}
	return refuse(-EINVAL, why, "%s does not take the argument \"%.40s\"", cmds[r->cmd].name,
		      key);
}

/* ---- the request ---- */

static int parse_cmd(const json_t *v, struct ctlmsg_request *r, char *why)
{
	const char *s = json_string_value(v);

	if (!s)
		return refuse(-EINVAL, why, "the request has no \"cmd\"");
	for (int i = 0; i < CTLMSG_N; i++) {
		if (!strcmp(s, cmds[i].name)) {
			r->cmd = (enum ctlmsg_cmd)i;
			return 0;
		}
	}
	return refuse(-EINVAL, why, "there is no command \"%.40s\"", s);
}

static int parse_object(json_t *root, struct ctlmsg_request *r, char *why)
{
	json_t *list = json_object_get(root, "args");
	const char *key;
	json_t *v;
	int err;

	err = parse_cmd(json_object_get(root, "cmd"), r, why);
	if (err)
		return err;
	json_object_foreach(root, key, v)
	{
		if (strcmp(key, "cmd") != 0 && strcmp(key, "args") != 0)
			return refuse(-EINVAL, why, "a request has no key \"%.40s\"", key);
	}
	if (!list)
		return 0;
	if (!json_is_object(list))
		return refuse(-EINVAL, why, "\"args\" is an object");
	json_object_foreach(list, key, v)
	{
		err = parse_arg(key, v, r, why);
		if (err)
			return err;
	}
	return 0;
}

/* The JSON parser calls itself for each level, so deep input is refused before it sees it. */
static bool is_too_deep(const char *text, size_t len)
{
	bool in_string = false;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (in_string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				in_string = false;
		} else if (text[i] == '"') {
			in_string = true;
		} else if (text[i] == '{' || text[i] == '[') {
			if (++depth > CTLMSG_DEPTH_MAX)
				return true;
		} else if (text[i] == '}' || text[i] == ']') {
			depth--;
		}
	}
	return false;
}

int ctlmsg_parse(const char *text, size_t len, struct ctlmsg_request *out, char *why)
{
	struct ctlmsg_request r = { 0 };
	json_error_t error;
	json_t *root;
	int err;

	if (len > CTLMSG_REQUEST_MAX)
		return refuse(-EBADMSG, why, "the request is longer than %d bytes",
			      CTLMSG_REQUEST_MAX);
	if (is_too_deep(text, len))
		return refuse(-EBADMSG, why, "the request is nested too deeply");
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(root)) {
		json_decref(root);
		return refuse(-EBADMSG, why, "the request is not a JSON object");
	}
	err = parse_object(root, &r, why);
	json_decref(root);
	if (!err)
		*out = r;
	return err;
}

/* ---- writing ---- */

static json_t *request_args(const struct ctlmsg_request *r)
{
	json_t *o = json_object();
	char mac[MAC_STR_SIZE];

	if (r->present & CTLMSG_HAS_DEV)
		json_object_set_new(o, "dev", json_string(r->dev));
	if (r->present & CTLMSG_HAS_VLAN)
		json_object_set_new(o, "vlan", json_integer(r->vid));
	if (r->present & CTLMSG_HAS_MAC)
		json_object_set_new(o, "mac", json_string(mac_format(&r->mac, mac)));
	if (r->present & CTLMSG_HAS_KIND)
		json_object_set_new(o, "kind", json_string(ctlmsg_kind_name(r->kind)));
	if (r->present & CTLMSG_HAS_VLANS)
		json_object_set_new(o, "vlans", json_boolean(r->vlans));
	return o;
}

int ctlmsg_format(const struct ctlmsg_request *r, char *buf, size_t size)
{
	json_t *root =
		json_pack("{s:s, s:o}", "cmd", ctlmsg_cmd_name(r->cmd), "args", request_args(r));
	size_t len = json_dumpb(root, buf, size, JSON_COMPACT);

	json_decref(root);
	if (!len || len + 2 > size)
		return -ENOSPC;
	memcpy(buf + len, "\n", 2);
	return (int)len + 1;
}

size_t ctlmsg_format_error(const char *why, int err, char *buf, size_t size)
{
	json_t *root =
		json_pack("{s:b, s:s, s:i}", "ok", 0, "error", why, "errno", err < 0 ? -err : err);
	size_t len = root ? json_dumpb(root, buf, size - 2, JSON_COMPACT | JSON_ENSURE_ASCII) : 0;

	json_decref(root);
	if (!len || len > size - 2) {
		/* Not UTF-8, or too long. */
		len = (size_t)snprintf(buf, size - 2,
				       "{\"ok\":false,\"error\":\"error\",\"errno\":%d}",
				       err < 0 ? -err : err);
	}
	memcpy(buf + len, "\n", 2);
	return len + 1;
}
