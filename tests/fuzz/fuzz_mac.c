/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "util/mac.h"

/* What is accepted is formatted and parsed to the same address; what is refused leaves no trace. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mac m = { { 1, 2, 3, 4, 5, 6 } }, before = m, back;
	char text[256], formatted[MAC_STR_SIZE];

	if (size >= sizeof(text))
		size = sizeof(text) - 1;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	if (mac_parse(text, &m)) {
		FUZZ_CHECK(mac_equal(&m, &before));
		return 0;
	}
	FUZZ_CHECK(mac_parse(mac_format(&m, formatted), &back) == 0);
	FUZZ_CHECK(mac_equal(&m, &back));
	FUZZ_CHECK(mac_to_u64(&m) < 1ULL << 48);
	return 0;
}
