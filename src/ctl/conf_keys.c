// SPDX-License-Identifier: GPL-2.0-or-later
#include "ctl/conf_keys.h"

#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const struct conf_choice log_levels[] = {
	{ "err", LOG_LEVEL_ERR },   { "warning", LOG_LEVEL_WARN }, { "notice", LOG_LEVEL_NOTICE },
	{ "info", LOG_LEVEL_INFO }, { "debug", LOG_LEVEL_DEBUG },  { NULL, 0 },
};

static const struct conf_choice frame_sizes[] = {
	{ "2048", 2048 },
	{ "4096", 4096 },
	{ NULL, 0 },
};

static const struct conf_choice engines[] = {
	{ "auto", CONF_ENGINE_AUTO },
	{ "user", CONF_ENGINE_USER },
	{ "kernel", CONF_ENGINE_KERNEL },
	{ NULL, 0 },
};

static const struct conf_choice modes[] = {
	{ "auto", CONF_MODE_AUTO },
	{ "zero-copy", CONF_MODE_ZERO_COPY },
	{ "copy", CONF_MODE_COPY },
	{ NULL, 0 },
};

static const struct conf_choice yes_no[] = {
	{ "yes", CONF_YES },
	{ "no", CONF_NO },
	{ NULL, 0 },
};

static const struct conf_choice policies[] = {
	{ "refuse", CONF_REFUSE },
	{ "ignore", CONF_IGNORE },
	{ NULL, 0 },
};

static const struct conf_choice msts[] = {
	{ "kernel", CONF_MST_KERNEL },
	{ "poll", CONF_MST_POLL },
	{ NULL, 0 },
};

static const struct conf_choice sources[] = {
	{ "kernel", CONF_SOURCE_KERNEL },
	{ "file", CONF_SOURCE_FILE },
	{ NULL, 0 },
};

static const struct conf_choice vlan_protocols[] = {
	{ "802.1Q", 0x8100 },
	{ "802.1ad", 0x88a8 },
	{ NULL, 0 },
};

#define AT(type, field) offsetof(struct type, field)
#define NUMBER(key, type, field, lo, hi, u, ...)                                           \
	{                                                                                  \
		.name = key, .set = conf_set_number, .offset = AT(type, field), .min = lo, \
		.max = hi, .unit = u, __VA_ARGS__                                          \
	}
#define RING(key, field)                                                                 \
	{                                                                                \
		.name = key, .set = conf_set_ring, .offset = AT(conf, field), .min = 64, \
		.max = 8192                                                              \
	}
#define CHOICE(key, type, field, table, ...)                                                      \
	{                                                                                         \
		.name = key, .set = conf_set_choice, .offset = AT(type, field), .choices = table, \
		__VA_ARGS__                                                                       \
	}
#define BOOL(key, type, field, ...)                                                       \
	{                                                                                 \
		.name = key, .set = conf_set_bool, .offset = AT(type, field), __VA_ARGS__ \
	}
#define LIST(key, setter, type, field, ...)                                             \
	{                                                                               \
		.name = key, .set = setter, .offset = AT(type, field), .is_list = true, \
		__VA_ARGS__                                                             \
	}
#define FOR_FILE   .scope = CONF_SCOPE_FILE
#define FOR_KERNEL .scope = CONF_SCOPE_KERNEL
#define FOR_ANY    .scope = CONF_SCOPE_ANY
#define VIDS       .min = 1, .max = VID_MAX

/* clang-format off */
static const struct conf_key root_keys[] = {
	CHOICE("log-level", conf, log_level, log_levels, FOR_ANY),
	{ .name = "control-socket", .set = conf_set_path, .offset = AT(conf, control_socket) },
	{ .name = "control-group", .set = conf_set_group, .offset = AT(conf, control_group) },
	LIST("bridges", conf_set_globs, conf, bridges, FOR_ANY),
	NUMBER("workers", conf, workers, 1, XB_MAX_WORKERS, CONF_UNIT_NONE, FOR_ANY),
	LIST("worker-cpus", conf_set_cpus, conf, worker_cpus, FOR_ANY),
	NUMBER("umem-frames", conf, umem_frames, 4096, 4194304, CONF_UNIT_NONE, FOR_ANY),
	CHOICE("frame-size", conf, frame_size, frame_sizes, FOR_ANY),
	RING("rx-ring", rx_ring),
	RING("fill-ring", fill_ring),
	RING("tx-ring", tx_ring),
	RING("completion-ring", completion_ring),
	NUMBER("batch", conf, batch, 1, 256, CONF_UNIT_NONE, FOR_ANY),
	NUMBER("heartbeat", conf, heartbeat_ms, 20, 10000, CONF_UNIT_MS, FOR_ANY),
	NUMBER("control-heartbeat", conf, control_heartbeat_ms, 500, 60000, CONF_UNIT_MS, FOR_ANY),
	NUMBER("resync-deadline", conf, resync_deadline_ms, 100, 60000, CONF_UNIT_MS, FOR_ANY),
	NUMBER("netlink-buffer", conf, netlink_buffer, 8192, 268435456, CONF_UNIT_BYTES, FOR_ANY),
	NUMBER("fdb-max", conf, fdb_max, 1024, 16777216, CONF_UNIT_NONE, FOR_ANY),
	CHOICE("mode", conf, mode, modes, FOR_ANY),
	BOOL("accelerate-virtual", conf, accelerate_virtual, FOR_ANY),
	BOOL("detach-on-stop", conf, detach_on_stop, FOR_ANY),
	CHOICE("unseen-tags", conf, unseen_tags, policies, FOR_ANY),
	CHOICE("netfilter", conf, netfilter, policies, FOR_ANY),
	CHOICE("tc", conf, tc, policies, FOR_ANY),
	CHOICE("mst", conf, mst, msts, FOR_ANY),
	NUMBER("mst-poll", conf, mst_poll_ms, 20, 10000, CONF_UNIT_MS, FOR_ANY),
	NUMBER("querier-settle", conf, querier_settle_ms, 100, 3600000, CONF_UNIT_MS, FOR_ANY),
};

