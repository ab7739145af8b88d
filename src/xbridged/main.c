/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "ctl/conf.h"
#include "ctl/ctl.h"
#include "dp/dp.h"
#include "util/kernel.h"
#include "util/log.h"
#include "xbridged/caps.h"

#define DEFAULT_CONF SYSCONFDIR "/xbridged/xbridged.conf"
#define PIN_DIR      "/sys/fs/bpf/xbridged"

/* sysexits.h */
#define EXIT_USAGE  64
#define EXIT_CONFIG 78

struct options {
	const char *conf;
	bool is_conf_given;
	bool check, cleanup, debug;
};

static void usage(FILE *f)
{
	fputs("usage: xbridged [-dhV] [-c FILE] [--check | --cleanup]\n"
	      "  -c, --config FILE  configuration, default " DEFAULT_CONF "\n"
	      "      --check        check the configuration and exit\n"
	      "      --cleanup      detach what an earlier xbridged left attached, and exit\n"
	      "  -d, --debug        log more than the configuration says\n"
	      "  -h, --help         this text\n"
	      "  -V, --version      version\n",
	      f);
}

/* 0: go on; otherwise 1 + the exit status. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check", no_argument, NULL, 'k' },
		{ "cleanup", no_argument, NULL, 'x' },
		{ "debug", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "c:dhV", longs, NULL)) != -1) {
		switch (opt) {
		case 'c':
			o->conf = optarg;
			o->is_conf_given = true;
			break;
		case 'k':
			o->check = true;
			break;
		case 'x':
			o->cleanup = true;
			break;
		case 'd':
			o->debug = true;
			break;
		case 'h':
			usage(stdout);
			return 1;
		case 'V':
			puts(PACKAGE_STRING);
			return 1;
		default:
			usage(stderr);
			return 1 + EXIT_USAGE;
		}
	}
	if (optind == argc && !(o->check && o->cleanup))
		return 0;
	usage(stderr);
	return 1 + EXIT_USAGE;
}

static void report(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "%s\n", line);
}

/* A file that was not asked for need not be there. */
static int load(const struct options *o, struct conf **out, bool *has_file)
{
	int err = conf_load(o->conf, out, report, NULL);

	*has_file = err != -ENOENT;
	if (err != -ENOENT)
		return err;
	if (o->is_conf_given) {
		fprintf(stderr, "xbridged: %s: no such file\n", o->conf);
		return err;
	}
	*out = conf_defaults();
	return *out ? 0 : -ENOMEM;
}

static int cleanup(void)
{
	int n = dp_cleanup(PIN_DIR);

	if (n < 0) {
		fprintf(stderr, "xbridged: cannot clean up %s: %s\n", PIN_DIR, strerror(-n));
		return 1;
	}
	printf("%d XDP programs detached\n", n);
	return 0;
}

/* What is older lacks links of XDP programs with fragments, or maps that are used. */
static int check_kernel(void)
{
	struct utsname u;
	uint32_t v = uname(&u) ? 0 : kernel_parse(u.release);

	/* A version that cannot be read is no reason to refuse. */
	if (!v || v >= KERNEL_V(6, 1))
		return 0;
	log_err("cannot start: Linux 6.1 or newer is needed, this is %s", u.release);
	return 1;
}

static int drop_caps(void)
{
	const char *missing = NULL;
	int err = caps_drop(&missing);

	if (!err)
		return 0;
	if (missing)
		log_err("cannot start without %s: run as root, or by the systemd unit", missing);
	else
		log_err("capabilities cannot be dropped: %s", strerror(-err));
	return 1;
}

int main(int argc, char **argv)
{
	struct options o = { .conf = DEFAULT_CONF };
	struct ctl_options co = { .pin_dir = PIN_DIR };
	struct conf *conf = NULL;
	bool has_file;
	int rc = parse_options(argc, argv, &o);

	if (rc)
		return rc - 1;
	if (o.cleanup)
		return cleanup();
	rc = load(&o, &conf, &has_file);
	if (rc)
		return rc == -ENOMEM ? 1 : EXIT_CONFIG;
	if (o.check) {
		conf_free(conf);
		printf("%s: %s\n", o.conf, has_file ? "no errors" : "not there, defaults are used");
		return 0;
	}
	co.debug = o.debug;
	rc = check_kernel();
	if (!rc)
		rc = drop_caps();
	if (rc) {
		conf_free(conf);
		return rc;
	}
	co.conf_path = has_file || o.is_conf_given ? o.conf : DEFAULT_CONF;
	return ctl_main(conf, &co);
}
