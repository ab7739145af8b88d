/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/conf.h"

#define TEXT_MAX 16384

/* What was reported, one error a line, without the name of the file. */
struct reports {
	size_t skip;
	size_t len;
	char text[TEXT_MAX];
};

static void collect(void *arg, const char *line)
{
	struct reports *r = arg;

	r->len += (size_t)snprintf(r->text + r->len, sizeof(r->text) - r->len, "%s\n",
				   line + r->skip);
	assert_true(r->len < sizeof(r->text));
}

static const char *data_path(char *buf, size_t size, const char *dir, const char *name,
			     const char *suffix)
{
	const char *top = getenv("srcdir");

	snprintf(buf, size, "%s/tests/data/conf/%s/%s%s", top ? top : ".", dir, name, suffix);
	return buf;
}

static void read_file(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t len;

	assert_non_null(f);
	len = fread(buf, 1, size - 1, f);
	buf[len] = 0;
	fclose(f);
}

static void check_bad_file(const char *name)
{
	static char want[TEXT_MAX];
	static struct reports got;
	struct conf *c = NULL;
	char path[512];
	int err;

	read_file(data_path(path, sizeof(path), "bad", name, ".expect"), want, sizeof(want));
	data_path(path, sizeof(path), "bad", name, ".conf");
	got = (struct reports){ .skip = strlen(path) + 1 };
	err = conf_load(path, &c, collect, &got);
	if (err != -EINVAL || c || strcmp(got.text, want) != 0)
		fail_msg("%s: returned %d, said\n%swanted\n%s", name, err, got.text, want);
}

static void each_bad_file_is_refused_with_its_message(void **state)
{
	char dir_name[512];
	unsigned int n = 0;
	struct dirent *d;
	DIR *dir;

	(void)state;
	dir = opendir(data_path(dir_name, sizeof(dir_name), "bad", "", ""));
	assert_non_null(dir);
	while ((d = readdir(dir))) {
		char *dot = strrchr(d->d_name, '.');

		if (!dot || strcmp(dot, ".conf") != 0)
			continue;
		*dot = 0;
		check_bad_file(d->d_name);
		n++;
	}
	closedir(dir);
	assert_true(n > 60);
}

static struct conf *load_good(const char *name)
{
	struct reports got = { .skip = 0 };
	struct conf *c = NULL;
	char path[512];

	if (conf_load(data_path(path, sizeof(path), "good", name, ".conf"), &c, collect, &got))
		fail_msg("%s", got.text);
	return c;
}

static struct conf *parse(const char *text)
{
	struct reports got = { .skip = 0 };
	struct conf *c = NULL;

	if (conf_parse("t", text, strlen(text), &c, collect, &got))
		fail_msg("%s", got.text);
	return c;
}

static void every_global_key_sets_its_field(void **state)
{
	struct conf *c = load_good("global");

	(void)state;
	assert_int_equal(c->log_level, LOG_LEVEL_DEBUG);
	assert_string_equal(c->control_socket, "/tmp/x.sock");
	assert_string_equal(c->control_group, "netdev");
	assert_int_equal(c->bridges.n, 2);
	assert_string_equal(c->bridges.v[1], "vmbr0");
	assert_int_equal(c->n_worker_cpus, 1);
	assert_int_equal(c->worker_cpus[0], 3);
	assert_int_equal(c->umem_frames, 4194304);
	assert_int_equal(c->frame_size, 4096);
	assert_int_equal(c->rx_ring, 64);
	assert_int_equal(c->fill_ring, 8192);
	assert_int_equal(c->tx_ring, 128);
	assert_int_equal(c->completion_ring, 256);
	assert_int_equal(c->batch, 256);
	assert_int_equal(c->heartbeat_ms, 2000);
	assert_int_equal(c->control_heartbeat_ms, 60000);
	assert_int_equal(c->resync_deadline_ms, 100);
	assert_int_equal(c->netlink_buffer, 65536);
	assert_int_equal(c->fdb_max, 16777216);
	assert_int_equal(c->mode, CONF_MODE_ZERO_COPY);
	assert_true(c->accelerate_virtual);
	assert_true(c->detach_on_stop);
	assert_int_equal(c->netfilter, CONF_IGNORE);
	assert_int_equal(c->tc, CONF_IGNORE);
	assert_int_equal(c->mst, CONF_MST_KERNEL);
	assert_int_equal(c->mst_poll_ms, 20);
	assert_int_equal(c->querier_settle_ms, 100);
	conf_free(c);
}

