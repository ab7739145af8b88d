/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf_tree: libconfuse, which makes a tree of sections and values from text.
 *
 * Values stay text here, each with its line. Used by conf.c only; one thread at
 * a time in the whole process, because libconfuse's scanner is static.
 */
#ifndef XB_CTL_CONF_TREE_H
#define XB_CTL_CONF_TREE_H

#include <confuse.h>

#include "ctl/conf_keys.h"
#include "ctl/conf_value.h"

/* The tree of the file, for cfg_free(); NULL after an error was added to @e. */
cfg_t *conf_tree_new(const char *text, size_t len, struct conf_errors *e);

/* True if @key is in @sec, if only as an empty list. */
bool conf_tree_key_is_given(cfg_t *sec, const char *key);

/* The line of the first value of @key in @sec; @other if it has none. */
unsigned int conf_tree_key_line(cfg_t *sec, const char *key, unsigned int other);

/*
 * The @n values of @key in @sec, for free(); their text stays the tree's.
 * @again: the key was given more than once. -ENOMEM.
 */
int conf_tree_values(cfg_t *sec, const char *key, struct conf_value **v, uint32_t *n, bool *again);

/*
 * The line where the section @sec begins. Called once, before its title is
 * used: it takes the mark of conf_text off the title.
 */
unsigned int conf_tree_take_line(cfg_t *sec);

#endif
