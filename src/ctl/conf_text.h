/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf_text: checks the text of a configuration file before libconfuse sees it.
 *
 * The scanner of libconfuse 3.3 drops characters that it does not know, expands
 * environment variables, counts lines wrongly after some comments and reads
 * through a null pointer for an empty one. So comments are taken out, what is
 * outside of quotes is limited to what the grammar needs, and each section gets
 * its line number. Keys and values are not known here. No state, any thread.
 */
#ifndef XB_CTL_CONF_TEXT_H
#define XB_CTL_CONF_TEXT_H

#include <stddef.h>

/* In the result a section's name is "NAME" MARK "LINE" MARK "NUMBER", which makes it unique. */
#define CONF_TEXT_MARK         '\001'
#define CONF_TEXT_SECTIONS_MAX 8192
#define CONF_TEXT_MSG_SIZE     128

struct conf_text_error {
	unsigned int line;
	char msg[CONF_TEXT_MSG_SIZE];
};

/*
 * Makes a string for cfg_parse_buf() from the @len bytes at @in, with the same
 * number of lines. 0: free(*@out). -EINVAL: @e says what is wrong. -ENOMEM.
 */
int conf_text_clean(const char *in, size_t len, char **out, struct conf_text_error *e);

#endif
