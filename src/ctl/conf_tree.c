// SPDX-License-Identifier: GPL-2.0-or-later
#include "ctl/conf_tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/conf_text.h"

/* A flag of our own in cfg_opt_t.flags, far above libconfuse's: the key has had a value. */
#define OPT_SEEN (1 << 24)

/* One value in libconfuse's tree. */
struct node {
	unsigned int line;
	bool again; /* the key was given before in this section */
	char text[];
};

/* libconfuse hands no pointer of ours to its error function. */
static struct conf_errors *parse_errors;

/* Keeps the value as text, with its line; the type is looked at when the whole file is read. */
static int node_new(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result)
{
	size_t len = strlen(text);
	struct node *n = malloc(sizeof(*n) + len + 1);

	if (!n) {
		parse_errors->no_memory = true;
		return -1;
	}
	n->line = (unsigned int)cfg->line;
	/* "=" empties a list before its first value; later values find it longer. */
	n->again = (opt->flags & OPT_SEEN) && opt->nvalues == 1;
	opt->flags |= OPT_SEEN;
	memcpy(n->text, text, len + 1);
	*(void **)result = n;
	return 0;
}

static void add_unknown_key(struct conf_errors *e, const cfg_t *cfg, const char *key)
{
	const struct conf_section *s = conf_section_find(cfg->name);
	char allowed[600];
	size_t len = 0;

	for (size_t i = 0; s->subs[i]; i++) {
		if (!strcmp(s->subs[i]->name, key)) {
			conf_error_add(e, (unsigned int)cfg->line,
				       "the section \"%s\" has no name; allowed: %s NAME { ... }",
				       key, key);
			return;
		}
	}
	for (size_t i = 0; i < s->n_keys && len < sizeof(allowed); i++)
		len += (size_t)snprintf(allowed + len, sizeof(allowed) - len, "%s%s",
					len ? ", " : "", s->keys[i].name);
	for (size_t i = 0; s->subs[i] && len < sizeof(allowed); i++)
		len += (size_t)snprintf(allowed + len, sizeof(allowed) - len, ", %s NAME { ... }",
					s->subs[i]->name);
	conf_error_add(e, (unsigned int)cfg->line, "unknown key \"%.*s%s\"; allowed here: %s",
		       CONF_CUT(key), allowed);
}

/* libconfuse's messages in our words; those with %s have one argument. */
/* clang-format off */
static const struct {
	const char *theirs;
	const char *before;
	const char *after;
} messages[] = {
	{ "missing equal sign after option '%s'", "no \"=\" follows the key \"", "\"; allowed: key = value, or key = { value, ... } for a list" },
	{ "missing opening brace for section '%s'", "no \"{\" follows the name of the section \"", "\"; allowed: SECTION NAME { ... }" },
	{ "missing title for section '%s'", "no name follows the section \"", "\"; allowed: SECTION NAME { ... }" },
	{ "attempt to append to non-list option '%s'", "the key \"", "\" takes one value; allowed: \"=\", and \"+=\" for lists" },
	{ "unexpected token '%s'", "unexpected \"", "\"; allowed: key = value, key = { value, ... }, SECTION NAME { ... }" },
};
/* clang-format on */

/* libconfuse's cfg_errfunc_t. */
__attribute__((format(printf, 2, 0))) static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	unsigned int line = (unsigned int)cfg->line;
	char text[256];

	if (!strcmp(fmt, "premature end of file")) {
		conf_error_add(parse_errors, line,
			       "the file ends too early; a value, \"}\" or section is incomplete");
		return;
	}
	if (!strstr(fmt, "'%s'")) {
		vsnprintf(text, sizeof(text), fmt, ap);
		conf_error_add(parse_errors, line, "%s; see xbridged.conf(5)", text);
		return;
	}
	snprintf(text, sizeof(text), "%.250s", va_arg(ap, const char *));
	text[strcspn(text, (const char[]){ CONF_TEXT_MARK, 0 })] = 0;
	if (!strcmp(fmt, "no such option '%s'")) {
		add_unknown_key(parse_errors, cfg, text);
		return;
	}
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		if (!strcmp(fmt, messages[i].theirs)) {
			conf_error_add(parse_errors, line, "%s%.*s%s%s", messages[i].before,
				       CONF_CUT(text), messages[i].after);
			return;
		}
	}
	conf_error_add(parse_errors, line, "\"%.*s%s\" is not understood; see xbridged.conf(5)",
		       CONF_CUT(text));
}

