/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_ports.h - a program on an interface that hands UDP packets for some ports
 * to the AF_XDP sockets of a map, by queue, and leaves all others to the host.
 * It is removed when it is closed, also by the death of its process.
 *
 * Functions that can fail return 0 or -errno; ports_close() is right then, too.
 */
#ifndef PACKET_XDP_PORTS_H
#define PACKET_XDP_PORTS_H

#include <stdint.h>

enum {
	PORTS_MAX = 4,
};

struct ports {
	int map, prog, link; /* descriptors, -1: none */
};

/* Loads it for so many queues. port: PORTS_MAX, host order, 0 for no more;
 * none: all packets. */
int ports_load(struct ports *p, unsigned queues, const uint16_t *port);
/* Has the driver run it. */
int ports_attach(struct ports *p, int ifindex);
/* fd: the AF_XDP socket of a queue. */
int ports_socket(const struct ports *p, unsigned queue, int fd);
void ports_close(struct ports *p);

#endif
