/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The write-back of learned stations against a kernel in miniature: a table
 * that NTF_USE changes and that tells its changes in order, as the bridge does.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/local.h"
#include "ctl/rtmsg.h"
#include "ctl/rtsock.h"
#include "ctl/state.h"
#include "ctl/verify_priv.h"

#define BR_IF      5
#define PORT_IF(n) (10 + (n))
#define GRID_SLOT  20

/* ---- the kernel ---- */

static struct {
	uint64_t key[16];
	uint32_t ifindex[16];
	bool is_local[16], is_extern[16];
	uint32_t n;
	uint16_t n_grid_ports, n_grid_vlans; /* devices with entries in VLANs 0 to n each */
	struct neigh_info event[64];
	uint32_t n_events, n_read;
	uint32_t n_uses, n_deletes;
	bool refuses;        /* NTF_USE does nothing, and says nothing */
	uint64_t left_out;   /* in the next dump, */
	uint64_t gone_while; /* because this one was removed meanwhile */
	uint32_t n_dumps;
	uint32_t n_dumped;  /* entries, in all dumps */
	bool fills_at_dump; /* so much is to be written that it cannot wait */
	bool no_filter;     /* tells of all ports when asked for one */
} kernel;

/* ---- the data plane ---- */

static struct {
	struct dp_learn learned[64];
	uint32_t n, n_read;
	uint64_t done;
	uint32_t n_uses_at_done;
	int n_local;
	uint32_t n_beats;
} plane;

static struct ctl *ctl;

static struct mac station(uint8_t n)
{
	return (struct mac){ { 2, 0, 0, 0, 0x0a, n } };
}

static void kernel_tell(uint64_t key, uint32_t ifindex, bool deleted)
{
	struct neigh_info *e = &kernel.event[kernel.n_events++];

	assert_true(kernel.n_events <= N_ELEM(kernel.event));
	*e = (struct neigh_info){ .ifindex = ifindex,
				  .master = BR_IF,
				  .deleted = deleted,
				  .mac = mac_from_u64(key & 0xffffffffffffULL),
				  .vid = (uint16_t)(key >> 48),
				  .state = NEIGH_STATE_REACHABLE };
}

/* A frame from the station came in there, or NTF_USE said so. A refresh is not told. */
static void kernel_sees(uint64_t key, uint32_t ifindex)
{
	uint32_t i;

	for (i = 0; i < kernel.n && kernel.key[i] != key; i++)
		;
	if (i < kernel.n && kernel.ifindex[i] == ifindex)
		return;
	kernel.key[i] = key;
	kernel.ifindex[i] = ifindex;
	if (i == kernel.n)
		kernel.n++;
	kernel_tell(key, ifindex, false);
}

static void kernel_forgets(uint64_t key)
{
	for (uint32_t i = 0; i < kernel.n; i++) {
		if (kernel.key[i] != key)
			continue;
		kernel_tell(key, kernel.ifindex[i], true);
		kernel.n--;
		kernel.key[i] = kernel.key[kernel.n];
		kernel.ifindex[i] = kernel.ifindex[kernel.n];
		return;
	}
}

static uint32_t kernel_port(uint64_t key)
{
	for (uint32_t i = 0; i < kernel.n; i++) {
		if (kernel.key[i] == key)
			return kernel.ifindex[i];
	}
	return 0;
}

int rtsock_request(struct rtsock *s, const void *buf, size_t len, int *last)
{
	const uint8_t *p = buf;
	struct rtmsg_info i;

	(void)s;
	(void)last;
	for (; len; p += i.size, len -= i.size) {
		assert_int_equal(rtmsg_parse((const void *)p, len, &i), 0);
		assert_int_equal(i.type, RTMSG_NEIGH);
		if (i.neigh.deleted) {
			kernel.n_deletes++;
			kernel_forgets(fdb_key(i.neigh.vid, &i.neigh.mac));
			continue;
		}
		assert_true(i.neigh.flags & NEIGH_FLAG_USE);
		kernel.n_uses++;
		if (!kernel.refuses)
			kernel_sees(fdb_key(i.neigh.vid, &i.neigh.mac), i.neigh.ifindex);
	}
	return 0;
}

void ctl_read_events(struct ctl *c)
{
	while (kernel.n_read < kernel.n_events)
		fdbsync_apply(c, &kernel.event[kernel.n_read++]);
}

static struct rtmsg_info kernel_answer(uint32_t i)
{
	struct rtmsg_info m = { .type = RTMSG_NEIGH };

	m.neigh = (struct neigh_info){ .ifindex = kernel.ifindex[i],
				       .mac = mac_from_u64(kernel.key[i] & 0xffffffffffffULL),
				       .vid = (uint16_t)(kernel.key[i] >> 48),
				       .flags = kernel.is_extern[i] ? NEIGH_FLAG_EXT_LEARNED : 0,
				       .state = kernel.is_local[i] ? NEIGH_STATE_PERMANENT
								   : NEIGH_STATE_REACHABLE };
	return m;
}

int rtsock_dump(struct rtsock *s, enum rtreq_dump what, rtsock_fn fn, void (*tick)(void *arg),
		void *arg)
{
	assert_int_equal(what, RTREQ_NEIGHS);
	return rtsock_dump_port(s, 0, fn, tick, arg);
}

