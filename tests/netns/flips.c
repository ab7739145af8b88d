/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flips: sets the state of a bridge port to something else than forwarding and
 * back, again and again, and tells how late the last frame came that it let
 * through afterwards.
 *
 * usage: flips --dev PORT --watch NETNS:SOURCE[,SOURCE]... [OPTION]...
 *
 * Runs in the namespace of PORT. Watched is eth0 of the namespaces (paths) for
 * numbered frames (xbgen) of these sources, which must flow as long as the port
 * is forwarding and must not otherwise. Lateness is counted from the moment at
 * which the kernel has said that the state is set, to the moment at which the
 * kernel of the other end has taken the frame: how long this program waits for
 * a processor does not count. How long the threads of the process --daemon did,
 * on a machine that others use, is told apart, and is not part of the deadline.
 *
 * The results are one line for each watch. 1 if a frame came after the deadline,
 * a receiver lost frames, or traffic did not come back; 2 if something failed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_bridge.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "xbgen/xbgen.h"

#define MSEC        1000000ULL
#define WATCHES_MAX 8
#define FLIPS_MAX   10000
#define STATES_MAX  8
#define BATCH       64
#define FRAME_MAX   2048
#define RECV_BUF    (64 << 20)
#define FORWARDING  3
#define QUIET_MS    30

struct watch {
	const char *ns;
	uint64_t sources; /* a bit for each */
	int fd;
	uint64_t n_frames, first_ns, last_ns; /* of the frames since the state was set */
	uint64_t n_late;                      /* flips after whose deadline a frame came */
	uint64_t late_ns[FLIPS_MAX];    /* of the last frame of each flip; 0: there was none */
	uint64_t resumed_ns[FLIPS_MAX]; /* of the first frame afterwards */
};

struct flips {
	const char *dev;
	int ifindex;
	uint64_t n, deadline_ms, window_ms, timeout_ms, vid, msti, daemon;
	uint8_t state[STATES_MAX];
	uint32_t n_states, n_watches;
	struct watch *watch[WATCHES_MAX];
	struct nl_sock *nl;
	uint64_t since_ns;        /* earlier frames do not count */
	uint64_t waited_since_ns; /* what waited_ns() was then */
	uint64_t waited_ns[FLIPS_MAX];
};

/* The clock of the packets' time stamps. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* How long the threads of the daemon have been waiting for a processor, all together. */
static uint64_t waited_ns(const struct flips *f)
{
	char path[300];
	const struct dirent *e;
	uint64_t sum = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task", f->daemon);
	d = f->daemon ? opendir(path) : NULL;
	while (d && (e = readdir(d))) {
		uint64_t ran, waited;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%s/schedstat", f->daemon,
			 e->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2)
			sum += waited;
		fclose(file);
	}
	if (d)
		closedir(d);
	return sum;
}

/* ---- options ---- */

