/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "steps.h"

#include <string.h>

#include "core/frame.h"
#include "dice.h"
#include "refload.h"
#include "steps_mcast.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

#define BROADCAST 0xffffffffffffULL

/* Few of each, so that they meet. */
static const uint16_t vids[] = { 1, 2, 10, 100, 4094 };
static const uint32_t mtus[] = { 46, 50, 68, 100, 1500 };
static const uint64_t groups[] = { 0x01005e010203, 0x333300000001, 0x0180c2000010 };
#define N_STATIONS 10
#define N_RARE     120

static const struct mcast_world mcast_world = {
	.vid = vids, .n_vids = N(vids), .group = groups, .n_groups = N(groups)
};

static uint16_t roll_vid(struct dice *d)
{
	return vids[roll(d, N(vids))];
}

static uint64_t roll_station(struct dice *d)
{
	return 0x020000000000ULL + roll(d, chance(d, 97) ? N_STATIONS : N_RARE);
}

static uint16_t roll_slot(struct dice *d)
{
	return (uint16_t)(1 + roll(d, PAIR_PORTS));
}

/* VLAN of an entry. */
static uint16_t roll_key_vid(const struct pair *p, struct dice *d)
{
	return p->br.filtering && !chance(d, 10) ? roll_vid(d) : 0;
}

/* ---- ports and VLANs ---- */

static uint8_t roll_state(struct dice *d)
{
	return chance(d, 75) ? PORT_FORWARDING : (uint8_t)roll(d, PORT_BLOCKING + 1);
}

static uint8_t roll_vlan(struct dice *d, uint32_t percent)
{
	if (!chance(d, percent))
		return 0;
	return (uint8_t)(MV_MEMBER | (chance(d, 40) ? MV_UNTAGGED : 0) | MV_STATE(roll_state(d)));
}

static void roll_pvid(struct dice *d, struct model_port_attr *a)
{
	uint16_t vid = roll_vid(d);

	a->pvid = a->vlan[vid] && !chance(d, 15) ? vid : VID_NONE;
}

static uint16_t roll_flags(struct dice *d)
{
	static const struct {
		uint16_t flag;
		uint32_t percent;
	} flags[] = { { MP_LEARNING, 85 },    { MP_UNICAST_FLOOD, 85 }, { MP_MCAST_FLOOD, 85 },
		      { MP_BCAST_FLOOD, 85 }, { MP_ISOLATED, 30 },      { MP_HAIRPIN, 20 },
		      { MP_PROXYARP, 8 },     { MP_CSUM, 50 },          { MP_DOWN, 30 },
		      { MP_ROUTER4, 15 },     { MP_ROUTER6, 15 } };
	uint16_t f = 0;

	for (size_t i = 0; i < N(flags); i++)
		f |= chance(d, flags[i].percent) ? flags[i].flag : 0;
	return f;
}

/* Another port that may be there or not, or may be somewhere else. */
static uint16_t roll_backup(struct dice *d, uint16_t slot)
{
	uint16_t other = roll_slot(d);

	return chance(d, 60) || other == slot ? 0 : other;
}

static void add_port(struct pair *p, struct dice *d, uint16_t slot)
{
	struct fdb_filter gone = { .port = slot, .vid = FDB_ANY };
	struct model_port_attr *a = &p->port[slot];

	if (p->has_entries[slot])
		pair_flush(p, &gone);
	p->has_entries[slot] = false;
	memset(a, 0, sizeof(*a));
	a->flags = roll_flags(d);
	a->state = roll_state(d);
	a->mtu = mtus[roll(d, N(mtus))];
	a->backup = roll_backup(d, slot);
	for (size_t i = 0; i < N(vids); i++)
		a->vlan[vids[i]] = roll_vlan(d, 70);
	roll_pvid(d, a);
	pair_say(p, "port %u comes\n", slot);
	pair_set_port(p, slot);
}

static void del_port(struct pair *p, struct dice *d, uint16_t slot)
{
	struct fdb_filter gone = { .port = slot, .vid = FDB_ANY };
	bool moves = chance(d, 30), at_once = chance(d, 60);

	pair_say(p, "port %u %s, its entries %s\n", slot, moves ? "moves" : "goes",
		 at_once ? "too" : "stay");
	pair_del_port(p, slot, moves);
	if (!at_once)
		return;
	pair_flush(p, &gone);
	p->has_entries[slot] = false;
}

