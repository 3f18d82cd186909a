/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * far_wire.h - a region's file over a pair of descriptors: the serving end
 * hands out byte ranges, the asking end reads them as a memory_link's pieces.
 * All lookup of keys and lists happens at the asking end.
 *
 *	hello    "DTAm"; version (2 bytes); 0 (2); size of the file (8)
 *	request  number of pieces (4); of each: offset (8), length (4)
 *	answer   number of bytes (4); the bytes, piece after piece
 *
 * The hello is sent first, then an answer to each request. Pieces are read in
 * their order, and requests one after the other. Numbers are big-endian, bytes
 * as they lie in the file. The serving end stops where its input ends between
 * two requests; and, without an answer, at a request that is malformed or for
 * bytes outside the file.
 */
#ifndef REGION_FAR_WIRE_H
#define REGION_FAR_WIRE_H

#include "region/far.h"

enum {
	FAR_WIRE_VERSION = 2,
	FAR_WIRE_PIECES = 65536,   /* of a request */
	FAR_WIRE_BYTES = 16 << 20, /* of an answer */
	FAR_WIRE_HELLO = 16,
	FAR_WIRE_PIECE = 12,
	FAR_WIRE_REQUEST = 4 + FAR_WIRE_PIECES * FAR_WIRE_PIECE,
};

/* Serves the file of size bytes until the input ends or stop becomes true: 0.
 * -EBADMSG, -ERANGE: a bad request; or another -errno. err says why. */
int far_wire_serve(const uint8_t *file, uint64_t size, int in, int out,
		   const atomic_int *stop, struct error *err);

/* The asking end. */
struct far_wire {
	int fd; /* a socket: writing to a closed one raises no SIGPIPE */
	const atomic_int *stop;
	uint8_t *request, *answer;
};

/* Closes nothing: fd is the caller's. */
int far_wire_init(struct far_wire *w, int fd, const atomic_int *stop);
void far_wire_fini(struct far_wire *w);

/* Waits for the hello. Returns 0; -EPIPE: the other end closed without a
 * reason; -EBADMSG, -EPROTONOSUPPORT: it is no serving end, or not of this
 * version; or another -errno. err says why. */
int far_wire_hello(struct far_wire *w, uint64_t *size, struct error *err);

/* Reads n pieces of at most FAR_WIRE_BYTES each, in as few requests as
 * possible. 0, or -errno as above. */
int far_wire_read(struct far_wire *w, const struct memory_piece *p, size_t n,
		  struct error *err);

#endif