int rtsock_dump_port(struct rtsock *s, uint32_t ifindex, rtsock_fn fn, void (*tick)(void *arg),
		     void *arg)
{
	(void)s;
	(void)tick;
	kernel.n_dumps++;
	for (uint32_t i = 0; i < kernel.n; i++) {
		struct rtmsg_info m = kernel_answer(i);

		if (ifindex && !kernel.no_filter && kernel.ifindex[i] != ifindex)
			continue;
		if (kernel.key[i] == kernel.left_out)
			continue;
		kernel.n_dumped++;
		assert_int_equal(fn(arg, &m, NULL), 0);
	}
	for (uint16_t i = 0; i < kernel.n_grid_ports; i++) {
		for (uint16_t vid = 0; vid <= kernel.n_grid_vlans; vid++) {
			struct rtmsg_info m = { .type = RTMSG_NEIGH };

			m.neigh = (struct neigh_info){ .ifindex = PORT_IF(GRID_SLOT + i),
						       .mac = station((uint8_t)(100 + i)),
						       .vid = vid,
						       .state = NEIGH_STATE_PERMANENT };
			assert_int_equal(fn(arg, &m, NULL), 0);
		}
	}
	for (uint64_t i = 0; kernel.fills_at_dump && i < 2000; i++)
		learn_again(ctl, 0, i, 9);
	kernel.left_out = 0;
	kernel_forgets(kernel.gone_while);
	return 0;
}

int rtsock_station(struct rtsock *s, const struct rtreq_station *st, rtsock_fn fn, void *arg)
{
	uint64_t key = fdb_key(st->vid, &st->mac);

	(void)s;
	for (uint32_t i = 0; i < kernel.n; i++) {
		struct rtmsg_info m = kernel_answer(i);

		if (kernel.key[i] == key)
			return fn(arg, &m, NULL);
	}
	return -ENOENT;
}

int rtsock_neigh(struct rtsock *s, uint32_t ifindex, uint16_t vid, const struct mac *mac,
		 rtsock_fn fn, void *arg)
{
	struct rtmsg_info m;
	uint64_t key = fdb_key(vid, mac);

	(void)s;
	assert_int_equal(ifindex, BR_IF);
	/* The answer may wait for a lock. */
	assert_true(plane.n_beats > 0);
	plane.n_beats = 0;
	for (uint32_t i = 0; i < kernel.n; i++) {
		if (kernel.key[i] != key)
			continue;
		m = kernel_answer(i);
		return fn(arg, &m, NULL);
	}
	return -ENOENT;
}

uint32_t dp_learn_read(struct dp *dp, struct dp_learn *v, uint32_t n)
{
	uint32_t k = 0;

	(void)dp;
	while (k < n && plane.n_read < plane.n)
		v[k++] = plane.learned[plane.n_read++];
	return k;
}

void dp_learn_done(struct dp *dp, uint8_t worker, uint64_t seq)
{
	(void)dp;
	(void)worker;
	plane.done = seq;
	plane.n_uses_at_done = kernel.n_uses;
}

int dp_local_add(struct dp *dp, uint16_t bridge, const struct mac *mac)
{
	(void)dp;
	(void)bridge;
	(void)mac;
	plane.n_local++;
	return 0;
}

int dp_local_del(struct dp *dp, uint16_t bridge, const struct mac *mac)
{
	(void)dp;
	(void)bridge;
	(void)mac;
	plane.n_local--;
	return 0;
}

void ctl_alive(struct ctl *c)
{
	(void)c;
	plane.n_beats++;
}

int verify_mdb(struct ctl *c, struct verify_result *r)
{
	(void)c;
	(void)r;
	return 0;
}

struct ctl_port *ctl_port_by_ifindex(struct ctl *c, uint32_t ifindex)
{
	for (uint32_t i = 1; i < XB_MAX_PORTS; i++) {
		if (c->port[i].is_used && c->port[i].ifindex == ifindex)
			return &c->port[i];
	}
	return NULL;
}

struct ctl_bridge *ctl_bridge_by_ifindex(struct ctl *c, uint32_t ifindex)
{
	return ifindex == BR_IF ? &c->bridge[0] : NULL;
}

/* ---- set-up: a bridge with ports in slots 1..4, its host port in slot 9 ---- */

static int setup(void **state)
{
	const struct fdb_config cfg = { .max_entries = 1024 };
	struct ctl *c = calloc(1, sizeof(*c));

	if (!c)
		return -1;
	memset(&kernel, 0, sizeof(kernel));
	memset(&plane, 0, sizeof(plane));
	c->now_ns = 1000 * 1000000000ULL;
	c->mirror = mirror_new();
	c->model = model_new();
	c->bridge[0] = (struct ctl_bridge){ .is_used = true,
					    .ifindex = BR_IF,
					    .host_slot = 9,
					    .hold_ns = 300 * 1000000000ULL,
					    .is_filtering = true,
					    .fdb = fdb_new(&cfg),
					    .local = local_new(0) };
	for (uint32_t i = 1; i <= 4; i++)
		c->port[i] = (struct ctl_port){ .is_used = true, .ifindex = PORT_IF(i) };
	c->port[9] = (struct ctl_port){ .is_used = true, .is_host = true };
	c->slot_end = 10;
	c->limit_learn = (struct log_limit){ .interval_ns = 1, .burst = 1 };
	ctl = c;
	*state = c;
	return c->mirror && c->model && c->bridge[0].fdb && c->bridge[0].local ? 0 : -1;
}

