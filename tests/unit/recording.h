/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording: the messages that kernels sent, next to what iproute2 said at the
 * time. A test writes both sides as lines of text; they are sorted and compared.
 */
#ifndef XB_TESTS_RECORDING_H
#define XB_TESTS_RECORDING_H

#include "unit.h"

#include <jansson.h>
#include <stdbool.h>

#include "ctl/rtmsg.h"

/* The lines of one side. */
struct lines {
	char **v;
	size_t n, size;
};

__attribute__((format(printf, 2, 3))) void say(struct lines *l, const char *fmt, ...);
void lines_free(struct lines *l);

/* A step of a scenario. */
struct step {
	const char *kernel, *scenario;
	const char *bin;
	size_t bin_len;
	json_t *json;  /* this step's */
	json_t *state; /* what iproute2 said last of each subject */
	size_t n_compared;
};

typedef void (*step_fn)(struct step *s);
typedef void (*message_fn)(struct step *, const struct nlmsghdr *, const struct rtmsg_info *,
			   struct lines *);

/* Calls @fn for each step of each scenario of each kernel; @at_least so many lines are compared. */
void each_step(step_fn fn, size_t at_least);

/* Parses the messages of a dump, or of any datagrams, of a step; one that is refused fails. */
void each_of_dump(struct step *s, const char *dump, message_fn fn, struct lines *out);
void each_message(struct step *s, const json_t *where, message_fn fn, struct lines *out);

/* Fails, saying where, unless both sides have the same lines; frees them. */
void compare(struct step *s, const char *what, struct lines *want, struct lines *got);

/* Of a JSON object: "" if absent; and numbers, booleans and hexadecimal strings: -1 if absent. */
const char *str(const json_t *o, const char *key);
long num(const json_t *o, const char *key);
/* Whether an array of strings has @want. */
bool has_flag(const json_t *flags, const char *want);

/* A device of `ip link`, by the value of @key, or by its index when @key is NULL. */
const json_t *link_by(struct step *s, const char *key, const char *name, uint32_t index);
/* Its name; "port11" when that was not recorded. */
const char *name_of(struct step *s, uint32_t ifindex);
/* A number of br0's options; -1 if absent. */
long bridge_option(struct step *s, const char *key);

/* Options: iproute2's name, our bit, and whether `bridge link` has it too. */
struct flag {
	const char *key;
	uint32_t bit;
	bool in_bridge_link;
};

void say_json_flags(struct lines *out, const char *name, const struct flag *f, size_t n,
		    const json_t *o);

extern const char *const stp_states[5];

#endif
