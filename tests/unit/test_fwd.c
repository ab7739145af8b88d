/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rig.h"

#include <stdio.h>
#include <string.h>

#define S         1000000000ULL
#define MAX_STEPS 4

/* What happens to one frame, and where the station is afterwards. */
struct step {
	uint16_t in;
	const char *frame;
	const char *want;      /* as rig_expect() */
	enum drop_reason drop; /* of the frame */
	const char *where;     /* "STATION VID SLOT", SLOT -1: not in the FDB; NULL: any */
};

struct row {
	const char *name;
	const char *bridge;
	struct step step[MAX_STEPS];
};

static void check_where(const char *name, const struct rig *r, const char *where)
{
	unsigned int station, vid;
	int slot;

	if (!where)
		return;
	assert_int_equal(sscanf(where, "%x %u %d", &station, &vid, &slot), 3);
	if (rig_where(r, station, (uint16_t)vid) != slot)
		fail_msg("%s: station %02x in VLAN %u is at %d, want %d", name, station, vid,
			 rig_where(r, station, (uint16_t)vid), slot);
}

static void check(const struct row *rows, size_t n)
{
	static struct rig_out out;

	for (size_t i = 0; i < n; i++) {
		struct rig r;

		rig_open(&r, rows[i].bridge);
		for (size_t j = 0; j < MAX_STEPS && rows[i].step[j].frame; j++) {
			const struct step *s = &rows[i].step[j];
			char name[128];

			snprintf(name, sizeof(name), "%s (frame %zu)", rows[i].name, j + 1);
			rig_put(&r, s->in, s->frame, (j + 1) * 10 * S, &out);
			rig_expect(name, s->frame, s->want, &out);
			if (out.verdict.drop != s->drop)
				fail_msg("%s: verdict %s, want %s", name,
					 drop_name(out.verdict.drop), drop_name(s->drop));
			check_where(name, &r, s->where);
		}
		rig_close(&r);
	}
}

/* p1: 10 pvid untagged, 20; p2: 10, 20; p3: 20 pvid untagged, 10 untagged; p4: none. */
#define VLANS "1 10pu 20; 2 10 20; 3 20pu 10u; 4; h 10"
#define BR    "br filter; " VLANS
#define BR_AD "br filter ad; " VLANS
#define FLAT  "br; 1; 2; 3; h"

#define INGRESS    DROP_VLAN_INGRESS
#define VLAN_STATE DROP_VLAN_STATE

