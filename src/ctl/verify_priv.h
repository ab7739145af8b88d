/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_priv: shared by the files of verify. A difference has a place and a
 * field, whose numbers are equal in each round.
 */
#ifndef XB_CTL_VERIFY_PRIV_H
#define XB_CTL_VERIFY_PRIV_H

#include <stdint.h>

#include "ctl/verify.h"

struct ctl;
struct mirror;

/*
 * Counts a difference and returns where to describe it, all empty but @id, @what
 * and the object's name; NULL if there is no room for it.
 */
struct verify_difference *verify_differ(struct verify_result *r, uint64_t id, const char *what,
					const char *fmt, ...) __attribute__((format(printf, 4, 5)));

struct verify_place {
	uint32_t ifindex;
	const char *kind; /* "link" */
	const char *name; /* "p1" */
};

/* One more difference of @at if the numbers differ. */
void verify_number(struct verify_result *r, const struct verify_place *at, uint32_t field,
		   const char *name, uint64_t kernel, uint64_t ours);

/*
 * Compares the model, and that the view is made of it, with what a plan makes of
 * @kernel. 0 or -ENOMEM.
 */
int verify_model(struct ctl *c, struct verify_result *r, const struct mirror *kernel);

/* Compares groups and router ports with a dump of their own. 0 or a negative errno. */
int verify_mdb(struct ctl *c, struct verify_result *r);

#endif
