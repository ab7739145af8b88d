// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How programs get onto interfaces and off again, what happens to pins when
 * daemons and interfaces come and go, and what comes out of a port: tags that
 * are put back, and frames for the host.
 */
#include "env.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include "util/kernel.h"

#define SLOT       3
#define N_FRAMES   64
#define FRAME_SIZE 2048
#define XSK_RING   64

static bool dir_has_pin(uint32_t index)
{
	return env_try("ls %s/*/%u >/dev/null 2>&1", env_pin_dir(), index);
}

/* Number of the link that is pinned for @index. */
static uint32_t pinned_link_id(uint32_t index)
{
	struct bpf_link_info info = { 0 };
	struct stat st;
	uint32_t len = sizeof(info);
	char path[128];
	int fd;

	assert_int_equal(stat("/proc/thread-self/ns/net", &st), 0);
	snprintf(path, sizeof(path), "%s/%llu/%u", env_pin_dir(), (unsigned long long)st.st_ino,
		 index);
	fd = bpf_obj_get(path);
	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	close(fd);
	return info.id;
}

/* A program that accepts everything, of somebody else. */
static int other_program(enum bpf_prog_type type)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(type, "other", "GPL", insns, N_ELEM(insns), NULL);

	assert_true(fd >= 0);
	return fd;
}

static void the_next_daemon_takes_the_link_over(void **state)
{
	struct prog_set *ps;
	uint32_t link, first;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	ps = env_set_open();
	env_attach(ps, SLOT, "va", false);
	first = prog_id(ps, SLOT);
	link = pinned_link_id(env_index("va"));
	assert_int_equal(env_xdp_id("va"), first);
	prog_set_close(ps);
	assert_int_equal(env_xdp_id("va"), first);

	/* The same link with another program in it was never away from the interface. */
	ps = env_set_open();
	assert_int_equal(env_xdp_id("va"), first);
	env_attach(ps, SLOT, "va", false);
	assert_int_equal(pinned_link_id(env_index("va")), link);
	assert_int_not_equal(prog_id(ps, SLOT), first);
	assert_int_equal(env_xdp_id("va"), prog_id(ps, SLOT));

	prog_detach(ps, SLOT);
	assert_int_equal(env_xdp_id("va"), 0);
	assert_int_equal(prog_id(ps, SLOT), 0);
	assert_false(dir_has_pin(env_index("va")));
	prog_set_close(ps);
}

static void a_change_between_the_two_objects_keeps_the_link(void **state)
{
	struct prog_set *ps;
	uint32_t link;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	for (int from = 0; from < 2; from++) {
		ps = env_set_open();
		env_attach(ps, SLOT, "va", from);
		link = pinned_link_id(env_index("va"));
		prog_set_close(ps);
		ps = env_set_open();
		env_attach(ps, SLOT, "va", !from);
		assert_int_equal(env_xdp_id("va"), prog_id(ps, SLOT));
		assert_int_equal(pinned_link_id(env_index("va")), link);
		prog_detach(ps, SLOT);
		prog_set_close(ps);
	}
}

static void a_renamed_interface_keeps_its_link(void **state)
{
	struct prog_set *ps;
	uint32_t link;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	ps = env_set_open();
	env_attach(ps, SLOT, "va", false);
	link = pinned_link_id(env_index("va"));
	prog_set_close(ps);
	env_run("ip link set va down && ip link set va name vx && ip link set vx up");
	ps = env_set_open();
	assert_int_equal(pinned_link_id(env_index("vx")), link);
	env_attach(ps, SLOT, "vx", false);
	assert_int_equal(pinned_link_id(env_index("vx")), link);
	prog_detach(ps, SLOT);
	prog_set_close(ps);
}

static void the_pin_of_a_lost_interface_is_removed(void **state)
{
	struct prog_set *ps;
	uint32_t index;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	index = env_index("va");
	ps = env_set_open();
	env_attach(ps, SLOT, "va", false);
	prog_set_close(ps);
	/* Another one that has got its name and its number. */
	env_run("ip link del va && ip link add va index %u type veth peer name vb", index);
	assert_int_equal(env_index("va"), index);
	assert_true(dir_has_pin(index));
	ps = env_set_open();
	assert_false(dir_has_pin(index));
	env_attach(ps, SLOT, "va", false);
	assert_true(dir_has_pin(index));
	prog_detach(ps, SLOT);
	prog_set_close(ps);
}

