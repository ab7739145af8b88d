// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ctlraw: a client of a UNIX stream socket that does what a decent one would not.
 *
 *	ctlraw talk PATH TEXT		sends TEXT, ends its side, prints what comes back
 *	ctlraw mute PATH TEXT SECONDS	sends TEXT, reads nothing, and waits to be cut;
 *					prints after how many ms
 *	ctlraw long PATH BYTES		sends a line that never ends, prints what comes back
 *	ctlraw crowd PATH N		connects N times, and once more; prints what the last gets
 *
 * Exit status 0 if all of that happened.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/clock.h"

#define CROWD_MAX  64
#define PATIENCE_S 20

static int reach(const char *path)
{
	static const struct timeval patience = { PATIENCE_S, 0 };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		perror(path);
		exit(1);
	}
	return fd;
}

/* False if the other end did not want all of it. */
static bool say(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

/* Prints all up to the end of the connection. */
static int print_rest(int fd)
{
	char buf[65536];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	/* A reset is an end too: what we sent was not wanted. */
	if (n < 0 && errno != ECONNRESET) {
		perror("recv");
		return 1;
	}
	return 0;
}

static int talk(const char *path, const char *text)
{
	int fd = reach(path);

	say(fd, text, strlen(text));
	shutdown(fd, SHUT_WR);
	return print_rest(fd);
}

static int send_long(const char *path, size_t len)
{
	char *text = malloc(len);
	int fd = reach(path);

	if (!text)
		return 1;
	memset(text, ' ', len);
	say(fd, text, len);
	free(text);
	return print_rest(fd);
}

static int mute(const char *path, const char *text, int seconds)
{
	struct pollfd p = { .fd = reach(path) };
	uint64_t start;

	if (!say(p.fd, text, strlen(text)))
		return 1;
	start = clock_now_ns();
	/* No events asked for: only the end of the connection. */
	if (poll(&p, 1, seconds * 1000) != 1 || !(p.revents & (POLLHUP | POLLERR)))
		return 1;
	printf("%llu\n", (unsigned long long)((clock_now_ns() - start) / NSEC_PER_MSEC));
	return 0;
}

static int crowd(const char *path, int n)
{
	if (n > CROWD_MAX)
		return 1;
	for (int i = 0; i < n; i++)
		reach(path);
	return print_rest(reach(path));
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[1] : "";

	if (!strcmp(what, "talk"))
		return talk(argv[2], argv[3]);
	if (!strcmp(what, "long"))
		return send_long(argv[2], strtoul(argv[3], NULL, 10));
	if (!strcmp(what, "crowd"))
		return crowd(argv[2], atoi(argv[3]));
	if (!strcmp(what, "mute") && argc > 4)
		return mute(argv[2], argv[3], atoi(argv[4]));
	fputs("usage: ctlraw talk|mute|long|crowd PATH ARGUMENT...\n", stderr);
	return 64;
}
