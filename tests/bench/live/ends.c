/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live.h"
#include "tests/bench/bpf/live.skel.h"

int live_open(struct live *l)
{
	int n_cpus = libbpf_num_possible_cpus();

	memset(l, 0, sizeof(*l));
	l->source.sock = -1;
	l->size = 60;
	if (n_cpus < 0)
		return n_cpus;
	l->bpf = live_bpf__open_and_load();
	if (!l->bpf)
		return -errno;
	l->n_cpus = (uint32_t)n_cpus;
	if (l->n_cpus > LIVE_CPUS) {
		live_close(l);
		return -E2BIG;
	}
	return 0;
}

static void end_close(struct live_end *end)
{
	bpf_link__destroy(end->sink);
	if (end->sock >= 0)
		close(end->sock);
}

void live_close(struct live *l)
{
	for (uint32_t i = 0; i < l->n_sinks; i++)
		end_close(&l->sink[i]);
	l->n_sinks = 0;
	end_close(&l->source);
	l->source.sock = -1;
	bpf_link__destroy(l->keep);
	l->keep = NULL;
	live_bpf__destroy(l->bpf);
	l->bpf = NULL;
}

static int enter(const char *ns)
{
	int err = 0, fd = open(ns, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (setns(fd, CLONE_NEWNET))
		err = -errno;
	close(fd);
	return err;
}

/* A packet socket that receives nothing and bypasses the queueing discipline. */
static int sock_open(uint32_t ifindex)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = (int)ifindex };
	int one = 1, err, fd;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&to, sizeof(to)) &&
	    !setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int end_open(struct live_end *end, const char *ns, const char *dev)
{
	int err = enter(ns);

	end->sink = NULL;
	end->sock = -1;
	if (err)
		return err;
	end->ifindex = if_nametoindex(dev);
	if (!end->ifindex)
		return -errno;
	end->sock = sock_open(end->ifindex);
	return end->sock < 0 ? end->sock : 0;
}

int live_sink_at(struct live *l, const char *ns, const char *dev)
{
	struct live_end *end = &l->sink[l->n_sinks];
	int err;

	if (l->n_sinks == LIVE_SINKS)
		return -ENOSPC;
	err = end_open(end, ns, dev);
	if (err)
		return err;
	l->n_sinks++;
	end->sink = bpf_program__attach_xdp(l->bpf->progs.live_sink, (int)end->ifindex);
	return end->sink ? 0 : -errno;
}

int live_keep(struct live *l)
{
	bpf_link__destroy(l->keep);
	l->keep = bpf_program__attach_xdp(l->bpf->progs.live_source, (int)l->keep_ifindex);
	return l->keep ? 0 : -errno;
}

int live_source_at(struct live *l, const char *ns, const char *dev, const char *keep)
{
	int err = end_open(&l->source, ns, dev);

	if (err)
		return err;
	l->keep_ifindex = if_nametoindex(keep);
	return l->keep_ifindex ? live_keep(l) : -errno;
}
