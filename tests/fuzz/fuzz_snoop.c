/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snoop: one byte chooses the protocol, the rest is the frame, in a buffer that
 * ends with it.
 */
#include <stdbool.h>
#include <string.h>

#include "core/snoop.h"
#include "fuzz.h"

static const uint16_t tpids[] = { FRAME_TPID_NONE, FRAME_TPID_Q, FRAME_TPID_AD };

static bool is_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i])
			return false;
	}
	return true;
}

/* The addresses of the key stand in the frame, and nothing else is in it. */
static void check_key(const struct frame *f, const struct snooped *s)
{
	static const size_t sizes[MDB_FAMILY_N] = { MDB_L2_LEN, MDB_IP4_LEN, MDB_IP6_LEN };
	const struct mdb_key *k = &s->key;
	size_t n;

	FUZZ_CHECK(k->family < MDB_FAMILY_N && !k->vid && !k->pad);
	n = sizes[k->family];
	FUZZ_CHECK(is_zero(k->group + n, MDB_IP6_LEN - n));
	FUZZ_CHECK(is_zero(k->source + n, MDB_IP6_LEN - n));
	FUZZ_CHECK(memmem(f->data, f->len, k->group, n));
	if (k->family == MDB_L2)
		FUZZ_CHECK(!mdb_key_has_source(k) && !s->routers_only);
	else
		FUZZ_CHECK(memmem(f->data, f->len, k->source, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snooped s;
	struct frame f;
	uint16_t tpid;
	uint8_t *buf;

	if (size < 2)
		return 0;
	tpid = tpids[data[0] % 3];
	buf = malloc(size - 1);
	FUZZ_CHECK(buf);
	memcpy(buf, data + 1, size - 1);
	if (!frame_parse(&f, buf, (uint32_t)size - 1, 0, tpid) &&
	    snoop_parse(&f, tpid, &s) == SNOOP_DATA)
		check_key(&f, &s);
	free(buf);
	return 0;
}
