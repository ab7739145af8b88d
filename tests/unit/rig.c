/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rig.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAYLOAD_LEN 50
#define STATION     0x020000000a00ULL

struct word {
	const char *text;
	uint32_t bit;
};

/* The bit of @text in the table, 0 if it is not there. */
static uint32_t find(const struct word *w, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(w[i].text, text))
			return w[i].bit;
	}
	return 0;
}

static void vlan_word(struct model_port_attr *a, const char *text)
{
	char *end;
	unsigned long vid = strtoul(text, &end, 10);
	uint8_t mv = MV_MEMBER, state = PORT_FORWARDING;

	if (!vid || vid > VID_MAX)
		fail_msg("\"%s\" is no word of a port", text);
	for (; *end; end++) {
		if (*end == 'p')
			a->pvid = (uint16_t)vid;
		else if (*end == 'u')
			mv |= MV_UNTAGGED;
		else if (*end == '=')
			state = (uint8_t)(*++end - '0');
	}
	a->vlan[vid] = (uint8_t)(mv | MV_STATE(state));
}

static void port_word(struct model_port_attr *a, const char *text)
{
	static const struct word set[] = {
		{ "isolated", MP_ISOLATED }, { "hairpin", MP_HAIRPIN },
		{ "proxyarp", MP_PROXYARP }, { "router4", MP_ROUTER4 },
		{ "router6", MP_ROUTER6 },   { "routerl2", MP_ROUTER_L2 },
		{ "down", MP_DOWN },
	};
	static const struct word cleared[] = {
		{ "-learn", MP_LEARNING },
		{ "-flood", MP_UNICAST_FLOOD },
		{ "-mcast", MP_MCAST_FLOOD },
		{ "-bcast", MP_BCAST_FLOOD },
	};
	uint32_t on = find(set, N_ELEM(set), text);
	uint32_t off = find(cleared, N_ELEM(cleared), text);

	if (on)
		a->flags |= (uint16_t)on;
	else if (off)
		a->flags &= (uint16_t)~off;
	else if (!strncmp(text, "state=", 6))
		a->state = (uint8_t)atoi(text + 6);
	else if (!strncmp(text, "backup=", 7))
		a->backup = (uint16_t)atoi(text + 7);
	else if (!strncmp(text, "mac=", 4))
		return;
	else if (!strncmp(text, "mtu=", 4))
		a->mtu = (uint32_t)atoi(text + 4);
	else
		vlan_word(a, text);
}

struct model_port_attr rig_port_attr(const char *text)
{
	struct model_port_attr a = {
		.flags = MP_LEARNING | MP_UNICAST_FLOOD | MP_MCAST_FLOOD | MP_BCAST_FLOOD,
		.state = PORT_FORWARDING,
		.mtu = 1500,
	};
	char copy[256], *save, *w;

	snprintf(copy, sizeof(copy), "%s", text);
	for (w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		port_word(&a, w);
	return a;
}

static bool bridge_word(struct model_bridge_attr *b, const char *text)
{
	const struct {
		const char *text;
		bool *on;
	} words[] = {
		{ "filter", &b->filtering },  { "promisc", &b->promisc },
		{ "mst", &b->mst },           { "local0", &b->local_vlan_0 },
		{ "snoop", &b->snooping },    { "querier4", &b->querier4 },
		{ "querier6", &b->querier6 }, { "igmp3", &b->igmp_v3 },
		{ "mld2", &b->mld_v2 },       { "allmulti", &b->allmulti },
	};

	for (size_t i = 0; i < N_ELEM(words); i++) {
		if (!strcmp(words[i].text, text)) {
			*words[i].on = true;
			return true;
		}
	}
	return false;
}

static void bridge_part(struct rig *r, char *words)
{
	char *save;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (!strcmp(w, "ad"))
			r->br.tpid = FRAME_TPID_AD;
		else if (!strcmp(w, "noage"))
			r->br.learning = false;
		else if (!bridge_word(&r->br, w))
			fail_msg("\"%s\" is no word of a bridge", w);
	}
}

