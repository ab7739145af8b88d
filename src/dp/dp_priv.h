/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dp_priv: the body of struct dp, for dp.c and dp_port.c. Control thread only.
 */
#ifndef XB_DP_PRIV_H
#define XB_DP_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "dp/dp.h"

struct prog_set;
struct umem;
struct worker;
struct wport;
struct xb_gate;

struct dp_port {
	struct dp_port_config cfg;
	struct worker *worker;
	struct wport *wport;
	int promisc_fd; /* packet socket that keeps the device promiscuous, -1 without */
	bool zero_copy;
	bool recovers_tags;
	bool attached;
	bool is_closing; /* the worker has not let go yet: to be closed again */
	char note[96];
};

struct dp {
	struct dp_config cfg;
	struct umem *umem;
	struct prog_set *progs;
	struct xb_gate *gate;
	struct worker *worker[XB_MAX_WORKERS];
	uint32_t n_workers;
	int event_fd;
	struct view *view; /* RCU */
	uint32_t n_rx_queues;
	struct dp_port *port[XB_MAX_PORTS];
};

/* Forgets the ports after the workers have ended. */
void dp_ports_free(struct dp *dp, bool detach);

#endif
