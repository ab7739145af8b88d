/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay: recorded cases of the kernel bridge against the forwarder.
 *
 * usage: replay [--reference] FOLDER [GROUP...]
 *
 * Each FOLDER/GROUP.json has cases, FOLDER/netlink/CASE.bin what a daemon would
 * have heard. The dumps make the tables, each frame goes through fwd_decide(),
 * and compared are the bytes at each port and at the host, and the FDB after
 * each step, before the kernel's own learning in that step is taken in.
 *
 * Frames that the XDP program leaves to the kernel count as passed. Those for a
 * local address and those with a bad source are compared all the same: a worker
 * may get them too. Frames of the host, and those of ports that the plan leaves
 * to the kernel, count as kernel. A case in which the plan leaves the whole
 * bridge to the kernel is skipped.
 *
 * --reference: the plain reference decides instead of fwd_decide(), which shows
 * that it may be believed (tests/oracle/random.c).
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/drop.h"
#include "core/fwd.h"
#include "livetext.h"
#include "punt.h"
#include "refworld.h"
#include "world.h"

#define HEADROOM    64
#define MAX_LEN     16384
#define MAX_ENTRIES 256
#define ENTRY_SIZE  96
#define KIND_NEIGH  4
#define KIND_NOTICE 16

struct counts {
	uint32_t decided, passed, kernel; /* frames */
	uint32_t ok, failed, skipped;     /* cases */
	uint32_t user, left, refused;     /* cases that are ok, by who decided */
};

static bool by_reference;

/* What became of a frame. */
struct decision {
	enum drop_reason drop;
	struct frame f;
	struct verdict v;
	struct ref_result ref; /* instead of @v, if by_reference */
};

/* The FDB in iproute2's words, sorted. */
struct table {
	char v[MAX_ENTRIES][ENTRY_SIZE];
	size_t n;
};

struct run {
	const char *folder;
	const char *name; /* of the case */
	size_t step;
	struct world w;
	uint8_t *bin;
	size_t bin_len;
	struct table want;
	uint64_t now_ns;
	struct counts *c;
	uint32_t n_wrong;
};

__attribute__((format(printf, 2, 3))) static void wrong(struct run *r, const char *fmt, ...)
{
	va_list ap;

	r->n_wrong++;
	printf("%s, step %zu: ", r->name, r->step);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* ---- bytes ---- */

/* Bytes of the hexadecimal text; their number, 0 if it is none. */
static uint32_t from_hex(const char *s, uint8_t *out)
{
	static struct live_frame f;

	if (!live_from_hex(s, &f))
		return 0;
	memcpy(out, f.bytes, f.len);
	return f.len;
}

static bool read_file(struct run *r)
{
	char path[512];
	FILE *f;
	long len;

	snprintf(path, sizeof(path), "%s/netlink/%s.bin", r->folder, r->name);
	f = fopen(path, "rb");
	if (!f)
		return false;
	fseek(f, 0, SEEK_END);
	len = ftell(f);
	rewind(f);
	r->bin_len = len > 0 ? (size_t)len : 0;
	r->bin = malloc(r->bin_len + 1);
	if (!r->bin || fread(r->bin, 1, r->bin_len, f) != r->bin_len)
		r->bin_len = 0;
	fclose(f);
	return r->bin_len != 0;
}

static uint32_t little(const uint8_t *p, size_t n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* Takes in the records of @kind and @step. */
static void apply_records(struct run *r, uint32_t kind, uint32_t step, bool neighs)
{
	for (size_t at = 0; at + 8 <= r->bin_len;) {
		const uint8_t *h = r->bin + at;
		size_t len = little(h, 4);
		int err;

		if (len > r->bin_len - at - 8) {
			wrong(r, "netlink file is cut short");
			return;
		}
		at += 8 + len;
		if (little(h + 4, 2) != kind || little(h + 6, 2) != step)
			continue;
		err = world_apply(&r->w, h + 8, len, neighs);
		if (err)
			wrong(r, "netlink record of kind %u: %s", kind, strerror(-err));
	}
	if (world_update(&r->w))
		wrong(r, "no view");
}

/* ---- FDB ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

struct dump {
	struct run *r;
	struct table *t;
};

static void dump_entry(const struct fdb_entry *e, void *arg)
{
	struct dump *d = arg;
	char mac[MAC_STR_SIZE], vlan[16] = "";

	if (d->t->n == MAX_ENTRIES)
		return;
	if (e->vid)
		snprintf(vlan, sizeof(vlan), " vlan %u", e->vid);
	snprintf(d->t->v[d->t->n++], ENTRY_SIZE, "%s dev %s%s%s%s%s master %s%s",
		 mac_format(&e->mac, mac), d->r->w.name[e->port % WORLD_SLOTS], vlan,
		 e->flags & FDB_EXTERN ? " extern_learn" : "",
		 e->flags & FDB_STICKY ? " sticky" : "", e->flags & FDB_LOCKED ? " locked" : "",
		 WORLD_BRIDGE,
		 e->flags & FDB_LOCAL    ? " permanent"
		 : e->flags & FDB_STATIC ? " static"
					 : "");
}

static void table_edit(struct table *t, const json_t *entries, bool add)
{
	const json_t *e;
	size_t i;

	json_array_foreach(entries, i, e)
	{
		char key[ENTRY_SIZE], *p;

		snprintf(key, sizeof(key), "%s", json_string_value(e));
		/* Entries of group addresses are not taken over: frames to them are flooded. */
		if (strtoul(key, NULL, 16) & 1)
			continue;
		if (add && t->n < MAX_ENTRIES) {
			memcpy(t->v[t->n++], key, ENTRY_SIZE);
			continue;
		}
		for (p = t->v[0]; p < t->v[t->n] && strcmp(p, key) != 0;)
			p += ENTRY_SIZE;
		if (p < t->v[t->n])
			memmove(p, t->v[--t->n], ENTRY_SIZE);
	}
}

