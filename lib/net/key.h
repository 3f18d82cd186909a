/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * key.h - telemetry keys: their bytes (dta(7), Keys) and their text.
 *
 * name   bytes  layout, big-endian           text
 * flow4  13     src, dst, src port,          10.0.0.1:443>10.0.0.2:5501/tcp
 *               dst port, protocol
 * flow6  37     the same, addresses of 16    [2001:db8::1]:443>[::2]:5501/udp
 * hop4   17     switch id (4), flow4         7@10.0.0.1:443>10.0.0.2:5501/tcp
 * hop6   41     switch id (4), flow6         7@[2001:db8::1]:443>...
 * src4   4      address                      10.0.0.1
 * src6   16     address                      2001:db8::1
 * u32    4      number                       1234, 0x4d2
 * hex    any    bytes as given               00ff12
 *
 * A protocol without a name is its number: .../103. Hex text is taken for every
 * type too, as 0x and exactly twice the key's length in digits, save for u32.
 */
/* clang-format on */
#ifndef NET_KEY_H
#define NET_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"

enum key_type {
	KEY_HEX,
	KEY_FLOW4,
	KEY_FLOW6,
	KEY_HOP4,
	KEY_HOP6,
	KEY_SRC4,
	KEY_SRC6,
	KEY_U32,
	KEY_TYPES,
};

enum {
	KEY_MAX = 64,	      /* longest key, bytes */
	KEY_TEXT_MAX = 160,   /* longest text, with its NUL */
	KEY_PROTOCOL_MAX = 8, /* longest text of a protocol, with its NUL */
};

/* Name <-> type; key_type_of returns -1 for other names. */
const char *key_type_name(enum key_type t);
int key_type_of(const char *name);

/* Bytes of a type; 0 for KEY_HEX, whose length is the table's. */
size_t key_type_len(enum key_type t);

/* What is wrong with a key's text. */
struct key_error {
	size_t at, len;	  /* the characters of text that do not fit */
	const char *want; /* "a port from 0 to 65535" */
};

/* Text to bytes. out has room for KEY_MAX; len is the length the table wants.
 * Returns 0; or -EINVAL, and err (may be NULL) is filled in. */
int key_parse_at(uint8_t *out, enum key_type t, size_t len, const char *text,
		 struct key_error *err);

static inline int key_parse(uint8_t *out, enum key_type t, size_t len,
			    const char *text)
{
	return key_parse_at(out, t, len, text, NULL);
}

/* Bytes to text, NUL-terminated; returns its length. buf: KEY_TEXT_MAX. */
size_t key_format(char *buf, enum key_type t, const uint8_t *key, size_t len);

/* Whether keys of a type have a protocol, as flows do. */
bool key_has_protocol(enum key_type t);

/* The number of a protocol, given by name or number; -1: it is none. And its
 * text, as it stands in keys: returns buf. */
int key_protocol_of(const char *text);
const char *key_protocol_text(char buf[KEY_PROTOCOL_MAX], uint8_t protocol);

/* The key of a flow's other direction, at the same switch; false: no flow. */
bool key_reverse(uint8_t *out, enum key_type t, const uint8_t *key);

/* A packet's flow key: flow4 or flow6. Returns its length. out: KEY_MAX. */
size_t key_of_packet(uint8_t *out, const struct net_packet *p);

#endif
