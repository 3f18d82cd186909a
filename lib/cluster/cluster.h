/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cluster.h - several collectors as one. A cluster file, whose form is in
 * dta-cluster(5), names them, and says which were members from which epoch on.
 *
 * The owner of a key is member number (hash mod n) of a generation, in the
 * order of the file, by the polynomial "collector of a key (DART)" of dta(7),
 * HASHING. Writers use the newest generation. Readers go through all, newest
 * first, and ask the owner there about the epochs of that generation.
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

/* Epochs [from, until] of a collector belong to a generation. until is the next
 * generation's first: it may have begun while writers still used this one. */
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
	unsigned n; /* collectors */
	unsigned generations;
	struct cluster_collector *collector;
	struct cluster_generation *generation; /* oldest first */
};

/* Reads a file, or an open one called name in messages. err says FILE:LINE:
 * reason. Returns 0, or -errno with nothing to free. */
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
