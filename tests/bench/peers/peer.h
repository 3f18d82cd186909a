/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h - what keeps pairs of key and value: ours, or what people would use
 * instead. Keys are PEER_KEY bytes, values 32 bits.
 *
 * A file per peer. Those whose packages are missing are not built: their struct
 * peer is not there then.
 */
#ifndef TESTS_BENCH_PEERS_PEER_H
#define TESTS_BENCH_PEERS_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	PEER_KEY = 13,	    /* a flow4 */
	PEER_BATCH = 1024,  /* keys of a call */
	PEER_KEY_ROOM = 32, /* of lookups: bytes from one key to the next, */
	PEER_HEADROOM = 16, /* and readable ones before it */
	PEER_PREFETCH = 32, /* keys that are asked for ahead */
};

struct pkt;

struct peer_setup {
	uint64_t flows;
	uint64_t memory; /* ours: bytes, at most */
	const char *dir; /* for files and sockets; its own, and empty */
};

struct peer {
	/* About the bytes of a key, while a table grows: whether there is
	 * memory for it. 0: s->memory is what it takes, at most. */
	unsigned key_bytes;
	/* NULL, after peer_why(): it cannot be had. */
	void *(*open)(const struct peer_setup *s);
	/* Ours takes the frames themselves, and parses them; others get what
	 * frames_parse() makes of them. */
	void (*take)(void *p, const struct pkt *pkts, size_t n);
	void (*update)(void *p, const uint8_t *const *keys,
		       const uint32_t *values, size_t n);
	/* found[i]: whether it has the key; values[i] is set then. */
	void (*lookup)(void *p, const uint8_t *const *keys, uint32_t *values,
		       uint8_t *found, size_t n);
	/* All its bytes; NULL: what it took of the heap while it was filled,
	 * which only glibc's malloc() tells. */
	uint64_t (*bytes)(void *p);
	/* What its memory's pages are, as of a region; NULL: nobody asks. */
	const char *(*pages)(void *p);
	void (*close)(void *p);
};

extern const struct peer peer_ours1, peer_ours2;
/* NULL is the address of one that was not built. */
extern const struct peer peer_absl __attribute__((weak)),
	peer_uthash __attribute__((weak)), peer_glib __attribute__((weak)),
	peer_lmdb __attribute__((weak)), peer_redis __attribute__((weak)),
	peer_rocksdb __attribute__((weak)), peer_sqlite __attribute__((weak));

/* main.c: says what went wrong, and ends the run. */
void peer_fail(const char *who, const char *what) __attribute__((noreturn));
/* Why open() returns NULL. */
void peer_why(const char *who, const char *what);

#ifdef __cplusplus
}
#endif

#endif
