/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt.h - packets in batches, and where they come from and go to.
 *
 * A source fills an array of struct pkt that point into its own buffer; they
 * are valid until the next src_rx() or src_close(). The CRC_HEADROOM
 * bytes before each packet are readable. A sink takes frames, or lends room
 * for one at a time so that it is built in place. Here are those of captures;
 * those of interfaces are live.h's.
 */
#ifndef PACKET_PKT_H
#define PACKET_PKT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	PKT_BATCH = 1024, /* packets that pass through a stage at once */
	PKT_MAX = 262144, /* longest record taken, bytes (libpcap's limit) */
	SRC_HOLD_MAX = 128,
};

struct pkt {
	const uint8_t *data; /* an Ethernet frame */
	uint32_t len;	     /* captured bytes at data */
	uint32_t wire_len;   /* bytes it had on the wire */
	uint64_t ts_ns;	     /* since the epoch */
};

/* Prefetches the first bytes of a packet that is decoded some packets later.
 * Batches lie in order, but the CPU by itself does not look ahead beyond a page
 * of 4096 bytes, and little beyond what it waits for. */
static inline void pkt_prefetch(const struct pkt *p, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 64)
		__builtin_prefetch(p->data + at);
}

struct src; /* a source */
struct snk; /* a sink */

/*
 * Opens a capture for reading, "-" for stdin: classic pcap of either byte order
 * and resolution, and pcapng as libpcap reads it; each as it is or, in a file,
 * in gzip (RFC 1952). Only Ethernet. Works on pipes: returns packets as they
 * arrive. A signal ends the wait for the first bytes; then src_rx() goes on
 * with it. Returns 0 or -errno; err tells the reason, the path not included.
 */
int src_open(struct src **out, const char *path, struct error *err);

/*
 * Reads up to max packets, and waits for the first one only. A file gives max,
 * unless it ends or they are above 16 MB. Returns their number, 0 at the end,
 * -EINTR on a signal, or -errno with err set: -EBADMSG for a capture that ends
 * inside a record, holds an impossible length, or whose gzip data are damaged
 * (packets before it were returned; of gzip all but the last 64 KB).
 */
int src_rx(struct src *s, struct pkt *pkts, int max, struct error *err);

/* The same without waiting: -EAGAIN if there are none now. err is not NULL.
 * Every later call, also of src_rx(), returns the same error again. */
int src_rx_now(struct src *s, struct pkt *pkts, int max, struct error *err);

/*
 * From now on packets stay valid for so many more calls of src_rx() that return
 * packets, instead of one: for workers that receive batches one at a time, and
 * process theirs meanwhile. calls is 1 to SRC_HOLD_MAX. Called once. Returns 0,
 * -ENOMEM, or -EINVAL for too many.
 */
int src_hold_batches(struct src *s, unsigned calls);

/* Bytes of the file (compressed ones if it is) that were read so far, and its
 * size (0: a pipe's is unknown), for a progress display. */
uint64_t src_done(const struct src *s);
uint64_t src_size(const struct src *s);

/* How long src_rx() waits for its first packet: ms, -1 (the default) for ever.
 * When that is over it returns -EAGAIN. A capture in a file never waits. */
void src_wait(struct src *s, int ms);

/* A descriptor that polls readable when src_rx() has something to do. */
int src_fd(const struct src *s);

/* Packets lost before we saw them: the kernel's count; 0 for captures. */
uint64_t src_drops(const struct src *s);

/* What it is: "pcap", "pcapng", "AF_PACKET", "AF_XDP zero-copy"... */
const char *src_kind(const struct src *s);

void src_close(struct src *s); /* NULL is fine */

/* Opens a nanosecond pcap file for writing, "-" for stdout. */
int snk_open(struct snk **out, const char *path, struct error *err);

/* Once *stop is set, a stalled reader of a pipe is not waited for any more: a
 * write fails with -ECANCELED if the reader takes nothing for a second. */
void snk_until(struct snk *s, const atomic_int *stop);

/* Room for one frame of up to len bytes (at most PKT_MAX), or NULL with errno
 * set when the buffer before it could not be written. */
uint8_t *snk_room(struct snk *s, size_t len);

/* Ends the frame begun by snk_room: its real length and its time. */
void snk_done(struct snk *s, size_t len, uint64_t ts_ns);
/* The same for a frame that is cut: it had wire_len bytes on the wire. */
void snk_done_cut(struct snk *s, size_t len, uint32_t wire_len, uint64_t ts_ns);

/* Copies n packets. Returns 0 or -errno. */
int snk_tx(struct snk *s, const struct pkt *pkts, size_t n);

/* Writes out what is buffered. Returns 0 or -errno. */
int snk_flush(struct snk *s);

/* The same at the end; it waits for frames under way: snk_drops() is final. */
int snk_settle(struct snk *s);

/* Frames that a live interface did not take; 0 for captures. */
uint64_t snk_drops(const struct snk *s);
const char *snk_kind(const struct snk *s);

/* Flushes and closes; returns the first error of the sink's life, 0 if none. */
int snk_close(struct snk *s);

#endif
