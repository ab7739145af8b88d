/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * livefdb: br0's forwarding table in the kernel, in the words of
 * `bridge -d fdb show br br0`, sorted; without what devices keep of group
 * addresses for themselves.
 */
#ifndef XB_ORACLE_LIVEFDB_H
#define XB_ORACLE_LIVEFDB_H

#include <stdbool.h>
#include <stddef.h>

#define LIVEFDB_MAX  512
#define LIVEFDB_SIZE 96

struct livefdb {
	char v[LIVEFDB_MAX][LIVEFDB_SIZE];
	size_t n;
	bool is_full; /* there were more */
};

struct rtsock;

/* 0 or a negative errno. */
int livefdb_read(struct rtsock *s, struct livefdb *out);

void livefdb_add(struct livefdb *t, const char *entry);
/* False if it is not there. */
bool livefdb_del(struct livefdb *t, const char *entry);
void livefdb_sort(struct livefdb *t);

/* Both are sorted. Calls @fn, if not NULL, for each entry that only one has; their number. */
typedef void (*livefdb_fn)(void *arg, const char *entry, bool is_extra);
size_t livefdb_compare(const struct livefdb *got, const struct livefdb *want, livefdb_fn fn,
		       void *arg);

#endif