static void fdb_part(struct rig *r, const char *words)
{
	static const struct word flags[] = {
		{ "static", FDB_STATIC }, { "sticky", FDB_STICKY }, { "local", FDB_LOCAL },
		{ "extern", FDB_EXTERN }, { "user", FDB_USER },
	};
	unsigned int station, vid, slot;
	char copy[64], *save, *w;
	struct fdb_entry e = { 0 };
	int n;

	if (sscanf(words, "%x %u %u%n", &station, &vid, &slot, &n) != 3)
		fail_msg("\"%s\" is no entry", words);
	e.mac = mac_from_u64(STATION | station);
	e.vid = (uint16_t)vid;
	e.port = (uint16_t)slot;
	snprintf(copy, sizeof(copy), "%s", words + n);
	for (w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		e.flags |= (uint16_t)find(flags, N_ELEM(flags), w);
	assert_int_equal(fdb_add(r->fdb, &e), 0);
}

/* An address and, if there is one, the source behind "/"; IPv4, IPv6 or Ethernet. */
struct mdb_key rig_mdb_key(const char *text, uint16_t vid)
{
	struct mdb_key k = { .vid = vid };
	char copy[128], *source;
	unsigned int b[MDB_L2_LEN];

	snprintf(copy, sizeof(copy), "%s", text);
	source = strchr(copy, '/');
	if (source)
		*source++ = '\0';
	if (sscanf(copy, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) ==
	    MDB_L2_LEN) {
		for (int i = 0; i < MDB_L2_LEN; i++)
			k.group[i] = (uint8_t)b[i];
		return k;
	}
	k.family = strchr(copy, ':') ? MDB_IP6 : MDB_IP4;
	if (inet_pton(k.family == MDB_IP6 ? AF_INET6 : AF_INET, copy, k.group) != 1 ||
	    (source && inet_pton(k.family == MDB_IP6 ? AF_INET6 : AF_INET, source, k.source) != 1))
		fail_msg("\"%s\" is no group", text);
	return k;
}

static void mdb_part(struct rig *r, const char *words)
{
	static const struct word flags[] = { { "include", MDB_INCLUDE },
					     { "blocked", MDB_BLOCKED } };
	char copy[128], *save, *group, *vid, *slot, *w;
	uint8_t f = MDB_MEMBER;
	struct mdb_key k;

	snprintf(copy, sizeof(copy), "%s", words);
	group = strtok_r(copy, " ", &save);
	vid = strtok_r(NULL, " ", &save);
	slot = strtok_r(NULL, " ", &save);
	if (!slot)
		fail_msg("\"%s\" is no membership", words);
	for (w = strtok_r(NULL, " ", &save); w; w = strtok_r(NULL, " ", &save))
		f |= (uint8_t)find(flags, N_ELEM(flags), w);
	k = rig_mdb_key(group, (uint16_t)atoi(vid));
	assert_int_equal(model_mdb_set(r->m, 0, &k, (uint16_t)atoi(slot), f), 0);
}

/* The device's address in @words, of which the others are left. */
static void own_address(struct rig *r, uint16_t slot, const char *words)
{
	const char *text = strstr(words, "mac=");
	struct mac mac;

	if (!text)
		return;
	mac = mac_from_u64(STATION | strtoul(text + 4, NULL, 16));
	assert_int_equal(local_set_owner(r->local, slot, &mac), 0);
}

/* The kernel says that it has none of the entries that devices explain. */
static void gone_part(struct rig *r, const char *words)
{
	unsigned int station, vid;

	if (sscanf(words, "%x %u", &station, &vid) != 2)
		fail_msg("\"%s\" is no entry", words);
	local_untold(r->local, (uint64_t)vid << 48 | STATION | station, 0);
}

static void part(struct rig *r, char *text)
{
	struct model_port_attr a;
	char *rest;
	uint16_t slot;

	text += strspn(text, " ");
	rest = text + strcspn(text, " ");
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(text, "br")) {
		bridge_part(r, rest);
		assert_int_equal(model_bridge_set(r->m, 0, &r->br, r->fdb, NULL, NULL), 0);
		return;
	}
	if (!strcmp(text, "fdb")) {
		fdb_part(r, rest);
		return;
	}
	if (!strcmp(text, "mdb")) {
		mdb_part(r, rest);
		return;
	}
	if (!strcmp(text, "gone")) {
		gone_part(r, rest);
		return;
	}
	a = rig_port_attr(rest);
	slot = *text == 'h' ? RIG_HOST : (uint16_t)atoi(text);
	own_address(r, slot, rest);
	if (slot == RIG_HOST) {
		a.flags &= MP_ROUTER4 | MP_ROUTER6 | MP_ROUTER_L2;
		a.flags |= MP_HOST;
		r->br.host_port = RIG_HOST;
		assert_int_equal(model_bridge_set(r->m, 0, &r->br, r->fdb, NULL, NULL), 0);
	}
	assert_int_equal(model_port_set(r->m, slot, &a, NULL), 0);
}

