/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truths.h - a truth of a file, read by several cores as by one.
 *
 * Workers take lines in turn. Each finds out by itself what its lines say, all
 * at once. Then the truth's shards take that, one after the other: in turn, but
 * each worker may be at another one. In what order new keys came is told in
 * turn, too.
 */
#ifndef ASKING_TRUTHS_H
#define ASKING_TRUTHS_H

#include "truth/truth.h"

/* path: "-" is stdin. workers: 1 to ASKERS_MAX. Exits if the file cannot be
 * read, or is none. If cli_stop is set, the rest is not read. */
void truths_read(struct truth *t, const char *path, unsigned workers);

#endif
