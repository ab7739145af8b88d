// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live: the two ends of a benchmark that sends real frames. See live_maps.h.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "live_maps.h"

#define LIVE_TYPE_BE bpf_htons(0x88b5)

struct live_task live_task __attribute__((aligned(64)));
struct live_next live_next __attribute__((aligned(64)));
struct live_count live_sunk[LIVE_CPUS] __attribute__((aligned(64)));
/* Time on the way of frame n, ns; 0: it has not arrived. */
__u32 live_way_ns[LIVE_SAMPLES];

static __always_inline void station(__u16 *mac, __u16 side, __u32 number)
{
	mac[0] = side;
	mac[1] = bpf_htons(number >> 16);
	mac[2] = bpf_htons(number & 0xffff);
}

/* Run on frames of its own; they leave by live_task.out. */
SEC("xdp")
int live_source(struct xdp_md *ctx)
{
	struct live_frame *f = (void *)(long)ctx->data;
	__u32 flow = live_next.flow;

	if ((void *)(f + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	station(f->src, live_task.src_side, flow);
	if (live_task.flows) {
		station(f->dst, live_task.dst_side, flow);
		live_next.flow = flow + 1 < live_task.flows ? flow + 1 : 0;
	} else {
		f->dst[0] = f->dst[1] = f->dst[2] = 0xffff;
	}
	if (live_task.stamps) {
		f->seq = live_next.seq++;
		f->sent_ns = bpf_ktime_get_ns();
	}
	return bpf_redirect(live_task.out, 0);
}

/* Counts what arrives and drops it. */
SEC("xdp")
int live_sink(struct xdp_md *ctx)
{
	const struct live_frame *f = (void *)(long)ctx->data;
	struct live_count *c = &live_sunk[bpf_get_smp_processor_id() & (LIVE_CPUS - 1)];

	if ((void *)(f + 1) > (void *)(long)ctx->data_end || f->type != LIVE_TYPE_BE) {
		c->others++;
		return XDP_DROP;
	}
	c->frames++;
	if (live_task.stamps) {
		__u64 way = bpf_ktime_get_ns() - f->sent_ns;

		live_way_ns[f->seq & (LIVE_SAMPLES - 1)] = way < 0xffffffff ? way : 0xffffffff;
	}
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
