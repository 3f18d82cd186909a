/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why.c - dta-query why: prints each unit that a key may be in, in each epoch,
 * and what is in it; then on stderr what that most likely means.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "query/query.h"
#include "keys.h"
#include "run.h"

enum field {
	KEY,
	COPY,
	UNIT,
	HOLDS,
	CHECKSUM,
	VALUE,
	EPOCH,
	SOURCE,
	TABLE,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[KEY] = {"key", ROW_STR, 0},
	[COPY] = {"copy", ROW_U64, 4},
	[UNIT] = {"unit", ROW_U64, 10},
	[HOLDS] = {"holds", ROW_STR, 11, ROW_TAG},
	[CHECKSUM] = {"checksum", ROW_BYTES, 8, .spare = 1},
	[VALUE] = {"value", ROW_STR, 40},
	[EPOCH] = {"epoch", ROW_U64, 5, .spare = 1},
	[SOURCE] = {"source", ROW_STR, 8, ROW_TAG, .spare = 1},
	[TABLE] = {"table", ROW_STR, 8, ROW_TAG, .spare = 1},
};

/*
 * A key whose units all hold other keys was overwritten or never reported. Of
 * the keys that were stored, 1 - s are overwritten (s: load.average); of those
 * that never were, u^N look the same (u: load.used_share, N copies). With a =
 * load and u = 1 - exp(-N a), 1 - s is the mean of (1 - exp(-N x))^N over the
 * ages x from 0 to a, which is never below u^N / (N + 1), since that over x^N
 * falls with x. So what is seen is at most N + 1 times as likely for a key that
 * was never reported: 3 times with 2 copies, and less the fuller the table. How
 * many of the keys that are asked for were reported is not known; without that,
 * odds of less than 20 to 1 decide nothing, and these are never more than 17.
 * So both figures are shown.
 */

/* What was found out about a key without an answer. */
struct miss {
	bool any;	   /* an epoch could be inspected */
	bool unreadable;   /* some unit could not be read */
	bool reverse;	   /* the other direction of the flow is there */
	unsigned copies;   /* that were inspected */
	unsigned taken;	   /* epochs in which all units hold other keys */
	uint64_t taken_in; /* the newest of them */
	uint64_t gone;	   /* epochs 1 to this are gone; 0: none */
};

enum {
	MISS_TEXT = 512,
};

/* If more of the stored keys are lost, a larger table is advised. */
static const double MANY_GONE = 0.05;

static double or_else(double known, double bound)
{
	return isnan(known) ? bound : known;
}

/* Formats what the load of a table means for its keys. l->used > 0. */
static void format_load(char text[MISS_TEXT], const struct table *t,
			const struct query_load *l)
{
	bool known = !isnan(l->load);
	const char *below = known ? "" : "less than ";

	snprintf(text, MISS_TEXT,
		 "%.3g%% of its %s are in use (load %s%.3g); the oldest key is "
		 "still found with %s%.3g%%, any with %s%.3g%%",
		 100 * l->used_share, table_traits[t->kind].units,
		 known ? "" : "above ", or_else(l->load, l->above), below,
		 100 * or_else(l->success, l->success_below), below,
		 100 * or_else(l->average, l->average_below));
}

/* The cause where all units of the key hold other keys. */
static const char *overwritten_cause(char room[MISS_TEXT], const struct miss *a,
				     const struct query_load *l)
{
	double lost = 1 - or_else(l->average, l->average_below);

	snprintf(room, MISS_TEXT,
		 "whether it was overwritten or never reported cannot be told: "
		 "%s%.3g%% of the keys that were stored are overwritten by "
		 "now, and %.3g%% of those that never were look the same; "
		 "%sa --key-log of dta-translate has what was reported",
		 isnan(l->average) ? "at least " : "", 100 * lost,
		 100 * pow(l->used_share, a->copies),
		 lost >= MANY_GONE ? "make the table larger (dta-plan); " : "");
	return room;
}

/* The likely cause. l: load of the epoch taken_in, or of the newest one; NULL:
 * not known. The text is in room, or a constant. */
static const char *miss_cause(char room[MISS_TEXT], const struct miss *a,
			      const struct query_load *l)
{
	if (!a->any)
		return "there is no epoch to look at";
	if (a->unreadable)
		return "most likely: it is in a damaged block";
	if (a->taken && l)
		return overwritten_cause(room, a, l);
	if (a->taken)
		return "whether it was overwritten or never reported cannot be "
		       "told";
	if (a->reverse)
		return "most likely: only the other direction was reported";
	if (a->gone)
		return "most likely: it was reported in an epoch that is gone, "
		       "or never: one that was stored since leaves none of its "
		       "units empty";
	if (l && !l->used)
		return "most likely: nothing was ever stored in this table: "
		       "does dta-translate write here, and reports of this "
		       "layout?";
	return "most likely: it was never reported, or its reports were lost "
	       "(dta-top shows what a translator that runs has lost): one that "
	       "was stored leaves none of its units empty";
}

