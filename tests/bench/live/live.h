/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live: sends frames into a port and counts what comes out of others, in the
 * network namespaces at their far ends. One thread, in one process; what is
 * attached goes with the process.
 *
 * The source is on one device, sinks are on one or more. The source sends no more
 * than some hundred frames beyond what the sinks got, so that what it measures
 * is what is forwarded and not how fast frames can be thrown away.
 */
#ifndef XB_TESTS_LIVE_H
#define XB_TESTS_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "../bpf/live_maps.h"

#define LIVE_SINKS  64
#define LIVE_WINDOW 1024
#define LIVE_FLOWS  65536
#define LIVE_SIZE   1514 /* the longest frame, without FCS */

struct live_bpf; /* of the skeleton */
struct bpf_link;

/* A device in a namespace, and a packet socket that sends there. */
struct live_end {
	int sock;
	uint32_t ifindex;
	struct bpf_link *sink;
};

struct live {
	struct live_bpf *bpf;
	struct live_end source;
	struct live_end sink[LIVE_SINKS];
	uint32_t n_sinks;
	uint32_t n_cpus;
	uint32_t keep_ifindex;
	struct bpf_link *keep;
	uint32_t size; /* of the frames */
};

/* What is sent. */
struct live_load {
	bool skb;       /* from a packet socket, and not from the XDP program */
	bool swapped;   /* from the stations behind the first sink to those of the source */
	uint32_t flows; /* 0: broadcasts of one station */
	uint64_t count; /* 0: until the time is over */
	uint64_t ns;
};

struct live_result {
	uint64_t sent, arrived, ns;
};

/* Programs loaded, nothing attached, frames of 60 bytes. 0 or a negative errno. */
int live_open(struct live *l);
void live_close(struct live *l);
/*
 * The source is @dev in the namespace at path @ns. The source's program stays
 * attached to @keep, a device there without traffic: the kernel would otherwise
 * switch it on and off in each call, which takes milliseconds. From now on the
 * process is in that namespace.
 */
int live_source_at(struct live *l, const char *ns, const char *dev, const char *keep);
/*
 * Attaches it there again. The kernel has room for the programs of 48 kinds that it calls
 * directly: if others had taken it all, ours is not among them, and stays out.
 */
int live_keep(struct live *l);
/* One sink more, before the source. -ENOSPC: there are too many. */
int live_sink_at(struct live *l, const char *ns, const char *dev);

/*
 * Sends by @load, and counts from the first tenth of the time on; with a count,
 * from the beginning, and slowly. 0 or a negative errno.
 */
int live_run(struct live *l, const struct live_load *load, struct live_result *out);

/*
 * Sends @count frames of one flow, one each @gap_ns, never earlier and never two
 * at once, at most LIVE_SAMPLES. Writes how long those that arrived were on the way
 * to @way_ns, the shortest first, and returns how many there are; or a negative errno.
 */
int live_latency(struct live *l, uint32_t count, uint64_t gap_ns, uint32_t *way_ns);

#endif
