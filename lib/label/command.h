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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "label/control.h"
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

/* A line as above; 0 or -EINVAL. */
int label_command_read(struct label_command *out, const char *line);

/*
 * What the controller has decided, to the switches, as lines of
 * command.h: into a command for each of them. What a switch does not take is
 * said again later, its newest S only.
 *
 * There is no clock inside: now_ns is the caller's, and must not go back.
 */

/* Decisions = told + drops. */
struct label_southbound_ledger {
	uint64_t decisions;
	uint64_t told;	     /* a line each */
	uint64_t superseded; /* by a newer one of the port, before it was told
			      */
	uint64_t unsent;     /* at the end */
	uint64_t tries;	     /* commands, one for all of a switch, */
	uint64_t failed;     /* and those that failed */
};

extern const struct ledger label_southbound_ledger;

struct label_southbound;

/*
 * exec: run by sh, lines on its stdin, with the environment and LABEL_DEVICE;
 * its output goes to stderr. trouble: a switch ceases to obey, and why; NULL:
 * it does again. NULL: no memory.
 */
struct label_southbound *
label_southbound_open(const char *exec, char *const *environment,
		      void (*trouble)(uint32_t device, const char *why));
/* 0 or -ENOMEM. */
int label_southbound_add(struct label_southbound *o,
			 const struct label_decision *d);
/* Says what is due. */
void label_southbound_send_due(struct label_southbound *o, uint64_t now_ns);
/* Whether there is something that waits, or is under way. */
bool label_southbound_busy(const struct label_southbound *o);
/* What is under way is ended; what was not told is counted. */
void label_southbound_stop(struct label_southbound *o);
const struct label_southbound_ledger *
label_southbound_counters(const struct label_southbound *o);
void label_southbound_close(struct label_southbound *o); /* NULL is fine */

#endif
