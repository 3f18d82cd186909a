/* SPDX-License-Identifier: BSD-2-Clause */
/* key_private.h - what the key_*.c share. */
#ifndef WIRE_KEY_PRIVATE_H
#define WIRE_KEY_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/key.h"

enum {
	KEY_PROTOCOLS = 7,
};

struct key_protocol {
	char name[KEY_PROTOCOL_MAX]; /* zeros to the end: also read and written
					whole */
	uint8_t len, number;
};

extern const struct key_protocol key_protocols[KEY_PROTOCOLS];

#endif
