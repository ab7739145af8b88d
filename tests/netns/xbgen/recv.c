/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbgen.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH       64
#define SOURCES_MAX 64
#define SEQ_MAX     (1u << 24) /* numbers kept for each source */
#define TAG_ROOM    4

struct source {
	uint32_t id;
	uint64_t n_received, n_unique, n_duplicated, n_reordered, n_beyond;
	uint64_t seq_min, seq_max;
	uint64_t first_ns, last_ns, gap_max_ns, delay_max_ns;
	uint8_t *seen; /* a bit for each number */
};

struct receiver {
	const char *dev, *dump_path, *ready;
	uint64_t count, until, settle_ms, timeout_ms, idle_ms;
	uint64_t last_ns; /* of the last numbered frame */
	bool all;
	FILE *dump;
	struct source source[SOURCES_MAX];
	uint32_t n_sources;
	uint64_t n_numbered, n_unique, n_other, n_accelerated, n_truncated;
	/* One batch; each frame has room for the tag in front of it. */
	uint8_t buf[BATCH][TAG_ROOM + GEN_FRAME_MAX];
	uint8_t control[BATCH][CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct iovec iov[BATCH];
	struct mmsghdr msg[BATCH];
};

enum {
	OPT_DEV,
	OPT_COUNT,
	OPT_UNTIL,
	OPT_SETTLE,
	OPT_TIMEOUT,
	OPT_IDLE,
	OPT_DUMP,
	OPT_ALL,
	OPT_READY
};

static const struct option options[] = {
	{ "dev", 1, NULL, OPT_DEV },         { "count", 1, NULL, OPT_COUNT },
	{ "until", 1, NULL, OPT_UNTIL },     { "settle", 1, NULL, OPT_SETTLE },
	{ "timeout", 1, NULL, OPT_TIMEOUT }, { "idle", 1, NULL, OPT_IDLE },
	{ "dump", 1, NULL, OPT_DUMP },       { "all", 0, NULL, OPT_ALL },
	{ "ready", 1, NULL, OPT_READY },     { NULL, 0, NULL, 0 },
};

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

static bool take_option(struct receiver *r, int option, const char *arg)
{
	switch (option) {
	case OPT_DEV:
		r->dev = arg;
		return true;
	case OPT_COUNT:
		return gen_parse_number(arg, SEQ_MAX, &r->count);
	case OPT_UNTIL:
		return gen_parse_number(arg, 1u << 30, &r->until);
	case OPT_SETTLE:
		return gen_parse_number(arg, 60000, &r->settle_ms);
	case OPT_TIMEOUT:
		return gen_parse_number(arg, 3600000, &r->timeout_ms);
	case OPT_IDLE:
		return gen_parse_number(arg, 60000, &r->idle_ms);
	case OPT_DUMP:
		r->dump_path = arg;
		return true;
	case OPT_ALL:
		r->all = true;
		return true;
	case OPT_READY:
		r->ready = arg;
		return true;
	default:
		return false;
	}
}

static bool parse(struct receiver *r, int argc, char **argv)
{
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (!take_option(r, option, optarg)) {
			fprintf(stderr, "xbgen recv: bad option %s\n", argv[optind - 1]);
			return false;
		}
	}
	if (optind < argc || !r->dev) {
		fprintf(stderr, "xbgen recv: --dev is needed\n");
		return false;
	}
	if (r->dump_path && !(r->dump = fopen(r->dump_path, "w"))) {
		perror(r->dump_path);
		return false;
	}
	if (r->dump)
		setlinebuf(r->dump); /* a script may read it at any time */
	return true;
}

static struct source *find_source(struct receiver *r, uint32_t id)
{
	struct source *s;

	for (uint32_t i = 0; i < r->n_sources; i++) {
		if (r->source[i].id == id)
			return &r->source[i];
	}
	if (r->n_sources == SOURCES_MAX)
		return NULL;
	s = &r->source[r->n_sources];
	s->seen = calloc(SEQ_MAX / 8, 1);
	if (!s->seen)
		return NULL;
	s->id = id;
	s->seq_min = UINT64_MAX;
	r->n_sources++;
	return s;
}