static bool parse_watch(struct flips *f, char *arg)
{
	char *colon = strrchr(arg, ':'), *save;
	struct watch *w;

	if (!colon || f->n_watches == WATCHES_MAX)
		return false;
	w = calloc(1, sizeof(*w));
	if (!w)
		return false;
	*colon = '\0';
	w->ns = arg;
	f->watch[f->n_watches++] = w;
	for (char *s = strtok_r(colon + 1, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		uint64_t source;

		if (!gen_parse_number(s, 63, &source))
			return false;
		w->sources |= 1ULL << source;
	}
	return w->sources;
}

static bool parse_states(struct flips *f, char *arg)
{
	char *save;

	f->n_states = 0;
	for (char *s = strtok_r(arg, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		uint64_t state;

		if (f->n_states == STATES_MAX || !gen_parse_number(s, 4, &state))
			return false;
		f->state[f->n_states++] = (uint8_t)state;
	}
	return f->n_states;
}

enum { DEV, WATCH, COUNT, DEADLINE, WINDOW, TIMEOUT, STATES, VLAN, MSTI, DAEMON };

static bool take_option(struct flips *f, int option, char *arg)
{
	switch (option) {
	case DEV:
		f->dev = arg;
		f->ifindex = (int)if_nametoindex(arg);
		return f->ifindex;
	case WATCH:
		return parse_watch(f, arg);
	case COUNT:
		return gen_parse_number(arg, FLIPS_MAX, &f->n) && f->n;
	case DEADLINE:
		return gen_parse_number(arg, 60000, &f->deadline_ms);
	case WINDOW:
		return gen_parse_number(arg, 60000, &f->window_ms);
	case TIMEOUT:
		return gen_parse_number(arg, 60000, &f->timeout_ms);
	case STATES:
		return parse_states(f, arg);
	case VLAN:
		return gen_parse_number(arg, 4094, &f->vid);
	case MSTI:
		return gen_parse_number(arg, 4094, &f->msti);
	case DAEMON:
		return gen_parse_number(arg, 1U << 30, &f->daemon);
	default:
		return false;
	}
}

static bool parse(struct flips *f, int argc, char **argv)
{
	static const struct option options[] = {
		{ "dev", 1, NULL, DEV },       { "watch", 1, NULL, WATCH },
		{ "count", 1, NULL, COUNT },   { "deadline", 1, NULL, DEADLINE },
		{ "window", 1, NULL, WINDOW }, { "timeout", 1, NULL, TIMEOUT },
		{ "states", 1, NULL, STATES }, { "vlan", 1, NULL, VLAN },
		{ "msti", 1, NULL, MSTI },     { "daemon", 1, NULL, DAEMON },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (!take_option(f, option, optarg)) {
			fprintf(stderr, "flips: bad option %s\n", argv[optind - 1]);
			return false;
		}
	}
	return f->ifindex && f->n_watches && optind == argc;
}

/* ---- setting the state ---- */

/* As `bridge link set dev PORT state N`. */
static int put_port(struct nl_msg *m, uint8_t state)
{
	struct nlattr *info = nla_nest_start(m, IFLA_PROTINFO | NLA_F_NESTED);

	if (!info)
		return -ENOMEM;
	NLA_PUT_U8(m, IFLA_BRPORT_STATE, state);
	nla_nest_end(m, info);
	return 0;

nla_put_failure:
	return -ENOMEM;
}

/* As `bridge mst set dev PORT msti N state N`. */
static int put_msti(struct nl_msg *m, uint16_t msti, uint8_t state)
{
	struct nlattr *spec = nla_nest_start(m, IFLA_AF_SPEC), *mst, *entry;

	mst = spec ? nla_nest_start(m, IFLA_BRIDGE_MST | NLA_F_NESTED) : NULL;
	entry = mst ? nla_nest_start(m, IFLA_BRIDGE_MST_ENTRY | NLA_F_NESTED) : NULL;
	if (!entry)
		return -ENOMEM;
	NLA_PUT_U16(m, IFLA_BRIDGE_MST_ENTRY_MSTI, msti);
	NLA_PUT_U8(m, IFLA_BRIDGE_MST_ENTRY_STATE, state);
	nla_nest_end(m, entry);
	nla_nest_end(m, mst);
	nla_nest_end(m, spec);
	return 0;

nla_put_failure:
	return -ENOMEM;
}

/* As `bridge vlan set dev PORT vid N state N`. */
static int put_vlan(struct nl_msg *m, uint16_t vid, uint8_t state)
{
	struct bridge_vlan_info info = { .vid = vid, .flags = BRIDGE_VLAN_INFO_ONLY_OPTS };
	struct nlattr *entry = nla_nest_start(m, BRIDGE_VLANDB_ENTRY | NLA_F_NESTED);

	if (!entry)
		return -ENOMEM;
	NLA_PUT(m, BRIDGE_VLANDB_ENTRY_INFO, sizeof(info), &info);
	NLA_PUT_U8(m, BRIDGE_VLANDB_ENTRY_STATE, state);
	nla_nest_end(m, entry);
	return 0;

nla_put_failure:
	return -ENOMEM;
}

static struct nl_msg *make_request(const struct flips *f, uint8_t state)
{
	const struct ifinfomsg link = { .ifi_family = AF_BRIDGE, .ifi_index = f->ifindex };
	const struct br_vlan_msg vlan = { .family = AF_BRIDGE, .ifindex = (uint32_t)f->ifindex };
	struct nl_msg *m;
	int err;

	m = nlmsg_alloc_simple(f->vid ? RTM_NEWVLAN : RTM_SETLINK, NLM_F_REQUEST);
	if (!m)
		return NULL;
	if (f->vid) {
		err = nlmsg_append(m, (void *)(uintptr_t)&vlan, sizeof(vlan), NLMSG_ALIGNTO);
		err = err ? err : put_vlan(m, (uint16_t)f->vid, state);
	} else {
		err = nlmsg_append(m, (void *)(uintptr_t)&link, sizeof(link), NLMSG_ALIGNTO);
		if (!err)
			err = f->msti ? put_msti(m, (uint16_t)f->msti, state) : put_port(m, state);
	}
	if (!err)
		return m;
	nlmsg_free(m);
	return NULL;
}

static void watch_clear(struct watch *w)
{
	w->n_frames = w->first_ns = w->last_ns = 0;
}

/* From now on only later frames count. */
static bool set_state(struct flips *f, uint8_t state)
{
	struct nl_msg *m = make_request(f, state);
	int err = m ? nl_send_sync(f->nl, m) : -NLE_NOMEM;

	f->since_ns = now_ns();
	f->waited_since_ns = waited_ns(f);
	for (uint32_t i = 0; i < f->n_watches; i++)
		watch_clear(f->watch[i]);
	if (err < 0)
		fprintf(stderr, "flips: state %u of %s: %s\n", state, f->dev, nl_geterror(err));
	return err >= 0;
}

/* ---- watching ---- */

static bool watch_open(struct watch *w)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), there, one = 1;
	int size = RECV_BUF;

	there = open(w->ns, O_RDONLY | O_CLOEXEC);
	if (here < 0 || there < 0 || setns(there, CLONE_NEWNET)) {
		perror(w->ns);
		return false;
	}
	w->fd = gen_socket("eth0");
	if (w->fd < 0 || gen_bind(w->fd, "eth0", ETH_P_ALL))
		return false;
	if (setsockopt(w->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(w->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setns(here, CLONE_NEWNET)) {
		perror("flips");
		return false;
	}
	close(here);
	close(there);
	return true;
}

static uint64_t time_of(struct msghdr *h)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		struct timespec ts;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
	}
	return 0;
}

