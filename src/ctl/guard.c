/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/guard.h"

/* Before the kernel's own definitions of the same. */
#include <netinet/in.h>

#include <errno.h>
#include <linux/bpf.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctl/guard_facts.h"
#include "ctl/guard_msg.h"
#include "ctl/guard_netfilter.h"
#include "ctl/nlreq.h"

#define MAX_DRAIN 4096 /* datagrams in one guard_drain() */
#define MAX_TRIES 4    /* of a refresh that changes interrupt */

/* Linux 6.6; older headers lack them, older kernels refuse them. */
#define TCX_INGRESS 46 /* BPF_TCX_INGRESS */
#define TCX_EGRESS  47 /* BPF_TCX_EGRESS */

struct guard {
	int epoll_fd;
	int rt_fd;
	int nf_fd; /* negative: a kernel without nf_tables */
	struct guard_facts facts;
};

/* A socket in some groups, 0 at their end; a negative errno. */
static int subscribe(int protocol, const int *groups)
{
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	int err = 0;

	if (fd < 0)
		return -errno;
	/* A socket without a name is sent nothing. */
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)))
		err = -errno;
	for (; !err && *groups; groups++) {
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, groups, sizeof(*groups)))
			err = -errno;
	}
	if (err)
		close(fd);
	return err ? err : fd;
}

static int watch(int epoll_fd, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

int guard_open(struct guard **out)
{
	static const int rt_groups[] = { RTNLGRP_TC, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, 0 };
	static const int nf_groups[] = { NFNLGRP_NFTABLES, 0 };
	struct guard *g = malloc(sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	*g = (struct guard){ .epoll_fd = -1, .rt_fd = -1, .nf_fd = -1 };
	g->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (g->epoll_fd < 0) {
		err = -errno;
		goto err_close;
	}
	g->rt_fd = subscribe(NETLINK_ROUTE, rt_groups);
	if (g->rt_fd < 0) {
		err = g->rt_fd;
		goto err_close;
	}
	g->nf_fd = subscribe(NETLINK_NETFILTER, nf_groups);
	if (g->nf_fd < 0 && g->nf_fd != -EPROTONOSUPPORT) {
		err = g->nf_fd;
		goto err_close;
	}
	err = watch(g->epoll_fd, g->rt_fd);
	if (!err && g->nf_fd >= 0)
		err = watch(g->epoll_fd, g->nf_fd);
	if (err)
		goto err_close;
	*out = g;
	return 0;

err_close:
	guard_close(g);
	return err;
}

void guard_close(struct guard *g)
{
	if (!g)
		return;
	if (g->nf_fd >= 0)
		close(g->nf_fd);
	if (g->rt_fd >= 0)
		close(g->rt_fd);
	if (g->epoll_fd >= 0)
		close(g->epoll_fd);
	guard_facts_fini(&g->facts);
	free(g);
}

int guard_fd(const struct guard *g)
{
	return g->epoll_fd;
}

/* What a message says is not read: the refresh finds out, and lost ones (ENOBUFS) do not matter. */
static void drain(int fd)
{
	char byte;

	for (uint32_t i = 0; i < MAX_DRAIN; i++) {
		if (recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && errno != ENOBUFS &&
		    errno != EINTR)
			return;
	}
}

void guard_drain(struct guard *g)
{
	drain(g->rt_fd);
	if (g->nf_fd >= 0)
		drain(g->nf_fd);
}

/* A dump: @header, which is all that the kernel needs to be told. */
static int dump(int protocol, int type, const void *header, size_t len, nlreq_fn fn, void *arg)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_DUMP);
	int err;

	if (!msg)
		return -ENOMEM;
	err = nlmsg_append(msg, (void *)header, len, NLMSG_ALIGNTO) ? -ENOMEM : 0;
	if (!err)
		err = nlreq_run(protocol, msg, fn, arg);
	nlmsg_free(msg);
	return err;
}

/* Messages of other types in an answer are nothing to us. */
static int skip_others(int err)
{
	return err == -ENOMSG ? 0 : err;
}

static int on_chain(void *arg, const struct nlmsghdr *h)
{
	struct guard_facts *f = arg;
	struct guard_chain c;
	int err = guard_msg_chain(h, &c);

	return err ? skip_others(err) : guard_facts_add_chain(f, &c);
}

