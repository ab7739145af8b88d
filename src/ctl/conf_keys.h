/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf_keys: which sections and keys the configuration file has, with their
 * ranges. Constant data; used by conf.c only.
 */
#ifndef XB_CTL_CONF_KEYS_H
#define XB_CTL_CONF_KEYS_H

#include <stddef.h>

#include "ctl/conf.h"
#include "ctl/conf_value.h"

struct conf_section {
	const char *name;
	const struct conf_key *keys;
	size_t n_keys;
	const struct conf_section *const *subs; /* ends with NULL */
};

/* What an fdb section says, before its port is looked up. */
struct conf_fdb_text {
	char port[CONF_NAME_SIZE];
	uint32_t vid;
	bool sticky;
};

/* The keys of these fill struct conf, conf_bridge (the first is `source`), conf_port,
 * conf_fdb_text. */
extern const struct conf_section conf_section_root;
extern const struct conf_section conf_section_bridge;
extern const struct conf_section conf_section_port;
extern const struct conf_section conf_section_fdb;

/* The section called @name by libconfuse. */
const struct conf_section *conf_section_find(const char *name);

#endif
