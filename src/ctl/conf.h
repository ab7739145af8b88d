/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf: the configuration file, xbridged.conf(5).
 *
 * Takes text and fills one struct conf: no socket, no clock, no state that
 * outlives the call. Whether a bridge or a port exists is not known here.
 * A struct conf is one allocation tree that the caller owns; nothing in it
 * changes after the load, so any thread may read it.
 *
 * The parser (libconfuse) keeps its scanner in static data: conf_load() and
 * conf_parse() are called by one thread at a time [control].
 *
 * A value that the file does not give has its default in struct conf. Settings
 * of a bridge or port that fall back to the level above are kept as
 * CONF_..._INHERIT; read them by the helpers at the end, which never return it.
 */
#ifndef XB_CTL_CONF_H
#define XB_CTL_CONF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/limits.h"
#include "util/log.h"
#include "util/mac.h"

#define CONF_NAME_SIZE  16        /* an interface name and its final 0 */
#define CONF_GLOB_SIZE  64        /* a pattern for interface names, with its final 0 */
#define CONF_PATH_SIZE  108       /* a UNIX socket path and its final 0 */
#define CONF_GROUP_SIZE 33        /* a group name and its final 0 */
#define CONF_FILE_MAX   (1 << 20) /* bytes; a longer file is refused */
#define CONF_FDBS_MAX   4096      /* static entries of one bridge */

/* Which path forwards: auto decides by what the port can do, user and kernel insist. */
enum conf_engine {
	CONF_ENGINE_INHERIT,
	CONF_ENGINE_AUTO,
	CONF_ENGINE_USER,
	CONF_ENGINE_KERNEL,
};

/* What a socket may use: auto tries zero-copy, then native copy. Generic XDP is never used. */
enum conf_mode {
	CONF_MODE_INHERIT,
	CONF_MODE_AUTO,
	CONF_MODE_ZERO_COPY,
	CONF_MODE_COPY,
};

enum conf_yesno {
	CONF_YESNO_INHERIT,
	CONF_NO,
	CONF_YES,
};

/* What to do about a firewall that XDP would bypass. */
enum conf_policy {
	CONF_REFUSE,
	CONF_IGNORE,
};

/* Bridges with MST on: leave them on the kernel path, or poll the states. */
enum conf_mst {
	CONF_MST_KERNEL,
	CONF_MST_POLL,
};

enum conf_source {
	CONF_SOURCE_KERNEL,
	CONF_SOURCE_FILE,
};

/* A set of VLAN IDs, 1..4094. */
struct conf_vlans {
	uint64_t bits[VID_N / 64];
};

struct conf_globs {
	char (*v)[CONF_GLOB_SIZE];
	uint32_t n;
};

/* `port NAME { }` */
struct conf_port {
	char name[CONF_NAME_SIZE];
	enum conf_engine engine;
	enum conf_mode mode;
	enum conf_yesno accelerate_virtual;

	/*
	 * With source = file only. In a bridge with vlan-filtering a port that
	 * gives no VLAN key has PVID 1, untagged, as the kernel's default is.
	 * The two sets share no VLAN, and the PVID is in one of them.
	 */
	uint32_t pvid; /* 0 = none */
	struct conf_vlans untagged;
	struct conf_vlans tagged;
	bool learning;
	bool flood;
	bool mcast_flood;
	bool bcast_flood;
	bool isolated;
	bool hairpin;
};

/* `fdb "MAC" { }`, with source = file only: a static entry. */
struct conf_fdb {
	struct mac mac; /* unicast, not zero */
	uint16_t vid;   /* 0 without vlan-filtering; else the port is a member of it */
	uint32_t port;  /* index into the bridge's ports */
	bool sticky;
};

/* `bridge NAME { }` */
struct conf_bridge {
	char name[CONF_NAME_SIZE];
	enum conf_source source;
	enum conf_engine engine;
	enum conf_mode mode;
	enum conf_yesno accelerate_virtual;
	uint32_t fdb_max; /* entries; 0 = the global one */

	/* With source = kernel only: which ports of the bridge are looked at. */
	struct conf_globs ports; /* default {"*"} */
	struct conf_globs exclude_ports;