/* The question loads nf_tables where it is a module: a filter that comes later is then heard of. */
static int read_chains(struct guard_facts *f)
{
	struct nfgenmsg m = { .nfgen_family = NFPROTO_UNSPEC, .version = NFNETLINK_V0 };
	int err = dump(NETLINK_NETFILTER, (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETCHAIN, &m,
		       sizeof(m), on_chain, f);

	/* So says a kernel that has no nf_tables. */
	if (err == -EPROTONOSUPPORT || err == -EOPNOTSUPP || err == -EINVAL)
		return 0;
	return err;
}

static int on_qdisc(void *arg, const struct nlmsghdr *h)
{
	struct guard_facts *f = arg;
	enum guard_qdisc kind;
	uint32_t ifindex;
	int err = guard_msg_qdisc(h, &ifindex, &kind);

	if (err || kind == GUARD_QDISC_DEFAULT)
		return skip_others(err);
	return guard_set_add(kind == GUARD_QDISC_CLSACT ? &f->clsact : &f->qdisc, ifindex);
}

static int on_filter(void *arg, const struct nlmsghdr *h)
{
	int err = guard_msg_filter(h);

	if (!err)
		*(bool *)arg = true;
	return skip_others(err);
}

static int read_filters(struct guard_facts *f, uint32_t ifindex)
{
	static const uint32_t parents[] = { TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
					    TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS) };
	bool has = false;

	for (size_t i = 0; !has && i < sizeof(parents) / sizeof(parents[0]); i++) {
		struct tcmsg m = { .tcm_ifindex = (int)ifindex, .tcm_parent = parents[i] };
		int err = dump(NETLINK_ROUTE, RTM_GETTFILTER, &m, sizeof(m), on_filter, &has);

		if (err && err != -ENODEV)
			return err;
	}
	return has ? guard_set_add(&f->filter, ifindex) : 0;
}

/* A kernel without traffic control has no such dump. */
static int read_tc(struct guard_facts *f)
{
	struct tcmsg m = { 0 };
	int err = dump(NETLINK_ROUTE, RTM_GETQDISC, &m, sizeof(m), on_qdisc, f);

	if (err == -EOPNOTSUPP)
		return 0;
	for (uint32_t i = 0; !err && i < f->clsact.n; i++)
		err = read_filters(f, f->clsact.v[i]);
	return err;
}

static int on_addr(void *arg, const struct nlmsghdr *h)
{
	struct guard_facts *f = arg;
	uint32_t ifindex;
	bool counts;
	int err = guard_msg_addr(h, &ifindex, &counts);

	if (err || !counts)
		return skip_others(err);
	return guard_set_add(&f->addr, ifindex);
}

static int read_facts(struct guard_facts *f)
{
	struct ifaddrmsg m = { 0 };
	int err = read_chains(f);

	if (!err)
		err = read_tc(f);
	if (!err)
		err = dump(NETLINK_ROUTE, RTM_GETADDR, &m, sizeof(m), on_addr, f);
	if (err)
		return err;
	f->bridge_netfilter = f->has_hook[GUARD_HOOK_BRIDGE] ? "nftables chain of family bridge"
							     : guard_netfilter_find(f);
	guard_facts_seal(f);
	return 0;
}

int guard_refresh(struct guard *g)
{
	struct guard_facts f = { 0 };
	int err = -EINTR;

	for (uint32_t i = 0; err == -EINTR && i < MAX_TRIES; i++) {
		guard_facts_fini(&f);
		err = read_facts(&f);
	}
	if (err) {
		guard_facts_fini(&f);
		return err;
	}
	guard_facts_fini(&g->facts);
	g->facts = f;
	return 0;
}

bool guard_has_bridge_netfilter(const struct guard *g, const char **what)
{
	if (!g->facts.bridge_netfilter)
		return false;
	*what = g->facts.bridge_netfilter;
	return true;
}

/* Programs attached by a bpf_link (tcx) are in no tc dump. */
static bool has_tcx(uint32_t ifindex, uint32_t attach_type)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.query.target_fd = ifindex; /* the same place as target_ifindex */
	a.query.attach_type = attach_type;
	return !syscall(__NR_bpf, BPF_PROG_QUERY, &a, sizeof(a)) && a.query.prog_cnt;
}

bool guard_has_tc(const struct guard *g, uint32_t ifindex, const char **what)
{
	char name[IF_NAMESIZE] = "";

	if (guard_set_has(&g->facts.filter, ifindex))
		*what = "tc filter";
	else if (guard_set_has(&g->facts.qdisc, ifindex))
		*what = "queueing discipline";
	else if (g->facts.n_hooked && if_indextoname(ifindex, name) &&
		 guard_facts_is_hooked(&g->facts, ifindex, name))
		*what = "nftables netdev chain";
	else if (has_tcx(ifindex, TCX_INGRESS) || has_tcx(ifindex, TCX_EGRESS))
		*what = "tcx program";
	else
		return false;
	return true;
}

bool guard_has_address(const struct guard *g, uint32_t ifindex)
{
	return guard_set_has(&g->facts.addr, ifindex);
}