static void check_standalone_port(const struct conf_port *p)
{
	assert_int_equal(p->pvid, 10);
	assert_true(conf_vlans_has(&p->untagged, 10));
	assert_false(conf_vlans_has(&p->untagged, 20));
	assert_true(conf_vlans_has(&p->tagged, 20));
	assert_false(conf_vlans_has(&p->tagged, 99));
	assert_true(conf_vlans_has(&p->tagged, 100));
	assert_true(conf_vlans_has(&p->tagged, 199));
	assert_false(conf_vlans_has(&p->tagged, 200));
	assert_true(conf_vlans_has(&p->tagged, 4094));
	assert_false(p->learning || p->flood || p->mcast_flood || p->bcast_flood);
	assert_true(p->isolated && p->hairpin);
}

static void a_standalone_bridge_keeps_all_that_the_file_says(void **state)
{
	struct conf *c = load_good("standalone");
	const struct conf_bridge *b = conf_bridge_find(c, "br0");
	const struct conf_port *p;

	(void)state;
	assert_int_equal(b->source, CONF_SOURCE_FILE);
	assert_int_equal(b->ageing_time_s, 300);
	assert_true(b->vlan_filtering);
	assert_int_equal(b->vlan_protocol, 0x88a8);
	assert_int_equal(conf_bridge_fdb_max(c, "br0"), 2048);
	check_standalone_port(conf_port_find(b, "eth0"));
	p = conf_port_find(b, "eth1");
	assert_int_equal(p->pvid, 1);
	assert_true(conf_vlans_has(&p->untagged, 1));
	assert_true(p->learning && p->flood && p->mcast_flood && p->bcast_flood);
	assert_int_equal(b->n_fdbs, 3);
	assert_int_equal(b->fdbs[0].vid, 20);
	assert_true(b->fdbs[0].sticky);
	assert_int_equal(b->fdbs[1].vid, 100);
	assert_string_equal(b->port[b->fdbs[2].port].name, "eth1");
	assert_int_equal(conf_port_engine(c, "br0", "eth0"), CONF_ENGINE_AUTO);
	assert_int_equal(conf_port_engine(c, "br0", "eth1"), CONF_ENGINE_USER);
	assert_int_equal(conf_port_mode(c, "br0", "eth0"), CONF_MODE_ZERO_COPY);
	assert_int_equal(conf_port_mode(c, "br0", "eth1"), CONF_MODE_COPY);
	assert_false(conf_port_accelerate_virtual(c, "br0", "eth0"));
	assert_true(conf_port_accelerate_virtual(c, "br0", "eth1"));
	conf_free(c);
}

static void the_nearest_setting_counts(void **state)
{
	static const struct {
		const char *bridge, *port;
		bool selected;
		enum conf_engine engine;
	} rows[] = {
		{ "br1", "eth3", true, CONF_ENGINE_USER },
		{ "br1", "eth2", true, CONF_ENGINE_KERNEL },
		{ "br1", "eth9", false, CONF_ENGINE_KERNEL },
		{ "br1", "eth12", false, CONF_ENGINE_KERNEL },
		{ "br1", "veth1", false, CONF_ENGINE_KERNEL },
		{ "other", "eth9", true, CONF_ENGINE_AUTO },
		{ "br7", "eth9", true, CONF_ENGINE_AUTO },
	};
	struct conf *c = load_good("global");

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		if (conf_port_is_selected(c, rows[i].bridge, rows[i].port) != rows[i].selected ||
		    conf_port_engine(c, rows[i].bridge, rows[i].port) != rows[i].engine)
			fail_msg("%s %s", rows[i].bridge, rows[i].port);
		assert_true(conf_port_accelerate_virtual(c, rows[i].bridge, rows[i].port));
		assert_int_equal(conf_port_mode(c, rows[i].bridge, rows[i].port),
				 CONF_MODE_ZERO_COPY);
	}
	assert_true(conf_bridge_is_selected(c, "br7"));
	assert_false(conf_bridge_is_selected(c, "other"));
	assert_int_equal(conf_bridge_fdb_max(c, "br1"), 16777216);
	conf_free(c);
}

