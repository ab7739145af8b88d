/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbgen.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BURST_MAX  64
#define FRAMES_MAX 4096 /* of a file */
#define SMOOTH_NS  1000000

struct send {
	const char *dev, *hex;
	struct gen_template t;
	uint64_t count, rate, burst, first;
	bool smooth;
	/* The frames of a file. */
	uint8_t *file_frame[FRAMES_MAX];
	uint32_t file_len[FRAMES_MAX];
	uint32_t n_file;
	/* One burst. */
	uint8_t *buf[BURST_MAX];
	struct iovec iov[BURST_MAX];
	struct mmsghdr msg[BURST_MAX];
	/* Results. */
	uint64_t n_sent, n_failed, late_max_ns;
	int last_errno;
};

enum {
	OPT_DEV,
	OPT_DST,
	OPT_SRC,
	OPT_COUNT,
	OPT_RATE,
	OPT_BURST,
	OPT_SIZE,
	OPT_SOURCE,
	OPT_FIRST,
	OPT_SMOOTH,
	OPT_TAG,
	OPT_HEX
};

static const struct option options[] = {
	{ "dev", 1, NULL, OPT_DEV },
	{ "dst", 1, NULL, OPT_DST },
	{ "src", 1, NULL, OPT_SRC },
	{ "count", 1, NULL, OPT_COUNT },
	{ "rate", 1, NULL, OPT_RATE },
	{ "burst", 1, NULL, OPT_BURST },
	{ "size", 1, NULL, OPT_SIZE },
	{ "source", 1, NULL, OPT_SOURCE },
	{ "first", 1, NULL, OPT_FIRST },
	{ "tag", 1, NULL, OPT_TAG },
	{ "smooth", 0, NULL, OPT_SMOOTH },
	{ "hex", 1, NULL, OPT_HEX },
	{ NULL, 0, NULL, 0 },
};

static bool take_option(struct send *s, int option, const char *arg)
{
	uint64_t n;

	switch (option) {
	case OPT_DEV:
		s->dev = arg;
		return true;
	case OPT_DST:
		return gen_parse_mac(arg, s->t.dst);
	case OPT_SRC:
		return gen_parse_mac(arg, s->t.src);
	case OPT_COUNT:
		return gen_parse_number(arg, 1u << 30, &s->count);
	case OPT_RATE:
		return gen_parse_number(arg, 10000000, &s->rate);
	case OPT_BURST:
		return gen_parse_number(arg, BURST_MAX, &s->burst);
	case OPT_FIRST:
		return gen_parse_number(arg, 1u << 30, &s->first);
	case OPT_SMOOTH:
		s->smooth = true;
		return true;
	case OPT_HEX:
		s->hex = arg;
		return true;
	case OPT_SIZE:
		if (!gen_parse_number(arg, GEN_FRAME_MAX, &n))
			return false;
		s->t.size = (uint32_t)n;
		return true;
	case OPT_SOURCE:
		if (!gen_parse_number(arg, UINT32_MAX, &n))
			return false;
		s->t.source = (uint32_t)n;
		return true;
	case OPT_TAG:
		return s->t.n_tags < GEN_TAGS_MAX && gen_parse_tag(arg, &s->t.tag[s->t.n_tags++]);
	default:
		return false;
	}
}

static bool parse(struct send *s, int argc, char **argv)
{
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (!take_option(s, option, optarg)) {
			fprintf(stderr, "xbgen send: bad option %s\n", argv[optind - 1]);
			return false;
		}
	}
	if (optind < argc || !s->dev || !s->count) {
		fprintf(stderr, "xbgen send: --dev and --count are needed\n");
		return false;
	}
	if (!s->hex && s->t.size < gen_size_min(&s->t)) {
		fprintf(stderr, "xbgen send: a frame takes %u bytes\n", gen_size_min(&s->t));
		return false;
	}
	if (!s->burst)
		s->burst = s->rate / 2000;
	if (!s->burst)
		s->burst = s->rate ? 1 : 32;
	if (s->burst > 32)
		s->burst = 32;
	return true;
}