struct why {
	struct row_field field[FIELDS];
	struct schema schema;
	const struct opts *o;
	struct query_sources *p;
	struct rows *rows;
	struct show_scratch room;
	char text[RENDER_TEXT_MAX]; /* a value */
	const struct query_targets *targets;
	struct keys keys;
	struct query_ask ask;
	uint64_t found;
};

static void put_row(struct why *w, const struct asked *a,
		    const struct query_epoch *at, unsigned copy,
		    const struct query_unit *l)
{
	const struct table *t = a->target->t;
	unsigned hops = 32u - (unsigned)__builtin_clz(l->known | 1u);
	struct show s;

	row_str(w->rows, KEY, a->text);
	row_u64(w->rows, COPY, copy);
	row_u64(w->rows, UNIT, l->unit);
	row_str(w->rows, HOLDS, query_unit_state_name(l->holds));
	if (l->holds == QUERY_UNIT_OTHER && t->kind == TABLE_KEYWRITE)
		row_bytes(w->rows, CHECKSUM, l->sum, sizeof(l->sum));
	if (l->holds == QUERY_UNIT_KEY && t->kind == TABLE_KEYWRITE) {
		row_bytes(w->rows, CHECKSUM, l->sum, sizeof(l->sum));
		show_for_table(&s, t, opts_show(w->o));
		show_text(&s, &w->room, w->text, sizeof(w->text), l->value,
			  t->value_len);
	} else if (l->holds == QUERY_UNIT_KEY && t->kind == TABLE_POSTCARD) {
		show_path(w->text, l->hop, hops, l->known);
	} else if (l->holds == QUERY_UNIT_KEY) {
		snprintf(w->text, sizeof(w->text), "%" PRIu64, l->count);
	}
	if (l->holds == QUERY_UNIT_KEY)
		row_str(w->rows, VALUE, w->text);
	row_u64(w->rows, EPOCH, at->epoch);
	row_str(w->rows, SOURCE, w->p->source[at->source].name);
	row_str(w->rows, TABLE, t->name);
	row_end_or_exit(w->rows);
}

/* Inspects the key's units in one epoch. */
static void inspect_epoch(struct why *w, const struct asked *a, unsigned epoch,
			  struct miss *s)
{
	const struct query_epoch at = w->p->epoch[epoch];
	struct query_unit l[HASH_COPIES];
	unsigned n = s->copies, others = 0, units = 0;
	struct table_view v;

	if (!query_target_view(&v, w->p, a->target, epoch))
		return;
	query_inspect(l, &v, n, a->key);
	if (query_epoch_stale(w->p, epoch))
		return;
	s->any = true;
	for (unsigned c = 0; c < n; c++) {
		put_row(w, a, &at, c, &l[c]);
		units += l[c].holds != QUERY_UNIT_REPEATED;
		others += l[c].holds == QUERY_UNIT_OTHER;
		s->unreadable |= l[c].holds == QUERY_UNIT_UNREADABLE;
	}
	if (others == units && !s->taken++)
		s->taken_in = at.epoch;
}

static enum query_answer ask_one(struct why *w, const struct query_target *t,
				 const uint8_t *key, struct query_reply *r)
{
	const uint8_t *keys[] = {key};
	struct query_reply *replies[] = {r};

	query_ask_keys(&w->ask, t, keys, 1, replies);
	sources_check(w->p);
	return r->answer;
}

/* Looks up the other direction of a flow. */
static void look_up_reverse(struct why *w, const struct asked *a,
			    struct miss *s)
{
	const struct table *t = a->target->t;
	struct {
		uint8_t headroom[CRC_HEADROOM], key[KEY_MAX];
	} back = {{0}, {0}};
	char text[KEY_TEXT_MAX];
	struct query_reply r;

	if (!key_reverse(back.key, (enum key_type)t->key_type, a->key) ||
	    ask_one(w, a->target, back.key, &r) != QUERY_FOUND)
		return;
	s->reverse = true;
	key_format(text, (enum key_type)t->key_type, back.key, t->key_len);
	cli_warn("%s: the other direction is there, in epoch %llu: %s", a->text,
		 (unsigned long long)r.epoch, text);
}

static void note_gone_epochs(const struct why *w, const struct asked *a,
			     struct miss *s)
{
	uint64_t oldest = UINT64_MAX;

	for (unsigned i = 0; i < w->p->n; i++)
		if (w->p->epoch[i].epoch < oldest)
			oldest = w->p->epoch[i].epoch;
	if (oldest == 1 || oldest == UINT64_MAX || w->o->from.only.text)
		return;
	s->gone = oldest - 1;
	cli_warn(s->gone > 1 ? "%s: epochs 1 to %llu are gone, and what was in "
			       "them"
			     : "%s: epoch %llu is gone, and what was in it",
		 a->text, (unsigned long long)s->gone);
}

