/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * livecases: recorded cases of the kernel bridge, on a real kernel, with the
 * daemon at work on real AF_XDP sockets. Run by live-guest.sh, in a virtual
 * machine, on the bench of livenet.h.
 *
 * usage: livecases [--only GLOB] [--sample N] [--times] PEER SOCKET FOLDER
 *
 * PEER is the namespace of h1..h4, SOCKET the daemon's. One daemon serves all
 * cases, one after another. Compared are the frames at each port, those
 * delivered up and those left to a port's own protocols, byte for byte and in
 * order, and the kernel's FDB after each step. Frames that come late count
 * against the step before. At the end of a case the daemon's tables must equal
 * the kernel's.
 *
 * Allowed to differ is what a kernel older than the recording's does otherwise:
 * it may refuse a command (the case is skipped), and answer ARP and ND otherwise
 * (frames that the XDP program left to it as such are not compared). Nothing
 * else, and no FDB entry.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/rtsock.h"
#include "livectl.h"
#include "livefdb.h"
#include "livenet.h"
#include "util/clock.h"

#define COMMANDS_MAX   64
#define SETTLE_MS      60000 /* that the daemon gets to act on a change */
#define PATIENCE_MS    10000 /* for a frame that must come, and for the FDB */
#define QUIET_MS       80    /* after the last frame */
#define SILENCE_MS     120   /* where no frame must come */
#define QUERIER_MS     500   /* until a querier counts: the response interval, and more */
#define AGES_SOON_S    10
#define TRIES          3 /* of a case in which stations age soon */
#define NETLINK_BUFFER (1U << 20)

enum handler { BY_USER, BY_PASS, BY_KERNEL, HANDLERS };

struct totals {
	uint32_t passed, failed, skipped;
	uint32_t frames[HANDLERS], from_host, commands, waits, not_compared;
	uint32_t by_reason[PUNT_N];
};

struct run {
	const char *only, *socket;
	uint32_t sample;
	bool times;
	bool is_older; /* this kernel, than the recording's */
	struct livenet *net;
	struct rtsock *rt;
	struct livefdb want, got;
	struct totals sum;
	/* The case. */
	const char *name;
	FILE *out;      /* what is wrong with it */
	char step[256]; /* the step, for people; said before the first complaint about it */
	bool is_step_said;
	uint32_t n_wrong;
	const char *skip;
	uint64_t settling_ms;
	char error[LIVE_ERROR_SIZE + 64];
};

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static uint64_t now_ms(void)
{
	return clock_now_ns() / NSEC_PER_MSEC;
}

__attribute__((format(printf, 2, 3))) static void wrong(struct run *r, const char *fmt, ...)
{
	va_list ap;

	if (!r->is_step_said)
		fprintf(r->out, "%s, %s:\n", r->name, r->step);
	r->is_step_said = true;
	r->n_wrong++;
	fprintf(r->out, "    ");
	va_start(ap, fmt);
	vfprintf(r->out, fmt, ap);
	va_end(ap);
	fputc('\n', r->out);
}

/* ---- the daemon and the devices ---- */

static enum livectl_state await(struct run *r, char *why)
{
	uint64_t end = now_ms() + SETTLE_MS;
	enum livectl_state state = LIVECTL_NOT_YET;

	snprintf(why, LIVECTL_WHY_SIZE, "carriers");
	while (now_ms() < end && state != LIVECTL_BROKEN) {
		if (livenet_is_steady(r->net))
			state = livectl_state(r->socket, why);
		if (state == LIVECTL_READY && livenet_is_steady(r->net))
			return state;
		livenet_hear(r->net, 10);
	}
	return state;
}

static void settle(struct run *r)
{
	char why[LIVECTL_WHY_SIZE];
	uint64_t begin_ms = now_ms();

	if (await(r, why) != LIVECTL_READY)
		wrong(r, "the daemon does not settle: %s", why);
	r->settling_ms += now_ms() - begin_ms;
}

/* ---- FDB ---- */

static void say_entry(void *arg, const char *entry, bool is_extra)
{
	wrong(arg, "FDB %s: %s", is_extra ? "has too much" : "lacks", entry);
}