/* The text of the computed entry, with the device that the recording names if several have it. */
static void dump_local(struct dump *d, uint16_t vid, const struct mac *mac, uint16_t slot)
{
	struct fdb_entry e = { .mac = *mac, .vid = vid, .port = slot, .flags = FDB_LOCAL }, old;
	const struct run *r = d->r;
	struct mac other;
	uint64_t key = fdb_key(vid, mac);
	size_t n = d->t->n;

	if (!local_has(r->w.local, r->w.model, key) || !fdb_get(r->w.fdb, key, &old))
		return;
	for (uint32_t i = 0; local_owner(r->w.local, i, &other, &e.port); i++) {
		if (!mac_equal(&other, mac))
			continue;
		d->t->n = n;
		dump_entry(&e, d);
		for (size_t k = 0; k < r->want.n; k++) {
			if (!strcmp(r->want.v[k], d->t->v[n]))
				return;
		}
	}
}

static void dump_locals(struct dump *d)
{
	struct mac mac, last = { { 0 } };
	uint16_t slot;

	for (uint32_t i = 0; local_owner(d->r->w.local, i, &mac, &slot); i++) {
		for (uint16_t vid = 0; !mac_equal(&mac, &last) && vid <= VID_MAX; vid++)
			dump_local(d, vid, &mac, slot);
		last = mac;
	}
}

static void compare_fdb(struct run *r)
{
	static struct table got;
	struct fdb_cursor cursor = { 0 };
	struct dump d = { r, &got };
	size_t i = 0, j = 0;

	got.n = 0;
	while (fdb_walk(r->w.fdb, &cursor, 1024, dump_entry, &d))
		;
	dump_locals(&d);
	qsort(got.v, got.n, ENTRY_SIZE, by_text);
	qsort(r->want.v, r->want.n, ENTRY_SIZE, by_text);
	while (i < got.n || j < r->want.n) {
		int c = i == got.n ? 1 : j == r->want.n ? -1 : strcmp(got.v[i], r->want.v[j]);

		if (c < 0)
			wrong(r, "FDB has too much: %s", got.v[i]);
		else if (c > 0)
			wrong(r, "FDB lacks: %s", r->want.v[j]);
		i += c <= 0;
		j += c >= 0;
	}
}

/* ---- a frame ---- */

static uint32_t form_of(const struct verdict *v, const struct flood_dst *d, const struct frame *f,
			uint8_t *out)
{
	static uint8_t buf[HEADROOM + MAX_LEN];
	struct frame copy = *f;

	memcpy(buf + HEADROOM, f->data, f->len);
	copy.data = buf + HEADROOM;
	copy.headroom = HEADROOM;
	if (fwd_set_form(v, &copy, fwd_is_tagged(v, d)))
		return 0;
	memcpy(out, copy.data, copy.len);
	return copy.len;
}

/* The one copy that port @slot gets, into @out; 0 without one. */
static uint32_t copy_for(struct run *r, const struct decision *d, uint16_t slot, uint8_t *out)
{
	const struct verdict *v = &d->v;
	uint32_t len = 0, n = 0;

	if (by_reference) {
		memcpy(out, d->ref.copy[slot].bytes, d->ref.copy[slot].len);
		return d->ref.copy[slot].len;
	}
	for (uint32_t i = 0; !v->drop && i < v->n; i++) {
		if (v->dst[i].port != slot || fwd_admit(v, &v->dst[i]))
			continue;
		len = form_of(v, &v->dst[i], &d->f, out);
		n++;
	}
	if (n > 1)
		wrong(r, "%u copies at %s", n, r->w.name[slot]);
	return len;
}

