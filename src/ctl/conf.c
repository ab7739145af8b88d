// SPDX-License-Identifier: GPL-2.0-or-later
#include "ctl/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/conf_keys.h"
#include "ctl/conf_tree.h"
#include "ctl/conf_value.h"

struct reader {
	struct conf *c;
	struct conf_errors e;
	uint32_t n_ports;
};

static bool key_fits(struct conf_errors *e, const struct conf_key *k, unsigned int line, bool again,
		     enum conf_source source)
{
	if (again) {
		conf_error_add(e, line, "%s is given twice; allowed: once in a section", k->name);
		return false;
	}
	if (k->scope == CONF_SCOPE_FILE && source != CONF_SOURCE_FILE) {
		conf_error_add(e, line,
			       "%s is in a bridge with source = kernel; allowed: with source = "
			       "file only, the kernel's bridge has its own",
			       k->name);
		return false;
	}
	if (k->scope == CONF_SCOPE_KERNEL && source != CONF_SOURCE_KERNEL) {
		conf_error_add(e, line,
			       "%s is in a bridge with source = file; allowed: with source = "
			       "kernel only",
			       k->name);
		return false;
	}
	return true;
}

static bool read_key(struct conf_errors *e, cfg_t *sec, const struct conf_key *k, void *base,
		     enum conf_source source)
{
	struct conf_value *v;
	bool again;
	uint32_t n;
	bool ok;

	if (!conf_tree_key_is_given(sec, k->name))
		return true;
	if (conf_tree_values(sec, k->name, &v, &n, &again)) {
		e->no_memory = true;
		return false;
	}
	ok = (!n || key_fits(e, k, v[0].line, again, source)) &&
	     k->set(e, k, v, n, (char *)base + k->offset);
	free(v);
	return ok;
}

/* Reads the keys from number @first on; false if one of them was wrong. */
static bool read_keys(struct conf_errors *e, cfg_t *sec, const struct conf_section *s, size_t first,
		      void *base, enum conf_source source)
{
	bool ok = true;

	for (size_t i = first; i < s->n_keys; i++)
		ok &= read_key(e, sec, &s->keys[i], base, source);
	return ok;
}

static bool name_fits(struct conf_errors *e, unsigned int line, const char *kind, const char *name)
{
	if (conf_name_is_valid(name))
		return true;
	conf_error_add(e, line,
		       "the %s is called \"%.*s%s\"; allowed: an interface name of 1 to 15 bytes "
		       "without / : or space",
		       kind, CONF_CUT(name));
	return false;
}

static bool engine_fits(struct conf_errors *e, cfg_t *sec, unsigned int line,
			enum conf_engine engine, enum conf_source source)
{
	if (engine != CONF_ENGINE_KERNEL || source != CONF_SOURCE_FILE)
		return true;
	conf_error_add(e, conf_tree_key_line(sec, "engine", line),
		       "engine is \"kernel\" in a bridge with source = file, which has no kernel "
		       "bridge; allowed: auto, user");
	return false;
}

static void check_port_vlans(struct conf_errors *e, cfg_t *sec, unsigned int line,
			     const struct conf_bridge *b, struct conf_port *p)
{
	static const char *const keys[] = { "pvid", "vlans-untagged", "vlans-tagged" };
	bool given = false;

	for (size_t i = 0; i < 3; i++) {
		if (!conf_tree_key_is_given(sec, keys[i]))
			continue;
		given = true;
		if (!b->vlan_filtering)
			conf_error_add(e, conf_tree_key_line(sec, keys[i], line),
				       "%s is in a bridge with vlan-filtering = no; allowed: with "
				       "vlan-filtering = yes only",
				       keys[i]);
	}
	if (!b->vlan_filtering)
		return;
	if (!given) {
		p->pvid = 1;
		p->untagged.bits[0] = 1 << 1;
		return;
	}
	for (uint32_t vid = 1; vid <= VID_MAX; vid++) {
		if (conf_vlans_has(&p->tagged, vid) && conf_vlans_has(&p->untagged, vid)) {
			conf_error_add(e, conf_tree_key_line(sec, "vlans-tagged", line),
				       "VLAN %u is in vlans-untagged and in vlans-tagged; allowed: "
				       "in one of them",
				       vid);
			return;
		}
	}
	if (p->pvid && !conf_vlans_has(&p->tagged, p->pvid) &&
	    !conf_vlans_has(&p->untagged, p->pvid))
		conf_error_add(e, conf_tree_key_line(sec, "pvid", line),
			       "pvid is %u, which the port is not a member of; allowed: a VLAN of "
			       "vlans-untagged or vlans-tagged",
			       p->pvid);
}

