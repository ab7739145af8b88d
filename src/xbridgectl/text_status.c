/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <time.h>

#include "xbridgectl/text.h"

#define HISTORY_SHOWN 10

static void print_uptime(FILE *f, long long s)
{
	if (s >= 86400)
		fprintf(f, "%lldd ", s / 86400);
	fprintf(f, "%02lld:%02lld:%02lld", s / 3600 % 24, s / 60 % 60, s % 60);
}

static void print_frames(FILE *f, const json_t *frames)
{
	long long lost = text_number(frames, "lost");

	if (!json_is_object(frames)) {
		fputs("frames: a worker does not answer\n", f);
		return;
	}
	fprintf(f, "frames: %lld of %lld free, %lld to receive, %lld to send",
		text_number(frames, "pool"), text_number(frames, "all"),
		text_number(frames, "fill"), text_number(frames, "tx"));
	if (lost)
		fprintf(f, ", %lld LOST", lost);
	fputc('\n', f);
}

static void print_daemon(FILE *f, const json_t *data)
{
	long long workers = text_number(data, "workers"), resyncs = text_number(data, "resyncs");

	fprintf(f, "xbridged %s, pid %lld, up ", text_get(data, "version"),
		text_number(data, "pid"));
	print_uptime(f, text_number(data, "uptime"));
	fprintf(f, ", %lld worker%s, %lld resync%s%s\n", workers, workers == 1 ? "" : "s", resyncs,
		resyncs == 1 ? "" : "s",
		json_is_true(json_object_get(data, "resync_due")) ? " and one under way" : "");
	if (strcmp(text_get(data, "gate"), "open") != 0)
		fputs("The gate is shut: the kernel forwards every frame.\n", f);
	print_frames(f, json_object_get(data, "frames"));
}

/* Why a port or bridge is not on the user path, and what else is to be known. */
static void print_reason(FILE *f, const json_t *o)
{
	const char *note = text_get(o, "note"), *reason = text_get(o, "reason");

	if (strcmp(reason, "none") != 0)
		fprintf(f, "  %s: %s", reason, text_get(o, "reason_text"));
	if (note[0] && strcmp(note, "?") != 0)
		fprintf(f, "  [%s]", note);
	fputc('\n', f);
}

static void print_bridge(FILE *f, const json_t *b)
{
	const json_t *ports = json_object_get(b, "ports");
	size_t n = json_array_size(ports), i;
	json_t *p;

	fprintf(f, "\n%s: %s path, %lld of %zu port%s in user space, %lld FDB entries",
		text_get(b, "ifname"), text_get(b, "path"), text_number(b, "ports_user"), n,
		n == 1 ? "" : "s", text_number(b, "fdb_entries"));
	if (!strcmp(text_get(b, "source"), "file"))
		fputs(", from the configuration file", f);
	if (json_is_true(json_object_get(b, "vlan_filtering")))
		fprintf(f, ", VLANs %s", text_get(b, "vlan_protocol"));
	print_reason(f, b);
	if (text_number(b, "ports_user"))
		text_exceptions(f, b);
	json_array_foreach(ports, i, p)
	{
		fprintf(f, "  %-15s %-6s  %-10s", text_get(p, "ifname"), text_get(p, "path"),
			text_get(p, "state"));
		print_reason(f, p);
	}
}

static void print_history(FILE *f, const json_t *list)
{
	size_t n = json_array_size(list);

	if (n)
		fputc('\n', f);
	for (size_t i = n > HISTORY_SHOWN ? n - HISTORY_SHOWN : 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);
		time_t t = (time_t)json_number_value(json_object_get(item, "time"));
		char when[32] = "";
		struct tm tm;

		if (localtime_r(&t, &tm))
			strftime(when, sizeof(when), "%F %T", &tm);
		fprintf(f, "%s %-7s %s\n", when, text_get(item, "level"), text_get(item, "text"));
	}
}

void text_status(FILE *f, const json_t *data)
{
	const json_t *bridges = json_object_get(data, "bridges");
	json_t *b;
	size_t i;

	print_daemon(f, data);
	json_array_foreach(bridges, i, b) print_bridge(f, b);
	if (!json_array_size(bridges))
		fputs("\nNo bridge is served: there is none, or the configuration leaves all out.\n",
		      f);
	print_history(f, json_object_get(data, "history"));
}