static void print_frame(const char *what, const uint8_t *p, uint32_t len)
{
	printf("    %s: %s\n", what, len ? live_describe(p, len) : "nothing");
	if (!len)
		return;
	printf("             ");
	for (uint32_t i = 0; i < len; i++)
		printf("%02x", p[i]);
	putchar('\n');
}

static void compare_out(struct run *r, const json_t *out, const struct decision *d)
{
	static uint8_t want[MAX_LEN], got[MAX_LEN + HEADROOM];

	for (uint16_t slot = 1; slot < WORLD_SLOTS; slot++) {
		const json_t *list = json_object_get(out, r->w.name[slot]);
		uint32_t want_len = 0, got_len;

		if (!r->w.ifindex[slot])
			continue;
		if (json_array_size(list) > 1)
			wrong(r, "the recording has several frames at %s", r->w.name[slot]);
		if (json_array_size(list))
			want_len = from_hex(json_string_value(json_array_get(list, 0)), want);
		got_len = copy_for(r, d, slot, got);
		if (want_len == got_len && !memcmp(want, got, want_len))
			continue;
		wrong(r, "%s (verdict %s)", r->w.name[slot], drop_name(d->drop));
		print_frame("expected", want, want_len);
		print_frame("got     ", got, got_len);
	}
}

/* True if a frame that is passed for this reason is decided the same way by a worker. */
static bool is_comparable(enum punt_reason why)
{
	return why == PUNT_NONE || why == PUNT_LOCAL || why == PUNT_SOURCE || why == PUNT_RUNT;
}

static void decide(struct run *r, uint16_t in, struct decision *d)
{
	if (!by_reference) {
		fwd_decide(r->w.view, in, &d->f, r->now_ns, &d->v);
		d->drop = d->v.drop;
		return;
	}
	if (!refworld_frame(&r->w, in, d->f.data, d->f.len, r->now_ns, &d->ref))
		wrong(r, "no memory");
	d->drop = d->ref.drop;
}

/* True if the forwarder decided: then the kernel's learning is not to be taken in. */
static bool frame_step(struct run *r, const json_t *step)
{
	static uint8_t buf[HEADROOM + MAX_LEN];
	const char *in = text(step, "in");
	const struct plan_port *port = world_port(&r->w, in);
	static struct decision d;
	struct frame *f = &d.f;
	enum punt_reason why;

	*f = (struct frame){ .data = buf + HEADROOM, .headroom = HEADROOM };
	f->len = from_hex(text(step, "frame"), f->data);
	if (json_object_get(step, "send_error"))
		return false;
	if (!port || !port->receive) {
		r->c->kernel++;
		return false;
	}
	why = punt_reason(&r->w, port, f->data, f->len);
	if (why)
		r->c->passed++;
	else
		r->c->decided++;
	if (!is_comparable(why))
		return false;
	r->now_ns += 1000000000;
	decide(r, world_slot(&r->w, in), &d);
	compare_out(r, json_object_get(step, "out"), &d);
	return true;
}

static void run_step(struct run *r, const json_t *step)
{
	bool decided = json_object_get(step, "frame") && frame_step(r, step);

	table_edit(&r->want, json_object_get(step, "fdb-"), false);
	table_edit(&r->want, json_object_get(step, "fdb+"), true);
	if (decided)
		compare_fdb(r);
	apply_records(r, KIND_NOTICE, (uint32_t)r->step, !decided);
	if (!decided)
		compare_fdb(r);
}

/* ---- a case ---- */

static void run_steps(struct run *r, const json_t *c)
{
	/* Those that the daemon asks for; the FDB at last. */
	static const uint32_t dumps[] = { 1, 2, 6, 5, KIND_NEIGH };
	const json_t *step;

	for (size_t i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++) {
		if (dumps[i] == KIND_NEIGH && world_fdb_begin(&r->w))
			wrong(r, "no memory");
		apply_records(r, dumps[i], 0, true);
	}
	world_fdb_end(&r->w);
	if (world_update(&r->w))
		wrong(r, "no view");
	table_edit(&r->want, json_object_get(c, "fdb"), true);
	if (!r->n_wrong)
		compare_fdb(r);
	json_array_foreach(json_object_get(c, "steps"), r->step, step) run_step(r, step);
}

