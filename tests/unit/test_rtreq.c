/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "ctl/rtreq.h"

/* Requests, byte by byte (the numbers are in this machine's order). */
static void check_bytes(const char *name, const void *got, int len, const char *want)
{
	char text[3 * RTREQ_SIZE + 1] = "";

	assert_true(len > 0 && len <= RTREQ_SIZE);
	for (int i = 0; i < len; i++)
		snprintf(text + strlen(text), 4, "%02x%s", ((const uint8_t *)got)[i],
			 i % 4 == 3 && i != len - 1 ? " " : "");
	if (strcmp(text, want))
		fail_msg("%s: want %s, got %s", name, want, text);
}

static void dump_requests_have_the_expected_bytes(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		enum rtreq_dump what;
		const char *want;
	} rows[] = {
		{ "links", RTREQ_LINKS,
		  "28000000 12000103 09000000 00000000 00000000 00000000 00000000 00000000 08001d00 08000000" },
		{ "bridge links", RTREQ_BRIDGE_LINKS,
		  "28000000 12000103 09000000 00000000 07000000 00000000 00000000 00000000 08001d00 04000000" },
		{ "bridge MST", RTREQ_BRIDGE_MST,
		  "28000000 12000103 09000000 00000000 07000000 00000000 00000000 00000000 08001d00 80000000" },
		{ "neighs", RTREQ_NEIGHS,
		  "1c000000 1e000103 09000000 00000000 07000000 00000000 00000000" },
		{ "vlans", RTREQ_VLANS,
		  "18000000 72000103 09000000 00000000 07000000 00000000" },
		{ "vlans, global", RTREQ_VLANS_GLOBAL,
		  "20000000 72000103 09000000 00000000 07000000 00000000 08000100 02000000" },
		{ "IPv6 addresses", RTREQ_ADDRS6,
		  "18000000 16000103 09000000 00000000 0a000000 00000000" },
		{ "multicast groups", RTREQ_MDB,
		  "18000000 56000103 09000000 00000000 07000000 00000000" },
	};
	/* clang-format on */

	(void)state;
	/* The bytes in the table are those of a little-endian machine. */
	if (htonl(1) == 1)
		skip();
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		uint32_t buf[RTREQ_SIZE / 4];

		memset(buf, 0xff, sizeof(buf));
		check_bytes(rows[i].name, buf, rtreq_dump(buf, sizeof(buf), rows[i].what, 9),
			    rows[i].want);
	}
}

static void other_requests_have_the_expected_bytes(void **state)
{
	struct rtreq_station st = { { { 2, 0, 0, 0, 0, 0xc1 } }, 10, 11 };
	uint32_t buf[RTREQ_SIZE / 4];

	(void)state;
	/* As above: the bytes are a little-endian machine's. */
	if (htonl(1) == 1)
		skip();
	memset(buf, 0xff, sizeof(buf));
	check_bytes("link", buf, rtreq_link(buf, sizeof(buf), 11, 9),
		    "28000000 12000100 09000000 00000000 00000000 0b000000 00000000 00000000 "
		    "08001d00 08000000");
	memset(buf, 0xff, sizeof(buf));
	check_bytes("neighs of a port", buf, rtreq_port_neighs(buf, sizeof(buf), 11, 9),
		    "1c000000 1e000103 09000000 00000000 07000000 0b000000 00000000");
	memset(buf, 0xff, sizeof(buf));
	check_bytes("entry", buf, rtreq_neigh(buf, sizeof(buf), 5, 10, &st.mac, 9),
		    "38000000 1e000100 09000000 00000000 07000000 00000000 00000400 "
		    "08000900 05000000 0a000200 02000000 00c10000 06000500 0a000000");
	memset(buf, 0xff, sizeof(buf));
	check_bytes("use", buf, rtreq_station_use(buf, sizeof(buf), &st, false, 9),
		    "30000000 1c000105 09000000 00000000 07000000 0b000000 02000500 "
		    "0a000200 02000000 00c10000 06000500 0a000000");
	memset(buf, 0xff, sizeof(buf));
	check_bytes("del, acknowledged", buf, rtreq_station_del(buf, sizeof(buf), &st, true, 9),
		    "30000000 1d000500 09000000 00000000 07000000 0b000000 00000400 "
		    "0a000200 02000000 00c10000 06000500 0a000000");
	st.vid = VID_NONE;
	memset(buf, 0xff, sizeof(buf));
	check_bytes("use, no VLAN, acknowledged", buf,
		    rtreq_station_use(buf, sizeof(buf), &st, true, 9),
		    "28000000 1c000505 09000000 00000000 07000000 0b000000 02000500 "
		    "0a000200 02000000 00c10000");
}

static void requests_that_do_not_fit_are_refused(void **state)
{
	struct rtreq_station st = { { { 2, 0, 0, 0, 0, 0xc1 } }, 10, 11 };

	(void)state;
	for (size_t size = 0; size <= 48; size++) {
		uint32_t *buf = malloc(size ? size : 1); /* a sanitizer sees a write behind it */

		assert_non_null(buf);
		assert_int_equal(rtreq_station_use(buf, size, &st, true, 1),
				 size < 48 ? -ENOSPC : 48);
		free(buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dump_requests_have_the_expected_bytes),
		cmocka_unit_test(other_requests_have_the_expected_bytes),
		cmocka_unit_test(requests_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
