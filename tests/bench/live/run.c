/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "../bench.h"
#include "live.h"
#include "tests/bench/bpf/live.skel.h"

#define ETHERTYPE 0x88b5
#define CHUNK     512           /* frames of a call, half as many if they are flooded */
#define BATCH     64            /* frames that the kernel takes at once */
#define SLOW      32            /* frames of a call when frames are counted: no ring overflows */
#define SLOW_NS   1000000       /* and the time between two */
#define STUCK_NS  500000        /* nothing arrived for so long: what is missing is lost */
#define COPY_NS   100000        /* more of it for each copy: batches take longer */
#define SIDE_A    htons(0x0251) /* 02:51:..., stations behind the source */
#define SIDE_B    htons(0x0252) /* 02:52:..., behind the sinks */

/* How a source knows what is still on its way. */
struct window {
	uint64_t copies; /* of each frame */
	uint64_t size;   /* copies that may be on their way */
	uint64_t expected, base, lost, last, last_ns;
};

static uint64_t arrived(const struct live *l)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->n_cpus; i++)
		sum += __atomic_load_n(&l->bpf->bss->live_sunk[i].frames, __ATOMIC_RELAXED);
	return sum;
}

static bool window_is_open(struct window *w, uint64_t n, uint64_t now)
{
	uint64_t in = n - w->base + w->lost;

	if (in >= w->expected || w->expected - in < w->size)
		return true;
	if (n != w->last) {
		w->last = n;
		w->last_ns = now;
	} else if (now - w->last_ns > STUCK_NS + w->copies * COPY_NS) {
		w->lost += w->expected - in;
		return true;
	}
	return false;
}

static void put_station(uint8_t *mac, uint16_t side, uint32_t number)
{
	uint32_t be = htonl(number);

	memcpy(mac, &side, 2);
	memcpy(mac + 2, &be, 4);
}

/* Writes the frame of @flow, @l->size bytes. */
static void put_frame(const struct live *l, const struct live_load *load, uint32_t flow,
		      uint8_t *buf)
{
	uint16_t type = htons(ETHERTYPE);

	memset(buf, 0, l->size);
	if (load->flows)
		put_station(buf, load->swapped ? SIDE_A : SIDE_B, flow);
	else
		memset(buf, 0xff, 6);
	put_station(buf + 6, load->swapped ? SIDE_B : SIDE_A, flow);
	memcpy(buf + 12, &type, 2);
}

/* @n frames of the XDP program. */
static int send_xdp(struct live *l, const struct live_load *load, uint32_t n)
{
	uint8_t buf[LIVE_SIZE];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = buf, .data_size_in = l->size,
		    .repeat = (int)n, .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);
	int err;

	put_frame(l, load, 0, buf);
	err = bpf_prog_test_run_opts(bpf_program__fd(l->bpf->progs.live_source), &opts);
	return err ? err : (int)n;
}