static int teardown(void **state)
{
	struct ctl *c = *state;

	fdb_free(c->bridge[0].fdb);
	local_free(c->bridge[0].local);
	model_free(c->model);
	mirror_free(c->mirror);
	free(c->local);
	free(c);
	return 0;
}

/* A frame of station @n came in on @slot, on the user path; in VLAN 10 if there are any. */
static uint64_t worker_sees(uint8_t n, uint16_t slot)
{
	struct mac mac = station(n);
	uint64_t key = fdb_key(ctl->bridge[0].is_filtering ? 10 : VID_NONE, &mac);
	enum fdb_learned l = fdb_learn(ctl->bridge[0].fdb, key, slot, ctl->now_ns);

	if (l == FDB_NEW || l == FDB_MOVED) {
		plane.learned[plane.n] = (struct dp_learn){
			.seq = plane.n + 1,
			.key = key,
			.port = slot,
			.kind = l == FDB_NEW ? DP_LEARN_NEW : DP_LEARN_MOVED,
		};
		plane.n++;
	}
	return key;
}

static struct fdb_entry entry(uint64_t key)
{
	struct fdb_entry e;

	assert_int_equal(fdb_get(ctl->bridge[0].fdb, key, &e), 0);
	return e;
}

/* ---- the tests ---- */

static void a_new_station_is_written_before_its_host_copies_may_go(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	assert_false(entry(key).flags & FDB_KERNEL);
	assert_false(learn_run(ctl));
	assert_int_equal(kernel_port(key), PORT_IF(1));
	assert_int_equal(plane.done, 1);
	assert_int_equal(plane.n_uses_at_done, 1);
	assert_true(entry(key).flags & FDB_KERNEL);
	assert_int_equal(entry(key).port, 1);
	assert_int_equal(ctl->stats.n_echoes, 1);
}

static void what_the_kernel_did_before_our_write_does_not_pull_a_station_back(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	/* A passed frame from port 3, then the station is on port 2 of the user path. */
	kernel_sees(key, PORT_IF(3));
	worker_sees(1, 2);
	learn_run(ctl);
	assert_int_equal(entry(key).port, 2);
	assert_int_equal(kernel_port(key), PORT_IF(2));
}

static void a_move_that_the_kernel_saw_is_followed(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	kernel_sees(key, PORT_IF(4));
	ctl_read_events(ctl);
	assert_int_equal(entry(key).port, 4);
}

static void two_moves_in_one_batch_end_at_the_newer_port(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	worker_sees(1, 2);
	learn_run(ctl);
	assert_int_equal(kernel.n_uses, 1);
	assert_int_equal(kernel_port(key), PORT_IF(2));
	assert_int_equal(entry(key).port, 2);
}

static void refresh_everything(void)
{
	/* One pass takes a third of the hold time. */
	ctl->bridge[0].refresh_at_ns = ctl->now_ns - 100 * 1000000000ULL;
	learn_refresh(ctl);
}

static void an_active_station_is_refreshed_and_an_idle_one_is_not(void **state)
{
	(void)state;
	worker_sees(1, 1);
	worker_sees(2, 2);
	learn_run(ctl);
	ctl->now_ns += 150 * 1000000000ULL;
	worker_sees(2, 2);
	kernel.n_uses = 0;
	refresh_everything();
	assert_int_equal(kernel.n_uses, 1);
	assert_int_equal(ctl->stats.n_refreshes, 1);
}

static void a_refresh_that_loses_a_race_follows_the_kernel(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	ctl->now_ns += 10 * 1000000000ULL;
	worker_sees(1, 1);
	/* The station has moved, seen by the kernel alone, and we do not know it yet. */
	kernel_sees(key, PORT_IF(3));
	refresh_everything();
	assert_int_equal(entry(key).port, 3);
	/* Our write has pulled it back in the kernel, which is put right at once. */
	assert_int_equal(kernel_port(key), PORT_IF(3));
	refresh_everything();
	assert_int_equal(kernel_port(key), PORT_IF(3));
	assert_int_equal(entry(key).port, 3);
}

static void an_entry_that_the_kernel_removes_is_removed(void **state)
{
	uint64_t key = worker_sees(1, 1);
	struct fdb_entry e;

	(void)state;
	learn_run(ctl);
	kernel_tell(key, PORT_IF(1), true);
	ctl_read_events(ctl);
	assert_int_equal(fdb_get(ctl->bridge[0].fdb, key, &e), -ENOENT);
}

static void the_kernel_alone_ages_what_it_holds(void **state)
{
	uint64_t held = worker_sees(1, 1), own;
	struct fdb_entry e;

	(void)state;
	learn_run(ctl);
	own = worker_sees(2, 2); /* never written */
	plane.n = plane.n_read;
	ctl->now_ns += 1000 * 1000000000ULL;
	refresh_everything();
	assert_int_equal(fdb_get(ctl->bridge[0].fdb, held, &e), 0);
	assert_int_equal(fdb_get(ctl->bridge[0].fdb, own, &e), -ENOENT);
	assert_int_equal(ctl->stats.n_aged, 1);
}

static void reading_the_table_anew_sweeps_what_the_kernel_lost(void **state)
{
	uint64_t gone = worker_sees(1, 1), stays = worker_sees(2, 2), fresh;
	struct fdb_entry e;

	(void)state;
	learn_run(ctl);
	ctl->now_ns += 1000000000ULL;
	fresh = worker_sees(3, 3); /* not written yet: the kernel cannot know it */
	kernel.key[0] = stays;
	kernel.ifindex[0] = PORT_IF(4);
	kernel.n = 1;
	assert_int_equal(fdbsync_read(ctl), 0);
	assert_int_equal(fdb_get(ctl->bridge[0].fdb, gone, &e), -ENOENT);
	assert_int_equal(entry(stays).port, 4);
	assert_int_equal(entry(fresh).port, 3);
	assert_true(ctl->bridge[0].has_fdb);
}