/* The load of the epoch in which all units hold other keys, or of the newest
 * one in which anything was stored. */
static bool find_load(const struct why *w, const struct asked *a,
		      const struct miss *s, struct query_load *l,
		      uint64_t *epoch)
{
	struct table_view v;
	bool loaded = false;

	for (unsigned i = 0; i < w->p->n && !(loaded && l->used); i++) {
		*epoch = w->p->epoch[i].epoch;
		if ((s->taken && *epoch != s->taken_in) ||
		    !query_target_view(&v, w->p, a->target, i) || v.memory->far)
			continue;
		if (query_load_of(l, &v, &cli_stop))
			return false;
		loaded = true;
	}
	return loaded;
}

static void explain_answer(struct why *w, const struct asked *a, struct miss *s)
{
	const struct table *t = a->target->t;
	char text[MISS_TEXT];
	struct query_load l;
	struct query_reply r;
	uint64_t epoch = 0;
	bool loaded;
	enum query_answer answer = ask_one(w, a->target, a->key, &r);

	w->found += answer == QUERY_FOUND;
	if (w->o->quiet)
		return;
	if (answer == QUERY_FOUND) {
		cli_warn("%s: found in epoch %llu", a->text,
			 (unsigned long long)r.epoch);
		return;
	}
	cli_warn("%s: %s", a->text, query_answer_name(answer));
	if (answer == QUERY_AMBIGUOUS) {
		cli_warn("%s: most likely: it was reported several times, and "
			 "some of its copies were overwritten since: --policy "
			 "first takes one",
			 a->text);
		return;
	}
	look_up_reverse(w, a, s);
	note_gone_epochs(w, a, s);
	loaded = find_load(w, a, s, &l, &epoch);
	if (loaded && l.used) {
		format_load(text, t, &l);
		cli_warn("%s: table %s, epoch %llu: %s", a->text, t->name,
			 (unsigned long long)epoch, text);
	}
	cli_warn("%s: %s", a->text, miss_cause(text, s, loaded ? &l : NULL));
}

static void explain_key(struct why *w, const struct asked *a)
{
	unsigned copies = w->o->rule.copies;
	struct miss s = {.copies = copies ? copies : a->target->t->copies};

	query_sources_refresh(w->p);
	query_sources_for_key(w->p, a->key, a->target->t->key_len);
	for (unsigned i = 0; i < w->p->n && !cli_stop; i++)
		if (!query_epoch_repeats(w->p, i))
			inspect_epoch(w, a, i, &s);
	rows_flush(w->rows);
	fflush(stdout);
	explain_answer(w, a, &s);
}

/* All tables with keys, or the one that is named. */
static void pick_tables(struct query_targets *t, const struct query_sources *p,
			const char *name)
{
	struct query_targets some;
	struct error err = {""};

	t->n = 0;
	for (const struct verb_row *v = verb_rows; v < verb_rows + VERBS; v++) {
		if (!v->kind ||
		    query_targets_pick(&some, p, v->kind, name, &err) < 0)
			continue;
		memcpy(t->target + t->n, some.target,
		       some.n * sizeof(*some.target));
		t->n += some.n;
	}
	if (t->n)
		return;
	if (!query_targets_pick(&some, p, TABLE_APPEND, name,
				&(struct error){""}))
		cli_refuse("table %s has lists, and no keys to look for: "
			   "dta-dump region --lists tells what each has "
			   "taken, keeps and has lost",
			   some.target[0].t->name);
	cli_fail("%s", err.text);
}

int run_why(const struct opts *o, struct query_sources *p)
{
	struct query_targets *t = malloc(sizeof(*t));
	struct why *w = calloc(1, sizeof(*w));
	int rc;

	if (!t || !w)
		cli_fail("out of memory");
	w->o = o;
	w->p = p;
	w->ask = (struct query_ask){.sources = p, .rule = o->rule};
	w->targets = t;
	pick_tables(t, p, o->table);
	keys_open(&w->keys, &o->keys, t);
	memcpy(w->field, fields, sizeof(fields));
	w->field[KEY].width = keys_column(&o->keys, t);
	w->schema = (struct schema){"why", w->field, FIELDS};
	w->rows = cli_rows(o->format, &w->schema);
	if (!w->rows)
		cli_fail("out of memory");
	while (!cli_stop && keys_next(&w->keys)) {
		for (size_t i = 0; i < w->keys.n && !cli_stop; i++)
			explain_key(w, &w->keys.asked[i]);
	}
	rows_close(w->rows);
	keys_check(&w->keys);
	keys_close(&w->keys);
	rc = w->keys.malformed ? CLI_FAIL : w->found ? CLI_OK : CLI_NOTHING;
	free(w);
	free(t);
	return rc;
}
