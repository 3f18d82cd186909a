/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths.h - the ways of specific flows (paper 004, section 3.3): of each the
 * hops that its newest packet came through, as they were then.
 *
 * A flow lives in a row of PATHS_ROW that a hash of its key picks; the one
 * silent longest gives way to a new one.
 */
#ifndef LABEL_PATHS_H
#define LABEL_PATHS_H

#include "net/key.h"
#include "label/label.h"

enum {
	LABEL_PATHS_ROW = 8,
	LABEL_PATH_HOPS = 16, /* that are kept, the last ones of the way */
};

struct label_path {
	uint8_t key[KEY_FLOW6_LEN];
	uint8_t key_len; /* KEY_FLOW4_LEN, KEY_FLOW6_LEN; 0: no flow */
	uint8_t n;	 /* hops */
	bool cut;	 /* there were more */
	uint64_t seen_ns, packets;
	uint64_t latency_ns;			/* of the hops, together */
	struct label_item hop[LABEL_PATH_HOPS]; /* the way's first one first */
};

struct label_paths;

/* For so many flows, rounded up. NULL: no memory. */
struct label_paths *label_paths_open(uint32_t flows);
void label_paths_close(struct label_paths *p); /* NULL is fine */

/* A packet of a specific flow. Returns its path. */
const struct label_path *label_paths_take(struct label_paths *p,
					  const struct label_view *v,
					  uint64_t now_ns);

/* Places from 0 to label_paths_size() - 1; NULL: there is none at that one. */
uint32_t label_paths_size(const struct label_paths *p);
const struct label_path *label_paths_at(const struct label_paths *p,
					uint32_t place);

/* The flow of a packet with or without labels: flow4 or flow6, out has room for
 * KEY_FLOW6_LEN. Ports are 0 where there are none to be read. Returns its
 * length. */
unsigned label_flow_key(uint8_t *out, const struct label_view *v);

#endif
