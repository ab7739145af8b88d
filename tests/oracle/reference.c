/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reference.h"

#include <string.h>

#define TPID_Q  0x8100
#define TPID_AD 0x88a8

/* A frame inside the bridge: its bytes without the outermost tag, and that tag. */
struct held {
	uint8_t bytes[REF_MAX_LEN + 4];
	uint32_t len;
	bool has_tag;
	uint16_t tag_proto;
	uint16_t tag_tci;
	uint16_t vid;
	uint16_t in;
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] * 256 + p[1]);
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v / 256);
	p[1] = (uint8_t)(v % 256);
}

static uint64_t get_mac(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 6; i++)
		v = v * 256 + p[i];
	return v;
}

static bool is_group(uint64_t mac)
{
	return (mac >> 40) % 2 == 1;
}

/* ---- the table ---- */

struct ref_entry *ref_fdb_find(struct ref *r, uint64_t mac, uint16_t vid)
{
	for (uint32_t i = 0; i < r->n_entries; i++) {
		if (mac_to_u64(&r->entry[i].e.mac) == mac && r->entry[i].e.vid == vid)
			return &r->entry[i];
	}
	return NULL;
}

uint32_t ref_fdb_n_learned(const struct ref *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_entries; i++)
		n += r->entry[i].is_learned;
	return n;
}

static bool is_full(const struct ref *r)
{
	return r->n_entries >= r->max_entries || r->n_entries >= REF_ENTRIES;
}

bool ref_fdb_add(struct ref *r, const struct fdb_entry *e)
{
	struct ref_entry *old = ref_fdb_find(r, mac_to_u64(&e->mac), e->vid);

	if (!old) {
		if (is_full(r))
			return false;
		old = &r->entry[r->n_entries++];
	}
	old->e = *e;
	old->is_learned = false;
	return true;
}

void ref_fdb_del(struct ref *r, struct ref_entry *e)
{
	*e = r->entry[r->n_entries - 1];
	r->n_entries--;
}

static enum fdb_learned learn_new(struct ref *r, uint64_t mac, uint16_t vid, uint16_t port,
				  uint64_t now_ns)
{
	struct ref_entry *e = &r->entry[r->n_entries];

	if (r->max_learned && ref_fdb_n_learned(r) >= r->max_learned)
		return FDB_LIMIT;
	if (is_full(r))
		return FDB_FULL;
	e->e = (struct fdb_entry){
		.mac = mac_from_u64(mac), .vid = vid, .port = port, .seen_ns = now_ns
	};
	e->is_learned = true;
	r->n_entries++;
	return FDB_NEW;
}

/*
 * What br_fdb_add_local() enters for a device when it becomes a port and with each
 * VLAN that it joins. In this table it is not entered, but found.
 */
static bool is_devices(const struct ref *r, uint64_t mac, uint16_t vid)
{
	if (vid && r->local_vlan_0)
		return false;
	for (uint32_t i = 0; i < r->n_gone; i++) {
		if (r->gone[i] == ((uint64_t)vid << 48 | mac))
			return false;
	}
	for (uint16_t i = 1; i < REF_SLOTS; i++) {
		const struct ref_port *p = &r->port[i];

		if (p->exists && p->mac && p->mac == mac && (!vid || ref_vlan_find(p, vid)))
			return true;
	}
	return false;
}

/* br_fdb_update() */
enum fdb_learned ref_fdb_learn(struct ref *r, uint64_t mac, uint16_t vid, uint16_t port,
			       uint64_t now_ns)
{
	struct ref_entry *e = ref_fdb_find(r, mac, vid);
	bool written = false;

	if (!e && is_devices(r, mac, vid))
		return FDB_OWN;
	if (!e)
		return learn_new(r, mac, vid, port, now_ns);
	if (e->e.flags & FDB_LOCAL)
		return FDB_OWN;
	if (now_ns != e->e.seen_ns && now_ns - e->e.seen_ns >= r->granularity_ns) {
		e->e.seen_ns = now_ns;
		written = true;
	}
	if (e->e.port == port)
		return written ? FDB_REFRESHED : FDB_SAME;
	if (e->e.flags & FDB_STICKY)
		return FDB_STUCK;
	e->e.port = port;
	e->e.seen_ns = now_ns;
	e->e.flags &= (uint16_t) ~(FDB_EXTERN | FDB_LOCKED | FDB_KERNEL);
	return FDB_MOVED;
}

