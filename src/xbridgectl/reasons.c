/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbridgectl/reasons.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>

#include "core/drop.h"

/* clang-format off */
static const struct {
	const char *key, *title;
	const char *(*name)(unsigned int reason);
	const char *(*text)(unsigned int reason);
	uint32_t n;
} lists[] = {
	{ "path",    "ports and bridges on the kernel path", path_name, path_text, PATH_N },
	{ "passed",  "frames passed to the kernel",          punt_name, punt_text, PUNT_N },
	{ "dropped", "frames and copies dropped",            drop_name, drop_text, DROP_N },
};
/* clang-format on */

#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static int print_json(FILE *f)
{
	json_t *root = json_object();
	int err = 0;

	/* 0 is "none" in each list. */
	for (size_t i = 0; i < N_LISTS; i++) {
		json_t *o = json_object();

		for (uint32_t k = 1; k < lists[i].n; k++)
			err |= json_object_set_new(o, lists[i].name(k),
						   json_string(lists[i].text(k)));
		err |= json_object_set_new(root, lists[i].key, o);
	}
	if (!err)
		err = json_dumpf(root, f, JSON_COMPACT);
	json_decref(root);
	fputc('\n', f);
	return err ? -ENOMEM : 0;
}

int reasons_print(FILE *f, bool json)
{
	if (json)
		return print_json(f);
	for (size_t i = 0; i < N_LISTS; i++) {
		fprintf(f, "%s%s\n", i ? "\n" : "", lists[i].title);
		for (uint32_t k = 1; k < lists[i].n; k++)
			fprintf(f, "    %-20s %s\n", lists[i].name(k), lists[i].text(k));
	}
	return 0;
}