static const struct conf_key bridge_keys[] = {
	CHOICE("source", conf_bridge, source, sources, FOR_ANY),
	CHOICE("engine", conf_bridge, engine, engines, FOR_ANY),
	CHOICE("mode", conf_bridge, mode, modes, FOR_ANY),
	CHOICE("accelerate-virtual", conf_bridge, accelerate_virtual, yes_no, FOR_ANY),
	NUMBER("fdb-max", conf_bridge, fdb_max, 1024, 16777216, CONF_UNIT_NONE, FOR_ANY),
	LIST("ports", conf_set_globs, conf_bridge, ports, FOR_KERNEL),
	LIST("exclude-ports", conf_set_globs, conf_bridge, exclude_ports, FOR_KERNEL),
	NUMBER("ageing-time", conf_bridge, ageing_time_s, 0, 1000000, CONF_UNIT_S, FOR_FILE),
	BOOL("vlan-filtering", conf_bridge, vlan_filtering, FOR_FILE),
	CHOICE("vlan-protocol", conf_bridge, vlan_protocol, vlan_protocols, FOR_FILE),
};

static const struct conf_key port_keys[] = {
	CHOICE("engine", conf_port, engine, engines, FOR_ANY),
	CHOICE("mode", conf_port, mode, modes, FOR_ANY),
	CHOICE("accelerate-virtual", conf_port, accelerate_virtual, yes_no, FOR_ANY),
	NUMBER("pvid", conf_port, pvid, 1, VID_MAX, CONF_UNIT_NONE, FOR_FILE),
	LIST("vlans-untagged", conf_set_vlans, conf_port, untagged, VIDS, FOR_FILE),
	LIST("vlans-tagged", conf_set_vlans, conf_port, tagged, VIDS, FOR_FILE),
	BOOL("learning", conf_port, learning, FOR_FILE),
	BOOL("flood", conf_port, flood, FOR_FILE),
	BOOL("mcast-flood", conf_port, mcast_flood, FOR_FILE),
	BOOL("bcast-flood", conf_port, bcast_flood, FOR_FILE),
	BOOL("isolated", conf_port, isolated, FOR_FILE),
	BOOL("hairpin", conf_port, hairpin, FOR_FILE),
};

static const struct conf_key fdb_keys[] = {
	{ .name = "port", .set = conf_set_name, .offset = AT(conf_fdb_text, port) },
	NUMBER("vlan", conf_fdb_text, vid, 1, VID_MAX, CONF_UNIT_NONE, FOR_ANY),
	BOOL("sticky", conf_fdb_text, sticky, FOR_ANY),
};
/* clang-format on */

static const struct conf_section *const no_subs[] = { NULL };
static const struct conf_section *const bridge_subs[] = { &conf_section_port, &conf_section_fdb,
							  NULL };
static const struct conf_section *const root_subs[] = { &conf_section_bridge, NULL };

/* libconfuse calls the file itself "root". */
const struct conf_section conf_section_root = { "root", root_keys, ARRAY_SIZE(root_keys),
						root_subs };
const struct conf_section conf_section_bridge = { "bridge", bridge_keys, ARRAY_SIZE(bridge_keys),
						  bridge_subs };
const struct conf_section conf_section_port = { "port", port_keys, ARRAY_SIZE(port_keys), no_subs };
const struct conf_section conf_section_fdb = { "fdb", fdb_keys, ARRAY_SIZE(fdb_keys), no_subs };

const struct conf_section *conf_section_find(const char *name)
{
	static const struct conf_section *const all[] = { &conf_section_bridge, &conf_section_port,
							  &conf_section_fdb };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!strcmp(all[i]->name, name))
			return all[i];
	}
	return &conf_section_root;
}
