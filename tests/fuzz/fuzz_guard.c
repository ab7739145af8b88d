/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/guard_msg.h"

static void check_chain(const struct nlmsghdr *h)
{
	struct guard_chain c = { .n_devs = 12345 };
	int err = guard_msg_chain(h, &c);

	FUZZ_CHECK(!err || err == -EBADMSG || err == -ENOMSG);
	FUZZ_CHECK(err ? c.n_devs == 12345 : c.n_devs <= GUARD_MAX_DEVS);
	for (uint32_t i = 0; !err && i < c.n_devs; i++)
		FUZZ_CHECK(memchr(c.devs[i].name, 0, GUARD_NAME_SIZE));
	FUZZ_CHECK(err || c.hook == GUARD_HOOK_DEV || !c.n_devs);
}

/* One message, whose length is what the input has. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum guard_qdisc kind;
	struct nlmsghdr *h;
	uint32_t ifindex;
	bool counts;

	if (size < sizeof(*h) || size > 65536)
		return 0;
	h = malloc(size);
	if (!h)
		return 0;
	memcpy(h, data, size);
	h->nlmsg_len = (uint32_t)size;
	check_chain(h);
	FUZZ_CHECK(guard_msg_qdisc(h, &ifindex, &kind) || ifindex);
	(void)guard_msg_filter(h);
	FUZZ_CHECK(guard_msg_addr(h, &ifindex, &counts) || ifindex);
	free(h);
	return 0;
}
