/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctlmsg.h"

static void accepted_requests_fill_the_struct(void **state)
{
	static const struct {
		const char *text;
		struct ctlmsg_request want;
	} rows[] = {
		{ "{\"cmd\":\"status\"}", { .cmd = CTLMSG_STATUS } },
		{ " { \"cmd\" : \"version\", \"args\" : { } } \r\n", { .cmd = CTLMSG_VERSION } },
		{ "{\"cmd\":\"port\",\"args\":{\"dev\":\"p1\"}}\n",
		  { .cmd = CTLMSG_PORT, .present = CTLMSG_HAS_DEV, .dev = "p1" } },
		{ "{\"cmd\":\"vlan\",\"args\":{\"dev\":\"123456789012345\"}}",
		  { .cmd = CTLMSG_VLAN, .present = CTLMSG_HAS_DEV, .dev = "123456789012345" } },
		{ "{\"args\":{\"vlan\":4094,\"mac\":\"2:0:0:0:0:ff\",\"kind\":\"extern\"},"
		  "\"cmd\":\"fdb\"}",
		  { .cmd = CTLMSG_FDB,
		    .present = CTLMSG_HAS_VLAN | CTLMSG_HAS_MAC | CTLMSG_HAS_KIND,
		    .vid = 4094,
		    .mac = { { 2, 0, 0, 0, 0, 0xff } },
		    .kind = CTLMSG_KIND_EXTERN } },
		{ "{\"cmd\":\"fdb-flush\",\"args\":{\"kind\":\"dynamic\"}}",
		  { .cmd = CTLMSG_FDB_FLUSH,
		    .present = CTLMSG_HAS_KIND,
		    .kind = CTLMSG_KIND_DYNAMIC } },
		{ "{\"cmd\":\"flood\",\"args\":{\"dev\":\"br0\",\"vlan\":1}}",
		  { .cmd = CTLMSG_FLOOD,
		    .present = CTLMSG_HAS_DEV | CTLMSG_HAS_VLAN,
		    .dev = "br0",
		    .vid = 1 } },
		{ "{\"cmd\":\"mdb\",\"args\":{\"dev\":\"br0\"}}",
		  { .cmd = CTLMSG_MDB, .present = CTLMSG_HAS_DEV, .dev = "br0" } },
		{ "{\"cmd\":\"stats\",\"args\":{\"vlans\":true}}",
		  { .cmd = CTLMSG_STATS, .present = CTLMSG_HAS_VLANS, .vlans = true } },
	};
	char why[CTLMSG_WHY_SIZE];

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct ctlmsg_request got, want = rows[i].want;
		int err = ctlmsg_parse(rows[i].text, strlen(rows[i].text), &got, why);

		if (err)
			fail_msg("%s: %d, %s", rows[i].text, err, why);
		if (got.cmd != want.cmd || got.present != want.present || got.vid != want.vid ||
		    got.kind != want.kind || got.vlans != want.vlans ||
		    !mac_equal(&got.mac, &want.mac) || strcmp(got.dev, want.dev) != 0)
			fail_msg("%s: not what it says", rows[i].text);
	}
}

static void refused_requests_say_why(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *why; /* a part of it */
	} rows[] = {
		{ "", -EBADMSG, "not a JSON object" },
		{ "status", -EBADMSG, "not a JSON object" },
		{ "[]", -EBADMSG, "not a JSON object" },
		{ "{\"cmd\":\"status\"", -EBADMSG, "not a JSON object" },
		{ "{\"cmd\":\"status\"} x", -EBADMSG, "not a JSON object" },
		{ "{\"cmd\":\"status\",\"cmd\":\"port\"}", -EBADMSG, "not a JSON object" },
		{ "{\"cmd\":\"port\",\"args\":{\"dev\":\"\xff\"}}", -EBADMSG, "not a JSON object" },
		{ "{\"a\":[[[[]]]]}", -EBADMSG, "too deeply" },
		{ "{}", -EINVAL, "no \"cmd\"" },
		{ "{\"cmd\":1}", -EINVAL, "no \"cmd\"" },
		{ "{\"cmd\":\"reboot\"}", -EINVAL, "no command \"reboot\"" },
		{ "{\"cmd\":\"\\u001b[2J\"}", -EINVAL, "no command \"?[2J\"" },
		{ "{\"cmd\":\"status\",\"arg\":{}}", -EINVAL, "no key \"arg\"" },
		{ "{\"cmd\":\"status\",\"args\":[]}", -EINVAL, "\"args\" is an object" },
		{ "{\"cmd\":\"status\",\"args\":{\"dev\":\"p1\"}}", -EINVAL,
		  "status does not take" },
		{ "{\"cmd\":\"port\",\"args\":{\"vlan\":1}}", -EINVAL, "port does not take" },
		{ "{\"cmd\":\"port\",\"args\":{\"name\":\"p1\"}}", -EINVAL, "port does not take" },
		{ "{\"cmd\":\"port\",\"args\":{\"dev\":\"\"}}", -EINVAL, "\"dev\"" },
		{ "{\"cmd\":\"port\",\"args\":{\"dev\":1}}", -EINVAL, "\"dev\"" },
		{ "{\"cmd\":\"port\",\"args\":{\"dev\":\"1234567890123456\"}}", -EINVAL,
		  "\"dev\"" },
		{ "{\"cmd\":\"port\",\"args\":{\"dev\":\"a/b\"}}", -EINVAL, "\"dev\"" },
		{ "{\"cmd\":\"port\",\"args\":{\"dev\":\"a b\"}}", -EINVAL, "\"dev\"" },
		{ "{\"cmd\":\"fdb\",\"args\":{\"vlan\":0}}", -EINVAL, "\"vlan\"" },
		{ "{\"cmd\":\"fdb\",\"args\":{\"vlan\":4095}}", -EINVAL, "\"vlan\"" },
		{ "{\"cmd\":\"fdb\",\"args\":{\"vlan\":1.0}}", -EINVAL, "\"vlan\"" },
		{ "{\"cmd\":\"fdb\",\"args\":{\"vlan\":\"1\"}}", -EINVAL, "\"vlan\"" },
		{ "{\"cmd\":\"fdb\",\"args\":{\"mac\":\"02:00:00:00:00\"}}", -EINVAL, "\"mac\"" },
		{ "{\"cmd\":\"fdb\",\"args\":{\"kind\":\"\"}}", -EINVAL, "\"kind\"" },
		{ "{\"cmd\":\"fdb\",\"args\":{\"kind\":\"permanent\"}}", -EINVAL, "\"kind\"" },
		{ "{\"cmd\":\"stats\",\"args\":{\"vlans\":1}}", -EINVAL, "\"vlans\"" },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct ctlmsg_request r = { .vid = 77 };
		char why[CTLMSG_WHY_SIZE] = "";
		int err = ctlmsg_parse(rows[i].text, strlen(rows[i].text), &r, why);

		if (err != rows[i].err || !strstr(why, rows[i].why))
			fail_msg("%s: %d, \"%s\"", rows[i].text, err, why);
		assert_int_equal(r.vid, 77);
	}
}

