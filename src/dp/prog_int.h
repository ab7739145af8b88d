/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prog_int: what prog.c, prog_attach.c and prog_pin.c share. Nobody else
 * includes it. Threads and ownership as in prog.h.
 */
#ifndef XB_DP_PROG_INT_H
#define XB_DP_PROG_INT_H

#include "core/limits.h"
#include "dp/prog.h"

enum prog_map {
	PROG_MAP_PORTS,
	PROG_MAP_BRIDGES,
	PROG_MAP_QUEUES,
	PROG_MAP_SOCKS,
	PROG_MAP_SENTINEL,
	PROG_MAP_GATE,
	PROG_MAP_LOCALS,
	PROG_MAP_UPPERS,
	PROG_MAP_PUNTS,
	PROG_MAP_N
};

/* As in the BPF source. */
extern const char *const prog_map_name[PROG_MAP_N];

struct prog_port {
	int link_fd; /* -1: not attached */
	uint32_t ifindex;
	uint32_t prog_id;
	uint32_t n_uppers;
	uint64_t *uppers;     /* bit set of VID_N bits: what xb_uppers holds; NULL: nothing */
	struct xb_port rules; /* as given, XB_PORT_UPPERS aside */
};

struct prog_set {
	int lock_fd;
	int sentinel[2]; /* the lowest and the highest descriptor */
	int map_fd[PROG_MAP_N];
	struct xb_gate *gate;
	size_t gate_size;
	size_t n_cpus;
	char dir[256]; /* the pins of this namespace */
	struct prog_port port[XB_MAX_PORTS];
};

/* A sentence in a buffer of the calling thread; valid until its next call. */
const char *prog_why(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Empties what the maps hold about @slot: rules, sockets, uppers and counters. */
int prog_slot_reset(struct prog_set *ps, uint16_t slot);

/* ---- prog_pin.c: directories, lock, left-over links ---- */

/*
 * Locks this network namespace. The descriptor holds the lock. -EBUSY: another
 * process has it.
 */
int prog_lock(int *fd, const char **why);

/*
 * Makes @pin_dir, mounting the BPF file system if /sys/fs/bpf is empty, and the
 * directory of this namespace in it, whose path goes to @dir.
 */
int prog_dir_make(const char *pin_dir, char *dir, size_t dir_size, const char **why);

/* Path of the pin of @ifindex in @dir. -ENAMETOOLONG. */
int prog_pin_path(const char *dir, uint32_t ifindex, char *path, size_t size);

/*
 * Opens the link pinned for @ifindex, provided that the interface that has
 * this index in our namespace carries the link's program. -ENOENT: no such
 * pin; one that belongs to another interface has been detached and removed.
 */
int prog_pin_open(const char *dir, uint32_t ifindex);

/* True: a pin of another namespace held program @prog_id and was detached and removed. */
bool prog_pin_evict(const char *dir, uint32_t prog_id);

/*
 * Detaches and unpins the links in @dir whose interface is not ours any more,
 * and in the directories of all namespaces those whose device has gone.
 */
void prog_pin_prune_lost(const char *dir);

/* ---- prog_attach.c ---- */

/* Makes the shared maps; map_fd[] is filled. */
int prog_maps_make(struct prog_set *ps, const char **why);

#endif
