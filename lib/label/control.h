/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.h - INT-label's controller: the database fed from packets, coverage
 * of each telemetry interval, ports that fell silent, and Pro, which labels
 * more where labels are lost (INT-label, sections 2, 3.2 and algorithm 3).
 *
 * A port is silent when nothing newer has come of it for k * T. One that never
 * labelled is not known and not silent: it carries no traffic, or none that is
 * labelled. Pro raises S of a silent port each k * T, up to s_max, and lowers
 * it again each k * T that it is not; each step at the time at which it is due.
 * A port that has been silent for a day is forgotten; one of which there was a
 * single label, which may have been forged, after 10 minutes.
 *
 * What is behind a port's link is learnt from specific flows, whose packets
 * have a label of each hop.
 *
 * There is no clock inside: time is that of the frames, or what tick is told,
 * virtual or real; it does not go back: what says an earlier time is taken as
 * of the newest. Intervals begin at multiples of their length, so that the same
 * packets give the same rows wherever they are read. A call of frame or tick
 * does first what was due.
 */
#ifndef LABEL_CONTROL_H
#define LABEL_CONTROL_H

#include "label/db.h"
#include "label/label.h"
#include "net/key.h"

/* Frames in = labelled + drops. */
struct label_control_ledger {
	uint64_t frames;
	uint64_t labelled; /* with labels, or the option alone */
	uint64_t plain;	   /* no labels in it */
	uint64_t malformed;
	uint64_t checksum;  /* of IP or UDP: it is wrong */
	uint64_t specific;  /* of the labelled, of specific flows */
	uint64_t intervals; /* that are over, and told of, */
	uint64_t skipped;   /* and not: nothing was in them */
	uint64_t raised;    /* S, */
	uint64_t lowered;   /* by reset, too */
	uint64_t silent;    /* ports fell silent, */
	uint64_t heard;	    /* and were heard again, */
	uint64_t forgotten; /* or never */
};

extern const struct ledger label_control_ledger;

/* A telemetry interval that is over. */
struct label_interval_sum {
	uint64_t begin_ns, end_ns;
	uint64_t observed_ns; /* of it: less than all in the first, the last */
	uint64_t skipped;     /* intervals before it that are not told of */
	uint32_t ports;	      /* that are known */
	uint32_t covered;     /* those of which a newer state came */
	uint64_t packets, labels;    /* that came */
	uint64_t late, missing, odd; /* of the labels; numbers left out, less
					those that came late after all */
	uint32_t silent;	     /* ports, at its end */
	uint32_t raised;	     /* ports with S above 0 */
	uint8_t s_most;
};

/*
 * The paths of specific flows (INT-label, section 3.3): of each flow the hops
 * of its newest packet, as they were then. A flow lives in a row of
 * LABEL_PATHS_ROW that a hash of its key picks; a new flow replaces the one
 * that was silent longest.
 */
enum {
	LABEL_PATHS_ROW = 8,
	LABEL_PATH_HOPS = 16, /* that are kept, the last ones of the way */
};

struct label_path {
	uint8_t key[KEY_FLOW6_LEN];
	uint8_t key_len; /* KEY_FLOW4_LEN, KEY_FLOW6_LEN; 0: no flow */
	uint8_t n;	 /* hops */
	bool cut;	 /* there were more */
	uint64_t seen_ns, packets;
	uint64_t latency_ns;			/* of the hops, together */
	struct label_item hop[LABEL_PATH_HOPS]; /* the way's first one first */
};

enum label_reason {
	LABEL_SILENT,	 /* S is raised */
	LABEL_HEARD,	 /* and lowered */
	LABEL_RESET,	 /* the device began anew, with S 0 perhaps: 0 it is */
	LABEL_FORGOTTEN, /* the port is: 0 it is */
};

/* Pro has moved S of a port. */
struct label_decision {
	enum label_reason reason;
	uint64_t now_ns;
	const struct label_record *port; /* with its new S */
	uint8_t from;			 /* S before */
	uint64_t lost; /* labels by their numbers, since the decision before */
};

/* NULL: not wanted. */
struct label_control_calls {
	void *ctx;
	void (*interval)(void *ctx, const struct label_interval_sum *sum);
	void (*decision)(void *ctx, const struct label_decision *d);
	/* A port fell silent, or is heard again, or is forgotten: LABEL_SILENT,
	 * LABEL_HEARD, LABEL_FORGOTTEN. since_ns: when its newest label came.
	 */
	void (*silence)(void *ctx, const struct label_record *port,
			enum label_reason event, uint64_t now_ns,
			uint64_t since_ns);
	/* A newer state of a port came. */
	void (*port)(void *ctx, const struct label_record *port);
	/* A packet of a specific flow came. */
	void (*path)(void *ctx, const struct label_path *path);
};

struct label_control_options {
	struct label_db_options db;
	struct label_format format;
	uint64_t interval_ns; /* of telemetry, T_i */
	uint64_t t_ns;	      /* of labelling, T */
	double k;
	bool pro;
	uint8_t s_max;	/* LABEL_S_MAX at most */
	uint32_t flows; /* of which ways are kept */
	struct label_control_calls calls;
};

/* T_i 100 ms, T 50 ms, k 2, Pro, S up to 6, 4096 flows: as the paper has them,
 * where it says. */
void label_control_defaults(struct label_control_options *o);

struct label_control;

/* 0 or -ENOMEM. */
int label_control_open(struct label_control **out,
		       const struct label_control_options *o);
void label_control_close(struct label_control *c); /* NULL is fine */

/* A frame that came at now_ns. 0 or -ENOMEM. */
int label_control_frame(struct label_control *c, const uint8_t *frame,
			size_t len, uint64_t now_ns);

/* It is that late. Before time has begun nothing comes of it. */
void label_control_tick(struct label_control *c, uint64_t now_ns);
/* When there is something to be done: for tick. UINT64_MAX: nothing yet. */
uint64_t label_control_due(const struct label_control *c);
/* The time it has got to; 0: nothing came. */
uint64_t label_control_now(const struct label_control *c);
/* Ends the interval that is under way, if anything came in it. */
void label_control_end(struct label_control *c);

struct label_db *label_control_db(struct label_control *c);
/* The paths of specific flows stand at places from 0 to
 * label_control_path_places() - 1; NULL: there is none at that one. */
uint32_t label_control_path_places(const struct label_control *c);
const struct label_path *label_control_path(const struct label_control *c,
					    uint32_t place);
const struct label_control_ledger *
label_control_counters(const struct label_control *c);

/* Ports that are silent now: only these are ever forgotten. */
static inline uint64_t label_control_silent(const struct label_control *c)
{
	const struct label_control_ledger *l = label_control_counters(c);

	return l->silent - l->heard - l->forgotten;
}

#endif