static void take_frame(const struct flips *f, struct watch *w, const uint8_t *p, size_t len,
		       uint64_t at_ns)
{
	struct gen_info i;

	if (!gen_read(p, len, &i) || i.source > 63 || !(w->sources >> i.source & 1) ||
	    at_ns <= f->since_ns)
		return;
	w->n_frames++;
	if (!w->first_ns)
		w->first_ns = at_ns;
	if (at_ns > w->last_ns)
		w->last_ns = at_ns;
}

static void watch_read(const struct flips *f, struct watch *w)
{
	static uint8_t buf[BATCH][FRAME_MAX], control[BATCH][256];
	struct iovec iov[BATCH];
	struct mmsghdr msg[BATCH];
	int n;

	do {
		for (int i = 0; i < BATCH; i++) {
			iov[i] = (struct iovec){ buf[i], FRAME_MAX };
			msg[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i],
							  .msg_iovlen = 1,
							  .msg_control = control[i],
							  .msg_controllen = sizeof(control[i]) };
		}
		n = recvmmsg(w->fd, msg, BATCH, MSG_DONTWAIT, NULL);
		for (int i = 0; i < n; i++)
			take_frame(f, w, buf[i], msg[i].msg_len, time_of(&msg[i].msg_hdr));
	} while (n == BATCH);
}

static void read_all(const struct flips *f, int wait_ms)
{
	struct pollfd p[WATCHES_MAX];

	for (uint32_t i = 0; i < f->n_watches; i++)
		p[i] = (struct pollfd){ .fd = f->watch[i]->fd, .events = POLLIN };
	if (poll(p, f->n_watches, wait_ms) <= 0)
		return;
	for (uint32_t i = 0; i < f->n_watches; i++)
		watch_read(f, f->watch[i]);
}

/* Takes what comes until so long after the state was set. */
static void watch_for(const struct flips *f, uint64_t ms)
{
	uint64_t end_ns = f->since_ns + ms * MSEC, at_ns;

	while ((at_ns = now_ns()) < end_ns)
		read_all(f, (int)((end_ns - at_ns) / MSEC) + 1);
}

static uint64_t last_frame_ns(const struct flips *f)
{
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < f->n_watches; i++) {
		if (f->watch[i]->last_ns > last_ns)
			last_ns = f->watch[i]->last_ns;
	}
	return last_ns;
}

/*
 * And until nothing has come for a while: a thread that still waits for its
 * processor is not in what waited_ns() tells.
 */
static void watch_until_quiet(const struct flips *f)
{
	uint64_t ms = f->window_ms;

	do {
		watch_for(f, ms);
		ms += QUIET_MS;
	} while (ms < f->timeout_ms && last_frame_ns(f) + QUIET_MS * MSEC > now_ns());
}

static uint64_t n_lost(const struct watch *w)
{
	struct tpacket_stats s = { 0 };
	socklen_t len = sizeof(s);

	if (getsockopt(w->fd, SOL_PACKET, PACKET_STATISTICS, &s, &len))
		perror("PACKET_STATISTICS");
	return s.tp_drops;
}