static void want_entries(struct run *r, const json_t *step)
{
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(step, "fdb-"), i, e)
	{
		livefdb_del(&r->want, json_string_value(e));
	}
	json_array_foreach(json_object_get(step, "fdb+"), i, e)
	{
		livefdb_add(&r->want, json_string_value(e));
	}
	livefdb_sort(&r->want);
}

/* The daemon tells the kernel of stations a moment after it has heard them. */
static void compare_fdb(struct run *r)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	int err;

	for (;;) {
		err = livefdb_read(r->rt, &r->got);
		if (!err && !livefdb_compare(&r->got, &r->want, NULL, NULL))
			return;
		if (now_ms() > end)
			break;
		livenet_hear(r->net, 10);
	}
	if (err)
		wrong(r, "the FDB cannot be read: %s", strerror(-err));
	else
		livefdb_compare(&r->got, &r->want, say_entry, r);
}

/* ---- frames ---- */

/* The list of frames that the step has for the place; NULL: none. */
static const json_t *wanted(const json_t *step, enum live_place place)
{
	const char *key = place < LIVE_STACK ? "out" : "stack";

	return json_object_get(json_object_get(step, key), livenet_name(place));
}

static bool has_come(const struct run *r, const json_t *step)
{
	for (uint32_t i = 0; i < LIVE_PLACES; i++) {
		if (livenet_heard(r->net, i)->n < json_array_size(wanted(step, i)))
			return false;
	}
	return true;
}

/* Until all that must come has come, and nothing more for a while. */
static void hear_step(struct run *r, const json_t *step)
{
	bool is_silent = !json_object_size(json_object_get(step, "out")) &&
			 !json_object_size(json_object_get(step, "stack"));
	uint64_t quiet = is_silent ? SILENCE_MS : QUIET_MS;
	uint64_t last = now_ms(), end = last + PATIENCE_MS;

	while (now_ms() < end) {
		bool is_complete = has_come(r, step);

		if (is_complete && now_ms() >= last + quiet)
			return;
		if (livenet_hear(r->net, is_complete ? (int)quiet : 20))
			last = now_ms();
	}
}

static void say_frame(struct run *r, enum live_place place, const char *what,
		      const struct live_frame *f, bool in_full)
{
	char hex[2 * 160 + 4] = "";
	size_t n = 0;

	for (uint32_t i = 0; in_full && i < f->len && n + 4 < sizeof(hex); i++)
		n += (size_t)sprintf(hex + n, "%02x", f->bytes[i]);
	wrong(r, "%s%s %s: %s%s%s", livenet_name(place), place < LIVE_STACK ? "" : " (stack)", what,
	      live_describe(f->bytes, f->len), in_full ? ": " : "", hex);
}

static bool is_same(const struct live_frame *a, const struct live_frame *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/* Frame @i of the place; either may be NULL. */
static void compare_frame(struct run *r, enum live_place place, const struct live_frame *got,
			  const struct live_frame *want)
{
	char shown[256];
	bool in_full;

	if (got && want && is_same(got, want))
		return;
	snprintf(shown, sizeof(shown), "%s", got ? live_describe(got->bytes, got->len) : "");
	in_full = got && want && !strcmp(shown, live_describe(want->bytes, want->len));
	if (want)
		say_frame(r, place, "expected", want, in_full);
	else
		wrong(r, "%s%s expected: nothing", livenet_name(place),
		      place < LIVE_STACK ? "" : " (stack)");
	if (got)
		say_frame(r, place, "got     ", got, in_full);
	else
		wrong(r, "%s%s got     : nothing", livenet_name(place),
		      place < LIVE_STACK ? "" : " (stack)");
}

static void compare_place(struct run *r, enum live_place place, const json_t *list)
{
	static struct live_frame want;
	const struct live_heard *heard = livenet_heard(r->net, place);
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n || i < heard->n; i++) {
		if (i < n && !live_from_hex(json_string_value(json_array_get(list, i)), &want))
			wrong(r, "the recording has no frame here");
		compare_frame(r, place, i < heard->n ? &heard->v[i] : NULL, i < n ? &want : NULL);
	}
	if (heard->n_lost)
		wrong(r, "%s: %u frames more", livenet_name(place), heard->n_lost);
}

static void compare_heard(struct run *r, const json_t *step)
{
	for (uint32_t i = 0; i < LIVE_PLACES; i++)
		compare_place(r, i, step ? wanted(step, i) : NULL);
	livenet_forget(r->net);
}

