// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xb_xdp: the XDP program of a port. It hands a frame to the AF_XDP socket of
 * its receive queue when that is certain to be right, and leaves every other
 * frame to the kernel bridge, untouched, with one punt reason counted.
 *
 * Two objects are made of this file: one without and one with XB_TAGS. The
 * latter sees an accelerated VLAN tag, which is not among the frame's bytes,
 * through a kfunc that only device-bound programs of kernel 6.8 and later may
 * call, and puts it back in front of a redirect.
 *
 * The rules stand in the order of enum punt_reason as far as that matters: what
 * makes the daemon's tables unsafe first, then the port, then the frame.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>

#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xb_maps.h"

#define TAG_LEN       4
#define ETH_P_MRP_BE  bpf_htons(0x88e3)
#define ETH_P_CFM_BE  bpf_htons(0x8902)
#define ETH_P_RARP_BE bpf_htons(ETH_P_RARP)
#define IPV4_LEN      20
#define IPV4_MAX_LEN  60
#define IPV6_LEN      40
#define PROTO_PIM     103
#define NO_DATA       61 /* ENODATA, which no BPF header has */

/* clang-format off */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XB_MAX_PORTS);
	__type(key, __u32);
	__type(value, struct xb_port);
} xb_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XB_MAX_BRIDGES);
	__type(key, __u32);
	__type(value, struct xb_bridge);
} xb_bridges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XB_MAX_PORTS * XB_MAX_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xb_queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, XB_MAX_PORTS * XB_MAX_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xb_socks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} xb_sentinel SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_gate);
} xb_gate SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, XB_MAX_LOCALS);
	__type(key, struct xb_local_key);
	__type(value, __u8);
} xb_locals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, XB_MAX_UPPERS);
	__type(key, __u32);
	__type(value, __u8);
} xb_uppers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XB_MAX_PORTS);
	__type(key, __u32);
	__type(value, struct xb_punts);
} xb_punts SEC(".maps");
/* clang-format on */

/* The only variable of the object: each instance has its own read-only copy. */
const volatile struct xb_port_const xb_const = { 0 };

/* What the rules look at, collected once per frame. */
struct look {
	__u32 sock;  /* key in xb_socks */
	__u32 len;   /* of the frame's bytes */
	__u32 l3;    /* offset of what follows the type */
	__u16 type;  /* network order, past the tag that the bridge would look past */
	__u16 proto; /* of the outer tag, network order; 0: no tag */
	__u16 tci;   /* of the outer tag, host order */
	bool accel;  /* the outer tag is not among the bytes */
};

#ifdef XB_TAGS
extern int bpf_xdp_metadata_rx_vlan_tag(const struct xdp_md *ctx, __be16 *vlan_proto,
					__u16 *vlan_tci) __ksym;

/* An accelerated tag into @l. False: the driver cannot say whether there is one. */
static __always_inline bool accel_tag(struct xdp_md *ctx, struct look *l)
{
	__be16 proto = 0;
	__u16 tci = 0;
	int err = bpf_xdp_metadata_rx_vlan_tag(ctx, &proto, &tci);

	if (err)
		return err == -NO_DATA;
	l->accel = true;
	l->proto = proto;
	l->tci = tci;
	return true;
}
#else
static __always_inline bool accel_tag(struct xdp_md *ctx, struct look *l)
{
	(void)ctx;
	(void)l;
	return true;
}
#endif

static __always_inline bool is_tag(__u16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

/* 01:80:c2:00:00:00 to 0f. */
static __always_inline bool is_link_local(const __u8 *mac)
{
	return mac[0] == 0x01 && mac[1] == 0x80 && mac[2] == 0xc2 && !mac[3] && !mac[4] &&
	       mac[5] < 0x10;
}

static __always_inline bool is_broadcast(const __u8 *mac)
{
	return (mac[0] & mac[1] & mac[2] & mac[3] & mac[4] & mac[5]) == 0xff;
}

static __always_inline bool is_zero(const __u8 *mac)
{
	return !(mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]);
}

/* The writers are other CPUs and other clock reads: @at may be later than @now. */
static __always_inline bool is_older(__u64 now, __u64 at, __u64 limit)
{
	return (__s64)(now - at) > (__s64)limit;
}

/*
 * Both sentinel sockets are in their map: the process lives. One of them is the
 * first descriptor that the kernel closes when it dies, from whichever end.
 */
static __always_inline bool is_alive(void)
{
	__u32 first = 0, last = 1;

	return bpf_map_lookup_elem(&xb_sentinel, &first) &&
	       bpf_map_lookup_elem(&xb_sentinel, &last);
}

static __always_inline bool is_open(const volatile struct xb_gate *gate)
{
	return gate && gate->open && is_alive();
}