static void a_request_of_64_kib_is_read_and_one_byte_more_is_not(void **state)
{
	char *text = malloc(CTLMSG_REQUEST_MAX + 2);
	const char *cmd = "{\"cmd\":\"status\"}";
	struct ctlmsg_request r;
	char why[CTLMSG_WHY_SIZE];

	(void)state;
	assert_non_null(text);
	memset(text, ' ', CTLMSG_REQUEST_MAX + 2);
	memcpy(text, cmd, strlen(cmd));
	assert_int_equal(ctlmsg_parse(text, CTLMSG_REQUEST_MAX, &r, why), 0);
	assert_int_equal(ctlmsg_parse(text, CTLMSG_REQUEST_MAX + 1, &r, why), -EBADMSG);
	assert_non_null(strstr(why, "longer"));
	free(text);
}

static void a_written_request_reads_as_the_same(void **state)
{
	struct ctlmsg_request got, want = {
		.cmd = CTLMSG_FDB,
		.present = CTLMSG_HAS_DEV | CTLMSG_HAS_VLAN | CTLMSG_HAS_MAC | CTLMSG_HAS_KIND,
		.dev = "a\"b\\c",
		.vid = 10,
		.mac = { { 2, 0, 0, 0, 0, 1 } },
		.kind = CTLMSG_KIND_STICKY,
	};
	char line[512], why[CTLMSG_WHY_SIZE];
	int len = ctlmsg_format(&want, line, sizeof(line));

	(void)state;
	assert_int_equal(len, strlen(line));
	assert_int_equal(line[len - 1], '\n');
	assert_int_equal(ctlmsg_parse(line, (size_t)len, &got, why), 0);
	assert_memory_equal(&got, &want, sizeof(got));
	assert_int_equal(ctlmsg_format(&want, line, (size_t)len), -ENOSPC);
	assert_int_equal(ctlmsg_format(&want, line, (size_t)len + 1), len);
}

static void an_error_is_one_line_whatever_it_says(void **state)
{
	static const char *const rows[] = { "no such device", "a \"quoted\" word\nand another line",
					    "\xff\xfe", "" };
	char line[256], long_why[1000];

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows) + 1; i++) {
		json_t *root;
		size_t len;

		memset(long_why, 'x', sizeof(long_why) - 1);
		long_why[sizeof(long_why) - 1] = 0;
		len = ctlmsg_format_error(i < N_ELEM(rows) ? rows[i] : long_why, -ENODEV, line,
					  sizeof(line));
		assert_int_equal(len, strlen(line));
		assert_ptr_equal(strchr(line, '\n'), line + len - 1);
		root = json_loads(line, 0, NULL);
		assert_true(json_is_false(json_object_get(root, "ok")));
		assert_true(json_is_string(json_object_get(root, "error")));
		assert_int_equal(json_integer_value(json_object_get(root, "errno")), ENODEV);
		json_decref(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted_requests_fill_the_struct),
		cmocka_unit_test(refused_requests_say_why),
		cmocka_unit_test(a_request_of_64_kib_is_read_and_one_byte_more_is_not),
		cmocka_unit_test(a_written_request_reads_as_the_same),
		cmocka_unit_test(an_error_is_one_line_whatever_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
