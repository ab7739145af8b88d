/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xbgen: sends numbered frames, counts and compares what arrives.
 *
 * A numbered frame is an Ethernet header, any number of VLAN tags, the local
 * experimental EtherType and this, all in network order:
 *
 *	magic (4 bytes) . source (4) . sequence number (8) . send time, ns (8)
 *
 * then zeroes up to its size. Sizes are those of the frame without its FCS.
 * Single-threaded; every loop ends by a count, a time or a signal.
 */
#ifndef XB_TESTS_XBGEN_H
#define XB_TESTS_XBGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GEN_ETHERTYPE 0x88b5
#define GEN_MAGIC     0x58424e31u
#define GEN_FRAME_MAX 10240
#define GEN_TAGS_MAX  4
#define GEN_HEADER    24 /* what follows the EtherType */

struct gen_tag {
	uint16_t tpid;
	uint16_t tci;
};

struct gen_template {
	uint8_t dst[6], src[6];
	uint32_t source; /* the number of the sender */
	uint32_t size;   /* all of it, tags included */
	uint32_t n_tags;
	struct gen_tag tag[GEN_TAGS_MAX]; /* outermost first */
};

struct gen_info {
	uint32_t source;
	uint64_t seq;
	uint64_t sent_ns;
};

/* The sub-commands; @argv[0] is the sub-command's name. They return an exit status. */
int send_main(int argc, char **argv);
int recv_main(int argc, char **argv);
int expect_main(int argc, char **argv);

/* CLOCK_MONOTONIC. */
uint64_t gen_now_ns(void);

/* Bytes that a frame of @t takes at least. */
uint32_t gen_size_min(const struct gen_template *t);

/* Writes frame @seq of @t into @buf of @t->size bytes. */
void gen_write(const struct gen_template *t, uint64_t seq, uint64_t now_ns, uint8_t *buf);

/* Updates only the number and the time of a frame that gen_write() wrote. */
void gen_renumber(const struct gen_template *t, uint64_t seq, uint64_t now_ns, uint8_t *buf);

/* True, and fills @out, if the @len bytes at @buf are a numbered frame. */
bool gen_read(const uint8_t *buf, size_t len, struct gen_info *out);

/* Six bytes from "xx:xx:xx:xx:xx:xx"; "broadcast" is all ones. */
bool gen_parse_mac(const char *s, uint8_t *out);

/* "VID", "TPID:VID" or "TPID:VID:PRIORITY"; TPID is hexadecimal, 8100 if absent. */
bool gen_parse_tag(const char *s, struct gen_tag *out);

/* A whole decimal number of at most @max. */
bool gen_parse_number(const char *s, uint64_t max, uint64_t *out);

/*
 * Reads the next line of hexadecimal digits from @f (blanks, empty lines and
 * lines that begin with # are left out). Returns the bytes written to @buf of
 * GEN_FRAME_MAX, 0 at the end, -1 if a line is something else.
 */
int gen_read_hex(FILE *f, uint8_t *buf);

/* Opens a raw packet socket on @dev that receives nothing yet. -1 and a message on failure. */
int gen_socket(const char *dev);

/* Lets @fd receive @ethertype on @dev; 0 is nothing. -1 and a message on failure. */
int gen_bind(int fd, const char *dev, uint16_t ethertype);

#endif
