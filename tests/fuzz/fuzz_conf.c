/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "ctl/conf.h"

static unsigned int n_reports;

static void count(void *arg, const char *line)
{
	(void)arg;
	FUZZ_CHECK(!strncmp(line, "f:", 2));
	n_reports++;
}

static void check_bridge(const struct conf *c, const struct conf_bridge *b)
{
	FUZZ_CHECK(conf_bridge_find(c, b->name) == b);
	for (uint32_t i = 0; i < b->n_ports; i++)
		FUZZ_CHECK(conf_port_find(b, b->port[i].name) == &b->port[i]);
	for (uint32_t i = 0; i < b->n_fdbs; i++) {
		const struct conf_fdb *f = &b->fdbs[i];

		FUZZ_CHECK(f->port < b->n_ports && !mac_is_multicast(&f->mac));
		FUZZ_CHECK(!f->vid || conf_vlans_has(&b->port[f->port].tagged, f->vid) ||
			   conf_vlans_has(&b->port[f->port].untagged, f->vid));
	}
}

/* What is accepted is within the limits; what is refused is reported and gives nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conf *c = NULL;
	int err;

	n_reports = 0;
	err = conf_parse("f", (const char *)data, size, &c, count, NULL);
	FUZZ_CHECK(!err == !n_reports);
	FUZZ_CHECK(!err == (c != NULL));
	if (err)
		return 0;
	FUZZ_CHECK(c->rx_ring >= 64 && c->rx_ring <= 8192 && !(c->rx_ring & (c->rx_ring - 1)));
	FUZZ_CHECK(c->umem_frames >= 4096 && c->umem_frames <= 4194304);
	FUZZ_CHECK(c->n_bridges <= XB_MAX_BRIDGES && c->workers == 1);
	for (uint32_t i = 0; i < c->n_bridges; i++)
		check_bridge(c, &c->bridge[i]);
	conf_free(c);
	return 0;
}
