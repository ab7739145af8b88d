/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refload.h"

#include <arpa/inet.h>
#include <string.h>

static const char *const state_name[] = { "disabled", "listening", "learning", "forwarding",
					  "blocking" };

void refload_bridge(struct ref *r, const struct model_bridge_attr *a)
{
	r->vlan_filtering = a->filtering;
	r->vlan_protocol = a->tpid;
	r->promisc = a->promisc;
	r->mst = a->mst;
	r->ageing = a->learning;
	r->local_vlan_0 = a->local_vlan_0;
	r->host = a->host_port;
	r->mdb.snooping = a->snooping;
	r->mdb.querier4 = a->querier4;
	r->mdb.querier6 = a->querier6;
	r->mdb.igmp3 = a->igmp_v3;
	r->mdb.mld2 = a->mld_v2;
	r->mdb.allmulti = a->allmulti;
}

void refload_port(struct ref *r, uint16_t slot, const struct model_port_attr *a)
{
	struct ref_port *p = &r->port[slot];

	p->exists = a != NULL;
	if (!a) {
		ref_mdb_port_gone(&r->mdb, slot);
		return;
	}
	p->learning = a->flags & MP_LEARNING;
	p->unicast_flood = a->flags & MP_UNICAST_FLOOD;
	p->mcast_flood = a->flags & MP_MCAST_FLOOD;
	p->bcast_flood = a->flags & MP_BCAST_FLOOD;
	p->isolated = a->flags & MP_ISOLATED;
	p->hairpin = a->flags & MP_HAIRPIN;
	p->proxyarp = a->flags & MP_PROXYARP;
	p->router4 = a->flags & MP_ROUTER4;
	p->router6 = a->flags & MP_ROUTER6;
	p->router_always = a->flags & MP_ROUTER_L2;
	p->is_down = a->flags & MP_DOWN;
	p->backup = a->backup;
	p->state = a->state;
	p->pvid = a->pvid;
	p->mtu = a->mtu;
	p->n_vlans = 0;
	for (uint16_t vid = 1; vid <= VID_MAX; vid++) {
		uint8_t mv = a->vlan[vid];

		if (mv & MV_MEMBER)
			p->vlan[p->n_vlans++] = (struct ref_vlan){ .vid = vid,
								   .is_untagged = mv & MV_UNTAGGED,
								   .state = MV_STATE_OF(mv) };
	}
}

static struct ref_entry_name entry_name(const struct mdb_key *k)
{
	struct ref_entry_name n = { .vid = k->vid };

	n.protocol = k->family == MDB_IP4   ? REF_IPV4
		     : k->family == MDB_IP6 ? REF_IPV6
					    : REF_ETHERNET;
	memcpy(n.group, k->group, sizeof(n.group));
	memcpy(n.source, k->source, sizeof(n.source));
	return n;
}

bool refload_member(struct ref *r, const struct mdb_key *k, uint16_t slot, uint8_t flags)
{
	struct ref_member e = { .of = entry_name(k),
				.port = slot,
				.include = flags & MDB_INCLUDE,
				.blocked = flags & MDB_BLOCKED };

	return flags ? ref_mdb_set(&r->mdb, &e) : ref_mdb_del(&r->mdb, &e.of, slot);
}

static void print_address(FILE *to, int protocol, const uint8_t *p)
{
	char text[INET6_ADDRSTRLEN];
	struct mac mac;

	memcpy(mac.b, p, MAC_LEN);
	if (protocol == REF_ETHERNET)
		fputs(mac_format(&mac, text), to);
	else
		fputs(inet_ntop(protocol == REF_IPV6 ? AF_INET6 : AF_INET, p, text, sizeof(text)),
		      to);
}

static void print_mdb(FILE *to, const struct ref_mdb *m)
{
	if (m->snooping)
		fprintf(to, "snooping%s%s%s%s%s\n", m->querier4 ? ", querier4" : "",
			m->querier6 ? ", querier6" : "", m->igmp3 ? ", igmp3" : "",
			m->mld2 ? ", mld2" : "", m->allmulti ? ", allmulti" : "");
	for (uint32_t i = 0; i < m->n_members; i++) {
		const struct ref_member *e = &m->member[i];

		fprintf(to, "group ");
		print_address(to, e->of.protocol, e->of.group);
		fputs(" from ", to);
		print_address(to, e->of.protocol, e->of.source);
		fprintf(to, " vlan %u: slot %u%s%s\n", e->of.vid, e->port,
			e->include ? " include" : "", e->blocked ? " blocked" : "");
	}
}