static bool port_is_new(struct reader *r, unsigned int line, const char *name)
{
	for (uint32_t i = 0; i < r->c->n_bridges; i++) {
		const struct conf_bridge *b = &r->c->bridge[i];

		if (conf_port_find(b, name)) {
			conf_error_add(&r->e, line,
				       "the port %s is in the bridge %s already; allowed: each "
				       "port in one place",
				       name, b->name);
			return false;
		}
	}
	return true;
}

static void read_port(struct reader *r, cfg_t *sec, struct conf_bridge *b)
{
	unsigned int line = conf_tree_take_line(sec);
	struct conf_port p = {
		.learning = true,
		.flood = true,
		.mcast_flood = true,
		.bcast_flood = true,
	};

	if (!name_fits(&r->e, line, "port", sec->title) || !port_is_new(r, line, sec->title))
		return;
	if (r->n_ports == XB_MAX_PORTS) {
		conf_error_add(&r->e, line, "too many ports in the file; allowed: %d",
			       XB_MAX_PORTS);
		return;
	}
	memcpy(p.name, sec->title, strlen(sec->title) + 1);
	if (read_keys(&r->e, sec, &conf_section_port, 0, &p, b->source) &&
	    engine_fits(&r->e, sec, line, p.engine, b->source) && b->source == CONF_SOURCE_FILE)
		check_port_vlans(&r->e, sec, line, b, &p);
	b->port[b->n_ports++] = p;
	r->n_ports++;
}

static bool fdb_vlan_fits(struct conf_errors *e, cfg_t *sec, unsigned int line,
			  const struct conf_bridge *b, const struct conf_fdb *f)
{
	const struct conf_port *p = &b->port[f->port];

	if (!b->vlan_filtering && f->vid) {
		conf_error_add(e, conf_tree_key_line(sec, "vlan", line),
			       "vlan is in a bridge with vlan-filtering = no; allowed: with "
			       "vlan-filtering = yes only");
		return false;
	}
	if (b->vlan_filtering && !f->vid) {
		conf_error_add(
			e, line,
			"the fdb entry has no vlan; allowed: vlan = 1 to 4094, as the bridge "
			"has vlan-filtering = yes");
		return false;
	}
	if (f->vid && !conf_vlans_has(&p->tagged, f->vid) &&
	    !conf_vlans_has(&p->untagged, f->vid)) {
		conf_error_add(e, conf_tree_key_line(sec, "vlan", line),
			       "vlan is %u, which the port %s is not a member of; allowed: a VLAN "
			       "of the port",
			       f->vid, p->name);
		return false;
	}
	return true;
}

/* Finds the port and checks the address; false if an error was added. */
static bool fdb_resolve(struct conf_errors *e, cfg_t *sec, unsigned int line,
			const struct conf_bridge *b, struct conf_fdb *f)
{
	struct conf_fdb_text t = { .port = "" };
	const struct conf_port *p;

	if (mac_parse(sec->title, &f->mac) || mac_is_multicast(&f->mac) || mac_is_zero(&f->mac)) {
		conf_error_add(e, line,
			       "the fdb entry is for \"%.*s%s\"; allowed: a unicast MAC address "
			       "(as \"02:00:00:00:00:01\")",
			       CONF_CUT(sec->title));
		return false;
	}
	if (!read_keys(e, sec, &conf_section_fdb, 0, &t, b->source))
		return false;
	if (!t.port[0]) {
		conf_error_add(e, line, "the fdb entry has no port; allowed: port = NAME");
		return false;
	}
	p = conf_port_find(b, t.port);
	if (!p) {
		conf_error_add(e, conf_tree_key_line(sec, "port", line),
			       "port is \"%s\"; allowed: a port section of this bridge", t.port);
		return false;
	}
	f->port = (uint32_t)(p - b->port);
	f->vid = t.vid;
	f->sticky = t.sticky;
	return fdb_vlan_fits(e, sec, line, b, f);
}

