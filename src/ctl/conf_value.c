// SPDX-License-Identifier: GPL-2.0-or-later
#include "ctl/conf_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/conf.h"

#define CPU_MAX   1023
#define GLOBS_MAX 256

struct scale {
	const char *suffix; /* NULL ends the table */
	uint32_t factor;
};

struct unit {
	const char *name;
	const char *example;
	struct scale scales[4];
};

static const struct unit units[] = {
	[CONF_UNIT_NONE] = { "", "", { { NULL, 0 } } },
	[CONF_UNIT_MS] = { " ms", " (as 500, 500ms or 2s)", { { "ms", 1 }, { "s", 1000 } } },
	[CONF_UNIT_S] = { " s", " (as 300, 300s or 5min)", { { "s", 1 }, { "min", 60 } } },
	[CONF_UNIT_BYTES] = { " bytes",
			      " (as 65536, 64KiB or 16MiB)",
			      { { "KiB", 1024 }, { "MiB", 1024 * 1024 } } },
};

void conf_error_add(struct conf_errors *e, unsigned int line, const char *fmt, ...)
{
	va_list ap;
	char *msg;
	int n;

	if (e->n == CONF_ERRORS_MAX) {
		e->n_more++;
		return;
	}
	va_start(ap, fmt);
	n = vasprintf(&msg, fmt, ap);
	va_end(ap);
	if (n < 0) {
		e->no_memory = true;
		return;
	}
	e->v[e->n] = (struct conf_error){ .line = line, .number = e->n, .msg = msg };
	e->n++;
}

bool conf_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < CONF_NAME_SIZE && !strpbrk(name, "/: \t\n\r\v\f") &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Reads decimal digits, at most nine; what follows is at *@end. */
static bool read_digits(const char *s, const char **end, uint32_t *out)
{
	uint32_t v = 0;
	unsigned int n = 0;

	for (; *s >= '0' && *s <= '9'; s++) {
		if (++n > 9)
			return false;
		v = v * 10 + (uint32_t)(*s - '0');
	}
	*end = s;
	*out = v;
	return n > 0;
}

static bool read_number(const char *s, enum conf_unit unit, uint64_t *out)
{
	const char *suffix;
	uint32_t v;

	if (!read_digits(s, &suffix, &v))
		return false;
	*out = v;
	if (!*suffix)
		return true;
	for (const struct scale *c = units[unit].scales; c->suffix; c++) {
		if (!strcmp(suffix, c->suffix)) {
			*out = (uint64_t)v * c->factor;
			return true;
		}
	}
	return false;
}

static void add_wrong(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		      const char *allowed)
{
	conf_error_add(e, v->line, "%s is \"%.*s%s\"; allowed: %s", k->name, CONF_CUT(v->text),
		       allowed);
}

bool conf_set_number(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		     uint32_t n, void *field)
{
	char allowed[96];
	uint64_t x;

	(void)n;
	if (read_number(v->text, k->unit, &x) && x >= k->min && x <= k->max) {
		*(uint32_t *)field = (uint32_t)x;
		return true;
	}
	snprintf(allowed, sizeof(allowed), "a number from %u to %u%s%s", k->min, k->max,
		 units[k->unit].name, units[k->unit].example);
	add_wrong(e, k, v, allowed);
	return false;
}

bool conf_set_ring(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field)
{
	char allowed[64];
	uint64_t x;

	(void)n;
	if (read_number(v->text, k->unit, &x) && x >= k->min && x <= k->max && !(x & (x - 1))) {
		*(uint32_t *)field = (uint32_t)x;
		return true;
	}
	snprintf(allowed, sizeof(allowed), "a power of two from %u to %u", k->min, k->max);
	add_wrong(e, k, v, allowed);
	return false;
}

bool conf_set_choice(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		     uint32_t n, void *field)
{
	char allowed[96];
	size_t len = 0;

	(void)n;
	for (const struct conf_choice *c = k->choices; c->name; c++) {
		if (!strcmp(c->name, v->text)) {
			memcpy(field, &c->value, sizeof(c->value));
			return true;
		}
	}
	for (const struct conf_choice *c = k->choices; c->name && len < sizeof(allowed); c++)
		len += (size_t)snprintf(allowed + len, sizeof(allowed) - len, "%s%s",
					len ? ", " : "", c->name);
	add_wrong(e, k, v, allowed);
	return false;
}

