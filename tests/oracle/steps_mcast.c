/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "steps_mcast.h"

#include <string.h>

#include "refload.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

#define TYPE_IP4 0x0800
#define TYPE_IP6 0x86dd

/* Few of each, so that they meet. */
static const uint8_t groups4[][4] = {
	{ 239, 1, 1, 1 }, { 239, 1, 1, 2 }, { 224, 0, 0, 5 }, { 224, 0, 1, 5 }, { 10, 1, 1, 1 },
};
static const uint8_t sources4[][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 }, { 0, 0, 0, 0 } };
static const uint8_t groups6[][16] = {
	{ 0xff, 2, [15] = 1 },
	{ 0xff, 2, [15] = 2 },
	{ 0xff, 5, [15] = 1 },
	{ 0xfe, 0x80, [15] = 9 },
};
static const uint8_t sources6[][16] = {
	{ 0xfe, 0x80, [15] = 1 },
	{ 0xfe, 0x80, [15] = 2 },
	{ 0 },
};

/* ---- entries ---- */

static struct mdb_key roll_key(const struct pair *p, struct dice *d, const struct mcast_world *w)
{
	struct mdb_key k = { .family = (uint8_t)roll(d, MDB_FAMILY_N) };
	bool has_source = chance(d, 30);
	struct mac mac;

	if (p->br.filtering != chance(d, 10))
		k.vid = w->vid[roll(d, w->n_vids)];
	if (k.family == MDB_L2) {
		mac = mac_from_u64(w->group[roll(d, w->n_groups)]);
		memcpy(k.group, mac.b, MDB_L2_LEN);
	} else if (k.family == MDB_IP4) {
		memcpy(k.group, groups4[roll(d, N(groups4))], MDB_IP4_LEN);
		memcpy(k.source, sources4[has_source ? roll(d, 2) : 2], MDB_IP4_LEN);
	} else {
		memcpy(k.group, groups6[roll(d, N(groups6))], MDB_IP6_LEN);
		memcpy(k.source, sources6[has_source ? roll(d, 2) : 2], MDB_IP6_LEN);
	}
	return k;
}

void mcast_member(struct pair *p, struct dice *d, const struct mcast_world *w)
{
	struct mdb_key k = roll_key(p, d, w);
	uint16_t slot = chance(d, 15) ? PAIR_HOST : (uint16_t)(1 + roll(d, PAIR_PORTS));
	uint8_t flags = 0;

	if (chance(d, 70))
		flags = (uint8_t)(MDB_MEMBER | (chance(d, 25) ? MDB_INCLUDE : 0) |
				  (chance(d, 15) ? MDB_BLOCKED : 0));
	pair_say(p, "slot %u in group ...%02x%02x (family %u%s) of VLAN %u: flags %x\n", slot,
		 k.group[3], k.group[15], k.family, mdb_key_has_source(&k) ? ", one source" : "",
		 k.vid, flags);
	pair_set_member(p, &k, slot, flags);
	if (chance(d, 10))
		pair_check_groups(p);
}

void mcast_clear(struct pair *p, struct dice *d, const struct mcast_world *w)
{
	(void)d;
	(void)w;
	pair_say(p, "all groups go\n");
	pair_clear_groups(p);
}

/* ---- bridge and routers ---- */

void mcast_bridge(struct pair *p, struct dice *d, const struct mcast_world *w)
{
	struct model_bridge_attr *b = &p->br;

	(void)w;
	switch (roll(d, 6)) {
	case 0:
		b->snooping = chance(d, 90);
		break;
	case 1:
		b->querier4 = chance(d, 80);
		break;
	case 2:
		b->querier6 = chance(d, 80);
		break;
	case 3:
		b->igmp_v3 = chance(d, 60);
		break;
	case 4:
		b->mld_v2 = chance(d, 60);
		break;
	default:
		b->allmulti = chance(d, 20);
	}
	pair_say(p, "bridge: snooping %d, queriers %d %d, versions %d %d, allmulti %d\n",
		 b->snooping, b->querier4, b->querier6, b->igmp_v3, b->mld_v2, b->allmulti);
	pair_set_bridge(p);
}

void mcast_router(struct pair *p, struct dice *d, const struct mcast_world *w)
{
	static const uint16_t flags[] = { MP_ROUTER4, MP_ROUTER6, MP_ROUTER_L2 };
	uint16_t slot = chance(d, 20) ? PAIR_HOST : (uint16_t)(1 + roll(d, PAIR_PORTS));
	uint16_t flag = flags[roll(d, slot == PAIR_HOST ? 3 : 2)];

	(void)w;
	if (!p->has_port[slot])
		return;
	p->port[slot].flags ^= flag;
	pair_say(p, "slot %u is %s router (flag %x)\n", slot,
		 p->port[slot].flags & flag ? "now a" : "no longer a", flag);
	pair_set_port(p, slot);
}

/* ---- packets ---- */

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void put_checksum4(uint8_t *ip)
{
	uint32_t sum = 0;

	put16(ip + 10, 0);
	for (uint32_t i = 0; i < (ip[0] & 0xfU) * 4; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	put16(ip + 10, ~sum);
}

/* The length that the header tells: mostly what is there, or less, seldom more. */
static uint32_t roll_told(struct dice *d, uint32_t min, uint32_t len)
{
	if (chance(d, 3))
		return roll(d, min + 1);
	if (chance(d, 3))
		return len + 1 + roll(d, 3);
	return chance(d, 60) || len <= min ? len : min + roll(d, len - min);
}

static void packet4(struct dice *d, uint8_t *at, uint32_t len)
{
	static const uint8_t protocols[] = { 17, 17, 17, 17, 6, 1, 2, 103 };
	uint8_t words = chance(d, 10) ? (uint8_t)(5 + roll(d, 3)) : 5;

	if (len < words * 4U)
		return;
	at[0] = 0x40 | words;
	put16(at + 2, roll_told(d, words * 4U, len));
	at[9] = protocols[roll(d, N(protocols))];
	memcpy(at + 12, sources4[roll(d, N(sources4))], 4);
	memcpy(at + 16, groups4[roll(d, N(groups4))], 4);
	if (chance(d, 2))
		at[0] = (uint8_t)roll(d, 256);
	if (len >= (at[0] & 0xfU) * 4 && (at[0] & 0xf) >= 5)
		put_checksum4(at);
	if (chance(d, 2))
		at[roll(d, 20)] ^= (uint8_t)(1U << roll(d, 8));
	/* All ones and all zero are the same number to a checksum. */
	if (chance(d, 1))
		memset(at + 10, 0xff, 2);
}

static void packet6(struct dice *d, uint8_t *at, uint32_t len)
{
	static const uint8_t next[] = { 17, 17, 17, 58, 0, 103 };

	if (len < 40)
		return;
	at[0] = chance(d, 2) ? (uint8_t)roll(d, 256) : 0x60;
	put16(at + 4, roll_told(d, 40, len) - 40);
	if (chance(d, 2))
		put16(at + 4, 0);
	at[6] = next[roll(d, N(next))];
	memcpy(at + 8, sources6[roll(d, N(sources6))], 16);
	memcpy(at + 24, groups6[roll(d, N(groups6))], 16);
}

void mcast_packet(struct dice *d, uint16_t type, uint8_t *at, uint32_t len)
{
	if (type == TYPE_IP4)
		packet4(d, at, len);
	else if (type == TYPE_IP6)
		packet6(d, at, len);
}