static void come_or_go(struct pair *p, struct dice *d)
{
	uint16_t slot = roll_slot(d);

	if (p->has_port[slot])
		del_port(p, d, slot);
	else
		add_port(p, d, slot);
}

/* br0 as a port of itself: it may come again, with a bridge that has ports already. */
static void host_again(struct pair *p, struct dice *d)
{
	bool was = p->has_port[PAIR_HOST];

	if (was) {
		model_port_del(p->model, PAIR_HOST);
		p->mac[PAIR_HOST] = 0;
		pair_set_mac(p, PAIR_HOST);
	}
	ref_mdb_port_gone(&p->ref->mdb, PAIR_HOST);
	p->is_stale = true;
	if (chance(d, 50))
		pair_check_view(p);
	p->br.host_port = PAIR_HOST;
	/* A bridge of the configuration file has none. */
	if (chance(d, 30))
		p->br.host_port = 0;
	pair_say(p, "the host %s\n", p->br.host_port ? "comes anew" : "goes");
	p->br.promisc = p->br.host_port && chance(d, 50);
	pair_set_bridge(p);
	if (chance(d, 50))
		pair_check_view(p);
	if (p->br.host_port) {
		pair_set_port(p, PAIR_HOST);
		return;
	}
	p->has_port[PAIR_HOST] = false;
	refload_port(p->ref, PAIR_HOST, NULL);
}

static void change_port(struct pair *p, struct dice *d)
{
	uint16_t slot = roll_slot(d);
	struct model_port_attr *a = &p->port[slot];

	if (!p->has_port[slot]) {
		add_port(p, d, slot);
		return;
	}
	switch (roll(d, 5)) {
	case 0:
		a->state = roll_state(d);
		break;
	case 1:
		a->mtu = mtus[roll(d, N(mtus))];
		break;
	case 2:
		a->flags ^= (uint16_t)(MP_LEARNING << roll(d, 9));
		break;
	case 3:
		a->backup = roll_backup(d, slot);
		break;
	default:
		roll_pvid(d, a);
	}
	pair_say(p, "port %u changes: state %u, mtu %u, flags %x, pvid %u, backup %u\n", slot,
		 a->state, a->mtu, a->flags, a->pvid, a->backup);
	pair_set_port(p, slot);
}

static void change_vlan(struct pair *p, struct dice *d)
{
	uint16_t slot = chance(d, 25) ? PAIR_HOST : roll_slot(d), vid = roll_vid(d);
	struct model_port_attr *a = &p->port[slot];

	if (!p->has_port[slot])
		return;
	a->vlan[vid] = roll_vlan(d, 70);
	pair_say(p, "slot %u, VLAN %u: %s%s, state %u\n", slot, vid,
		 a->vlan[vid] ? "member" : "none", a->vlan[vid] & MV_UNTAGGED ? ", untagged" : "",
		 MV_STATE_OF(a->vlan[vid]));
	pair_set_vlan(p, slot, vid);
	if (a->vlan[vid] || a->pvid != vid || chance(d, 50))
		return;
	a->pvid = VID_NONE;
	pair_set_port(p, slot);
}

/* Several VLANs of a port at once, as the plan sets them. */
static void change_vlans(struct pair *p, struct dice *d)
{
	uint16_t slot = chance(d, 25) ? PAIR_HOST : roll_slot(d);
	struct model_port_attr *a = &p->port[slot];

	if (!p->has_port[slot])
		return;
	for (uint32_t n = 1 + roll(d, 3); n; n--)
		a->vlan[vids[roll(d, N(vids))]] = roll_vlan(d, 70);
	if (chance(d, 40))
		roll_pvid(d, a);
	if (slot != PAIR_HOST && chance(d, 30))
		a->flags = roll_flags(d);
	pair_say(p, "slot %u has other VLANs, flags %x, pvid %u\n", slot, a->flags, a->pvid);
	pair_set_port(p, slot);
}

