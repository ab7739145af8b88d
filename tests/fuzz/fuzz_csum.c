/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csum: the input is the frame. */
#include <string.h>

#include "core/csum.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum csum_result res;
	uint8_t *once, *twice;
	size_t n_changed = 0;

	once = malloc(size ? size : 1);
	twice = malloc(size ? size : 1);
	FUZZ_CHECK(once && twice);
	if (size)
		memcpy(once, data, size);
	res = csum_complete(once, (uint32_t)size);
	for (size_t i = 0; i < size; i++)
		n_changed += once[i] != data[i];
	FUZZ_CHECK(n_changed <= (res == CSUM_COMPLETED ? 4 : 0));

	/* What is finished stays, even if it looks partial again. */
	if (size)
		memcpy(twice, once, size);
	csum_complete(twice, (uint32_t)size);
	FUZZ_CHECK(!memcmp(once, twice, size));
	free(once);
	free(twice);
	return 0;
}