static void count_frame(struct receiver *r, const struct gen_info *info)
{
	struct source *s = find_source(r, info->source);
	uint64_t now_ns = gen_now_ns();
	uint8_t bit;

	if (!s)
		return;
	s->n_received++;
	if (!s->first_ns)
		s->first_ns = now_ns;
	else if (now_ns - s->last_ns > s->gap_max_ns)
		s->gap_max_ns = now_ns - s->last_ns;
	s->last_ns = now_ns;
	if (now_ns > info->sent_ns && now_ns - info->sent_ns > s->delay_max_ns)
		s->delay_max_ns = now_ns - info->sent_ns;
	if (info->seq >= SEQ_MAX) {
		s->n_beyond++;
		return;
	}
	bit = (uint8_t)(1u << (info->seq & 7));
	if (s->seen[info->seq >> 3] & bit) {
		s->n_duplicated++;
		return;
	}
	s->seen[info->seq >> 3] |= bit;
	s->n_unique++;
	r->n_unique++;
	if (info->seq < s->seq_max)
		s->n_reordered++;
	else
		s->seq_max = info->seq;
	if (info->seq < s->seq_min)
		s->seq_min = info->seq;
}

static void dump_frame(FILE *f, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		fprintf(f, "%02x", p[i]);
	putc('\n', f);
}

/* If the kernel took the outermost tag off the frame, puts it back: the frame then begins at @p
 * - 4. */
static bool restore_tag(const struct msghdr *h, uint8_t *p)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR((struct msghdr *)h, c)) {
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
			return false;
		if (!(aux.tp_status & TP_STATUS_VLAN_TPID_VALID))
			aux.tp_vlan_tpid = ETH_P_8021Q;
		memmove(p - 4, p, 12);
		p[8] = (uint8_t)(aux.tp_vlan_tpid >> 8);
		p[9] = (uint8_t)aux.tp_vlan_tpid;
		p[10] = (uint8_t)(aux.tp_vlan_tci >> 8);
		p[11] = (uint8_t)aux.tp_vlan_tci;
		return true;
	}
	return false;
}

static void take_frame(struct receiver *r, const struct mmsghdr *m, uint8_t *p)
{
	struct gen_info info;
	uint32_t len = m->msg_len;
	bool numbered;

	if (m->msg_hdr.msg_flags & MSG_TRUNC)
		r->n_truncated++;
	if (restore_tag(&m->msg_hdr, p)) {
		r->n_accelerated++;
		p -= 4;
		len += 4;
	}
	numbered = gen_read(p, len, &info);
	if (numbered) {
		r->n_numbered++;
		r->last_ns = gen_now_ns();
		count_frame(r, &info);
	} else {
		r->n_other++;
	}
	if (r->dump && (numbered || r->all))
		dump_frame(r->dump, p, len);
}

static int receive_batch(struct receiver *r, int fd)
{
	int n;

	for (int i = 0; i < BATCH; i++) {
		r->iov[i].iov_base = r->buf[i] + TAG_ROOM;
		r->iov[i].iov_len = GEN_FRAME_MAX;
		r->msg[i].msg_hdr = (struct msghdr){
			.msg_iov = &r->iov[i],
			.msg_iovlen = 1,
			.msg_control = r->control[i],
			.msg_controllen = sizeof(r->control[i]),
		};
	}
	n = recvmmsg(fd, r->msg, BATCH, MSG_DONTWAIT, NULL);
	for (int i = 0; i < n; i++)
		take_frame(r, &r->msg[i], r->buf[i] + TAG_ROOM);
	return n;
}

static void receive_all(struct receiver *r, int fd)
{
	uint64_t end_ns = gen_now_ns() + r->timeout_ms * 1000000u, now_ns, settled_ns;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool settling = false;

	while (!stopped && (now_ns = gen_now_ns()) < end_ns) {
		if (receive_batch(r, fd) == BATCH)
			continue;
		if (!settling && r->until && r->n_unique >= r->until) {
			settling = true;
			settled_ns = now_ns + r->settle_ms * 1000000u;
			if (settled_ns < end_ns)
				end_ns = settled_ns;
		}
		if (r->idle_ms && r->last_ns && now_ns > r->last_ns + r->idle_ms * 1000000u)
			break;
		poll(&p, 1, 20);
	}
	/* What had arrived when the signal came still counts. */
	for (int i = 0; i < 1000 && receive_batch(r, fd) > 0; i++)
		;
}

