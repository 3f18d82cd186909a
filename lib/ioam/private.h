/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what this room's files share. */
#ifndef IOAM_PRIVATE_H
#define IOAM_PRIVATE_H

#include "base/put.h"
#include "wire/be.h"
#include "wire/proto.h"

static inline bool ioam_has_options(uint8_t next)
{
	return next == NET_IP6_HOP_BY_HOP || next == NET_IP6_DESTINATION;
}

static inline bool ioam_is_option(uint8_t type)
{
	return type == IOAM_OPTION || type == IOAM_OPTION_FIXED;
}

/*
 * Bytes of the extension header of type next at p, by what it says, and it may
 * say more than the left ones. 0: it is none that options could be in or
 * behind.
 */
static inline size_t ioam_extension(uint8_t next, const uint8_t *p, size_t left)
{
	if (left < 8)
		return 0;
	if (ioam_has_options(next) || next == NET_IP6_ROUTING)
		return p[1] * 8u + 8;
	if (next != NET_IP6_FRAGMENT || be16_load(p + 2) & 0xfff8)
		return 0; /* of a later fragment payload follows */
	return 8;
}

/* Bytes of the option at p, left bytes before its header's end; 0: it is not
 * whole. */
static inline size_t ioam_option_len(const uint8_t *p, size_t left)
{
	size_t len = 1;

	if (*p != NET_IP6_PAD1)
		len = left < 2 ? 0 : p[1] + 2u;
	return len <= left ? len : 0;
}

static inline void ioam_put_pad(struct put *w, size_t n)
{
	if (n == 1)
		put_u8(w, NET_IP6_PAD1);
	if (n < 2)
		return;
	put_u8(w, NET_IP6_PADN);
	put_u8(w, (uint8_t)(n - 2));
	put_zero(w, n - 2);
}

/* The end of a header of options: whole 8 bytes, and its length. */
static inline void ioam_put_end(struct put *w)
{
	ioam_put_pad(w, -put_len(w) % 8);
	if (put_ok(w))
		w->start[1] = (uint8_t)(put_len(w) / 8 - 1);
}

/*
 * A header of options without IOAM's, to out, which has room for as much.
 * Returns the length, 0 if nothing else was in it; or -EBADMSG.
 */
int ioam_header_without(uint8_t *out, const uint8_t *header, size_t len);

/* How many bytes shorter the len bytes behind an IPv6 header would be, the
 * first of which is of type next, without IOAM. */
size_t ioam_share(uint8_t next, const uint8_t *p, size_t len);

#endif
