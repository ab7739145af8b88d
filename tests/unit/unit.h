/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cmocka wants included before it, in the order that it wants. */
#ifndef XB_TESTS_UNIT_H
#define XB_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N_ELEM(a) (sizeof(a) / sizeof((a)[0]))

#endif
