/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"

static const uint64_t look_ns = UINT64_C(100000000);
static const uint64_t answering_ns = UINT64_C(2000000000); /* a few probes */
static const uint64_t patience_ns = UINT64_C(5000000000); /* for any progress */
/* Without a look for so long, we were stopped: nothing is known. */
static const uint64_t away_ns = UINT64_C(1000000000);

enum state {
	WELL,
	SILENT,	 /* no answer */
	VAIN,	 /* answers, of which none confirms anything */
	REFUSED, /* a table's queue pair is closed */
};

/* Of a collector that answers, or should. */
struct standing {
	enum state state;
	unsigned stuck;	  /* the table that this was said of, */
	uint64_t acked;	  /* and what of it was confirmed then */
	uint64_t answers; /* so far, and when they were found to be more */
	uint64_t heard_ns;
	struct {
		uint64_t acked, since_ns;
		bool refused;
	} table[TABLE_MAX];
};

struct watch {
	const struct opts *o;
	struct target *g;
	struct translator *const *t;
	const struct src *s;
	struct cli_stats *stats;
	uint64_t looked_ns;
	struct standing standing[FLEET_MAX];
};

/* The columns of --stats behind the ledger's. */
enum {
	MISSING,
	ACKED,
	REFUSED_OR_LOST,
	WAITING,
	COLUMNS,
};

static const struct cli_stats_column columns[COLUMNS] = {
	[MISSING] = {NULL, "missing_s", false},
	[ACKED] = {"acked", "acked_s", false},
	[REFUSED_OR_LOST] = {"refused", "refused_s", false},
	[WAITING] = {"waiting", "waiting", true},
};

/* What became of all that was sent, or should have been. */
struct account {
	bool known; /* somebody tells */
	uint64_t sent, acked, waiting;
};

/* Key-Write by DART's road has no window, nor has UC. */
static bool is_confirmed(const struct watch *w)
{
	const struct target *g = w->g;

	for (unsigned i = 0; i < g->n && g->heard; i++)
		if (g->table[i].qp == TABLE_QP_RC &&
		    !(w->o->dart && g->table[i].kind == TABLE_KEYWRITE))
			return true;
	return false;
}

static struct account account_packets(const struct watch *w)
{
	struct account a = {.known = is_confirmed(w)};
	struct roce_out *roce[FLEET_MAX];
	unsigned n = a.known ? target_roces(w->g, roce) : 0;

	for (unsigned i = 0; i < n; i++) {
		struct requester_ledger l = roce_out_ledger(roce[i]);

		a.sent += l.requests - l.uc;
		a.acked += l.acked;
		for (unsigned k = 0; k < w->g->n; k++)
			a.waiting += roce_out_progress(roce[i], k).waiting;
	}
	return a;
}

static struct account account_verbs(const struct watch *w)
{
	const struct verbs_road_ledger *l = verbs_road_counters(w->g->verbs);
	struct account a = {true, l->received, l->completed, l->received};

	for (unsigned i = 0; i < verbs_road_ledger.n; i++) {
		uint8_t role = verbs_road_ledger.fields[i].role;

		if (role == LEDGER_DONE || role == LEDGER_DROP)
			a.waiting -= ledger_get(&verbs_road_ledger, l, i);
	}
	return a;
}

static struct account account_of(const struct watch *w)
{
	return w->g->verbs ? account_verbs(w) : account_packets(w);
}

static void read_columns(void *ctx, uint64_t *value)
{
	const struct watch *w = ctx;
	struct account a;

	if (w->g->verbs)
		verbs_road_reap(w->g->verbs);
	a = account_of(w);
	value[MISSING] = translate_counters(*w->t)->missing;
	value[ACKED] = value[REFUSED_OR_LOST] = value[WAITING] =
		CLI_STATS_UNKNOWN;
	if (!a.known)
		return;
	value[ACKED] = a.acked;
	value[REFUSED_OR_LOST] = a.sent - a.acked - a.waiting;
	value[WAITING] = a.waiting;
}

struct watch *watch_open(const struct opts *o, struct target *g,
			 struct translator *const *t, const struct src *s)
{
	struct cli_stats_more more = {NULL, columns, COLUMNS, read_columns,
				      NULL};
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		cli_fail("out of memory");
	w->o = o;
	w->g = g;
	w->t = t;
	w->s = s;
	more.ctx = w;
	w->stats = cli_stats_open(&translate_ledger, o->live.stats_ns,
				  o->format, &more);
	return w;
}

static const char *address(const struct ticket *t, const uint8_t *ip)
{
	static char text[2][TEXT_IP_MAX];
	static unsigned turn;

	turn = !turn;
	return text_of_ip(text[turn], t->version, ip);
}

/* What is wrong with a collector, and what to do about it. */
static const char *complaint(const struct ticket *t, enum state state,
			     unsigned table, const char *nothing)
{
	const char *who = address(t, t->ip);
	static char text[512];

	if (state == REFUSED)
		snprintf(text, sizeof(text),
			 "%s: table %.*s is refused: is the ticket out of "
			 "date? dta-collect writes it anew; a copy of it has "
			 "to be copied again",
			 who, TABLE_NAME_MAX, t->table[table].name);
	else if (state == VAIN)
		snprintf(text, sizeof(text),
			 "%s: %s, though it answers: do packets with %u bytes "
			 "of payload get there? dta-collect --mtu makes them "
			 "shorter",
			 who, nothing, t->mtu);
	else
		snprintf(text, sizeof(text),
			 "%s: %s: no answer: is dta-collect running there, "
			 "with --peer-ip %s and this ticket?",
			 who, nothing, address(t, t->peer_ip));
	return text;
}

