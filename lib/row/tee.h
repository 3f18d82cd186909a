/* SPDX-License-Identifier: BSD-2-Clause */
/* tee.h - a sink that gives the rows of each batch to several others. */
#ifndef ROW_TEE_H
#define ROW_TEE_H

#include "row/sink.h"

/*
 * To n sinks, which stay the caller's and outlive it; one that fails does not
 * keep rows from the others. NULL: no memory.
 */
struct row_sink *tee_open(struct row_sink *const *to, unsigned n);

#endif