/* What has come since the step before was compared should have come then, or not at all. */
static void compare_late(struct run *r)
{
	livenet_hear(r->net, 0);
	compare_heard(r, NULL);
}

/* ---- who decided ---- */

static enum handler handler_of(const struct livectl_counts *before,
			       const struct livectl_counts *after, enum punt_reason *why)
{
	*why = PUNT_NONE;
	for (uint32_t i = PUNT_NONE + 1; i < PUNT_N; i++) {
		if (after->passed[i] > before->passed[i])
			*why = i;
	}
	if (after->redirected > before->redirected)
		return BY_USER;
	return *why ? BY_PASS : BY_KERNEL;
}

static void count_frame(struct run *r, const char *in, enum handler by, enum punt_reason why)
{
	static const char *const name[] = { "user path", "passed", "kernel" };
	size_t len = strlen(r->step);

	r->sum.frames[by]++;
	r->sum.from_host += !strcmp(in, LIVE_BRIDGE);
	if (by == BY_PASS)
		r->sum.by_reason[why]++;
	snprintf(r->step + len, sizeof(r->step) - len, " (%s%s%s)", name[by],
		 by == BY_PASS ? ": " : "", by == BY_PASS ? punt_name(why) : "");
}

/* ---- steps ---- */

static void frame_step(struct run *r, const json_t *step)
{
	static struct live_frame f;
	struct livectl_counts before, after;
	const char *in = text(step, "in");
	enum punt_reason why;
	enum handler by;
	int err;

	if (!live_from_hex(text(step, "frame"), &f)) {
		wrong(r, "the recording has no frame");
		return;
	}
	err = livectl_counts(r->socket, in, &before);
	if (!err)
		err = livenet_send(r->net, in, &f);
	if (json_object_get(step, "send_error"))
		return;
	if (!err) {
		hear_step(r, step);
		err = livectl_counts(r->socket, in, &after);
	}
	if (err) {
		wrong(r, "cannot be done: %s", strerror(-err));
		return;
	}
	by = handler_of(&before, &after, &why);
	count_frame(r, in, by, why);
	if (r->is_older && by == BY_PASS && why == PUNT_NEIGH) {
		r->sum.not_compared++;
		livenet_forget(r->net);
	} else {
		compare_heard(r, step);
	}
}

static void refused(struct run *r, const char *error)
{
	snprintf(r->error, sizeof(r->error), "this kernel refuses it: %s", error);
	r->skip = r->error;
}

static void command_step(struct run *r, const json_t *step)
{
	const char *command = text(step, "cmd");
	bool must_fail = json_object_get(step, "failed");
	char error[LIVE_ERROR_SIZE];
	int err = livenet_run(r->net, &command, 1, error);

	r->sum.commands++;
	if (err && !must_fail && r->is_older) {
		refused(r, error);
		return;
	}
	if (err && !must_fail)
		wrong(r, "failed: %s", error);
	else if (!err && must_fail)
		wrong(r, "did not fail; expected: %s", text(step, "failed"));
	settle(r);
	compare_heard(r, step);
}

static void wait_step(struct run *r, const json_t *step)
{
	double seconds = json_number_value(json_object_get(step, "wait"));
	uint64_t end = now_ms() + (uint64_t)(seconds * 1000);

	r->sum.waits++;
	while (now_ms() < end)
		livenet_hear(r->net, (int)(end - now_ms()));
	settle(r);
	compare_heard(r, step);
}

static void describe_step(struct run *r, size_t i, const json_t *step)
{
	static struct live_frame f;
	const char *note = text(step, "note");
	char what[160];

	if (json_object_get(step, "frame") && live_from_hex(text(step, "frame"), &f))
		snprintf(what, sizeof(what), "%s into %s", live_describe(f.bytes, f.len),
			 text(step, "in"));
	else if (json_object_get(step, "cmd"))
		snprintf(what, sizeof(what), "%s", text(step, "cmd"));
	else
		snprintf(what, sizeof(what), "waiting");
	snprintf(r->step, sizeof(r->step), "step %zu, %s%s%s", i, what, *note ? ", " : "", note);
	r->is_step_said = false;
}

