/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ctlsock.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/ctlmsg.h"
#include "ctl/ctlsock_path.h"
#include "ctl/show.h"
#include "ctl/state.h"

#define OUT_LOW    (16U << 10) /* bytes that wait to be sent: below it the answer goes on, */
#define OUT_HIGH   (64U << 10) /* and above it pauses */
#define ERROR_SIZE 256

struct client {
	struct ctlsock *sock;
	struct bufferevent *bev; /* NULL: the place is free */
	struct event *again;     /* its next turn, when there is more to do at once */
	struct show *show;       /* the answer under way */
	bool is_eof;             /* will say nothing more */
	bool is_ending;          /* what is in the buffer is the last that it gets */
};

struct ctlsock {
	struct ctl *c;
	struct evconnlistener *listener;
	struct event *resume; /* accepting, after an error */
	int lock_fd;
	gid_t gid;
	char path[CONF_PATH_SIZE]; /* a configuration may come and go meanwhile */
	struct client client[CTLSOCK_CLIENTS_MAX];
};

static void client_cut(struct client *cl)
{
	show_free(cl->show);
	if (cl->again)
		event_free(cl->again);
	bufferevent_free(cl->bev);
	memset(cl, 0, sizeof(*cl));
}

/* ---- requests ---- */

static void add_error(struct client *cl, const char *why, int err)
{
	char line[ERROR_SIZE];
	size_t len = ctlmsg_format_error(why, err, line, sizeof(line));

	evbuffer_add(bufferevent_get_output(cl->bev), line, len);
}

static void request(struct client *cl, const char *line, size_t len)
{
	char why[CTLMSG_WHY_SIZE];
	const char *why_not;
	struct ctlmsg_request r;
	int err = ctlmsg_parse(line, len, &r, why);

	if (err) {
		add_error(cl, why, err);
		/* Whoever does not speak the protocol has nothing to say that matters. */
		cl->is_ending = err == -EBADMSG;
		return;
	}
	err = show_new(cl->sock->c, &r, &cl->show, &why_not);
	if (err)
		add_error(cl, why_not, err);
}

static bool has_line(struct client *cl)
{
	struct evbuffer *in = bufferevent_get_input(cl->bev);

	return evbuffer_search_eol(in, NULL, NULL, EVBUFFER_EOL_LF).pos >= 0;
}

static void next_request(struct client *cl)
{
	struct evbuffer *in = bufferevent_get_input(cl->bev);
	size_t len;
	char *line = evbuffer_readln(in, &len, EVBUFFER_EOL_LF);

	if (line) {
		request(cl, line, len);
		free(line);
	} else if (evbuffer_get_length(in) >= CTLMSG_REQUEST_MAX) {
		add_error(cl, "the request is too long", -EBADMSG);
		cl->is_ending = true;
	} else if (cl->is_eof) {
		cl->is_ending = true;
	}
}

/* ---- one turn of a client: at most one request and one part of an answer ---- */

static void set_reading(struct client *cl)
{
	/* Reading also watches for silence, which is right only while we wait for a request. */
	if (cl->show || cl->is_eof || cl->is_ending)
		bufferevent_disable(cl->bev, EV_READ);
	else
		bufferevent_enable(cl->bev, EV_READ);
}

static void turn(struct client *cl)
{
	static const struct timeval at_once = { 0, 0 };
	struct evbuffer *out = bufferevent_get_output(cl->bev);

	if (evbuffer_get_length(out) >= OUT_HIGH)
		return; /* comes back when it is sent */
	if (!cl->show && !cl->is_ending)
		next_request(cl);
	if (cl->show) {
		int more = show_step(cl->show, out);

		if (more <= 0) {
			show_free(cl->show);
			cl->show = NULL;
		}
		if (more < 0) {
			client_cut(cl);
			return;
		}
	}
	if (cl->is_ending && !evbuffer_get_length(out)) {
		client_cut(cl);
		return;
	}
	set_reading(cl);
	if (cl->show || (!cl->is_ending && (cl->is_eof || has_line(cl))))
		event_add(cl->again, &at_once);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	turn(arg);
}

static void on_data(struct bufferevent *bev, void *arg)
{
	(void)bev;
	turn(arg);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct client *cl = arg;

	(void)bev;
	if (what & BEV_EVENT_EOF) {
		cl->is_eof = true;
		turn(cl);
	} else {
		/* Silent, not reading, or gone. */
		client_cut(cl);
	}
}

