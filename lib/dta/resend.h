/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resend.h - the reporters' side of the sequence (dta(7), FLOW CONTROL): each
 * numbers its reports, keeps the last ones, and goes back to a NACK's number.
 *
 * A reporter begins with a probe of the translator's state and continues from
 * there. It sends further probes while reports are unconfirmed. If a report is
 * missing that the window no longer holds, it is given up, and the reporter
 * notifies the translator, which would otherwise wait for it.
 *
 * Reports are numbered from 0; the wire has the lower 16 bits of the number
 * plus the translator's first number (base/snd.h; what was given up is before
 * una, too). The last `window' reports are kept.
 *
 * Times are of a clock that never goes back. NACKs are not trusted.
 */
#ifndef DTA_RESEND_H
#define DTA_RESEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "packet/pkt.h"

enum {
	/* Beyond it no translator waits for a report: numbers have 16 bits. */
	RESEND_WINDOW_MAX = 16384,
};

/* reports = confirmed + lost + unconfirmed. */
struct resend_ledger {
	uint64_t reports;
	uint64_t confirmed;
	uint64_t lost;	      /* missing, and not kept any more */
	uint64_t unconfirmed; /* not known yet */
	/* notes */
	uint64_t packets; /* all that were sent: reports, probes, notices */
	uint64_t resent;  /* reports that had been sent before */
	uint64_t probes;  /* questions for the number that is expected */
	uint64_t notices; /* that reports were given up */
	uint64_t answers, nacks_gap, nacks_rate, nacks_resync; /* received */
	uint64_t stale;	    /* NACKs older than what is confirmed */
	uint64_t not_nacks; /* packets that are not NACKs for these reporters */
	uint64_t unanswered; /* reporters that got no answer */
};

extern const struct ledger resend_ledger;

/* Sends a payload of a reporter; ts_ns as given to resend_add(), 0 if it is not
 * the report's first time. Returns 0 or -errno. */
typedef int resend_send(void *ctx, unsigned reporter, const uint8_t *payload,
			size_t len, uint64_t ts_ns);

struct resend_options {
	unsigned reporters;
	unsigned window;    /* 1 to RESEND_WINDOW_MAX */
	size_t payload_max; /* of a report */
	uint32_t address;   /* of reporter 0; reporter i has address + i */
	bool wait;	    /* when the window is full; else drop its oldest */
	resend_send *send;
	void *ctx;
};

struct resend;

int resend_open(struct resend **out, const struct resend_options *o,
		struct error *err);
void resend_close(struct resend *w);

/* Whether there is room for a report. If not, ask again after resend_rx(),
 * resend_tick() and resend_pump(), which in the end make room. */
bool resend_room(struct resend *w, unsigned reporter);

/* Copies a new DTA/1 report; resend_room() was true. Returns 0 or -ENOMEM. */
int resend_add(struct resend *w, unsigned reporter, const uint8_t *payload,
	       size_t len, uint64_t ts_ns);

/* Sends what is to be sent, at most max packets. Returns how many, or
 * -errno. */
int resend_pump(struct resend *w, unsigned max, uint64_t now_ns);
bool resend_pending(const struct resend *w);

/* Processes received packets, NACKs among them. */
void resend_rx(struct resend *w, const struct pkt *pkts, size_t n,
	       uint64_t now_ns);

/* Time has passed; to be called every few milliseconds. */
void resend_tick(struct resend *w, uint64_t now_ns);

/* No more NACKs will come: reports do not wait for them. */
void resend_alone(struct resend *w);

/* No more reports will be added: probes for the last ones are not delayed. */
void resend_finish(struct resend *w);
/* Whether all reports are confirmed, or nobody answers. */
bool resend_settled(const struct resend *w);

struct resend_ledger resend_counters(const struct resend *w);

/* A sender's rate under a limit that it does not know: halved when it is told
 * to slow down, growing by a constant while it is not. */
enum {
	BACKOFF_STEP_NS = 50000000, /* between two steps up, or two cuts */
	BACKOFF_STEPS = 32,	    /* up to where the last cut was */
};

struct backoff {
	double rate;	/* packets/s; 0: no limit is known */
	double ceiling; /* the rate does not grow above it; 0: none */
	double step;
	uint64_t since_ns;
	uint64_t cuts;
};

/* Told to slow down, while sending at `at' packets/s. Returns whether the rate
 * was cut: once in BACKOFF_STEP_NS, so that a cut can show its effect first. */
bool backoff_cut(struct backoff *b, double at, uint64_t now_ns);

/* Time has passed. Returns whether the rate has grown. */
bool backoff_grow(struct backoff *b, uint64_t now_ns);

#endif