/* The state of all ports in a VLAN at once, as a spanning tree sets it. */
static void change_tree(struct pair *p, struct dice *d)
{
	uint16_t vid = roll_vid(d);

	pair_say(p, "new states in VLAN %u\n", vid);
	for (uint16_t i = 1; i <= PAIR_PORTS; i++) {
		uint8_t *mv = &p->port[i].vlan[vid];

		if (!p->has_port[i] || !*mv)
			continue;
		*mv = (uint8_t)((*mv & (MV_MEMBER | MV_UNTAGGED)) | MV_STATE(roll_state(d)));
		pair_set_vlan(p, i, vid);
	}
}

/* Of a device: the host's too. Two may have the same. */
static void change_mac(struct pair *p, struct dice *d)
{
	uint16_t slot = chance(d, 30) ? PAIR_HOST : roll_slot(d);

	if (!p->has_port[slot])
		return;
	p->mac[slot] = chance(d, 15) ? 0 : roll_station(d);
	pair_say(p, "slot %u has address %012llx\n", slot, (unsigned long long)p->mac[slot]);
	pair_set_mac(p, slot);
}

/* A user removes an entry of a device, or something brings it back. */
static void tell_own(struct pair *p, struct dice *d)
{
	uint16_t slot = chance(d, 30) ? PAIR_HOST : roll_slot(d);
	uint64_t mac = chance(d, 80) ? p->mac[slot] : roll_station(d);
	uint16_t vid = chance(d, 70) ? roll_vid(d) : 0;
	bool gone = chance(d, 65);

	if (!mac)
		return;
	pair_say(p, "own entry %012llx in VLAN %u %s\n", (unsigned long long)mac, vid,
		 gone ? "goes" : "comes");
	pair_tell_own(p, mac, vid, gone);
}

static void change_bridge(struct pair *p, struct dice *d)
{
	struct model_bridge_attr *b = &p->br;

	switch (roll(d, 7)) {
	case 0:
	case 1:
		b->filtering = chance(d, 80);
		break;
	case 2:
		b->promisc = b->host_port && chance(d, 30);
		break;
	case 3:
		b->mst = chance(d, 30);
		break;
	case 4:
		b->learning = chance(d, 90);
		break;
	case 5:
		b->local_vlan_0 = chance(d, 40);
		break;
	default:
		b->tpid = chance(d, 60) ? FRAME_TPID_Q : FRAME_TPID_AD;
	}
	pair_say(p, "bridge: filtering %d, promisc %d, mst %d, learning %d, local0 %d, %04x\n",
		 b->filtering, b->promisc, b->mst, b->learning, b->local_vlan_0, b->tpid);
	pair_set_bridge(p);
}

static void remake(struct pair *p, struct dice *d)
{
	static const uint32_t max_entries[] = { 5, 20, 200 };

	p->fdb_cfg.max_entries = max_entries[roll(d, N(max_entries))];
	p->fdb_cfg.max_learned = chance(d, 30) ? 1 + roll(d, 20) : 0;
	pair_say(p, "the bridge is made anew: at most %u entries, %u learned\n",
		 p->fdb_cfg.max_entries, p->fdb_cfg.max_learned);
	pair_remake(p, (uint16_t)roll(d, 4));
	for (uint16_t i = 1; i <= PAIR_PORTS; i++) {
		if (chance(d, 60))
			add_port(p, d, i);
	}
}

/* ---- entries ---- */

static void add_entry(struct pair *p, struct dice *d)
{
	static const uint16_t flags[] = { 0,
					  FDB_STATIC,
					  FDB_STATIC | FDB_STICKY,
					  FDB_STICKY,
					  FDB_EXTERN,
					  FDB_EXTERN | FDB_KERNEL,
					  FDB_KERNEL,
					  FDB_STATIC | FDB_USER,
					  FDB_LOCAL | FDB_STATIC | FDB_USER,
					  FDB_LOCAL | FDB_USER };
	struct fdb_entry e = { .mac = mac_from_u64(roll_station(d)), .seen_ns = p->now_ns };

	e.flags = flags[roll(d, N(flags))];
	e.vid = roll_key_vid(p, d);
	e.port = roll_slot(d);
	if (e.flags & FDB_LOCAL && chance(d, 50))
		e.port = PAIR_HOST;
	if (e.port != PAIR_HOST && !p->has_port[e.port])
		return;
	if (p->say) {
		fputs("add entry ", p->say);
		refload_print_entry(p->say, &e);
	}
	if (chance(d, 20))
		pair_add_unless_moved(p, &e);
	else
		pair_add_entry(p, &e);
}

