/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbgen.h"

#include <stdlib.h>
#include <string.h>

struct frame {
	uint32_t len;
	uint32_t line; /* of frames, from 1 */
	uint8_t *data;
};

struct list {
	struct frame *v;
	size_t n, n_alloc;
};

static bool add(struct list *l, const uint8_t *data, uint32_t len)
{
	struct frame *v = l->v;

	if (l->n == l->n_alloc) {
		l->n_alloc = l->n_alloc ? 2 * l->n_alloc : 64;
		v = realloc(l->v, l->n_alloc * sizeof(*v));
		if (!v)
			return false;
		l->v = v;
	}
	v += l->n;
	v->data = malloc(len);
	if (!v->data)
		return false;
	memcpy(v->data, data, len);
	v->len = len;
	v->line = (uint32_t)++l->n;
	return true;
}

static bool load(const char *path, struct list *l)
{
	static uint8_t buf[GEN_FRAME_MAX];
	FILE *f = fopen(path, "r");
	int n;

	if (!f) {
		perror(path);
		return false;
	}
	while ((n = gen_read_hex(f, buf)) > 0 && add(l, buf, (uint32_t)n))
		;
	fclose(f);
	if (n)
		fprintf(stderr, "%s: frame %zu is not hexadecimal\n", path, l->n + 1);
	return !n;
}

static void unload(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].data);
	free(l->v);
}

static int compare(const void *pa, const void *pb)
{
	const struct frame *a = pa, *b = pb;
	uint32_t len = a->len < b->len ? a->len : b->len;
	int d = memcmp(a->data, b->data, len);

	return d ? d : (a->len > b->len) - (a->len < b->len);
}

static void show(const char *what, const struct frame *f)
{
	printf("%s, frame %u:", what, f->line);
	for (uint32_t i = 0; i < f->len; i++)
		printf("%s%02x", i % 2 ? "" : " ", f->data[i]);
	putchar('\n');
}

/* Walks both lists in their order; returns how many frames are in one of them only. */
static size_t diff(const struct list *got, const struct list *want, bool ordered)
{
	size_t i = 0, k = 0, n_bad = 0;
	int d;

	while (i < got->n || k < want->n) {
		if (i == got->n)
			d = 1;
		else if (k == want->n)
			d = -1;
		else
			d = compare(&got->v[i], &want->v[k]);
		if (!d) {
			i++;
			k++;
			continue;
		}
		n_bad++;
		/* In order, both stand for the same place. */
		if (i < got->n && (ordered || d < 0))
			show("unexpected", &got->v[i++]);
		if (k < want->n && (ordered || d > 0))
			show("missing", &want->v[k++]);
	}
	return n_bad;
}

int expect_main(int argc, char **argv)
{
	bool ordered = argc > 1 && !strcmp(argv[1], "--ordered");
	struct list got = { 0 }, want = { 0 };
	size_t n_bad = 1;

	if (argc - ordered != 3) {
		fprintf(stderr, "usage: xbgen expect [--ordered] RECEIVED EXPECTED\n");
		return 2;
	}
	if (load(argv[1 + ordered], &got) && load(argv[2 + ordered], &want)) {
		if (!ordered) {
			if (got.n)
				qsort(got.v, got.n, sizeof(*got.v), compare);
			if (want.n)
				qsort(want.v, want.n, sizeof(*want.v), compare);
		}
		n_bad = diff(&got, &want, ordered);
		printf("%zu received, %zu expected, %zu differences\n", got.n, want.n, n_bad);
	}
	unload(&got);
	unload(&want);
	return n_bad ? 1 : 0;
}
