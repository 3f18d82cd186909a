/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.h - which packets a port labels: INT-label, section 3. What a switch
 * does, with the registers it has; the simulator and the packet rewriter share
 * it.
 *
 * Base A (algorithm 1): one packet each interval T. Base B (algorithm 2):
 * besides, a packet that has labels already, with probability f(labels), unless
 * the port has labelled one within the rest time T1 (section 5). A packet of a
 * specific flow always (section 3.3): the policy need not be B, as the paper
 * has it. Pro (section 3.2): the controller moves S, and T and T1 are halved S
 * times.
 *
 * Times are microseconds of the device's clock, of which 48 bits count.
 */
#ifndef LABEL_POLICY_H
#define LABEL_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/rng.h"
#include "net/proto.h"

enum label_kind {
	LABEL_BASE_A,
	LABEL_BASE_B,
};

enum label_f {
	LABEL_F1,      /* 1 from the second label on */
	LABEL_F2,      /* labels / (MAX_hop - 1) */
	LABEL_F3,      /* that, times the part of T that is over */
	LABEL_F_TABLE, /* table[labels], the last one for more */
};

enum {
	LABEL_S_MAX = 20, /* an interval of 1 s is 1 us then */
	LABEL_TABLE_MAX = 16,
};

struct label_policy {
	enum label_kind kind;
	enum label_f f;	 /* of B */
	uint8_t max_hop; /* label_format's */
	uint8_t table_len;
	double table[LABEL_TABLE_MAX];
	uint64_t interval_us; /* T */
	uint64_t rest_us;     /* T1 <= T; of B */
};

/* A port's registers. All 0: nothing was labelled yet. */
struct label_port {
	uint64_t last_us; /* when it labelled, Reg1 */
	uint32_t number;  /* labels written: label/label.h */
	uint8_t s;	  /* Reg2 */
	bool labelled;	  /* last_us tells */
};

/* As a switch shifts. Never 0, so that an interval stays one. */
static inline uint64_t label_interval(const struct label_policy *p, uint8_t s)
{
	uint64_t t = p->interval_us >> s;

	return t ? t : 1;
}

/* f(items) of Base B, 0 to 1, so long after the port's last label. */
double label_probability(const struct label_policy *p, uint8_t s,
			 unsigned items, uint64_t elapsed_us);

/*
 * Whether a packet that has so many labels (and is of a specific flow) is to be
 * labelled. The registers stay as they are: whether there is room for a label
 * is the packet's affair (label_push()).
 */
bool label_decide(const struct label_policy *p, const struct label_port *port,
		  unsigned items, bool specific, uint64_t now_us,
		  struct rng *rng);

/* The port writes a label. Returns its number. */
static inline uint32_t label_wrote(struct label_port *port, uint64_t now_us)
{
	port->last_us = now_us;
	port->labelled = true;
	if (!++port->number) /* 0 is: not counted */
		port->number = 1;
	return port->number;
}

/* "A", "B". */
extern const char *const label_kind_names[];

/* Sets f from text: "f1", "f2", "f3", or numbers from 0 to 1 with commas
 * between them, f(0) first. Returns 0, or -EINVAL and why. */
int label_policy_f(struct label_policy *p, const char *text, struct fault *why);

#endif