static void an_empty_file_gives_the_defaults(void **state)
{
	static const char *const texts[] = {
		"", "\n", "#", "#\n", "//", "/**/", "/* a */ # b\r\n"
	};
	struct conf *d = conf_defaults();

	(void)state;
	for (size_t i = 0; i < N_ELEM(texts); i++) {
		struct conf *c = parse(texts[i]);

		assert_int_equal(c->n_bridges, 0);
		assert_int_equal(c->umem_frames, d->umem_frames);
		assert_int_equal(c->heartbeat_ms, 100);
		assert_true(conf_bridge_is_selected(c, "br0"));
		assert_string_equal(c->control_group, "");
		conf_free(c);
	}
	conf_free(d);
}

static void an_empty_list_selects_no_bridge(void **state)
{
	struct conf *c = parse("bridges = { }");

	(void)state;
	assert_false(conf_bridge_is_selected(c, "br0"));
	conf_free(c);
}

static void a_standalone_bridge_is_no_kernel_bridge(void **state)
{
	struct conf *c = parse("bridge br0 { source = file; port eth0 { } }");

	(void)state;
	assert_false(conf_bridge_is_selected(c, "br0"));
	assert_true(conf_port_is_selected(c, "br0", "eth0"));
	assert_false(conf_port_is_selected(c, "br0", "eth1"));
	conf_free(c);
}

static void a_missing_file_is_not_an_error_of_its_own(void **state)
{
	struct reports got = { .skip = 0 };
	struct conf *c = NULL;

	(void)state;
	assert_int_equal(conf_load("/nonexistent/xbridged.conf", &c, collect, &got), -ENOENT);
	assert_string_equal(got.text, "");
	assert_null(c);
}

static void what_cannot_be_read_is_reported(void **state)
{
	struct reports got = { .skip = 0 };
	struct conf *c = NULL;

	(void)state;
	assert_int_equal(conf_load("/", &c, collect, &got), -EISDIR);
	assert_string_equal(got.text, "/: cannot be read: Is a directory\n");
}

static void a_file_above_the_limit_is_refused(void **state)
{
	struct reports got = { .skip = 0 };
	char *text = malloc(CONF_FILE_MAX + 1);
	struct conf *c = NULL;

	(void)state;
	memset(text, '\n', CONF_FILE_MAX + 1);
	assert_int_equal(conf_parse("f", text, CONF_FILE_MAX + 1, &c, collect, &got), -EFBIG);
	assert_string_equal(got.text, "f:1: the file is too large; allowed: 1048576 bytes\n");
	assert_int_equal(conf_parse("f", text, CONF_FILE_MAX, &c, collect, &got), 0);
	conf_free(c);
	free(text);
}

/* @n sections inside of @open; their names are two numbers with @between. */
static void check_count(const char *open, const char *before, const char *between,
			const char *after, unsigned int n, int want)
{
	static struct reports got;
	char *text = malloc(CONF_FILE_MAX);
	struct conf *c = NULL;
	size_t len = (size_t)sprintf(text, "%s", open);
	int err;

	for (unsigned int i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, CONF_FILE_MAX - len, "%s%x%s%x%s\n", before,
					i >> 8, between, i & 255, after);
	len += (size_t)sprintf(text + len, "%s", open[0] ? "}" : "");
	got = (struct reports){ .skip = 0 };
	err = conf_parse("f", text, len, &c, collect, &got);
	if (err != want)
		fail_msg("%u times \"%s\" gives %d: %s", n, before, err, got.text);
	if (!err)
		conf_free(c);
	free(text);
}

