/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ethdev.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

int ethdev_queues(const char *ifname, uint32_t *n_rx, uint32_t *n_tx)
{
	struct ethtool_channels ch = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq ifr = { .ifr_data = (char *)&ch };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	strncpy(ifr.ifr_name, ifname, sizeof(ifr.ifr_name) - 1);
	err = ioctl(fd, SIOCETHTOOL, &ifr) ? -errno : 0;
	close(fd);
	if (err && err != -EOPNOTSUPP)
		return err;
	*n_rx = ch.rx_count + ch.combined_count;
	*n_tx = ch.tx_count + ch.combined_count;
	if (!*n_rx)
		*n_rx = 1;
	if (!*n_tx)
		*n_tx = 1;
	return 0;
}