	/* With source = file only. */
	uint32_t ageing_time_s; /* 0 = nothing is learned, as in the kernel */
	bool vlan_filtering;
	uint32_t vlan_protocol; /* 0x8100 or 0x88a8, host order */
	struct conf_fdb *fdbs;
	uint32_t n_fdbs;

	struct conf_port *port; /* in the order of the file; names are unique in the whole file */
	uint32_t n_ports;
};

struct conf {
	enum log_level log_level;
	char control_socket[CONF_PATH_SIZE];
	char control_group[CONF_GROUP_SIZE]; /* "" = none */
	struct conf_globs bridges;           /* kernel bridges to serve; default {"*"} */

	uint32_t workers;
	uint32_t worker_cpus[XB_MAX_WORKERS];
	uint32_t n_worker_cpus; /* 0, or one for each worker */

	uint32_t umem_frames;
	uint32_t frame_size; /* bytes */
	uint32_t rx_ring;    /* descriptors, powers of two, as the next three */
	uint32_t fill_ring;
	uint32_t tx_ring;
	uint32_t completion_ring;
	uint32_t batch;

	uint32_t heartbeat_ms;
	uint32_t control_heartbeat_ms;
	uint32_t resync_deadline_ms;
	uint32_t netlink_buffer; /* bytes */
	uint32_t fdb_max;        /* entries of a bridge */

	enum conf_mode mode; /* never INHERIT */
	bool accelerate_virtual;
	bool detach_on_stop;
	enum conf_policy unseen_tags;
	enum conf_policy netfilter;
	enum conf_policy tc;
	enum conf_mst mst;
	uint32_t mst_poll_ms;
	uint32_t querier_settle_ms;

	struct conf_bridge *bridge; /* in the order of the file; names are unique */
	uint32_t n_bridges;
};

/*
 * Called once for each error, with one line without a newline:
 * "FILE:LINE: what is wrong and what is allowed". @line is the callee's for
 * the time of the call only.
 */
typedef void (*conf_report_fn)(void *arg, const char *line);

/* A new configuration with every default, to be freed with conf_free(); NULL without memory. */
struct conf *conf_defaults(void);

/* NULL is allowed. */
void conf_free(struct conf *c);

/*
 * Reads the file @path. 0: *@out is the caller's, free it with conf_free().
 * -ENOENT: there is no such file, and nothing was reported. Everything else was
 * reported through @report: -EINVAL for what the file says, -EFBIG for a file
 * above CONF_FILE_MAX, or why it cannot be read. A syntax error or an unknown
 * key ends the reading; other errors are collected, so there may be several.
 */
int conf_load(const char *path, struct conf **out, conf_report_fn report, void *arg);

/* The same for @len bytes at @text, which need no final 0; @file is the name in messages. */
int conf_parse(const char *file, const char *text, size_t len, struct conf **out,
	       conf_report_fn report, void *arg);

/* Writes each key that the parser knows, one a line: "key", "bridge.key", "bridge.port.key", ... */
void conf_print_keys(FILE *f);

/* The section of the bridge or port @name; NULL if the file has none. */
const struct conf_bridge *conf_bridge_find(const struct conf *c, const char *name);
const struct conf_port *conf_port_find(const struct conf_bridge *b, const char *name);

/* True if the kernel bridge @name is to be served (`bridges`, and no source = file of that name).
 */
bool conf_bridge_is_selected(const struct conf *c, const char *name);

/*
 * Effective settings of the port @port of the bridge @bridge, both by name;
 * either may have no section. The port's value counts before the bridge's, and
 * that before the global one.
 */
bool conf_port_is_selected(const struct conf *c, const char *bridge, const char *port);
enum conf_engine conf_port_engine(const struct conf *c, const char *bridge, const char *port);
enum conf_mode conf_port_mode(const struct conf *c, const char *bridge, const char *port);
bool conf_port_accelerate_virtual(const struct conf *c, const char *bridge, const char *port);
uint32_t conf_bridge_fdb_max(const struct conf *c, const char *bridge);

static inline bool conf_vlans_has(const struct conf_vlans *v, uint32_t vid)
{
	return vid < VID_N && v->bits[vid / 64] >> vid % 64 & 1;
}

#endif
