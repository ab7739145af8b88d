/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env: what the tests of the BPF programs stand on: a network namespace of
 * their own, a pin directory of their own, and frames. A failing call fails the
 * cmocka test that made it.
 */
#ifndef XB_TESTS_PROG_ENV_H
#define XB_TESTS_PROG_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dp/prog.h"

#define N_ELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Ends the process with 77 unless it is root and can make a network namespace. */
void env_need_root(void);

/* Enters a new network namespace; its descriptor. */
int env_ns_new(void);
void env_ns_enter(int ns);

/* A pin directory of this process, and its removal once it is empty. */
const char *env_pin_dir(void);
void env_pin_dir_remove(void);

/* Runs `sh -c` @fmt... */
void env_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same for what may fail: true if it did not. */
bool env_try(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A veth pair, both ends up. */
void env_veth(const char *a, const char *b);
uint32_t env_index(const char *name);

/* prog_set_open() with env_pin_dir(). */
struct prog_set *env_set_open(void);
/* prog_attach(); returns whether tags are recovered. */
bool env_attach(struct prog_set *ps, uint16_t slot, const char *name, bool tags);

/* Opens the gate, for an hour of the workers' and the control thread's silence. */
void env_gate_open(struct prog_set *ps);

/* An AF_XDP socket that is not bound, with a ring, so that a map takes it. */
int env_xsk(void);

/* The native XDP program of an interface, 0 if there is none. */
uint32_t env_xdp_id(const char *name);

/* Bytes of hexadecimal digits; spaces between them are ignored. Returns how many. */
size_t env_hex(const char *hex, uint8_t *buf, size_t size);

/* A packet socket on @name that receives everything, and says so within 2 s. */
int env_packet(const char *name);
void env_send(int fd, const uint8_t *frame, size_t len);

#endif
