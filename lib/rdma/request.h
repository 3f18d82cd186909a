/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.h - private to this room: the common request decoded fast.
 *
 * Common: IPv4 without options, no VLAN tag, UDP checksum 0, WRITE Only (RC or
 * UC) or FETCH_ADD, short enough for one run of the CRC. What it takes it
 * decodes exactly as roce_decode() does; everything else is that one's.
 */
#ifndef RDMA_REQUEST_H
#define RDMA_REQUEST_H

#include <stdbool.h>

#include "wire/roce.h"

/* False: not common, or wrong in some way; ask roce_decode(). */
bool request_decode(struct roce *out, const uint8_t *frame, size_t len);

#endif