/* Live workers on stale tables are not safe either. */
static __always_inline bool control_is_late(const volatile struct xb_gate *gate, __u64 now)
{
	return gate->control_beat_ns && is_older(now, gate->control_at_ns, gate->control_beat_ns);
}

/* The worker of the frame's queue is there and turning its loop. */
static __always_inline enum punt_reason worker_check(struct xdp_md *ctx,
						     const volatile struct xb_gate *gate, __u64 now,
						     struct look *l)
{
	__u32 queue = ctx->rx_queue_index, index;
	const __u32 *worker;

	if (queue >= XB_MAX_QUEUES)
		return PUNT_NO_SOCKET;
	l->sock = xb_const.slot * XB_MAX_QUEUES + queue;
	worker = bpf_map_lookup_elem(&xb_queues, &l->sock);
	if (!worker)
		return PUNT_NO_SOCKET;
	/* The bound is a power of two, and the mask is all that the verifier needs. */
	index = *worker & (XB_MAX_WORKERS - 1);
	if (gate->worker[index] & XB_WORKER_GONE)
		return PUNT_GATE;
	if (is_older(now, gate->worker_at_ns[index], gate->heartbeat_ns))
		return PUNT_BEAT;
	return PUNT_NONE;
}

/* Finds the outer tag and the type behind it, as the bridge will see them. */
static __always_inline enum punt_reason tag_look(struct xdp_md *ctx, const struct xb_bridge *br,
						 struct look *l)
{
	const __u8 *data = (const __u8 *)(long)ctx->data;
	const __u8 *end = (const __u8 *)(long)ctx->data_end;

	if (data + ETH_HLEN > end)
		return PUNT_RUNT;
	if (!accel_tag(ctx, l))
		return PUNT_VLAN_ACCEL;
	l->type = *(const __u16 *)(data + 2 * ETH_ALEN);
	l->l3 = ETH_HLEN;
	if (!l->accel && is_tag(l->type)) {
		if (data + ETH_HLEN + TAG_LEN > end)
			return PUNT_RUNT;
		l->proto = l->type;
		l->tci = bpf_ntohs(*(const __u16 *)(data + ETH_HLEN));
		l->type = *(const __u16 *)(data + ETH_HLEN + 2);
		l->l3 = ETH_HLEN + TAG_LEN;
	}
	/* To a bridge that filters, a tag of the other protocol is payload. */
	if (l->proto && (br->flags & XB_BRIDGE_FILTERING) && l->proto != br->tpid)
		l->type = l->proto;
	return PUNT_NONE;
}

static __always_inline bool has_upper(const struct xb_port *port, const struct look *l)
{
	__u32 key = xb_const.slot << 12 | (l->tci & 0xfff);

	return (port->flags & XB_PORT_UPPERS) && l->proto && bpf_map_lookup_elem(&xb_uppers, &key);
}

/*
 * Type of an ICMPv6 message, directly behind the IPv6 header or behind one
 * hop-by-hop header; -1 if it is something else. @pim: set for PIM.
 */
static __always_inline int icmp6_type(struct xdp_md *ctx, const struct look *l, bool *pim)
{
	__u32 off = l->l3 + IPV6_LEN;
	__u8 next = 0, type = 0, opt[2];

	if (bpf_xdp_load_bytes(ctx, l->l3 + 6, &next, sizeof(next)))
		return -1;
	if (next == IPPROTO_HOPOPTS) {
		if (bpf_xdp_load_bytes(ctx, off, opt, sizeof(opt)))
			return -1;
		next = opt[0];
		off += (opt[1] + 1) * 8;
	}
	*pim = next == PROTO_PIM;
	if (next != IPPROTO_ICMPV6 || bpf_xdp_load_bytes(ctx, off, &type, sizeof(type)))
		return -1;
	return type;
}

/* The words of an IPv4 header behind the first five, added to @sum. */
static __always_inline bool options_sum(struct xdp_md *ctx, const struct look *l, __u32 header_len,
					__u64 *sum)
{
	__u32 word;

	for (__u32 at = IPV4_LEN; at < IPV4_MAX_LEN; at += sizeof(word)) {
		if (at >= header_len)
			break;
		if (bpf_xdp_load_bytes(ctx, l->l3 + at, &word, sizeof(word)))
			return false;
		*sum += word;
	}
	return true;
}