/* clang-format off */
static void tag_and_pvid_choose_the_vlan(void **state)
{
	static const struct row rows[] = {
		{ "untagged takes the PVID", BR,
		  { { 1, "ff<01", "2:q10 3: h:q10", 0, "01 10 1" } } },
		{ "priority tag takes the PVID and keeps priority and DEI", BR,
		  { { 1, "ff<01 q0.5d", "2:q10.5d 3: h:q10.5d", 0, "01 10 1" } } },
		{ "tagged member", BR,
		  { { 1, "ff<01 q20", "2:q20 3:", 0, "01 20 1" } } },
		{ "tagged with the PVID", BR,
		  { { 1, "ff<01 q10", "2:q10 3: h:q10", 0, "01 10 1" } } },
		{ "tagged non-member teaches nothing", BR,
		  { { 1, "ff<01 q30", "", INGRESS, "01 30 -1" } } },
		{ "VID 4095 is nobody's", BR, { { 1, "ff<01 q4095", "", INGRESS } } },
		{ "no PVID, untagged", BR, { { 2, "ff<02", "", INGRESS, "02 0 -1" } } },
		{ "no PVID, priority tag", BR, { { 2, "ff<02 q0.3", "", INGRESS } } },
		{ "no PVID, tagged", BR, { { 2, "ff<02 q10", "1: 3: h:q10", 0, "02 10 2" } } },
		{ "port without VLANs", BR, { { 4, "ff<04 q10", "", INGRESS } } },
		{ "PVID without its VLAN", "br filter; 1 10p; 2 10",
		  { { 1, "ff<01", "2:q10" } } },
		{ "inner tag is payload", BR,
		  { { 1, "ff<01 q10,q20", "2:q10,q20 3:q20 h:q10,q20" } } },
		{ "tag of the other protocol is payload", BR,
		  { { 1, "ff<01 a20", "2:q10,a20 3:a20 h:q10,a20", 0, "01 10 1" } } },
		{ "inner tag of the other protocol", BR,
		  { { 1, "ff<01 q20,a30", "2:q20,a30 3:a30", 0, "01 20 1" } } },
		{ "other protocol, no PVID", BR, { { 2, "ff<02 a10", "", INGRESS } } },
		{ "802.1ad takes its own tags", BR_AD,
		  { { 1, "ff<01 a20.7", "2:a20.7 3:", 0, "01 20 1" } } },
		{ "802.1ad pushes its own outside", BR_AD,
		  { { 1, "ff<01 q20", "2:a10,q20 3:q20 h:a10,q20", 0, "01 10 1" } } },
		{ "802.1ad priority tag", BR_AD,
		  { { 1, "ff<01 a0.2", "2:a10.2 3: h:a10.2" } } },
		{ "not filtering: tags are payload", FLAT,
		  { { 1, "ff<01 q30.3,a5", "2:q30.3,a5 3:q30.3,a5 h:q30.3,a5", 0, "01 0 1" } } },
		{ "not filtering: VID 4095 is payload too", FLAT,
		  { { 1, "ff<01 q4095", "2:q4095 3:q4095 h:q4095" } } },
		{ "not filtering: configured VLANs do not count", "br; " VLANS,
		  { { 4, "ff<04 q77", "1:q77 2:q77 3:q77 h:q77", 0, "04 0 4" } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}

static void egress_has_the_form_of_each_port(void **state)
{
	static const struct row rows[] = {
		{ "tagged to untagged and tagged", BR,
		  { { 2, "99<02 q20.6d", "1:q20.6d 3:" } } },
		{ "untagged stays untagged", "br filter; 1 10pu; 2 10pu; h 10u",
		  { { 1, "ff<01", "2: h:" } } },
		{ "known unicast, tagged out", BR,
		  { { 2, "ff<02 q10", "1: 3: h:q10" }, { 1, "02<01", "2:q10" } } },
		{ "known unicast, untagged out", BR,
		  { { 1, "ff<01 q20", "2:q20 3:" }, { 2, "01<02 q20.4", "1:q20.4" },
		    { 3, "ff<03", "1:q20 2:q20" }, { 2, "03<02 q20.4", "3:" } } },
		{ "learned untagged, found tagged", BR,
		  { { 1, "ff<01", "2:q10 3: h:q10" }, { 2, "01<02 q10.1", "1:" } } },
		{ "each VLAN has its own entry", BR,
		  { { 1, "ff<01 q10", "2:q10 3: h:q10" }, { 2, "01<02 q20", "1:q20 3:" } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}

static void states_allow_to_learn_and_to_forward(void **state)
{
	static const struct row rows[] = {
		{ "disabled", "br; 1 state=0; 2; h", { { 1, "ff<01", "", DROP_STATE, "01 0 -1" } } },
		{ "listening", "br; 1 state=1; 2; h", { { 1, "ff<01", "", DROP_STATE, "01 0 -1" } } },
		{ "learning", "br; 1 state=2; 2; h", { { 1, "ff<01", "", DROP_LEARNING, "01 0 1" } } },
		{ "blocking", "br; 1 state=4; 2; h", { { 1, "ff<01", "", DROP_STATE, "01 0 -1" } } },
		{ "only forwarding ports are flooded", "br; 1; 2 state=0; 3 state=1; 4 state=2; 5 state=4; 6; h",
		  { { 1, "ff<01", "6: h:" }, { 1, "99<01", "6:" } } },
		{ "known unicast to a blocked port is not flooded",
		  "br; 1; 2 state=4; 3; h; fdb 02 0 2",
		  { { 1, "02<01", "", DROP_EGRESS_STATE } } },
		{ "known unicast to a learning port", "br; 1; 2 state=2; 3; h; fdb 02 0 2",
		  { { 1, "02<01", "", DROP_EGRESS_STATE } } },
		{ "VLAN blocked at ingress", "br filter; 1 10=4 20; 2 10 20; h 10 20",
		  { { 1, "ff<01 q10", "", VLAN_STATE, "01 10 -1" },
		    { 1, "ff<01 q20", "2:q20 h:q20", 0, "01 20 1" } } },
		{ "VLAN disabled at ingress", "br filter; 1 10=0; 2 10; h 10",
		  { { 1, "ff<01 q10", "", VLAN_STATE, "01 10 -1" } } },
		{ "VLAN listening at ingress", "br filter; 1 10=1; 2 10; h 10",
		  { { 1, "ff<01 q10", "", VLAN_STATE, "01 10 -1" } } },
		{ "VLAN learning at ingress", "br filter; 1 10=2; 2 10; h 10",
		  { { 1, "ff<01 q10", "", DROP_LEARNING, "01 10 1" } } },
		{ "PVID's state counts for untagged frames", "br filter; 1 10pu=4; 2 10; h 10",
		  { { 1, "ff<01", "", VLAN_STATE, "01 10 -1" } } },
		{ "VLAN not forwarding at egress",
		  "br filter; 1 10; 2 10=4; 3 10=2; 4 10=1; 5 10=0; 6 10; fdb 02 10 2",
		  { { 1, "ff<01 q10", "6:q10" }, { 1, "02<01 q10", "", DROP_EGRESS_VLAN } } },
		{ "learning port ignores the state of its VLAN", "br filter; 1 10=4 state=2; 2 10",
		  { { 1, "ff<01 q10", "", DROP_LEARNING, "01 10 1" } } },
		{ "MST: the port's state does not count",
		  "br filter mst; 1 10 20=4 state=4; 2 10 20 state=0; h 10",
		  { { 1, "ff<01 q10", "2:q10 h:q10", 0, "01 10 1" },
		    { 1, "ff<01 q20", "", VLAN_STATE, "01 20 -1" } } },
		{ "MST: the VLAN's does, at egress too",
		  "br filter mst; 1 10; 2 10=4 state=3; 3 10=2; h 10; fdb 02 10 2",
		  { { 1, "ff<01 q10", "h:q10" }, { 1, "02<01 q10", "", DROP_EGRESS_VLAN } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}

static void flags_choose_who_is_flooded(void **state)
{
	static const struct row rows[] = {
		{ "flood off", "br; 1; 2 -flood; 3; h",
		  { { 1, "99<01", "3:" }, { 1, "ff<01", "2: 3: h:" }, { 1, "mc<01", "2: 3: h:" } } },
		{ "mcast_flood off", "br; 1; 2 -mcast; 3; h",
		  { { 1, "99<01", "2: 3:" }, { 1, "ff<01", "2: 3: h:" }, { 1, "mc<01", "3: h:" } } },
		{ "bcast_flood off", "br; 1; 2 -bcast; 3; h",
		  { { 1, "99<01", "2: 3:" }, { 1, "ff<01", "3: h:" }, { 1, "mc<01", "2: 3: h:" } } },
		{ "proxyarp takes part in no flood", "br; 1; 2 proxyarp; 3; h",
		  { { 1, "99<01", "3:" }, { 1, "ff<01", "3: h:" }, { 1, "mc<01", "3: h:" } } },
		{ "flags do not count for known unicast", "br; 1; 2 -flood -mcast -bcast proxyarp; fdb 02 0 2",
		  { { 1, "02<01", "2:" } } },
		{ "unknown unicast is not for the host", FLAT, { { 1, "99<01", "2: 3:" } } },
		{ "isolated to isolated", "br; 1 isolated; 2 isolated; 3; h; fdb 02 0 2; fdb 03 0 3",
		  { { 1, "ff<01", "3: h:" }, { 3, "ff<03", "1: 2: h:" },
		    { 1, "02<01", "" }, { 1, "03<01", "3:" } } },
		{ "not isolated to isolated", "br; 1; 2 isolated; fdb 02 0 2", { { 1, "02<01", "2:" } } },
		{ "hairpin", "br; 1 hairpin; 2; h",
		  { { 1, "ff<01", "1: 2: h:" }, { 1, "99<01", "1: 2:" }, { 1, "01<02", "1:" },
		    { 2, "ff<02", "1: h:" } } },
		{ "hairpin of an isolated port", "br; 1 hairpin isolated; 2", { { 1, "ff<01", "2:" } } },
		{ "known unicast to its own port", "br; 1; 2; fdb 02 0 1", { { 1, "02<01", "" } } },
		{ "nobody else", "br filter; 1 10; 2 20; h 20",
		  { { 1, "99<01 q10", "", 0, "01 10 1" } } },
		{ "nobody takes the class", "br; 1 -flood; 2 -flood; h",
		  { { 1, "99<01", "", DROP_NO_MEMBER, "01 0 1" } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}

static void known_unicast_goes_to_a_member_only(void **state)
{
	static const struct row rows[] = {
		{ "static entry of a VLAN that the port has left", "br filter; 1 10; 2 20; 3 10; fdb 02 10 2 static",
		  { { 1, "02<01 q10", "", DROP_EGRESS_VLAN } } },
		{ "the port's state is looked at before its VLAN", "br filter; 1 10; 2 20 state=4; fdb 02 10 2 static",
		  { { 1, "02<01 q10", "", DROP_EGRESS_STATE } } },
		{ "entry of a port that has gone", "br filter; 1 10; 3 10; fdb 02 10 2 static",
		  { { 1, "02<01 q10", "3:q10" } } },
		{ "entry of VLAN 0 while filtering", "br filter; 1 10; 2 10; 3 10; fdb 02 0 2 static",
		  { { 1, "02<01 q10", "2:q10 3:q10" } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}

static void a_port_that_is_down_has_its_backup_port_take_over(void **state)
{
	static const struct row rows[] = {
		{ "known unicast", "br; 1; 2 down state=0 backup=3; 3; fdb 02 0 2",
		  { { 1, "02<01", "3:" } } },
		{ "not while the port is up", "br; 1; 2 backup=3; 3; fdb 02 0 2", { { 1, "02<01", "2:" } } },
		{ "no floods", "br; 1; 2 down state=0 backup=3; 3 -flood -bcast -mcast; h",
		  { { 1, "99<01", "" }, { 1, "ff<01", "h:" }, { 1, "mc<01", "h:" } } },
		{ "the backup port's state", "br; 1; 2 down state=0 backup=3; 3 state=4; fdb 02 0 2",
		  { { 1, "02<01", "", DROP_EGRESS_STATE } } },
		{ "the backup port's VLANs and tags",
		  "br filter; 1 10 20 30; 2 10 20 30 down state=0 backup=3; 3 10u 30=4; fdb 02 10 2; fdb 02 20 2; fdb 02 30 2",
		  { { 1, "02<01 q10", "3:" }, { 1, "02<01 q20", "", DROP_EGRESS_VLAN },
		    { 1, "02<01 q30", "", DROP_EGRESS_VLAN } } },
		{ "the backup port's isolation", "br; 1 isolated; 2 down state=0 backup=3; 3 isolated; 4; fdb 02 0 2",
		  { { 1, "02<01", "" }, { 4, "02<04", "3:" } } },
		{ "not that of the port", "br; 1 isolated; 2 down isolated state=0 backup=3; 3; fdb 02 0 2",
		  { { 1, "02<01", "3:" } } },
		{ "the backup port's MTU", "br; 1; 2 down mtu=100 state=0 backup=3; 3; fdb 02 0 2",
		  { { 1, "02<01 +1454", "3:" }, { 1, "02<01 +1455", "" } } },
		{ "not back to the backup port", "br; 1; 2 down state=0 backup=3; 3; fdb 02 0 2",
		  { { 3, "02<03", "" } } },
		{ "but with hairpin", "br; 1; 2 down state=0 backup=3; 3 hairpin; fdb 02 0 2",
		  { { 3, "02<03", "3:" } } },
		{ "back to the ingress port's own backup", "br; 1 down backup=2; 2; fdb 02 0 1", { { 1, "02<01", "2:" } } },
		{ "the backup of the backup does not count",
		  "br; 1; 2 down state=0 backup=3; 3 down state=0 backup=4; 4; fdb 02 0 2",
		  { { 1, "02<01", "", DROP_EGRESS_STATE } } },
		{ "MST leaves the port forwarding", "br filter mst; 1 10; 2 10 down backup=3; 3 10; fdb 02 10 2",
		  { { 1, "02<01 q10", "3:q10" } } },
		{ "a backup port that has gone", "br; 1; 2 down state=0 backup=5; 3; fdb 02 0 2",
		  { { 1, "02<01", "", DROP_EGRESS_STATE } } },
		{ "a promiscuous host as well", "br promisc; 1; 2 down state=0 backup=3; 3; h; fdb 02 0 2",
		  { { 1, "02<01", "3: h:" } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}

static void the_host_takes_what_is_its_own(void **state)
{
	static const struct row rows[] = {
		{ "local hit", FLAT "; fdb b0 0 9 local", { { 1, "b0<01", "h:" } } },
		{ "local entry of a port", FLAT "; fdb b1 0 2 local", { { 1, "b1<01", "h:" } } },
		{ "local hit, host in the VLAN", BR "; fdb b0 10 9 local", { { 1, "b0<01", "h:q10" } } },
		{ "local hit, host untagged", "br filter; 1 10; 2 10; h 10u; fdb b0 10 9 local",
		  { { 1, "b0<01 q10", "h:" } } },
		{ "local hit, host not in the VLAN: not flooded", BR "; fdb b0 20 9 local",
		  { { 1, "b0<01 q20", "", DROP_HOST_VLAN } } },
		{ "local hit, no host port", "br; 1; 2; fdb b0 0 9 local", { { 1, "b0<01", "", DROP_NO_PORT } } },
		{ "local hit without an entry in this VLAN", BR "; fdb b0 10 9 local",
		  { { 1, "b0<01 q20", "2:q20 3:" } } },
		{ "fdb_local_vlan_0: what the user added is of VLAN 0 alone", "br filter local0; 1 10; 2 10; h 10; fdb b0 0 9 local user",
		  { { 1, "b0<01 q10", "2:q10" } } },
		{ "fdb_local_vlan_0: VLAN 0 has the host's addresses", "br filter local0; 1 10 20; 2 10 20; h 10 mac=b0; fdb 02 0 2",
		  { { 1, "b0<01 q10", "h:q10" }, { 1, "b0<01 q20", "", DROP_HOST_VLAN },
		    { 1, "02<01 q10", "2:q10" } } },
		{ "fdb_local_vlan_0: a static entry of the VLAN comes first", "br filter local0; 1 10; 2 10; h 10 mac=b0; fdb b0 10 2 static",
		  { { 1, "b0<01 q10", "2:q10" } } },
		{ "fdb_local_vlan_0: another entry in VLAN 0 hides the host's", "br filter local0; 1 10; 2 10; h 10 mac=b0; fdb b0 0 2 static",
		  { { 1, "b0<01 q10", "2:q10" } } },
		{ "fdb_local_vlan_0: the entry of VLAN 0 was removed", "br filter local0; 1 10; 2 10; h 10 mac=b0; gone b0 0",
		  { { 1, "b0<01 q10", "2:q10" } } },
		{ "br0's address is local where br0 is, a port's where the port is", BR " mac=b0; 4 20 mac=b4",
		  { { 1, "b0<01 q10", "h:q10" }, { 1, "b0<01 q20", "2:q20 3: 4:q20" },
		    { 1, "b4<01 q10", "2:q10 3:" }, { 1, "b4<01 q20", "", DROP_HOST_VLAN } } },
		{ "an address of two devices is local where either is", BR " mac=b0; 4 20 mac=b0",
		  { { 1, "b0<01 q10", "h:q10" }, { 1, "b0<01 q20", "", DROP_HOST_VLAN } } },
		{ "without filtering an own address is local", "br; 1 mac=b1; 2; h",
		  { { 2, "b1<02", "h:" } } },
		{ "an entry that the kernel lacks", BR " mac=b0; gone b0 10",
		  { { 1, "b0<01 q10", "2:q10 3:" } } },
		{ "VLAN blocked at the host", "br filter; 1 10; 2 10; h 10=4; fdb b0 10 9 local",
		  { { 1, "ff<01 q10", "2:q10" }, { 1, "b0<01 q10", "", DROP_HOST_VLAN } } },
		{ "promiscuous: known unicast too", "br promisc; 1; 2; 3; h; fdb 02 0 2",
		  { { 1, "02<01", "2: h:" }, { 1, "99<01", "2: 3: h:" } } },
		{ "promiscuous: local hit once", "br promisc; 1; 2; h; fdb b0 0 9 local", { { 1, "b0<01", "h:" } } },
		{ "promiscuous: known on the same port", "br promisc; 1; 2; h; fdb 02 0 1", { { 1, "02<01", "h:" } } },
		{ "promiscuous: known on a blocked port", "br promisc; 1; 2 state=4; h; fdb 02 0 2",
		  { { 1, "02<01", "h:" } } },
		{ "promiscuous, not a member: the tag stays", "br filter promisc; 1 10 20; 2 10 20u; h 10u; fdb 02 20 2",
		  { { 1, "ff<01 q20.3", "2: h:q20.3" }, { 1, "02<01 q20", "2: h:q20" },
		    { 1, "ff<01 q10", "2:q10 h:" } } },
		{ "promiscuous: nothing that ingress drops", "br filter promisc; 1 10; 2 10; h 10",
		  { { 1, "ff<01 q20", "", INGRESS } } },
		{ "promiscuous: also without another member", "br filter promisc; 1 10; 2 20; h",
		  { { 1, "99<01 q10", "h:q10" } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}

static void sources_teach_as_their_entry_allows(void **state)
{
	static const struct row rows[] = {
		{ "a station moves", FLAT,
		  { { 1, "ff<01", "2: 3: h:", 0, "01 0 1" }, { 3, "ff<01", "1: 2: h:", 0, "01 0 3" },
		    { 2, "01<02", "3:" } } },
		{ "it moves in one VLAN only", "br filter; 1 10 20; 2 10 20; fdb 01 10 1; fdb 01 20 1",
		  { { 2, "ff<01 q20", "1:q20", 0, "01 20 2" }, { 2, "ff<09 q20", "1:q20", 0, "01 10 1" } } },
		{ "static entries move", FLAT "; fdb 01 0 1 static", { { 3, "ff<01", "1: 2: h:", 0, "01 0 3" } } },
		{ "sticky ones do not, and the frame goes on", FLAT "; fdb 01 0 1 static sticky",
		  { { 3, "ff<01", "1: 2: h:", 0, "01 0 1" } } },
		{ "extern_learn moves", FLAT "; fdb 01 0 1 extern", { { 3, "ff<01", "1: 2: h:", 0, "01 0 3" } } },
		{ "the host's own source is forwarded and does not move", FLAT "; fdb b0 0 9 local",
		  { { 1, "ff<b0", "2: 3: h:", 0, "b0 0 9" } } },
		{ "learning off: not learned", "br; 1 -learn; 2; h", { { 1, "ff<01", "2: h:", 0, "01 0 -1" } } },
		{ "learning off: not moved", "br; 1; 2 -learn; h; fdb 01 0 1",
		  { { 2, "ff<01", "1: h:", 0, "01 0 1" } } },
		{ "own address: forwarded, not learned", BR " mac=b0",
		  { { 1, "ff<b0 q10", "2:q10 3: h:q10", 0, "b0 10 -1" } } },
		{ "own address of another VLAN: learned", BR " mac=b0",
		  { { 1, "ff<b0 q20", "2:q20 3:", 0, "b0 20 1" } } },
		{ "own address that the kernel lacks: learned", BR " mac=b0; gone b0 10",
		  { { 1, "ff<b0 q10", "2:q10 3: h:q10", 0, "b0 10 1" } } },
		{ "own address with fdb_local_vlan_0: learned", "br filter local0; 1 10; 2 10; h 10 mac=b0",
		  { { 1, "ff<b0 q10", "2:q10 h:q10", 0, "b0 10 1" }, { 2, "b0<01 q10", "1:q10" } } },
		{ "own address without filtering: not learned", FLAT " mac=b0",
		  { { 1, "ff<b0", "2: 3: h:", 0, "b0 0 -1" } } },
		{ "ageing time 0: nothing is learned", "br noage; 1; 2; h; fdb 02 0 1",
		  { { 1, "ff<01", "2: h:", 0, "01 0 -1" }, { 2, "ff<02", "1: h:", 0, "02 0 1" } } },
		{ "group source", FLAT, { { 1, "ff<mc", "", DROP_SOURCE } } },
		{ "zero source", FLAT, { { 1, "ff<00", "", DROP_SOURCE, "00 0 -1" } } },
		{ "zero destination is unknown unicast", FLAT, { { 1, "00<01", "2: 3:" } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}

static void a_frame_is_too_long_above_the_mtu_and_a_tag(void **state)
{
	/* 64 bytes and what is added: 1518 is the most for an MTU of 1500. */
	static const struct row rows[] = {
		{ "longest untagged", "br; 1; 2; h", { { 1, "ff<01 +1454", "2: h:" } } },
		{ "one more; the host has no limit", "br; 1; 2; h", { { 1, "ff<01 +1455", "h:" } } },
		{ "known unicast", "br; 1; 2; fdb 02 0 2",
		  { { 1, "02<01 +1454", "2:" }, { 1, "02<01 +1455", "" } } },
		{ "each port has its own", "br; 1; 2 mtu=1000; 3 mtu=2000; h",
		  { { 1, "ff<01 +954", "2: 3: h:" }, { 1, "ff<01 +955", "3: h:" } } },
		{ "the bridge's tag is not counted", "br filter; 1 10; 2 10; 3 10u",
		  { { 1, "ff<01 q10 +1454", "2:q10 3:" }, { 1, "ff<01 q10 +1455", "" } } },
		{ "nor the one that is pushed", "br filter; 1 10pu; 2 10",
		  { { 1, "ff<01 +1454", "2:q10" }, { 1, "ff<01 +1455", "" } } },
		{ "an inner tag is", "br filter; 1 10; 2 10",
		  { { 1, "ff<01 q10,q20 +1450", "2:q10,q20" }, { 1, "ff<01 q10,q20 +1451", "" } } },
		{ "one of the other protocol too", "br filter; 1 10p; 2 10",
		  { { 1, "ff<01 a20 +1450", "2:q10,a20" }, { 1, "ff<01 a20 +1451", "" } } },
		{ "not filtering: the first of either protocol is not", "br; 1; 2",
		  { { 1, "ff<01 q5 +1454", "2:q5" }, { 1, "ff<01 a5 +1454", "2:a5" },
		    { 1, "ff<01 q5,q6 +1450", "2:q5,q6" }, { 1, "ff<01 q5,q6 +1451", "" } } },
	};

	(void)state;
	check(rows, N_ELEM(rows));
}
/* clang-format on */

static enum drop_reason verdict_of(struct rig *r, uint16_t in, uint8_t *bytes, uint32_t len)
{
	struct frame f = { .data = bytes, .len = len };
	struct verdict v;

	fwd_decide(r->v, in, &f, S, &v);
	return v.drop;
}

static void what_is_no_frame_for_a_bridge_is_dropped(void **state)
{
	uint8_t buf[RIG_MAX_LEN];
	struct rig r;

	(void)state;
	rig_open(&r, "br filter; 1 10p; 2 10");
	rig_frame("ff<01", buf);
	assert_int_equal(verdict_of(&r, 1, buf, 13), DROP_RUNT);
	assert_int_equal(verdict_of(&r, 1, buf, 14), DROP_NONE);
	rig_frame("ff<01 q10", buf);
	assert_int_equal(verdict_of(&r, 1, buf, 16), DROP_RUNT);
	rig_frame("ff<01", buf);
	memcpy(buf, (uint8_t[]){ 0x01, 0x80, 0xc2, 0, 0, 0x0e }, 6);
	assert_int_equal(verdict_of(&r, 1, buf, 64), DROP_RESERVED);
	buf[5] = 0x10;
	assert_int_equal(verdict_of(&r, 1, buf, 64), DROP_NONE);
	assert_int_equal(verdict_of(&r, 7, buf, 64), DROP_DETACHED);
	rig_close(&r);
}

static void copies_that_are_not_admitted_have_a_reason(void **state)
{
	static struct rig_out out;
	struct rig r;

	(void)state;
	rig_open(&r, "br; 1 isolated; 2 isolated; 3 isolated mtu=100; 4 mtu=100; 5");
	rig_put(&r, 1, "ff<01 +1000", S, &out);
	assert_int_equal(out.verdict.n, 5);
	assert_int_equal(out.n_dropped[DROP_SAME_PORT], 1);
	assert_int_equal(out.n_dropped[DROP_ISOLATED], 2);
	assert_int_equal(out.n_dropped[DROP_TOO_LONG], 1);
	assert_int_equal(out.n[5], 1);
	rig_close(&r);
}

static void a_tag_without_headroom_is_refused_and_nothing_changes(void **state)
{
	uint8_t buf[RIG_MAX_LEN], before[RIG_MAX_LEN];
	struct frame f = { .data = buf, .headroom = 3 };
	struct verdict v;
	struct rig r;

	(void)state;
	rig_open(&r, "br filter; 1 10pu; 2 10");
	f.len = rig_frame("ff<01", buf);
	memcpy(before, buf, f.len);
	fwd_decide(r.v, 1, &f, S, &v);
	assert_true(fwd_set_form(&v, &f, true) < 0);
	assert_memory_equal(before, buf, f.len);
	assert_ptr_equal(f.data, buf);
	rig_close(&r);
}

static void a_frame_takes_its_forms_in_any_order(void **state)
{
	uint8_t buf[RIG_HEADROOM + RIG_MAX_LEN], tagged[RIG_MAX_LEN], bare[RIG_MAX_LEN];
	struct frame f = { .data = buf + RIG_HEADROOM, .headroom = RIG_HEADROOM };
	uint32_t tagged_len, bare_len;
	struct verdict v;
	struct rig r;

	(void)state;
	rig_open(&r, "br filter; 1 10pu; 2 10");
	f.len = rig_frame("ff<01 q0.5d,q7", f.data);
	tagged_len = rig_frame("ff<01 q10.5d,q7", tagged);
	bare_len = rig_frame("ff<01 q7", bare);
	fwd_decide(r.v, 1, &f, S, &v);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fwd_set_form(&v, &f, true), 0);
		assert_int_equal(f.len, tagged_len);
		assert_memory_equal(f.data, tagged, tagged_len);
		assert_int_equal(fwd_set_form(&v, &f, false), 0);
		assert_int_equal(f.len, bare_len);
		assert_memory_equal(f.data, bare, bare_len);
	}
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tag_and_pvid_choose_the_vlan),
		cmocka_unit_test(egress_has_the_form_of_each_port),
		cmocka_unit_test(states_allow_to_learn_and_to_forward),
		cmocka_unit_test(flags_choose_who_is_flooded),
		cmocka_unit_test(known_unicast_goes_to_a_member_only),
		cmocka_unit_test(a_port_that_is_down_has_its_backup_port_take_over),
		cmocka_unit_test(the_host_takes_what_is_its_own),
		cmocka_unit_test(sources_teach_as_their_entry_allows),
		cmocka_unit_test(a_frame_is_too_long_above_the_mtu_and_a_tag),
		cmocka_unit_test(what_is_no_frame_for_a_bridge_is_dropped),
		cmocka_unit_test(copies_that_are_not_admitted_have_a_reason),
		cmocka_unit_test(a_tag_without_headroom_is_refused_and_nothing_changes),
		cmocka_unit_test(a_frame_takes_its_forms_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