uint32_t ref_fdb_flush(struct ref *r, const struct fdb_filter *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_entries;) {
		const struct fdb_entry *e = &r->entry[i].e;

		if ((f->port == FDB_ANY || e->port == f->port) &&
		    (f->vid == FDB_ANY || e->vid == f->vid) && (e->flags & f->mask) == f->flags) {
			ref_fdb_del(r, &r->entry[i]);
			n++;
		} else {
			i++;
		}
	}
	return n;
}

uint32_t ref_fdb_age(struct ref *r, uint64_t now_ns, uint64_t hold_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_entries;) {
		const struct fdb_entry *e = &r->entry[i].e;
		bool stays = e->flags & (FDB_STATIC | FDB_LOCAL | FDB_EXTERN | FDB_KERNEL);

		if (!stays && e->seen_ns + hold_ns <= now_ns) {
			ref_fdb_del(r, &r->entry[i]);
			n++;
		} else {
			i++;
		}
	}
	return n;
}

/* ---- in ---- */

const struct ref_vlan *ref_vlan_find(const struct ref_port *p, uint16_t vid)
{
	for (uint32_t i = 0; i < p->n_vlans; i++) {
		if (p->vlan[i].vid == vid)
			return &p->vlan[i];
	}
	return NULL;
}

/* Bytes 12 to 15 become a tag; what was there moves back. */
static void insert_tag(uint8_t *bytes, uint32_t *len, uint16_t proto, uint16_t tci)
{
	for (uint32_t i = *len; i > 12; i--)
		bytes[i + 3] = bytes[i - 1];
	put16(bytes + 12, proto);
	put16(bytes + 14, tci);
	*len += 4;
}

/* What the stack does before the bridge: the outermost tag, of either protocol, comes off. */
static bool receive(struct held *h, const uint8_t *p, uint32_t len)
{
	h->has_tag = false;
	h->vid = 0;
	if (len < 14)
		return false;
	memcpy(h->bytes, p, len);
	h->len = len;
	if (get16(p + 12) != TPID_Q && get16(p + 12) != TPID_AD)
		return true;
	if (len < 14 + 4 + 2)
		return false;
	h->has_tag = true;
	h->tag_proto = get16(p + 12);
	h->tag_tci = get16(p + 14);
	for (uint32_t i = 16; i < len; i++)
		h->bytes[i - 4] = p[i];
	h->len = len - 4;
	return true;
}

/* __allowed_ingress(); narrows *@state to the state of the VLAN. */
static enum drop_reason vlan_ingress(const struct ref *r, struct held *h, uint8_t *state)
{
	const struct ref_port *p = &r->port[h->in];
	const struct ref_vlan *v;

	if (!r->vlan_filtering)
		return DROP_NONE;
	if (h->has_tag && h->tag_proto != r->vlan_protocol) {
		insert_tag(h->bytes, &h->len, h->tag_proto, h->tag_tci);
		h->has_tag = false;
	}
	if (!h->has_tag) {
		h->has_tag = true;
		h->tag_proto = r->vlan_protocol;
		h->tag_tci = 0;
	}
	if (h->tag_tci % 4096 == 0)
		h->tag_tci |= p->pvid;
	h->vid = h->tag_tci % 4096;
	if (h->vid == 0)
		return DROP_VLAN_INGRESS;
	v = ref_vlan_find(p, h->vid);
	if (!v)
		return DROP_VLAN_INGRESS;
	if (*state != REF_FORWARDING)
		return DROP_NONE;
	*state = v->state;
	if (*state != REF_FORWARDING && *state != REF_LEARNING)
		return DROP_VLAN_STATE;
	return DROP_NONE;
}

