/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * querier: whether the kernel thinks that somebody on a bridge asks for the
 * members of multicast groups, for one bridge and one family (IPv4 or IPv6).
 * Only then does it forward by groups; otherwise it floods.
 *
 * The kernel tells that its own querier is on, and how long the timer of another
 * one still runs, but not the delay after which it believes in either: it first
 * gives members time to answer. So what was seen to begin is in doubt for as
 * long as that can take, and what is about to end until it is known that it has,
 * or has not. Being in doubt costs speed alone: the kernel forwards meanwhile.
 *
 * Another querier on no port may be the host, which makes the bridge a router of
 * the family until a timer ends that nobody tells of; or its port has left the
 * bridge. So that is in doubt for as long as that timer may run.
 *
 * Pure: no system call, no clock; time is passed in (CLOCK_MONOTONIC, in ns). A
 * querier that is all zero is one of which nothing has been read. One thread.
 */
#ifndef XB_CTL_QUERIER_H
#define XB_CTL_QUERIER_H

#include <stdbool.h>
#include <stdint.h>

enum querier_state {
	QUERIER_NONE,    /* nobody asks: the kernel floods */
	QUERIER_PRESENT, /* somebody does: it forwards by groups */
	QUERIER_DOUBT,   /* one of both */
};

/* How the state was decided. */
enum querier_why {
	QUERIER_WHY_UNREAD, /* nothing has been read yet */
	QUERIER_WHY_NOBODY,
	QUERIER_WHY_OWN,     /* the bridge asks */
	QUERIER_WHY_OTHER,   /* somebody else does */
	QUERIER_WHY_WAITING, /* the kernel may still wait for answers to the first query */
	QUERIER_WHY_ADDRESS, /* the bridge would, but whether it has an IPv6 address to do so is
				unsure */
	QUERIER_WHY_ENDING,  /* the other one's timer runs out */
	QUERIER_WHY_HIDDEN,  /* the other one is, or was lately, on no port: the host perhaps */
	QUERIER_WHY_N,
};

/*
 * Whether the bridge has the address that it needs to ask; it looks for one each
 * time it wants to. IPv4: always yes.
 */
enum querier_address {
	QUERIER_ADDRESS_NO,
	QUERIER_ADDRESS_LOST, /* none now; it may have asked with one */
	QUERIER_ADDRESS_NEW,  /* has one, and has not asked with it yet */
	QUERIER_ADDRESS_YES,
};

/* What one reading said. */
struct querier_reading {
	bool is_on; /* the bridge is set to ask */
	bool has_other;
	bool is_hidden;               /* the other one, which may be the host */
	enum querier_address address; /* of no importance unless is_on */
	uint64_t other_left_ns;       /* of the other one's timer */
	uint64_t response_ns;         /* longest time to answer to the bridge's queries */
	uint64_t settle_ns;           /* and to somebody else's */
	uint64_t interval_ns;         /* between the bridge's queries */
	uint64_t router_ns;           /* how long who asked counts as a router */
};

struct querier {
	bool is_read;
	bool is_on, has_other;
	enum querier_address address;
	bool was_lost;            /* and has not asked since, for all that is known */
	uint64_t lost_until_ns;   /* then it has surely wanted to ask, and could not */
	uint64_t response_ns;     /* of the last reading */
	uint64_t wait_until_ns;   /* in doubt until then */
	uint64_t hidden_until_ns; /* the bridge may be a router until then */
	uint64_t other_ends_ns;
};

/* Takes in a reading that was made at @now_ns, or that says what was so before. */
void querier_update(struct querier *q, const struct querier_reading *r, uint64_t now_ns);

/* What was read may not be all that happened: as if nothing had, but doubts last. */
void querier_unread(struct querier *q);

/* The state at @now_ns, at or after the last reading; @why may be NULL. */
enum querier_state querier_state(const struct querier *q, uint64_t now_ns, enum querier_why *why);

/* When the state may become another one without a reading, after @now_ns; UINT64_MAX: never. */
uint64_t querier_next_ns(const struct querier *q, uint64_t now_ns);

/* How long the doubt lasts; 0 unless its reason is QUERIER_WHY_WAITING or _HIDDEN. */
uint64_t querier_wait_ns(const struct querier *q, uint64_t now_ns);

/* "none", "present", "doubt"; and a clause like "another querier is heard". */
const char *querier_state_name(enum querier_state s);
const char *querier_why_text(enum querier_why why);

#endif
