/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/querier.h"

#include "util/clock.h"

/* Readings are a second apart, and the kernel's timers and ours are not the same ones. */
#define MARGIN_NS NSEC_PER_SEC

static void extend(uint64_t *until_ns, uint64_t to_ns)
{
	if (to_ns > *until_ns)
		*until_ns = to_ns;
}

static uint64_t later(uint64_t ns, uint64_t by_ns)
{
	return by_ns > UINT64_MAX - ns ? UINT64_MAX : ns + by_ns;
}

/* True if another querier may have begun since the last reading, or is the first thing we see. */
static bool other_is_new(const struct querier *q, const struct querier_reading *r, uint64_t now_ns)
{
	if (!r->has_other)
		return false;
	/* Its timer may have run out and been started again in between. */
	return !q->is_read || !q->has_other || later(now_ns, MARGIN_NS) > q->other_ends_ns;
}

/*
 * The loss of an address, and its return, count from the bridge's next query on,
 * and the kernel does not tell of that one unless the address is another one.
 */
static void follow_address(struct querier *q, const struct querier_reading *r, uint64_t now_ns)
{
	uint64_t next_ns = later(now_ns, later(r->interval_ns, MARGIN_NS));

	if (r->address == QUERIER_ADDRESS_LOST && !q->was_lost) {
		q->was_lost = true;
		q->lost_until_ns = next_ns;
	} else if (r->address == QUERIER_ADDRESS_YES && q->was_lost) {
		q->was_lost = false;
		extend(&q->wait_until_ns, next_ns);
	}
	q->address = r->address;
}

void querier_update(struct querier *q, const struct querier_reading *r, uint64_t now_ns)
{
	if (other_is_new(q, r, now_ns))
		extend(&q->wait_until_ns, later(now_ns, later(r->settle_ns, MARGIN_NS)));
	/* One message may set the time to answer, too: the kernel waits for what it was before. */
	extend(&q->response_ns, r->response_ns);
	if (r->is_on && (!q->is_read || !q->is_on))
		extend(&q->wait_until_ns, later(now_ns, later(q->response_ns, MARGIN_NS)));
	q->response_ns = r->response_ns;
	if (r->has_other && r->is_hidden)
		extend(&q->hidden_until_ns, later(now_ns, later(r->router_ns, MARGIN_NS)));
	follow_address(q, r, now_ns);
	q->is_read = true;
	q->is_on = r->is_on;
	q->has_other = r->has_other;
	q->other_ends_ns = r->has_other ? later(now_ns, r->other_left_ns) : 0;
}

void querier_unread(struct querier *q)
{
	*q = (struct querier){ .response_ns = q->response_ns,
			       .wait_until_ns = q->wait_until_ns,
			       .hidden_until_ns = q->hidden_until_ns };
}

/* What the last reading means without any wait. */
static enum querier_state settled(const struct querier *q, uint64_t now_ns, enum querier_why *why)
{
	bool is_ending = later(now_ns, MARGIN_NS) > q->other_ends_ns;

	if (q->has_other && !is_ending) {
		*why = QUERIER_WHY_OTHER;
		return QUERIER_PRESENT;
	}
	if (q->is_on && q->address == QUERIER_ADDRESS_YES) {
		*why = QUERIER_WHY_OWN;
		return QUERIER_PRESENT;
	}
	if (q->is_on && (q->address == QUERIER_ADDRESS_NEW ||
			 (q->address == QUERIER_ADDRESS_LOST && now_ns < q->lost_until_ns))) {
		*why = QUERIER_WHY_ADDRESS;
		return QUERIER_DOUBT;
	}
	*why = q->has_other ? QUERIER_WHY_ENDING : QUERIER_WHY_NOBODY;
	return q->has_other ? QUERIER_DOUBT : QUERIER_NONE;
}

static uint64_t doubt_ends_ns(const struct querier *q)
{
	return q->hidden_until_ns > q->wait_until_ns ? q->hidden_until_ns : q->wait_until_ns;
}

enum querier_state querier_state(const struct querier *q, uint64_t now_ns, enum querier_why *why)
{
	enum querier_why ignored = QUERIER_WHY_UNREAD;
	enum querier_state s;

	why = why ? why : &ignored;
	if (!q->is_read) {
		*why = QUERIER_WHY_UNREAD;
		return QUERIER_DOUBT;
	}
	s = settled(q, now_ns, why);
	/* Nobody is nobody, however long one waits, and the host gets what is flooded. */
	if (s == QUERIER_PRESENT && now_ns < doubt_ends_ns(q)) {
		*why = q->hidden_until_ns > q->wait_until_ns ? QUERIER_WHY_HIDDEN
							     : QUERIER_WHY_WAITING;
		return QUERIER_DOUBT;
	}
	return s;
}

uint64_t querier_next_ns(const struct querier *q, uint64_t now_ns)
{
	const uint64_t ends[] = { q->wait_until_ns, q->hidden_until_ns, q->lost_until_ns,
				  q->other_ends_ns > MARGIN_NS ? q->other_ends_ns - MARGIN_NS + 1
							       : 0 };
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (ends[i] > now_ns && ends[i] < next)
			next = ends[i];
	}
	return next;
}

uint64_t querier_wait_ns(const struct querier *q, uint64_t now_ns)
{
	enum querier_why why;

	querier_state(q, now_ns, &why);
	if (why != QUERIER_WHY_WAITING && why != QUERIER_WHY_HIDDEN)
		return 0;
	return doubt_ends_ns(q) - now_ns;
}

const char *querier_state_name(enum querier_state s)
{
	static const char *const names[] = { "none", "present", "doubt" };

	return names[s];
}

const char *querier_why_text(enum querier_why why)
{
	static const char *const texts[QUERIER_WHY_N] = {
		[QUERIER_WHY_UNREAD] = "it has not been read yet",
		[QUERIER_WHY_NOBODY] = "nobody asks",
		[QUERIER_WHY_OWN] = "the bridge asks",
		[QUERIER_WHY_OTHER] = "another querier is heard",
		[QUERIER_WHY_WAITING] = "the kernel may still wait for first answers",
		[QUERIER_WHY_ADDRESS] = "the bridge's IPv6 address is missing or new",
		[QUERIER_WHY_ENDING] = "the other querier is about to be given up",
		[QUERIER_WHY_HIDDEN] = "another querier is on no port: the bridge may be a router",
	};

	return texts[why];
}