static void a_port_that_is_not_wanted_any_more_is_swept(void **state)
{
	struct prog_set *ps;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	ps = env_set_open();
	env_attach(ps, SLOT, "va", false);
	env_attach(ps, SLOT + 1, "vb", false);
	prog_set_close(ps);
	ps = env_set_open();
	env_attach(ps, SLOT, "va", false);
	assert_int_not_equal(env_xdp_id("vb"), 0);
	assert_int_equal(prog_sweep(ps), 1);
	assert_int_equal(env_xdp_id("vb"), 0);
	assert_int_equal(env_xdp_id("va"), prog_id(ps, SLOT));
	assert_int_equal(prog_cleanup(env_pin_dir()), -EBUSY);
	prog_set_close(ps);
	assert_int_equal(prog_cleanup(env_pin_dir()), 1);
	assert_int_equal(env_xdp_id("va"), 0);
	assert_int_equal(prog_cleanup(env_pin_dir()), 0);
}

static void a_second_daemon_is_kept_out(void **state)
{
	struct prog_set *ps, *second = NULL;
	const char *why = NULL;
	int first_ns;

	(void)state;
	first_ns = env_ns_new();
	ps = env_set_open();
	assert_int_equal(prog_set_open(env_pin_dir(), &second, &why), -EBUSY);
	assert_null(second);
	assert_non_null(strstr(why, "another daemon"));
	/* But not from another namespace. */
	close(env_ns_new());
	second = env_set_open();
	prog_set_close(second);
	env_ns_enter(first_ns);
	prog_set_close(ps);
	ps = env_set_open();
	prog_set_close(ps);
	close(first_ns);
}

static void another_program_is_left_alone(void **state)
{
	struct bpf_xdp_attach_opts opts = { .sz = sizeof(opts) };
	struct prog_port_config cfg = { .name = "va", .slot = SLOT };
	int fd = other_program(BPF_PROG_TYPE_XDP);
	struct prog_set *ps;
	const char *why = NULL;
	char id[32];
	bool tags;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	cfg.ifindex = env_index("va");
	assert_int_equal(bpf_xdp_attach((int)cfg.ifindex, fd, XDP_FLAGS_DRV_MODE, &opts), 0);
	snprintf(id, sizeof(id), "id %u", env_xdp_id("va"));
	ps = env_set_open();
	assert_int_equal(prog_attach(ps, &cfg, &tags, &why), -EBUSY);
	if (!strstr(why, id) || !strstr(why, "ip link set dev va xdp off"))
		fail_msg("not helpful: %s", why);
	assert_int_equal(prog_id(ps, SLOT), 0);
	assert_false(dir_has_pin(cfg.ifindex));
	/* In generic mode it is in the way as well. */
	assert_int_equal(bpf_xdp_detach((int)cfg.ifindex, XDP_FLAGS_DRV_MODE, &opts), 0);
	assert_int_equal(bpf_xdp_attach((int)cfg.ifindex, fd, XDP_FLAGS_SKB_MODE, &opts), 0);
	assert_int_equal(prog_attach(ps, &cfg, &tags, &why), -EBUSY);
	assert_int_equal(bpf_xdp_detach((int)cfg.ifindex, XDP_FLAGS_SKB_MODE, &opts), 0);
	env_attach(ps, SLOT, "va", false);
	assert_int_equal(prog_attach(ps, &cfg, &tags, &why), -EINVAL);
	prog_detach(ps, SLOT);
	prog_set_close(ps);
	close(fd);
}

static void refusals_say_why(void **state)
{
	struct prog_port_config cfg = { .name = "lo", .slot = SLOT, .ifindex = 1 };
	struct prog_set *ps;
	const char *why = NULL;
	bool tags;

	(void)state;
	env_ns_new();
	ps = env_set_open();
	/* The loopback device has no native mode. */
	assert_int_equal(prog_attach(ps, &cfg, &tags, &why), -EOPNOTSUPP);
	assert_non_null(strstr(why, "lo: the driver refuses"));
	cfg.ifindex = 999;
	assert_int_equal(prog_attach(ps, &cfg, &tags, &why), -ENODEV);
	prog_set_close(ps);
	assert_int_not_equal(prog_set_open("/tmp/xbt-pins", &ps, &why), 0);
	assert_non_null(strstr(why, "mount -t bpf"));
}

