/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "livectl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "xbridgectl/conn.h"

/*
 * The data of the answer, which the caller owns; NULL if it was refused. False
 * if there was no answer.
 */
static bool ask(const char *socket, const char *request, json_t **data)
{
	bool is_answer;
	json_t *answer;
	char *text;
	size_t len;

	*data = NULL;
	if (conn_ask(socket, request, &text, &len))
		return false;
	answer = json_loadb(text, len, 0, NULL);
	free(text);
	if (json_is_true(json_object_get(answer, "ok")))
		*data = json_incref(json_object_get(answer, "data"));
	is_answer = answer;
	json_decref(answer);
	return is_answer;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* ---- state ---- */

static enum livectl_state check_tables(const char *socket, char *why)
{
	enum livectl_state state = LIVECTL_READY;
	const json_t *d;
	json_t *o;

	(void)ask(socket, "{\"cmd\":\"verify\"}\n", &o);
	d = json_array_get(json_object_get(o, "differences"), 0);
	if (!o) {
		snprintf(why, LIVECTL_WHY_SIZE, "the daemon does not answer");
		state = LIVECTL_NOT_YET;
	} else if (!json_is_true(json_object_get(o, "complete"))) {
		snprintf(why, LIVECTL_WHY_SIZE, "verify could not read the kernel's tables");
		state = LIVECTL_NOT_YET;
	} else if (json_integer_value(json_object_get(o, "n_differences"))) {
		snprintf(why, LIVECTL_WHY_SIZE, "%s, %s: %s in the kernel, %s in the daemon",
			 text_of(d, "what"), text_of(d, "object"), text_of(d, "kernel"),
			 text_of(d, "xbridged"));
		state = LIVECTL_NOT_YET;
	}
	json_decref(o);
	return state;
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(word, *list))
			return true;
	}
	return false;
}

static enum livectl_state check_port(const json_t *port, char *why)
{
	static const char *const moving[] = { "waiting", "resync", NULL };
	/* Nothing on the bench is a reason for these. */
	static const char *const broken[] = { "xdp-busy", "xdp-refused", "socket",     "queues",
					      "limit",    "conflict",    "failed",     "virtual",
					      "excluded", "configured",  "vlan-accel", NULL };
	const char *reason = text_of(port, "reason");

	snprintf(why, LIVECTL_WHY_SIZE, "%s: %s", text_of(port, "ifname"),
		 text_of(port, "reason_text"));
	if (is_one_of(reason, broken))
		return LIVECTL_BROKEN;
	return is_one_of(reason, moving) ? LIVECTL_NOT_YET : LIVECTL_READY;
}

static enum livectl_state check_paths(const json_t *status, char *why)
{
	const json_t *bridge, *port;
	size_t i, k;

	if (strcmp(text_of(status, "gate"), "open") != 0 ||
	    json_is_true(json_object_get(status, "resync_due"))) {
		snprintf(why, LIVECTL_WHY_SIZE, "the gate is shut, or all is being read again");
		return LIVECTL_NOT_YET;
	}
	json_array_foreach(json_object_get(status, "bridges"), i, bridge)
	{
		json_array_foreach(json_object_get(bridge, "ports"), k, port)
		{
			enum livectl_state state = check_port(port, why);

			if (state != LIVECTL_READY)
				return state;
		}
	}
	return LIVECTL_READY;
}

static enum livectl_state check_status(const char *socket, char *why)
{
	enum livectl_state state;
	json_t *status;

	(void)ask(socket, "{\"cmd\":\"status\"}\n", &status);
	if (!status) {
		snprintf(why, LIVECTL_WHY_SIZE, "the daemon does not answer");
		return LIVECTL_NOT_YET;
	}
	state = check_paths(status, why);
	json_decref(status);
	return state;
}

/*
 * The tables last, but what verify finds out by reading events must have been
 * acted on too.
 */
enum livectl_state livectl_state(const char *socket, char *why)
{
	enum livectl_state state = check_status(socket, why);

	if (state == LIVECTL_READY)
		state = check_tables(socket, why);
	return state == LIVECTL_READY ? check_status(socket, why) : state;
}

/* ---- counters ---- */

static uint64_t count_of(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

int livectl_counts(const char *socket, const char *port, struct livectl_counts *out)
{
	char request[128];
	const json_t *p;
	json_t *o;
	size_t i;

	*out = (struct livectl_counts){ 0 };
	snprintf(request, sizeof(request), "{\"cmd\":\"stats\",\"args\":{\"dev\":\"%s\"}}\n", port);
	if (!ask(socket, request, &o))
		return -EIO;
	json_array_foreach(json_object_get(o, "ports"), i, p)
	{
		const json_t *passed = json_object_get(p, "passed");

		if (strcmp(text_of(p, "ifname"), port) != 0)
			continue;
		out->redirected = count_of(p, "redirected");
		for (uint32_t k = PUNT_NONE + 1; k < PUNT_N; k++)
			out->passed[k] = count_of(passed, punt_name(k));
	}
	json_decref(o);
	return 0;
}