static void read_fdb(struct reader *r, cfg_t *sec, struct conf_bridge *b)
{
	unsigned int line = conf_tree_take_line(sec);
	struct conf_fdb f = { .vid = 0 };

	if (b->source != CONF_SOURCE_FILE) {
		conf_error_add(&r->e, line,
			       "fdb is in a bridge with source = kernel; allowed: with source = "
			       "file only, the kernel's bridge has its own");
		return;
	}
	if (!fdb_resolve(&r->e, sec, line, b, &f))
		return;
	for (uint32_t i = 0; i < b->n_fdbs; i++) {
		if (mac_equal(&b->fdbs[i].mac, &f.mac) && b->fdbs[i].vid == f.vid) {
			conf_error_add(&r->e, line,
				       "the fdb entry is given twice; allowed: each address and "
				       "vlan once");
			return;
		}
	}
	if (b->n_fdbs == CONF_FDBS_MAX) {
		conf_error_add(&r->e, line, "too many fdb entries in the bridge; allowed: %d",
			       CONF_FDBS_MAX);
		return;
	}
	b->fdbs[b->n_fdbs++] = f;
}

/* Makes room for the sections that @sec has. */
static bool bridge_alloc(cfg_t *sec, struct conf_bridge *b)
{
	b->port = calloc(cfg_size(sec, "port") + 1, sizeof(*b->port));
	b->fdbs = calloc(cfg_size(sec, "fdb") + 1, sizeof(*b->fdbs));
	return conf_globs_all(&b->ports) && b->port && b->fdbs;
}

static void read_bridge(struct reader *r, cfg_t *sec)
{
	unsigned int line = conf_tree_take_line(sec);
	struct conf_bridge *b = &r->c->bridge[r->c->n_bridges];

	if (!name_fits(&r->e, line, "bridge", sec->title))
		return;
	if (conf_bridge_find(r->c, sec->title)) {
		conf_error_add(&r->e, line,
			       "the bridge %s has a section already; allowed: one section for each "
			       "bridge",
			       sec->title);
		return;
	}
	if (r->c->n_bridges == XB_MAX_BRIDGES) {
		conf_error_add(&r->e, line, "too many bridges in the file; allowed: %d",
			       XB_MAX_BRIDGES);
		return;
	}
	r->c->n_bridges++;
	*b = (struct conf_bridge){ .ageing_time_s = 300, .vlan_protocol = 0x8100 };
	memcpy(b->name, sec->title, strlen(sec->title) + 1);
	if (!bridge_alloc(sec, b)) {
		r->e.no_memory = true;
		return;
	}
	/* With a wrong source the other keys would only give false errors. */
	if (!read_key(&r->e, sec, &conf_section_bridge.keys[0], b, CONF_SOURCE_KERNEL))
		return;
	if (read_keys(&r->e, sec, &conf_section_bridge, 1, b, b->source))
		engine_fits(&r->e, sec, line, b->engine, b->source);
	for (unsigned int i = 0; i < cfg_size(sec, "port"); i++)
		read_port(r, cfg_getnsec(sec, "port", i), b);
	for (unsigned int i = 0; i < cfg_size(sec, "fdb"); i++)
		read_fdb(r, cfg_getnsec(sec, "fdb", i), b);
}

static void check_root(struct reader *r, cfg_t *root)
{
	struct conf *c = r->c;

	if (c->workers > 1)
		conf_error_add(&r->e, conf_tree_key_line(root, "workers", 1),
			       "workers is %u, and this version runs one worker only; allowed: 1",
			       c->workers);
	if (c->n_worker_cpus && c->n_worker_cpus != c->workers)
		conf_error_add(&r->e, conf_tree_key_line(root, "worker-cpus", 1),
			       "worker-cpus has %u CPUs for %u workers; allowed: one for each "
			       "worker, or none",
			       c->n_worker_cpus, c->workers);
	if (c->umem_frames < c->fill_ring + c->tx_ring)
		conf_error_add(&r->e, conf_tree_key_line(root, "umem-frames", 1),
			       "umem-frames is %u; allowed: at least fill-ring + tx-ring, here %u",
			       c->umem_frames, c->fill_ring + c->tx_ring);
}

