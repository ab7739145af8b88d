/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard_facts: what guard found, as sets of interfaces that are filled while
 * dumps come in, sealed once, and then only asked. Plain memory; one thread.
 *
 * A set grows up to GUARD_MAX_SET members: there are not more interfaces.
 */
#ifndef XB_CTL_GUARD_FACTS_H
#define XB_CTL_GUARD_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl/guard_msg.h"

#define GUARD_MAX_SET (1U << 20)

/* Interfaces by ifindex. All zero: empty. */
struct guard_set {
	uint32_t *v;
	uint32_t n, n_room;
	bool is_sealed;
};

/* 0, -ENOMEM, or -E2BIG when the set is full. Adding one twice in a row costs nothing. */
int guard_set_add(struct guard_set *s, uint32_t ifindex);

/* After the last guard_set_add(), before the first guard_set_has(). */
void guard_set_seal(struct guard_set *s);
bool guard_set_has(const struct guard_set *s, uint32_t ifindex);

/* A device that an nf_tables chain names; ifindex: what had the name then, 0 if nothing. */
struct guard_hooked {
	struct guard_dev dev;
	uint32_t ifindex;
};

struct guard_facts {
	struct guard_set clsact, qdisc, filter, addr;
	struct guard_hooked *hooked;
	uint32_t n_hooked, n_hooked_room;
	bool has_hook[GUARD_HOOK_DEV + 1];
	const char *bridge_netfilter; /* constant text, or NULL */
};

/* Adds what a chain is hooked to. 0, -ENOMEM or -E2BIG. */
int guard_facts_add_chain(struct guard_facts *f, const struct guard_chain *c);

/* True if a chain is hooked to the interface, by its index then or its name now (may be ""). */
bool guard_facts_is_hooked(const struct guard_facts *f, uint32_t ifindex, const char *ifname);

void guard_facts_seal(struct guard_facts *f);
void guard_facts_fini(struct guard_facts *f);

#endif
