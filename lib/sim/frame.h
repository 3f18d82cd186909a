/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.h - the frame that a packet of the model would be on the wire; frames
 * in tunnels.
 */
#ifndef SIM_FRAME_H
#define SIM_FRAME_H

#include "sim/traffic.h"
#include "net/net.h"

enum {
	TRAFFIC_FRAME_HEAD = 14 + 40 + 20, /* the longest headers */
};

/*
 * Writes Ethernet, IPv4 or IPv6, TCP or UDP headers (nothing above IP for other
 * protocols), and data of zeros: as many bytes as the packet has, but at most
 * data_max, by which its lengths go then. All checksums are right; DSCP and
 * TTL as given. Returns the frame's length, or -ENOBUFS.
 */
int traffic_frame(uint8_t *buf, size_t cap, const struct traffic_packet *p,
		  size_t data_max, uint8_t dscp);

/*
 * Writes a frame in a tunnel, VXLAN (RFC 7348) or else Geneve (RFC 8926), whose
 * ends and port outer has. Returns the length, or -ENOBUFS.
 */
int traffic_tunnel(uint8_t *buf, size_t cap, const struct net_udp4 *outer,
		   bool vxlan, const uint8_t *frame, size_t len);

#endif
