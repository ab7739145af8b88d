/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl: the control thread: an event loop that keeps the data plane as the
 * kernel and the configuration file say.
 */
#ifndef XB_CTL_CTL_H
#define XB_CTL_CTL_H

#include <stdbool.h>

#include "ctl/conf.h"

struct ctl_options {
	const char *conf_path; /* NULL: no file, defaults; re-read at SIGHUP */
	bool debug;            /* log at level debug, whatever the configuration says */
	const char *pin_dir;   /* where links are pinned on bpffs */
};

/*
 * Runs until SIGTERM or SIGINT. Takes over @conf. Exit status of the process:
 * 0, or 1 after a message that says what to do.
 */
int ctl_main(struct conf *conf, const struct ctl_options *opt);

#endif