static void a_station_that_moved_while_the_table_was_read_stays(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	ctl->now_ns += 1000000000ULL;
	worker_sees(1, 2);
	assert_int_equal(fdbsync_read(ctl), 0);
	assert_int_equal(entry(key).port, 2);
	learn_run(ctl);
	assert_int_equal(entry(key).port, 2);
	assert_int_equal(kernel_port(key), PORT_IF(2));
}

static void tell_local(uint8_t n, uint16_t vid, uint32_t ifindex, bool deleted)
{
	struct neigh_info i = { .ifindex = ifindex,
				.mac = station(n),
				.vid = vid,
				.state = NEIGH_STATE_PERMANENT,
				.deleted = deleted };

	fdbsync_apply(ctl, &i);
}

static bool has_entry(uint16_t vid, uint8_t n)
{
	struct mac mac = station(n);
	struct fdb_entry e;

	return !fdb_get(ctl->bridge[0].fdb, fdb_key(vid, &mac), &e);
}

/* The port in slot @slot, with an address of its own, is a member of VLANs 1 to @n_vlans. */
static void join(uint16_t slot, uint8_t n, uint16_t n_vlans)
{
	struct model_bridge_attr b = { .filtering = true, .tpid = 0x8100, .host_port = 9 };
	struct model_port_attr a = { .state = PORT_FORWARDING, .mtu = 1500 };
	struct mac mac = station(n);

	for (uint16_t vid = 1; vid <= n_vlans; vid++)
		a.vlan[vid] = MV_MEMBER | MV_STATE(PORT_FORWARDING);
	assert_int_equal(model_bridge_set(ctl->model, 0, &b, ctl->bridge[0].fdb, NULL, NULL), 0);
	assert_int_equal(model_port_set(ctl->model, slot, &a, NULL), 0);
	locals_set_device(ctl, &ctl->port[slot], &mac);
	assert_true(local_publish(ctl->bridge[0].local, ctl->model) >= 0);
}

/* The time comes when the kernel is asked for what nothing explains. */
static void settle(void)
{
	ctl->now_ns += 1000000000ULL;
	locals_settle(ctl, false);
}

static void an_address_of_the_host_is_passed_until_its_last_entry_is_gone(void **state)
{
	struct mac mac = station(0xb7);

	(void)state;
	tell_local(0xb7, 0, BR_IF, false);
	tell_local(0xb7, 10, BR_IF, false);
	tell_local(0xb7, 10, BR_IF, false);
	assert_int_equal(plane.n_local, 1);
	assert_true(entry(fdb_key(10, &mac)).flags & FDB_LOCAL);
	assert_int_equal(entry(fdb_key(10, &mac)).port, 9);
	tell_local(0xb7, 10, BR_IF, true);
	assert_int_equal(plane.n_local, 1);
	tell_local(0xb7, 0, BR_IF, true);
	assert_int_equal(plane.n_local, 0);
	tell_local(0xb7, 0, BR_IF, true);
	assert_int_equal(plane.n_local, 0);
}

static void the_address_of_a_device_is_passed_without_an_entry_too(void **state)
{
	struct mac mac = station(0xb0), other = station(0xb1);

	(void)state;
	locals_set_device(ctl, &ctl->port[1], &mac);
	assert_int_equal(plane.n_local, 1);
	tell_local(0xb0, 10, BR_IF, false);
	tell_local(0xb0, 10, BR_IF, true);
	assert_int_equal(plane.n_local, 1);
	locals_set_device(ctl, &ctl->port[2], &mac);
	assert_int_equal(plane.n_local, 1);
	locals_set_device(ctl, &ctl->port[2], &other);
	assert_int_equal(plane.n_local, 2);
	fdbsync_forget_port(ctl, 0, 1);
	fdbsync_forget_port(ctl, 0, 2);
	assert_int_equal(plane.n_local, 0);
}

/* Nothing makes them fewer, so they are read less and less often. */
static void words_that_do_not_fit(void)
{
	for (uint8_t n = 0xc1; n < 0xc6; n++) {
		join(1, n, VID_MAX);
		for (uint16_t vid = 1; vid <= VID_MAX; vid++)
			tell_local(n, vid, PORT_IF(1), true);
	}
	ctl->fdb_again_ns = 0;
	settle();
	assert_false(ctl->fdb_wanted);
}

static void more_missing_addresses_than_fit_do_not_keep_the_table_being_read(void **state)
{
	static const uint64_t pauses_s[] = { 1, 2, 4, 8, 16, 32, 64, 64 };

	(void)state;
	for (size_t i = 0; i < N_ELEM(pauses_s); i++) {
		words_that_do_not_fit();
		assert_int_equal(ctl->fdb_again_ns - ctl->now_ns, pauses_s[i] * 1000000000ULL);
		/* Who cannot wait does not. */
		fdbsync_again(ctl, 500000000);
		assert_int_equal(ctl->fdb_again_ns - ctl->now_ns, 500000000);
		fdbsync_again(ctl, 1000000000);
		assert_int_equal(ctl->fdb_again_ns - ctl->now_ns, 500000000);
	}
	ctl->now_ns += 300 * 1000000000ULL;
	words_that_do_not_fit();
	assert_int_equal(ctl->fdb_again_ns - ctl->now_ns, 1000000000);
}