/*
 * A table that has waited too long for any progress, TABLE_MAX: none has. One
 * that is refused goes before others.
 */
static unsigned stuck_table(struct standing *st, const struct roce_out *o,
			    unsigned tables, uint64_t now, bool away)
{
	unsigned stuck = TABLE_MAX;

	for (unsigned i = 0; i < tables; i++) {
		struct roce_out_progress at = roce_out_progress(o, i);
		bool renewed = st->table[i].refused && !at.refused;

		if (away || renewed || !at.waiting ||
		    at.acked != st->table[i].acked)
			st->table[i].since_ns = now;
		else if (now - st->table[i].since_ns >= patience_ns &&
			 (stuck == TABLE_MAX || at.refused))
			stuck = i;
		st->table[i].acked = at.acked;
		st->table[i].refused = at.refused;
	}
	return stuck;
}

/* Whether an answer came of late, be it what it may. */
static bool is_answering(struct standing *st, const struct roce_out *o,
			 uint64_t now)
{
	struct requester_ledger l = roce_out_ledger(o);
	uint64_t answers = l.acks + l.naks_psn + l.naks_access +
			   l.naks_invalid + l.naks_rnr;

	if (answers != st->answers)
		st->heard_ns = now;
	st->answers = answers;
	return now - st->heard_ns < answering_ns;
}

/* waits: reports do, as of a file, where a collector takes none. */
static void look_at(struct standing *st, const struct roce_out *o,
		    unsigned tables, uint64_t now, bool away, bool waits)
{
	const struct ticket *t = roce_out_ticket(o);
	unsigned stuck = stuck_table(st, o, tables, now, away);
	enum state state = is_answering(st, o, now) ? VAIN : SILENT;

	if (stuck == TABLE_MAX) /* or nothing waits: that is no cure */
		state = roce_out_progress(o, st->stuck).acked != st->acked
				? WELL
				: st->state;
	else if (roce_out_progress(o, stuck).refused)
		state = REFUSED;
	else if (st->state == SILENT || st->state == VAIN)
		state = st->state; /* said is said */
	if (state == st->state)
		return;
	st->state = state;
	if (state == WELL) {
		cli_warn("%s: requests are acknowledged now",
			 address(t, t->ip));
		return;
	}
	if (state != REFUSED || !roce_out_stale(o)) /* target_look() says it */
		cli_warn("%s%s",
			 complaint(t, state, stuck, "nothing is acknowledged"),
			 waits && state == SILENT
				 ? " Reports are left unread while the window "
				   "is full: start it, or interrupt this"
				 : "");
	st->stuck = stuck;
	st->acked = roce_out_progress(o, stuck).acked;
}

void watch_look(struct watch *w)
{
	uint64_t now = clock_ns(), took = now - w->looked_ns;
	struct roce_out *roce[FLEET_MAX];
	unsigned n;

	cli_stats_tick(w->stats, translate_counters(*w->t), w->s);
	if (!w->g->heard || took < look_ns)
		return;
	w->looked_ns = now;
	n = target_roces(w->g, roce);
	for (unsigned i = 0; i < n; i++)
		look_at(&w->standing[i], roce[i], w->g->n, now, took > away_ns,
			!w->o->live.name);
}

/* The first collector that nothing was heard of, or that refuses. */
static const char *why_packets(const struct watch *w)
{
	static const char nothing[] = "nothing was acknowledged of all that "
				      "was sent";
	struct roce_out *roce[FLEET_MAX];
	unsigned n = target_roces(w->g, roce);

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < w->g->n; k++) {
			struct roce_out_progress at = roce_out_progress(roce[i],
									k);

			if (at.waiting)
				return complaint(roce_out_ticket(roce[i]),
						 at.refused ? REFUSED : SILENT,
						 k, nothing);
		}
	return nothing;
}

/* By the reason of most. */
static const char *why_verbs(const struct watch *w)
{
	const struct verbs_road_ledger *l = verbs_road_counters(w->g->verbs);
	static char text[400];
	const char *name = "";
	uint64_t most = 0;

	for (unsigned i = 0; i < verbs_road_ledger.n; i++) {
		uint64_t v = ledger_get(&verbs_road_ledger, l, i);

		if (verbs_road_ledger.fields[i].role != LEDGER_DROP ||
		    v <= most)
			continue;
		most = v;
		name = verbs_road_ledger.fields[i].name;
	}
	snprintf(text, sizeof(text),
		 "%.200s: nothing was acknowledged of all that was sent: %ju "
		 "operations are %s: see "
		 "FROM HOST TO HOST in dta-translate(1)",
		 w->o->verbs, (uintmax_t)most, name);
	return text;
}

const char *watch_close(struct watch *w)
{
	const char *why = NULL;
	struct account a;

	if (w->g->verbs)
		verbs_road_settle(w->g->verbs);
	a = account_of(w);
	if (a.known && a.sent && !a.acked)
		why = w->g->verbs ? why_verbs(w) : why_packets(w);
	cli_stats_close(w->stats, translate_counters(*w->t), w->s);
	free(w);
	return why;
}
