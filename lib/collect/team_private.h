/* SPDX-License-Identifier: BSD-2-Clause */
/* team_private.h - the team's state, for its own files. */
#ifndef COLLECT_TEAM_PRIVATE_H
#define COLLECT_TEAM_PRIVATE_H

#include "collect/seat.h"
#include "collect/team.h"
#include "team/relay.h"

enum team_step {
	PASS,
	ORDER,
	STEPS,
};

enum {
	CHUNK = INTAKE_VIEWS, /* views that are read at once */
};

/* What a shard's views of a batch tell: telemetry/shard.h. The shard's worker
 * writes while others write theirs. */
struct notes {
	uint32_t *word;
	size_t used, room;
	struct said *said; /* what is to be judged of it */
	size_t said_n, said_room;
} __attribute__((aligned(TEAM_LINE)));

/* What others read stands apart from what the worker writes meanwhile. */
struct worker {
	struct batch batch;
	uint64_t before; /* items of the batches before this one */
	size_t n;
	const struct pkt *pkts;
	struct telemetry *shard; /* NULL: all is whole */
	struct seat *seat;
	unsigned number;
	struct intake_ledger frames; /* as of its last batch; in turn of pass */
	struct notes notes[TELEMETRY_SHARDS_MAX]; /* by shard, of the batch */
	struct turn done;   /* batches of which the shard has taken its part */
	struct turn sifted; /* rounds of which it has told what is judged */
	struct collect_share share;
	struct int_view view[CHUNK]; /* that were read */
	struct telemetry_turn turn[CHUNK];
	struct pkt room[PKT_BATCH];
} __attribute__((aligned(TEAM_LINE)));

struct collect_team {
	struct relay relay;
	struct collect_team_options o;
	struct telemetry *t;
	bool resting;
	int error; /* the first; atomic */
	struct intake_ledger counters;
	/* In turn of pass: items so far, and the time. */
	uint64_t items, now_ns, keep_ns;
	uint64_t gathered;  /* items of which the whole knows the latest */
	struct seats seats; /* where the shards are, by worker */
	struct worker *worker[TELEMETRY_SHARDS_MAX];
	struct telemetry *shard[TELEMETRY_SHARDS_MAX]; /* theirs */
	unsigned shards;			       /* as many, or none */
};

static inline int error_of(const struct collect_team *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

/* A batch that is not full came live: nobody is to wait for more of them. */
static inline bool is_full(const struct worker *w)
{
	return w->n == PKT_BATCH;
}

/* part.c: the worker's shard's views of a batch, which is another's, too. */
int part_take(struct worker *w, struct worker *of);
/* Then, of its round: all shards have taken their views, and the whole rests.
 * What of a batch is to be judged goes to its notes. */
int part_sift(struct collect_team *c, struct worker *w);

/* order.c: in turn, what all shards' views of a batch tell. */
int order_judge(struct collect_team *c, struct worker *w);
/* The same of all that is not shared out. */
int order_take(struct collect_team *c, struct worker *w);

#endif
