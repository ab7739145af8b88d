/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fwd: what happens to one frame. Pure: bytes, tables and the time go in, a
 * verdict comes out; the FDB learns on the way.
 *
 * The order is the kernel bridge's (net/bridge/br_input.c, br_forward.c,
 * br_vlan.c): source address, port state, VLAN ingress, learning, learning
 * state, destination. fwd_admit() is the check of each egress copy.
 *
 * Threads: any number of workers, each under the view's read side.
 */
#ifndef XB_CORE_FWD_H
#define XB_CORE_FWD_H

#include <stdint.h>

#include "core/drop.h"
#include "core/fdb.h"
#include "core/frame.h"
#include "core/view.h"

struct verdict {
	enum drop_reason drop; /* DROP_NONE: send to dst[0..n-1] as fwd_admit() allows */
	uint16_t vid;          /* VID_NONE when the bridge does not filter */
	uint16_t tci;          /* of the tagged form: PCP and DEI of the frame, vid */
	uint16_t tpid;         /* of the tagged form; 0 when VLANs are payload */
	uint16_t bridge;
	uint32_t count_len;       /* length as the kernel compares it with the MTU */
	enum fdb_learned learned; /* FDB_SAME when nothing was learned */
	bool is_flood;
	enum drop_reason
		refused;       /* why the known destination does not get it while the host does */
	uint16_t refused_port; /* slot, with refused */
	const struct view_port *in;
	const struct flood_dst *dst; /* valid as long as the view; may point to one[] */
	uint32_t n;
	struct flood_dst one[2]; /* of a known destination, and the host while it is promiscuous */
};

/*
 * Decides about the frame in @f, of which data, len and headroom are set, that
 * came in on port slot @in. Parses it (the fields of @f are filled) and learns.
 * @in must be a port of the view, or the verdict is DROP_DETACHED.
 */
void fwd_decide(const struct view *v, uint16_t in, struct frame *f, uint64_t now_ns,
		struct verdict *out);

/* DROP_NONE if a copy may go to @d; DROP_SAME_PORT for the way back to the ingress port. */
static inline enum drop_reason fwd_admit(const struct verdict *r, const struct flood_dst *d)
{
	if (d->port == r->in->slot && !(d->flags & FLOOD_HAIRPIN))
		return DROP_SAME_PORT;
	if ((d->flags & FLOOD_ISOLATED) && (r->in->flags & VP_ISOLATED))
		return DROP_ISOLATED;
	if (r->count_len > d->max_len)
		return DROP_TOO_LONG;
	return DROP_NONE;
}

/* True if the copy for @d has the outer tag. */
static inline bool fwd_is_tagged(const struct verdict *r, const struct flood_dst *d)
{
	return r->tpid && !(d->flags & FLOOD_UNTAGGED);
}

/*
 * Brings @f into the tagged or the untagged form of @r, in place. -ENOBUFS
 * without headroom for the tag.
 */
int fwd_set_form(const struct verdict *r, struct frame *f, bool tagged);

#endif
