// SPDX-License-Identifier: GPL-2.0-or-later
/* The defaults, and the questions that the rest of the daemon asks a loaded configuration. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/conf.h"
#include "ctl/conf_value.h"
#include "ctl/ctlmsg.h"

bool conf_globs_all(struct conf_globs *g)
{
	g->v = calloc(1, sizeof(*g->v));
	if (!g->v)
		return false;
	g->v[0][0] = '*';
	g->n = 1;
	return true;
}

struct conf *conf_defaults(void)
{
	struct conf *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct conf){
		.log_level = LOG_LEVEL_INFO,
		.control_socket = CTLMSG_SOCKET,
		.workers = 1,
		.umem_frames = 65536,
		.frame_size = 2048,
		.rx_ring = 2048,
		.fill_ring = 2048,
		.tx_ring = 2048,
		.completion_ring = 2048,
		.batch = 64,
		.heartbeat_ms = 100,
		.control_heartbeat_ms = 5000,
		.resync_deadline_ms = 2000,
		.netlink_buffer = 16 * 1024 * 1024,
		.fdb_max = 1048576,
		.mode = CONF_MODE_AUTO,
		.unseen_tags = CONF_REFUSE,
		.netfilter = CONF_REFUSE,
		.tc = CONF_REFUSE,
		.mst = CONF_MST_POLL,
		.mst_poll_ms = 100,
		.querier_settle_ms = 66000,
	};
	if (!conf_globs_all(&c->bridges)) {
		free(c);
		return NULL;
	}
	return c;
}

void conf_free(struct conf *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_bridges; i++) {
		free(c->bridge[i].ports.v);
		free(c->bridge[i].exclude_ports.v);
		free(c->bridge[i].fdbs);
		free(c->bridge[i].port);
	}
	free(c->bridge);
	free(c->bridges.v);
	free(c);
}

static bool globs_match(const struct conf_globs *g, const char *name)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!fnmatch(g->v[i], name, 0))
			return true;
	}
	return false;
}

const struct conf_bridge *conf_bridge_find(const struct conf *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_bridges; i++) {
		if (!strcmp(c->bridge[i].name, name))
			return &c->bridge[i];
	}
	return NULL;
}

const struct conf_port *conf_port_find(const struct conf_bridge *b, const char *name)
{
	for (uint32_t i = 0; i < b->n_ports; i++) {
		if (!strcmp(b->port[i].name, name))
			return &b->port[i];
	}
	return NULL;
}

bool conf_bridge_is_selected(const struct conf *c, const char *name)
{
	const struct conf_bridge *b = conf_bridge_find(c, name);

	if (b && b->source == CONF_SOURCE_FILE)
		return false;
	return globs_match(&c->bridges, name);
}

bool conf_port_is_selected(const struct conf *c, const char *bridge, const char *port)
{
	const struct conf_bridge *b = conf_bridge_find(c, bridge);

	if (!b)
		return true;
	if (b->source == CONF_SOURCE_FILE)
		return conf_port_find(b, port) != NULL;
	return globs_match(&b->ports, port) && !globs_match(&b->exclude_ports, port);
}

enum conf_engine conf_port_engine(const struct conf *c, const char *bridge, const char *port)
{
	const struct conf_bridge *b = conf_bridge_find(c, bridge);
	const struct conf_port *p = b ? conf_port_find(b, port) : NULL;

	if (p && p->engine != CONF_ENGINE_INHERIT)
		return p->engine;
	if (b && b->engine != CONF_ENGINE_INHERIT)
		return b->engine;
	return CONF_ENGINE_AUTO;
}

enum conf_mode conf_port_mode(const struct conf *c, const char *bridge, const char *port)
{
	const struct conf_bridge *b = conf_bridge_find(c, bridge);
	const struct conf_port *p = b ? conf_port_find(b, port) : NULL;

	if (p && p->mode != CONF_MODE_INHERIT)
		return p->mode;
	if (b && b->mode != CONF_MODE_INHERIT)
		return b->mode;
	return c->mode;
}

bool conf_port_accelerate_virtual(const struct conf *c, const char *bridge, const char *port)
{
	const struct conf_bridge *b = conf_bridge_find(c, bridge);
	const struct conf_port *p = b ? conf_port_find(b, port) : NULL;

	if (p && p->accelerate_virtual != CONF_YESNO_INHERIT)
		return p->accelerate_virtual == CONF_YES;
	if (b && b->accelerate_virtual != CONF_YESNO_INHERIT)
		return b->accelerate_virtual == CONF_YES;
	return c->accelerate_virtual;
}

uint32_t conf_bridge_fdb_max(const struct conf *c, const char *bridge)
{
	const struct conf_bridge *b = conf_bridge_find(c, bridge);

	return b && b->fdb_max ? b->fdb_max : c->fdb_max;
}
