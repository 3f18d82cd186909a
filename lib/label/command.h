/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command.h - what the controller says to a switch, as lines like those of
 * BMv2's simple_switch_CLI:
 *
 *	register_write label_s PORT S
 *	table_add label_flow label_specific KEY => PERIOD_US
 *	table_delete_match label_flow KEY
 *
 * KEY is SRC DST PROTOCOL SRC_PORT DST_PORT; flows of IPv6 are in label_flow6.
 * Our own hop reads all of them.
 * simple_switch_CLI knows the first two; what it needs for the third,
 * dta-switch apply says.
 */
#ifndef LABEL_COMMAND_H
#define LABEL_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "net/key.h"

enum {
	LABEL_COMMAND_MAX = 256, /* bytes of a line, NUL included */
};

/* S of a port: a line without its end. */
void label_command_s(char buf[LABEL_COMMAND_MAX], uint16_t port, uint8_t s);

/* A specific flow comes, or goes (period_us 0). key: flow4, flow6. */
size_t label_command_flow(char buf[LABEL_COMMAND_MAX], const uint8_t *key,
			  size_t len, uint64_t period_us);

enum label_command_kind {
	LABEL_COMMAND_S,
	LABEL_COMMAND_FLOW_ADD,
	LABEL_COMMAND_FLOW_DEL,
};

struct label_command {
	enum label_command_kind kind;
	uint16_t port;
	uint8_t s;
	uint8_t key[KEY_FLOW6_LEN];
	size_t key_len;
	uint64_t period_us;
};

/* A line as above. -EINVAL and why. */
int label_command_read(struct label_command *out, const char *line,
		       struct fault *why);

#endif
