/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refload.h"

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
}

void refload_port(struct ref *r, uint16_t slot, const struct model_port_attr *a)
{
	struct ref_port *p = &r->port[slot];

	p->exists = a != NULL;
	if (!a)
		return;
	p->learning = a->flags & MP_LEARNING;
	p->unicast_flood = a->flags & MP_UNICAST_FLOOD;
	p->mcast_flood = a->flags & MP_MCAST_FLOOD;
	p->bcast_flood = a->flags & MP_BCAST_FLOOD;
	p->isolated = a->flags & MP_ISOLATED;
	p->hairpin = a->flags & MP_HAIRPIN;
	p->proxyarp = a->flags & MP_PROXYARP;
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
		if (p->backup)
			fprintf(to, " (%s, backup port %u)", p->is_down ? "down" : "up", p->backup);
		print_vlans(to, p);
	}
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
