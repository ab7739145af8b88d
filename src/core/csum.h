/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * csum: finishes the transport checksums that a sender left to its hardware.
 *
 * What arrives on a veth or tap port may carry a *partial* TCP or UDP
 * checksum: the field holds the folded sum of the pseudo-header, not
 * complemented, and the rest of the segment has yet to be added. Nothing but
 * the bytes tells such a frame from a finished one. A field that equals that
 * sum is taken for partial. A finished checksum may equal it by chance (one
 * frame in 65,535); adding up once more then gives the same checksum, so no
 * good frame is harmed. The price is that, of the segments that arrive
 * damaged, the same share leaves with a checksum that fits.
 *
 * Looks behind up to two VLAN tags of either protocol, IPv4 options, IPv6
 * hop-by-hop, routing, destination and fragment headers, and into one level of
 * VXLAN, Geneve, GRE or IP-in-IP. Never touched: fragments (all but IPv6
 * "atomic" ones), a UDP checksum of 0 (there is none), every other protocol.
 *
 * Frames are the caller's; no state, no allocation, any thread. Every length
 * in the frame is checked against its end; bytes past the end of the IP packet
 * (padding) are not read.
 */
#ifndef XB_CORE_CSUM_H
#define XB_CORE_CSUM_H

#include <stdint.h>

enum csum_result {
	CSUM_NOT_L4,       /* nothing here that could be partial */
	CSUM_WAS_COMPLETE, /* TCP or UDP, and not partial */
	CSUM_COMPLETED,    /* a partial checksum was finished */
	CSUM_MALFORMED,    /* a header is cut or a length points past the end */
};

/*
 * Finishes what is partial in the frame of @len bytes at @data, which starts
 * with the destination address. Writes at most the two bytes of a checksum
 * field, of the packet and of the one inside a tunnel; with any result but
 * CSUM_COMPLETED nothing is written. A tunnel's result is that of the outer
 * packet unless the inner one was completed: what the inner one is otherwise
 * is the far end's business.
 */
enum csum_result csum_complete(uint8_t *data, uint32_t len);

/*
 * The ones' complement sum of @len bytes at @data as 16-bit words in memory
 * order, folded to 16 bits and not complemented: store it as it is, without
 * swapping bytes. An odd last byte counts as if a zero followed. 0 only if all
 * bytes are zero.
 */
uint16_t csum_fold_bytes(const uint8_t *data, uint32_t len);

#endif
