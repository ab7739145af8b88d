/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `status`: which ports are on which path, and why; what happened lately. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "ctl/show_priv.h"
#include "util/clock.h"

static uint64_t netns_number(void)
{
	struct stat st;

	return stat("/proc/self/ns/net", &st) ? 0 : st.st_ino;
}

static void set_frames(struct show *s, json_t *o)
{
	struct dp_frame_sum sum;

	if (!dp_frames(s->c->dp, &sum)) {
		show_set(s, o, "frames", json_null()); /* a worker did not answer */
		return;
	}
	show_set(s, o, "frames",
		 json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "all", (json_int_t)sum.all, "pool",
			   (json_int_t)sum.pool, "fill", (json_int_t)sum.fill, "batch",
			   (json_int_t)sum.batch, "tx", (json_int_t)sum.tx, "lost",
			   (json_int_t)(sum.all - sum.pool - sum.fill - sum.batch - sum.tx)));
}

static json_t *daemon_object(struct show *s)
{
	const struct ctl *c = s->c;
	json_t *o = json_object();

	show_set(s, o, "version", json_string(PACKAGE_VERSION));
	show_set_count(s, o, "pid", (uint64_t)getpid());
	show_set_count(s, o, "uptime", (s->now_ns - c->started_ns) / NSEC_PER_SEC);
	show_set_count(s, o, "netns", netns_number());
	show_set(s, o, "config", c->conf_path ? show_string(c->conf_path) : json_null());
	show_set(s, o, "gate", json_string(c->is_gate_open ? "open" : "shut"));
	show_set_count(s, o, "workers", c->conf->workers);
	set_frames(s, o);
	show_set_count(s, o, "resyncs", c->stats.n_resyncs);
	show_set(s, o, "resync_due", json_boolean(c->resync_wanted));
	return o;
}

/* The object stays open for the lists that follow. */
static void put_daemon(struct show *s)
{
	json_t *o = daemon_object(s);
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;

	json_decref(o);
	if (len) {
		text[len - 1] = 0;
		show_text(s, text);
		show_text(s, ",\"bridges\":[");
	} else {
		s->has_failed = true;
	}
	free(text);
}

/* ---- bridges ---- */

static json_t *port_object(struct show *s, uint32_t slot, enum path_reason reason)
{
	const struct ctl_port *p = &s->c->port[slot];
	const struct model_port *m = s->c->model->port[slot];
	json_t *o = json_object();

	show_set(s, o, "ifname", show_string(p->name));
	show_path(s, o, reason == PATH_NONE ? "user" : "kernel", reason);
	show_set(s, o, "note", show_string(p->note));
	show_set(s, o, "state", json_string(m ? show_state_name(m->a.state) : "unknown"));
	return o;
}

struct ports {
	json_t *list;
	uint64_t n_user, n_kernel;
	enum path_reason reason; /* of those on the kernel path, if it is one */
};

static void collect_ports(struct show *s, struct ports *ports)
{
	for (uint32_t slot = 1; slot < XB_MAX_PORTS; slot++) {
		const struct ctl_port *p = &s->c->port[slot];
		enum path_reason reason;

		if (!p->is_used || p->is_host || p->bridge != s->i)
			continue;
		reason = show_port_reason(s->c, p);
		show_append(s, ports->list, port_object(s, slot, reason));
		if (reason == PATH_NONE) {
			ports->n_user++;
			continue;
		}
		if (!ports->n_kernel++)
			ports->reason = reason;
		else if (ports->reason != reason)
			ports->reason = PATH_NONE;
	}
}

/* A bridge that is left to the kernel for its ports' sake has their reason, if they have one. */
static enum path_reason bridge_reason(const struct ctl_bridge *b, const struct ports *ports)
{
	if (b->reason != PATH_NONE)
		return b->reason;
	if (b->veto != PATH_NONE)
		return b->veto;
	return ports->n_user ? PATH_NONE : ports->reason;
}

static const char *bridge_path(const struct ports *ports)
{
	if (!ports->n_user)
		return "kernel";
	return ports->n_kernel ? "mixed" : "user";
}

static void put_bridge(struct show *s)
{
	const struct ctl_bridge *b = &s->c->bridge[s->i];
	const struct model_bridge *m = s->c->model->bridge[s->i];
	struct ports ports = { .list = json_array() };
	struct fdb_stats st = { 0 };
	json_t *o = json_object();

	collect_ports(s, &ports);
	if (b->fdb)
		fdb_stats(b->fdb, &st);
	show_set(s, o, "ifname", show_string(b->name));
	show_set_count(s, o, "ifindex", b->ifindex);
	show_set(s, o, "source", json_string(b->source == CONF_SOURCE_FILE ? "file" : "kernel"));
	show_path(s, o, bridge_path(&ports), bridge_reason(b, &ports));
	show_set(s, o, "note", show_string(b->note));
	show_set(s, o, "gate", json_string(b->is_open ? "open" : "shut"));
	show_set(s, o, "vlan_filtering", json_boolean(b->is_filtering));
	if (m && b->is_filtering)
		show_set(s, o, "vlan_protocol",
			 json_string(m->a.tpid == 0x88a8 ? "802.1ad" : "802.1Q"));
	show_set_count(s, o, "mtu", b->mtu);
	show_set_count(s, o, "ageing", b->hold_ns / NSEC_PER_SEC);
	show_set_count(s, o, "fdb_entries", st.n_entries);
	show_set_count(s, o, "ports_user", ports.n_user);
	show_set_count(s, o, "ports_kernel", ports.n_kernel);
	show_set(s, o, "multicast", show_multicast(s, b));
	show_set(s, o, "neigh", show_neigh(s, b));
	show_set(s, o, "ports", ports.list);
	show_item(s, o);
}

/* ---- history ---- */

static void put_history(struct show *s)
{
	const struct history *h = &s->c->history;
	json_t *list = json_array();

	for (uint64_t i = h->n > HISTORY_N ? h->n - HISTORY_N : 0; i < h->n; i++) {
		const struct history_item *item = &h->item[i % HISTORY_N];

		show_append(s, list,
			    json_pack("{s:f, s:s, s:o}", "time", (double)item->real_ms / 1000,
				      "level", log_level_name(item->level), "text",
				      show_string(item->text)));
	}
	show_text(s, "],\"history\":");
	show_value(s, list);
	show_text(s, "}");
}

bool show_status_unit(struct show *s)
{
	if (!s->phase++) {
		put_daemon(s);
		return true;
	}
	while (s->i < XB_MAX_BRIDGES && !s->c->bridge[s->i].is_used)
		s->i++;
	if (s->i < XB_MAX_BRIDGES) {
		put_bridge(s);
		s->i++;
		return true;
	}
	put_history(s);
	return false;
}
