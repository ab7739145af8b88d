/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xbridgectl/args.h"
#include "xbridgectl/text.h"

#define WORDS_MAX 12

/* Splits at spaces; the words live in @buf. */
static int split(const char *line, char *buf, size_t size, char **word)
{
	int n = 0;

	snprintf(buf, size, "%s", line);
	for (char *w = strtok(buf, " "); w && n < WORDS_MAX; w = strtok(NULL, " "))
		word[n++] = w;
	return n;
}

static int parse(const char *line, struct ctlmsg_request *r, char *why, size_t size)
{
	char buf[256], *word[WORDS_MAX];
	int n = split(line, buf, sizeof(buf), word);

	return args_parse(n, word, r, why, size);
}

static void words_become_the_request_that_they_mean(void **state)
{
	/* clang-format off */
	static const struct { const char *words, *request; } rows[] = {
		{ "status", "{\"cmd\":\"status\",\"args\":{}}\n" },
		{ "statu", "{\"cmd\":\"status\",\"args\":{}}\n" },
		{ "veri", "{\"cmd\":\"verify\",\"args\":{}}\n" },
		{ "vers", "{\"cmd\":\"version\",\"args\":{}}\n" },
		{ "port", "{\"cmd\":\"port\",\"args\":{}}\n" },
		{ "p sh de p1", "{\"cmd\":\"port\",\"args\":{\"dev\":\"p1\"}}\n" },
		{ "port show dev show", "{\"cmd\":\"port\",\"args\":{\"dev\":\"show\"}}\n" },
		{ "vlan list dev br0", "{\"cmd\":\"vlan\",\"args\":{\"dev\":\"br0\"}}\n" },
		{ "vl s br br0", "{\"cmd\":\"vlan\",\"args\":{\"dev\":\"br0\"}}\n" },
		{ "fdb show brport p1 vlan 10", "{\"cmd\":\"fdb\",\"args\":{\"dev\":\"p1\",\"vlan\":10}}\n" },
		{ "fd s m 2:0:0:0:0:1", "{\"cmd\":\"fdb\",\"args\":{\"mac\":\"02:00:00:00:00:01\"}}\n" },
		{ "fdb show dyn vid 4094", "{\"cmd\":\"fdb\",\"args\":{\"vlan\":4094,\"kind\":\"dynamic\"}}\n" },
		{ "fdb show permanent", "{\"cmd\":\"fdb\",\"args\":{\"kind\":\"local\"}}\n" },
		{ "fdb show ext", "{\"cmd\":\"fdb\",\"args\":{\"kind\":\"extern\"}}\n" },
		{ "fdb flush", "{\"cmd\":\"fdb-flush\",\"args\":{}}\n" },
		{ "fdb f dev p1 static", "{\"cmd\":\"fdb-flush\",\"args\":{\"dev\":\"p1\",\"kind\":\"static\"}}\n" },
		{ "fl show dev br0 vlan 1", "{\"cmd\":\"flood\",\"args\":{\"dev\":\"br0\",\"vlan\":1}}\n" },
		{ "mdb", "{\"cmd\":\"mdb\",\"args\":{}}\n" },
		{ "m show dev br0", "{\"cmd\":\"mdb\",\"args\":{\"dev\":\"br0\"}}\n" },
		{ "stats show vlans", "{\"cmd\":\"stats\",\"args\":{\"vlans\":true}}\n" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct ctlmsg_request r;
		char why[256] = "", line[256] = "";

		if (parse(rows[i].words, &r, why, sizeof(why)))
			fail_msg("%s: %s", rows[i].words, why);
		assert_true(ctlmsg_format(&r, line, sizeof(line)) > 0);
		if (strcmp(line, rows[i].request) != 0)
			fail_msg("%s: asks %s", rows[i].words, line);
	}
}

static void wrong_words_are_refused_by_name(void **state)
{
	static const struct {
		const char *words, *why;
	} rows[] = {
		{ "", "no command is given" },
		{ "reboot", "unknown word \"reboot\"" },
		{ "stat", "\"stat\" may be stats or status" },
		{ "f", "\"f\" may be fdb or flood" },
		{ "port flush", "only fdb has \"flush\"" },
		{ "port show p1", "unknown word \"p1\"" },
		{ "port show dev", "\"dev\" needs a value" },
		{ "port show vlan 1", "port does not take \"vlan\"" },
		{ "status show dev p1", "status does not take \"dev\"" },
		{ "mdb show vlan 1", "mdb does not take \"vlan\"" },
		{ "fdb show dev a/b", "\"a/b\" is not the name of an interface" },
		{ "fdb show dev 1234567890123456",
		  "\"1234567890123456\" is not the name of an interface" },
		{ "fdb show vlan 0", "\"0\" is not a VLAN, 1 to 4094" },
		{ "fdb show vlan 4095", "\"4095\" is not a VLAN, 1 to 4094" },
		{ "fdb show vlan +1", "\"+1\" is not a VLAN, 1 to 4094" },
		{ "fdb show vlan 1x", "\"1x\" is not a VLAN, 1 to 4094" },
		{ "fdb show mac 02:00", "\"02:00\" is not a MAC address" },
		{ "fdb show dev p1 dev p2", "\"dev\" is given twice" },
		{ "fdb show static dynamic", "\"dynamic\" is given twice" },
		{ "fdb show s", "\"s\" may be static or sticky" },
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		struct ctlmsg_request r;
		char why[256] = "";

		if (parse(rows[i].words, &r, why, sizeof(why)) != -EINVAL ||
		    strcmp(why, rows[i].why) != 0)
			fail_msg("%s: \"%s\"", rows[i].words, why);
	}
}

/* ---- text ---- */

struct output {
	char *text;
	size_t len;
	FILE *f;
};

static void output_begin(struct output *o)
{
	o->f = open_memstream(&o->text, &o->len);
	assert_non_null(o->f);
}

static void output_is(struct output *o, const char *name, const char *want)
{
	fclose(o->f);
	if (strcmp(o->text, want) != 0)
		fail_msg("%s: printed\n%swanted\n%s", name, o->text, want);
	free(o->text);
}

static void check_text(const char *name, enum ctlmsg_cmd cmd, const char *json, const char *want)
{
	json_t *data = json_loads(json, JSON_DECODE_ANY, NULL);
	struct output o;

	if (!data)
		fail_msg("%s: the test's JSON is broken", name);
	output_begin(&o);
	text_print(o.f, cmd, data);
	json_decref(data);
	output_is(&o, name, want);
}

/* clang-format off */
#define FDB_JSON \
	"[{\"mac\":\"02:00:00:00:00:01\",\"ifname\":\"p1\",\"vlan\":10,\"flags\":[]," \
	"\"master\":\"br0\",\"state\":\"\",\"age\":12,\"kernel\":true}," \
	"{\"mac\":\"02:00:00:00:00:02\",\"ifname\":\"br0\",\"flags\":[]," \
	"\"master\":\"br0\",\"state\":\"permanent\",\"kernel\":true}," \
	"{\"mac\":\"02:00:00:00:00:03\",\"ifname\":\"p2\",\"flags\":[\"extern_learn\",\"sticky\"]," \
	"\"master\":\"br0\",\"state\":\"static\",\"kernel\":true}]"

#define FDB_TEXT \
	"02:00:00:00:00:01 dev p1 vlan 10 master br0 age 12\n" \
	"02:00:00:00:00:02 dev br0 master br0 permanent\n" \
	"02:00:00:00:00:03 dev p2 extern_learn sticky master br0 static\n"

#define MDB_JSON \
	"[{\"ifname\":\"br0\",\"multicast\":{\"snooping\":true,\"path\":\"kernel\"," \
	"\"reason\":\"querier-doubt\",\"reason_text\":\"in doubt (IPv6)\"}," \
	"\"querier\":{\"ipv4\":{\"state\":\"present\",\"why\":\"another querier is heard\"," \
	"\"address\":\"10.0.0.2\",\"timer\":200,\"ifname\":\"p2\"}," \
	"\"ipv6\":{\"state\":\"doubt\",\"why\":\"waiting\",\"wait\":12}}," \
	"\"router\":{\"ipv4\":[\"br0\",\"p2\"],\"ipv6\":[]},\"groups\":[" \
	"{\"grp\":\"239.1.1.1\",\"src\":\"10.0.0.5\",\"vlan\":10,\"members\":[" \
	"{\"ifname\":\"p1\",\"blocked\":true},{\"ifname\":\"p2\",\"filter_mode\":\"include\"}]}," \
	"{\"grp\":\"ff15::1\",\"members\":[{\"ifname\":\"br0\",\"host\":true}]}]}," \
	"{\"ifname\":\"br1\",\"multicast\":{\"snooping\":false},\"groups\":[]}," \
	"{\"ifname\":\"br2\",\"multicast\":{\"snooping\":true,\"path\":\"user\",\"reason\":\"none\"," \
	"\"reason_text\":\"\"},\"querier\":{\"ipv4\":{\"state\":\"none\",\"why\":\"nobody asks\"}," \
	"\"ipv6\":{\"state\":\"none\",\"why\":\"nobody asks\"}},\"groups\":[]}]"

#define MDB_TEXT \
	"br0: multicast on the kernel path  querier-doubt: in doubt (IPv6)\n" \
	"    IPv4 querier: present (another querier is heard) 10.0.0.2 behind p2" \
	" heard of until 200 s from now\n" \
	"    IPv6 querier: doubt (waiting, for 12 s more)\n" \
	"    IPv4 routers: br0 p2\n" \
	"    grp 239.1.1.1 src 10.0.0.5 vlan 10: p1 (blocked) p2 (include)\n" \
	"    grp ff15::1: br0\n" \
	"br1: snooping is off, multicast is flooded\n" \
	"br2: multicast on the user path\n" \
	"    IPv4 querier: none (nobody asks)\n" \
	"    IPv6 querier: none (nobody asks)\n"

#define PATH_JSON(path, reason, text) \
	"\"path\":\"" path "\",\"reason\":\"" reason "\",\"reason_text\":\"" text "\""

static const struct {
	const char *name;
	enum ctlmsg_cmd cmd;
	const char *json, *text;
} text_rows[] = {
	{ "version", CTLMSG_VERSION, "{\"version\":\"0.1.0\"}", "xbridged 0.1.0\n" },
	{ "verify", CTLMSG_VERIFY,
	  "{\"complete\":true,\"differences\":[{\"what\":\"fdb br0\",\"object\":"
	  "\"02:00:00:00:00:01 vlan 10\",\"kernel\":\"p1 static\",\"xbridged\":\"\"}],"
	  "\"links\":3,\"vlans\":2,\"fdb_entries\":9,\"mdb_entries\":4,\"n_differences\":1}",
	  "fdb br0: 02:00:00:00:00:01 vlan 10: kernel p1 static, xbridged nothing\n"
	  "1 differences in 3 links, 2 VLANs of ports, 9 FDB entries, 4 members of groups\n" },
	{ "mdb", CTLMSG_MDB, MDB_JSON, MDB_TEXT },
	{ "mdb, empty", CTLMSG_MDB, "[]", "" },
	{ "flush", CTLMSG_FDB_FLUSH, "{\"flushed\":3}", "Flushed 3 entries\n" },
	{ "flush of one", CTLMSG_FDB_FLUSH, "{\"flushed\":1}", "Flushed 1 entry\n" },
	{ "fdb", CTLMSG_FDB, FDB_JSON, FDB_TEXT },
	{ "fdb, empty", CTLMSG_FDB, "[]", "" },
	{ "vlan", CTLMSG_VLAN,
	  "[{\"ifname\":\"p1\",\"vlans\":["
	  "{\"vlan\":1,\"flags\":[\"PVID\",\"Egress Untagged\"],\"state\":\"forwarding\"},"
	  "{\"vlan\":10,\"vlanEnd\":20,\"flags\":[],\"state\":\"blocking\"}]},"
	  "{\"ifname\":\"p2\",\"vlans\":[]}]",
	  "port              vlan-id\n"
	  "p1                1 PVID Egress Untagged\n"
	  "                  10-20 state blocking\n" },
	{ "flood", CTLMSG_FLOOD,
	  "[{\"ifname\":\"br0\",\"vlan\":10,\"unknown_unicast\":[{\"ifname\":\"p1\",\"flags\":[]},"
	  "{\"ifname\":\"p2\",\"flags\":[\"untagged\",\"isolated\"]}],\"multicast\":[],"
	  "\"broadcast\":[{\"ifname\":\"br0\",\"flags\":[\"host\"]}]}]",
	  "br0 vlan 10\n"
	  "    unknown unicast  p1 p2(untagged,isolated)\n"
	  "    multicast        nobody\n"
	  "    broadcast        br0(host)\n" },
	{ "port on the user path", CTLMSG_PORT,
	  "[{\"ifindex\":3,\"ifname\":\"p1\",\"flags\":[\"BROADCAST\",\"UP\"],\"mtu\":1500,"
	  "\"master\":\"br0\",\"state\":\"forwarding\",\"hairpin\":false,\"learning\":true,"
	  PATH_JSON("user", "none", "on the user path") ",\"note\":\"\",\"mode\":\"copy\","
	  "\"neigh\":{" PATH_JSON("kernel", "neigh", "p2 has proxy_arp on") "},"
	  "\"queues\":2,\"xdp_prog_id\":45,\"recovers_tags\":true,\"virtual\":true,"
	  "\"counters\":{\"rx_frames\":1,\"tx_frames\":2,\"redirected\":3,\"passed\":4,\"dropped\":5}}]",
	  "3: p1: <BROADCAST,UP> mtu 1500 master br0 state forwarding\n"
	  "    hairpin off learning on\n"
	  "    path user mode copy queues 2 xdp 45 recovers_tags\n"
	  "    ARP and ND: kernel path  neigh: p2 has proxy_arp on\n"
	  "    frames: rx 1 tx 2 redirected 3 passed 4 dropped 5\n" },
	{ "port on the kernel path", CTLMSG_PORT,
	  "[{\"ifindex\":3,\"ifname\":\"p1\",\"flags\":[],\"mtu\":9000,\"master\":\"br0\","
	  "\"state\":\"blocking\"," PATH_JSON("kernel", "mtu", "MTU does not fit into one buffer")
	  ",\"note\":\"frame-size = 4096 helps\",\"mode\":\"none\",\"queues\":0,\"xdp_prog_id\":0,"
	  "\"counters\":{}}]",
	  "3: p1: <> mtu 9000 master br0 state blocking\n"
	  "    path kernel reason mtu (MTU does not fit into one buffer) mode none\n"
	  "    note: frame-size = 4096 helps\n"
	  "    frames: rx 0 tx 0 redirected 0 passed 0 dropped 0\n" },
	{ "status", CTLMSG_STATUS,
	  "{\"version\":\"0.1.0\",\"pid\":7,\"uptime\":90061,\"gate\":\"open\",\"workers\":1,"
	  "\"frames\":{\"all\":100,\"pool\":60,\"fill\":40,\"batch\":0,\"tx\":0,\"lost\":0},"
	  "\"resyncs\":1,\"resync_due\":false,\"bridges\":[{\"ifname\":\"br0\",\"source\":\"kernel\","
	  PATH_JSON("mixed", "none", "on the user path") ",\"note\":\"\",\"vlan_filtering\":true,"
	  "\"multicast\":{\"snooping\":true,\"path\":\"kernel\",\"reason\":\"mdb-limit\","
	  "\"reason_text\":\"it has more members of groups than fit\"},"
	  "\"neigh\":{" PATH_JSON("kernel", "neigh", "p1 has proxy_arp on") "},"
	  "\"vlan_protocol\":\"802.1Q\",\"fdb_entries\":12,\"ports_user\":1,\"ports_kernel\":1,"
	  "\"ports\":[{\"ifname\":\"p1\"," PATH_JSON("user", "none", "on the user path")
	  ",\"note\":\"\",\"state\":\"forwarding\"},"
	  "{\"ifname\":\"tap0\"," PATH_JSON("kernel", "virtual", "veth, tun or tap")
	  ",\"note\":\"see log\",\"state\":\"disabled\"}]}],\"history\":[]}",
	  "xbridged 0.1.0, pid 7, up 1d 01:01:01, 1 worker, 1 resync\n"
	  "frames: 60 of 100 free, 40 to receive, 0 to send\n"
	  "\n"
	  "br0: mixed path, 1 of 2 ports in user space, 12 FDB entries, VLANs 802.1Q\n"
	  "    multicast: kernel path  mdb-limit: it has more members of groups than fit\n"
	  "    ARP and ND: kernel path  neigh: p1 has proxy_arp on\n"
	  "  p1              user    forwarding\n"
	  "  tap0            kernel  disabled    virtual: veth, tun or tap  [see log]\n" },
	{ "status of a daemon in trouble", CTLMSG_STATUS,
	  "{\"version\":\"0.1.0\",\"pid\":7,\"uptime\":1,\"gate\":\"shut\",\"workers\":2,"
	  "\"frames\":null,\"resyncs\":2,\"resync_due\":true,\"bridges\":[],\"history\":[]}",
	  "xbridged 0.1.0, pid 7, up 00:00:01, 2 workers, 2 resyncs and one under way\n"
	  "The gate is shut: the kernel forwards every frame.\n"
	  "frames: a worker does not answer\n"
	  "\n"
	  "No bridge is served: there is none, or the configuration leaves all out.\n" },
	{ "stats", CTLMSG_STATS,
	  "{\"ports\":[{\"ifname\":\"p1\",\"master\":\"br0\",\"host\":false,\"path\":\"user\","
	  "\"rx_frames\":1,\"rx_bytes\":60,\"tx_frames\":2,\"tx_bytes\":120,\"redirected\":1,"
	  "\"learned\":1,\"moved\":0,\"passed\":{\"gate\":0,\"local\":7,\"neigh\":8},"
	  "\"dropped\":{\"runt\":0},\"xsk\":{\"fill_empty\":9}},"
	  "{\"ifname\":\"br0\",\"master\":\"br0\",\"host\":true}],"
	  "\"bridges\":[{\"ifname\":\"br0\",\"rx_frames\":1,\"rx_bytes\":60,\"tx_frames\":2,"
	  "\"tx_bytes\":120,\"fdb\":{\"entries\":3},\"vlans\":[{\"vlan\":10,\"rx_frames\":1,"
	  "\"rx_bytes\":60,\"tx_frames\":0,\"tx_bytes\":0}]}],"
	  "\"workers\":{\"loops\":5,\"stalls\":0},\"control\":{}}",
	  "p1 of br0, user path: rx 1 frames 60 bytes, tx 2 frames 120 bytes\n"
	  "    user path: redirected 1, learned 1\n"
	  "    passed to the kernel: local 7, neigh 8\n"
	  "    sockets: fill_empty 9\n"
	  "br0 as the host's port: rx 0 frames 0 bytes, tx 0 frames 0 bytes\n"
	  "br0 in all: rx 1 frames 60 bytes, tx 2 frames 120 bytes\n"
	  "    fdb: entries 3\n"
	  "    vlan 10: rx 1 frames 60 bytes, tx 0 frames 0 bytes\n"
	  "daemon\n"
	  "    workers: loops 5\n" },
};
/* clang-format on */

static void answers_are_printed_as_people_read_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEM(text_rows); i++)
		check_text(text_rows[i].name, text_rows[i].cmd, text_rows[i].json,
			   text_rows[i].text);
}

