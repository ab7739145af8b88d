/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `verify`: our tables beside those of the kernel. */
#include <stdlib.h>

#include "ctl/show_priv.h"
#include "ctl/verify.h"

static void add_difference(struct show *s, json_t *list, const struct verify_difference *d)
{
	json_t *o = json_object();

	show_set(s, o, "what", show_string(d->what));
	show_set(s, o, "object", show_string(d->object));
	show_set(s, o, "kernel", show_string(d->kernel));
	show_set(s, o, "xbridged", show_string(d->ours));
	show_append(s, list, o);
}

bool show_verify_unit(struct show *s)
{
	struct verify_result *r = calloc(1, sizeof(*r));
	json_t *o = json_object(), *list = json_array();
	int err = r ? verify_run(s->c, r) : -1;

	show_set(s, o, "complete", json_boolean(!err));
	for (uint32_t i = 0; !err && i < r->n; i++)
		add_difference(s, list, &r->v[i]);
	if (!err) {
		show_set_count(s, o, "links", r->n_links);
		show_set_count(s, o, "vlans", r->n_vlans);
		show_set_count(s, o, "fdb_entries", r->n_entries);
		show_set_count(s, o, "mdb_entries", r->n_members);
		show_set_count(s, o, "n_differences", r->n_differences);
	}
	show_set(s, o, "differences", list);
	show_value(s, o);
	free(r);
	return false;
}
