/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kernels[] = { "6.1", "6.12", "7.2" };
static const char *const scenarios[] = { "basic", "mst", "ustp", "two", "big" };

const char *const stp_states[5] = { "disabled", "listening", "learning", "forwarding", "blocking" };

void say(struct lines *l, const char *fmt, ...)
{
	va_list ap;

	if (l->n == l->size) {
		l->size = l->size ? l->size * 2 : 64;
		l->v = realloc(l->v, l->size * sizeof(*l->v));
		assert_non_null(l->v);
	}
	va_start(ap, fmt);
	assert_true(vasprintf(&l->v[l->n++], fmt, ap) >= 0);
	va_end(ap);
}

void lines_free(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct lines){ 0 };
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void compare(struct step *s, const char *what, struct lines *want, struct lines *got)
{
	size_t n = want->n < got->n ? want->n : got->n, i = 0;

	if (want->n)
		qsort(want->v, want->n, sizeof(*want->v), by_text);
	if (got->n)
		qsort(got->v, got->n, sizeof(*got->v), by_text);
	while (i < n && !strcmp(want->v[i], got->v[i]))
		i++;
	if (i < want->n || i < got->n)
		fail_msg("linux %s, %s, step %d (%s), %s: want \"%s\", got \"%s\"", s->kernel,
			 s->scenario, (int)json_integer_value(json_object_get(s->json, "n")),
			 json_string_value(json_object_get(s->json, "label")), what,
			 i < want->n ? want->v[i] : "no more", i < got->n ? got->v[i] : "no more");
	s->n_compared += want->n;
	lines_free(want);
	lines_free(got);
}

const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

long num(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!v)
		return -1;
	if (json_is_string(v))
		return strtol(json_string_value(v), NULL, 16);
	return json_is_integer(v) ? (long)json_integer_value(v) : json_is_true(v);
}

const json_t *link_by(struct step *s, const char *key, const char *name, uint32_t index)
{
	const json_t *l;
	size_t i;

	json_array_foreach(json_object_get(s->state, "ip-link"), i, l)
	{
		if (key ? !strcmp(str(l, key), name) : num(l, "ifindex") == (long)index)
			return l;
	}
	return NULL;
}

const char *name_of(struct step *s, uint32_t ifindex)
{
	const json_t *l = link_by(s, NULL, NULL, ifindex);

	static char unnamed[4][16];
	static unsigned int i;

	if (l)
		return str(l, "ifname");
	snprintf(unnamed[++i % 4], sizeof(unnamed[0]), "port%u", ifindex);
	return unnamed[i % 4];
}

long bridge_option(struct step *s, const char *key)
{
	const json_t *info = json_object_get(link_by(s, "ifname", "br0", 0), "linkinfo");

	return num(json_object_get(info, "info_data"), key);
}

void each_message(struct step *s, const json_t *where, message_fn fn, struct lines *out)
{
	size_t off = (size_t)json_integer_value(json_array_get(where, 0)), i;
	const json_t *len_json;

	json_array_foreach(json_array_get(where, 1), i, len_json)
	{
		size_t len = (size_t)json_integer_value(len_json);
		char *copy = malloc(len), *p = copy; /* so that a sanitizer sees an overrun */
		struct rtmsg_info m;

		assert_non_null(copy);
		assert_true(off + len <= s->bin_len);
		memcpy(copy, s->bin + off, len);
		for (off += len; len; p += m.size, len -= m.size) {
			const struct nlmsghdr *h = (const void *)p;

			if (rtmsg_parse(h, len, &m))
				fail_msg("linux %s, %s, offset %zu: %s", s->kernel, s->scenario,
					 off - len, m.why);
			assert_true(m.size && m.size <= len);
			fn(s, h, &m, out);
		}
		free(copy);
	}
}

void each_of_dump(struct step *s, const char *dump, message_fn fn, struct lines *out)
{
	each_message(s, json_object_get(json_object_get(s->json, "dumps"), dump), fn, out);
}

bool has_flag(const json_t *flags, const char *want)
{
	const json_t *f;
	size_t i;

	json_array_foreach(flags, i, f)
	{
		if (!strcmp(json_string_value(f), want))
			return true;
	}
	return false;
}

void say_json_flags(struct lines *out, const char *name, const struct flag *f, size_t n,
		    const json_t *o)
{
	for (size_t i = 0; i < n; i++) {
		if (json_object_get(o, f[i].key))
			say(out, "%s %s %ld", name, f[i].key, num(o, f[i].key));
	}
}

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *p;

	if (!f) {
		fail_msg("%s: %s", path, strerror(errno));
		return NULL;
	}
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*len = (size_t)ftell(f);
	rewind(f);
	p = malloc(*len + 1);
	assert_non_null(p);
	assert_int_equal(fread(p, 1, *len, f), *len);
	fclose(f);
	return p;
}

static size_t n_compared;

static void replay(const char *kernel, const char *scenario, step_fn fn)
{
	struct step s = { .kernel = kernel, .scenario = scenario, .state = json_object() };
	char path[128], *bin;
	json_error_t err;
	json_t *root, *json;
	size_t i;

	snprintf(path, sizeof(path), "tests/data/rtnetlink/linux-%s/%s.json", kernel, scenario);
	root = json_load_file(path, 0, &err);
	if (!root)
		fail_msg("%s: %s", path, err.text);
	snprintf(path, sizeof(path), "tests/data/rtnetlink/linux-%s/%s.bin", kernel, scenario);
	bin = read_file(path, &s.bin_len);
	s.bin = bin;
	json_array_foreach(json_object_get(root, "steps"), i, json)
	{
		s.json = json;
		json_object_update(s.state, json_object_get(json, "state"));
		fn(&s);
	}
	n_compared += s.n_compared;
	json_decref(s.state);
	json_decref(root);
	free(bin);
}

void each_step(step_fn fn, size_t at_least)
{
	n_compared = 0;
	for (size_t k = 0; k < N_ELEM(kernels); k++) {
		for (size_t i = 0; i < N_ELEM(scenarios); i++)
			replay(kernels[k], scenarios[i], fn);
	}
	assert_true(n_compared >= at_least);
}
