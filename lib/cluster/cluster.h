/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cluster.h - several collectors as one: who they are, and which of them were
 * members since when (dta-cluster(5)). A small INI file:
 *
 *	[cluster]
 *	version = 1
 *	mirror = no             ; yes: each report goes to the next member, too
 *
 *	[collector 0]           ; ids 0 to 65535
 *	region = /fabric0       ; on this machine, or with host: there
 *	ticket = fabric0.ini    ; by which to write to it over a network; seen
 *	                        ; from this file's directory
 *	host = collector0       ; where to ask it (ssh); none: on this machine
 *	verbs = 10.0.0.51:40040 ; where to read it, with RDMA READ
 *
 *	[generation 1]          ; without any: one, of all, from epoch 1 on
 *	collectors = 0 1 2
 *	[generation 2]
 *	collectors = 0-3        ; more lines add more; ID:EPOCH sets one's own
 *	epoch = 5               ; the first of this generation, for those that
 *	                        ; were there before; newcomers begin with 1
 *
 * The owner of a key is the member number hash mod n of a generation, in the
 * order they are listed, by the polynomial "collector of a key (DART)" of
 * dta(7), HASHING. Writers use the newest generation. Readers go through all,
 * newest first, and ask the owner there about the epochs of that generation.
 */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum {
	CLUSTER_VERSION = 1,
	CLUSTER_MAX = 256, /* collectors */
	CLUSTER_GENERATIONS = 256,
	CLUSTER_TEXT = 256, /* longest name, path with its directory */
};

struct cluster_collector {
	uint16_t id;
	char region[CLUSTER_TEXT], ticket[CLUSTER_TEXT], host[CLUSTER_TEXT];
	char verbs[CLUSTER_TEXT];
};

/* Epochs [from, until] of one collector belong to a generation. The last may
 * have begun while writers still worked by the generation before. */
struct cluster_member {
	uint16_t collector; /* index */
	uint64_t from, until;
};

struct cluster_generation {
	uint32_t number;
	unsigned n;
	struct cluster_member *member;
};

struct cluster {
	bool mirror;
	unsigned n, generations; /* oldest first */
	struct cluster_collector *collector;
	struct cluster_generation *generation;
};

/*
 * Reads a file, or an open one that name stands for. err says FILE:LINE:
 * reason. Returns 0, or -errno with nothing to free.
 */
int cluster_read(struct cluster *c, const char *path, struct error *err);
int cluster_parse(struct cluster *c, FILE *in, const char *name,
		  struct error *err);
void cluster_fini(struct cluster *c);

/* The newest generation: what writers use. */
static inline const struct cluster_generation *
cluster_newest(const struct cluster *c)
{
	return &c->generation[c->generations - 1];
}

/* The member that owns a key, by its place in the generation. */
unsigned cluster_owner(const struct cluster_generation *g, const uint8_t *key,
		       size_t len);

#endif
