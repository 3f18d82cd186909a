/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cores.h - how a translator goes on to more cores (threads/threads.h).
 *
 * A report takes one of n cores work_ns, to be decoded and hashed and to be
 * sent to the owner of what it changes, and one, mostly another, receive_ns, to
 * be taken and stored. Nobody waits for another's turn: n cores store n /
 * (work_ns + receive_ns), but for the blocks in which messages go. A batch has
 * at least one for each owner in a round, so with many cores there are more
 * than its messages fill, of block_ns each.
 *
 * Two more bounds: packets are taken from a source by one core at a time,
 * source_ns each; and memory moves so many bytes a second for all.
 */
#ifndef MODEL_CORES_H
#define MODEL_CORES_H

struct cores_load {
	double alone_ns;   /* of one core for a report, without messages */
	double work_ns;	   /* of several: decode and send */
	double receive_ns; /* take and store */
	double source_ns;  /* of work_ns: one core at a time */
	double block_ns;   /* of a block, beside its messages */
	double blocks;	   /* of a batch, as many as messages fill */
	double rounds;	   /* of a batch */
	double batch;	   /* reports of a batch */
	double bytes;	   /* that a report moves in memory */
	double bandwidth;  /* bytes a second that memory moves; 0: any */
};

/* What keeps a rate from being higher. */
enum cores_bound {
	CORES_WORK,   /* the cores have no time left */
	CORES_SOURCE, /* one core at a time takes packets */
	CORES_MEMORY, /* its bandwidth */
};

struct cores_rate {
	double per_s;	/* reports */
	double speedup; /* times one core's rate */
	enum cores_bound bound;
};

/* Of n >= 1 cores. */
struct cores_rate cores_at(const struct cores_load *l, unsigned n);

#endif
