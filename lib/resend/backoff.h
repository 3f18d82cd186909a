/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backoff.h - a sender's rate under a limit that it does not know: halved when
 * it is told to slow down, growing by a constant while it is not.
 */
#ifndef RESEND_BACKOFF_H
#define RESEND_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BACKOFF_STEP_NS = 50000000, /* between two steps up, or two cuts */
	BACKOFF_STEPS = 32,	    /* up to where the last cut was */
};

struct backoff {
	double rate;	/* packets/s; 0: no limit is known */
	double ceiling; /* 0: none. The rate ends there */
	double step;
	uint64_t since_ns;
	uint64_t cuts;
};

/* Told to slow down, while sending at `at' packets/s. True: the rate was cut;
 * not again for a while, until that can have shown. */
bool backoff_cut(struct backoff *b, double at, uint64_t now_ns);

/* Time has passed. True: the rate has grown. */
bool backoff_grow(struct backoff *b, uint64_t now_ns);

#endif