static void opts_free(cfg_opt_t *opts)
{
	for (size_t i = 0; opts && opts[i].name; i++)
		opts_free(opts[i].subopts);
	free(opts);
}

static cfg_opt_t *opts_new(const struct conf_section *s)
{
	size_t n_subs = 0;
	cfg_opt_t *opts;

	while (s->subs[n_subs])
		n_subs++;
	opts = calloc(s->n_keys + n_subs + 1, sizeof(*opts));
	if (!opts)
		return NULL;
	for (size_t i = 0; i < s->n_keys; i++) {
		opts[i].name = s->keys[i].name;
		opts[i].type = CFGT_PTR;
		opts[i].flags = CFGF_NODEFAULT | (s->keys[i].is_list ? CFGF_LIST : 0);
		opts[i].parsecb = node_new;
		opts[i].freecb = free;
	}
	for (size_t i = 0; i < n_subs; i++) {
		cfg_opt_t *o = &opts[s->n_keys + i];

		o->name = s->subs[i]->name;
		o->type = CFGT_SEC;
		o->flags = CFGF_MULTI | CFGF_TITLE;
		o->subopts = opts_new(s->subs[i]);
		if (!o->subopts) {
			opts_free(opts);
			return NULL;
		}
	}
	return opts;
}

cfg_t *conf_tree_new(const char *text, size_t len, struct conf_errors *e)
{
	struct conf_text_error te;
	char *clean = NULL;
	cfg_opt_t *opts = NULL;
	cfg_t *root = NULL;
	int err = conf_text_clean(text, len, &clean, &te);

	if (err == -EINVAL) {
		conf_error_add(e, te.line, "%s", te.msg);
		return NULL;
	}
	if (!err)
		opts = opts_new(&conf_section_root);
	if (opts)
		root = cfg_init(opts, CFGF_NONE);
	opts_free(opts);
	if (!root) {
		e->no_memory = true;
		free(clean);
		return NULL;
	}

	cfg_set_error_function(root, on_error);
	parse_errors = e;
	err = cfg_parse_buf(root, clean);
	parse_errors = NULL;
	free(clean);
	if (err) {
		/* It says nothing when memory is short. */
		e->no_memory |= !e->n;
		cfg_free(root);
		return NULL;
	}
	return root;
}

static const struct node *node_at(const cfg_opt_t *opt, unsigned int i)
{
	return opt->values[i]->ptr;
}

unsigned int conf_tree_key_line(cfg_t *sec, const char *key, unsigned int other)
{
	const cfg_opt_t *opt = cfg_getopt(sec, key);

	return opt->nvalues ? node_at(opt, 0)->line : other;
}

bool conf_tree_key_is_given(cfg_t *sec, const char *key)
{
	return cfg_getopt(sec, key)->flags & CFGF_MODIFIED;
}

unsigned int conf_tree_take_line(cfg_t *sec)
{
	char *mark = strchr(sec->title, CONF_TEXT_MARK);

	if (!mark)
		return (unsigned int)sec->line;
	*mark = 0;
	return (unsigned int)strtoul(mark + 1, NULL, 10);
}

int conf_tree_values(cfg_t *sec, const char *key, struct conf_value **v, uint32_t *n, bool *again)
{
	const cfg_opt_t *opt = cfg_getopt(sec, key);
	struct conf_value *list = calloc(opt->nvalues + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < opt->nvalues; i++) {
		list[i].line = node_at(opt, i)->line;
		list[i].text = node_at(opt, i)->text;
	}
	*v = list;
	*n = opt->nvalues;
	*again = opt->nvalues && node_at(opt, 0)->again;
	return 0;
}
