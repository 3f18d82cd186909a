/* SPDX-License-Identifier: BSD-2-Clause */
/* xdp_private.h - what the xdp*.c share. */
#ifndef PACKET_XDP_PRIVATE_H
#define PACKET_XDP_PRIVATE_H

#include "packet/private.h"

/*
 * A program on an interface that hands UDP packets for some ports to the
 * AF_XDP sockets of a map, by queue, and leaves all others to the host. It goes
 * when it is closed, also by the death of its process.
 */
struct xdp_prog {
	int map, prog, link; /* descriptors, -1: none */
};

/* Makes it for so many queues. port: ends with 0 or after LIVE_PORTS; none: all
 * packets. Returns 0 or -errno. */
int xdp_prog_load(struct xdp_prog *p, unsigned queues, const uint16_t *port);
/* In the driver, or, generic, before the host's stack. */
int xdp_prog_attach(struct xdp_prog *p, int ifindex, bool generic);
/* The socket of a queue. */
int xdp_prog_socket(const struct xdp_prog *p, unsigned queue, int fd);
void xdp_prog_close(struct xdp_prog *p);

#endif
