// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xb_host: the host's copy of a flooded frame arrives on the far end of a
 * private veth pair; this program, at tc ingress there, makes it a frame that
 * the bridge device itself has received. It never enters the forwarding of the
 * kernel bridge, so that nothing can be sent twice.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "xb_maps.h"

const volatile struct xb_host_const xb_const = { 0 };

SEC("tc")
int xb_host(struct __sk_buff *skb)
{
	(void)skb;
	/* Without a bridge the frame ends here: the pair has no protocol of its own. */
	if (bpf_redirect(xb_const.bridge_ifindex, BPF_F_INGRESS) != TC_ACT_REDIRECT)
		return TC_ACT_SHOT;
	return TC_ACT_REDIRECT;
}

char xb_license[] SEC("license") = "GPL";
