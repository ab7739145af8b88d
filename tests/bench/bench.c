/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static json_t *results;

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t bench_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bench_add(struct bench_runs *r, double v)
{
	if (r->n < BENCH_RUNS)
		r->v[r->n++] = v;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct bench_runs sorted(const struct bench_runs *r)
{
	struct bench_runs s = *r;

	qsort(s.v, s.n, sizeof(s.v[0]), compare);
	return s;
}

double bench_median(const struct bench_runs *r)
{
	struct bench_runs s = sorted(r);

	return s.n ? s.v[s.n / 2] : 0;
}

double bench_least(const struct bench_runs *r)
{
	struct bench_runs s = sorted(r);

	return s.n ? s.v[0] : 0;
}

void bench_report(const char *name, const char *unit, const struct bench_runs *r,
		  const struct bench_runs *rival)
{
	struct bench_runs s = sorted(r);
	double median = bench_median(r), other = rival ? bench_median(rival) : 0;
	json_t *runs = json_array(), *o;

	printf("%-38s %-7s %10.2f", name, unit, median);
	if (s.n > 1 && median > 0)
		printf("  +-%3.0f %%", (s.v[s.n - 1] - s.v[0]) / median * 100 / 2);
	else
		printf("         ");
	if (other > 0)
		printf("  rival %10.2f  ratio %.2f", other, median / other);
	putchar('\n');
	fflush(stdout);

	for (uint32_t i = 0; i < r->n; i++)
		json_array_append_new(runs, json_real(r->v[i]));
	o = json_pack("{s:s, s:s, s:f, s:o*, s:o*, s:o}", "name", name, "unit", unit, "value",
		      median, "rival", other > 0 ? json_real(other) : NULL, "ratio",
		      other > 0 ? json_real(median / other) : NULL, "runs", runs);
	if (!results)
		results = json_array();
	json_array_append_new(results, o);
}

void bench_report_value(const char *name, const char *unit, double v)
{
	struct bench_runs r = { .v = { v }, .n = 1 };

	bench_report(name, unit, &r, NULL);
}

int bench_finish(void)
{
	const char *path = getenv("BENCH_JSON");
	json_t *all = NULL;
	int err = 0;

	if (path) {
		all = access(path, F_OK) ? json_array() : json_load_file(path, 0, NULL);
		if (!json_is_array(all)) {
			fprintf(stderr, "%s: not a JSON array\n", path);
			err = -EINVAL;
		} else if (json_array_extend(all, results) ||
			   json_dump_file(all, path, JSON_INDENT(1))) {
			fprintf(stderr, "%s: cannot be written\n", path);
			err = -EIO;
		}
		json_decref(all);
	}
	json_decref(results);
	results = NULL;
	return err;
}
