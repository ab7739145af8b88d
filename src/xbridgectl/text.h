/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text: what the daemon answered, in lines for people. A value that is missing
 * or of another type than expected is left out or shown as 0 or "?".
 */
#ifndef XB_XBRIDGECTL_TEXT_H
#define XB_XBRIDGECTL_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "ctl/ctlmsg.h"

/* The "data" of the answer to @cmd. */
void text_print(FILE *f, enum ctlmsg_cmd cmd, const json_t *data);

void text_status(FILE *f, const json_t *data);
void text_stats(FILE *f, const json_t *data);
/* One element of a list. */
void text_port(FILE *f, const json_t *port);
void text_vlan(FILE *f, const json_t *port);
void text_fdb(FILE *f, const json_t *entry);
void text_flood(FILE *f, const json_t *vlan);
void text_mdb(FILE *f, const json_t *bridge);

/*
 * A list of FDB entries as it came, @len bytes of JSON, one entry at a time: there
 * may be millions. 0, or -EINVAL if it is no such list.
 */
int text_fdb_list(FILE *f, const char *list, size_t len);

/*
 * A line for multicast, and one for ARP and ND, of a bridge whose kernel forwards
 * these and not the rest.
 */
void text_exceptions(FILE *f, const json_t *of);

/* Members of an object. */
const char *text_get(const json_t *o, const char *key);  /* "?" if it is no string */
long long text_number(const json_t *o, const char *key); /* 0 if it is no number */

#endif