static void read_root(struct reader *r, cfg_t *root)
{
	unsigned int n = cfg_size(root, "bridge");
	bool ok = read_keys(&r->e, root, &conf_section_root, 0, r->c, CONF_SOURCE_KERNEL);

	r->c->n_worker_cpus = cfg_size(root, "worker-cpus");
	if (ok)
		check_root(r, root);
	r->c->bridge = calloc((n < XB_MAX_BRIDGES ? n : XB_MAX_BRIDGES) + 1, sizeof(*r->c->bridge));
	if (!r->c->bridge) {
		r->e.no_memory = true;
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		read_bridge(r, cfg_getnsec(root, "bridge", i));
}

static int by_line(const void *a, const void *b)
{
	const struct conf_error *x = a;
	const struct conf_error *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

__attribute__((format(printf, 3, 4))) static void report_line(conf_report_fn report, void *arg,
							      const char *fmt, ...)
{
	va_list ap;
	char *line;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (n < 0) {
		report(arg, "out of memory");
		return;
	}
	report(arg, line);
	free(line);
}

/* Reports what was collected, in the order of the lines, and empties @e. */
static int report_all(struct conf_errors *e, const char *file, conf_report_fn report, void *arg)
{
	bool any = e->n > 0;

	qsort(e->v, e->n, sizeof(e->v[0]), by_line);
	for (unsigned int i = 0; i < e->n; i++) {
		report_line(report, arg, "%s:%u: %s", file, e->v[i].line, e->v[i].msg);
		free(e->v[i].msg);
	}
	if (e->n_more)
		report_line(report, arg, "%s:%u: %u more errors are not shown; correct these first",
			    file, e->v[e->n - 1].line, e->n_more);
	if (e->no_memory)
		report_line(report, arg, "%s: out of memory", file);
	e->n = 0;
	if (e->no_memory)
		return -ENOMEM;
	return any ? -EINVAL : 0;
}

int conf_parse(const char *file, const char *text, size_t len, struct conf **out,
	       conf_report_fn report, void *arg)
{
	struct reader r = { .c = conf_defaults() };
	cfg_t *root = NULL;
	int err;

	if (len > CONF_FILE_MAX) {
		conf_free(r.c);
		report_line(report, arg, "%s:1: the file is too large; allowed: %d bytes", file,
			    CONF_FILE_MAX);
		return -EFBIG;
	}
	r.e.no_memory = !r.c;
	if (r.c)
		root = conf_tree_new(text, len, &r.e);
	if (root) {
		read_root(&r, root);
		cfg_free(root);
	}
	err = report_all(&r.e, file, report, arg);
	if (err) {
		conf_free(r.c);
		return err;
	}
	*out = r.c;
	return 0;
}

/* Reads at most @size bytes of @fd; their number or a negative errno. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

int conf_load(const char *path, struct conf **out, conf_report_fn report, void *arg)
{
	/* Not blocking: the path may be a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len = fd < 0 ? -errno : 0;
	char *buf;
	int err;

	if (len == -ENOENT)
		return -ENOENT;
	buf = malloc(CONF_FILE_MAX + 1);
	if (!buf)
		len = -ENOMEM;
	if (!len)
		len = read_all(fd, buf, CONF_FILE_MAX + 1);
	if (len < 0) {
		report_line(report, arg, "%s: cannot be read: %s", path, strerror((int)-len));
		err = (int)len;
	} else {
		err = conf_parse(path, buf, (size_t)len, out, report, arg);
	}
	free(buf);
	if (fd >= 0)
		close(fd);
	return err;
}

static void print_keys(FILE *f, const char *prefix, const struct conf_section *s)
{
	char sub[64];

	for (size_t i = 0; i < s->n_keys; i++)
		fprintf(f, "%s%s\n", prefix, s->keys[i].name);
	for (size_t i = 0; s->subs[i]; i++) {
		snprintf(sub, sizeof(sub), "%s%s.", prefix, s->subs[i]->name);
		print_keys(f, sub, s->subs[i]);
	}
}

void conf_print_keys(FILE *f)
{
	print_keys(f, "", &conf_section_root);
}
