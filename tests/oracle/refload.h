/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refload: a configuration in the words of core/model, given to the reference,
 * and both, and frames, in words for people.
 */
#ifndef XB_ORACLE_REFLOAD_H
#define XB_ORACLE_REFLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/model.h"
#include "reference.h"

void refload_bridge(struct ref *r, const struct model_bridge_attr *a);
/* NULL: the port is not there. */
void refload_port(struct ref *r, uint16_t slot, const struct model_port_attr *a);

/* A membership as of model_mdb_set(); false: no room, or there was none to remove. */
bool refload_member(struct ref *r, const struct mdb_key *k, uint16_t slot, uint8_t flags);

void refload_print(FILE *to, const struct ref *r);
void refload_print_entry(FILE *to, const struct fdb_entry *e);
/* One line, with the line's end. */
void refload_print_frame(FILE *to, const uint8_t *p, uint32_t len);

#endif