static void sections_are_bounded(void **state)
{
	static const char file_bridge[] = "bridge br0 { source = file; port a { }\n";

	(void)state;
	check_count("", "bridge b", ".", " { }", XB_MAX_BRIDGES, 0);
	check_count("", "bridge b", ".", " { }", XB_MAX_BRIDGES + 1, -EINVAL);
	check_count(file_bridge, "port p", ".", " { }", XB_MAX_PORTS - 1, 0);
	check_count(file_bridge, "port p", ".", " { }", XB_MAX_PORTS, -EINVAL);
	check_count(file_bridge, "fdb \"2:0:0:0:", ":", "\" { port = a }", CONF_FDBS_MAX, 0);
	check_count(file_bridge, "fdb \"2:0:0:0:", ":", "\" { port = a }", CONF_FDBS_MAX + 1,
		    -EINVAL);
	check_count("", "bridge \"/", ".", "\" { }", 8193, -EINVAL);
}

static void assert_same_globals(const struct conf *a, const struct conf *b)
{
	assert_int_equal(a->log_level, b->log_level);
	assert_string_equal(a->control_socket, b->control_socket);
	assert_string_equal(a->control_group, b->control_group);
	assert_int_equal(a->bridges.n, b->bridges.n);
	assert_string_equal(a->bridges.v[0], b->bridges.v[0]);
	assert_int_equal(a->workers, b->workers);
	assert_int_equal(a->n_worker_cpus, b->n_worker_cpus);
	assert_int_equal(a->umem_frames, b->umem_frames);
	assert_int_equal(a->frame_size, b->frame_size);
	assert_int_equal(a->rx_ring, b->rx_ring);
	assert_int_equal(a->fill_ring, b->fill_ring);
	assert_int_equal(a->tx_ring, b->tx_ring);
	assert_int_equal(a->completion_ring, b->completion_ring);
	assert_int_equal(a->batch, b->batch);
	assert_int_equal(a->heartbeat_ms, b->heartbeat_ms);
	assert_int_equal(a->control_heartbeat_ms, b->control_heartbeat_ms);
	assert_int_equal(a->resync_deadline_ms, b->resync_deadline_ms);
	assert_int_equal(a->netlink_buffer, b->netlink_buffer);
	assert_int_equal(a->fdb_max, b->fdb_max);
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->accelerate_virtual, b->accelerate_virtual);
	assert_int_equal(a->detach_on_stop, b->detach_on_stop);
	assert_int_equal(a->unseen_tags, b->unseen_tags);
	assert_int_equal(a->netfilter, b->netfilter);
	assert_int_equal(a->tc, b->tc);
	assert_int_equal(a->mst, b->mst);
	assert_int_equal(a->mst_poll_ms, b->mst_poll_ms);
	assert_int_equal(a->querier_settle_ms, b->querier_settle_ms);
}

/* Takes the "#" off lines as "#key = value", which global keys are. */
static unsigned int uncomment(char *text)
{
	unsigned int n = 0;

	for (char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (p[0] == '#' && p[1] >= 'a' && p[1] <= 'z' &&
		    !strncmp(p + strcspn(p, " \n"), " = ", 3)) {
			p[0] = ' ';
			n++;
		}
	}
	return n;
}

static void the_shipped_example_shows_the_defaults(void **state)
{
	static char text[65536];
	const char *top = getenv("srcdir");
	struct conf *d = conf_defaults();
	struct conf *c;
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/conf/xbridged.conf", top ? top : ".");
	read_file(path, text, sizeof(text));
	c = parse(text);
	assert_same_globals(c, d);
	assert_int_equal(c->n_bridges, 0);
	conf_free(c);
	assert_int_equal(uncomment(text), 27);
	c = parse(text);
	assert_same_globals(c, d);
	conf_free(c);
	conf_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_bad_file_is_refused_with_its_message),
		cmocka_unit_test(every_global_key_sets_its_field),
		cmocka_unit_test(a_standalone_bridge_keeps_all_that_the_file_says),
		cmocka_unit_test(the_nearest_setting_counts),
		cmocka_unit_test(an_empty_file_gives_the_defaults),
		cmocka_unit_test(an_empty_list_selects_no_bridge),
		cmocka_unit_test(a_standalone_bridge_is_no_kernel_bridge),
		cmocka_unit_test(a_missing_file_is_not_an_error_of_its_own),
		cmocka_unit_test(what_cannot_be_read_is_reported),
		cmocka_unit_test(a_file_above_the_limit_is_refused),
		cmocka_unit_test(sections_are_bounded),
		cmocka_unit_test(the_shipped_example_shows_the_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
