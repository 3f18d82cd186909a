/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew.h - the collectors of a cluster as the sources of places: source i is
 * collector i of the cluster file.
 *
 * A key's places are the epochs of its owner, generation by generation, the
 * newest first. Where an owner cannot be reached, its mirror's take their
 * stead, if there is one; else the key is incomplete.
 */
#ifndef QUERY_CREW_H
#define QUERY_CREW_H

#include "place.h"

struct crew;

/* Opens what o->cluster names. Exits if none can be reached. */
void crew_open(struct places *p, const struct opts *o);
void crew_close(struct crew *c); /* NULL is fine */

void crew_of_key(struct places *p, const uint8_t *key, size_t len);
void crew_all(struct places *p); /* the epochs of all that are here */

/* Keys with the same owners everywhere have the same places. */
uint32_t crew_hash(const struct crew *c, const uint8_t *key, size_t len);
bool crew_alike(const struct crew *c, uint32_t a, uint32_t b);

/* A source that was reached no longer is; says so, once. */
void crew_lose(struct places *p, unsigned source, const char *why);

/* Whether a place is left out for want of a collector, since crew_of_key(). */
bool crew_incomplete(const struct crew *c);

/*
 * For what looks into memory itself: exits if a collector is on another
 * machine, saying what cannot be done, and what to run there.
 */
void crew_here(const struct places *p, const char *what, const char *command);

/* Whether a question stayed without an answer for that reason, ever. */
void crew_failed_set(struct crew *c);
bool crew_failed(const struct crew *c);

#endif
