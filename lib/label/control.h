/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.h - INT-label's controller: it feeds the database from packets,
 * reports the coverage of each telemetry interval and ports that fall silent,
 * and with Pro has ports label more often where labels are lost (INT-label,
 * sections 2, 3.2 and algorithm 3).
 *
 * A port is silent when nothing newer has come of it for k * T. One that never
 * labelled is not known and not silent: it carries no traffic, or none that is
 * labelled. Pro raises S of a silent port by 1 each k * T, up to s_max, and
 * lowers S of any other port by 1 each k * T, each at the time it is due. A
 * port that has been silent for a day is forgotten; one of which a single label
 * came, which may have been forged, after 10 minutes.
 *
 * The other end of a port's link is learnt from specific flows, whose packets
 * have a label of each hop.
 *
 * There is no clock inside. Time, virtual or real, is that of frames and ticks;
 * an earlier time than the newest one counts as the newest one. Intervals begin
 * at multiples of their length, so that the same packets give the same rows
 * wherever they are read. Each frame or tick first does what was due before it.
 */
#ifndef LABEL_CONTROL_H
#define LABEL_CONTROL_H

#include "label/db.h"
#include "label/label.h"
#include "net/key.h"

/* Frames in = labelled + drops. */
struct label_control_ledger {
	uint64_t frames;
	uint64_t labelled; /* with INT OPTION, with or without labels */
	uint64_t plain;	   /* without labels */
	uint64_t malformed;
	uint64_t checksum;  /* a checksum of IP or UDP is wrong */
	uint64_t specific;  /* labelled frames of specific flows */
	uint64_t intervals; /* over and reported */
	uint64_t skipped;   /* intervals not reported: nothing was in them */
	uint64_t raised;    /* S of a port, by 1 */
	uint64_t lowered;   /* S of a port, by 1 or by LABEL_RESET */
	uint64_t silent;    /* times that a port fell silent, */
	uint64_t heard;	    /* was heard again, */
	uint64_t forgotten; /* or was forgotten */
};

extern const struct ledger label_control_ledger;

/* A telemetry interval that is over. */
struct label_interval_sum {
	uint64_t begin_ns, end_ns;
	uint64_t observed_ns; /* less than all in the first and the last one */
	uint64_t skipped;     /* intervals before it that are not reported */
	uint32_t ports;	      /* known, at its end */
	uint32_t covered;     /* ports of which a newer state came */
	uint64_t packets, labels; /* that came */
	uint64_t late, odd;	  /* of the labels: db.h */
	uint64_t missing;	  /* numbers left out, less those found */
	uint32_t silent;	  /* ports, at its end */
	uint32_t raised;	  /* ports with S above 0 */
	uint8_t s_max;
};

/*
 * The paths of specific flows (INT-label, section 3.3): of each flow the hops
 * of its newest packet. The hash of a flow's key picks a bucket of
 * LABEL_PATHS_BUCKET slots; in a full bucket a new flow replaces the one that
 * was not seen for longest.
 */
enum {
	LABEL_PATHS_BUCKET = 8,
	LABEL_PATH_HOPS = 16, /* the last ones, if a path is longer */
};

struct label_path {
	uint8_t key[KEY_FLOW6_LEN];
	uint8_t key_len; /* KEY_FLOW4_LEN, KEY_FLOW6_LEN; 0: no flow */
	uint8_t n;	 /* hops */
	bool truncated;	 /* there were more */
	uint64_t seen_ns, packets;
	uint64_t latency_ns;			/* sum of the hops' */
	struct label_item hop[LABEL_PATH_HOPS]; /* in the packet's order */
};

/* Why S of a port changes. */
enum label_reason {
	LABEL_SILENT,	 /* raised */
	LABEL_HEARD,	 /* lowered */
	LABEL_RESET,	 /* set to 0, as the device has restarted */
	LABEL_FORGOTTEN, /* set to 0, as the port is forgotten */
};

/* Pro has changed S of a port. */
struct label_decision {
	enum label_reason reason;
	uint64_t now_ns;
	const struct label_record *port; /* with its new S */
	uint8_t from;			 /* S before */
	uint64_t lost; /* labels (label_lost()) since the decision before */
};

/* Each may be NULL. */
struct label_control_calls {
	void *ctx;
	void (*interval)(void *ctx, const struct label_interval_sum *sum);
	void (*decision)(void *ctx, const struct label_decision *d);
	/* A port fell silent, is heard again, or is forgotten (event).
	 * since_ns: when the last label before the silence came. */
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
	uint32_t flows; /* specific flows whose paths are kept, at most */
	struct label_control_calls calls;
};

/* T_i 100 ms, T 50 ms, k 2, Pro, S up to 6, 4096 flows: the paper's values,
 * where it has any. */
void label_control_defaults(struct label_control_options *o);

struct label_control;

/* 0 or -ENOMEM. */
int label_control_open(struct label_control **out,
		       const struct label_control_options *o);
void label_control_close(struct label_control *c); /* NULL is fine */

/* A frame that came at now_ns. 0 or -ENOMEM. */
int label_control_frame(struct label_control *c, const uint8_t *frame,
			size_t len, uint64_t now_ns);

/* Does what is due up to now_ns. No effect before the first labelled frame. */
void label_control_tick(struct label_control *c, uint64_t now_ns);
/* When label_control_tick() is due next; UINT64_MAX: no labels came yet. */
uint64_t label_control_due(const struct label_control *c);
/* The time of the newest frame or tick; 0: no labels came yet. */
uint64_t label_control_now(const struct label_control *c);
/* Ends the current interval early, if any packet came in it. */
void label_control_end(struct label_control *c);

struct label_db *label_control_db(struct label_control *c);
/* The path of a specific flow in a slot, 0 to label_control_path_slots() - 1;
 * NULL: the slot is empty. */
uint32_t label_control_path_slots(const struct label_control *c);
const struct label_path *label_control_path(const struct label_control *c,
					    uint32_t slot);
const struct label_control_ledger *
label_control_counters(const struct label_control *c);

/* Ports that are silent now. (Only silent ports are forgotten.) */
static inline uint64_t label_control_silent(const struct label_control *c)
{
	const struct label_control_ledger *l = label_control_counters(c);

	return l->silent - l->heard - l->forgotten;
}

#endif