static void print_vlans(FILE *to, const struct ref_port *p)
{
	for (uint32_t i = 0; i < p->n_vlans; i++) {
		const struct ref_vlan *v = &p->vlan[i];

		fprintf(to, " %u%s%s%s%s", v->vid, v->vid == p->pvid ? "(pvid)" : "",
			v->is_untagged ? "(untagged)" : "", v->state == REF_FORWARDING ? "" : "=",
			v->state == REF_FORWARDING ? "" : state_name[v->state]);
	}
	fputc('\n', to);
}

void refload_print_entry(FILE *to, const struct fdb_entry *e)
{
	static const char *const name[] = { " local",  " static", " sticky", " extern",
					    " kernel", " user",   " locked" };
	char mac[MAC_STR_SIZE];

	fprintf(to, "%s vlan %u port %u", mac_format(&e->mac, mac), e->vid, e->port);
	for (unsigned int i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		fputs((e->flags & 1U << i) ? name[i] : "", to);
	fprintf(to, " seen %llu ms\n", (unsigned long long)(e->seen_ns >> 20));
}

void refload_print(FILE *to, const struct ref *r)
{
	fprintf(to, "bridge: vlan_filtering %s, protocol %04x%s%s%s%s\n",
		r->vlan_filtering ? "on" : "off", r->vlan_protocol, r->promisc ? ", promisc" : "",
		r->mst ? ", mst" : "", r->ageing ? "" : ", ageing time 0",
		r->local_vlan_0 ? ", fdb_local_vlan_0" : "");
	for (uint16_t i = 1; i < REF_SLOTS; i++) {
		const struct ref_port *p = &r->port[i];

		if (!p->exists)
			continue;
		if (i == r->host)
			fprintf(to, "host (slot %u): vlans", i);
		else
			fprintf(to, "port %u: %s, mtu %u%s%s%s%s%s%s%s, vlans", i,
				state_name[p->state], p->mtu, p->learning ? "" : ", no learning",
				p->unicast_flood ? "" : ", no unicast flood",
				p->mcast_flood ? "" : ", no mcast flood",
				p->bcast_flood ? "" : ", no bcast flood",
				p->isolated ? ", isolated" : "", p->hairpin ? ", hairpin" : "",
				p->proxyarp ? ", proxyarp" : "");
		fprintf(to, "%s%s%s,", p->router4 ? ", router4" : "", p->router6 ? ", router6" : "",
			p->router_always ? ", router" : "");
		if (p->backup)
			fprintf(to, " (%s, backup port %u)", p->is_down ? "down" : "up", p->backup);
		print_vlans(to, p);
	}
	print_mdb(to, &r->mdb);
	for (uint32_t i = 0; i < r->n_entries; i++) {
		fputs("fdb: ", to);
		refload_print_entry(to, &r->entry[i].e);
	}
}

static bool is_tpid(const uint8_t *p)
{
	return (p[0] == 0x81 && p[1] == 0) || (p[0] == 0x88 && p[1] == 0xa8);
}

void refload_print_frame(FILE *to, const uint8_t *p, uint32_t len)
{
	struct mac dst, src;
	char a[MAC_STR_SIZE], b[MAC_STR_SIZE];
	uint32_t at = 12;

	if (len < 14) {
		fprintf(to, "%u bytes\n", len);
		return;
	}
	memcpy(dst.b, p, MAC_LEN);
	memcpy(src.b, p + MAC_LEN, MAC_LEN);
	fprintf(to, "%s > %s", mac_format(&src, a), mac_format(&dst, b));
	for (; at + 4 <= len && is_tpid(p + at); at += 4) {
		unsigned int tci = p[at + 2] * 256U + p[at + 3];

		fprintf(to, ", %02x%02x vlan %u prio %u%s", p[at], p[at + 1], tci & 0xfff,
			tci >> 13, tci & 0x1000 ? " dei" : "");
	}
	fputs(", then", to);
	for (uint32_t i = at; i < len && i < at + 8; i++)
		fprintf(to, " %02x", p[i]);
	fprintf(to, "%s (%u bytes)\n", len > at + 8 ? " ..." : "", len);
}
