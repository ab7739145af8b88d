/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xbridged/caps.h"

#include <cap-ng.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static const struct {
	unsigned int cap;
	const char *name;
	bool is_needed; /* else something smaller does not work without it */
} caps[] = {
	{ CAP_NET_ADMIN, "CAP_NET_ADMIN", true },        /* netlink, XDP links */
	{ CAP_NET_RAW, "CAP_NET_RAW", true },            /* AF_XDP and packet sockets */
	{ CAP_BPF, "CAP_BPF", true },                    /* programs and maps */
	{ CAP_PERFMON, "CAP_PERFMON", true },            /* pointers in programs */
	{ CAP_IPC_LOCK, "CAP_IPC_LOCK", false },         /* memory of the rings, without a limit */
	{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE", false }, /* the limits themselves */
	{ CAP_CHOWN, "CAP_CHOWN", false },               /* group of the control socket */
};

int caps_drop(const char **missing)
{
	bool keep[sizeof(caps) / sizeof(caps[0])];
	bool can_bound;

	if (capng_get_caps_process())
		return -EIO;
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		keep[i] = capng_have_capability(CAPNG_PERMITTED, caps[i].cap);
		if (!keep[i] && caps[i].is_needed) {
			*missing = caps[i].name;
			return -EPERM;
		}
	}
	/* Without CAP_SETPCAP the bounding set is whoever's started us. */
	can_bound = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);
	capng_clear(can_bound ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS);
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		capng_type_t type = CAPNG_EFFECTIVE | CAPNG_PERMITTED;

		if (can_bound)
			type |= CAPNG_BOUNDING_SET;
		if (keep[i])
			capng_update(CAPNG_ADD, type, caps[i].cap);
	}
	return capng_apply(can_bound ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS) ? -EPERM : 0;
}