static void an_entry_of_a_device_is_not_stored(void **state)
{
	struct local *l = ctl->bridge[0].local;
	struct mac mac = station(0xb1);

	(void)state;
	/* What a worker learned a moment before makes room for it. */
	worker_sees(0xb1, 2);
	join(1, 0xb1, 10);
	assert_true(has_entry(10, 0xb1));
	tell_local(0xb1, 10, PORT_IF(1), false);
	assert_false(has_entry(10, 0xb1));
	assert_true(local_has(l, ctl->model, fdb_key(10, &mac)));
	assert_false(local_waits(l));
	/* A user removes it: the kernel has none, and frames from there teach again. */
	tell_local(0xb1, 10, PORT_IF(1), true);
	settle();
	assert_false(local_has(l, ctl->model, fdb_key(10, &mac)));
	assert_true(ctl->plan_wanted);
	assert_int_equal(plane.n_local, 1);
	tell_local(0xb1, 10, PORT_IF(1), false);
	assert_true(local_has(l, ctl->model, fdb_key(10, &mac)));
}

static void an_entry_that_a_user_made_of_an_own_address_is_stored(void **state)
{
	struct mac mac = station(0xb1);
	uint64_t key = fdb_key(20, &mac);

	(void)state;
	join(1, 0xb1, 10);
	tell_local(0xb1, 20, PORT_IF(2), false);
	assert_false(has_entry(20, 0xb1));
	kernel.key[0] = key;
	kernel.ifindex[0] = PORT_IF(2);
	kernel.is_local[0] = kernel.is_extern[0] = true;
	kernel.n = 1;
	settle();
	assert_int_equal(entry(key).flags, FDB_LOCAL | FDB_EXTERN | FDB_USER | FDB_KERNEL);
	assert_int_equal(entry(key).port, 2);
	/* The user makes a static one of it, and removes that. */
	fdbsync_apply(ctl, &(struct neigh_info){ .ifindex = PORT_IF(2),
						 .mac = mac,
						 .vid = 20,
						 .state = NEIGH_STATE_NOARP });
	assert_false(entry(key).flags & FDB_LOCAL);
	tell_local(0xb1, 20, PORT_IF(2), true);
	kernel.n = 0;
	settle();
	assert_false(has_entry(20, 0xb1));
	assert_int_equal(plane.n_local, 1);
	assert_false(local_waits(ctl->bridge[0].local));
}

static void a_table_without_an_entry_of_a_device_is_believed_if_the_kernel_confirms(void **state)
{
	struct local *l = ctl->bridge[0].local;
	struct mac mac = station(0xb1);
	uint64_t key = fdb_key(3, &mac);

	(void)state;
	join(1, 0xb1, 3);
	for (uint16_t vid = 0; vid <= 3; vid++) {
		kernel.key[vid] = fdb_key(vid, &mac);
		kernel.ifindex[vid] = PORT_IF(1);
		kernel.is_local[vid] = true;
	}
	kernel.n = 3;
	assert_int_equal(fdbsync_read(ctl), 0);
	assert_true(local_has(l, ctl->model, key));
	/* The table changed while it was read: it is there after all. */
	kernel.n = 4;
	settle();
	assert_true(local_has(l, ctl->model, key));
	assert_false(local_waits(l));
	kernel.n = 3;
	assert_int_equal(fdbsync_read(ctl), 0);
	settle();
	assert_false(local_has(l, ctl->model, key));
	assert_true(local_has(l, ctl->model, fdb_key(2, &mac)));
	/* And the next table has it again. */
	kernel.n = 4;
	assert_int_equal(fdbsync_read(ctl), 0);
	assert_true(local_has(l, ctl->model, key));
}

static void a_device_is_not_learned_by_a_worker_that_did_not_know(void **state)
{
	(void)state;
	worker_sees(0xb1, 2);
	join(1, 0xb1, 10);
	assert_true(has_entry(10, 0xb1));
	learn_run(ctl);
	assert_false(has_entry(10, 0xb1));
	assert_int_equal(kernel.n_uses, 0);
}

int ctl_read_mirror(struct ctl *c, struct mirror **out)
{
	(void)c;
	*out = mirror_new();
	return *out ? 0 : -ENOMEM;
}

static void entries_of_devices_cost_nothing_per_vlan(void **state)
{
	struct verify_result *r = calloc(1, sizeof(*r));
	struct fdb_stats before, after;
	struct local_info info;

	(void)state;
	assert_non_null(r);
	kernel.n_grid_ports = 100;
	kernel.n_grid_vlans = 4000;
	for (uint16_t i = 0; i < kernel.n_grid_ports; i++) {
		struct ctl_port *p = &ctl->port[GRID_SLOT + i];

		*p = (struct ctl_port){ .is_used = true, .ifindex = PORT_IF(GRID_SLOT + i) };
		snprintf(p->name, sizeof(p->name), "g%u", i);
		join(GRID_SLOT + i, (uint8_t)(100 + i), kernel.n_grid_vlans);
	}
	fdb_stats(ctl->bridge[0].fdb, &before);
	assert_int_equal(fdbsync_read(ctl), 0);
	fdb_stats(ctl->bridge[0].fdb, &after);
	local_info(ctl->bridge[0].local, &info);
	assert_int_equal(after.n_entries, 0);
	assert_int_equal(after.n_dead, 0);
	assert_int_equal(after.mem_size, before.mem_size);
	assert_int_equal(info.n_addresses, 100);
	assert_int_equal(info.n_waiting, 0);
	assert_true(info.mem_size < 4096);
	assert_int_equal(plane.n_local, 100);

	assert_int_equal(verify_run(ctl, r), 0);
	assert_int_equal(r->n_entries, 100 * 4001);
	assert_int_equal(r->n_differences, 0);
	/* A VLAN goes, and nobody tells: 100 entries are too much on our side. */
	kernel.n_grid_vlans--;
	assert_int_equal(verify_run(ctl, r), 0);
	assert_int_equal(r->n_differences, 100);
	assert_string_equal(r->v[0].ours, "g0 local");
	assert_string_equal(r->v[0].kernel, "");
	free(r);
}

