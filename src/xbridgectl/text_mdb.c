/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "xbridgectl/text.h"

static void print_exception(FILE *f, const char *what, const json_t *o)
{
	const char *reason = text_get(o, "reason");

	if (!json_is_object(o) || !strcmp(reason, "none"))
		return;
	fprintf(f, "    %s: kernel path  %s: %s\n", what, reason, text_get(o, "reason_text"));
}

void text_exceptions(FILE *f, const json_t *of)
{
	print_exception(f, "multicast", json_object_get(of, "multicast"));
	print_exception(f, "ARP and ND", json_object_get(of, "neigh"));
}

static void print_querier(FILE *f, const char *family, const json_t *q)
{
	const char *address = json_string_value(json_object_get(q, "address"));
	const char *port = json_string_value(json_object_get(q, "ifname"));

	fprintf(f, "    %s querier: %s (%s", family, text_get(q, "state"), text_get(q, "why"));
	if (text_number(q, "wait"))
		fprintf(f, ", for %lld s more", text_number(q, "wait"));
	fputc(')', f);
	if (address)
		fprintf(f, " %s", address);
	if (port)
		fprintf(f, " behind %s", port);
	if (text_number(q, "timer"))
		fprintf(f, " heard of until %lld s from now", text_number(q, "timer"));
	fputc('\n', f);
}

static void print_routers(FILE *f, const char *family, const json_t *list)
{
	json_t *name;
	size_t i;

	if (!json_array_size(list))
		return;
	fprintf(f, "    %s routers:", family);
	json_array_foreach(list, i, name)
		fprintf(f, " %s", json_string_value(name) ? json_string_value(name) : "?");
	fputc('\n', f);
}

static void print_group(FILE *f, const json_t *g)
{
	const char *source = json_string_value(json_object_get(g, "src"));
	json_t *m;
	size_t i;

	fprintf(f, "    grp %s", text_get(g, "grp"));
	if (source)
		fprintf(f, " src %s", source);
	if (text_number(g, "vlan"))
		fprintf(f, " vlan %lld", text_number(g, "vlan"));
	fputc(':', f);
	json_array_foreach(json_object_get(g, "members"), i, m)
	{
		fprintf(f, " %s", text_get(m, "ifname"));
		if (json_object_get(m, "filter_mode"))
			fprintf(f, " (%s)", text_get(m, "filter_mode"));
		if (json_is_true(json_object_get(m, "blocked")))
			fputs(" (blocked)", f);
	}
	fputc('\n', f);
}

void text_mdb(FILE *f, const json_t *bridge)
{
	const json_t *m = json_object_get(bridge, "multicast");
	const json_t *querier = json_object_get(bridge, "querier");
	const json_t *router = json_object_get(bridge, "router");
	json_t *g;
	size_t i;

	if (!json_is_true(json_object_get(m, "snooping"))) {
		fprintf(f, "%s: snooping is off, multicast is flooded\n",
			text_get(bridge, "ifname"));
		return;
	}
	fprintf(f, "%s: multicast on the %s path", text_get(bridge, "ifname"), text_get(m, "path"));
	if (strcmp(text_get(m, "reason"), "none") != 0)
		fprintf(f, "  %s: %s", text_get(m, "reason"), text_get(m, "reason_text"));
	fputc('\n', f);
	print_querier(f, "IPv4", json_object_get(querier, "ipv4"));
	print_querier(f, "IPv6", json_object_get(querier, "ipv6"));
	print_routers(f, "IPv4", json_object_get(router, "ipv4"));
	print_routers(f, "IPv6", json_object_get(router, "ipv6"));
	json_array_foreach(json_object_get(bridge, "groups"), i, g) print_group(f, g);
}