static void run_step(struct run *r, const json_t *step)
{
	if (json_object_get(step, "frame"))
		frame_step(r, step);
	else if (json_object_get(step, "cmd"))
		command_step(r, step);
	else
		wait_step(r, step);
	want_entries(r, step);
	if (!r->skip)
		compare_fdb(r);
}

/* ---- a case ---- */

static bool setup_has(const json_t *c, const char *words)
{
	const json_t *line;
	size_t i;

	json_array_foreach(json_object_get(c, "setup"), i, line)
	{
		if (strstr(json_string_value(line), words))
			return true;
	}
	return false;
}

static bool set_up(struct run *r, const json_t *c)
{
	const char *command[COMMANDS_MAX];
	const json_t *line;
	size_t i, n = 0;
	int err = livenet_reset(r->net);

	json_array_foreach(json_object_get(c, "setup"), i, line)
	{
		if (n < COMMANDS_MAX)
			command[n++] = json_string_value(line);
	}
	if (err || i > n) {
		wrong(r, "the bench cannot be made: %s", err ? strerror(-err) : "too many lines");
		return false;
	}
	err = livenet_run(r->net, command, n, r->error);
	if (err && r->is_older) {
		char error[LIVE_ERROR_SIZE];

		memcpy(error, r->error, sizeof(error));
		refused(r, error);
		return false;
	}
	if (err)
		wrong(r, "a command failed: %s", r->error);
	else
		err = livenet_listen_up(r->net);
	return !err;
}

/* All entries of the case, and no frames. */
static void begin(struct run *r, const json_t *c)
{
	const json_t *e;
	size_t i;

	r->want.n = 0;
	json_array_foreach(json_object_get(c, "fdb"), i, e)
	{
		livefdb_add(&r->want, json_string_value(e));
	}
	livefdb_sort(&r->want);
	compare_fdb(r);
	settle(r);
	if (setup_has(c, "mcast_snooping 1"))
		usleep(QUERIER_MS * 1000);
	livenet_hear(r->net, 0);
	livenet_forget(r->net);
}

static void run_steps(struct run *r, const json_t *c)
{
	const json_t *step;
	size_t i;

	begin(r, c);
	json_array_foreach(json_object_get(c, "steps"), i, step)
	{
		if (i)
			compare_late(r);
		/* What follows a difference would only repeat it. */
		if (r->n_wrong || r->skip)
			return;
		describe_step(r, i, step);
		run_step(r, step);
	}
	settle(r);
	compare_late(r);
}

/* Seconds until silent stations are forgotten; 0: not soon. */
static uint32_t ageing_s(const json_t *c)
{
	static const char word[] = "ageing_time ";
	const json_t *line;
	uint32_t hundredths = 0;
	size_t i;

	json_array_foreach(json_object_get(c, "setup"), i, line)
	{
		const char *at = strstr(json_string_value(line), word);

		if (at)
			hundredths = (uint32_t)strtoul(at + sizeof(word) - 1, NULL, 10);
	}
	return hundredths < AGES_SOON_S * 100 ? hundredths / 100 : 0;
}

static void try_case(struct run *r, const json_t *c)
{
	snprintf(r->step, sizeof(r->step), "setup");
	r->is_step_said = false;
	r->n_wrong = 0;
	r->skip = NULL;
	if (json_object_get(c, "unsupported"))
		r->skip = "the recording's kernel did not support it";
	else if (set_up(r, c))
		run_steps(r, c);
}

static void end_case(struct run *r, uint64_t ms)
{
	if (r->n_wrong)
		r->sum.failed++;
	else if (r->skip)
		r->sum.skipped++;
	else
		r->sum.passed++;
	if (r->skip && !r->n_wrong)
		printf("%s: skipped: %s\n", r->name, r->skip);
	if (r->times)
		printf("%s: %llu ms, %llu of them until the daemon was ready\n", r->name,
		       (unsigned long long)ms, (unsigned long long)r->settling_ms);
}

/* Where stations age within seconds a slow machine may not get to them in time. */
static void run_case(struct run *r, const json_t *c)
{
	uint64_t begin_ms = now_ms();
	uint32_t tries = ageing_s(c) ? TRIES : 1;
	char *said = NULL;
	size_t len = 0;

	r->name = text(c, "name");
	r->settling_ms = 0;
	do {
		free(said);
		r->out = open_memstream(&said, &len);
		if (!r->out)
			exit(1);
		try_case(r, c);
		fclose(r->out);
	} while (r->n_wrong && --tries);
	if (r->n_wrong)
		printf("%s", said);
	free(said);
	end_case(r, now_ms() - begin_ms);
	fflush(stdout);
}

