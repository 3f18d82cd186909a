/* SPDX-License-Identifier: BSD-2-Clause */
/* packet_road_private.h - what the files of the packet road share. */
#ifndef FLEET_PACKET_ROAD_PRIVATE_H
#define FLEET_PACKET_ROAD_PRIVATE_H

#include "fleet/fleet.h"
#include "fleet/packet_road.h"
#include "roce/standing.h"

struct packet_road;

/* A collector whose answers are heard. */
struct respondent {
	struct packet_road *road;
	struct roce_out *o;
	uint64_t stale_since; /* all that waits, for its ticket; 0: not so */
	struct standing standing;
};

struct packet_road {
	struct road road;
	struct packet_road_options o;
	struct snk *sink;
	struct src *answers;
	struct fleet *fleet;
	struct road *way; /* the fleet's */
	struct cluster cluster;
	struct road_parts parts;
	struct collector_address address[CLUSTER_MAX];

	/* packet_road_hear.c */
	bool heard;	       /* answers are, or were: requests is used */
	bool over;	       /* their source has ended */
	uint64_t acked, since; /* what is confirmed; since when no more is */
	uint64_t listened;     /* the last time */
	uint64_t looked;       /* at how the collectors stand */
	unsigned n;
	struct respondent *respondent[CLUSTER_MAX];
	struct pkt pkts[PKT_BATCH];

	bool failed; /* an operation could not be carried out */
	struct dart_ledger darts;
	struct requester_ledger requests; /* of all */
	char region[TICKET_REGION];
	struct fault why;
	uint64_t unsent;
};

void packet_road_say(const struct packet_road *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "object: why", the object once. */
void packet_road_say_fault(const struct packet_road *p, const char *object,
			   const struct fault *why);

/* packet_road_hear.c: windows, if there are to be answers; and their source. */
int packet_road_listen(struct packet_road *p, struct fault *f);
/* Windows for collectors that have none yet; the others are those of before. */
int packet_road_windows(struct packet_road *p, struct fault *f);
/* Answers, and what follows from them; waits for some up to ms. */
int packet_road_hear(struct packet_road *p, int ms);
uint64_t packet_road_due(const struct road *r);
/* Until all is confirmed, or there is no hope. */
int packet_road_drain(struct packet_road *p);

/* packet_road_renew.c */
int packet_road_read(struct packet_road *p, struct cluster *c, struct fault *f);
/* Takes the tickets that were written anew, and says which are refused. Returns
 * how many were taken. */
unsigned packet_road_look(struct packet_road *p);
void packet_road_renew(struct road *r);
/* What the newest generation is for who steers. */
void packet_road_take_parts(struct packet_road *p);

#endif
