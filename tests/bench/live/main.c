/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live [--sink NS:DEV]... [--source NS:DEV --keep DEV] [--cpu N] [--size BYTES] ANSWERS
 *
 * Sends frames, counts them and keeps the figures of a benchmark that a script runs.
 * Reads commands, one a line, and answers each with one line in the file ANSWERS, which
 * ends in "ok", or in "error" and why. Ends, and writes the results, with its input.
 *
 *	prime FLOWS		the stations of both sides are heard
 *	rate KEY xdp|skb FLOWS MS	adds thousand frames/s to KEY
 *	copies KEY MS		broadcasts; adds ns for a copy
 *	latency KEY COUNT RATE	adds us to KEY.median, KEY.p99 and KEY.p99.9
 *	value KEY NUMBER	adds a number that was measured elsewhere
 *	report NAME UNIT KEY [RIVAL]	prints the runs of KEY, and RIVAL's beside them
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "../bench.h"
#include "live.h"

#define KEYS       128
#define WORDS      6
#define PATIENCE   10000000000ull /* ns for what is counted */
#define TIME_MAX   60000          /* ms of a run */
#define LATENCY_PC 3

struct figure {
	char key[80];
	struct bench_runs runs;
};

static struct figure figures[KEYS];
static FILE *answers;

/* The runs of @key, made when it is new. NULL: there are too many. */
static struct bench_runs *figure_of(const char *key)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		if (!figures[i].key[0])
			snprintf(figures[i].key, sizeof(figures[i].key), "%s", key);
		if (!strcmp(figures[i].key, key))
			return &figures[i].runs;
	}
	return NULL;
}

static int figure_add(const char *key, const char *suffix, double v)
{
	char name[sizeof(figures[0].key)];
	struct bench_runs *r;

	snprintf(name, sizeof(name), "%s%s", key, suffix);
	r = figure_of(name);
	if (!r)
		return -ENOSPC;
	bench_add(r, v);
	fprintf(answers, "%s %.2f ", suffix, v);
	return 0;
}

static int do_prime(struct live *l, char **w)
{
	uint32_t flows = (uint32_t)strtoul(w[1], NULL, 10);
	struct live_load load = { .skb = true, .flows = flows, .count = flows, .ns = PATIENCE };
	struct live_result res;
	int err;

	load.swapped = true;
	err = live_run(l, &load, &res);
	load.swapped = false;
	return err ? err : live_run(l, &load, &res);
}

static int do_rate(struct live *l, char **w)
{
	struct live_load load = { .skb = !strcmp(w[2], "skb"),
				  .flows = (uint32_t)strtoul(w[3], NULL, 10),
				  .ns = strtoul(w[4], NULL, 10) * 1000000 };
	struct live_result res;
	int err;

	if (!load.flows || load.ns > TIME_MAX * 1000000ull)
		return -EINVAL;
	err = live_run(l, &load, &res);
	if (err || !res.ns)
		return err ? err : -ETIME;
	fprintf(answers, "arrived %llu sent %llu ", (unsigned long long)res.arrived,
		(unsigned long long)res.sent);
	return figure_add(w[1], "", (double)res.arrived * 1e6 / (double)res.ns);
}

static int do_copies(struct live *l, char **w)
{
	struct live_load load = { .ns = strtoul(w[2], NULL, 10) * 1000000 };
	struct live_result res;
	int err;

	if (load.ns > TIME_MAX * 1000000ull)
		return -EINVAL;
	err = live_run(l, &load, &res);
	if (err || !res.arrived)
		return err ? err : -ETIME;
	fprintf(answers, "arrived %llu sent %llu ", (unsigned long long)res.arrived,
		(unsigned long long)res.sent);
	return figure_add(w[1], "", (double)res.ns / (double)res.arrived);
}

/* What that part of @n sorted times is not above, in us. */
static double way_us(const uint32_t *way_ns, uint32_t n, uint32_t permille)
{
	uint32_t at = (n - 1) * permille / 1000;

	return way_ns[at] / 1000.0;
}

static int do_latency(struct live *l, char **w)
{
	static const struct {
		const char *suffix;
		uint32_t permille;
	} part[LATENCY_PC] = { { ".median", 500 }, { ".p99", 990 }, { ".p99.9", 999 } };
	static uint32_t way_ns[LIVE_SAMPLES];
	uint32_t count = (uint32_t)strtoul(w[2], NULL, 10);
	uint32_t rate = (uint32_t)strtoul(w[3], NULL, 10);
	int err = 0, n;

	if (!count || count > LIVE_SAMPLES || !rate)
		return -EINVAL;
	n = live_latency(l, count, 1000000000 / rate, way_ns);
	if (n <= 0)
		return n ? n : -ETIME;
	fprintf(answers, "arrived %d sent %u", n, count);
	for (int i = 0; !err && i < LATENCY_PC; i++)
		err = figure_add(w[1], part[i].suffix,
				 way_us(way_ns, (uint32_t)n, part[i].permille));
	return err;
}

