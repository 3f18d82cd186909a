/* SPDX-License-Identifier: BSD-2-Clause */
/* answer.h - the frame that tells a reporter where its sequence stands. */
#ifndef REPORTERS_ANSWER_H
#define REPORTERS_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "wire/net.h"

enum {
	ANSWER_MAX = 128, /* bytes of such a frame, at most */
};

/* Of a frame with so many bytes of payload, to the sender of u. */
size_t answer_len(const struct net_udp *u, size_t len);

/* The headers before such a payload, which is at buf + answer_len(u, 0)
 * already. eth: the frame that u was in. */
void answer_encode(uint8_t *buf, const struct net_udp *u, const uint8_t *eth,
		   size_t len);

#endif