static void on_a_bridge_without_filtering_the_copies_per_vlan_are_deleted(void **state)
{
	struct rtmsg_info i = { .type = RTMSG_LINK };
	struct mirror_link *l;
	bool changed;

	(void)state;
	ctl->bridge[0].is_filtering = false;
	i.link.ifindex = PORT_IF(1);
	assert_int_equal(mirror_apply(ctl->mirror, &i, NULL, &changed), 0);
	l = mirror_find(ctl->mirror, PORT_IF(1));
	l->vlans = calloc(1, sizeof(*l->vlans));
	assert_non_null(l->vlans);
	l->vlans->mv[1] = MV_MEMBER;
	l->vlans->mv[20] = MV_MEMBER;
	l->vlans->n = 2;
	worker_sees(1, 1);
	learn_run(ctl);
	assert_int_equal(kernel.n_uses, 1);
	assert_int_equal(kernel.n_deletes, 2);
}

static void many_stations_go_in_batches_and_none_is_forgotten(void **state)
{
	(void)state;
	/* The kernel in miniature has room for 16 stations. */
	for (uint8_t n = 1; n <= 15; n++)
		worker_sees(n, (uint16_t)(1 + n % 4));
	learn_run(ctl);
	assert_int_equal(kernel.n, 15);
	assert_int_equal(plane.done, 15);
}

void ctl_catch_up(struct ctl *c)
{
	ctl_read_events(c);
}

int verify_model(struct ctl *c, struct verify_result *r, const struct mirror *m)
{
	(void)c;
	(void)r;
	(void)m;
	return 0;
}

static const struct verify_difference *find_difference(const struct verify_result *r, uint64_t key)
{
	struct mac mac = mac_from_u64(key & 0xffffffffffffULL);
	char text[MAC_STR_SIZE];

	mac_format(&mac, text);
	for (uint32_t i = 0; i < r->n; i++) {
		if (strstr(r->v[i].object, text))
			return &r->v[i];
	}
	return NULL;
}

static void of_a_new_port_only_its_own_entries_are_read(void **state)
{
	/* A kernel that does not filter tells more, and we take no more. */
	static const bool no_filter[] = { false, true };

	(void)state;
	for (uint8_t i = 0; i < 2; i++) {
		uint64_t key[2];
		uint32_t before = kernel.n_dumped;

		kernel.no_filter = no_filter[i];
		for (uint8_t k = 0; k < 2; k++) {
			struct mac mac = station((uint8_t)(10 + 2 * i + k));

			key[k] = fdb_key(10, &mac);
			kernel_sees(key[k], PORT_IF(1 + k));
		}
		kernel.n_read = kernel.n_events; /* nobody knew the ports then */
		ctl->port[2].fdb_wanted = true;
		assert_int_equal(fdbsync_read_ports(ctl), 0);
		assert_int_equal(kernel.n_dumped - before, no_filter[i] ? kernel.n : 1);
		assert_int_equal(entry(key[1]).port, 2);
		assert_int_equal(fdb_get(ctl->bridge[0].fdb, key[0], &(struct fdb_entry){ 0 }),
				 -ENOENT);
		before = kernel.n_dumped;
		assert_int_equal(fdbsync_read_ports(ctl), 0);
		assert_int_equal(kernel.n_dumped, before);
	}
}

static void a_table_that_fills_grows_with_the_next_event(void **state)
{
	struct fdb_stats before, after;
	struct fdb *f = ctl->bridge[0].fdb;

	(void)state;
	fdb_stats(f, &before);
	for (uint64_t i = 0; i < 2 * before.n_buckets; i++)
		fdb_learn(f, 10ULL << 48 | (0x020000000000ULL + i), 1, ctl->now_ns);
	assert_false(ctl->is_growing);
	worker_sees(1, 2);
	for (int i = 0; i < 100 && (!i || ctl->is_growing); i++) {
		learn_run(ctl);
		ctl->now_ns += 10 * 1000000ULL;
		if (ctl->is_growing)
			learn_refresh(ctl);
	}
	fdb_stats(f, &after);
	assert_true(after.n_buckets > before.n_buckets);
}

