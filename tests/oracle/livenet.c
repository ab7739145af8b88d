/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "livenet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mac.h"

#define MTU       1500
#define TAG_SIZE  4
#define TYPE_TEST 0x88b5
#define TYPE_IPV6 0x86dd
#define TYPE_IPV4 0x0800
#define IGMP      2
#define SOCKETS   (LIVE_PLACES + LIVE_PORTS) /* the stack's ports have two each */

struct livenet {
	int own_ns, peer_ns;
	int own_ioctl, peer_ioctl;
	struct pollfd socket[SOCKETS]; /* by place; then the second ones of the stack's */
	struct live_heard heard[LIVE_PLACES];
	uint8_t buf[TAG_SIZE + LIVE_FRAME_MAX];
};

const char *livenet_name(enum live_place place)
{
	static const char *const port[LIVE_PORTS] = { "p1", "p2", "p3", "p4" };

	if (place == LIVE_UP)
		return LIVE_BRIDGE;
	return port[(place - LIVE_OUT) % LIVE_PORTS];
}

/* ---- sockets ---- */

/* Hears frames of one protocol at one device of this namespace, and sends there. */
static int open_socket(const char *dev, uint16_t protocol)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };
	int fd, one = 1, err;

	addr.sll_ifindex = (int)if_nametoindex(dev);
	if (!addr.sll_ifindex)
		return -ENODEV;
	/* Protocol 0 until it is bound: nothing of other devices is heard. */
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&addr, sizeof(addr))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int keep_socket(struct livenet *n, uint32_t i, const char *dev, uint16_t protocol)
{
	int fd = open_socket(dev, protocol);

	if (fd < 0)
		return fd;
	n->socket[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
	return 0;
}

static int open_own(struct livenet *n)
{
	int err = 0;

	n->own_ioctl = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (n->own_ioctl < 0)
		return -errno;
	for (uint32_t i = 0; !err && i < LIVE_PORTS; i++) {
		const char *dev = livenet_name(LIVE_STACK + i);

		err = keep_socket(n, LIVE_STACK + i, dev, TYPE_TEST);
		if (!err)
			err = keep_socket(n, LIVE_PLACES + i, dev, ETH_P_802_2);
	}
	return err;
}

static void peer_name(uint32_t i, char *dev)
{
	snprintf(dev, IFNAMSIZ, "h%u", i + 1);
}

static int open_peers(struct livenet *n)
{
	char dev[IFNAMSIZ];
	int err = 0;

	if (setns(n->peer_ns, CLONE_NEWNET))
		return -errno;
	n->peer_ioctl = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (n->peer_ioctl < 0)
		err = -errno;
	for (uint32_t i = 0; !err && i < LIVE_PORTS; i++) {
		peer_name(i, dev);
		err = keep_socket(n, LIVE_OUT + i, dev, ETH_P_ALL);
	}
	if (setns(n->own_ns, CLONE_NEWNET))
		return -errno;
	return err;
}

int livenet_open(const char *peer, struct livenet **out)
{
	struct livenet *n = calloc(1, sizeof(*n));
	char path[128];
	int err;

	if (!n)
		return -ENOMEM;
	n->own_ns = n->peer_ns = n->own_ioctl = n->peer_ioctl = -1;
	for (uint32_t i = 0; i < SOCKETS; i++)
		n->socket[i].fd = -1;
	snprintf(path, sizeof(path), "/run/netns/%s", peer);
	n->own_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	n->peer_ns = open(path, O_RDONLY | O_CLOEXEC);
	err = n->own_ns < 0 || n->peer_ns < 0 ? -errno : 0;
	if (!err)
		err = open_peers(n);
	if (!err)
		err = open_own(n);
	if (err) {
		livenet_close(n);
		return err;
	}
	*out = n;
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void livenet_close(struct livenet *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < SOCKETS; i++)
		close_fd(n->socket[i].fd);
	close_fd(n->own_ns);
	close_fd(n->peer_ns);
	close_fd(n->own_ioctl);
	close_fd(n->peer_ioctl);
	free(n);
}

int livenet_listen_up(struct livenet *n)
{
	close_fd(n->socket[LIVE_UP].fd);
	n->socket[LIVE_UP].fd = -1;
	return keep_socket(n, LIVE_UP, LIVE_BRIDGE, ETH_P_ALL);
}

/* ---- devices ---- */

static int get_flags(int fd, const char *dev, uint32_t *flags)
{
	struct ifreq r = { 0 };

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", dev);
	if (ioctl(fd, SIOCGIFFLAGS, &r))
		return -errno;
	*flags = (uint16_t)r.ifr_flags;
	return 0;
}

static int set_up(int fd, const char *dev, bool up)
{
	struct ifreq r = { 0 };
	uint32_t flags;
	int err = get_flags(fd, dev, &flags);

	if (err || !(flags & IFF_UP) == !up)
		return err;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", dev);
	r.ifr_flags = (short)(flags ^ IFF_UP);
	return ioctl(fd, SIOCSIFFLAGS, &r) ? -errno : 0;
}

static int set_mtu(int fd, const char *dev)
{
	struct ifreq r = { 0 };

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", dev);
	if (ioctl(fd, SIOCGIFMTU, &r))
		return -errno;
	if (r.ifr_mtu == MTU)
		return 0;
	r.ifr_mtu = MTU;
	return ioctl(fd, SIOCSIFMTU, &r) ? -errno : 0;
}

static int set_address(int fd, const char *dev, uint8_t number)
{
	const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 1, number };
	struct ifreq r = { 0 };

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", dev);
	if (ioctl(fd, SIOCGIFHWADDR, &r))
		return -errno;
	if (!memcmp(r.ifr_hwaddr.sa_data, mac, MAC_LEN))
		return 0;
	r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(r.ifr_hwaddr.sa_data, mac, MAC_LEN);
	return ioctl(fd, SIOCSIFHWADDR, &r) ? -errno : 0;
}

