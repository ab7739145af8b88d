/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model_mdb: the groups of the model's bridges, as the core itself uses them;
 * everybody else: model_mdb_set() and others in core/model.h.
 *
 * Control thread only.
 */
#ifndef XB_CORE_MODEL_MDB_H
#define XB_CORE_MODEL_MDB_H

#include "core/model.h"

/* The port leaves all groups of the bridge. */
void mdb_port_gone(struct model *m, struct model_bridge *b, uint16_t slot);

#endif