static bool read_file(struct send *s)
{
	static uint8_t frame[GEN_FRAME_MAX];
	FILE *f = fopen(s->hex, "r");
	int n = -1;

	if (!f) {
		perror(s->hex);
		return false;
	}
	while (s->n_file < FRAMES_MAX && (n = gen_read_hex(f, frame)) > 0) {
		s->file_frame[s->n_file] = malloc((size_t)n);
		if (!s->file_frame[s->n_file])
			break;
		memcpy(s->file_frame[s->n_file], frame, (size_t)n);
		s->file_len[s->n_file++] = (uint32_t)n;
	}
	fclose(f);
	if (n || !s->n_file) {
		fprintf(stderr, "xbgen send: %s: not all lines are frames\n", s->hex);
		return false;
	}
	s->count *= s->n_file;
	return true;
}

static bool make_buffers(struct send *s)
{
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		s->buf[i] = malloc(GEN_FRAME_MAX);
		if (!s->buf[i])
			return false;
		if (!s->hex)
			gen_write(&s->t, 0, 0, s->buf[i]);
		s->iov[i].iov_base = s->buf[i];
		s->iov[i].iov_len = s->t.size;
		s->msg[i].msg_hdr.msg_iov = &s->iov[i];
		s->msg[i].msg_hdr.msg_iovlen = 1;
	}
	return true;
}

/* Puts frames @at .. @at + @n - 1 into the burst. */
static void fill(struct send *s, uint64_t at, uint32_t n)
{
	uint64_t now_ns = gen_now_ns();

	for (uint32_t i = 0; i < n; i++) {
		uint64_t k = s->n_file ? (at + i) % s->n_file : 0;

		if (s->n_file) {
			s->iov[i].iov_base = s->file_frame[k];
			s->iov[i].iov_len = s->file_len[k];
		} else {
			gen_renumber(&s->t, s->first + at + i, now_ns, s->buf[i]);
		}
	}
}

/* Each frame is tried once: what the kernel refuses is counted, as a real sender would lose it. */
static void send_burst(struct send *s, int fd, uint32_t n)
{
	uint32_t done = 0;
	int k;

	while (done < n) {
		k = sendmmsg(fd, s->msg + done, n - done, 0);
		if (k > 0) {
			s->n_sent += (uint32_t)k;
			done += (uint32_t)k;
		} else if (errno != EINTR) {
			s->last_errno = errno;
			s->n_failed++;
			done++;
		}
	}
}

/* Returns by how much all that follows has to be later. */
static uint64_t wait_until(struct send *s, uint64_t due_ns)
{
	struct timespec ts = { (time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u) };
	uint64_t now_ns;

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	now_ns = gen_now_ns();
	if (now_ns > due_ns && now_ns - due_ns > s->late_max_ns)
		s->late_max_ns = now_ns - due_ns;
	return s->smooth && now_ns > due_ns + SMOOTH_NS ? now_ns - due_ns : 0;
}

static void send_all(struct send *s, int fd)
{
	uint64_t start_ns = gen_now_ns(), base_ns = start_ns, done = 0;
	uint32_t n;

	while (done < s->count) {
		/* Due times are counted from the start, so that lateness does not add up. */
		if (s->rate)
			base_ns += wait_until(s, base_ns + done * 1000000000u / s->rate);
		n = (uint32_t)(s->count - done < s->burst ? s->count - done : s->burst);
		fill(s, done, n);
		send_burst(s, fd, n);
		done += n;
	}
	printf("{\"sent\": %llu, \"failed\": %llu, \"errno\": %d, \"duration_ns\": %llu, "
	       "\"late_max_ns\": %llu}\n",
	       (unsigned long long)s->n_sent, (unsigned long long)s->n_failed, s->last_errno,
	       (unsigned long long)(gen_now_ns() - start_ns), (unsigned long long)s->late_max_ns);
}

int send_main(int argc, char **argv)
{
	static struct send s = { .rate = 10000, .t = { .source = 1, .size = 60 } };
	int fd, size = 16 << 20;

	if (!parse(&s, argc, argv) || (s.hex && !read_file(&s)) || !make_buffers(&s))
		return 2;
	fd = gen_socket(s.dev);
	if (fd < 0)
		return 1;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	send_all(&s, fd);
	close(fd);
	return s.n_failed ? 1 : 0;
}
