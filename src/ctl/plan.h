/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: what should be, derived from what the kernel says (mirror), what the
 * configuration file says (conf) and what the environment forbids (guard).
 *
 * Pure: no system call, no state. Start, change and recovery all make a plan
 * from scratch; ctl/reconcile.c takes the steps from what is to what should be.
 * Which path a bridge and a port are on, and why, is decided here alone; what
 * turns out when a step is taken (a driver that refuses, say) comes back through
 * plan_veto.
 */
#ifndef XB_CTL_PLAN_H
#define XB_CTL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/drop.h"
#include "core/limits.h"
#include "core/model.h"
#include "ctl/conf.h"
#include "ctl/mirror.h"

struct plan_port {
	uint32_t ifindex; /* 0: of the configuration file, and not there yet */
	char name[NETINFO_NAME_SIZE];
	struct mac mac;
	enum path_reason reason; /* PATH_NONE: on the user path */
	bool receive;            /* XDP program and RX sockets; else TX-only egress */
	bool is_virtual;         /* veth, tun or tap: checksums may be partial */
	bool hides_tags;         /* veth: VLAN tags may lie beside the frame */
	bool is_locked, is_tunnel;
	uint32_t backup; /* ifindex of its backup port, 0: none */
	enum conf_mode mode;
	uint32_t mtu;
	uint32_t n_rx_queues; /* that the device could have; when it changes sockets are opened anew
			       */
	uint64_t *uppers;     /* VIDs with a device of their own, a bit each; NULL: none; owned */
	struct model_port_attr attr; /* .bridge and .backup are not set */
};

struct plan_bridge {
	uint32_t ifindex; /* 0: not there yet, or of the configuration file */
	char name[NETINFO_NAME_SIZE];
	const struct conf_bridge *conf; /* NULL: no section; the conf's as long as it lives */
	enum conf_source source;
	enum path_reason reason; /* PATH_NONE: the user path may be used */
	struct mac mac;
	uint32_t mtu;
	bool is_up;
	bool snooping;       /* see enum xb_bridge_flag */
	uint32_t neigh;      /* index of a port for which ARP and ND go to the kernel; 0: none */
	bool vlan_snooping;  /* groups, routers and queriers are those of each VLAN */
	bool routers_hidden; /* the kernel does not tell which ports are routers */
	uint32_t to_unicast; /* index of a port that takes multicast as unicast; 0: none */
	uint64_t hold_ns;    /* how long a learned entry lives: ageing time, or the forward delay
				while the topology changes; 0: nothing is learned */
	uint32_t fdb_max;
	struct model_bridge_attr attr; /* .host_port is not set */
	struct model_port_attr host;   /* the bridge as its own port */
	struct plan_port *port;
	uint32_t n_ports;
	uint32_t n_receive; /* ports on the user path */
};

struct plan {
	struct plan_bridge *bridge;
	uint32_t n_bridges;
};

/*
 * What was found out by trying, and what the guard saw, for an interface;
 * PATH_NONE if there is nothing against it.
 */
typedef enum path_reason (*plan_veto_fn)(void *arg, uint32_t ifindex);

struct plan_input {
	const struct mirror *mirror;
	const struct conf *conf;
	uint32_t frame_size;    /* of the UMEM */
	plan_veto_fn port_veto; /* may be NULL, as the next */
	plan_veto_fn bridge_veto;
	void *veto_arg;
};

/* 0 or -ENOMEM. The plan refers to the conf. */
int plan_make(const struct plan_input *in, struct plan **out);
void plan_free(struct plan *p);

/* Largest MTU whose frames fit into one buffer of @frame_size. */
uint32_t plan_max_mtu(uint32_t frame_size);

#endif
