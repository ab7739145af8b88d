/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbridgectl/text.h"

#include <errno.h>
#include <string.h>

const char *text_get(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "?";
}

long long text_number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void each(FILE *f, const json_t *list, void (*print)(FILE *f, const json_t *v))
{
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v) print(f, v);
}

/* ---- ports, as `bridge -d link` ---- */

#define LINE_WIDTH 76

static void print_options(FILE *f, const json_t *port)
{
	const char *key;
	int column = 0;
	json_t *v;

	json_object_foreach((json_t *)port, key, v)
	{
		/* What is xbridged's own comes below. */
		if (!json_is_boolean(v) || !strcmp(key, "recovers_tags") || !strcmp(key, "virtual"))
			continue;
		if (column && column + strlen(key) + strlen(" off") > LINE_WIDTH) {
			fputc('\n', f);
			column = 0;
		}
		column += fprintf(f, "%s%s %s", column ? " " : "    ", key,
				  json_is_true(v) ? "on" : "off");
	}
	if (column)
		fputc('\n', f);
}

static void print_path(FILE *f, const json_t *port)
{
	const char *note = text_get(port, "note");

	fprintf(f, "    path %s", text_get(port, "path"));
	if (strcmp(text_get(port, "path"), "user") != 0)
		fprintf(f, " reason %s (%s)", text_get(port, "reason"),
			text_get(port, "reason_text"));
	fprintf(f, " mode %s", text_get(port, "mode"));
	if (text_number(port, "queues"))
		fprintf(f, " queues %lld", text_number(port, "queues"));
	if (text_number(port, "xdp_prog_id"))
		fprintf(f, " xdp %lld", text_number(port, "xdp_prog_id"));
	if (json_is_true(json_object_get(port, "recovers_tags")))
		fputs(" recovers_tags", f);
	fputc('\n', f);
	if (!strcmp(text_get(port, "path"), "user"))
		text_exceptions(f, port);
	if (note[0] && strcmp(note, "?") != 0)
		fprintf(f, "    note: %s\n", note);
}

void text_port(FILE *f, const json_t *port)
{
	const json_t *n = json_object_get(port, "counters");
	const char *sep = "";
	json_t *flag;
	size_t i;

	fprintf(f, "%lld: %s: <", text_number(port, "ifindex"), text_get(port, "ifname"));
	json_array_foreach(json_object_get(port, "flags"), i, flag)
	{
		fprintf(f, "%s%s", sep, json_string_value(flag));
		sep = ",";
	}
	fprintf(f, "> mtu %lld master %s state %s\n", text_number(port, "mtu"),
		text_get(port, "master"), text_get(port, "state"));
	print_options(f, port);
	print_path(f, port);
	fprintf(f, "    frames: rx %lld tx %lld redirected %lld passed %lld dropped %lld\n",
		text_number(n, "rx_frames"), text_number(n, "tx_frames"),
		text_number(n, "redirected"), text_number(n, "passed"), text_number(n, "dropped"));
}

/* ---- VLANs, as `bridge vlan` ---- */

#define NAME_WIDTH 18

void text_vlan(FILE *f, const json_t *port)
{
	const char *name = text_get(port, "ifname");
	json_t *v, *flag;
	size_t i, k;

	json_array_foreach(json_object_get(port, "vlans"), i, v)
	{
		const char *state = text_get(v, "state");

		fprintf(f, "%-*s%lld", NAME_WIDTH, i ? "" : name, text_number(v, "vlan"));
		if (text_number(v, "vlanEnd"))
			fprintf(f, "-%lld", text_number(v, "vlanEnd"));
		json_array_foreach(json_object_get(v, "flags"), k, flag)
			fprintf(f, " %s", json_string_value(flag));
		if (strcmp(state, "forwarding") != 0)
			fprintf(f, " state %s", state);
		fputc('\n', f);
	}
}

/* ---- flood arrays ---- */

static void print_members(FILE *f, const char *name, const json_t *list)
{
	json_t *member, *flag;
	size_t i, k;

	fprintf(f, "    %-16s", name);
	json_array_foreach(list, i, member)
	{
		const char *sep = "(";

		fprintf(f, " %s", text_get(member, "ifname"));
		json_array_foreach(json_object_get(member, "flags"), k, flag)
		{
			fprintf(f, "%s%s", sep, json_string_value(flag));
			sep = ",";
		}
		if (*sep == ',')
			fputc(')', f);
	}
	if (!json_array_size(list))
		fputs(" nobody", f);
	fputc('\n', f);
}

void text_flood(FILE *f, const json_t *vlan)
{
	fprintf(f, "%s", text_get(vlan, "ifname"));
	if (text_number(vlan, "vlan"))
		fprintf(f, " vlan %lld", text_number(vlan, "vlan"));
	fputc('\n', f);
	print_members(f, "unknown unicast", json_object_get(vlan, "unknown_unicast"));
	print_members(f, "multicast", json_object_get(vlan, "multicast"));
	print_members(f, "broadcast", json_object_get(vlan, "broadcast"));
}

/* ---- differences ---- */

static const char *or_nothing(const char *s)
{
	return *s ? s : "nothing";
}

static void print_difference(FILE *f, const json_t *d)
{
	fprintf(f, "%s: %s: kernel %s, xbridged %s\n", text_get(d, "what"), text_get(d, "object"),
		or_nothing(text_get(d, "kernel")), or_nothing(text_get(d, "xbridged")));
}

static void print_verify(FILE *f, const json_t *data)
{
	each(f, json_object_get(data, "differences"), print_difference);
	fprintf(f,
		"%lld differences in %lld links, %lld VLANs of ports, %lld FDB entries, "
		"%lld members of groups\n",
		text_number(data, "n_differences"), text_number(data, "links"),
		text_number(data, "vlans"), text_number(data, "fdb_entries"),
		text_number(data, "mdb_entries"));
}

/* ---- all ---- */

void text_print(FILE *f, enum ctlmsg_cmd cmd, const json_t *data)
{
	switch (cmd) {
	case CTLMSG_STATUS:
		text_status(f, data);
		break;
	case CTLMSG_PORT:
		each(f, data, text_port);
		break;
	case CTLMSG_VLAN:
		fprintf(f, "%-*s%s\n", NAME_WIDTH, "port", "vlan-id");
		each(f, data, text_vlan);
		break;
	case CTLMSG_FDB:
		each(f, data, text_fdb);
		break;
	case CTLMSG_FLOOD:
		each(f, data, text_flood);
		break;
	case CTLMSG_MDB:
		each(f, data, text_mdb);
		break;
	case CTLMSG_VERIFY:
		print_verify(f, data);
		break;
	case CTLMSG_STATS:
		text_stats(f, data);
		break;
	case CTLMSG_FDB_FLUSH:
		fprintf(f, "Flushed %lld %s\n", text_number(data, "flushed"),
			text_number(data, "flushed") == 1 ? "entry" : "entries");
		break;
	default:
		fprintf(f, "xbridged %s\n", text_get(data, "version"));
		break;
	}
}