bool conf_set_bool(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field)
{
	bool yes = !strcmp(v->text, "yes");

	(void)n;
	if (!yes && strcmp(v->text, "no") != 0) {
		add_wrong(e, k, v, "yes, no");
		return false;
	}
	*(bool *)field = yes;
	return true;
}

bool conf_set_name(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field)
{
	(void)n;
	if (!conf_name_is_valid(v->text)) {
		add_wrong(e, k, v, "an interface name of 1 to 15 bytes without / : or space");
		return false;
	}
	memcpy(field, v->text, strlen(v->text) + 1);
	return true;
}

bool conf_set_path(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field)
{
	size_t len = strlen(v->text);

	(void)n;
	if (v->text[0] != '/' || len < 2 || len >= CONF_PATH_SIZE) {
		add_wrong(e, k, v, "an absolute path of at most 107 bytes");
		return false;
	}
	memcpy(field, v->text, len + 1);
	return true;
}

bool conf_set_group(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		    uint32_t n, void *field)
{
	size_t len = strlen(v->text);

	(void)n;
	if (len >= CONF_GROUP_SIZE || strpbrk(v->text, ":/, ") || v->text[0] == '-') {
		add_wrong(e, k, v, "the name of a group, at most 32 bytes, or \"\" for none");
		return false;
	}
	memcpy(field, v->text, len + 1);
	return true;
}

static bool glob_is_valid(const char *s)
{
	size_t len = strlen(s);

	return len > 0 && len < CONF_GLOB_SIZE && !strpbrk(s, "/: ");
}

bool conf_set_globs(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		    uint32_t n, void *field)
{
	struct conf_globs *g = field;
	struct conf_globs new = { .n = n };

	if (n > GLOBS_MAX) {
		conf_error_add(e, v->line, "%s has %u patterns; allowed: at most %d", k->name, n,
			       GLOBS_MAX);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!glob_is_valid(v[i].text)) {
			add_wrong(e, k, &v[i],
				  "a name or pattern of 1 to 63 bytes without / : or space");
			return false;
		}
	}
	new.v = calloc(n + 1, sizeof(*new.v));
	if (!new.v) {
		e->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		memcpy(new.v[i], v[i].text, strlen(v[i].text) + 1);
	free(g->v);
	*g = new;
	return true;
}

/* "N" or "N-M", both within @min..@max. */
static bool read_range(const char *s, const struct conf_key *k, uint32_t *first, uint32_t *last)
{
	const char *end;

	if (!read_digits(s, &end, first))
		return false;
	*last = *first;
	if (*end == '-' && !read_digits(end + 1, &end, last))
		return false;
	return !*end && *first >= k->min && *first <= *last && *last <= k->max;
}

bool conf_set_vlans(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		    uint32_t n, void *field)
{
	struct conf_vlans *set = field;
	uint32_t first;
	uint32_t last;

	for (uint32_t i = 0; i < n; i++) {
		if (!read_range(v[i].text, k, &first, &last)) {
			add_wrong(e, k, &v[i],
				  "a VLAN or a range of VLANs from 1 to 4094 "
				  "(as \"10\" or \"100-199\")");
			return false;
		}
		for (uint32_t vid = first; vid <= last; vid++)
			set->bits[vid / 64] |= 1ULL << vid % 64;
	}
	return true;
}

bool conf_set_cpus(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field)
{
	uint32_t *cpus = field;
	const char *end;

	if (n > XB_MAX_WORKERS) {
		conf_error_add(e, v->line, "%s has %u CPUs; allowed: one for each worker", k->name,
			       n);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!read_digits(v[i].text, &end, &cpus[i]) || *end || cpus[i] > CPU_MAX) {
			add_wrong(e, k, &v[i], "a CPU number from 0 to 1023");
			return false;
		}
		for (uint32_t j = 0; j < i; j++) {
			if (cpus[j] == cpus[i]) {
				add_wrong(e, k, &v[i], "each CPU once");
				return false;
			}
		}
	}
	return true;
}