void rig_open(struct rig *r, const char *bridge)
{
	const struct fdb_config cfg = { .max_entries = 1024, .seed = { 1, 2 } };
	const struct local_ops ops = { 0 };
	char copy[1024], *save;

	*r = (struct rig){ .br = { .learning = true, .tpid = FRAME_TPID_Q } };
	r->m = model_new();
	r->fdb = fdb_new(&cfg);
	r->local = local_new(0);
	assert_non_null(r->m);
	assert_non_null(r->local);
	assert_non_null(r->fdb);
	snprintf(copy, sizeof(copy), "%s", bridge);
	for (char *p = strtok_r(copy, ";", &save); p; p = strtok_r(NULL, ";", &save))
		part(r, p);
	assert_int_equal(local_settle(r->local, r->m, 0, 0, &ops) & LOCAL_MORE, 0);
	if (r->m->bridge[0])
		assert_true(local_publish(r->local, r->m) >= 0);
	r->v = view_build(r->m, NULL, NULL);
	assert_non_null(r->v);
}

void rig_close(struct rig *r)
{
	view_free(r->v);
	model_free(r->m);
	local_free(r->local);
	fdb_free(r->fdb);
}

static uint64_t address(const char *text)
{
	if (!strncmp(text, "ff", 2))
		return 0xffffffffffffULL;
	if (!strncmp(text, "mc", 2))
		return 0x01005e010203ULL;
	if (!strncmp(text, "00", 2))
		return 0;
	return STATION | strtoul((char[]){ text[0], text[1], '\0' }, NULL, 16);
}

static uint8_t *put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
	return p + 2;
}

/* Writes the tags at the beginning of @text, up to something that is none. */
static uint8_t *put_tags(uint8_t *p, const char *text)
{
	text += strspn(text, " ");
	while (*text == 'q' || *text == 'a') {
		char *end;
		uint16_t tpid = *text == 'q' ? 0x8100 : 0x88a8;
		uint16_t tci = (uint16_t)strtoul(text + 1, &end, 10);

		if (*end == '.')
			tci |= (uint16_t)(strtoul(end + 1, &end, 10) << 13);
		if (*end == 'd') {
			tci |= 0x1000;
			end++;
		}
		p = put16(put16(p, tpid), tci);
		text = end + strspn(end, ",");
	}
	return p;
}

