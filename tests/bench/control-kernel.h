/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control-kernel: a kernel bridge with many ports and VLANs that is not there:
 * its dumps and notifications as bytes, in place of ctl/rtsock, and a data plane
 * that only keeps the view. Everything between the two is the daemon's own.
 *
 * One thread.
 */
#ifndef XB_TESTS_CONTROL_KERNEL_H
#define XB_TESTS_CONTROL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl/state.h"

#define KERNEL_PORTS 100
#define KERNEL_VLANS 4000

/* What a port's list of VLANs looks like. */
enum kernel_list {
	KERNEL_LIST_RANGE, /* all tagged: one range */
	KERNEL_LIST_MIXED, /* tagged and untagged by turns: nothing to compress */
};

/* Before the first dump. The counters below begin anew. */
void kernel_set(enum kernel_list list, uint32_t n_ports);

/*
 * VLAN @vid of port @port (from 0) goes or comes: the messages that the kernel
 * sends, RTM_DELVLAN or RTM_NEWVLAN and then RTM_NEWLINK with the whole list
 * unless @alone, go through the parsers into the mirror of @c. 0 or a negative errno.
 */
int kernel_vlan_event(struct ctl *c, uint32_t port, uint16_t vid, bool comes, bool alone);

struct mac kernel_port_mac(uint32_t port);

/* The view that was published last; how many were, and how often a port's rules were set. */
const struct view *kernel_view(void);
extern uint64_t kernel_n_views, kernel_n_rules;

/* A ctl with nothing in it yet, and its end. NULL: no memory. */
struct ctl *kernel_ctl_new(void);
void kernel_ctl_free(struct ctl *c);

/* Reads the dumps into a new mirror, as a start does. */
int kernel_start(struct ctl *c);

#endif
