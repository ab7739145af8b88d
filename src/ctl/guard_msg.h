/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard_msg: reads the netlink messages that guard asks for. Bytes in, a struct
 * out: no socket, no state, no allocation. Any thread.
 *
 * The bytes are distrusted: a message that is shorter than its header, or has
 * an attribute of a wrong size, is refused with -EBADMSG and @out is untouched. A
 * message of another type is -ENOMSG. h->nlmsg_len bytes must be readable.
 */
#ifndef XB_CTL_GUARD_MSG_H
#define XB_CTL_GUARD_MSG_H

#include <stdbool.h>
#include <stdint.h>

#define GUARD_NAME_SIZE 16  /* of a device */
#define GUARD_MAX_DEVS  256 /* of one chain; the kernel has the same limit */

struct nlmsghdr;

enum guard_hook {
	GUARD_HOOK_NONE,   /* a chain that only rules jump to */
	GUARD_HOOK_BRIDGE, /* family bridge */
	GUARD_HOOK_IP,     /* sees IPv4 */
	GUARD_HOOK_IP6,    /* sees IPv6 */
	GUARD_HOOK_INET,   /* sees both */
	GUARD_HOOK_ARP,
	GUARD_HOOK_DEV, /* ingress or egress of devices */
};

/* A device that a chain is hooked to, or all whose names begin so. */
struct guard_dev {
	char name[GUARD_NAME_SIZE];
	bool is_prefix;
};

/* A chain of nf_tables. Devices that are not understood are an empty prefix: all of them. */
struct guard_chain {
	enum guard_hook hook;
	uint32_t n_devs; /* 0 unless hook is GUARD_HOOK_DEV */
	struct guard_dev devs[GUARD_MAX_DEVS];
};

int guard_msg_chain(const struct nlmsghdr *h, struct guard_chain *out);

enum guard_qdisc {
	GUARD_QDISC_DEFAULT, /* sends each frame as soon as the device can */
	GUARD_QDISC_CLSACT,  /* clsact or ingress: holds filters, queues nothing */
	GUARD_QDISC_OTHER,
};

/* A queueing discipline, root or not. */
int guard_msg_qdisc(const struct nlmsghdr *h, uint32_t *ifindex, enum guard_qdisc *out);

/* 0: the message is a tc filter. */
int guard_msg_filter(const struct nlmsghdr *h);

/* @counts: it is an IPv4 address, or an IPv6 one that is not link-local. */
int guard_msg_addr(const struct nlmsghdr *h, uint32_t *ifindex, bool *counts);

#endif