/* ---- out ---- */

/* Sends it, with the tag that it has or, where the VLAN @v says so, without. */
static void xmit(const struct held *h, const struct ref_vlan *v, struct ref_copy *c)
{
	c->why = DROP_NONE;
	memcpy(c->bytes, h->bytes, h->len);
	c->len = h->len;
	if (h->has_tag && !(v && v->is_untagged))
		insert_tag(c->bytes, &c->len, h->tag_proto, h->tag_tci);
}

/* should_deliver() */
static enum drop_reason should_deliver(const struct ref *r, const struct held *h, uint16_t to)
{
	const struct ref_port *p = &r->port[to];

	if (to == h->in && !p->hairpin)
		return DROP_SAME_PORT;
	if (!r->mst && p->state != REF_FORWARDING)
		return DROP_EGRESS_STATE;
	if (r->vlan_filtering) {
		const struct ref_vlan *v = ref_vlan_find(p, h->vid);

		if (!v || v->state != REF_FORWARDING)
			return DROP_EGRESS_VLAN;
	}
	if (p->isolated && r->port[h->in].isolated)
		return DROP_ISOLATED;
	return DROP_NONE;
}

/* A copy to a port that may have it, as long as it fits: the tag beside it does not count. */
static void deliver(const struct ref *r, const struct held *h, uint16_t to, struct ref_copy *c)
{
	const struct ref_port *p = &r->port[to];

	if (h->len > p->mtu + 14 + 4)
		c->why = DROP_TOO_LONG;
	else
		xmit(h, r->vlan_filtering ? ref_vlan_find(p, h->vid) : NULL, c);
}

/* br_pass_frame_up(); false if the host does not take it. */
static bool pass_up(const struct ref *r, const struct held *h, struct ref_result *out)
{
	const struct ref_vlan *v = NULL;

	if (!r->host)
		return false;
	if (r->vlan_filtering) {
		v = ref_vlan_find(&r->port[r->host], h->vid);
		if (!r->promisc && (!v || v->state != REF_FORWARDING))
			return false;
	}
	xmit(h, v, &out->copy[r->host]);
	return true;
}

static bool takes(const struct ref_port *p, uint64_t dst)
{
	if (p->proxyarp)
		return false;
	if (dst == 0xffffffffffff)
		return p->bcast_flood;
	return is_group(dst) ? p->mcast_flood : p->unicast_flood;
}

/* br_flood(), and the host's copy of it. */
static void flood(const struct ref *r, const struct held *h, uint64_t dst, struct ref_result *out)
{
	uint32_t n = 0;

	for (uint16_t i = 1; i < REF_SLOTS; i++) {
		enum drop_reason why;

		if (!r->port[i].exists || i == r->host || !takes(&r->port[i], dst))
			continue;
		why = should_deliver(r, h, i);
		if (why == DROP_EGRESS_STATE || why == DROP_EGRESS_VLAN)
			continue;
		n++;
		out->copy[i].why = why;
		if (!why)
			deliver(r, h, i, &out->copy[i]);
	}
	if (r->promisc || is_group(dst))
		n += pass_up(r, h, out);
	if (!n)
		out->drop = DROP_NO_MEMBER;
}

/* br_multicast_flood(), and the host's copy of it. */
static void by_group(const struct ref *r, const struct held *h, const struct ref_mcast *f,
		     struct ref_result *out)
{
	uint32_t n = 0;
	bool up;

