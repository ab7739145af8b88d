/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/sock.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "dp/umem.h"

#define BUSY_TRIES  100
#define BUSY_NAP_NS 10000000L
/*
 * Each frame in flight in copy mode is an skb that is charged to the socket:
 * the default limit would cap them at some two hundred.
 */
#define SEND_BUFFER (64 << 20)

static int bind_once(struct umem *u, const struct sock_config *cfg, struct sock *s)
{
	const struct xsk_socket_config xc = {
		.rx_size = cfg->rx_ring,
		.tx_size = cfg->tx_ring,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = (uint16_t)((cfg->zero_copy ? XDP_ZEROCOPY : XDP_COPY) |
					 XDP_USE_NEED_WAKEUP),
	};
	struct xsk_ring_cons *rx = s->receives ? &s->rxq.rx : NULL;
	struct xsk_ring_prod *tx = s->sends ? &s->txq.tx : NULL;
	char name[IF_NAMESIZE];
	int err;

	/* By index: the device may have been renamed since it was looked at. */
	if (!if_indextoname(cfg->ifindex, name))
		return -ENODEV;
	if (!cfg->zero_copy && u->shared)
		return xsk_socket__create_shared(&s->xsk, name, cfg->queue, u->shared, rx, tx,
						 &s->rxq.fill, &s->txq.comp, &xc);
	err = umem_register(u, &s->rxq.fill, &s->txq.comp, &s->own_umem);
	if (err)
		return err;
	err = xsk_socket__create(&s->xsk, name, cfg->queue, s->own_umem, rx, tx, &xc);
	if (err) {
		xsk_umem__delete(s->own_umem);
		s->own_umem = NULL;
	}
	return err;
}

static int bind_retry(struct umem *u, const struct sock_config *cfg, struct sock *s)
{
	const struct timespec nap = { .tv_nsec = BUSY_NAP_NS };
	int err = bind_once(u, cfg, s);

	/* A queue is still taken for a moment after its socket was closed. */
	for (int i = 0; i < BUSY_TRIES && err == -EBUSY; i++) {
		nanosleep(&nap, NULL);
		err = bind_once(u, cfg, s);
	}
	return err;
}

/* What the kernel made of it. */
static int check_mode(struct sock *s, bool want_zero_copy)
{
	struct xdp_options opt = { 0 };
	socklen_t len = sizeof(opt);

	if (getsockopt(s->fd, SOL_XDP, XDP_OPTIONS, &opt, &len))
		return -errno;
	s->zero_copy = opt.flags & XDP_OPTIONS_ZEROCOPY;
	return s->zero_copy == want_zero_copy ? 0 : -EOPNOTSUPP;
}

static int rings_init(struct umem *u, const struct sock_config *cfg, struct sock *s)
{
	int err;

	err = rxq_init(&s->rxq, u->frame_size, u->n_frames);
	if (err)
		return err;
	return txq_init(&s->txq, u->frame_size, u->n_frames, s->sends ? cfg->tx_cap : 0);
}

int sock_open(struct umem *u, const struct sock_config *cfg, struct sock **out)
{
	const int send_buffer = SEND_BUFFER;
	struct sock *s;
	int err;

	if ((!cfg->rx_ring && !cfg->tx_ring) ||
	    (cfg->rx_ring && !umem_ring_is_valid(cfg->rx_ring)) ||
	    (cfg->tx_ring && !umem_ring_is_valid(cfg->tx_ring)))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->fd = -1;
	s->slot = cfg->slot;
	s->queue = cfg->queue;
	s->receives = cfg->rx_ring;
	s->sends = cfg->tx_ring;
	err = bind_retry(u, cfg, s);
	if (err) {
		s->xsk = NULL;
		goto err_free;
	}
	s->fd = xsk_socket__fd(s->xsk);
	err = check_mode(s, cfg->zero_copy);
	if (err)
		goto err_free;
	err = rings_init(u, cfg, s);
	if (err)
		goto err_free;
	/* Refused without CAP_NET_ADMIN: then fewer frames are in flight, no more. */
	if (s->sends)
		(void)setsockopt(s->fd, SOL_SOCKET, SO_SNDBUFFORCE, &send_buffer,
				 sizeof(send_buffer));
	*out = s;
	return 0;

err_free:
	sock_free(s);
	return err;
}

void sock_close(struct sock *s)
{
	if (s->xsk)
		xsk_socket__delete(s->xsk);
	if (s->own_umem)
		xsk_umem__delete(s->own_umem);
	s->xsk = NULL;
	s->own_umem = NULL;
	s->fd = -1;
}

void sock_free(struct sock *s)
{
	if (!s)
		return;
	sock_close(s);
	rxq_fini(&s->rxq);
	txq_fini(&s->txq);
	free(s);
}

int sock_stats_read(const struct sock *s, struct sock_stats *out)
{
	struct xdp_statistics st = { 0 };
	socklen_t len = sizeof(st);

	if (getsockopt(s->fd, SOL_XDP, XDP_STATISTICS, &st, &len))
		return -errno;
	out->rx_dropped = st.rx_dropped;
	out->rx_ring_full = st.rx_ring_full;
	out->fill_empty = st.rx_fill_ring_empty_descs;
	out->tx_invalid = st.tx_invalid_descs;
	out->tx_empty = st.tx_ring_empty_descs;
	return 0;
}

int sock_kick(const struct sock *s)
{
	return sendto(s->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? -errno : 0;
}

void sock_wake_rx(const struct sock *s)
{
	(void)recvfrom(s->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}
