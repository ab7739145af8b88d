/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "ctl/ctlmsg.h"

static void check_refusal(int err, const char *why)
{
	char line[256];
	size_t len;

	FUZZ_CHECK(err == -EINVAL || err == -EBADMSG);
	FUZZ_CHECK(why[0] && strlen(why) < CTLMSG_WHY_SIZE);
	for (const char *p = why; *p; p++)
		FUZZ_CHECK(*p >= ' ' && *p <= '~');
	len = ctlmsg_format_error(why, err, line, sizeof(line));
	FUZZ_CHECK(len == strlen(line) && len < sizeof(line) && line[len - 1] == '\n');
}

/* What is accepted is within the limits and means the same when written and read again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctlmsg_request r, again;
	char why[CTLMSG_WHY_SIZE] = "", line[512], line_again[512];
	int err = ctlmsg_parse((const char *)data, size, &r, why);
	int len;

	if (err) {
		check_refusal(err, why);
		return 0;
	}
	FUZZ_CHECK(r.cmd < CTLMSG_N && ctlmsg_takes(r.cmd, r.present));
	FUZZ_CHECK(!(r.present & CTLMSG_HAS_DEV) == !r.dev[0]);
	FUZZ_CHECK(!r.dev[0] || ctlmsg_dev_is_valid(r.dev));
	FUZZ_CHECK(r.vid <= VID_MAX && (!(r.present & CTLMSG_HAS_VLAN) == !r.vid));
	FUZZ_CHECK(r.kind < CTLMSG_KIND_N && (!(r.present & CTLMSG_HAS_KIND) == !r.kind));
	len = ctlmsg_format(&r, line, sizeof(line));
	FUZZ_CHECK(len > 0 && (size_t)len == strlen(line) && line[len - 1] == '\n');
	FUZZ_CHECK(!ctlmsg_parse(line, (size_t)len, &again, why));
	FUZZ_CHECK(ctlmsg_format(&again, line_again, sizeof(line_again)) == len);
	FUZZ_CHECK(!strcmp(line, line_again));
	return 0;
}
