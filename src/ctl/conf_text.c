// SPDX-License-Identifier: GPL-2.0-or-later
#include "ctl/conf_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two marks and two numbers. */
#define SECTION_ROOM 24

/* A list in a port in a bridge makes three open braces. */
#define DEPTH_MAX 3

/* What the last token was. */
enum last {
	LAST_NONE,
	LAST_WORD,
	LAST_STRING,
	LAST_EQUALS,
	LAST_OTHER,
};

struct scan {
	const char *in;
	size_t len;
	size_t pos;
	unsigned int line;
	char *out;
	size_t n_out;
	enum last last;
	size_t last_end; /* in out, behind the last token */
	unsigned int n_sections;
	unsigned int depth; /* braces that are open */
	unsigned int open_line[DEPTH_MAX];
	struct conf_text_error *e;
};

__attribute__((format(printf, 2, 3))) static int fail(struct scan *s, const char *fmt, ...)
{
	va_list ap;

	s->e->line = s->line;
	va_start(ap, fmt);
	vsnprintf(s->e->msg, sizeof(s->e->msg), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* The byte @ahead of the current one; a newline behind the end. */
static char peek(const struct scan *s, size_t ahead)
{
	return s->pos + ahead < s->len ? s->in[s->pos + ahead] : '\n';
}

static void put(struct scan *s, char c)
{
	s->out[s->n_out++] = c;
}

static void token_end(struct scan *s, enum last kind)
{
	s->last = kind;
	s->last_end = s->n_out;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_.:-", c));
}

static int fail_byte(struct scan *s, const char *where)
{
	unsigned char c = (unsigned char)s->in[s->pos];

	if (c < 0x20 || c > 0x7e)
		return fail(s, "byte 0x%02x is here; allowed: printable ASCII", c);
	return fail(s, "\"%c\" %s", c, where);
}

/* Leaves the newline that ends the comment. */
static void skip_line(struct scan *s)
{
	while (peek(s, 0) != '\n')
		s->pos++;
	put(s, ' ');
}

static int skip_block(struct scan *s)
{
	unsigned int start = s->line;

	for (s->pos += 2; s->pos < s->len; s->pos++) {
		if (s->in[s->pos] == '\n') {
			s->line++;
			put(s, '\n');
		} else if (s->in[s->pos] == '*' && peek(s, 1) == '/') {
			s->pos += 2;
			put(s, ' ');
			return 0;
		}
	}
	s->line = start;
	return fail(s, "the comment is not closed; \"*/\" is missing");
}

static int copy_string(struct scan *s)
{
	char quote = s->in[s->pos++];

	put(s, quote);
	for (; peek(s, 0) != quote; s->pos++) {
		char c = peek(s, 0);

		if (c == '\n')
			return fail(s, "the string is not closed on its line; %c is missing",
				    quote);
		if (c < 0x20 || c > 0x7e || c == '\\' || c == '|')
			return fail_byte(s, "is in a string; allowed: other printable ASCII");
		if (c == '$' && peek(s, 1) == '{')
			return fail(s, "\"${\" is in a string; allowed: no environment "
				       "variables");
		put(s, c);
	}
	s->pos++;
	put(s, quote);
	token_end(s, LAST_STRING);
	return 0;
}

static int copy_word(struct scan *s)
{
	while (is_word(peek(s, 0)) || (peek(s, 0) == '/' && is_word(peek(s, 1))))
		put(s, s->in[s->pos++]);
	token_end(s, LAST_WORD);
	return 0;
}

/* The brace of a section: marks the name that was just copied. */
static int open_section(struct scan *s)
{
	char quote = s->last == LAST_STRING ? s->out[s->last_end - 1] : 0;
	size_t at = quote ? s->last_end - 1 : s->last_end;
	char mark[SECTION_ROOM];
	int n;

	if (s->n_sections == CONF_TEXT_SECTIONS_MAX)
		return fail(s, "too many sections; allowed are %d", CONF_TEXT_SECTIONS_MAX);
	n = snprintf(mark, sizeof(mark), "%c%u%c%u", CONF_TEXT_MARK, s->line, CONF_TEXT_MARK,
		     s->n_sections++);
	memmove(s->out + at + n, s->out + at, s->n_out - at);
	memcpy(s->out + at, mark, (size_t)n);
	s->n_out += (size_t)n;
	return 0;
}

static int copy_brace(struct scan *s)
{
	if (s->last == LAST_WORD || s->last == LAST_STRING) {
		int err = open_section(s);

		if (err)
			return err;
	}
	if (s->depth == DEPTH_MAX)
		return fail(s, "\"{\" is nested too deeply; allowed: a list in a port in a bridge");
	s->open_line[s->depth++] = s->line;
	put(s, '{');
	s->pos++;
	token_end(s, LAST_OTHER);
	return 0;
}

static int copy_symbol(struct scan *s)
{
	char c = s->in[s->pos];

	switch (c) {
	case ';':
		if (s->last == LAST_EQUALS)
			return fail(s, "\";\" follows \"=\"; allowed: a value");
		put(s, ' ');
		break;
	case '+':
		if (peek(s, 1) != '=')
			return fail_byte(s, "is here; allowed: inside quotes only");
		put(s, c);
		s->pos++;
		put(s, '=');
		token_end(s, LAST_EQUALS);
		break;
	case '=':
		put(s, c);
		token_end(s, LAST_EQUALS);
		break;
	case '}':
		if (!s->depth)
			return fail(s, "\"}\" is here without a \"{\"; allowed: one for each");
		s->depth--;
		put(s, c);
		token_end(s, LAST_OTHER);
		break;
	case ',':
		put(s, c);
		token_end(s, LAST_OTHER);
		break;
	case '(':
	case ')':
		return fail_byte(s, "is here; allowed: no functions, include() neither");
	default:
		return fail_byte(s, "is here; allowed: inside quotes only");
	}
	s->pos++;
	return 0;
}

static int copy_next(struct scan *s)
{
	char c = s->in[s->pos];

	if (c == '\n' || c == ' ' || c == '\t' || (c == '\r' && peek(s, 1) == '\n')) {
		s->line += c == '\n';
		put(s, c == '\r' ? ' ' : c);
		s->pos++;
		return 0;
	}
	if (c == '#' || (c == '/' && peek(s, 1) == '/')) {
		skip_line(s);
		return 0;
	}
	if (c == '/' && peek(s, 1) == '*')
		return skip_block(s);
	if (c == '"' || c == '\'')
		return copy_string(s);
	if (is_word(c) || (c == '/' && is_word(peek(s, 1))))
		return copy_word(s);
	if (c == '{')
		return copy_brace(s);
	if (c < 0x20 || c > 0x7e)
		return fail_byte(s, "is here");
	return copy_symbol(s);
}

static int check_nul(struct scan *s)
{
	const char *nul = s->len ? memchr(s->in, 0, s->len) : NULL;

	if (!nul)
		return 0;
	for (const char *p = s->in; p < nul; p++)
		s->line += *p == '\n';
	s->pos = (size_t)(nul - s->in);
	return fail_byte(s, "is here");
}

int conf_text_clean(const char *in, size_t len, char **out, struct conf_text_error *e)
{
	struct scan s = { .in = in, .len = len, .line = 1, .e = e };
	size_t n_braces = 0;
	int err = check_nul(&s);

	if (err)
		return err;
	for (size_t i = 0; i < len && n_braces < CONF_TEXT_SECTIONS_MAX; i++)
		n_braces += in[i] == '{';
	/* A comment at the end of the file becomes a space that was not there. */
	s.out = malloc(len + n_braces * SECTION_ROOM + 2);
	if (!s.out)
		return -ENOMEM;

	while (s.pos < len && !err)
		err = copy_next(&s);
	if (!err && s.depth) {
		s.line = s.open_line[s.depth - 1];
		err = fail(&s, "\"{\" is not closed; \"}\" is missing");
	}
	if (err) {
		free(s.out);
		return err;
	}
	s.out[s.n_out] = 0;
	*out = s.out;
	return 0;
}