static void del_entry(struct pair *p, struct dice *d)
{
	uint64_t mac = roll_station(d);
	uint16_t vid = roll_key_vid(p, d), port = chance(d, 50) ? FDB_ANY : roll_slot(d);

	pair_say(p, "delete entry %012llx in VLAN %u if on %u\n", (unsigned long long)mac, vid,
		 port);
	pair_del_entry(p, mac, vid, port);
}

static void flag_entry(struct pair *p, struct dice *d)
{
	uint64_t mac = roll_station(d);
	uint16_t vid = roll_key_vid(p, d), mask = (uint16_t)(1U << roll(d, 7));
	uint16_t flags = chance(d, 50) ? mask : 0;
	const struct ref_entry *e = ref_fdb_find(p->ref, mac, vid);

	/* An entry towards the bridge itself is always local. */
	if (mask == FDB_LOCAL && e && e->e.port == PAIR_HOST)
		return;
	pair_say(p, "entry %012llx in VLAN %u: flags %x of %x\n", (unsigned long long)mac, vid,
		 flags, mask);
	pair_set_flags(p, mac, vid, mask, flags);
}

static void flush(struct pair *p, struct dice *d)
{
	struct fdb_filter f = { .port = FDB_ANY, .vid = FDB_ANY };

	if (chance(d, 60))
		f.port = roll_slot(d);
	if (chance(d, 60))
		f.vid = roll_key_vid(p, d);
	if (chance(d, 70))
		f.mask = FDB_STATIC | FDB_LOCAL;
	else if (chance(d, 50))
		f.mask = f.flags = FDB_KERNEL;
	pair_say(p, "flush port %u, VLAN %u, flags %x of %x\n", f.port, f.vid, f.flags, f.mask);
	pair_flush(p, &f);
}

static void age(struct pair *p, struct dice *d)
{
	uint64_t hold_ns = (1 + roll(d, 400)) * PAIR_TICK_NS;
	uint32_t n_buckets = 1 + roll(d, 64);

	pair_say(p, "age what is %llu ticks old\n", (unsigned long long)(hold_ns / PAIR_TICK_NS));
	pair_age(p, hold_ns, n_buckets);
}

static void tune(struct pair *p, struct dice *d)
{
	uint32_t max_learned = chance(d, 60) ? 0 : 1 + roll(d, 30);
	uint64_t granularity_ns = chance(d, 60) ? 1 : roll(d, 200) * PAIR_TICK_NS;

	pair_say(p, "at most %u learned, granularity %llu\n", max_learned,
		 (unsigned long long)granularity_ns);
	pair_set_max_learned(p, max_learned);
	pair_set_granularity(p, granularity_ns);
}

/* ---- frames ---- */

static uint32_t put_tag(struct dice *d, uint16_t tpid, uint8_t *at)
{
	static const uint16_t odd[] = { 0, 3, 4095 };
	uint16_t vid = chance(d, 80) ? roll_vid(d) : odd[roll(d, N(odd))];
	uint16_t tci = (uint16_t)(vid | (chance(d, 50) ? roll(d, 16) << 12 : 0));

	at[0] = (uint8_t)(tpid >> 8);
	at[1] = (uint8_t)tpid;
	at[2] = (uint8_t)(tci >> 8);
	at[3] = (uint8_t)tci;
	return 4;
}

static void put_mac(uint8_t *at, uint64_t mac)
{
	struct mac m = mac_from_u64(mac);

	memcpy(at, m.b, MAC_LEN);
}

static uint64_t roll_dst(struct dice *d)
{
	uint32_t n = roll(d, 100);

	if (n < 50)
		return roll_station(d);
	if (n < 62)
		return BROADCAST;
	if (n < 98)
		return groups[roll(d, N(groups))];
	return 0x0180c2000000ULL + roll(d, 16);
}

static uint64_t roll_src(struct dice *d)
{
	if (!chance(d, 4))
		return roll_station(d);
	return chance(d, 50) ? 0 : groups[roll(d, N(groups))];
}