/*
 * States of spanning tree instances are not notified and the recordings have no
 * dump for each step: the daemon reads them again and again, which cannot be
 * replayed.
 */
static bool changes_in_silence(const json_t *c)
{
	const json_t *step;
	size_t i;

	json_array_foreach(json_object_get(c, "steps"), i, step)
	{
		const char *cmd = json_string_value(json_object_get(step, "cmd"));

		if (cmd && (strstr(cmd, "bridge mst set") || strstr(cmd, " msti ")))
			return true;
	}
	return false;
}

static void skip(struct counts *counts, const char *name, const char *why)
{
	counts->skipped++;
	printf("%s: skipped: %s\n", name, why);
}

static void count_ok(const struct run *r, const struct counts *before, struct counts *counts)
{
	const struct plan_bridge *b = r->w.bridge;

	counts->ok++;
	if (counts->decided > before->decided) {
		counts->user++;
	} else if (b && b->reason) {
		counts->refused++;
		printf("%s: left to the kernel: %s\n", r->name, path_text(b->reason));
	} else {
		counts->left++;
	}
}

static void run_case(const char *folder, const json_t *c, struct counts *counts)
{
	struct run *r = calloc(1, sizeof(*r));
	const struct counts before = *counts;

	if (!r)
		exit(1);
	r->folder = folder;
	r->name = text(c, "name");
	r->c = counts;
	if (json_object_get(c, "unsupported")) {
		skip(counts, r->name, "the recording kernel did not support it");
		free(r);
		return;
	}
	if (changes_in_silence(c)) {
		skip(counts, r->name, "states change without a notification");
		free(r);
		return;
	}
	if (world_open(&r->w) || !read_file(r))
		wrong(r, "cannot be loaded");
	else
		run_steps(r, c);
	if (r->n_wrong)
		counts->failed++;
	else
		count_ok(r, &before, counts);
	world_close(&r->w);
	free(r->bin);
	free(r);
}

static bool run_group(const char *folder, const char *group, struct counts *sum)
{
	struct counts n = { 0 };
	char path[512];
	json_error_t err;
	json_t *root;
	const json_t *c;
	size_t i;

	snprintf(path, sizeof(path), "%s/%s.json", folder, group);
	root = json_load_file(path, 0, &err);
	if (!root) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		return false;
	}
	if (!json_array_size(json_object_get(root, "cases"))) {
		fprintf(stderr, "%s: no cases\n", path);
		json_decref(root);
		return false;
	}
	json_array_foreach(json_object_get(root, "cases"), i, c) run_case(folder, c, &n);
	json_decref(root);
	printf("%s: %u passed, %u failed, %u skipped; %u frames decided, %u passed, %u kernel\n",
	       group, n.ok, n.failed, n.skipped, n.decided, n.passed, n.kernel);
	sum->ok += n.ok;
	sum->failed += n.failed;
	sum->skipped += n.skipped;
	sum->decided += n.decided;
	sum->passed += n.passed;
	sum->kernel += n.kernel;
	sum->user += n.user;
	sum->left += n.left;
	sum->refused += n.refused;
	return true;
}

static int is_group(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && !strcmp(dot, ".json");
}

static bool run_folder(const char *folder, struct counts *sum)
{
	struct dirent **list;
	int n = scandir(folder, &list, is_group, alphasort);
	bool ok = n > 0;

	if (n <= 0)
		fprintf(stderr, "%s: %s\n", folder, n < 0 ? strerror(errno) : "no cases");
	for (int i = 0; i < n; i++) {
		*strrchr(list[i]->d_name, '.') = '\0';
		ok = run_group(folder, list[i]->d_name, sum) && ok;
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return ok;
}

int main(int argc, char **argv)
{
	struct counts sum = { 0 };
	bool ok = true;

	if (argc > 1 && !strcmp(argv[1], "--reference")) {
		by_reference = true;
		argv++;
		argc--;
	}
	if (argc < 2) {
		fprintf(stderr, "usage: replay [--reference] FOLDER [GROUP...]\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		ok = run_group(argv[1], argv[i], &sum) && ok;
	if (argc == 2)
		ok = run_folder(argv[1], &sum);
	printf("%u frames decided, %u passed, %u kernel\n", sum.decided, sum.passed, sum.kernel);
	printf("%u cases decided on the user path, %u passed to the kernel, %u refused\n", sum.user,
	       sum.left, sum.refused);
	printf("%u passed, %u failed, %u skipped\n", sum.ok, sum.failed, sum.skipped);
	return ok && !sum.failed ? 0 : 1;
}