/* ---- a flip ---- */

static bool flows(const struct flips *f)
{
	for (uint32_t i = 0; i < f->n_watches; i++) {
		if (!f->watch[i]->n_frames)
			return false;
	}
	return true;
}

/* Until all that is watched flows; false if it does not. */
static bool wait_flow(const struct flips *f)
{
	uint64_t end_ns = now_ns() + f->timeout_ms * MSEC;

	while (!flows(f) && now_ns() < end_ns)
		read_all(f, 10);
	for (uint32_t i = 0; i < f->n_watches; i++) {
		if (!f->watch[i]->n_frames)
			fprintf(stderr, "flips: nothing arrives at %s\n", f->watch[i]->ns);
	}
	return flows(f);
}

static bool flip(struct flips *f, uint64_t k)
{
	if (!set_state(f, f->state[k % f->n_states]))
		return false;
	watch_until_quiet(f);
	f->waited_ns[k] = waited_ns(f) - f->waited_since_ns;
	for (uint32_t i = 0; i < f->n_watches; i++) {
		struct watch *w = f->watch[i];

		w->late_ns[k] = w->last_ns ? w->last_ns - f->since_ns : 0;
		w->n_late += w->late_ns[k] > f->waited_ns[k] + f->deadline_ms * MSEC;
	}
	if (!set_state(f, FORWARDING) || !wait_flow(f))
		return false;
	for (uint32_t i = 0; i < f->n_watches; i++)
		f->watch[i]->resumed_ns[k] = f->watch[i]->first_ns - f->since_ns;
	/* So that the next flip does not come at the same moment of everything else. */
	watch_for(f, f->window_ms / 4 + k * 7 % 11);
	return true;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double msec(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* False if it is not as it has to be. */
static bool report(const struct flips *f, struct watch *w)
{
	uint64_t last = f->n - 1, lost = n_lost(w);
	const char *name = strrchr(w->ns, '-');

	qsort(w->late_ns, f->n, sizeof(w->late_ns[0]), by_size);
	qsort(w->resumed_ns, f->n, sizeof(w->resumed_ns[0]), by_size);
	printf("%s: %" PRIu64 " flips, last frame after %.3f ms (median), %.3f (99 %%), "
	       "%.3f (most); %" PRIu64 " later than %" PRIu64
	       " ms; back after %.3f ms (median), %.3f (most)\n",
	       name ? name + 1 : w->ns, f->n, msec(w->late_ns[f->n / 2]),
	       msec(w->late_ns[last * 99 / 100]), msec(w->late_ns[last]), w->n_late, f->deadline_ms,
	       msec(w->resumed_ns[f->n / 2]), msec(w->resumed_ns[last]));
	if (lost)
		fprintf(stderr, "flips: the receiver at %s lost %" PRIu64 " frames\n", w->ns, lost);
	return !w->n_late && !lost;
}

int main(int argc, char **argv)
{
	static struct flips f = {
		.n = 60, .deadline_ms = 20, .window_ms = 80, .timeout_ms = 5000, .n_states = 1
	};
	bool good = true;

	if (!parse(&f, argc, argv)) {
		fprintf(stderr, "usage: flips --dev PORT --watch NETNS:SOURCE,... [--count N]\n"
				"       [--states 0,...] [--vlan VID | --msti N] [--deadline MS]\n"
				"       [--window MS] [--timeout MS] [--daemon PID]\n");
		return 2;
	}
	f.nl = nl_socket_alloc();
	if (!f.nl || nl_connect(f.nl, NETLINK_ROUTE))
		return 2;
	for (uint32_t i = 0; i < f.n_watches; i++) {
		if (!watch_open(f.watch[i]))
			return 2;
	}
	if (!wait_flow(&f))
		return 1;
	for (uint64_t k = 0; k < f.n; k++) {
		if (!flip(&f, k)) {
			(void)set_state(&f, FORWARDING);
			return 1;
		}
	}
	qsort(f.waited_ns, f.n, sizeof(f.waited_ns[0]), by_size);
	for (uint32_t i = 0; i < f.n_watches; i++)
		good = report(&f, f.watch[i]) && good;
	if (f.daemon)
		printf("threads of the daemon waited for a processor meanwhile for %.3f ms "
		       "(median), %.3f (most)\n",
		       msec(f.waited_ns[f.n / 2]), msec(f.waited_ns[f.n - 1]));
	return good ? 0 : 1;
}