static uint32_t roll_frame(const struct pair *p, struct dice *d, uint8_t *buf)
{
	static const uint16_t types[] = { 0x0800, 0x0800, 0x86dd, 0x86dd, 0x0806, 60 };
	static const uint8_t n_tags[] = { 0, 0, 0, 1, 1, 1, 1, 2, 2, 3 };
	uint32_t len = 12, want, l3;
	uint16_t type;

	put_mac(buf, roll_dst(d));
	put_mac(buf + 6, roll_src(d));
	for (uint32_t n = n_tags[roll(d, N(n_tags))]; n; n--) {
		bool own = chance(d, 75);
		uint16_t other = p->br.tpid == FRAME_TPID_Q ? FRAME_TPID_AD : FRAME_TPID_Q;

		len += put_tag(d, own ? p->br.tpid : other, buf + len);
	}
	type = types[roll(d, N(types))];
	buf[len] = (uint8_t)(type >> 8);
	buf[len + 1] = (uint8_t)type;
	len += 2;
	l3 = len;
	/* Around the longest that some port sends. */
	want = mtus[roll(d, N(mtus) - 1)] + 14 + 4 - 6 + roll(d, 16);
	if (chance(d, 2))
		want = mtus[N(mtus) - 1] + 12 + roll(d, 16);
	for (; len < want; len++)
		buf[len] = (uint8_t)roll64(d);
	mcast_packet(d, type, buf + l3, len - l3);
	return chance(d, 3) ? roll(d, 30) : len;
}

static void frame(struct pair *p, struct dice *d)
{
	uint8_t buf[PAIR_MAX_LEN] = { 0 };
	uint32_t len = roll_frame(p, d, buf);
	uint16_t in = roll_slot(d);
	bool gone = !p->model->port[in] && chance(d, 5);

	for (uint16_t i = 0; !gone && !p->has_port[in] && i < PAIR_PORTS; i++)
		in = (uint16_t)(1 + in % PAIR_PORTS);
	if (!gone && !p->has_port[in])
		return;
	p->now_ns += roll(d, 3) * PAIR_TICK_NS;
	if (p->say) {
		fprintf(p->say, "frame on port %u: ", in);
		refload_print_frame(p->say, buf, len);
	}
	pair_frame(p, in, buf, len);
}

/* ---- ---- */

static void wait_long(struct pair *p, struct dice *d)
{
	uint32_t ticks = roll(d, 500);

	pair_say(p, "%u ticks pass\n", ticks);
	p->now_ns += ticks * PAIR_TICK_NS;
}

static void member(struct pair *p, struct dice *d)
{
	mcast_member(p, d, &mcast_world);
}

static void clear_groups(struct pair *p, struct dice *d)
{
	mcast_clear(p, d, &mcast_world);
}

static void snooping(struct pair *p, struct dice *d)
{
	mcast_bridge(p, d, &mcast_world);
}

static void router(struct pair *p, struct dice *d)
{
	mcast_router(p, d, &mcast_world);
}

static const struct {
	uint32_t weight; /* of 1000 */
	void (*run)(struct pair *p, struct dice *d);
} kinds[] = {
	{ 30, change_port },   { 20, change_vlan }, { 10, change_vlans }, { 8, change_tree },
	{ 12, change_bridge }, { 15, come_or_go },  { 4, host_again },    { 2, remake },
	{ 8, change_mac },     { 8, tell_own },     { 40, add_entry },    { 10, del_entry },
	{ 10, flag_entry },    { 6, flush },        { 10, age },          { 5, tune },
	{ 5, wait_long },      { 60, member },      { 1, clear_groups },  { 20, snooping },
	{ 10, router },        { 1000, frame },
};

void step_run(struct pair *p, uint64_t seed)
{
	struct dice d = { seed };
	uint32_t n = roll(&d, 1000);
	size_t i = 0;

	while (n >= kinds[i].weight)
		n -= kinds[i++].weight;
	kinds[i].run(p, &d);
	pair_check_fdb(p);
	if (roll(&d, 200) == 0) {
		pair_check_groups(p);
		pair_check_view(p);
	}
	if (roll(&d, 4) == 0)
		fdb_maintain(p->fdb, p->now_ns);
}
