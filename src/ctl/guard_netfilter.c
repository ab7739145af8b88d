/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/guard_netfilter.h"

/* Before the kernel's own definitions of the same. */
#include <netinet/in.h>

#include <linux/if.h>
#include <linux/netfilter_bridge/ebtables.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The first character of a file; EOF: it is empty or cannot be read. */
static int first_char(const char *path)
{
	FILE *f = fopen(path, "re");
	int c;

	if (!f)
		return EOF;
	c = fgetc(f);
	fclose(f);
	return c;
}

/* A table without rules: only headers of chains are in it. */
static bool policies_accept(int fd, struct ebt_replace *r)
{
	unsigned int n = (unsigned int)__builtin_popcount(r->valid_hooks);
	struct ebt_entries e[NF_BR_NUMHOOKS] = { 0 };
	socklen_t len = sizeof(*r) + r->entries_size;

	/* More than one chain for each hook: the user has some of his own. */
	if (n > NF_BR_NUMHOOKS || r->entries_size != n * sizeof(e[0]))
		return false;
	r->num_counters = 0;
	r->counters = NULL;
	r->entries = (char *)e;
	if (getsockopt(fd, IPPROTO_IP, EBT_SO_GET_ENTRIES, r, &len))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		if (e[i].policy != EBT_ACCEPT)
			return false;
	}
	return true;
}

/*
 * The question would load the table's module, and with it the table. So it is
 * asked only of a module that is there already; then the kernel may make the
 * (empty) table in this namespace. A kernel with such a module built in has no
 * folder for it and is not asked: no distribution builds that.
 */
static bool table_filters(int fd, const char *table)
{
	struct ebt_replace r = { 0 };
	socklen_t len = sizeof(r);
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/ebtable_%s", table);
	if (access(path, F_OK))
		return false;
	snprintf(r.name, sizeof(r.name), "%s", table);
	if (getsockopt(fd, IPPROTO_IP, EBT_SO_GET_INFO, &r, &len))
		return false;
	return r.nentries || !policies_accept(fd, &r);
}

static const char *find_ebtables(void)
{
	static const struct {
		const char *table, *what;
	} rows[] = {
		{ "filter", "ebtables table filter" },
		{ "nat", "ebtables table nat" },
		{ "broute", "ebtables table broute" },
	};
	const char *what = NULL;
	int fd;

	if (access("/sys/module/ebtables", F_OK))
		return NULL;
	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (fd < 0)
		return NULL;
	for (size_t i = 0; !what && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (table_filters(fd, rows[i].table))
			what = rows[i].what;
	}
	close(fd);
	return what;
}

static const char *find_br_netfilter(const struct guard_facts *f)
{
	bool inet = f->has_hook[GUARD_HOOK_INET];
	const struct {
		const char *sysctl, *tables, *what;
		bool has_chain;
	} rows[] = {
		{ "/proc/sys/net/bridge/bridge-nf-call-iptables", "/proc/net/ip_tables_names",
		  "br_netfilter (net.bridge.bridge-nf-call-iptables = 1)",
		  inet || f->has_hook[GUARD_HOOK_IP] },
		{ "/proc/sys/net/bridge/bridge-nf-call-ip6tables", "/proc/net/ip6_tables_names",
		  "br_netfilter (net.bridge.bridge-nf-call-ip6tables = 1)",
		  inet || f->has_hook[GUARD_HOOK_IP6] },
		{ "/proc/sys/net/bridge/bridge-nf-call-arptables", "/proc/net/arp_tables_names",
		  "br_netfilter (net.bridge.bridge-nf-call-arptables = 1)",
		  f->has_hook[GUARD_HOOK_ARP] },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int on = first_char(rows[i].sysctl);

		if (on == EOF || on == '0')
			continue;
		if (rows[i].has_chain || first_char(rows[i].tables) != EOF)
			return rows[i].what;
	}
	return NULL;
}

const char *guard_netfilter_find(const struct guard_facts *f)
{
	const char *what = find_ebtables();

	return what ? what : find_br_netfilter(f);
}
