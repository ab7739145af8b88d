/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AF_XDP rings in plain memory, and the kernel's side of them. RINGS_SIZE
 * entries each.
 */
#ifndef XB_TESTS_RINGS_H
#define XB_TESTS_RINGS_H

#include <stdint.h>
#include <string.h>
#include <xdp/xsk.h>

#define RINGS_SIZE 8

struct ring_mem {
	uint32_t producer, consumer, flags;
	union {
		uint64_t addr[RINGS_SIZE];
		struct xdp_desc desc[RINGS_SIZE];
	};
};

static inline void ring_prod_init(struct xsk_ring_prod *r, struct ring_mem *m)
{
	memset(m, 0, sizeof(*m));
	*r = (struct xsk_ring_prod){
		.mask = RINGS_SIZE - 1,
		.size = RINGS_SIZE,
		.producer = &m->producer,
		.consumer = &m->consumer,
		.ring = m->addr,
		.flags = &m->flags,
		/* As libxdp has it: the consumer, ahead by the size. */
		.cached_cons = RINGS_SIZE,
	};
}

static inline void ring_cons_init(struct xsk_ring_cons *r, struct ring_mem *m)
{
	memset(m, 0, sizeof(*m));
	*r = (struct xsk_ring_cons){
		.mask = RINGS_SIZE - 1,
		.size = RINGS_SIZE,
		.producer = &m->producer,
		.consumer = &m->consumer,
		.ring = m->addr,
		.flags = &m->flags,
	};
}

/* The kernel gives an address back (completion ring). */
static inline void kernel_puts_addr(struct ring_mem *m, uint64_t addr)
{
	m->addr[m->producer++ % RINGS_SIZE] = addr;
}

/* The kernel hands over a received frame (RX ring). */
static inline void kernel_puts_desc(struct ring_mem *m, uint64_t addr, uint32_t len)
{
	m->desc[m->producer++ % RINGS_SIZE] = (struct xdp_desc){ .addr = addr, .len = len };
}

static inline uint32_t ring_len(const struct ring_mem *m)
{
	return m->producer - m->consumer;
}

#endif
