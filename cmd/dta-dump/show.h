/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show.h - a packet's fields: a row of all of them, or, as text, a line of
 * those that it has, as tcpdump prints one.
 */
#ifndef DUMP_SHOW_H
#define DUMP_SHOW_H

#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

enum show_field {
	SHOW_NUMBER, /* the first six are the head of a line, in this order */
	SHOW_TIME,
	SHOW_SRC,
	SHOW_DST,
	SHOW_PROTOCOL,
	SHOW_OPCODE,
	SHOW_TABLE,
	SHOW_KEY,
	SHOW_LIST,
	SHOW_HOP,
	SHOW_PATH_LEN,
	SHOW_COPIES,
	SHOW_SEQUENCE,
	SHOW_FLAGS,
	SHOW_QP,
	SHOW_PSN,
	SHOW_VA,
	SHOW_RKEY,
	SHOW_LENGTH,
	SHOW_SLOT,
	SHOW_ENTRY,
	SHOW_IMM,
	SHOW_ADD,
	SHOW_COMPARE,
	SHOW_SYNDROME,
	SHOW_MSN,
	SHOW_ORIGINAL,
	SHOW_ICRC,
	SHOW_DATA,
	SHOW_REASON,
	SHOW_LABELS,
	SHOW_HOPS,
	SHOW_FIELDS,
};

/* Of SHOW_REASON. */
extern const char show_wrong_checksum[], show_malformed[];

struct show {
	struct rows *rows; /* NULL: lines */
};

void show_open(struct show *s, enum row_format format);
void show_close(struct show *s);

/* In the order of the fields. Texts and bytes are kept until show_end(). */
void show_u64(struct show *s, enum show_field f, uint64_t v);
void show_time(struct show *s, uint64_t ns); /* SHOW_TIME */
void show_str(struct show *s, enum show_field f, const char *v);
void show_bytes(struct show *s, enum show_field f, const void *p, size_t n);
/* Addresses and protocol name, which every packet begins with; src may be
 * NULL. */
void show_head(struct show *s, const char *src, const char *dst,
	       const char *protocol);
void show_end(struct show *s);

#endif
