/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ports: the steps of a reconciliation that touch the data plane: ports open
 * and close, the host's veth pair comes and goes, rules reach the XDP program.
 *
 * A step that fails leaves the port, or for the host pair the bridge, on the
 * kernel path with a veto and a time to try again. Control thread only.
 */
#ifndef XB_CTL_PORTS_H
#define XB_CTL_PORTS_H

#include <stdbool.h>

struct ctl;
struct ctl_bridge;
struct ctl_port;
struct plan_bridge;

/* Gives the port back to the kernel; @gone: the interface is not there any more. */
void ports_close(struct ctl *c, struct ctl_port *p, bool gone);

/* Closes the host port and removes its veth pair. */
void ports_host_close(struct ctl *c, struct ctl_bridge *b);

/* The bridge's rules and its gate; shut, every frame of its ports passes to the kernel. */
void ports_bridge_rules(struct ctl *c, struct ctl_bridge *b, const struct plan_bridge *pb,
			bool open);

/*
 * The number of queues in use changes without a message: looks whether the port
 * has to be opened with other ones, and asks for a plan then.
 */
void ports_check_queues(struct ctl *c, struct ctl_port *p);

/*
 * Before a view is published: the rules of an open bridge leave to the kernel what
 * the view will not forward, if it snoops. What ends does so after the view.
 */
void ports_bridge_snoop(struct ctl *c, struct ctl_bridge *b);

/* Leaves the bridge's multicast to the kernel, or no longer, as b->mcast says. */
void ports_bridge_mcast(struct ctl *c, struct ctl_bridge *b);

/* Shuts the bridge's gate and leaves its other rules as they are. */
void ports_bridge_shut(struct ctl *c, struct ctl_bridge *b);

/*
 * Opens what the plan of the bridge wants and opens its gate once every port is
 * an egress. True if a step failed, so that the plan is another one now.
 */
bool ports_open(struct ctl *c, struct plan_bridge *pb);

#endif
