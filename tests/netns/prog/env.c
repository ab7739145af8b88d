// SPDX-License-Identifier: GPL-2.0-or-later
#include "env.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "util/clock.h"

void env_need_root(void)
{
	if (!geteuid() && !unshare(CLONE_NEWNET))
		return;
	printf("needs root and a network namespace\n");
	exit(77);
}

/*
 * The stack of a device that has come up sends IPv6 frames of its own for a while,
 * and a counter that one of them moves is taken for the test's.
 */
static void silence_ipv6(void)
{
	static const char path[] = "/proc/sys/net/ipv6/conf/default/disable_ipv6";
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	/* A kernel without IPv6 has nothing to silence. */
	if (fd < 0 && errno == ENOENT)
		return;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1", 1), 1);
	close(fd);
}

int env_ns_new(void)
{
	int fd;

	if (unshare(CLONE_NEWNET))
		fail_msg("unshare: %s", strerror(errno));
	silence_ipv6();
	fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

void env_ns_enter(int ns)
{
	assert_int_equal(setns(ns, CLONE_NEWNET), 0);
}

const char *env_pin_dir(void)
{
	static char dir[64];

	snprintf(dir, sizeof(dir), "/sys/fs/bpf/xbt-%d", (int)getpid());
	return dir;
}

void env_pin_dir_remove(void)
{
	env_try("find %s -depth -type d -delete 2>/dev/null", env_pin_dir());
}

static int __attribute__((format(printf, 1, 0))) run(const char *fmt, va_list ap)
{
	char cmd[512];

	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	return system(cmd);
}

void env_run(const char *fmt, ...)
{
	va_list ap;
	int status;

	va_start(ap, fmt);
	status = run(fmt, ap);
	va_end(ap);
	if (status)
		fail_msg("command failed: %s", fmt);
}

bool env_try(const char *fmt, ...)
{
	va_list ap;
	int status;

	va_start(ap, fmt);
	status = run(fmt, ap);
	va_end(ap);
	return !status;
}

void env_veth(const char *a, const char *b)
{
	env_run("ip link add %s type veth peer name %s && ip link set %s up && ip link set %s up",
		a, b, a, b);
}

uint32_t env_index(const char *name)
{
	uint32_t index = if_nametoindex(name);

	if (!index)
		fail_msg("no interface %s", name);
	return index;
}

struct prog_set *env_set_open(void)
{
	struct prog_set *ps = NULL;
	const char *why = NULL;
	int err = prog_set_open(env_pin_dir(), &ps, &why);

	if (err)
		fail_msg("prog_set_open: %s (%d)", why, err);
	return ps;
}

bool env_attach(struct prog_set *ps, uint16_t slot, const char *name, bool tags)
{
	struct prog_port_config cfg = {
		.ifindex = env_index(name), .name = name, .slot = slot, .recover_tags = tags
	};
	bool recovers = false;
	const char *why = NULL;
	int err = prog_attach(ps, &cfg, &recovers, &why);

	if (err)
		fail_msg("prog_attach %s: %s (%d)", name, why, err);
	return recovers;
}

void env_gate_open(struct prog_set *ps)
{
	struct xb_gate *g = prog_gate(ps);
	uint64_t now = clock_now_ns();

	g->heartbeat_ns = 3600 * NSEC_PER_SEC;
	g->control_beat_ns = 3600 * NSEC_PER_SEC;
	g->control_at_ns = now;
	for (size_t i = 0; i < XB_MAX_WORKERS; i++)
		g->worker_at_ns[i] = now;
	g->open = 1;
}

int env_xsk(void)
{
	int size = 2, fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_XDP, XDP_RX_RING, &size, sizeof(size)), 0);
	return fd;
}

uint32_t env_xdp_id(const char *name)
{
	uint32_t id = 0;

	assert_int_equal(bpf_xdp_query_id((int)env_index(name), XDP_FLAGS_DRV_MODE, &id), 0);
	return id;
}

size_t env_hex(const char *hex, uint8_t *buf, size_t size)
{
	size_t n = 0;
	unsigned int byte;

	while (*hex) {
		if (isspace((unsigned char)*hex)) {
			hex++;
			continue;
		}
		if (n == size || sscanf(hex, "%2x", &byte) != 1 || !hex[1])
			fail_msg("not a frame: %s", hex);
		buf[n++] = (uint8_t)byte;
		hex += 2;
	}
	return n;
}

int env_packet(const char *name)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	struct timeval limit = { .tv_sec = 2 };
	int one = 1, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	to.sll_ifindex = (int)env_index(name);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

void env_send(int fd, const uint8_t *frame, size_t len)
{
	assert_int_equal(send(fd, frame, len, 0), (ssize_t)len);
}