static int reset_pair(struct livenet *n, uint32_t i)
{
	const char *port = livenet_name(LIVE_OUT + i);
	char peer[IFNAMSIZ];
	int err;

	peer_name(i, peer);
	err = set_address(n->own_ioctl, port, (uint8_t)(i + 1));
	if (!err)
		err = set_mtu(n->own_ioctl, port);
	if (!err)
		err = set_mtu(n->peer_ioctl, peer);
	if (!err)
		err = set_up(n->own_ioctl, port, true);
	return err ? err : set_up(n->peer_ioctl, peer, true);
}

int livenet_reset(struct livenet *n)
{
	int err = 0;

	close_fd(n->socket[LIVE_UP].fd);
	n->socket[LIVE_UP].fd = -1;
	if (if_nametoindex(LIVE_BRIDGE)) {
		err = set_up(n->own_ioctl, LIVE_BRIDGE, false);
		if (!err && ioctl(n->own_ioctl, SIOCBRDELBR, LIVE_BRIDGE))
			err = -errno;
	}
	for (uint32_t i = 0; !err && i < LIVE_PORTS; i++)
		err = reset_pair(n, i);
	return err;
}

static bool file_has(const char *path, const char *text)
{
	char buf[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	return len > 0 && !strncmp(buf, text, strlen(text));
}

static bool is_up(int fd, const char *dev, bool *running)
{
	uint32_t flags = 0;

	get_flags(fd, dev, &flags);
	*running = flags & IFF_RUNNING;
	return flags & IFF_UP;
}

bool livenet_is_steady(struct livenet *n)
{
	for (uint32_t i = 0; i < LIVE_PORTS; i++) {
		bool up[2], running[2];
		char peer[IFNAMSIZ];

		peer_name(i, peer);
		up[0] = is_up(n->own_ioctl, livenet_name(LIVE_OUT + i), &running[0]);
		up[1] = is_up(n->peer_ioctl, peer, &running[1]);
		if (running[0] != (up[0] && up[1]) || running[1] != running[0])
			return false;
	}
	/* Unreadable while br0 is down, and so not 1. */
	return file_has("/sys/class/net/" LIVE_BRIDGE "/carrier", "1") ==
	       file_has("/sys/class/net/" LIVE_BRIDGE "/operstate", "up");
}

/* ---- commands ---- */

#define PEER "peer: "

struct job {
	bool in_peer;
	const char *program; /* "ip" or "bridge" reads lines; NULL: a shell does */
	char input[16384];
};

/* Which program can read this command as one of its lines; @line begins behind its name. */
static const char *program_of(const char *command, const char **line)
{
	static const char *const known[] = { "ip", "bridge" };

	*line = command;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(known[i]);

		if (!strncmp(command, known[i], len) && command[len] == ' ') {
			*line = command + len + 1;
			return known[i];
		}
	}
	return NULL;
}

/* Takes the commands that one program can do at once; their number. */
static size_t take_commands(const char *const *command, size_t count, struct job *j)
{
	size_t used = 0, n;

	for (n = 0; n < count; n++) {
		bool in_peer = !strncmp(command[n], PEER, strlen(PEER));
		const char *line, *program;

		program = program_of(command[n] + (in_peer ? strlen(PEER) : 0), &line);
		if (n && (program != j->program || in_peer != j->in_peer))
			break;
		if (used + strlen(line) + 2 > sizeof(j->input))
			break;
		j->in_peer = in_peer;
		j->program = program;
		used += (size_t)sprintf(j->input + used, "%s\n", line);
	}
	return n;
}

__attribute__((noreturn)) static void run_child(const struct livenet *n, const struct job *j,
						int in, int out)
{
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
	    (j->in_peer && setns(n->peer_ns, CLONE_NEWNET)))
		_exit(126);
	if (j->program)
		execlp(j->program, j->program, "-batch", "-", (char *)NULL);
	else
		execlp("sh", "sh", "-e", (char *)NULL);
	_exit(127);
}

static void read_error(int fd, char *error)
{
	size_t used = 0;
	ssize_t len;

	while (used + 1 < LIVE_ERROR_SIZE &&
	       (len = read(fd, error + used, LIVE_ERROR_SIZE - 1 - used)) > 0)
		used += (size_t)len;
	error[used] = 0;
	for (char *p = error; *p; p++) {
		if (*p == '\n')
			*p = p[1] ? ' ' : 0;
	}
}

