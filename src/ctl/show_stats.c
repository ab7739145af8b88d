/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `stats`: every counter, of ports, bridges, workers and the control thread. */
#include "core/count.h"
#include "core/local.h"
#include "ctl/show_priv.h"

enum { PHASE_BEGIN, PHASE_PORTS, PHASE_BRIDGES };

/* Adds the counters in a way that no new field is forgotten: both are numbers only. */
static void add_all(struct dp_port_counters *to, const struct dp_port_counters *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	_Static_assert(sizeof(*to) % sizeof(*t) == 0, "a counter is 64 bits wide");
	for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

void show_counters(struct ctl *c, uint16_t slot, struct dp_port_counters *out)
{
	struct dp_port_counters now;

	*out = c->port[slot].closed;
	if (!dp_port_counters(c->dp, slot, &now))
		add_all(out, &now);
}

/* ---- ports ---- */

static json_t *passed_object(struct show *s, const struct dp_port_counters *n)
{
	json_t *o = json_object();

	for (uint32_t i = PUNT_NONE + 1; i < PUNT_N; i++)
		show_set_count(s, o, punt_name(i), n->punt[i]);
	return o;
}

static json_t *dropped_object(struct show *s, const struct dp_port_counters *n)
{
	json_t *o = json_object();

	for (uint32_t i = DROP_NONE + 1; i < DROP_N; i++)
		show_set_count(s, o, drop_name(i),
			       n->user.drop[i] +
				       (i == DROP_STANDALONE ? n->dropped_standalone : 0));
	return o;
}

static json_t *xsk_object(struct show *s, const struct dp_port_counters *n)
{
	json_t *o = json_object();

	show_set_count(s, o, "rx_dropped", n->xsk_rx_dropped);
	show_set_count(s, o, "rx_ring_full", n->xsk_rx_ring_full);
	show_set_count(s, o, "fill_empty", n->xsk_fill_empty);
	show_set_count(s, o, "tx_invalid", n->xsk_tx_invalid);
	show_set_count(s, o, "tx_empty", n->xsk_tx_empty);
	return o;
}

static void put_port(struct show *s, uint16_t slot)
{
	const struct ctl_port *p = &s->c->port[slot];
	struct dp_port_counters n;
	json_t *o = json_object();

	show_counters(s->c, slot, &n);
	show_set(s, o, "ifname", show_string(p->name));
	show_set(s, o, "master", show_string(s->c->bridge[p->bridge].name));
	show_set(s, o, "host", json_boolean(p->is_host));
	if (!p->is_host)
		show_set(s, o, "path",
			 json_string(show_port_reason(s->c, p) == PATH_NONE ? "user" : "kernel"));
	show_set_count(s, o, "rx_frames", n.user.rx_frames);
	show_set_count(s, o, "rx_bytes", n.user.rx_bytes);
	show_set_count(s, o, "tx_frames", n.user.tx_frames);
	show_set_count(s, o, "tx_bytes", n.user.tx_bytes);
	show_set_count(s, o, "rx_flooded", n.user.rx_flooded);
	show_set_count(s, o, "tx_in_flight", n.tx_in_flight);
	show_set_count(s, o, "csum_completed", n.user.csum_completed);
	show_set_count(s, o, "learned", n.user.learned);
	show_set_count(s, o, "moved", n.user.moved);
	show_set_count(s, o, "own_source", n.user.own_source);
	show_set_count(s, o, "fdb_full", n.user.fdb_full);
	show_set_count(s, o, "fdb_limit", n.user.fdb_limit);
	show_set_count(s, o, "fdb_busy", n.user.fdb_busy);
	show_set_count(s, o, "fdb_sticky", n.user.fdb_sticky);
	show_set_count(s, o, "redirected", n.redirected);
	show_set(s, o, "passed", passed_object(s, &n));
	show_set(s, o, "dropped", dropped_object(s, &n));
	show_set(s, o, "xsk", xsk_object(s, &n));
	show_item(s, o);
}

/* ---- bridges ---- */

static void set_vlan_counts(struct show *s, json_t *o, const struct count_vlan *n)
{
	show_set_count(s, o, "rx_frames", n->rx_frames);
	show_set_count(s, o, "rx_bytes", n->rx_bytes);
	show_set_count(s, o, "tx_frames", n->tx_frames);
	show_set_count(s, o, "tx_bytes", n->tx_bytes);
}

static json_t *fdb_object(struct show *s, const struct ctl_bridge *b)
{
	struct local_info own = { 0 };
	struct fdb_stats st = { 0 };
	json_t *o = json_object();

	if (b->fdb)
		fdb_stats(b->fdb, &st);
	if (b->local)
		local_info(b->local, &own);
	show_set_count(s, o, "entries", st.n_entries);
	show_set_count(s, o, "learned", st.n_learned);
	show_set_count(s, o, "local", st.n_local);
	show_set_count(s, o, "own_addresses", own.n_addresses);
	show_set_count(s, o, "own_exceptions", own.n_exceptions);
	show_set_count(s, o, "dead", st.n_dead);
	show_set_count(s, o, "buckets", st.n_buckets);
	show_set_count(s, o, "memory", st.mem_size);
	show_set_count(s, o, "moves", st.n_moves);
	show_set_count(s, o, "full", st.n_full);
	show_set_count(s, o, "no_room", st.n_no_room);
	show_set_count(s, o, "limit", st.n_limit);
	show_set_count(s, o, "busy", st.n_busy);
	show_set_count(s, o, "resizes", st.n_resizes);
	return o;
}

static void put_bridge(struct show *s)
{
	const struct ctl_bridge *b = &s->c->bridge[s->i];
	json_t *o = json_object(), *vlans = json_array();
	struct count_vlan all = { 0 };

	for (uint32_t vid = 0; b->count && vid < VID_N; vid++) {
		struct count_vlan n = { 0 };
		json_t *v;

		for (uint32_t w = 0; w < s->c->conf->workers; w++)
			count_vlan_sum(&n, &b->count[w * VID_N + vid]);
		count_vlan_sum(&all, &n);
		if (!s->req.vlans || !vid || !(n.rx_frames | n.tx_frames))
			continue;
		v = json_object();
		show_set_count(s, v, "vlan", vid);
		set_vlan_counts(s, v, &n);
		show_append(s, vlans, v);
	}
	show_set(s, o, "ifname", show_string(b->name));
	set_vlan_counts(s, o, &all);
	show_set(s, o, "fdb", fdb_object(s, b));
	if (s->req.vlans)
		show_set(s, o, "vlans", vlans);
	else
		json_decref(vlans);
	show_item(s, o);
}

/* ---- the daemon ---- */

static json_t *workers_object(struct show *s)
{
	json_t *o = json_object();
	struct dp_stats n;

	dp_stats_read(s->c->dp, &n);
	show_set_count(s, o, "loops", n.n_loops);
	show_set_count(s, o, "polls", n.n_polls);
	show_set_count(s, o, "stalls", n.n_stalls);
	show_set_count(s, o, "kicks", n.kicks);
	show_set_count(s, o, "host_held", n.host_held);
	show_set_count(s, o, "host_hold_expired", n.host_hold_expired);
	show_set_count(s, o, "learn_lost", n.learn_lost);
	return o;
}

static json_t *control_object(struct show *s)
{
	const struct ctl_stats *n = &s->c->stats;
	json_t *o = json_object();

	show_set_count(s, o, "resyncs", n->n_resyncs);
	show_set_count(s, o, "overruns", n->n_overruns);
	show_set_count(s, o, "bad_messages", n->n_bad_messages);
	show_set_count(s, o, "plans", n->n_plans);
	show_set_count(s, o, "views", n->n_views);
	show_set_count(s, o, "learn_writes", n->n_learn_writes);
	show_set_count(s, o, "learn_errors", n->n_learn_errors);
	show_set_count(s, o, "learn_refused", n->n_learn_refused);
	show_set_count(s, o, "rewrites_lost", n->n_again_lost);
	show_set_count(s, o, "refreshes", n->n_refreshes);
	show_set_count(s, o, "echoes", n->n_echoes);
	show_set_count(s, o, "neigh_events", n->n_neigh_events);
	show_set_count(s, o, "aged", n->n_aged);
	return o;
}

static void next_list(struct show *s, uint32_t phase, const char *text)
{
	show_text(s, text);
	s->phase = phase;
	s->i = 0;
	s->n = 0;
}

bool show_stats_unit(struct show *s)
{
	if (s->phase == PHASE_BEGIN)
		next_list(s, PHASE_PORTS, "{\"ports\":[");
	if (s->phase == PHASE_PORTS) {
		uint16_t slot = show_next_port(s, true);

		if (slot) {
			put_port(s, slot);
			return true;
		}
		next_list(s, PHASE_BRIDGES, "],\"bridges\":[");
	}
	while (s->i < XB_MAX_BRIDGES && !(s->c->bridge[s->i].is_used && show_wants_bridge(s, s->i)))
		s->i++;
	if (s->i < XB_MAX_BRIDGES) {
		put_bridge(s);
		s->i++;
		return true;
	}
	show_text(s, "],\"workers\":");
	show_value(s, workers_object(s));
	show_text(s, ",\"control\":");
	show_value(s, control_object(s));
	show_text(s, "}");
	return false;
}