static void only_the_last_ten_events_are_printed(void **state)
{
	json_t *data = json_pack("{s:[{}], s:[]}", "bridges", "history");
	struct output o;
	const char *p;
	int n = 0;

	(void)state;
	for (int i = 0; i < 12; i++) {
		char text[32];

		snprintf(text, sizeof(text), "event %d.", i);
		json_array_append_new(
			json_object_get(data, "history"),
			json_pack("{s:f, s:s, s:s}", "time", 1e9, "level", "notice", "text", text));
	}
	output_begin(&o);
	text_print(o.f, CTLMSG_STATUS, data);
	fclose(o.f);
	json_decref(data);
	for (p = o.text; (p = strstr(p, "event ")); p++)
		n++;
	assert_int_equal(n, 10);
	assert_null(strstr(o.text, "event 1."));
	assert_non_null(strstr(o.text, "notice  event 11.\n"));
	free(o.text);
}

static void answers_of_another_shape_do_no_harm(void **state)
{
	static const char *const rows[] = {
		"null",
		"[]",
		"{}",
		"[1]",
		"[{}]",
		"\"x\"",
		"{\"bridges\":[{\"ports\":[{}]}],\"history\":[{}]}",
		"{\"ports\":[{}],\"bridges\":[{\"vlans\":[{}]}]}",
		"[{\"flags\":[\"x\"],\"vlans\":[{}],\"broadcast\":[{}]}]"
	};

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		json_t *data = json_loads(rows[i], JSON_DECODE_ANY, NULL);

		assert_non_null(data);
		for (int cmd = 0; cmd < CTLMSG_N; cmd++) {
			struct output o;

			output_begin(&o);
			text_print(o.f, (enum ctlmsg_cmd)cmd, data);
			fclose(o.f);
			free(o.text);
		}
		json_decref(data);
	}
}