/* A file without a name that has the text, at its beginning. */
static int input_file(const char *text)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ssize_t len = (ssize_t)strlen(text);

	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)len) != len || lseek(fd, 0, SEEK_SET)) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static int run_job(const struct livenet *n, const struct job *j, char *error)
{
	int in = input_file(j->input), out[2], status = 0;
	pid_t pid;

	snprintf(error, LIVE_ERROR_SIZE, "no process");
	if (in < 0)
		return in;
	if (pipe2(out, O_CLOEXEC)) {
		close(in);
		return -EMFILE;
	}
	pid = fork();
	if (!pid)
		run_child(n, j, in, out[1]);
	close(in);
	close(out[1]);
	if (pid > 0) {
		read_error(out[0], error);
		waitpid(pid, &status, 0);
	}
	close(out[0]);
	return pid > 0 && !status ? 0 : -EINVAL;
}

int livenet_run(struct livenet *n, const char *const *command, size_t count, char *error)
{
	static struct job j;
	int err = 0;

	for (size_t done = 0; !err && done < count;) {
		size_t taken = take_commands(command + done, count - done, &j);

		if (!taken)
			return -E2BIG;
		err = run_job(n, &j, error);
		done += taken;
	}
	return err;
}

/* ---- frames ---- */

int livenet_send(struct livenet *n, const char *name, const struct live_frame *f)
{
	for (uint32_t i = 0; i <= LIVE_PORTS; i++) {
		if (strcmp(name, livenet_name(LIVE_UP + i)) != 0)
			continue;
		return send(n->socket[LIVE_UP + i].fd, f->bytes, f->len, 0) < 0 ? -errno : 0;
	}
	return -ENODEV;
}

/* Puts the tag that the kernel carries beside the frame back; its size. */
static uint32_t restore_tag(const struct msghdr *h, uint8_t *p)
{
	struct tpacket_auxdata aux = { 0 };

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR((struct msghdr *)h, c)) {
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA)
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	}
	if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
		return 0;
	memmove(p - TAG_SIZE, p, 2 * MAC_LEN);
	p[8] = (uint8_t)(aux.tp_vlan_tpid >> 8);
	p[9] = (uint8_t)aux.tp_vlan_tpid;
	p[10] = (uint8_t)(aux.tp_vlan_tci >> 8);
	p[11] = (uint8_t)aux.tp_vlan_tci;
	return TAG_SIZE;
}

/* True for what the host says through br0 without being asked: IGMP, and IPv6 of br0's address. */
static bool is_own(const uint8_t *p, uint32_t len)
{
	static const uint8_t bridge[] = { 2, 0, 0, 0, 0 };
	uint32_t at;
	uint16_t type = live_ethertype(p, len, &at);

	if (len < 14 || memcmp(p + MAC_LEN, bridge, sizeof(bridge)) != 0)
		return false;
	return type == TYPE_IPV6 || (type == TYPE_IPV4 && at + 10 <= len && p[at + 9] == IGMP);
}

/* One frame of @fd; false if there is none. */
static bool take_frame(struct livenet *n, int fd, struct live_heard *heard)
{
	uint8_t control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	uint8_t *p = n->buf + TAG_SIZE;
	struct iovec iov = { p, LIVE_FRAME_MAX };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t len = recvmsg(fd, &h, MSG_DONTWAIT);
	uint32_t tag;

	if (len < 0)
		return errno == ENETDOWN; /* said once after the device went down */
	tag = restore_tag(&h, p);
	p -= tag;
	len += tag;
	if (is_own(p, (uint32_t)len))
		return true;
	if (heard->n == LIVE_HEARD_MAX || len > LIVE_FRAME_MAX) {
		heard->n_lost++;
		return true;
	}
	heard->v[heard->n].len = (uint32_t)len;
	memcpy(heard->v[heard->n++].bytes, p, (size_t)len);
	return true;
}

static uint32_t n_heard(const struct livenet *n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < LIVE_PLACES; i++)
		sum += n->heard[i].n + n->heard[i].n_lost;
	return sum;
}

bool livenet_hear(struct livenet *n, int ms)
{
	uint32_t before = n_heard(n);

	if (poll(n->socket, SOCKETS, ms) <= 0)
		return false;
	for (uint32_t i = 0; i < SOCKETS; i++) {
		uint32_t place = i < LIVE_PLACES ? i : i - LIVE_PLACES + LIVE_STACK;

		if (!n->socket[i].revents)
			continue;
		for (int k = 0; k < 1000 && take_frame(n, n->socket[i].fd, &n->heard[place]); k++)
			;
	}
	return n_heard(n) != before;
}

struct live_heard *livenet_heard(struct livenet *n, enum live_place place)
{
	return &n->heard[place];
}

void livenet_forget(struct livenet *n)
{
	for (uint32_t i = 0; i < LIVE_PLACES; i++)
		n->heard[i].n = n->heard[i].n_lost = 0;
}
