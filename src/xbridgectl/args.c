/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbridgectl/args.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
	const char *name;
	int value;
};

enum verb { VERB_SHOW, VERB_FLUSH };

enum filter {
	FILTER_DEV,
	FILTER_VLAN,
	FILTER_MAC,
	FILTER_VLANS,
	FILTER_KIND, /* the first of enum ctlmsg_kind, which follow */
};

static const struct word objects[] = {
	{ "fdb", CTLMSG_FDB },         { "flood", CTLMSG_FLOOD },
	{ "mdb", CTLMSG_MDB },         { "port", CTLMSG_PORT },
	{ "stats", CTLMSG_STATS },     { "status", CTLMSG_STATUS },
	{ "version", CTLMSG_VERSION }, { "verify", CTLMSG_VERIFY },
	{ "vlan", CTLMSG_VLAN },       { NULL, 0 },
};

static const struct word verbs[] = {
	{ "show", VERB_SHOW },
	{ "list", VERB_SHOW },
	{ "flush", VERB_FLUSH },
	{ NULL, 0 },
};

/* "br", "brport", "vid" and "permanent" are what iproute2 calls them. */
static const struct word filters[] = {
	{ "dev", FILTER_DEV },
	{ "br", FILTER_DEV },
	{ "brport", FILTER_DEV },
	{ "vlan", FILTER_VLAN },
	{ "vid", FILTER_VLAN },
	{ "vlans", FILTER_VLANS },
	{ "mac", FILTER_MAC },
	{ "dynamic", FILTER_KIND + CTLMSG_KIND_DYNAMIC },
	{ "static", FILTER_KIND + CTLMSG_KIND_STATIC },
	{ "local", FILTER_KIND + CTLMSG_KIND_LOCAL },
	{ "permanent", FILTER_KIND + CTLMSG_KIND_LOCAL },
	{ "extern", FILTER_KIND + CTLMSG_KIND_EXTERN },
	{ "extern_learn", FILTER_KIND + CTLMSG_KIND_EXTERN },
	{ "sticky", FILTER_KIND + CTLMSG_KIND_STICKY },
	{ NULL, 0 },
};

struct parser {
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct parser *p, const char *fmt,
							...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, p->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* The value of @text; a shortened word counts if all that begin so mean the same. */
static int find_word(const struct parser *p, const struct word *v, const char *text, int *out)
{
	const struct word *found = NULL;

	for (; v->name; v++) {
		if (!strcmp(v->name, text)) {
			*out = v->value;
			return 0;
		}
		if (!*text || strncmp(v->name, text, strlen(text)) != 0)
			continue;
		if (found && found->value != v->value)
			return refuse(p, "\"%s\" may be %s or %s", text, found->name, v->name);
		found = v;
	}
	if (!found)
		return refuse(p, "unknown word \"%s\"", text);
	*out = found->value;
	return 0;
}

static int parse_vid(const char *text, uint16_t *out)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < 1 || n > VID_MAX)
		return -EINVAL;
	*out = (uint16_t)n;
	return 0;
}

/* Takes the value of a filter that has one. */
static int take_value(const struct parser *p, int filter, const char *value,
		      struct ctlmsg_request *r)
{
	switch (filter) {
	case FILTER_DEV:
		if (!ctlmsg_dev_is_valid(value))
			return refuse(p, "\"%s\" is not the name of an interface", value);
		memcpy(r->dev, value, strlen(value) + 1);
		return 0;
	case FILTER_VLAN:
		if (parse_vid(value, &r->vid))
			return refuse(p, "\"%s\" is not a VLAN, 1 to %d", value, VID_MAX);
		return 0;
	default:
		if (mac_parse(value, &r->mac))
			return refuse(p, "\"%s\" is not a MAC address", value);
		return 0;
	}
}

static uint32_t filter_bit(int filter)
{
	switch (filter) {
	case FILTER_DEV:
		return CTLMSG_HAS_DEV;
	case FILTER_VLAN:
		return CTLMSG_HAS_VLAN;
	case FILTER_MAC:
		return CTLMSG_HAS_MAC;
	case FILTER_VLANS:
		return CTLMSG_HAS_VLANS;
	default:
		return CTLMSG_HAS_KIND;
	}
}

/* One filter of @n words that are left. How many it took, or -EINVAL. */
static int parse_filter(const struct parser *p, int n, char *const *word, struct ctlmsg_request *r)
{
	int filter = 0, err = find_word(p, filters, word[0], &filter);
	uint32_t bit;

	if (err)
		return err;
	bit = filter_bit(filter);
	if (!ctlmsg_takes(r->cmd, bit))
		return refuse(p, "%s does not take \"%s\"", ctlmsg_cmd_name(r->cmd), word[0]);
	if (r->present & bit)
		return refuse(p, "\"%s\" is given twice", word[0]);
	r->present |= bit;
	if (filter >= FILTER_KIND) {
		r->kind = (enum ctlmsg_kind)(filter - FILTER_KIND);
		return 1;
	}
	if (filter == FILTER_VLANS) {
		r->vlans = true;
		return 1;
	}
	if (n < 2)
		return refuse(p, "\"%s\" needs a value", word[0]);
	err = take_value(p, filter, word[1], r);
	return err ? err : 2;
}

/* The word after the object; it may be left out, for "show". */
static int parse_verb(const struct parser *p, const char *text, struct ctlmsg_request *r)
{
	int verb = VERB_SHOW, err = find_word(p, verbs, text, &verb);

	if (err)
		return err;
	if (verb == VERB_FLUSH) {
		if (r->cmd != CTLMSG_FDB)
			return refuse(p, "only fdb has \"flush\"");
		r->cmd = CTLMSG_FDB_FLUSH;
	}
	return 0;
}

int args_parse(int n, char *const *word, struct ctlmsg_request *out, char *why, size_t size)
{
	const struct parser p = { why, size };
	struct ctlmsg_request r = { 0 };
	int cmd = 0, i, k;

	if (n < 1)
		return refuse(&p, "no command is given");
	if (find_word(&p, objects, word[0], &cmd))
		return -EINVAL;
	r.cmd = (enum ctlmsg_cmd)cmd;
	if (n > 1 && parse_verb(&p, word[1], &r))
		return -EINVAL;
	for (i = 2; i < n; i += k) {
		k = parse_filter(&p, n - i, word + i, &r);
		if (k < 0)
			return k;
	}
	*out = r;
	return 0;
}
