/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ctlsock_path.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG    16
#define GROUPS_MAX 256 /* of a client; a process may have more, but none does */

gid_t ctlsock_group(const char *name)
{
	struct group *g = getgrnam(name);

	return g ? g->gr_gid : CTLSOCK_NO_GROUP;
}

bool ctlsock_peer_may(int fd, gid_t gid)
{
	gid_t groups[GROUPS_MAX];
	socklen_t len = sizeof(groups);
	struct ucred cred;
	socklen_t cred_len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len))
		return false;
	if (cred.uid == 0 || cred.uid == geteuid())
		return true;
	if (gid == CTLSOCK_NO_GROUP)
		return false;
	if (cred.gid == gid)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++) {
		if (groups[i] == gid)
			return true;
	}
	return false;
}

static int make_directory(const char *path)
{
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return 0;
	*slash = 0;
	if (mkdir(dir, 0755))
		return errno == EEXIST ? 0 : -errno;
	/* Whatever the umask is. */
	return chmod(dir, 0755) ? -errno : 0;
}

/*
 * Whoever has the lock may replace the socket. Asking the socket itself would
 * leave a moment in which two daemons both find it dead.
 */
static int take_lock(const char *path, int *out)
{
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
	int fd, err;

	snprintf(name, sizeof(name), "%s.lock", path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		err = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

/* A socket that nobody listens at any more goes; 0 if the path is free then. */
static int remove_stale(const struct sockaddr_un *sa)
{
	struct stat st;
	int fd, err = 0;

	if (lstat(sa->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) || errno == EAGAIN)
		err = -EADDRINUSE;
	close(fd);
	if (!err && unlink(sa->sun_path) && errno != ENOENT)
		err = -errno;
	return err;
}

static int bind_socket(const struct sockaddr_un *sa, gid_t gid)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	/* The mode of a socket not yet bound is that of the file: at no time may others connect. */
	if (fchmod(fd, 0600) || bind(fd, (const struct sockaddr *)sa, sizeof(*sa))) {
		err = -errno;
		goto err_close;
	}
	if ((gid != CTLSOCK_NO_GROUP && chown(sa->sun_path, (uid_t)-1, gid)) ||
	    chmod(sa->sun_path, 0660) || listen(fd, BACKLOG)) {
		err = -errno;
		goto err_unlink;
	}
	return fd;

err_unlink:
	unlink(sa->sun_path);
err_close:
	close(fd);
	return err;
}

int ctlsock_listen(const char *path, gid_t gid, int *lock_fd)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int err, fd, lock = -1;

	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(sa.sun_path, path, strlen(path) + 1);
	err = make_directory(path);
	if (err)
		return err;
	err = take_lock(path, &lock);
	if (err)
		return err;
	err = remove_stale(&sa);
	if (err)
		goto err_lock;
	fd = bind_socket(&sa, gid);
	if (fd < 0) {
		err = fd;
		goto err_lock;
	}
	*lock_fd = lock;
	return fd;

err_lock:
	close(lock);
	return err;
}