/* Up to @n frames of a packet socket. Fewer: its buffer is full. */
static int send_skb(struct live *l, const struct live_load *load, uint32_t n)
{
	static uint8_t buf[BATCH][LIVE_SIZE];
	struct iovec iov[BATCH];
	struct mmsghdr msg[BATCH];
	uint32_t *next = &l->bpf->bss->live_next.flow;
	int sent;

	n = n < BATCH ? n : BATCH;
	memset(msg, 0, sizeof(msg));
	for (uint32_t i = 0; i < n; i++) {
		put_frame(l, load, load->flows ? (*next + i) % load->flows : 0, buf[i]);
		iov[i] = (struct iovec){ .iov_base = buf[i], .iov_len = l->size };
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	sent = sendmmsg(load->swapped ? l->sink[0].sock : l->source.sock, msg, n, 0);
	if (sent < 0)
		return errno == EAGAIN || errno == ENOBUFS ? 0 : -errno;
	if (load->flows)
		*next = (*next + (uint32_t)sent) % load->flows;
	return sent;
}

static void task_set(struct live *l, const struct live_load *load, bool stamps)
{
	struct live_bpf__bss *b = l->bpf->bss;

	b->live_task.out = l->source.ifindex;
	b->live_task.flows = load->flows;
	b->live_task.src_side = SIDE_A;
	b->live_task.dst_side = SIDE_B;
	b->live_task.stamps = stamps;
	b->live_next.flow = 0;
	b->live_next.seq = 0;
}

/* Slowly, so that the stations of all flows are heard. */
static int run_count(struct live *l, const struct live_load *load, struct live_result *out)
{
	const struct timespec gap = { .tv_nsec = SLOW_NS };
	uint64_t base = arrived(l), start = bench_now_ns();

	while (out->sent < load->count) {
		uint64_t left = load->count - out->sent;
		uint32_t n = left < SLOW ? (uint32_t)left : SLOW;
		int sent = load->skb ? send_skb(l, load, n) : send_xdp(l, load, n);

		if (sent < 0)
			return sent;
		out->sent += (uint32_t)sent;
		nanosleep(&gap, NULL);
		if (bench_now_ns() - start > load->ns)
			return -ETIMEDOUT;
	}
	out->arrived = arrived(l) - base;
	out->ns = bench_now_ns() - start;
	return 0;
}

static int run_time(struct live *l, const struct live_load *load, struct live_result *out)
{
	struct window w = { .copies = load->flows ? 1 : l->n_sinks, .base = arrived(l) };
	uint64_t start = bench_now_ns(), warm = start + load->ns / 10, end = start + load->ns;
	uint64_t n, now, from = 0, from_ns = 0;
	uint32_t chunk = load->flows ? CHUNK : CHUNK / 2;
	int sent;

	w.size = w.copies * chunk * 2;
	w.last_ns = start;
	while ((now = bench_now_ns()) < end) {
		n = arrived(l);
		if (!from_ns && now >= warm) {
			from_ns = now;
			from = n;
		}
		if (!window_is_open(&w, n, now)) {
			sched_yield();
			continue;
		}
		sent = load->skb ? send_skb(l, load, BATCH) : send_xdp(l, load, chunk);
		if (sent < 0)
			return sent;
		out->sent += (uint32_t)sent;
		w.expected += (uint32_t)sent * w.copies;
	}
	n = arrived(l);
	now = bench_now_ns();
	out->arrived = from_ns ? n - from : 0;
	out->ns = from_ns ? now - from_ns : 0;
	return 0;
}

int live_run(struct live *l, const struct live_load *load, struct live_result *out)
{
	int err;

	*out = (struct live_result){ 0 };
	if (load->flows > LIVE_FLOWS || !l->n_sinks || (load->swapped && !load->skb))
		return -EINVAL;
	task_set(l, load, false);
	err = load->skb ? 0 : live_keep(l);
	if (err)
		return err;
	return load->count ? run_count(l, load, out) : run_time(l, load, out);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sleeps until @when; from there the next frame is @gap_ns away, even if that is late. */
static uint64_t sleep_until(uint64_t when, uint64_t gap_ns)
{
	struct timespec ts = { .tv_sec = (time_t)(when / 1000000000),
			       .tv_nsec = (long)(when % 1000000000) };
	uint64_t now;

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	now = bench_now_ns();
	return (now - when < gap_ns ? when : now) + gap_ns;
}

int live_latency(struct live *l, uint32_t count, uint64_t gap_ns, uint32_t *way_ns)
{
	const struct live_load load = { .flows = 1 };
	const struct timespec tail = { .tv_nsec = 200000000 };
	uint32_t *way = l->bpf->bss->live_way_ns;
	uint64_t next = bench_now_ns();
	int sent, n = 0;

	if (count > LIVE_SAMPLES || !l->n_sinks)
		return -EINVAL;
	memset(way, 0, sizeof(l->bpf->bss->live_way_ns));
	task_set(l, &load, true);
	for (uint32_t i = 0; i < count; i++) {
		next = sleep_until(next, gap_ns);
		sent = send_xdp(l, &load, 1);
		if (sent < 0)
			return sent;
	}
	nanosleep(&tail, NULL);
	l->bpf->bss->live_task.stamps = false;
	for (uint32_t i = 0; i < count; i++)
		if (way[i])
			way_ns[n++] = way[i];
	qsort(way_ns, (size_t)n, sizeof(*way_ns), compare);
	return n;
}