static void verify_tells_what_is_missing_elsewhere_or_too_much(void **state)
{
	struct verify_result *r = calloc(1, sizeof(*r));
	uint64_t equal = worker_sees(1, 1), missing = worker_sees(2, 2), other = worker_sees(3, 3),
		 extra = worker_sees(4, 4);

	(void)state;
	assert_non_null(r);
	for (uint32_t i = 1; i <= 4; i++)
		snprintf(ctl->port[i].name, sizeof(ctl->port[i].name), "p%u", i);
	learn_run(ctl);
	assert_int_equal(verify_run(ctl, r), 0);
	assert_int_equal(r->n_differences, 0);
	assert_int_equal(r->n_entries, 4);

	/* Behind the daemon's back: no events. */
	fdb_del(ctl->bridge[0].fdb, missing);
	kernel.ifindex[2] = PORT_IF(1);
	kernel.n = 3;
	assert_int_equal(verify_run(ctl, r), 0);
	assert_int_equal(r->n_differences, 3);
	assert_null(find_difference(r, equal));
	assert_string_equal(find_difference(r, missing)->kernel, "p2");
	assert_string_equal(find_difference(r, missing)->ours, "");
	assert_string_equal(find_difference(r, other)->kernel, "p1");
	assert_string_equal(find_difference(r, other)->ours, "p3");
	assert_string_equal(find_difference(r, extra)->kernel, "");
	assert_string_equal(find_difference(r, extra)->ours, "p4");
	/* A worker's word that never gets to the kernel is a difference, too. */
	fdb_set_flags(ctl->bridge[0].fdb, extra, FDB_ANY, FDB_KERNEL, 0);
	assert_int_equal(verify_run(ctl, r), 0);
	assert_non_null(find_difference(r, extra));
	free(r);
}

static void a_table_that_is_read_does_not_undo_a_move(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	/* The worker sees it on port 2, and the kernel's table is read before that is written. */
	worker_sees(1, 2);
	assert_int_equal(fdbsync_read(ctl), 0);
	assert_int_equal(entry(key).port, 2);
	learn_run(ctl);
	assert_int_equal(kernel_port(key), PORT_IF(2));
	/* What an event said of a moment ago does not stand against the table. */
	kernel_sees(key, PORT_IF(3));
	ctl_read_events(ctl);
	kernel.ifindex[0] = PORT_IF(4);
	assert_int_equal(fdbsync_read(ctl), 0);
	assert_int_equal(entry(key).port, 4);
}

static bool is_known(uint64_t key)
{
	struct fdb_entry e;

	return !fdb_get(ctl->bridge[0].fdb, key, &e);
}

static void an_event_that_comes_before_the_write_does_not_pull_a_station_back(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	kernel_sees(key, PORT_IF(3));
	worker_sees(1, 2);
	/* Read while another batch is sent, say. */
	ctl_read_events(ctl);
	assert_int_equal(entry(key).port, 2);
	learn_run(ctl);
	assert_int_equal(entry(key).port, 2);
	assert_true(entry(key).flags & FDB_KERNEL);
	assert_int_equal(kernel_port(key), PORT_IF(2));
}

static void a_station_that_was_seen_long_ago_follows_an_event(void **state)
{
	uint64_t key = worker_sees(1, 2);

	(void)state;
	plane.n_read = plane.n; /* lost: the queue was full */
	ctl->now_ns += 5 * 1000000000ULL;
	kernel_sees(key, PORT_IF(3));
	ctl_read_events(ctl);
	assert_int_equal(entry(key).port, 3);
}

static void a_removal_that_comes_before_the_write_does_not_lose_a_station(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	/* Port 1 goes down, and the station is seen on port 2. */
	kernel_forgets(key);
	worker_sees(1, 2);
	ctl_read_events(ctl);
	assert_int_equal(entry(key).port, 2);
	learn_run(ctl);
	assert_int_equal(kernel_port(key), PORT_IF(2));
	assert_true(entry(key).flags & FDB_KERNEL);
}

static void what_was_removed_does_not_come_back_by_a_refresh(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	ctl->now_ns += 10 * 1000000000ULL;
	worker_sees(1, 1);
	kernel_forgets(key);
	refresh_everything();
	assert_int_equal(kernel_port(key), 0);
	assert_false(is_known(key));
	assert_int_equal(kernel.n_deletes, 1);
}

static void fill_what_waits(void)
{
	/* Of the host's port, so that none is written. */
	for (uint64_t i = 0; i < 2000; i++)
		learn_again(ctl, 0, i, 9);
}

static void what_cannot_wait_to_be_written_is_counted_and_read_again(void **state)
{
	(void)state;
	fill_what_waits();
	assert_true(ctl->stats.n_again_lost > 0);
	assert_true(ctl->fdb_again_ns > ctl->now_ns);
	learn_run(ctl);
	assert_false(ctl->is_writing);
}

static void what_was_removed_does_not_come_back_however_much_waits(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	ctl->now_ns += 10 * 1000000000ULL;
	worker_sees(1, 1);
	kernel_forgets(key);
	fill_what_waits();
	refresh_everything();
	assert_int_equal(kernel_port(key), 0);
	assert_false(is_known(key));
	assert_int_equal(kernel.n_deletes, 1);
}

static void a_reading_in_which_something_was_lost_is_done_again(void **state)
{
	(void)state;
	kernel.fills_at_dump = true;
	assert_int_equal(fdbsync_read(ctl), 0);
	kernel.fills_at_dump = false;
	assert_true(ctl->fdb_again_ns > ctl->now_ns);
	learn_run(ctl);
	assert_int_equal(fdbsync_read(ctl), 0);
	assert_int_equal(ctl->fdb_again_ns, 0);
}

static void what_the_kernel_refuses_is_forgotten(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	kernel.refuses = true;
	learn_run(ctl);
	assert_false(is_known(key));
	assert_int_equal(ctl->stats.n_learn_refused, 1);
}

