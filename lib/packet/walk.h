/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * walk.h - what src.c and the capture formats agree on; private to packet/.
 *
 * A walker finds the whole records at the front of a window of the file, in
 * place. It owns nothing of the window, which moves between two calls.
 */
#ifndef PACKET_WALK_H
#define PACKET_WALK_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "packet/pkt.h"

enum {
	WALK_BLOCK = 1 << 20, /* bytes asked of one read() */
	/* A window has room for a block behind the longest partial record. */
	WALK_RECORD_MAX = PKT_MAX + 4096,
	WALK_ETHERNET = 1, /* link type */
};

struct walk_window {
	const uint8_t *p;
	size_t len;
	size_t used; /* out: bytes done with; above len: skip those to come */
};

/* The host's number of four bytes that a file of either byte order holds. */
static inline uint32_t walk_u32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint16_t walk_u16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

/* Says that a capture is not of Ethernet frames. Returns -ENOTSUP. */
int walk_bad_link(struct fault *f, uint32_t link);

/* Classic pcap. */
enum {
	PCAP_HEADER_LEN = 24,
	PCAP_RECORD_LEN = 16,
};

struct pcap_walk {
	bool swap, nano;
};

/* The file header, PCAP_HEADER_LEN bytes. Returns 0, -ENOTSUP or -EBADMSG. */
int pcap_walk_open(struct pcap_walk *w, const uint8_t *header, struct fault *f);

/* Returns the number of packets, 0 for want of bytes, or -EBADMSG. */
int pcap_walk(struct pcap_walk *w, struct walk_window *win, struct pkt *pkts,
	      int max, struct fault *f);

/* pcapng. */
struct pcapng_interface;

struct pcapng_walk {
	bool swap, section;
	struct pcapng_interface *ifs;
	unsigned n, cap;
};

int pcapng_walk(struct pcapng_walk *w, struct walk_window *win,
		struct pkt *pkts, int max, struct fault *f);
void pcapng_walk_close(struct pcapng_walk *w);

#endif