	for (uint16_t i = 1; i < REF_SLOTS; i++) {
		const struct ref_port *p = &r->port[i];
		bool is_router = f->routers == REF_IPV6 ? p->router6 : p->router4;
		enum drop_reason why;

		if (!p->exists || i == r->host)
			continue;
		if (!is_router && !ref_mcast_wants(&r->mdb, f, i, false))
			continue;
		why = should_deliver(r, h, i);
		if (why == DROP_EGRESS_STATE || why == DROP_EGRESS_VLAN)
			continue;
		n++;
		out->copy[i].why = why;
		if (!why)
			deliver(r, h, i, &out->copy[i]);
	}
	up = r->promisc || r->mdb.allmulti;
	if (r->host) {
		const struct ref_port *p = &r->port[r->host];

		up = up || ref_mcast_wants(&r->mdb, f, r->host, true);
		/* br_multicast_is_router() */
		up = up || p->router_always || (f->protocol == REF_IPV4 && p->router4) ||
		     (f->protocol == REF_IPV6 && p->router6);
	}
	if (up)
		n += pass_up(r, h, out);
	if (!n)
		out->drop = DROP_NO_MEMBER;
}

static void multicast(const struct ref *r, const struct held *h, uint64_t dst,
		      struct ref_result *out)
{
	struct ref_mcast f;

	out->drop = ref_mcast_look(&r->mdb, h->bytes, h->len, h->vid, &f);
	if (out->drop)
		return;
	if (f.flooded)
		flood(r, h, dst, out);
	else
		by_group(r, h, &f, out);
}

static void unicast(struct ref *r, const struct held *h, uint64_t dst, struct ref_result *out)
{
	const struct ref_entry *e = ref_fdb_find(r, dst, h->vid);
	bool local = e ? e->e.flags & FDB_LOCAL : is_devices(r, dst, h->vid);
	enum drop_reason why;
	uint16_t to;

	if (!e && !local && h->vid && r->local_vlan_0)
		local = !ref_fdb_find(r, dst, 0) && is_devices(r, dst, 0);
	if (local) {
		if (!pass_up(r, h, out))
			out->drop = r->host ? DROP_HOST_VLAN : DROP_NO_PORT;
		return;
	}
	if (!e || !r->port[e->e.port].exists) {
		flood(r, h, dst, out);
		return;
	}
	to = e->e.port;
	/* br_forward() */
	if (r->port[to].is_down && r->port[r->port[to].backup].exists)
		to = r->port[to].backup;
	why = should_deliver(r, h, to);
	out->copy[to].why = why;
	if (!why)
		deliver(r, h, to, &out->copy[to]);
	if (r->promisc && pass_up(r, h, out))
		return;
	/* Nobody but this port could have had it. */
	if (why == DROP_EGRESS_STATE || why == DROP_EGRESS_VLAN) {
		out->copy[to].why = DROP_NONE;
		out->drop = why;
	}
}

void ref_frame(struct ref *r, uint16_t in, const uint8_t *p, uint32_t len, uint64_t now_ns,
	       struct ref_result *out)
{
	static struct held h;
	uint64_t dst, src;
	uint8_t state;

	out->drop = DROP_NONE;
	out->learned = FDB_SAME;
	for (uint16_t i = 0; i < REF_SLOTS; i++) {
		out->copy[i].why = DROP_NONE;
		out->copy[i].len = 0;
	}
	if (!r->port[in].exists)
		out->drop = DROP_DETACHED;
	else if (!receive(&h, p, len))
		out->drop = DROP_RUNT;
	if (out->drop)
		return;
	h.in = in;
	dst = get_mac(p);
	src = get_mac(p + 6);
	state = r->mst ? REF_FORWARDING : r->port[in].state;
	if (is_group(src) || src == 0)
		out->drop = DROP_SOURCE;
	else if (dst >= 0x0180c2000000 && dst <= 0x0180c200000f)
		out->drop = DROP_RESERVED;
	else if (state != REF_FORWARDING && state != REF_LEARNING)
		out->drop = DROP_STATE;
	else
		out->drop = vlan_ingress(r, &h, &state);
	if (out->drop)
		return;
	if (r->port[in].learning && r->ageing)
		out->learned = ref_fdb_learn(r, src, h.vid, in, now_ns);
	if (state == REF_LEARNING)
		out->drop = DROP_LEARNING;
	else if (dst == 0xffffffffffff)
		flood(r, &h, dst, out);
	else if (is_group(dst))
		multicast(r, &h, dst, out);
	else
		unicast(r, &h, dst, out);
}