/* The kernel bridge drops IPv4 multicast with another header, see ip_mc_check_iphdr(). */
static __always_inline enum punt_reason mcast4_check(struct xdp_md *ctx, const struct look *l)
{
	__u32 word[IPV4_LEN / 4], header_len, total_len;
	const __u8 *ip = (const __u8 *)word;
	__u64 sum = 0;

	if (bpf_xdp_load_bytes(ctx, l->l3, word, sizeof(word)))
		return PUNT_MCAST_BAD;
	header_len = (ip[0] & 0xfU) * 4;
	total_len = (__u32)ip[2] << 8 | ip[3];
	if (ip[0] >> 4 != 4 || header_len < IPV4_LEN || total_len < header_len ||
	    total_len > l->len - l->l3)
		return PUNT_MCAST_BAD;
	for (__u32 i = 0; i < IPV4_LEN / 4; i++)
		sum += word[i];
	if (!options_sum(ctx, l, header_len, &sum))
		return PUNT_MCAST_BAD;
	sum = (sum >> 32) + (__u32)sum;
	sum = (sum >> 16) + (__u16)sum;
	sum = (sum >> 16) + (__u16)sum;
	sum = (sum >> 16) + (__u16)sum;
	if (sum != 0xffff)
		return PUNT_MCAST_BAD;
	return ip[9] == IPPROTO_IGMP || ip[9] == PROTO_PIM ? PUNT_MCAST_CONTROL : PUNT_NONE;
}

/*
 * The same for IPv6, see ipv6_mc_check_mld(). MLD has a hop-by-hop header in
 * front, and what has one is dropped for more than is looked at here; without
 * one it is data to the kernel bridge, but for hosts it is not.
 */
static __always_inline enum punt_reason mcast6_check(struct xdp_md *ctx, const struct look *l)
{
	__u32 payload_len;
	bool pim = false;
	__u8 ip[8];
	int type;

	if (l->len < l->l3 + IPV6_LEN || bpf_xdp_load_bytes(ctx, l->l3, ip, sizeof(ip)))
		return PUNT_MCAST_BAD;
	payload_len = (__u32)ip[4] << 8 | ip[5];
	if (ip[0] >> 4 != 6 || !payload_len || payload_len > l->len - l->l3 - IPV6_LEN)
		return PUNT_MCAST_BAD;
	if (ip[6] == IPPROTO_HOPOPTS)
		return PUNT_MCAST_CONTROL;
	type = icmp6_type(ctx, l, &pim);
	/* MLD query, report, done; MLDv2 report; multicast router discovery. */
	if (pim || (type >= 130 && type <= 132) || type == 143 || (type >= 151 && type <= 153))
		return PUNT_MCAST_CONTROL;
	return PUNT_NONE;
}

/* Of a bridge that snoops: what the kernel learns groups from, and what it drops. */
static __always_inline enum punt_reason mcast_check(struct xdp_md *ctx, const struct xb_bridge *br,
						    const struct look *l)
{
	enum punt_reason why = PUNT_NONE;

	if (l->type == bpf_htons(ETH_P_IP))
		why = mcast4_check(ctx, l);
	else if (l->type == bpf_htons(ETH_P_IPV6))
		why = mcast6_check(ctx, l);
	if (!why && (br->flags & XB_BRIDGE_MCAST_PASS))
		why = PUNT_MCAST;
	return why;
}

/* ARP, RARP and neighbour discovery. */
static __always_inline bool is_neigh(struct xdp_md *ctx, const struct look *l)
{
	bool pim = false;
	int type;

	if (l->type == bpf_htons(ETH_P_ARP) || l->type == ETH_P_RARP_BE)
		return true;
	if (l->type != bpf_htons(ETH_P_IPV6))
		return false;
	type = icmp6_type(ctx, l, &pim);
	return type >= 133 && type <= 137;
}

/* The frames that the kernel bridge must see itself, once their tag is known. */
static __always_inline enum punt_reason rules_check(struct xdp_md *ctx, const struct xb_port *port,
						    const struct xb_bridge *br, struct look *l)
{
	const __u8 *dst = (const __u8 *)(long)ctx->data;
	enum punt_reason why;
	struct xb_local_key key;

	if (dst + ETH_HLEN > (const __u8 *)(long)ctx->data_end)
		return PUNT_RUNT;
	if (has_upper(port, l))
		return PUNT_VLAN_UPPER;
	if (is_link_local(dst))
		return PUNT_LINK_LOCAL;
	if (l->type == ETH_P_MRP_BE || l->type == ETH_P_CFM_BE || l->type == bpf_htons(ETH_P_PAUSE))
		return PUNT_CONTROL;
	if ((br->flags & (XB_BRIDGE_SNOOPING | XB_BRIDGE_MCAST_PASS)) && (dst[0] & 1) &&
	    !is_broadcast(dst)) {
		why = mcast_check(ctx, br, l);
		if (why)
			return why;
	}
	if ((br->flags & XB_BRIDGE_NEIGH) && is_neigh(ctx, l))
		return PUNT_NEIGH;
	if (port->flags & XB_PORT_LOCKED)
		return PUNT_LOCKED;
	if (port->flags & XB_PORT_TUNNEL)
		return PUNT_TUNNEL;
	if (dst[0] & 1)
		return PUNT_NONE;
	key.bridge = port->bridge;
	__builtin_memcpy(key.mac, dst, ETH_ALEN);
	return bpf_map_lookup_elem(&xb_locals, &key) ? PUNT_LOCAL : PUNT_NONE;
}