static void a_moved_interface_is_detached_where_it_is(void **state)
{
	int home, away;
	struct prog_set *ps;
	uint32_t index;

	(void)state;
	away = env_ns_new();
	home = env_ns_new();
	env_veth("va", "vb");
	index = env_index("va");
	ps = env_set_open();
	env_attach(ps, SLOT, "va", true);
	env_run("ip link set va netns /proc/%d/fd/%d", (int)getpid(), away);
	prog_detach(ps, SLOT);
	assert_false(dir_has_pin(index));
	prog_set_close(ps);
	env_ns_enter(away);
	assert_int_equal(env_xdp_id("va"), 0);
	close(home);
	close(away);
}

static void an_interface_that_moved_while_no_daemon_ran_is_freed(void **state)
{
	int home, away;
	struct prog_set *ps;

	(void)state;
	away = env_ns_new();
	home = env_ns_new();
	env_veth("va", "vb");
	ps = env_set_open();
	env_attach(ps, SLOT, "va", false);
	prog_set_close(ps);
	env_run("ip link set va netns /proc/%d/fd/%d", (int)getpid(), away);
	/* The daemon of the new namespace gets it, though the old link is still on it. */
	env_ns_enter(away);
	env_run("ip link set va up");
	assert_int_not_equal(env_xdp_id("va"), 0);
	ps = env_set_open();
	env_attach(ps, SLOT, "va", false);
	assert_int_equal(env_xdp_id("va"), prog_id(ps, SLOT));
	prog_detach(ps, SLOT);
	prog_set_close(ps);
	close(home);
	close(away);
}

/* ---- frames ---- */

struct rx {
	void *area;
	struct xsk_umem *umem;
	struct xsk_socket *sock;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons comp, rx;
};

static void rx_open(struct rx *r, const char *name)
{
	struct xsk_socket_config cfg = { .rx_size = XSK_RING,
					 .tx_size = XSK_RING,
					 .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
					 .bind_flags = XDP_COPY };
	struct xsk_umem_config ucfg = { .fill_size = XSK_RING,
					.comp_size = XSK_RING,
					.frame_size = FRAME_SIZE };
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	uint32_t idx = 0;

	setrlimit(RLIMIT_MEMLOCK, &all);
	r->area = mmap(NULL, N_FRAMES * FRAME_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(r->area != MAP_FAILED);
	assert_int_equal(xsk_umem__create(&r->umem, r->area, N_FRAMES * FRAME_SIZE, &r->fill,
					  &r->comp, &ucfg),
			 0);
	assert_int_equal(xsk_socket__create(&r->sock, name, 0, r->umem, &r->rx, &r->tx, &cfg), 0);
	assert_int_equal(xsk_ring_prod__reserve(&r->fill, N_FRAMES, &idx), N_FRAMES);
	for (uint32_t i = 0; i < N_FRAMES; i++)
		*xsk_ring_prod__fill_addr(&r->fill, idx + i) = (uint64_t)i * FRAME_SIZE;
	xsk_ring_prod__submit(&r->fill, N_FRAMES);
}

static void rx_close(struct rx *r)
{
	xsk_socket__delete(r->sock);
	xsk_umem__delete(r->umem);
	munmap(r->area, N_FRAMES * FRAME_SIZE);
}

/* The next frame of our test protocol, 88b5, with or without a tag; 0 if none comes in 2 s. */
static size_t rx_next(struct rx *r, uint8_t *buf, size_t size)
{
	struct pollfd p = { .fd = xsk_socket__fd(r->sock), .events = POLLIN };
	const struct xdp_desc *d;
	size_t len;
	uint32_t idx = 0;

	while (poll(&p, 1, 2000) > 0) {
		if (!xsk_ring_cons__peek(&r->rx, 1, &idx))
			continue;
		d = xsk_ring_cons__rx_desc(&r->rx, idx);
		len = d->len < size ? d->len : size;
		memcpy(buf, xsk_umem__get_data(r->area, d->addr), len);
		xsk_ring_cons__release(&r->rx, 1);
		if (len >= 20 &&
		    (!memcmp(buf + 12, "\x88\xb5", 2) || !memcmp(buf + 16, "\x88\xb5", 2)))
			return len;
	}
	return 0;
}

/*
 * The next frame of protocol 88b5 that a packet socket sees; the accelerated
 * tag goes to @tci, -1 if there is none.
 */
static size_t packet_next(int fd, uint8_t *buf, size_t size, int *tci)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	struct iovec iov = { buf, size };
	struct tpacket_auxdata aux;
	ssize_t n;

	for (;;) {
		struct msghdr msg = { .msg_iov = &iov,
				      .msg_iovlen = 1,
				      .msg_control = &control,
				      .msg_controllen = sizeof(control) };
		struct cmsghdr *c;

		n = recvmsg(fd, &msg, 0);
		if (n <= 0)
			return 0;
		if (n < 20 || memcmp(buf + 12, "\x88\xb5", 2))
			continue;
		*tci = -1;
		c = CMSG_FIRSTHDR(&msg);
		if (c && c->cmsg_type == PACKET_AUXDATA) {
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
			if (aux.tp_status & TP_STATUS_VLAN_VALID)
				*tci = aux.tp_vlan_tci;
		}
		return (size_t)n;
	}
}

