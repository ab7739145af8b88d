/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/guard.h"

#define FEATURE      "rx-vlan-hw-parse"
#define MAX_FEATURES 4096 /* the kernel has below 100 */
#define NOT_THERE    UINT32_MAX

static int ethtool(const char *ifname, void *request)
{
	struct ifreq r = { .ifr_data = request };
	int fd, err = 0;

	if (strlen(ifname) >= sizeof(r.ifr_name))
		return -ENODEV;
	strcpy(r.ifr_name, ifname);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCETHTOOL, &r) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int count_features(const char *ifname, uint32_t *n)
{
	struct ethtool_sset_info *s = calloc(1, sizeof(*s) + sizeof(s->data[0]));
	int err;

	if (!s)
		return -ENOMEM;
	s->cmd = ETHTOOL_GSSET_INFO;
	s->sset_mask = 1ULL << ETH_SS_FEATURES;
	err = ethtool(ifname, s);
	if (!err && (!s->sset_mask || s->data[0] > MAX_FEATURES))
		err = -EOPNOTSUPP;
	if (!err)
		*n = s->data[0];
	free(s);
	return err;
}

/* The feature's number, NOT_THERE if this kernel does not know it, of *@n features. */
static int find_feature(const char *ifname, uint32_t *n, uint32_t *bit)
{
	struct ethtool_gstrings *s;
	int err = count_features(ifname, n);

	if (err)
		return err;
	s = calloc(1, sizeof(*s) + (size_t)*n * ETH_GSTRING_LEN);
	if (!s)
		return -ENOMEM;
	s->cmd = ETHTOOL_GSTRINGS;
	s->string_set = ETH_SS_FEATURES;
	s->len = *n;
	err = ethtool(ifname, s);
	*bit = NOT_THERE;
	for (uint32_t i = 0; !err && i < *n; i++) {
		if (!strncmp((char *)s->data + (size_t)i * ETH_GSTRING_LEN, FEATURE,
			     ETH_GSTRING_LEN))
			*bit = i;
	}
	free(s);
	return err;
}

static int is_active(const char *ifname, uint32_t n, uint32_t bit, bool *active)
{
	uint32_t n_blocks = (n + 31) / 32;
	struct ethtool_gfeatures *f = calloc(1, sizeof(*f) + n_blocks * sizeof(f->features[0]));
	int err;

	if (!f)
		return -ENOMEM;
	f->cmd = ETHTOOL_GFEATURES;
	f->size = n_blocks;
	err = ethtool(ifname, f);
	if (!err)
		*active = f->features[bit / 32].active >> (bit % 32) & 1;
	free(f);
	return err;
}

static int request(const char *ifname, uint32_t n, uint32_t bit, bool on)
{
	uint32_t n_blocks = (n + 31) / 32;
	struct ethtool_sfeatures *f = calloc(1, sizeof(*f) + n_blocks * sizeof(f->features[0]));
	int err;

	if (!f)
		return -ENOMEM;
	f->cmd = ETHTOOL_SFEATURES;
	f->size = n_blocks;
	f->features[bit / 32].valid = 1U << (bit % 32);
	f->features[bit / 32].requested = on ? 1U << (bit % 32) : 0;
	err = ethtool(ifname, f);
	free(f);
	return err;
}

/* Requests, then reads back: a driver may refuse without an error. */
static int set_and_check(const char *ifname, bool on, bool *was)
{
	uint32_t n, bit;
	bool before, after;
	int err = find_feature(ifname, &n, &bit);

	if (err)
		return err;
	if (bit == NOT_THERE) {
		*was = false;
		return on ? -EOPNOTSUPP : 0;
	}
	err = is_active(ifname, n, bit, &before);
	if (!err && before != on) {
		err = request(ifname, n, bit, on);
		if (!err)
			err = is_active(ifname, n, bit, &after);
		if (!err && after != on) {
			/* Leave nothing wished for that is not so. */
			(void)request(ifname, n, bit, before);
			err = -EOPNOTSUPP;
		}
	}
	if (!err)
		*was = before;
	return err;
}

int guard_rxvlan_off(const char *ifname, bool *was_on)
{
	return set_and_check(ifname, false, was_on);
}

int guard_rxvlan_restore(const char *ifname)
{
	bool was;

	return set_and_check(ifname, true, &was);
}
