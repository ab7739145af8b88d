/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtmsg_parts: the pieces of rtmsg, for its own files. Each reads one sort of
 * message, whose fixed header has been checked to be there, into @out, which is
 * zeroed but for the fields of the netlink header. They return what
 * rtmsg_parse() does.
 */
#ifndef XB_CTL_RTMSG_PARTS_H
#define XB_CTL_RTMSG_PARTS_H

#include <linux/netlink.h>

#include "ctl/rtattr.h"
#include "ctl/rtmsg.h"

/* Sets the reason and returns -EBADMSG. */
int rtmsg_refuse(struct rtmsg_info *out, const char *why);

/* The attributes behind the fixed header, of @fixed bytes, of a message. */
static inline struct rtattr_run rtmsg_attrs(const struct nlmsghdr *h, size_t fixed)
{
	size_t skip = NLMSG_ALIGN(NLMSG_HDRLEN + fixed);

	if (h->nlmsg_len <= skip)
		return (struct rtattr_run){ NULL, 0 };
	return (struct rtattr_run){ (const char *)h + skip, h->nlmsg_len - skip };
}

int rtmsg_read_link(const struct nlmsghdr *h, struct rtmsg_info *out);
int rtmsg_read_neigh(const struct nlmsghdr *h, struct rtmsg_info *out);
int rtmsg_read_vlan(const struct nlmsghdr *h, struct rtmsg_info *out);
int rtmsg_read_mdb(const struct nlmsghdr *h, struct rtmsg_info *out);

/* Check, count and note in @out the VLANs and MST states that IFLA_AF_SPEC has. */
int rtmsg_check_af_spec(const struct nlattr *af_spec, struct rtmsg_info *out);

#endif
