/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf_value: turns the text of one key of the configuration file into a field
 * of struct conf, and collects what is wrong with it.
 *
 * Used by conf.c only; one thread.
 */
#ifndef XB_CTL_CONF_VALUE_H
#define XB_CTL_CONF_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More errors than this are counted, not kept. */
#define CONF_ERRORS_MAX 64

/* One value as it was written. A list has several. */
struct conf_value {
	unsigned int line;
	const char *text;
};

struct conf_error {
	unsigned int line;
	unsigned int number; /* keeps the order of errors in one line */
	char *msg;
};

struct conf_errors {
	struct conf_error v[CONF_ERRORS_MAX];
	unsigned int n;
	unsigned int n_more;
	bool no_memory;
};

struct conf_choice {
	const char *name; /* NULL ends the table */
	uint32_t value;
};

enum conf_unit {
	CONF_UNIT_NONE,
	CONF_UNIT_MS,
	CONF_UNIT_S,
	CONF_UNIT_BYTES,
};

/* Where a key makes sense. */
enum conf_scope {
	CONF_SCOPE_ANY,
	CONF_SCOPE_KERNEL, /* source = kernel */
	CONF_SCOPE_FILE,   /* source = file */
};

struct conf_key;

/* Sets the field at @field from @n > 0 values; false if an error was added. */
typedef bool (*conf_set_fn)(struct conf_errors *e, const struct conf_key *k,
			    const struct conf_value *v, uint32_t n, void *field);

struct conf_key {
	const char *name;
	conf_set_fn set;
	size_t offset; /* of the field in the section's struct */
	uint32_t min;
	uint32_t max;
	enum conf_unit unit;
	const struct conf_choice *choices;
	bool is_list;
	enum conf_scope scope;
};

/* Adds an error; without memory it sets no_memory only. */
__attribute__((format(printf, 3, 4))) void conf_error_add(struct conf_errors *e, unsigned int line,
							  const char *fmt, ...);

/* For @text in a message: "%.*s%s" with these two, which cut it at 40 bytes. */
#define CONF_CUT(text) 40, (text), ((text)[0] && __builtin_strlen(text) > 40 ? "..." : "")

/* Makes {"*"} of the empty @g; false without memory. */
struct conf_globs;
bool conf_globs_all(struct conf_globs *g);

/* 1..15 bytes, as the kernel takes them: no '/', ':', white space, "." or "..". */
bool conf_name_is_valid(const char *name);

/* The field's type is in brackets. */
bool conf_set_number(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		     uint32_t n, void *field); /* [uint32_t] */
bool conf_set_ring(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field); /* [uint32_t] a power of two */
bool conf_set_choice(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		     uint32_t n, void *field); /* [uint32_t or an enum] */
bool conf_set_bool(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field); /* [bool] */
bool conf_set_name(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field); /* [char[CONF_NAME_SIZE]] */
bool conf_set_path(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field); /* [char[CONF_PATH_SIZE]] */
bool conf_set_group(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		    uint32_t n, void *field); /* [char[CONF_GROUP_SIZE]] */
bool conf_set_globs(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		    uint32_t n, void *field); /* [struct conf_globs] replaces what it had */
bool conf_set_vlans(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		    uint32_t n, void *field); /* [struct conf_vlans] */
bool conf_set_cpus(struct conf_errors *e, const struct conf_key *k, const struct conf_value *v,
		   uint32_t n, void *field); /* [uint32_t[XB_MAX_WORKERS]] the caller keeps @n */

#endif