/* At tc egress of @name every frame gets an accelerated tag, as from a VLAN device. */
static void egress_tag(const char *name, uint16_t proto, uint16_t tci)
{
	struct bpf_tc_hook hook = { .sz = sizeof(hook),
				    .ifindex = (int)env_index(name),
				    .attach_point = BPF_TC_EGRESS };
	struct bpf_tc_opts opts = {
		.sz = sizeof(opts), .handle = 1, .priority = 1, .flags = BPF_TC_F_REPLACE
	};
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = htons(proto) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = tci },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_skb_vlan_push },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int err, fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "tag", "GPL", insns, N_ELEM(insns),
				    NULL);

	assert_true(fd >= 0);
	err = bpf_tc_hook_create(&hook);
	assert_true(!err || err == -EEXIST);
	opts.prog_fd = fd;
	assert_int_equal(bpf_tc_attach(&hook, &opts), 0);
	close(fd);
}

static void port_open(struct prog_set *ps, const struct rx *r, uint32_t bridge_flags, uint16_t tpid)
{
	struct xb_port p = { .flags = XB_PORT_USER, .bridge = 1, .max_len = FRAME_SIZE - 256 };
	struct xb_bridge b = { .flags = XB_BRIDGE_OPEN | bridge_flags, .tpid = htons(tpid) };

	assert_int_equal(prog_sock_set(ps, SLOT, 0, xsk_socket__fd(r->sock), 0), 0);
	assert_int_equal(prog_port_set(ps, SLOT, &p), 0);
	assert_int_equal(prog_bridge_set(ps, 1, &b), 0);
	env_gate_open(ps);
}

static const char *const plain_hex = "020000000001 020000000002 88b5 0102030405060708 "
				     "000000000000000000000000000000000000000000000000"
				     "0000000000000000000000000000";

static bool tag_is_put_back(struct rx *r, int from, uint16_t proto, uint16_t tci)
{
	uint8_t frame[64], got[256], want[68];
	size_t len = env_hex(plain_hex, frame, sizeof(frame)), n;

	env_send(from, frame, len);
	n = rx_next(r, got, sizeof(got));
	memcpy(want, frame, 12);
	want[12] = (uint8_t)(proto >> 8);
	want[13] = (uint8_t)proto;
	want[14] = (uint8_t)(tci >> 8);
	want[15] = (uint8_t)tci;
	memcpy(want + 16, frame + 12, len - 12);
	if (n == len + 4 && !memcmp(got, want, n))
		return true;
	print_error("%04x %04x: %zu bytes, type %02x%02x %02x%02x\n", proto, tci, n, got[12],
		    got[13], got[14], got[15]);
	return false;
}

