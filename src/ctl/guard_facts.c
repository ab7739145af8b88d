/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/guard_facts.h"

#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more in an array of @n members; the array, or NULL with *@err set. */
static void *grow(void *v, uint32_t n, uint32_t *n_room, size_t size, int *err)
{
	uint32_t room = *n_room ? *n_room * 2 : 16;
	void *bigger;

	*err = 0;
	if (n < *n_room)
		return v;
	if (n >= GUARD_MAX_SET) {
		*err = -E2BIG;
		return NULL;
	}
	bigger = reallocarray(v, room, size);
	if (!bigger)
		*err = -ENOMEM;
	else
		*n_room = room;
	return bigger;
}

int guard_set_add(struct guard_set *s, uint32_t ifindex)
{
	uint32_t *v;
	int err;

	if (s->n && s->v[s->n - 1] == ifindex)
		return 0;
	v = grow(s->v, s->n, &s->n_room, sizeof(*s->v), &err);
	if (!v)
		return err;
	s->v = v;
	s->v[s->n++] = ifindex;
	s->is_sealed = false;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void guard_set_seal(struct guard_set *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), compare);
	s->is_sealed = true;
}

bool guard_set_has(const struct guard_set *s, uint32_t ifindex)
{
	assert(s->is_sealed || !s->n);
	return s->n && bsearch(&ifindex, s->v, s->n, sizeof(*s->v), compare);
}

int guard_facts_add_chain(struct guard_facts *f, const struct guard_chain *c)
{
	f->has_hook[c->hook] = true;
	for (uint32_t i = 0; i < c->n_devs; i++) {
		struct guard_hooked *v;
		int err;

		v = grow(f->hooked, f->n_hooked, &f->n_hooked_room, sizeof(*v), &err);
		if (!v)
			return err;
		f->hooked = v;
		v = &v[f->n_hooked++];
		v->dev = c->devs[i];
		v->ifindex = v->dev.is_prefix ? 0 : if_nametoindex(v->dev.name);
	}
	return 0;
}

/*
 * Older kernels hook the device, newer ones the name: after a rename either the
 * old index or the new name may be the one that is hooked.
 */
bool guard_facts_is_hooked(const struct guard_facts *f, uint32_t ifindex, const char *ifname)
{
	for (uint32_t i = 0; i < f->n_hooked; i++) {
		const struct guard_hooked *k = &f->hooked[i];

		if (k->ifindex && k->ifindex == ifindex)
			return true;
		if (k->dev.is_prefix ? !strncmp(ifname, k->dev.name, strlen(k->dev.name))
				     : !strcmp(ifname, k->dev.name))
			return true;
	}
	return false;
}

void guard_facts_seal(struct guard_facts *f)
{
	guard_set_seal(&f->clsact);
	guard_set_seal(&f->qdisc);
	guard_set_seal(&f->filter);
	guard_set_seal(&f->addr);
}

void guard_facts_fini(struct guard_facts *f)
{
	free(f->clsact.v);
	free(f->qdisc.v);
	free(f->filter.v);
	free(f->addr.v);
	free(f->hooked);
	memset(f, 0, sizeof(*f));
}