static bool was_seen(const struct source *s, uint64_t seq)
{
	return s->seen[seq >> 3] & 1u << (seq & 7);
}

/* Runs of missing numbers between the first and the last received. */
static uint64_t count_gaps(const struct source *s)
{
	uint64_t n = 0;

	for (uint64_t seq = s->seq_min; s->n_unique && seq < s->seq_max; seq++)
		n += was_seen(s, seq) && !was_seen(s, seq + 1);
	return n;
}

static void report_source(const struct receiver *r, const struct source *s, bool last)
{
	uint64_t n_expected = r->count;

	if (!n_expected && s->n_unique)
		n_expected = s->seq_max - s->seq_min + 1;
	printf("  {\"source\": %u, \"received\": %llu, \"unique\": %llu, \"lost\": %llu, "
	       "\"duplicated\": %llu, \"reordered\": %llu, \"beyond\": %llu, "
	       "\"gaps\": %llu, \"first_seq\": %llu, \"last_seq\": %llu, \"first_ns\": %llu, \"last_ns\": %llu, "
	       "\"gap_max_ns\": %llu, \"delay_max_ns\": %llu}%s\n",
	       s->id, (unsigned long long)s->n_received, (unsigned long long)s->n_unique,
	       (unsigned long long)(n_expected > s->n_unique ? n_expected - s->n_unique : 0),
	       (unsigned long long)s->n_duplicated, (unsigned long long)s->n_reordered,
	       (unsigned long long)s->n_beyond, (unsigned long long)count_gaps(s),
	       (unsigned long long)(s->n_unique ? s->seq_min : 0), (unsigned long long)s->seq_max,
	       (unsigned long long)s->first_ns, (unsigned long long)s->last_ns,
	       (unsigned long long)s->gap_max_ns, (unsigned long long)s->delay_max_ns,
	       last ? "" : ",");
}

static void report(const struct receiver *r, int fd)
{
	struct tpacket_stats stats = { 0 };
	socklen_t len = sizeof(stats);

	getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len);
	printf("{\"received\": %llu, \"unique\": %llu, \"other\": %llu, \"accelerated\": %llu, "
	       "\"truncated\": %llu, \"socket_drops\": %u, \"sources\": [\n",
	       (unsigned long long)r->n_numbered, (unsigned long long)r->n_unique,
	       (unsigned long long)r->n_other, (unsigned long long)r->n_accelerated,
	       (unsigned long long)r->n_truncated, stats.tp_drops);
	for (uint32_t i = 0; i < r->n_sources; i++)
		report_source(r, &r->source[i], i + 1 == r->n_sources);
	printf("]}\n");
}

static int open_socket(const struct receiver *r)
{
	int fd, size = 128 << 20, one = 1;

	/* Options first, so that no frame arrives before them. */
	fd = gen_socket(r->dev);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one))) {
		perror("xbgen recv: setsockopt");
		close(fd);
		return -1;
	}
	if (gen_bind(fd, r->dev, ETH_P_ALL)) {
		close(fd);
		return -1;
	}
	return fd;
}

int recv_main(int argc, char **argv)
{
	static struct receiver r = { .settle_ms = 200, .timeout_ms = 10000 };
	struct sigaction action = { .sa_handler = on_signal };
	int fd, ready;

	if (!parse(&r, argc, argv))
		return 2;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	fd = open_socket(&r);
	if (fd < 0)
		return 1;
	if (r.ready) {
		ready = open(r.ready, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		if (ready >= 0)
			close(ready);
	}
	receive_all(&r, fd);
	report(&r, fd);
	close(fd);
	if (r.dump)
		fclose(r.dump);
	for (uint32_t i = 0; i < r.n_sources; i++)
		free(r.source[i].seen);
	return 0;
}
