/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>

#include "util/mac.h"

static void parses_what_it_formats(void **state)
{
	struct mac m, back;
	char buf[MAC_STR_SIZE];

	(void)state;
	assert_int_equal(mac_parse("02:00:5E:0:a:ff", &m), 0);
	assert_string_equal(mac_format(&m, buf), "02:00:5e:00:0a:ff");
	assert_int_equal(mac_parse(buf, &back), 0);
	assert_true(mac_equal(&m, &back));
	back = mac_from_u64(mac_to_u64(&m));
	assert_true(mac_equal(&m, &back));
}

static void refuses_other_text(void **state)
{
	static const char *const bad[] = { "",
					   "02",
					   "02:00:00:00:00",
					   "02:00:00:00:00:00:00",
					   "02:00:00:00:00:0g",
					   "002:00:00:00:00:00",
					   "02-00-00-00-00-00",
					   "02:00:00:00:00:00 ",
					   "02::00:00:00:00" };
	struct mac m = { { 1 } };

	(void)state;
	for (size_t i = 0; i < N_ELEM(bad); i++) {
		if (mac_parse(bad[i], &m) != -EINVAL)
			fail_msg("accepted \"%s\"", bad[i]);
	}
	assert_int_equal(m.b[0], 1);
}

static void knows_the_kinds_of_address(void **state)
{
	struct mac zero = { { 0 } }, bc = { { 255, 255, 255, 255, 255, 255 } };
	struct mac mc = { { 1, 0, 0x5e, 0, 0, 1 } }, uc = { { 2, 0, 0, 0, 0, 1 } };

	(void)state;
	assert_true(mac_is_zero(&zero) && !mac_is_zero(&uc));
	assert_true(mac_is_broadcast(&bc) && !mac_is_broadcast(&mc));
	assert_true(mac_is_multicast(&bc) && mac_is_multicast(&mc) && !mac_is_multicast(&uc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_what_it_formats),
		cmocka_unit_test(refuses_other_text),
		cmocka_unit_test(knows_the_kinds_of_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
