/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * egress_tag DEV TPID TCI (hexadecimal): from now on every frame that leaves by
 * DEV carries this tag beside its bytes, as the frames of a VLAN device do. For
 * kernels without VLAN devices.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int load(uint16_t tpid, uint16_t tci)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = htons(tpid) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = tci },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_skb_vlan_push },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "egress_tag", "GPL", insns,
			     sizeof(insns) / sizeof(*insns), NULL);
}

static int attach(unsigned int ifindex, int fd)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = 1, .priority = 1, .flags = BPF_TC_F_REPLACE,
		    .prog_fd = fd);
	int err = bpf_tc_hook_create(&hook);

	return err && err != -EEXIST ? err : bpf_tc_attach(&hook, &opts);
}

int main(int argc, char **argv)
{
	unsigned int ifindex;
	int err, fd;

	ifindex = argc == 4 ? if_nametoindex(argv[1]) : 0;
	if (!ifindex) {
		fprintf(stderr, "usage: egress_tag DEV TPID TCI\n");
		return 2;
	}
	libbpf_set_print(NULL);
	fd = load((uint16_t)strtoul(argv[2], NULL, 16), (uint16_t)strtoul(argv[3], NULL, 16));
	err = fd < 0 ? fd : attach(ifindex, fd);
	if (err)
		fprintf(stderr, "egress_tag: %s: %s\n", argv[1], strerror(-err));
	if (fd >= 0)
		close(fd);
	return err ? 1 : 0;
}
