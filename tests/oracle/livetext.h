/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * livetext: frames as the recordings have them (hexadecimal) and as people read
 * them. No socket, no state but a static buffer where it is said.
 */
#ifndef XB_ORACLE_LIVETEXT_H
#define XB_ORACLE_LIVETEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_FRAME_MAX 9728

struct live_frame {
	uint32_t len;
	uint8_t bytes[LIVE_FRAME_MAX];
};

/* Reads hexadecimal text; false if it is none, or has more bytes than fit. */
bool live_from_hex(const char *text, struct live_frame *out);

/*
 * "02:..:99 < 02:..:01, 802.1Q 10 prio 3, 0x88b5, 68 bytes", into a static buffer
 * that the next call overwrites.
 */
const char *live_describe(const uint8_t *p, uint32_t len);

/* Its EtherType behind all tags; 0 if it ends before. */
uint16_t live_ethertype(const uint8_t *p, uint32_t len, uint32_t *payload);

#endif