/* ---- connections ---- */

static void turn_away(int fd, const char *why, int err)
{
	char line[ERROR_SIZE];
	size_t len = ctlmsg_format_error(why, err, line, sizeof(line));

	(void)send(fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static int client_init(struct client *cl, struct ctlsock *s, int fd)
{
	static const struct timeval idle = { CTLSOCK_IDLE_S, 0 };

	cl->sock = s;
	cl->again = event_new(s->c->base, -1, 0, on_again, cl);
	cl->bev = bufferevent_socket_new(s->c->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!cl->again || !cl->bev)
		return -ENOMEM;
	bufferevent_setcb(cl->bev, on_data, on_data, on_event, cl);
	bufferevent_setwatermark(cl->bev, EV_READ, 0, CTLMSG_REQUEST_MAX);
	bufferevent_setwatermark(cl->bev, EV_WRITE, OUT_LOW, 0);
	bufferevent_set_timeouts(cl->bev, &idle, &idle);
	return bufferevent_enable(cl->bev, EV_READ | EV_WRITE) ? -ENOMEM : 0;
}

static struct client *find_place(struct ctlsock *s)
{
	for (int i = 0; i < CTLSOCK_CLIENTS_MAX; i++) {
		if (!s->client[i].bev)
			return &s->client[i];
	}
	return NULL;
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len,
		      void *arg)
{
	struct ctlsock *s = arg;
	struct client *cl = find_place(s);

	(void)l;
	(void)sa;
	(void)len;
	if (!ctlsock_peer_may(fd, s->gid)) {
		turn_away(fd, "only root and the control group may do this", -EPERM);
		return;
	}
	if (!cl) {
		turn_away(fd, "there are 16 clients already", -EBUSY);
		return;
	}
	if (client_init(cl, s, fd)) {
		if (cl->again)
			event_free(cl->again);
		if (cl->bev)
			bufferevent_free(cl->bev);
		else
			close(fd);
		memset(cl, 0, sizeof(*cl));
	}
}

/* Out of descriptors or memory: the connection stays waiting, so trying at once would spin. */
static void on_accept_error(struct evconnlistener *l, void *arg)
{
	static const struct timeval later = { 1, 0 };
	struct ctlsock *s = arg;

	evconnlistener_disable(l);
	event_add(s->resume, &later);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct ctlsock *s = arg;

	(void)fd;
	(void)what;
	evconnlistener_enable(s->listener);
}

/* ---- opening and closing ---- */

static gid_t find_group(const char *name)
{
	gid_t gid;

	if (!name[0])
		return CTLSOCK_NO_GROUP;
	gid = ctlsock_group(name);
	if (gid == CTLSOCK_NO_GROUP)
		log_warn(
			"control-group: there is no group %s; only root may use the control socket",
			name);
	return gid;
}

int ctlsock_open(struct ctl *c, struct ctlsock **out)
{
	struct ctlsock *s = calloc(1, sizeof(*s));
	int fd, err;

	if (!s)
		return -ENOMEM;
	signal(SIGPIPE, SIG_IGN);
	s->c = c;
	s->gid = find_group(c->conf->control_group);
	memcpy(s->path, c->conf->control_socket, sizeof(s->path));
	fd = ctlsock_listen(s->path, s->gid, &s->lock_fd);
	if (fd < 0) {
		err = fd;
		goto err_free;
	}
	err = -ENOMEM;
	s->resume = event_new(c->base, -1, 0, on_resume, s);
	if (!s->resume)
		goto err_socket;
	s->listener = evconnlistener_new(c->base, on_accept, s,
					 LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!s->listener)
		goto err_resume;
	evconnlistener_set_error_cb(s->listener, on_accept_error);
	*out = s;
	return 0;

err_resume:
	event_free(s->resume);
err_socket:
	unlink(s->path);
	close(fd);
	close(s->lock_fd);
err_free:
	free(s);
	return err;
}

void ctlsock_close(struct ctlsock *s)
{
	if (!s)
		return;
	for (int i = 0; i < CTLSOCK_CLIENTS_MAX; i++) {
		if (s->client[i].bev)
			client_cut(&s->client[i]);
	}
	evconnlistener_free(s->listener);
	event_free(s->resume);
	unlink(s->path);
	close(s->lock_fd);
	free(s);
}
