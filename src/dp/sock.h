/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sock: one AF_XDP socket on a (port, queue): the descriptor, its four rings
 * (rxq, txq) and how it is bound.
 *
 * The control thread opens and closes it. In between the rings belong to one
 * worker. sock_close() ends the socket but keeps the record of which frames it
 * held; sock_free() ends that too.
 *
 * Zero-copy or copy is asked for explicitly and read back; the socket never
 * decides about the mode of the XDP program.
 */
#ifndef XB_DP_SOCK_H
#define XB_DP_SOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "dp/rxq.h"
#include "dp/txq.h"

struct umem;

struct sock {
	/* Hot. */
	int fd;        /* -1 once closed */
	bool receives; /* has an RX ring */
	bool sends;    /* has a TX ring */
	bool zero_copy;
	bool dead; /* atomic; the kernel said that the device has gone or is down */
	uint16_t slot;
	uint16_t queue;
	struct txq txq;
	struct rxq rxq;

	/* Control thread. */
	struct xsk_socket *xsk;
	struct xsk_umem *own_umem; /* NULL: shares the umem's registration */
};

struct sock_config {
	uint32_t ifindex;
	uint16_t slot;
	uint16_t queue;
	uint32_t rx_ring; /* 0: no RX */
	uint32_t tx_ring; /* 0: no TX */
	uint32_t tx_cap;  /* frames in flight */
	bool zero_copy;
};

struct sock_stats {
	uint64_t rx_dropped, rx_ring_full, fill_empty, tx_invalid, tx_empty;
};

/*
 * Opens and binds. The rings are empty. Errors: -EOPNOTSUPP the driver cannot do
 * zero-copy; -EBUSY another socket has the queue (waits up to a second for one
 * that is being closed); -ENODEV; -EINVAL no such queue; -ENOMEM.
 */
int sock_open(struct umem *u, const struct sock_config *cfg, struct sock **out);

/* Ends the socket; what it held can be read from rxq.held and txq.held. */
void sock_close(struct sock *s);
/* sock_close(), and forgets it. */
void sock_free(struct sock *s);

/* The kernel's counters of this socket. 0 or -errno. */
int sock_stats_read(const struct sock *s, struct sock_stats *out);

/*
 * Asks the kernel to send what is on the TX ring (in copy mode up to 32
 * frames). 0; -EAGAIN: more remain, or the device is busy; -ENETDOWN and
 * -ENXIO: the device is down or has gone.
 */
int sock_kick(const struct sock *s);

/* Tells a driver that sleeps for want of fill entries that there are some. */
void sock_wake_rx(const struct sock *s);

static inline bool sock_is_dead(const struct sock *s)
{
	return __atomic_load_n(&s->dead, __ATOMIC_RELAXED);
}

#endif