/* Fits into one buffer, and has a source that the bridge would accept. */
static __always_inline enum punt_reason frame_check(struct xdp_md *ctx, const struct xb_port *port,
						    const struct xb_bridge *br, struct look *l)
{
	const __u8 *data = (const __u8 *)(long)ctx->data;
	const __u8 *end = (const __u8 *)(long)ctx->data_end;
	__u64 len = bpf_xdp_get_buff_len(ctx);
	enum punt_reason why;

	if (data + ETH_HLEN > end)
		return PUNT_RUNT;
	/* What is not in the first buffer is in fragments. */
	if (len > (__u64)(end - data))
		return PUNT_OVERSIZE;
	l->len = (__u32)len;
	if ((data[ETH_ALEN] & 1) || is_zero(data + ETH_ALEN))
		return PUNT_SOURCE;
	why = tag_look(ctx, br, l);
	if (why)
		return why;
	if (len + (l->accel ? TAG_LEN : 0) > port->max_len)
		return PUNT_OVERSIZE;
	return rules_check(ctx, port, br, l);
}

/* PUNT_NONE: the frame goes to the socket l->sock, which is there. */
static __always_inline enum punt_reason decide(struct xdp_md *ctx, struct look *l)
{
	__u32 zero = 0, slot = xb_const.slot, index;
	const volatile struct xb_gate *gate = bpf_map_lookup_elem(&xb_gate, &zero);
	const struct xb_bridge *br;
	const struct xb_port *port;
	enum punt_reason why;
	__u64 now;

	if (!is_open(gate))
		return PUNT_GATE;
	now = bpf_ktime_get_ns();
	if (control_is_late(gate, now))
		return PUNT_CONTROL_BEAT;
	/* Before all else that depends on it: a port without rules has no bridge either. */
	port = bpf_map_lookup_elem(&xb_ports, &slot);
	if (!port || !(port->flags & XB_PORT_USER))
		return PUNT_PORT;
	why = worker_check(ctx, gate, now, l);
	if (why)
		return why;
	index = port->bridge;
	br = bpf_map_lookup_elem(&xb_bridges, &index);
	if (!br || !(br->flags & XB_BRIDGE_OPEN))
		return PUNT_BRIDGE_GATE;
	why = frame_check(ctx, port, br, l);
	if (why)
		return why;
	return bpf_map_lookup_elem(&xb_socks, &l->sock) ? PUNT_NONE : PUNT_NO_SOCKET;
}

/*
 * Leaves the frame to the kernel, or, if no kernel bridge is there to take it,
 * drops it unless it belongs to the link.
 */
static __always_inline int punt(struct xdp_md *ctx, struct xb_punts *count, enum punt_reason why)
{
	const __u8 *dst = (const __u8 *)(long)ctx->data;
	const __u8 *end = (const __u8 *)(long)ctx->data_end;

	if (count && why < PUNT_N)
		count->punt[why]++;
	if (!xb_const.standalone)
		return XDP_PASS;
	if (dst + ETH_HLEN <= end && is_link_local(dst))
		return XDP_PASS;
	if (count)
		count->dropped++;
	return XDP_DROP;
}

/* Puts the tag of @l into the bytes. False: there is no room, and nothing has changed. */
static __always_inline bool tag_push(struct xdp_md *ctx, const struct look *l)
{
	__u32 *to, *end;

	if (bpf_xdp_adjust_head(ctx, -TAG_LEN))
		return false;
	to = (__u32 *)(long)ctx->data;
	end = (__u32 *)(long)ctx->data_end;
	/* Always true: the old header is still behind the new start. */
	if (to + 4 <= end) {
		to[0] = to[1];
		to[1] = to[2];
		to[2] = to[3];
		to[3] = bpf_htonl((__u32)bpf_ntohs(l->proto) << 16 | l->tci);
	}
	return true;
}

SEC("xdp.frags")
int xb_xdp(struct xdp_md *ctx)
{
	struct look l = { 0 };
	__u32 slot = xb_const.slot;
	struct xb_punts *count = bpf_map_lookup_elem(&xb_punts, &slot);
	enum punt_reason why = decide(ctx, &l);
	__u64 otherwise = XDP_PASS;

	if (why)
		return punt(ctx, count, why);
	if (l.accel) {
		if (!tag_push(ctx, &l))
			return punt(ctx, count, PUNT_NO_ROOM);
		/* It must not pass any more: it would have its tag twice. */
		otherwise = XDP_ABORTED;
	}
	if (count)
		count->redirected++;
	return (int)bpf_redirect_map(&xb_socks, l.sock, otherwise);
}

char xb_license[] SEC("license") = "GPL";
