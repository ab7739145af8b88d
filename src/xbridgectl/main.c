/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xbridgectl/args.h"
#include "xbridgectl/conn.h"
#include "xbridgectl/reasons.h"
#include "xbridgectl/text.h"

/* Exit statuses; xbridgectl(8) tells them. */
enum {
	STATUS_OK = 0,
	STATUS_REFUSED = 1,
	STATUS_UNREACHABLE = 2,
	STATUS_DIFFERENT = 3,
	STATUS_USAGE = 64
};

struct options {
	const char *socket;
	bool json;
	bool pretty;
};

static const char usage_text[] =
	"usage: xbridgectl [-j] [-p] [-s SOCKET] COMMAND\n"
	"\n"
	"  status                       which ports are on which path, and why\n"
	"  port [show [dev DEV]]        ports, as \"bridge -d link\" and more\n"
	"  vlan [show [dev DEV]]        VLANs of ports, as \"bridge vlan\"\n"
	"  fdb [show [FILTER]...]       stations, as \"bridge fdb\"\n"
	"  fdb flush [FILTER]...        forgets stations\n"
	"  flood [show [dev DEV] [vlan VID]]\n"
	"                               where frames go that are flooded\n"
	"  mdb [show [dev DEV]]         multicast groups, routers and queriers\n"
	"  stats [show [dev DEV] [vlans]]\n"
	"                               every counter that is not 0\n"
	"  verify                       compares our tables with the kernel's\n"
	"  version                      of the daemon\n"
	"  reasons                      what the names of reasons mean\n"
	"\n"
	"FILTER is dev DEV, vlan VID, mac MAC, or one of dynamic, static, local,\n"
	"extern, sticky. DEV is a port, or a bridge for all of its ports.\n"
	"\n"
	"  -j, --json             print JSON\n"
	"  -p, --pretty           print JSON for people\n"
	"  -s, --socket SOCKET    of the daemon (" CTLMSG_SOCKET ")\n"
	"  -V, --version          of this program\n"
	"  -h, --help             this text\n";

static int complain_usage(const char *why)
{
	fprintf(stderr, "xbridgectl: %s; see xbridgectl --help\n", why);
	return STATUS_USAGE;
}

/* -1: go on; otherwise the exit status. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },         { "pretty", no_argument, NULL, 'p' },
		{ "socket", required_argument, NULL, 's' }, { "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },         { NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+jps:Vh", names, NULL)) != -1) {
		switch (c) {
		case 'j':
			o->json = true;
			break;
		case 'p':
			o->json = o->pretty = true;
			break;
		case 's':
			o->socket = optarg;
			break;
		case 'V':
			puts("xbridgectl " PACKAGE_VERSION);
			return STATUS_OK;
		case 'h':
			fputs(usage_text, stdout);
			return STATUS_OK;
		default:
			return STATUS_USAGE;
		}
	}
	return -1;
}

static int complain_unreachable(const char *path, int err)
{
	const char *hint = "is it running? systemctl status xbridged";

	if (err == -EACCES || err == -EPERM)
		hint = "only root and the members of control-group may; see xbridged.conf(5)";
	else if (err == -EPIPE)
		hint = "the answer ended too early";
	else if (err == -ETIMEDOUT)
		hint = "it does not answer";
	fprintf(stderr, "xbridgectl: cannot reach xbridged at %s: %s (%s)\n", path, strerror(-err),
		hint);
	return STATUS_UNREACHABLE;
}

/* The answer is not one of success. */
static int complain_refused(const char *answer, size_t len)
{
	json_t *root = json_loadb(answer, len, 0, NULL);
	const char *why = json_string_value(json_object_get(root, "error"));

	fprintf(stderr, "xbridgectl: %s\n", why ? why : "xbridged answered something unknown");
	json_decref(root);
	return why ? STATUS_REFUSED : STATUS_UNREACHABLE;
}

static int print_data(const struct options *o, enum ctlmsg_cmd cmd, const char *data, size_t len)
{
	json_t *root;

	if (o->json && !o->pretty) {
		fwrite(data, 1, len, stdout);
		fputc('\n', stdout);
		return 0;
	}
	if (!o->json && cmd == CTLMSG_FDB)
		return text_fdb_list(stdout, data, len);
	root = json_loadb(data, len, JSON_DECODE_ANY, NULL);
	if (!root)
		return -EINVAL;
	if (o->pretty) {
		json_dumpf(root, stdout, JSON_INDENT(4) | JSON_ENCODE_ANY);
		fputc('\n', stdout);
	} else {
		text_print(stdout, cmd, root);
	}
	json_decref(root);
	return 0;
}

/* What `verify` found decides its exit status. */
static int verify_status(const char *data, size_t len)
{
	json_t *root = json_loadb(data, len, 0, NULL);
	int status = STATUS_OK;

	if (!json_is_true(json_object_get(root, "complete"))) {
		fprintf(stderr, "xbridgectl: the kernel's tables could not be read, try again\n");
		status = STATUS_REFUSED;
	} else if (text_number(root, "n_differences")) {
		status = STATUS_DIFFERENT;
	}
	json_decref(root);
	return status;
}

static int ask(const struct options *o, const struct ctlmsg_request *r)
{
	/* The newline that ends CTLMSG_OK_TAIL is gone already. */
	const size_t head = strlen(CTLMSG_OK_HEAD), tail = strlen(CTLMSG_OK_TAIL) - 1;
	char request[512], *answer;
	int err, status = STATUS_OK;
	size_t len;

	err = ctlmsg_format(r, request, sizeof(request));
	if (err < 0)
		return complain_usage("the request is too long");
	err = conn_ask(o->socket, request, &answer, &len);
	if (err)
		return complain_unreachable(o->socket, err);
	if (len < head + tail || memcmp(answer, CTLMSG_OK_HEAD, head) != 0)
		status = complain_refused(answer, len);
	else if (print_data(o, r->cmd, answer + head, len - head - tail))
		status = complain_refused("", 0);
	else if (r->cmd == CTLMSG_VERIFY)
		status = verify_status(answer + head, len - head - tail);
	free(answer);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "xbridgectl: cannot write: %s\n", strerror(errno));
		status = status ? status : STATUS_UNREACHABLE;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options o = { .socket = CTLMSG_SOCKET };
	struct ctlmsg_request r;
	int status = parse_options(argc, argv, &o);
	char why[256];

	if (status >= 0)
		return status;
	if (argc - optind == 1 && !strcmp(argv[optind], "reasons"))
		return reasons_print(stdout, o.json) ? STATUS_REFUSED : STATUS_OK;
	if (args_parse(argc - optind, argv + optind, &r, why, sizeof(why)))
		return complain_usage(why);
	return ask(&o, &r);
}