/* The payload becomes a UDP packet to the group, from the source, of a whole header. */
static void put_packet(const struct mdb_key *k, uint8_t *p, uint32_t len)
{
	uint32_t sum = 0;

	if (k->family == MDB_IP6) {
		memset(p, 0, 8);
		p[0] = 0x60;
		put16(p + 4, (uint16_t)(len - 40));
		p[6] = 17;
		memcpy(p + 8, k->source, MDB_IP6_LEN);
		memcpy(p + 24, k->group, MDB_IP6_LEN);
		return;
	}
	memset(p, 0, 12);
	p[0] = 0x45;
	put16(p + 2, (uint16_t)len);
	p[9] = 17;
	memcpy(p + 12, k->source, MDB_IP4_LEN);
	memcpy(p + 16, k->group, MDB_IP4_LEN);
	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	put16(p + 10, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
}

static uint32_t make_frame(const char *text, const char *tags, uint8_t *buf)
{
	struct mac dst = mac_from_u64(address(text)), src = mac_from_u64(address(text + 3));
	const char *more = strchr(text, '+');
	uint32_t n = PAYLOAD_LEN + (more ? (uint32_t)atoi(more + 1) : 0);
	const char *ip = strstr(text, "ip=");
	struct mdb_key k = ip ? rig_mdb_key(ip + 3, 0) : (struct mdb_key){ 0 };
	uint8_t *p = buf + 2 * MAC_LEN;
	uint16_t type = !ip ? 0x88b5 : k.family == MDB_IP6 ? 0x86dd : 0x0800;

	memcpy(buf, dst.b, MAC_LEN);
	memcpy(buf + MAC_LEN, src.b, MAC_LEN);
	p = put16(put_tags(p, tags), type);
	assert_true((size_t)(p - buf) + n <= RIG_MAX_LEN);
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7);
	if (ip)
		put_packet(&k, p, n);
	return (uint32_t)(p - buf) + n;
}

uint32_t rig_frame(const char *text, uint8_t *buf)
{
	return make_frame(text, text + 5, buf);
}

static void copy_out(const struct rig_out *in, const struct frame *f, const struct flood_dst *d,
		     struct rig_out *out)
{
	static uint8_t buf[RIG_HEADROOM + RIG_MAX_LEN];
	struct frame copy = *f;

	memcpy(buf + RIG_HEADROOM, f->data, f->len);
	copy.data = buf + RIG_HEADROOM;
	copy.headroom = RIG_HEADROOM;
	assert_int_equal(fwd_set_form(&in->verdict, &copy, fwd_is_tagged(&in->verdict, d)), 0);
	assert_true(d->port < RIG_PORTS && copy.len <= RIG_MAX_LEN);
	out->n[d->port]++;
	out->len[d->port] = copy.len;
	memcpy(out->bytes[d->port], copy.data, copy.len);
}

void rig_put(struct rig *r, uint16_t in, const char *frame, uint64_t now_ns, struct rig_out *out)
{
	uint8_t buf[RIG_MAX_LEN];
	struct frame f = { .data = buf };

	memset(out, 0, sizeof(*out));
	f.len = rig_frame(frame, buf);
	fwd_decide(r->v, in, &f, now_ns, &out->verdict);
	if (out->verdict.drop)
		assert_int_equal(out->verdict.n, 0);
	for (uint32_t i = 0; i < out->verdict.n; i++) {
		const struct flood_dst *d = &out->verdict.dst[i];
		enum drop_reason why = fwd_admit(&out->verdict, d);

		if (why)
			out->n_dropped[why]++;
		else
			copy_out(out, &f, d, out);
	}
}

void rig_expect(const char *name, const char *frame, const char *want, const struct rig_out *out)
{
	uint32_t n[RIG_PORTS] = { 0 };
	uint8_t buf[RIG_MAX_LEN];
	char copy[128], *save;

	snprintf(copy, sizeof(copy), "%s", want);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		uint32_t slot = *w == 'h' ? RIG_HOST : (uint32_t)(*w - '0');
		uint32_t len = make_frame(frame, w + 2, buf);

		n[slot]++;
		if (out->n[slot] != 1)
			fail_msg("%s: %u copies at %c, want one", name, out->n[slot], *w);
		if (out->len[slot] != len)
			fail_msg("%s: %u bytes at %c, want %u", name, out->len[slot], *w, len);
		if (memcmp(out->bytes[slot], buf, len))
			fail_msg("%s: other bytes at %c", name, *w);
	}
	for (uint32_t i = 0; i < RIG_PORTS; i++) {
		if (out->n[i] != n[i])
			fail_msg("%s: %u copies at slot %u, want %u", name, out->n[i], i, n[i]);
	}
}

int rig_where(const struct rig *r, unsigned int station, uint16_t vid)
{
	struct fdb_entry e;

	if (fdb_get(r->fdb, (uint64_t)vid << 48 | STATION | station, &e))
		return -1;
	return e.port;
}
