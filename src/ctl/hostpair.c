/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/hostpair.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/nlreq.h"

#define NAME_H "xbh"
#define NAME_Q "xbq"

static void name_of(char name[IF_NAMESIZE], const char *prefix, uint32_t bridge_ifindex)
{
	snprintf(name, IF_NAMESIZE, "%s%" PRIu32, prefix, bridge_ifindex);
}

bool hostpair_is_name(const char *ifname)
{
	const char *digits = ifname + strlen(NAME_H);
	uint64_t n = 0;

	if (strncmp(ifname, NAME_H, strlen(NAME_H)) && strncmp(ifname, NAME_Q, strlen(NAME_Q)))
		return false;
	if (*digits < '1' || *digits > '9')
		return false;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9')
			return false;
		n = n * 10 + (uint64_t)(*digits - '0');
		if (n > UINT32_MAX)
			return false;
	}
	return true;
}

/* A message about the link @ifindex, or a named one if that is 0; NULL: no memory. */
static struct nl_msg *link_message(int type, int flags, uint32_t ifindex, const char *ifname)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags);

	if (!msg)
		return NULL;
	if (nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) ||
	    (ifname && nla_put_string(msg, IFLA_IFNAME, ifname))) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int send_and_free(struct nl_msg *msg, nlreq_fn fn, void *arg)
{
	int err = nlreq_run(NETLINK_ROUTE, msg, fn, arg);

	nlmsg_free(msg);
	return err;
}

static int read_kind(void *arg, const struct nlmsghdr *h)
{
	static const struct nla_policy link_policy[IFLA_MAX + 1] = {
		[IFLA_LINKINFO] = { .type = NLA_NESTED },
	};
	static const struct nla_policy info_policy[IFLA_INFO_MAX + 1] = {
		[IFLA_INFO_KIND] = { .type = NLA_STRING },
	};
	struct nlattr *a[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	bool *is_veth = arg;

	if (h->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (nlmsg_parse((struct nlmsghdr *)h, sizeof(struct ifinfomsg), a, IFLA_MAX, link_policy) <
	    0)
		return -EBADMSG;
	if (!a[IFLA_LINKINFO])
		return 0;
	if (nla_parse_nested(info, IFLA_INFO_MAX, a[IFLA_LINKINFO], info_policy) < 0)
		return -EBADMSG;
	*is_veth = info[IFLA_INFO_KIND] && !nla_strcmp(info[IFLA_INFO_KIND], "veth");
	return 0;
}

/* Removes a veth device; -EEXIST if the name belongs to another kind, which is not ours. */
static int remove_veth(const char *name)
{
	struct nl_msg *msg = link_message(RTM_GETLINK, 0, 0, name);
	bool is_veth = false;
	int err;

	if (!msg)
		return -ENOMEM;
	err = send_and_free(msg, read_kind, &is_veth);
	if (err)
		return err == -ENODEV ? -ENOENT : err;
	if (!is_veth)
		return -EEXIST;
	msg = link_message(RTM_DELLINK, 0, 0, name);
	if (!msg)
		return -ENOMEM;
	err = send_and_free(msg, NULL, NULL);
	return err == -ENODEV ? -ENOENT : err;
}

int hostpair_remove(uint32_t bridge_ifindex)
{
	char h[IF_NAMESIZE], q[IF_NAMESIZE];
	int err_h, err_q;

	name_of(h, NAME_H, bridge_ifindex);
	name_of(q, NAME_Q, bridge_ifindex);
	/* One end takes the other with it; half a pair is one whose other end was renamed. */
	err_h = remove_veth(h);
	err_q = remove_veth(q);
	if (err_h && err_h != -ENOENT)
		return err_h;
	if (err_q && err_q != -ENOENT)
		return err_q;
	return err_h && err_q ? -ENOENT : 0;
}

int hostpair_remove_all(void)
{
	struct if_nameindex *names = if_nameindex();
	int n = 0;

	if (!names)
		return -errno;
	for (const struct if_nameindex *i = names; i->if_index; i++) {
		if (hostpair_is_name(i->if_name) && !remove_veth(i->if_name))
			n++;
	}
	if_freenameindex(names);
	return n;
}

/* What both ends have when they are made. */
static int put_end(struct nl_msg *msg, const char *name, uint32_t mtu)
{
	if (nla_put_string(msg, IFLA_IFNAME, name) || nla_put_u32(msg, IFLA_MTU, mtu) ||
	    nla_put_u32(msg, IFLA_NUM_TX_QUEUES, 1) || nla_put_u32(msg, IFLA_NUM_RX_QUEUES, 1))
		return -ENOMEM;
	return 0;
}

static int create(const char *h, const char *q, uint32_t mtu)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC,
				 .ifi_flags = IFF_NOARP,
				 .ifi_change = IFF_NOARP };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct nlattr *info, *data, *peer;

	if (!msg)
		return -ENOMEM;
	if (nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) || put_end(msg, h, mtu))
		goto err_free;
	info = nla_nest_start(msg, IFLA_LINKINFO);
	if (!info || nla_put_string(msg, IFLA_INFO_KIND, "veth"))
		goto err_free;
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	if (!data)
		goto err_free;
	peer = nla_nest_start(msg, VETH_INFO_PEER);
	if (!peer || nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) || put_end(msg, q, mtu))
		goto err_free;
	nla_nest_end(msg, peer);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	return send_and_free(msg, NULL, NULL);

