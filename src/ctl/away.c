/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/away.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/mirror.h"
#include "ctl/nlreq.h"
#include "ctl/rtmsg.h"

#define TRIES       3    /* of a list that changes while it is read */
#define ANSWERS_MAX 8192 /* devices of one namespace */

enum own { OWN_UNASKED = -3, OWN_UNKNOWN = -2, OWN_NONE = NETNSA_NSID_NOT_ASSIGNED };

struct look {
	struct mirror *m;
	bool *changed;
	int32_t id[AWAY_NAMESPACES];
	uint32_t n;
	int32_t own; /* id that ours has for itself, or one of enum own */
	uint32_t n_answers;
};

/* ---- ids of namespaces ---- */

/* The id in an answer; OWN_UNKNOWN: there is none. */
static int32_t id_of(const struct nlmsghdr *h)
{
	struct nlmsghdr *m = (struct nlmsghdr *)h;
	struct nlattr *a;

	if (h->nlmsg_type != RTM_NEWNSID || !nlmsg_valid_hdr(m, sizeof(struct rtgenmsg)))
		return OWN_UNKNOWN;
	a = nlmsg_find_attr(m, sizeof(struct rtgenmsg), NETNSA_NSID);
	return a && nla_len(a) >= (int)sizeof(int32_t) ? nla_get_s32(a) : OWN_UNKNOWN;
}

static int take_id(void *arg, const struct nlmsghdr *h)
{
	struct look *l = arg;
	int32_t id = id_of(h);

	if (id >= 0 && l->n < AWAY_NAMESPACES)
		l->id[l->n++] = id;
	return 0;
}

static int take_own(void *arg, const struct nlmsghdr *h)
{
	struct look *l = arg;

	l->own = id_of(h);
	return 0;
}

/* @pid: whose namespace is asked for; 0: all that have an id. */
static int ask_ids(struct look *l, uint32_t pid, nlreq_fn fn)
{
	struct rtgenmsg g = { .rtgen_family = AF_UNSPEC };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETNSID, pid ? 0 : NLM_F_DUMP);
	int err = 0;

	if (!msg)
		return -ENOMEM;
	if (nlmsg_append(msg, &g, sizeof(g), NLMSG_ALIGNTO) ||
	    (pid && nla_put_u32(msg, NETNSA_PID, pid)))
		err = -ENOMEM;
	if (!err)
		err = nlreq_run(NETLINK_ROUTE, msg, fn, l);
	nlmsg_free(msg);
	return err;
}

/*
 * Whether the id is ours. The kernel gives us one when it first has to tell of a
 * device elsewhere that is on one of ours, so it is asked then.
 */
static bool is_own(struct look *l, int32_t id)
{
	if (l->own == OWN_UNASKED || l->own == OWN_NONE) {
		l->own = OWN_UNKNOWN;
		(void)ask_ids(l, (uint32_t)getpid(), take_own);
	}
	/* Passing too much costs speed, passing too little frames. */
	return l->own == OWN_UNKNOWN || l->own == id;
}

/* ---- devices ---- */

static int take_device(void *arg, const struct nlmsghdr *h)
{
	const uint32_t need = LINK_HAS_VLAN | LINK_HAS_LOWER | LINK_HAS_LOWER_NETNSID;
	struct look *l = arg;
	struct rtmsg_info i;

	if (++l->n_answers > ANSWERS_MAX)
		return -E2BIG;
	if (rtmsg_parse(h, h->nlmsg_len, &i) || i.type != RTMSG_LINK || i.link.deleted ||
	    (i.link.present & need) != need || !mirror_find(l->m, i.link.lower) ||
	    !is_own(l, i.link.lower_netnsid))
		return 0;
	return mirror_add_away(l->m, i.link.lower, i.link.vlan_id, l->changed);
}

/* A kernel without VLAN devices does not know the kind and tells of all. */
static int put_request(struct nl_msg *msg, int32_t id)
{
	struct ifinfomsg m = { .ifi_family = AF_UNSPEC };
	struct nlattr *info;

	if (nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO) ||
	    nla_put_s32(msg, IFLA_TARGET_NETNSID, id) ||
	    nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS))
		return -ENOMEM;
	info = nla_nest_start(msg, IFLA_LINKINFO);
	if (!info || nla_put_string(msg, IFLA_INFO_KIND, "vlan"))
		return -ENOMEM;
	nla_nest_end(msg, info);
	return 0;
}

static int look_into(struct look *l, int32_t id)
{
	int err = -EINTR;

	for (uint32_t i = 0; err == -EINTR && i < TRIES; i++) {
		struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);

		if (!msg)
			return -ENOMEM;
		l->n_answers = 0;
		err = put_request(msg, id);
		if (!err)
			err = nlreq_run(NETLINK_ROUTE, msg, take_device, l);
		nlmsg_free(msg);
	}
	/* It is gone, or not for us, or the next look reads it. */
	return err == -ENOMEM ? err : 0;
}

int away_look(struct mirror *m, uint32_t *next, uint32_t max, bool *changed,
	      void (*tick)(void *arg), void *arg)
{
	struct look l = { .m = m, .changed = changed, .own = OWN_UNASKED };
	int err = -EINTR;

	for (uint32_t i = 0; err == -EINTR && i < TRIES; i++) {
		l.n = 0;
		err = ask_ids(&l, 0, take_id);
	}
	if (*next >= l.n)
		*next = 0;
	for (uint32_t i = 0; !err && i < max && *next < l.n; i++) {
		if (tick)
			tick(arg);
		err = look_into(&l, l.id[(*next)++]);
	}
	if (*next >= l.n)
		*next = 0;
	return err;
}
