/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "xbridgectl/text.h"

/* "  WHAT: name n, name n" for the numbers that are not 0; nothing if all are. */
static void print_nonzero(FILE *f, const char *what, const json_t *o)
{
	bool is_first = true;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)o, key, v)
	{
		if (!json_integer_value(v))
			continue;
		if (is_first)
			fprintf(f, "    %s:", what);
		fprintf(f, "%s %s %lld", is_first ? "" : ",", key,
			(long long)json_integer_value(v));
		is_first = false;
	}
	if (!is_first)
		fputc('\n', f);
}

static void print_rx_tx(FILE *f, const json_t *o)
{
	fprintf(f, "rx %lld frames %lld bytes, tx %lld frames %lld bytes\n",
		text_number(o, "rx_frames"), text_number(o, "rx_bytes"),
		text_number(o, "tx_frames"), text_number(o, "tx_bytes"));
}

static void print_port(FILE *f, const json_t *p)
{
	static const char *const others[] = { "redirected", "rx_flooded",  "learned",
					      "moved",      "own_source",  "csum_completed",
					      "fdb_full",   "fdb_limit",   "fdb_busy",
					      "fdb_sticky", "tx_in_flight" };
	json_t *o = json_object();

	if (json_is_true(json_object_get(p, "host")))
		fprintf(f, "%s as the host's port: ", text_get(p, "ifname"));
	else
		fprintf(f, "%s of %s, %s path: ", text_get(p, "ifname"), text_get(p, "master"),
			text_get(p, "path"));
	print_rx_tx(f, p);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		json_object_set(o, others[i], json_object_get(p, others[i]));
	print_nonzero(f, "user path", o);
	json_decref(o);
	print_nonzero(f, "passed to the kernel", json_object_get(p, "passed"));
	print_nonzero(f, "dropped", json_object_get(p, "dropped"));
	print_nonzero(f, "sockets", json_object_get(p, "xsk"));
}

static void print_bridge(FILE *f, const json_t *b)
{
	json_t *v;
	size_t i;

	fprintf(f, "%s in all: ", text_get(b, "ifname"));
	print_rx_tx(f, b);
	print_nonzero(f, "fdb", json_object_get(b, "fdb"));
	json_array_foreach(json_object_get(b, "vlans"), i, v)
	{
		fprintf(f, "    vlan %lld: ", text_number(v, "vlan"));
		print_rx_tx(f, v);
	}
}

void text_stats(FILE *f, const json_t *data)
{
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(data, "ports"), i, v) print_port(f, v);
	json_array_foreach(json_object_get(data, "bridges"), i, v) print_bridge(f, v);
	fputs("daemon\n", f);
	print_nonzero(f, "workers", json_object_get(data, "workers"));
	print_nonzero(f, "control", json_object_get(data, "control"));
}
