/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prog: the BPF side of the data plane: the maps that all program instances
 * share, the sentinel, one XDP program instance and one pinned link per port,
 * and the host-copy program.
 *
 * Control thread only, but prog_gate(): its fields are written by the threads
 * that they belong to.
 *
 * Pins: PIN_DIR/<inode of the network namespace>/<ifindex>. A pin is that of an
 * interface if the one that has this index in our namespace carries the pinned
 * link's program: a renamed interface keeps its pin, and an interface that has
 * only got the index of one that went is told apart. Other pins are removed by
 * prog_set_open(). Another daemon in the same namespace is kept out by a lock in
 * /run/xbridged that dies with the process.
 *
 * The sentinel: two AF_XDP sockets that are never bound. Each program looks for
 * both of them before anything else, and passes all frames when one is missing.
 * When a process dies the kernel closes its descriptors in order, and bound
 * AF_XDP sockets take about 10 ms each; an unbound one takes no time. So one
 * sentinel has the lowest free descriptor of the time of prog_set_open() and the
 * other one the highest: whichever end the kernel begins with, the gate shuts
 * first. Call prog_set_open() before opening anything else.
 */
#ifndef XB_DP_PROG_H
#define XB_DP_PROG_H

#include <stdbool.h>
#include <stdint.h>

#include "util/mac.h"
#include "xb_maps.h"

struct prog_set;

/*
 * The gate is shut, and no port has rules. -EBUSY: a second daemon in this
 * namespace. @why: a sentence, on failure, valid until the thread's next call.
 * Silences the messages of libbpf in the whole process.
 */
int prog_set_open(const char *pin_dir, struct prog_set **out, const char **why);

/* Closes the sentinel first (the gate is shut), then the rest. Pinned links stay. */
void prog_set_close(struct prog_set *ps);

/*
 * Unpins and detaches every link under this namespace's pin directory. Returns
 * how many. -EBUSY: a daemon serves this namespace.
 */
int prog_cleanup(const char *pin_dir);

/* Mapped memory, valid until prog_set_close(). */
struct xb_gate *prog_gate(struct prog_set *ps);

struct prog_port_config {
	uint32_t ifindex;
	const char *name;
	uint16_t slot;
	bool recover_tags; /* try the device-bound object with the VLAN kfunc first */
	bool standalone;
};

/*
 * Loads an instance for the port and attaches it natively through a pinned
 * link, or puts it into the pinned link that an earlier daemon left, without a
 * gap. The slot must be free; it begins without rules, sockets, uppers and
 * counts. -EBUSY: another program is there. -EOPNOTSUPP: refused by the driver or
 * the verifier (@why has the reason). @recovers_tags tells which object it is;
 * if a driver accepts the one with the kfunc but cannot tell tags after all,
 * every frame passes as PUNT_VLAN_ACCEL. So ask for it only where the driver is
 * known to tell them (veth since 6.8); a tap device is accepted and cannot.
 */
int prog_attach(struct prog_set *ps, const struct prog_port_config *cfg, bool *recovers_tags,
		const char **why);

/* Detaches (also when the device has left the namespace), unpins, and forgets the slot. */
void prog_detach(struct prog_set *ps, uint16_t slot);

/* The program on the port, 0 without one. */
uint32_t prog_id(const struct prog_set *ps, uint16_t slot);

/*
 * Detaches and unpins the links of an earlier daemon that no prog_attach() has
 * taken over; call it once every port is attached. Returns how many.
 */
int prog_sweep(struct prog_set *ps);

/* Socket @fd of (slot, queue), served by @worker. prog_sock_clear() makes the queue pass. */
int prog_sock_set(struct prog_set *ps, uint16_t slot, uint32_t queue, int fd, uint32_t worker);
void prog_sock_clear(struct prog_set *ps, uint16_t slot, uint32_t queue);

/*
 * Rules of the program, in force from the next frame on. XB_PORT_UPPERS is kept
 * by prog_uppers_set(), which replaces the whole set of VLANs (0..VID_MAX).
 */
int prog_port_set(struct prog_set *ps, uint16_t slot, const struct xb_port *p);
int prog_bridge_set(struct prog_set *ps, uint16_t bridge, const struct xb_bridge *b);
int prog_local_add(struct prog_set *ps, uint16_t bridge, const struct mac *mac);
int prog_local_del(struct prog_set *ps, uint16_t bridge, const struct mac *mac);
int prog_uppers_set(struct prog_set *ps, uint16_t slot, const uint16_t *vid, uint32_t n);

/* Summed over the CPUs. */
int prog_punts_read(struct prog_set *ps, uint16_t slot, struct xb_punts *out);

/* See dp_host_attach(). */
int prog_host_attach(struct prog_set *ps, uint32_t hq_ifindex, uint32_t bridge_ifindex,
		     const char **why);

#endif
