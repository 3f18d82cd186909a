/* SPDX-License-Identifier: BSD-2-Clause */
/* xdp_private.h - what AF_XDP's source and sink share. */
#ifndef PACKET_XDP_PRIVATE_H
#define PACKET_XDP_PRIVATE_H

#include <xdp/xsk.h>

#include "packet/live_private.h"

/* Queues of an interface that packets come by, or leave by; 1 where the driver
 * does not say. */
unsigned xdp_queues(const struct iface *i, bool out);

/* xsk_socket__create(), which waits for a queue that is taken: the kernel lets
 * go of a closed socket's a little later than close() does. Returns 0 or
 * -errno. */
int xdp_create(struct xsk_socket **out, const struct iface *i, unsigned queue,
	       struct xsk_umem *umem, struct xsk_ring_cons *rx,
	       struct xsk_ring_prod *tx, const struct xsk_socket_config *c);

/* Of a socket: "AF_XDP zero-copy" or "AF_XDP copy". */
const char *xdp_kind(int fd);

/* What is missing, and how to get it; locked: bytes that were asked for.
 * Returns rc. */
int xdp_refused(const struct iface *i, size_t locked, int rc, const char *what,
		struct error *err);

#endif
