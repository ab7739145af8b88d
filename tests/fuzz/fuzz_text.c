/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of FDB entries that any JSON reader takes, and that has no white space
 * between its parts, is printed from its bytes as from a tree.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "xbridgectl/text.h"

static bool is_list_of_objects(const json_t *root)
{
	json_t *v;
	size_t i;

	if (!json_is_array(root))
		return false;
	json_array_foreach(root, i, v)
	{
		if (!json_is_object(v))
			return false;
	}
	return true;
}

static bool has_space(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i] <= ' ')
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *list = malloc(size ? size : 1), *text[2] = { NULL, NULL };
	size_t len[2];
	FILE *f[2] = { open_memstream(&text[0], &len[0]), open_memstream(&text[1], &len[1]) };
	json_t *root;
	int err;

	FUZZ_CHECK(list && f[0] && f[1]);
	if (size)
		memcpy(list, data, size);
	err = text_fdb_list(f[0], list, size);
	root = json_loadb(list, size, 0, NULL);
	if (is_list_of_objects(root) && !has_space(data, size)) {
		text_print(f[1], CTLMSG_FDB, root);
		FUZZ_CHECK(!err);
		fflush(f[0]);
		fflush(f[1]);
		FUZZ_CHECK(len[0] == len[1] && !memcmp(text[0], text[1], len[0]));
	}
	json_decref(root);
	fclose(f[0]);
	fclose(f[1]);
	free(text[0]);
	free(text[1]);
	free(list);
	return 0;
}
