/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rig.h"

#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fdb.h"
#include "core/model.h"
#include "util/clock.h"

void dump(const struct net *n)
{
	struct dp_frame_sum s = { 0 };
	struct dp_stats st;

	if (!n->dp)
		return;
	dp_stats_read(n->dp, &st);
	dp_frames(n->dp, &s);
	fprintf(stderr,
		"pool %llu, fill %llu, batch %llu, tx %llu; rounds %llu, naps %llu, kicks %llu, "
		"held %llu, expired %llu, stalls %llu\n",
		(unsigned long long)s.pool, (unsigned long long)s.fill, (unsigned long long)s.batch,
		(unsigned long long)s.tx, (unsigned long long)st.n_loops,
		(unsigned long long)st.n_polls, (unsigned long long)st.kicks,
		(unsigned long long)st.host_held, (unsigned long long)st.host_hold_expired,
		(unsigned long long)st.n_stalls);
	for (uint16_t i = 1; i <= N_PORTS; i++) {
		struct dp_port_counters c;

		if (dp_port_counters(n->dp, i, &c))
			continue;
		fprintf(stderr, "p%u: redirected %llu, received %llu, sent %llu", i,
			(unsigned long long)c.redirected, (unsigned long long)c.user.rx_frames,
			(unsigned long long)c.user.tx_frames);
		for (unsigned int k = 0; k < PUNT_N; k++) {
			if (c.punt[k])
				fprintf(stderr, ", %s %llu", punt_name(k),
					(unsigned long long)c.punt[k]);
		}
		for (unsigned int k = 0; k < DROP_N; k++) {
			if (c.user.drop[k])
				fprintf(stderr, ", %s %llu", drop_name(k),
					(unsigned long long)c.user.drop[k]);
		}
		fputc('\n', stderr);
	}
}

struct dp_config config = {
	.n_frames = 8192,
	.frame_size = 2048,
	.rx_ring = 2048,
	.fill_ring = 2048,
	.tx_ring = 2048,
	.completion_ring = 2048,
	.batch = 64,
	.n_workers = 1,
	.worker_cpu = { -1 },
	.heartbeat_ns = 100 * NSEC_PER_MSEC,
	.pin_dir = PIN_DIR,
};

static void publish(struct net *n)
{
	struct view *v = view_build(n->model, dp_view(n->dp), NULL);

	if (!v)
		FAIL("no view");
	dp_publish(n->dp, v);
}

struct dp_port_config port_config(int i)
{
	struct dp_port_config c = {
		.slot = (uint16_t)i,
		.n_rx_queues = 1,
		.n_tx_queues = 1,
		.mtu = 1500,
		.receive = true,
		.rules = { .flags = 1 /* XB_PORT_USER */, .bridge = 1 },
	};

	snprintf(c.name, sizeof(c.name), "p%d", i);
	c.ifindex = if_nametoindex(c.name);
	return c;
}

void port_open(struct net *n, int i, bool receive)
{
	struct dp_port_config c = port_config(i);
	enum path_reason reason;
	const char *why = NULL;
	int err;

	c.receive = receive;
	err = dp_port_open(n->dp, &c, &reason, &why);
	if (err)
		FAIL("p%d: %s: %s (%s)", i, strerror(-err), why, path_name(reason));
}

static void model_port(struct net *n, int i, const char *how, uint16_t flags)
{
	struct model_port_attr a = {
		.bridge = 1,
		.flags = MP_LEARNING | MP_UNICAST_FLOOD | MP_MCAST_FLOOD | MP_BCAST_FLOOD | flags,
		.state = PORT_FORWARDING,
		.mtu = 1500,
	};

	/* "u": VLAN 10 untagged, "t": tagged, "": a bridge that does not filter. */
	if (*how) {
		a.vlan[10] =
			MV_MEMBER | MV_STATE(PORT_FORWARDING) | (*how == 'u' ? MV_UNTAGGED : 0);
		a.pvid = *how == 'u' ? 10 : VID_NONE;
	}
	if (model_port_set(n->model, (uint16_t)i, &a, NULL))
		FAIL("model_port_set");
}

void port_set_state(struct net *n, int i, uint8_t state)
{
	struct model_port_attr a = n->model->port[i]->a;

	a.state = state;
	if (model_port_set(n->model, (uint16_t)i, &a, NULL))
		FAIL("model_port_set");
	publish(n);
}

struct net *net_open(const char *const *how, bool host)
{
	const struct fdb_config fc = { .max_entries = 1024 };
	const struct model_bridge_attr ba = {
		.filtering = *how[0],
		.learning = true,
		.tpid = 0x8100,
		.host_port = host ? N_PORTS : 0,
	};
	const struct dp_bridge_rules rules = { .flags = 1 | (*how[0] ? 2 : 0), .tpid = 0x8100 };
	struct net *n = calloc(1, sizeof(*n));
	const char *why = NULL;
	int err;

	n->model = model_new();
	n->fdb = fdb_new(&fc);
	n->count = calloc(VID_N, sizeof(*n->count));
	if (!n->model || !n->fdb || !n->count ||
	    model_bridge_set(n->model, 1, &ba, n->fdb, n->count, NULL))
		FAIL("model");
	err = dp_open(&config, &n->dp, &why);
	if (err)
		FAIL("dp_open: %s: %s", strerror(-err), why);
	for (int i = 1; i <= N_PORTS; i++)
		model_port(n, i, how[i - 1], host && i == N_PORTS ? MP_HOST : 0);
	publish(n);
	if (dp_bridge_rules_set(n->dp, 1, &rules))
		FAIL("dp_bridge_rules_set");
	for (int i = 1; i <= N_PORTS; i++) {
		port_open(n, i, !(host && i == N_PORTS));
		n->host[i] = host_open(i);
	}
	dp_gate_set(n->dp, true);
	return n;
}

void check_frames(struct net *n)
{
	struct dp_frame_sum s = { 0 };

	for (int i = 0; i < 500; i++) {
		if (!dp_frames(n->dp, &s))
			FAIL("the worker did not answer");
		EQUAL("pool + fill + batch + tx", s.pool + s.fill + s.batch + s.tx, s.all);
		if (!s.tx && !s.batch)
			return;
		nap_ms(2);
	}
	FAIL("%llu frames in TX, %llu held", (unsigned long long)s.tx, (unsigned long long)s.batch);
}

struct dp_port_counters counters(struct net *n, int i)
{
	struct dp_port_counters c;

	if (dp_port_counters(n->dp, (uint16_t)i, &c))
		FAIL("no counters of p%d", i);
	return c;
}

void net_close(struct net *n)
{
	check_frames(n);
	dp_close(n->dp, true);
	for (int i = 1; i <= N_PORTS; i++)
		close(n->host[i]);
	model_free(n->model);
	fdb_free(n->fdb);
	free(n->count);
	free(n);
}

void *shared_new(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		FAIL("mmap");
	return p;
}

void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

uint32_t heartbeat_ms(void)
{
	return (uint32_t)(config.heartbeat_ns / NSEC_PER_MSEC);
}