/* Only a kernel before 6.8 may be without the object that recovers tags. */
static void skip_without_tags(void)
{
	struct utsname u;

	assert_false(uname(&u));
	assert_true(kernel_parse(u.release) < KERNEL_V(6, 8));
	skip();
}

static void an_accelerated_tag_is_put_back(void **state)
{
	static const uint16_t protos[] = { 0x8100, 0x88a8 }, tcis[] = { 5, 0xe005, 0 };
	struct rx r = { 0 };
	struct prog_set *ps;
	int from;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	ps = env_set_open();
	if (!env_attach(ps, SLOT, "va", true)) {
		print_message("the plain object is in use: this kernel shows no tags to XDP\n");
		prog_detach(ps, SLOT);
		prog_set_close(ps);
		skip_without_tags();
	}
	print_message("the object that recovers tags is in use\n");
	rx_open(&r, "va");
	port_open(ps, &r, XB_BRIDGE_FILTERING, 0x8100);
	from = env_packet("vb");
	for (size_t i = 0; i < N_ELEM(protos); i++) {
		for (size_t k = 0; k < N_ELEM(tcis); k++) {
			egress_tag("vb", protos[i], tcis[k]);
			assert_true(tag_is_put_back(&r, from, protos[i], tcis[k]));
		}
	}
	close(from);
	prog_detach(ps, SLOT);
	rx_close(&r);
	prog_set_close(ps);
}

/* Passed for @what: the frame comes out of the port as it came in, its tag still beside it. */
static void passes_with_tag(struct prog_set *ps, int from, int to, enum punt_reason what)
{
	uint8_t frame[64], got[256];
	size_t len = env_hex(plain_hex, frame, sizeof(frame));
	struct xb_punts before, after;
	int tci;

	assert_int_equal(prog_punts_read(ps, SLOT, &before), 0);
	env_send(from, frame, len);
	assert_int_equal(packet_next(to, got, sizeof(got), &tci), len);
	assert_memory_equal(got, frame, len);
	assert_int_equal(tci, 5);
	assert_int_equal(prog_punts_read(ps, SLOT, &after), 0);
	assert_int_equal(after.punt[what] - before.punt[what], 1);
	assert_int_equal(after.redirected, before.redirected);
}

static void an_accelerated_tag_counts_for_the_rules(void **state)
{
	const struct mac host = { { 2, 0, 0, 0, 0, 1 } };
	static const uint16_t five[] = { 5 };
	struct xb_port small = { .flags = XB_PORT_USER, .bridge = 1 };
	struct rx r = { 0 };
	struct prog_set *ps;
	int from, to;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	ps = env_set_open();
	if (!env_attach(ps, SLOT, "va", true)) {
		prog_detach(ps, SLOT);
		prog_set_close(ps);
		skip_without_tags();
	}
	rx_open(&r, "va");
	port_open(ps, &r, XB_BRIDGE_FILTERING, 0x8100);
	egress_tag("vb", 0x8100, 5);
	from = env_packet("vb");
	to = env_packet("va");
	assert_int_equal(prog_uppers_set(ps, SLOT, five, 1), 0);
	passes_with_tag(ps, from, to, PUNT_VLAN_UPPER);
	assert_int_equal(prog_uppers_set(ps, SLOT, NULL, 0), 0);
	assert_int_equal(prog_local_add(ps, 1, &host), 0);
	passes_with_tag(ps, from, to, PUNT_LOCAL);
	assert_int_equal(prog_local_del(ps, 1, &host), 0);
	/* One byte too little for the frame with its tag. */
	small.max_len = 60 + 3;
	assert_int_equal(prog_port_set(ps, SLOT, &small), 0);
	passes_with_tag(ps, from, to, PUNT_OVERSIZE);
	small.max_len = 60 + 4;
	assert_int_equal(prog_port_set(ps, SLOT, &small), 0);
	assert_true(tag_is_put_back(&r, from, 0x8100, 5));
	prog_sock_clear(ps, SLOT, 0);
	passes_with_tag(ps, from, to, PUNT_NO_SOCKET);
	close(from);
	close(to);
	prog_detach(ps, SLOT);
	rx_close(&r);
	prog_set_close(ps);
}