static int do_value(struct live *l, char **w)
{
	(void)l;
	return figure_add(w[1], "", strtod(w[2], NULL));
}

/* What nobody could measure is left out. */
static int do_report(struct live *l, char **w)
{
	struct bench_runs *r = figure_of(w[3]), *rival = w[4] ? figure_of(w[4]) : NULL;

	(void)l;
	if (!r || !r->n || (rival && !rival->n))
		return 0;
	bench_report(w[1], w[2], r, rival);
	return 0;
}

static int command(struct live *l, char *line)
{
	static const struct {
		const char *name;
		int n_words; /* at least */
		bool ends;   /* needs a source and a sink */
		int (*run)(struct live *l, char **w);
	} commands[] = {
		{ "prime", 2, true, do_prime },   { "rate", 5, true, do_rate },
		{ "copies", 3, true, do_copies }, { "latency", 4, true, do_latency },
		{ "value", 3, false, do_value },  { "report", 4, false, do_report },
	};
	char *w[WORDS] = { NULL }, *at = NULL;
	int n = 0;

	for (char *s = strtok_r(line, " \n", &at); s && n < WORDS - 1;
	     s = strtok_r(NULL, " \n", &at))
		w[n++] = s;
	for (size_t i = 0; n && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(w[0], commands[i].name) && n >= commands[i].n_words &&
		    (!commands[i].ends || (l->keep && l->n_sinks)))
			return commands[i].run(l, w);
	return -EINVAL;
}

static int serve(struct live *l)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		int err = command(l, line);

		if (err)
			fprintf(answers, "error %s\n", strerror(-err));
		else
			fprintf(answers, "ok\n");
		fflush(answers);
	}
	return bench_finish();
}

static int pin(const char *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(strtoul(cpu, NULL, 10), &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* "NS:DEV" in two. NULL: it is not of that form. */
static char *dev_of(char *ns)
{
	char *colon = strrchr(ns, ':');

	if (colon)
		*colon++ = 0;
	return colon;
}

struct args {
	char *source;
	const char *keep, *answers;
};

/* 0, or a negative errno; whatever it is about is named in *@what. */
static int args_read(struct live *l, int argc, char **argv, struct args *a, const char **what)
{
	static const struct option options[] = {
		{ "source", 1, NULL, 's' }, { "sink", 1, NULL, 'k' }, { "keep", 1, NULL, 'd' },
		{ "cpu", 1, NULL, 'c' },    { "size", 1, NULL, 'z' }, { 0 }
	};
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		char *dev = c == 'k' ? dev_of(optarg) : NULL;

		*what = optarg ? optarg : "option";
		if (c == 's')
			a->source = optarg;
		else if (c == 'd')
			a->keep = optarg;
		else if (c == 'c')
			err = pin(optarg);
		else if (c == 'z')
			l->size = (uint32_t)strtoul(optarg, NULL, 10);
		else
			err = dev ? live_sink_at(l, optarg, dev) : -EINVAL;
	}
	a->answers = argv[optind];
	*what = err ? *what : "arguments";
	if (!err && (!a->answers || l->size < 60 || l->size > LIVE_SIZE))
		err = -EINVAL;
	return err;
}

int main(int argc, char **argv)
{
	static struct live l;
	struct args a = { 0 };
	const char *what = "BPF programs";
	char *dev = NULL;
	int err = live_open(&l);

	if (!err)
		err = args_read(&l, argc, argv, &a, &what);
	if (!err && a.source) {
		what = a.source;
		dev = dev_of(a.source);
		err = dev && a.keep ? live_source_at(&l, a.source, dev, a.keep) : -EINVAL;
	}
	if (!err) {
		what = a.answers;
		answers = fopen(a.answers, "we");
		err = answers ? 0 : -errno;
	}
	if (err) {
		fprintf(stderr, "live: %s: %s\n", what, strerror(-err));
	} else {
		prctl(PR_SET_TIMERSLACK, 1);
		err = serve(&l);
		fclose(answers);
	}
	live_close(&l);
	return err ? 1 : 0;
}
