/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command.h - the controller's commands to a switch, as lines like those of
 * BMv2's simple_switch_CLI:
 *
 *	register_write label_s PORT S
 *	table_add label_flow label_specific KEY => PERIOD_US
 *	table_delete_match label_flow KEY
 *
 * KEY is SRC DST PROTOCOL SRC_PORT DST_PORT; flows of IPv6 are in label_flow6.
 * int-label-ctl label reads all of them, simple_switch_CLI the first two; it
 * deletes by handle, which dta-switch apply looks up for the third.
 */
#ifndef LABEL_COMMAND_H
#define LABEL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ledger.h"
#include "label/control.h"
#include "net/key.h"

enum {
	LABEL_COMMAND_MAX = 256, /* bytes of a line, NUL included */
};

/* Writes the line that sets S of a port, without a newline. */
void label_command_s(char buf[LABEL_COMMAND_MAX], uint16_t port, uint8_t s);

/* Writes the line that adds a specific flow (key: flow4 or flow6) or, period_us
 * 0, deletes it. Returns its length. */
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

/* Reads such a line; 0 or -EINVAL. */
int label_command_read(struct label_command *out, const char *line);

/*
 * Sends the controller's decisions to the switches: for each switch a shell
 * command is run, with lines as above on its stdin. After a failure the newest
 * S of each port is sent again later.
 *
 * There is no clock inside: now_ns is the caller's, and must not go back.
 */

/* Decisions = applied + drops. */
struct label_southbound_ledger {
	uint64_t decisions;
	uint64_t applied;    /* sent, a line each */
	uint64_t superseded; /* unsent: a newer one of the port came */
	uint64_t unsent;     /* at the end */
	uint64_t tries;	     /* commands run */
	uint64_t failed;     /* commands that failed */
};

extern const struct ledger label_southbound_ledger;

struct label_southbound;

/* exec: the shell command; its environment is environment and LABEL_NODE, its
 * output goes to stderr. trouble: called when commands of a switch begin to
 * fail, and with why NULL when they succeed again. Returns NULL: no memory. */
struct label_southbound *
label_southbound_open(const char *exec, char *const *environment,
		      void (*trouble)(uint32_t device, const char *why));
/* 0 or -ENOMEM. */
int label_southbound_add(struct label_southbound *o,
			 const struct label_decision *d);
/* Runs the commands that are due, and looks after those that run. */
void label_southbound_send_due(struct label_southbound *o, uint64_t now_ns);
/* Whether a decision waits or is being sent. */
bool label_southbound_busy(const struct label_southbound *o);
/* Kills commands that run; what was not sent is counted. */
void label_southbound_stop(struct label_southbound *o);
const struct label_southbound_ledger *
label_southbound_counters(const struct label_southbound *o);
void label_southbound_close(struct label_southbound *o); /* NULL is fine */

#endif
