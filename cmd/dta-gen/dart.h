/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dart.h - the reporter as a DART switch: reports do not leave as reports, but
 * as the RoCEv2 packets that write them into the collectors' memory.
 */
#ifndef DTA_GEN_DART_H
#define DTA_GEN_DART_H

#include "gen.h"

struct dart_switch;

/* Reads the ticket or the cluster of the options, if --dart was given; opens
 * the road from there into g->snk. f names what is wrong. */
int dart_read(struct gen *g, struct fault *f);
int dart_open(struct gen *g, struct fault *f);

/* Room for a report in a frame; it goes when a batch is full, or is flushed.
 * Return 0 or -errno. */
uint8_t *dart_room(struct gen *g);
int dart_done(struct gen *g, size_t len, uint64_t ts_ns);
int dart_flush(struct gen *g);

/* Writes out what waits; shows the ledger of what became of the reports. */
int dart_close(struct gen *g);

#endif