err_free:
	nlmsg_free(msg);
	return -ENOMEM;
}

static int set_addr_gen_none(uint32_t ifindex)
{
	struct nl_msg *msg = link_message(RTM_SETLINK, 0, ifindex, NULL);
	struct nlattr *spec, *inet6;

	if (!msg)
		return -ENOMEM;
	spec = nla_nest_start(msg, IFLA_AF_SPEC);
	inet6 = spec ? nla_nest_start(msg, AF_INET6) : NULL;
	if (!inet6 || nla_put_u8(msg, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	nla_nest_end(msg, inet6);
	nla_nest_end(msg, spec);
	return send_and_free(msg, NULL, NULL);
}

static int write_disable_ipv6(const char *name)
{
	char path[64 + IF_NAMESIZE];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, "1", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

/*
 * No IPv6 on an end that is not up yet. A kernel without IPv6 has nothing to
 * switch off; where /proc/sys is read-only, no address is enough to be silent.
 */
static int silence_ipv6(uint32_t ifindex, const char *name)
{
	int no_addr = set_addr_gen_none(ifindex);
	int err = write_disable_ipv6(name);

	if (err == -ENOENT)
		return 0;
	if ((err == -EROFS || err == -EACCES || err == -EPERM) && !no_addr)
		return 0;
	return err;
}

/* With GRO a veth end receives by NAPI, in batches; without it, each frame by a softirq. */
static int set_gro(const char *name)
{
	struct ethtool_value v = { .cmd = ETHTOOL_SGRO, .data = 1 };
	struct ifreq r = { .ifr_data = (char *)&v };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (ioctl(fd, SIOCETHTOOL, &r))
		err = -errno;
	close(fd);
	return err;
}

static int set_up(uint32_t ifindex)
{
	struct nl_msg *msg = link_message(RTM_SETLINK, 0, ifindex, NULL);
	struct ifinfomsg *ifi;

	if (!msg)
		return -ENOMEM;
	ifi = nlmsg_data(nlmsg_hdr(msg));
	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
	return send_and_free(msg, NULL, NULL);
}

/* An index of 0 stands for if_nametoindex()'s failure: the pair went at once. */
static int prepare(const char *h, const char *q, uint32_t h_ifindex, uint32_t q_ifindex)
{
	int err = h_ifindex && q_ifindex ? 0 : -ENODEV;

	if (!err)
		err = silence_ipv6(h_ifindex, h);
	if (!err)
		err = silence_ipv6(q_ifindex, q);
	if (!err)
		err = set_gro(q);
	if (!err)
		err = set_up(h_ifindex);
	if (!err)
		err = set_up(q_ifindex);
	return err;
}

int hostpair_make(uint32_t bridge_ifindex, uint32_t mtu, uint32_t *h_ifindex, uint32_t *q_ifindex)
{
	char h[IF_NAMESIZE], q[IF_NAMESIZE];
	uint32_t hi, qi;
	int err = hostpair_remove(bridge_ifindex);

	if (err && err != -ENOENT)
		return err;
	name_of(h, NAME_H, bridge_ifindex);
	name_of(q, NAME_Q, bridge_ifindex);
	err = create(h, q, mtu);
	if (err)
		return err;
	hi = if_nametoindex(h);
	qi = if_nametoindex(q);
	err = prepare(h, q, hi, qi);
	if (err) {
		hostpair_remove(bridge_ifindex);
		return err;
	}
	*h_ifindex = hi;
	*q_ifindex = qi;
	return 0;
}

static int set_mtu(const char *name, uint32_t mtu)
{
	struct nl_msg *msg = link_message(RTM_SETLINK, 0, 0, name);

	if (!msg)
		return -ENOMEM;
	if (nla_put_u32(msg, IFLA_MTU, mtu)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return send_and_free(msg, NULL, NULL);
}

int hostpair_set_mtu(uint32_t bridge_ifindex, uint32_t mtu)
{
	char h[IF_NAMESIZE], q[IF_NAMESIZE];
	int err;

	name_of(h, NAME_H, bridge_ifindex);
	name_of(q, NAME_Q, bridge_ifindex);
	err = set_mtu(q, mtu);
	return err ? err : set_mtu(h, mtu);
}