static void check_text_list(const char *name, const char *list, size_t want_len)
{
	struct output o;

	output_begin(&o);
	assert_int_equal(text_fdb_list(o.f, list, strlen(list)), 0);
	fclose(o.f);
	if (o.len != want_len)
		fail_msg("%s: %zu bytes, want %zu", name, o.len, want_len);
	free(o.text);
}

static void a_list_of_entries_is_printed_one_by_one(void **state)
{
	struct output o;

	(void)state;
	output_begin(&o);
	assert_int_equal(text_fdb_list(o.f, FDB_JSON, strlen(FDB_JSON)), 0);
	output_is(&o, "list", FDB_TEXT);
	output_begin(&o);
	assert_int_equal(text_fdb_list(o.f, "[]", 2), 0);
	output_is(&o, "empty list", "");
	output_begin(&o);
	assert_int_equal(text_fdb_list(o.f, FDB_JSON, strlen(FDB_JSON) - 3), -EINVAL);
	fclose(o.f);
	free(o.text);
}

#define ENTRY(members)                                                                      \
	"[{\"mac\":\"02:00:00:00:00:01\",\"ifname\":\"p1\"," members ",\"master\":\"br0\"," \
	"\"state\":\"\"}]"

static void an_entry_of_any_form_is_printed_as_from_a_tree(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name, *list;
	} rows[] = {
		{ "the daemon's", FDB_JSON },
		{ "VLAN 0", ENTRY("\"vlan\":0,\"flags\":[]") },
		{ "a negative VLAN", ENTRY("\"vlan\":-3,\"flags\":[]") },
		{ "an age that is no integer", ENTRY("\"age\":1.5,\"flags\":[]") },
		{ "a large age", ENTRY("\"age\":123456789012345,\"flags\":[]") },
		{ "more flags", ENTRY("\"flags\":[\"a\",\"b\",\"c\",\"d\",\"e\"]") },
		{ "an escape", ENTRY("\"flags\":[\"\\u00e9\\\"\"]") },
		{ "another member", ENTRY("\"x\":{\"y\":[1,{}]},\"flags\":[]") },
		{ "the same member twice", ENTRY("\"vlan\":1,\"vlan\":2,\"flags\":[]") },
		{ "members missing", "[{\"ifname\":\"p1\"},{}]" },
	};
	/* clang-format on */
	char list[1024];

	(void)state;
	for (size_t i = 0; i < N_ELEM(rows); i++) {
		json_t *root = json_loads(rows[i].list, 0, NULL);
		struct output o, want;

		assert_non_null(root);
		output_begin(&want);
		text_print(want.f, CTLMSG_FDB, root);
		fclose(want.f);
		output_begin(&o);
		assert_int_equal(text_fdb_list(o.f, rows[i].list, strlen(rows[i].list)), 0);
		output_is(&o, rows[i].name, want.text);
		free(want.text);
		json_decref(root);
	}
	/* A line that is longer than most. */
	snprintf(list, sizeof(list),
		 "[{\"mac\":\"%0600d\",\"ifname\":\"p\",\"flags\":[],\"master\":\"b\","
		 "\"state\":\"\"}]",
		 7);
	check_text_list("a long line", list, 600 + strlen(" dev p master b\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_become_the_request_that_they_mean),
		cmocka_unit_test(wrong_words_are_refused_by_name),
		cmocka_unit_test(answers_are_printed_as_people_read_them),
		cmocka_unit_test(only_the_last_ten_events_are_printed),
		cmocka_unit_test(answers_of_another_shape_do_no_harm),
		cmocka_unit_test(a_list_of_entries_is_printed_one_by_one),
		cmocka_unit_test(an_entry_of_any_form_is_printed_as_from_a_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
