/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.h - reports out: each one a frame, and a row of the truth. Keys, values
 * and entries are bytes as on the wire; they are copied.
 */
#ifndef DTA_GEN_EMIT_H
#define DTA_GEN_EMIT_H

#include "base/fault.h"
#include "gen.h"
#include "wire/dta.h"

int emit_open(struct gen *g, struct fault *f); /* f names the file */
/*
 * One report of switch reporter, whose key is of that type: a frame, and a row
 * of the truth. The flags, the sequence and, if --copies was given, the copies
 * are filled in here. After an error, or when done, does nothing.
 */
void emit(struct gen *g, struct dta_report *r, enum key_type type,
	  unsigned reporter, uint64_t ts_ns);
void emit_flush(struct gen *g); /* lets the reports so far go */
int emit_close(struct gen *g);

#endif
