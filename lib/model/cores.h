/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cores.h - how a translator goes on to more cores (translate/team.h).
 *
 * n workers have n batches under way. Each takes work_ns of a core for a report
 * and, for every batch before its own but one, join_ns for a batch, to learn
 * which places of memory it touches. Of the steps that one worker at a time is
 * in, the longest takes turn_ns for a report: more than that rate cannot be.
 *
 * An operation waits for its turn if a batch before it touches its place, or
 * seems to: n - 1 footprints of places bits have so many of them set that it
 * does with the chance 1 - e^(-(n - 1) ops batch / places). Then it takes
 * late_ns of a step that is in turn, too. Real meetings are left out: in tables
 * of millions of slots they are few beside these.
 */
#ifndef MODEL_CORES_H
#define MODEL_CORES_H

struct cores_load {
	double alone_ns; /* of one core for a report, without a team */
	double work_ns;	 /* of each of several, with one batch to join */
	double turn_ns;	 /* of that: the longest step in turn */
	double ops;	 /* operations for a report that leave a footprint */
	double late_ns;	 /* of one that waits */
	double join_ns;	 /* of a footprint */
	double batch;	 /* reports of a batch */
	double places;	 /* bits of a footprint */
	double memory_s; /* operations a second that the memory takes; 0: any */
	double touches;	 /* of them for a report */
};

/* What keeps a rate from being higher. */
enum cores_bound {
	CORES_WORK,   /* the cores have no time left */
	CORES_TURN,   /* a step that is in turn, whatever waits */
	CORES_LATE,   /* operations that wait for others, in turn */
	CORES_MEMORY, /* its operations */
};

struct cores_rate {
	double per_s; /* reports */
	double busy;  /* share of its time that a core works, 0..1 */
	double late;  /* share of operations that wait, 0..1 */
	enum cores_bound bound;
};

/* Of n >= 1 cores. */
struct cores_rate cores_at(const struct cores_load *l, unsigned n);

#endif
