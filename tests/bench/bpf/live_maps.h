/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_maps: what the BPF programs of the benchmarks and live/ share.
 *
 * Addresses of stations are a side (2 bytes, as they stand in memory) and a number (4
 * bytes, network order). Frames have zeroes behind struct live_frame, up to their size.
 */
#ifndef XB_TESTS_LIVE_MAPS_H
#define XB_TESTS_LIVE_MAPS_H

#include <linux/types.h>

#define LIVE_CPUS    256
#define LIVE_SAMPLES 32768

struct live_frame {
	__u16 dst[3];
	__u16 src[3];
	__u16 type; /* 0x88b5, network order */
	__u16 zero;
	__u32 seq;
	__u32 zero2;
	__u64 sent_ns; /* CLOCK_MONOTONIC */
};

/* Read for every frame, and written only while there are none. */
struct live_task {
	__u32 out;   /* the device that frames leave by */
	__u32 flows; /* 0: broadcasts of one station */
	__u16 src_side;
	__u16 dst_side;
	__u32 stamps; /* number the frames, and write down how long they were on the way */
};

/* Of the next frame; its only writer is the source. */
struct live_next {
	__u32 flow;
	__u32 seq;
};

/* What a sink saw; a line of the cache for each CPU, which is its only writer. */
struct live_count {
	__u64 frames;
	__u64 others;
	__u64 pad[6];
};

#endif