/* ---- all of them ---- */

/* True if this kernel's series is older than that of @recorded, "7.2.12+deb13-amd64". */
static bool is_older_than(const char *recorded)
{
	struct utsname u;
	unsigned int a, b, c, d;

	if (uname(&u) || sscanf(u.release, "%u.%u", &a, &b) != 2 ||
	    sscanf(recorded, "%u.%u", &c, &d) != 2)
		return false;
	return a < c || (a == c && b < d);
}

static bool run_group(struct run *r, const char *folder, const char *file)
{
	char path[512];
	json_error_t err;
	json_t *root;
	const json_t *c;
	uint32_t n = 0;
	size_t i;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	root = json_load_file(path, 0, &err);
	if (!root) {
		printf("%s: %s\n", path, err.text);
		return false;
	}
	r->is_older = is_older_than(text(root, "kernel"));
	json_array_foreach(json_object_get(root, "cases"), i, c)
	{
		if (r->only && fnmatch(r->only, text(c, "name"), 0))
			continue;
		if (n++ % r->sample == 0)
			run_case(r, c);
	}
	json_decref(root);
	return true;
}

static int is_group(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && !strcmp(dot, ".json");
}

static bool run_folder(struct run *r, const char *folder)
{
	struct dirent **list;
	int n = scandir(folder, &list, is_group, alphasort);
	bool ok = n > 0;

	if (n <= 0)
		printf("%s: %s\n", folder, n < 0 ? strerror(errno) : "no cases");
	for (int i = 0; i < n; i++) {
		ok = run_group(r, folder, list[i]->d_name) && ok;
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return ok;
}

static void report(const struct totals *t, uint64_t ms)
{
	const char *separator = "";

	printf("frames: %u decided on the user path, %u passed to the kernel by XDP, "
	       "%u the kernel's (%u of br0 itself); %u commands, %u waits; %llu s\n",
	       t->frames[BY_USER], t->frames[BY_PASS], t->frames[BY_KERNEL], t->from_host,
	       t->commands, t->waits, (unsigned long long)ms / 1000);
	printf("passed by XDP:");
	for (uint32_t i = PUNT_NONE + 1; i < PUNT_N; i++) {
		if (t->by_reason[i]) {
			printf("%s %u %s", separator, t->by_reason[i], punt_name(i));
			separator = ",";
		}
	}
	putchar('\n');
	if (t->not_compared)
		printf("not compared: %u frames of ARP or ND, which this kernel may answer "
		       "otherwise\n",
		       t->not_compared);
	printf("%u passed, %u failed, %u skipped\n", t->passed, t->failed, t->skipped);
}

static int parse(struct run *r, int argc, char **argv)
{
	static const struct option options[] = { { "only", 1, NULL, 'o' },
						 { "sample", 1, NULL, 's' },
						 { "times", 0, NULL, 't' },
						 { NULL, 0, NULL, 0 } };
	int option;

	r->sample = 1;
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'o')
			r->only = optarg;
		else if (option == 's')
			r->sample = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 't')
			r->times = true;
		else
			return -EINVAL;
	}
	return argc - optind == 3 && r->sample ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static struct run r;
	uint64_t begin_ms = now_ms();
	bool ok = false;
	int err;

	if (parse(&r, argc, argv)) {
		fprintf(stderr,
			"usage: livecases [--only GLOB] [--sample N] [--times] PEER SOCKET FOLDER\n");
		return 2;
	}
	r.socket = argv[optind + 1];
	err = livenet_open(argv[optind], &r.net);
	if (!err)
		err = rtsock_open(NETLINK_BUFFER, &r.rt);
	if (err)
		printf("the bench is not there: %s\n", strerror(-err));
	else
		ok = run_folder(&r, argv[optind + 2]);
	rtsock_close(r.rt);
	livenet_close(r.net);
	report(&r.sum, now_ms() - begin_ms);
	return ok && !r.sum.failed ? 0 : 1;
}
