/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dp/hold.h"

bool hold_add(struct hold *h, const struct hold_copy *c)
{
	if (h->n == HOLD_SIZE)
		return false;
	h->copy[(h->head + h->n) % HOLD_SIZE] = *c;
	h->n++;
	return true;
}

bool hold_pop_any(struct hold *h, struct hold_copy *out)
{
	if (!h->n)
		return false;
	*out = h->copy[h->head];
	h->head = (h->head + 1) % HOLD_SIZE;
	h->n--;
	return true;
}

bool hold_pop(struct hold *h, uint64_t done_seq, uint64_t now_ns, struct hold_copy *out,
	      bool *expired)
{
	const struct hold_copy *c = &h->copy[h->head];

	if (!h->n)
		return false;
	if (c->seq > done_seq) {
		/* Signed: the clock of the two readings may differ by a little. */
		if ((int64_t)(now_ns - c->since_ns) < (int64_t)HOLD_MAX_NS)
			return false;
		*expired = true;
	} else {
		*expired = false;
	}
	return hold_pop_any(h, out);
}

uint64_t hold_deadline_ns(const struct hold *h)
{
	return h->n ? h->copy[h->head].since_ns + HOLD_MAX_NS : UINT64_MAX;
}
