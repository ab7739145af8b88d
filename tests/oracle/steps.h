/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps: what a random test does to a bridge, one step at a time. A step
 * depends on its seed and on the state that it finds, and makes sense in any
 * state, so steps can be cut out of a sequence.
 */
#ifndef XB_ORACLE_STEPS_H
#define XB_ORACLE_STEPS_H

#include "pair.h"

/* One change or frame, and the comparisons after it. */
void step_run(struct pair *p, uint64_t seed);

#endif
