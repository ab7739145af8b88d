/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbridgectl/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ROOM_FIRST (64U << 10)

static int reach(const char *path)
{
	static const struct timeval patience = { CONN_PATIENCE_S, 0 };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(sa.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (const struct sockaddr *)&sa, sizeof(sa))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static void say(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		/* A daemon that turns us away says why, so the answer is read all the same. */
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static int hear(int fd, char **answer, size_t *len)
{
	size_t size = 0, used = 0;
	char *buf = NULL;
	ssize_t n;

	for (;;) {
		if (size - used < ROOM_FIRST / 2) {
			char *more = realloc(buf, size ? size * 2 : ROOM_FIRST);

			if (!more) {
				free(buf);
				return -ENOMEM;
			}
			buf = more;
			size = size ? size * 2 : ROOM_FIRST;
		}
		n = recv(fd, buf + used, size - used, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int err = !n ? -EPIPE : errno == EAGAIN ? -ETIMEDOUT : -errno;

			free(buf);
			return err;
		}
		used += (size_t)n;
		if (buf[used - 1] == '\n')
			break;
	}
	buf[used - 1] = 0;
	*answer = buf;
	*len = used - 1;
	return 0;
}

int conn_ask(const char *path, const char *request, char **answer, size_t *len)
{
	int fd = reach(path), err;

	if (fd < 0)
		return fd;
	say(fd, request);
	err = hear(fd, answer, len);
	close(fd);
	return err;
}
