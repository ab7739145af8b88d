/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify: compares what we believe of the kernel with what it says when it is
 * asked anew: links, ports, VLANs, forwarding entries, and for bridges that snoop
 * members of multicast groups and router ports; and what we made of it,
 * the model that the workers' view is built from, with what is to be made of the
 * kernel's answers. xbridgectl(8) lists what is not compared.
 *
 * The kernel changes while it is read, so a difference counts only if it is
 * there in each of several rounds, with the waiting events and learned stations
 * taken in between. Takes as long as the kernel's dumps do; the control thread
 * goes on beating. Control thread only.
 */
#ifndef XB_CTL_VERIFY_H
#define XB_CTL_VERIFY_H

#include <stdint.h>

#define VERIFY_ROUNDS    3
#define VERIFY_MAX       1024 /* differences that are told; all are counted */
#define VERIFY_TEXT_SIZE 96

struct ctl;

struct verify_difference {
	uint64_t id;     /* of the object, equal in each round */
	char what[32];   /* "link p1", "fdb br0" */
	char object[32]; /* "mtu", "02:00:00:00:00:01 vlan 10" */
	char kernel[VERIFY_TEXT_SIZE];
	char ours[VERIFY_TEXT_SIZE];
};

struct verify_result {
	uint32_t n_links, n_vlans, n_entries, n_members; /* that were compared in the last round */
	uint32_t n_differences;
	uint32_t n; /* that are in v */
	struct verify_difference v[VERIFY_MAX];
};

/* 0; or why the kernel could not be read. @out is about 250 KiB. */
int verify_run(struct ctl *c, struct verify_result *out);

#endif
