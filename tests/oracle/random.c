/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * random: random configurations and frames, decided by the forwarder and by
 * the plain reference, and compared.
 *
 * usage: random [--steps N] [--seed S] [--only STEP[-STEP],...] [--verbose]
 *
 * Steps come in runs of RUN_STEPS; each run begins with an empty bridge. When a
 * step fails, steps before it that the failure does not need are left out, and
 * what remains is shown with the command that repeats it (--only).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "refload.h"
#include "steps.h"

#define RUN_STEPS 2000
#define MAX_ONLY  RUN_STEPS

struct sequence {
	uint64_t seed;
	uint64_t step[MAX_ONLY];
	uint32_t n;
};

static uint64_t n_frames;

static uint64_t step_seed(uint64_t seed, uint64_t step)
{
	return seed * 0xd1342543de82ef95 + step * 0x2545f4914f6cdd1d;
}

/*
 * Runs the steps on an empty bridge. Returns how many were right: s->n if all
 * were. Failures go to @report, what happens to @say (or NULL).
 */
static uint32_t run(const struct sequence *s, FILE *report, FILE *say)
{
	static struct pair p;
	uint32_t i = 0;

	if (!pair_open(&p, report)) {
		fputs("no memory\n", stderr);
		exit(2);
	}
	for (; i < s->n; i++) {
		p.say = say;
		pair_say(&p, "step %llu: ", (unsigned long long)s->step[i]);
		step_run(&p, step_seed(s->seed, s->step[i]));
		if (p.has_failed)
			break;
	}
	if (p.has_failed && say) {
		fputs("The configuration now:\n", say);
		refload_print(say, p.ref);
	}
	n_frames += p.n_frames;
	pair_close(&p);
	return i;
}

/* Leaves out pieces of @size steps as long as the rest fails too. */
static bool cut(struct sequence *s, uint32_t size, FILE *nowhere)
{
	static struct sequence t;
	bool was_cut = false;

	for (uint32_t at = 0; at + 1 < s->n;) {
		uint32_t n = at + size < s->n ? size : s->n - 1 - at, good;

		t = *s;
		memmove(t.step + at, t.step + at + n, (t.n - at - n) * sizeof(t.step[0]));
		t.n -= n;
		good = run(&t, nowhere, NULL);
		if (good < t.n) {
			t.n = good + 1;
			*s = t;
			was_cut = true;
		} else {
			at += n;
		}
	}
	return was_cut;
}

static void shrink(struct sequence *s, FILE *nowhere)
{
	for (uint32_t size = s->n / 2; size; size /= 2)
		cut(s, size, nowhere);
	while (cut(s, 1, nowhere))
		;
}

static void explain(struct sequence *s, uint32_t good, FILE *nowhere)
{
	printf("seed %llu, step %llu failed\n", (unsigned long long)s->seed,
	       (unsigned long long)s->step[good]);
	fflush(stdout);
	s->n = good + 1;
	shrink(s, nowhere);
	run(s, stdout, stdout);
	printf("To repeat: tests/oracle/random --seed %llu --only ", (unsigned long long)s->seed);
	for (uint32_t i = 0; i < s->n; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)s->step[i]);
	puts(" --verbose");
}

static bool parse_only(const char *text, struct sequence *s)
{
	char *end;

	do {
		uint64_t first = strtoull(text, &end, 10), last = first;

		if (end == text)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoull(text, &end, 10);
		}
		for (; first <= last; first++) {
			if (s->n == MAX_ONLY)
				return false;
			s->step[s->n++] = first;
		}
		text = end + 1;
	} while (*end == ',');
	return !*end;
}

/* 0 if all went well. */
static int run_all(struct sequence *s, uint64_t n_steps)
{
	FILE *nowhere = fopen("/dev/null", "w");
	struct timespec begin, end;
	double seconds;

	if (!nowhere) {
		perror("/dev/null");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint64_t at = 0; at < n_steps; at += s->n) {
		uint32_t good;

		s->n = n_steps - at < RUN_STEPS ? (uint32_t)(n_steps - at) : RUN_STEPS;
		for (uint32_t i = 0; i < s->n; i++)
			s->step[i] = at + i;
		good = run(s, nowhere, NULL);
		if (good < s->n) {
			explain(s, good, nowhere);
			fclose(nowhere);
			return 1;
		}
	}
	fclose(nowhere);
	clock_gettime(CLOCK_MONOTONIC, &end);
	seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	printf("seed %llu: %llu steps, %llu of them frames, %.1f s, %.0f steps/s\n",
	       (unsigned long long)s->seed, (unsigned long long)n_steps,
	       (unsigned long long)n_frames, seconds, (double)n_steps / seconds);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "steps", required_argument, NULL, 'n' },
						 { "seed", required_argument, NULL, 's' },
						 { "only", required_argument, NULL, 'o' },
						 { "verbose", no_argument, NULL, 'v' },
						 { 0 } };
	static struct sequence s = { .seed = 1 };
	uint64_t n_steps = 100000;
	bool verbose = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'n') {
			n_steps = strtoull(optarg, NULL, 0);
		} else if (c == 's') {
			s.seed = strtoull(optarg, NULL, 0);
		} else if (c == 'v') {
			verbose = true;
		} else if (c != 'o' || !parse_only(optarg, &s)) {
			fputs("usage: random [--steps N] [--seed S] [--only STEP[-STEP],...] "
			      "[--verbose]\n",
			      stderr);
			return 2;
		}
	}
	if (!s.n)
		return run_all(&s, n_steps);
	return run(&s, stdout, verbose ? stdout : NULL) < s.n;
}
