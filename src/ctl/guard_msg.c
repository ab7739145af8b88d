/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/guard_msg.h"

/* Before the kernel's own definitions of the same. */
#include <netinet/in.h>

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>

/* Headers before Linux 6.16 and 5.10 lack them. */
#define DEVICE_PREFIX 2 /* NFTA_DEVICE_PREFIX */
#define INET_INGRESS  5 /* NF_INET_INGRESS */

/* The attributes behind a header of @header_len bytes. */
static int parse(const struct nlmsghdr *h, int header_len, struct nlattr *a[], int max,
		 const struct nla_policy *policy)
{
	if (h->nlmsg_len < (uint32_t)NLMSG_LENGTH(header_len))
		return -EBADMSG;
	return nlmsg_parse((struct nlmsghdr *)h, header_len, a, max, policy) < 0 ? -EBADMSG : 0;
}

static void add_dev(struct guard_chain *c, const char *name, size_t len, bool is_prefix)
{
	struct guard_dev *d = &c->devs[c->n_devs++];

	memset(d, 0, sizeof(*d));
	memcpy(d->name, name, len);
	d->is_prefix = is_prefix;
}

/* The last place of the list is kept for "all of them". */
static void add_devs(struct guard_chain *c, struct nlattr *list)
{
	struct nlattr *a;
	int left;

	nla_for_each_nested (a, list, left) {
		size_t len = strnlen(nla_data(a), (size_t)nla_len(a));
		int type = nla_type(a);

		if (c->n_devs == GUARD_MAX_DEVS - 1 || len >= GUARD_NAME_SIZE ||
		    (type != NFTA_DEVICE_NAME && type != DEVICE_PREFIX)) {
			add_dev(c, "", 0, true);
			return;
		}
		add_dev(c, nla_data(a), len, type == DEVICE_PREFIX);
	}
	if (left)
		add_dev(c, "", 0, true);
}

static enum guard_hook hook_of(uint8_t family, uint32_t num)
{
	switch (family) {
	case NFPROTO_BRIDGE:
		return GUARD_HOOK_BRIDGE;
	case NFPROTO_IPV4:
		return GUARD_HOOK_IP;
	case NFPROTO_IPV6:
		return GUARD_HOOK_IP6;
	case NFPROTO_INET:
		return num == INET_INGRESS ? GUARD_HOOK_DEV : GUARD_HOOK_INET;
	case NFPROTO_ARP:
		return GUARD_HOOK_ARP;
	case NFPROTO_NETDEV:
		return GUARD_HOOK_DEV;
	default:
		return GUARD_HOOK_NONE;
	}
}

static int read_hook(uint8_t family, struct nlattr *nest, struct guard_chain *out)
{
	static const struct nla_policy policy[NFTA_HOOK_MAX + 1] = {
		[NFTA_HOOK_HOOKNUM] = { .type = NLA_U32 },
		[NFTA_HOOK_DEV] = { .type = NLA_STRING, .maxlen = GUARD_NAME_SIZE },
		[NFTA_HOOK_DEVS] = { .type = NLA_NESTED },
	};
	struct nlattr *a[NFTA_HOOK_MAX + 1];

	if (nla_parse_nested(a, NFTA_HOOK_MAX, nest, policy) < 0 || !a[NFTA_HOOK_HOOKNUM])
		return -EBADMSG;
	out->n_devs = 0;
	out->hook = hook_of(family, ntohl(nla_get_u32(a[NFTA_HOOK_HOOKNUM])));
	if (out->hook != GUARD_HOOK_DEV)
		return 0;
	/* A chain of one device may have it in both places. */
	if (a[NFTA_HOOK_DEVS])
		add_devs(out, a[NFTA_HOOK_DEVS]);
	else if (a[NFTA_HOOK_DEV])
		add_dev(out, nla_get_string(a[NFTA_HOOK_DEV]),
			strlen(nla_get_string(a[NFTA_HOOK_DEV])), false);
	return 0;
}

int guard_msg_chain(const struct nlmsghdr *h, struct guard_chain *out)
{
	static const struct nla_policy policy[NFTA_CHAIN_MAX + 1] = {
		[NFTA_CHAIN_HOOK] = { .type = NLA_NESTED },
	};
	struct nlattr *a[NFTA_CHAIN_MAX + 1];
	const struct nfgenmsg *g = nlmsg_data(h);

	if (h->nlmsg_type != ((NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_NEWCHAIN))
		return -ENOMSG;
	if (parse(h, sizeof(*g), a, NFTA_CHAIN_MAX, policy))
		return -EBADMSG;
	if (a[NFTA_CHAIN_HOOK])
		return read_hook(g->nfgen_family, a[NFTA_CHAIN_HOOK], out);
	out->hook = GUARD_HOOK_NONE;
	out->n_devs = 0;
	return 0;
}

/* What net.core.default_qdisc may be without shaping or losing, and what the kernel takes itself.
 */
static bool is_default_kind(const char *kind)
{
	static const char *const kinds[] = {
		"noqueue", "pfifo_fast", "fq", "fq_codel", "sfq", "mq"
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kind, kinds[i]))
			return true;
	}
	return false;
}

static int read_tc(const struct nlmsghdr *h, struct tcmsg *tc, const char **kind)
{
	static const struct nla_policy policy[TCA_MAX + 1] = {
		[TCA_KIND] = { .type = NLA_STRING },
	};
	struct nlattr *a[TCA_MAX + 1];

	if (parse(h, sizeof(*tc), a, TCA_MAX, policy) || !a[TCA_KIND])
		return -EBADMSG;
	memcpy(tc, nlmsg_data(h), sizeof(*tc));
	*kind = nla_get_string(a[TCA_KIND]);
	return 0;
}

int guard_msg_qdisc(const struct nlmsghdr *h, uint32_t *ifindex, enum guard_qdisc *out)
{
	const char *kind;
	struct tcmsg tc;

	if (h->nlmsg_type != RTM_NEWQDISC)
		return -ENOMSG;
	if (read_tc(h, &tc, &kind) || tc.tcm_ifindex <= 0)
		return -EBADMSG;
	*ifindex = (uint32_t)tc.tcm_ifindex;
	if (tc.tcm_parent == TC_H_INGRESS)
		*out = GUARD_QDISC_CLSACT;
	else
		*out = is_default_kind(kind) ? GUARD_QDISC_DEFAULT : GUARD_QDISC_OTHER;
	return 0;
}

int guard_msg_filter(const struct nlmsghdr *h)
{
	const char *kind;
	struct tcmsg tc;

	if (h->nlmsg_type != RTM_NEWTFILTER)
		return -ENOMSG;
	return read_tc(h, &tc, &kind);
}

int guard_msg_addr(const struct nlmsghdr *h, uint32_t *ifindex, bool *counts)
{
	const struct ifaddrmsg *m = nlmsg_data(h);

	if (h->nlmsg_type != RTM_NEWADDR)
		return -ENOMSG;
	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)) || !m->ifa_index)
		return -EBADMSG;
	*ifindex = m->ifa_index;
	*counts = m->ifa_family == AF_INET ||
		  (m->ifa_family == AF_INET6 && m->ifa_scope != RT_SCOPE_LINK);
	return 0;
}