/* The same from a real VLAN device, where the kernel has such. */
static void the_tag_of_a_vlan_device_is_put_back(void **state)
{
	struct rx r = { 0 };
	struct prog_set *ps;
	int from;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	if (!env_try("ip link add link vb name vb.5 type vlan id 5 2>/dev/null && "
		     "ip link set vb.5 up")) {
		print_message("this kernel has no VLAN devices\n");
		skip();
	}
	ps = env_set_open();
	if (!env_attach(ps, SLOT, "va", true)) {
		print_message("the tag of a VLAN device is not recovered on this kernel\n");
		prog_detach(ps, SLOT);
		prog_set_close(ps);
		skip_without_tags();
	}
	rx_open(&r, "va");
	port_open(ps, &r, 0, 0x8100);
	from = env_packet("vb.5");
	assert_true(tag_is_put_back(&r, from, 0x8100, 5));
	print_message("the tag of a VLAN device is recovered on this kernel\n");
	close(from);
	prog_detach(ps, SLOT);
	rx_close(&r);
	prog_set_close(ps);
}

static void a_plain_frame_is_redirected_as_it_is(void **state)
{
	uint8_t frame[64], got[256];
	size_t len = env_hex(plain_hex, frame, sizeof(frame));
	struct rx r = { 0 };
	struct prog_set *ps;
	int from;

	(void)state;
	env_ns_new();
	env_veth("va", "vb");
	ps = env_set_open();
	rx_open(&r, "va");
	from = env_packet("vb");
	for (int tags = 0; tags < 2; tags++) {
		env_attach(ps, SLOT, "va", tags);
		port_open(ps, &r, XB_BRIDGE_FILTERING, 0x8100);
		env_send(from, frame, len);
		assert_int_equal(rx_next(&r, got, sizeof(got)), len);
		assert_memory_equal(got, frame, len);
		prog_detach(ps, SLOT);
	}
	close(from);
	rx_close(&r);
	prog_set_close(ps);
}

static void a_host_copy_arrives_at_the_bridge_as_received(void **state)
{
	uint8_t frame[64], got[256];
	size_t len = env_hex(plain_hex, frame, sizeof(frame));
	struct prog_set *ps;
	const char *why = NULL;
	int at, from, tci;

	(void)state;
	env_ns_new();
	env_veth("hp", "hq");
	env_run("ip link add br0 type bridge && ip link set br0 up");
	ps = env_set_open();
	/* Twice: after a restart the program is replaced. */
	for (int i = 0; i < 2; i++) {
		if (prog_host_attach(ps, env_index("hq"), env_index("br0"), &why))
			fail_msg("%s", why);
	}
	from = env_packet("hp");
	at = env_packet("br0");
	env_send(from, frame, len);
	assert_int_equal(packet_next(at, got, sizeof(got), &tci), len);
	assert_memory_equal(got, frame, len);
	assert_int_not_equal(prog_host_attach(ps, 999, env_index("br0"), &why), 0);
	close(at);
	close(from);
	prog_set_close(ps);
}

static int teardown(void **state)
{
	(void)state;
	env_pin_dir_remove();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_daemon_takes_the_link_over),
		cmocka_unit_test(a_change_between_the_two_objects_keeps_the_link),
		cmocka_unit_test(a_renamed_interface_keeps_its_link),
		cmocka_unit_test(the_pin_of_a_lost_interface_is_removed),
		cmocka_unit_test(a_port_that_is_not_wanted_any_more_is_swept),
		cmocka_unit_test(a_second_daemon_is_kept_out),
		cmocka_unit_test(another_program_is_left_alone),
		cmocka_unit_test(refusals_say_why),
		cmocka_unit_test(a_moved_interface_is_detached_where_it_is),
		cmocka_unit_test(an_interface_that_moved_while_no_daemon_ran_is_freed),
		cmocka_unit_test(a_plain_frame_is_redirected_as_it_is),
		cmocka_unit_test(an_accelerated_tag_is_put_back),
		cmocka_unit_test(an_accelerated_tag_counts_for_the_rules),
		cmocka_unit_test(the_tag_of_a_vlan_device_is_put_back),
		cmocka_unit_test(a_host_copy_arrives_at_the_bridge_as_received),
	};

	env_need_root();
	return cmocka_run_group_tests(tests, NULL, teardown);
}