static void where_the_kernel_has_what_it_refuses_to_move_it_is(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	learn_run(ctl);
	kernel.refuses = true;
	worker_sees(1, 2);
	learn_run(ctl);
	assert_int_equal(kernel_port(key), PORT_IF(1));
	assert_int_equal(entry(key).port, 1);
	assert_true(entry(key).flags & FDB_KERNEL);
}

static void what_the_kernel_has_already_is_marked_so(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	kernel_sees(key, PORT_IF(1));
	kernel.n_read = kernel.n_events; /* lost */
	learn_run(ctl);
	assert_true(entry(key).flags & FDB_KERNEL);
	assert_int_equal(entry(key).port, 1);
}

static void an_entry_of_the_user_stands_against_what_was_not_written_yet(void **state)
{
	uint64_t key = worker_sees(1, 2);

	(void)state;
	kernel_sees(key, PORT_IF(3));
	kernel.event[kernel.n_events - 1].state = NEIGH_STATE_NOARP;
	ctl_read_events(ctl);
	learn_run(ctl);
	assert_int_equal(entry(key).port, 3);
	assert_true(entry(key).flags & FDB_STATIC);
	assert_int_equal(kernel.n_uses, 0);
	assert_int_equal(kernel_port(key), PORT_IF(3));
}

static void what_was_learned_while_filtering_was_switched_is_not_written(void **state)
{
	uint64_t key = worker_sees(1, 1);

	(void)state;
	ctl->bridge[0].is_filtering = false;
	learn_run(ctl);
	assert_int_equal(kernel.n_uses, 0);
	assert_false(is_known(key));
}

static void a_table_that_shrank_while_it_was_read_is_read_again(void **state)
{
	uint64_t gone = worker_sees(1, 1), left_out = worker_sees(2, 2), other = worker_sees(3, 3);

	(void)state;
	learn_run(ctl);
	kernel.gone_while = gone;
	kernel.left_out = left_out;
	assert_int_equal(fdbsync_read(ctl), 0);
	assert_int_equal(kernel.n_dumps, 2);
	assert_false(is_known(gone));
	assert_int_equal(entry(left_out).port, 2);
	assert_int_equal(entry(other).port, 3);
	assert_int_equal(ctl->fdb_again_ns, 0);
}

static void what_workers_learn_on_a_port_that_left_goes_with_the_next_view(void **state)
{
	uint64_t early = worker_sees(1, 1), late, other = worker_sees(3, 2);

	(void)state;
	fdbsync_forget_port(ctl, 0, 1);
	ctl->port[1].is_used = false;
	assert_false(is_known(early));
	late = worker_sees(2, 1);
	fdbsync_flush_left(ctl);
	assert_false(is_known(late));
	assert_true(is_known(other));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_new_station_is_written_before_its_host_copies_may_go),
		T(what_the_kernel_did_before_our_write_does_not_pull_a_station_back),
		T(a_move_that_the_kernel_saw_is_followed),
		T(two_moves_in_one_batch_end_at_the_newer_port),
		T(an_active_station_is_refreshed_and_an_idle_one_is_not),
		T(a_refresh_that_loses_a_race_follows_the_kernel),
		T(an_entry_that_the_kernel_removes_is_removed),
		T(the_kernel_alone_ages_what_it_holds),
		T(reading_the_table_anew_sweeps_what_the_kernel_lost),
		T(a_station_that_moved_while_the_table_was_read_stays),
		T(an_address_of_the_host_is_passed_until_its_last_entry_is_gone),
		T(more_missing_addresses_than_fit_do_not_keep_the_table_being_read),
		T(an_entry_of_a_device_is_not_stored),
		T(an_entry_that_a_user_made_of_an_own_address_is_stored),
		T(a_table_without_an_entry_of_a_device_is_believed_if_the_kernel_confirms),
		T(a_device_is_not_learned_by_a_worker_that_did_not_know),
		T(entries_of_devices_cost_nothing_per_vlan),
		T(the_address_of_a_device_is_passed_without_an_entry_too),
		T(on_a_bridge_without_filtering_the_copies_per_vlan_are_deleted),
		T(verify_tells_what_is_missing_elsewhere_or_too_much),
		T(a_table_that_is_read_does_not_undo_a_move),
		T(many_stations_go_in_batches_and_none_is_forgotten),
		T(of_a_new_port_only_its_own_entries_are_read),
		T(a_table_that_fills_grows_with_the_next_event),
		T(an_event_that_comes_before_the_write_does_not_pull_a_station_back),
		T(a_station_that_was_seen_long_ago_follows_an_event),
		T(a_removal_that_comes_before_the_write_does_not_lose_a_station),
		T(what_was_removed_does_not_come_back_by_a_refresh),
		T(what_cannot_wait_to_be_written_is_counted_and_read_again),
		T(what_was_removed_does_not_come_back_however_much_waits),
		T(a_reading_in_which_something_was_lost_is_done_again),
		T(what_the_kernel_refuses_is_forgotten),
		T(where_the_kernel_has_what_it_refuses_to_move_it_is),
		T(what_the_kernel_has_already_is_marked_so),
		T(an_entry_of_the_user_stands_against_what_was_not_written_yet),
		T(what_was_learned_while_filtering_was_switched_is_not_written),
		T(a_table_that_shrank_while_it_was_read_is_read_again),
		T(what_workers_learn_on_a_port_that_left_goes_with_the_next_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
