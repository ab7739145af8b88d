/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refmcast.h"

#include <string.h>

/* ---- the database ---- */

static bool is_same(const struct ref_entry_name *a, const struct ref_entry_name *b)
{
	return a->vid == b->vid && a->protocol == b->protocol && !memcmp(a->group, b->group, 16) &&
	       !memcmp(a->source, b->source, 16);
}

static struct ref_member *find_member(struct ref_mdb *m, const struct ref_entry_name *of,
				      uint16_t port)
{
	for (uint32_t i = 0; i < m->n_members; i++) {
		if (m->member[i].port == port && is_same(&m->member[i].of, of))
			return &m->member[i];
	}
	return NULL;
}

bool ref_mdb_set(struct ref_mdb *m, const struct ref_member *e)
{
	struct ref_member *old = find_member(m, &e->of, e->port);

	if (!old) {
		if (m->n_members == REF_MEMBERS)
			return false;
		old = &m->member[m->n_members++];
	}
	*old = *e;
	return true;
}

bool ref_mdb_del(struct ref_mdb *m, const struct ref_entry_name *of, uint16_t port)
{
	struct ref_member *old = find_member(m, of, port);

	if (old)
		*old = m->member[--m->n_members];
	return old;
}

void ref_mdb_port_gone(struct ref_mdb *m, uint16_t port)
{
	for (uint32_t i = 0; i < m->n_members;) {
		if (m->member[i].port == port)
			m->member[i] = m->member[--m->n_members];
		else
			i++;
	}
}

/* br_mdb_ip_get() */
static bool has_entry(const struct ref_mdb *m, const struct ref_entry_name *name)
{
	for (uint32_t i = 0; i < m->n_members; i++) {
		if (is_same(&m->member[i].of, name))
			return true;
	}
	return false;
}

/* ---- the frame ---- */

static unsigned int two_bytes(const uint8_t *p)
{
	return p[0] * 256U + p[1];
}

/* ip_fast_csum() of a header that carries its checksum: 0 when that is right. */
static unsigned int header_sum(const uint8_t *p, unsigned int n_words)
{
	unsigned long long sum = 0;

	for (unsigned int i = 0; i < 2 * n_words; i++)
		sum += two_bytes(p + 2UL * i);
	while (sum > 0xffff)
		sum = sum % 0x10000 + sum / 0x10000;
	return 0xffff - (unsigned int)sum;
}

/* ip_mc_check_iphdr(), and of ip_mc_check_igmp() and its callers what is not IGMP. */
static enum drop_reason look_v4(const uint8_t *ip, uint32_t len, bool *mrouters_only)
{
	unsigned int ihl, tot_len;

	if (len < 20)
		return DROP_MCAST_BAD;
	ihl = ip[0] % 16;
	if (ip[0] / 16 != 4 || ihl < 5)
		return DROP_MCAST_BAD;
	if (len < 4 * ihl)
		return DROP_MCAST_BAD;
	if (header_sum(ip, ihl))
		return DROP_MCAST_BAD;
	tot_len = two_bytes(ip + 2);
	if (len < tot_len || tot_len < 4 * ihl)
		return DROP_MCAST_BAD;
	/* IGMP, and PIM hellos, which make router ports. */
	if (ip[9] == 2 || ip[9] == 103)
		return DROP_MCAST_CONTROL;
	*mrouters_only = !(ip[16] == 224 && ip[17] == 0 && ip[18] == 0);
	return DROP_NONE;
}

/* ipv6_mc_check_ip6hdr(), and of the rest what has no hop-by-hop header. */
static enum drop_reason look_v6(const uint8_t *ip, uint32_t len, bool *mrouters_only)
{
	bool all_nodes = true;

	if (len < 40)
		return DROP_MCAST_BAD;
	if (ip[0] / 16 != 6)
		return DROP_MCAST_BAD;
	if (len < 40 + two_bytes(ip + 4) || two_bytes(ip + 4) == 0)
		return DROP_MCAST_BAD;
	if (ip[6] == 0)
		return DROP_MCAST_CONTROL;
	for (int i = 0; i < 16; i++) {
		uint8_t want = i == 0 ? 0xff : i == 1 ? 2 : i == 15 ? 1 : 0;

		all_nodes = all_nodes && ip[24 + i] == want;
	}
	*mrouters_only = !all_nodes;
	return DROP_NONE;
}

/* br_mdb_entry_skb_get() */
static void find_entry(const struct ref_mdb *m, const uint8_t *p, struct ref_mcast *f)
{
	struct ref_entry_name *e = &f->entry;

	if (f->protocol == REF_IPV4) {
		memcpy(e->group, p + 14 + 16, 4);
		memcpy(e->source, p + 14 + 12, 4);
	} else if (f->protocol == REF_IPV6) {
		memcpy(e->group, p + 14 + 24, 16);
		memcpy(e->source, p + 14 + 8, 16);
	} else {
		memcpy(e->group, p, 6);
	}
	if ((f->protocol == REF_IPV4 && m->igmp3) || (f->protocol == REF_IPV6 && m->mld2)) {
		f->has_entry = has_entry(m, e);
		if (f->has_entry)
			return;
	}
	memset(e->source, 0, 16);
	f->has_entry = has_entry(m, e);
}

/* br_multicast_querier_exists() */
static bool querier_exists(const struct ref_mdb *m, const struct ref_mcast *f)
{
	if (f->protocol == REF_IPV4)
		return m->querier4;
	if (f->protocol == REF_IPV6)
		return m->querier6;
	return f->has_entry;
}

enum drop_reason ref_mcast_look(const struct ref_mdb *m, const uint8_t *p, uint32_t len,
				uint16_t vid, struct ref_mcast *f)
{
	enum drop_reason why = DROP_NONE;
	bool mrouters_only = false;
	unsigned int type = two_bytes(p + 12);

	memset(f, 0, sizeof(*f));
	f->flooded = true;
	if (!m->snooping)
		return DROP_NONE;
	f->protocol = type == 0x0800 ? REF_IPV4 : type == 0x86dd ? REF_IPV6 : REF_ETHERNET;
	if (f->protocol == REF_IPV4)
		why = look_v4(p + 14, len - 14, &mrouters_only);
	else if (f->protocol == REF_IPV6)
		why = look_v6(p + 14, len - 14, &mrouters_only);
	if (why)
		return why;
	f->entry.vid = vid;
	f->entry.protocol = f->protocol;
	find_entry(m, p, f);
	if ((f->has_entry || mrouters_only) && querier_exists(m, f))
		f->flooded = false;
	f->routers = f->protocol == REF_IPV6 ? REF_IPV6 : REF_IPV4;
	return DROP_NONE;
}

bool ref_mcast_wants(const struct ref_mdb *m, const struct ref_mcast *f, uint16_t port,
		     bool is_host)
{
	static const uint8_t any[16];
	bool modes = (f->protocol == REF_IPV4 && m->igmp3) || (f->protocol == REF_IPV6 && m->mld2);
	bool star = !memcmp(f->entry.source, any, 16);

	for (uint32_t i = 0; f->has_entry && i < m->n_members; i++) {
		const struct ref_member *e = &m->member[i];

		if (e->port != port || !is_same(&e->of, &f->entry))
			continue;
		return is_host || !(e->blocked || (modes && star && e->include));
	}
	return false;
}
