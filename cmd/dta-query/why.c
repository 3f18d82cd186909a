/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why.c - dta-query why: prints each unit that a key may be in, in each epoch,
 * and what is in it; then on stderr what that most likely means.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/table.h"
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
	[KEY] = {"key", ROW_STR, 0, .flow = 1},
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
 * the keys that were stored, a share 1 - s is overwritten (s: average of struct
 * query_load); of keys that never were, a share u^N looks the same (u:
 * used_share; N copies). With load a and u = 1 - exp(-N a), 1 - s is the mean
 * of (1 - exp(-N x))^N over the ages x from 0 to a. It is at least u^N / (N +
 * 1), since (1 - exp(-N x))^N / x^N falls as x grows. So the observation is at
 * most N + 1 times as likely for a key that was never reported: 3 times with 2
 * copies, and less in a fuller table. Such odds decide nothing while the share
 * of reported keys among those asked for is unknown, so both figures are shown.
 */

struct miss {
	bool any;	      /* an epoch could be inspected */
	bool unreadable;      /* some unit could not be read */
	bool reverse;	      /* the other direction of the flow is there */
	unsigned copies;      /* inspected in each epoch */
	unsigned occupied;    /* epochs in which all units hold other keys */
	uint64_t occupied_in; /* the newest of them */
	uint64_t gone;	      /* epochs 1 to this are gone; 0: none */
};

enum { MISS_TEXT = 512 }; /* bytes of an explanation */

/* The share of stored keys overwritten from which a larger table is advised. */
static const double MANY_GONE = 0.05;

static double known_or_bound(double known, double bound)
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
		 known ? "" : "above ", known_or_bound(l->load, l->above),
		 below, 100 * known_or_bound(l->success, l->success_below),
		 below, 100 * known_or_bound(l->average, l->average_below));
}

/* The cause where all units of the key hold other keys. */
static const char *overwritten_cause(char room[MISS_TEXT], const struct miss *m,
				     const struct query_load *l)
{
	double lost = 1 - known_or_bound(l->average, l->average_below);

	snprintf(room, MISS_TEXT,
		 "whether it was overwritten or never reported cannot be told: "
		 "%s%.3g%% of the keys that were stored are overwritten by "
		 "now, and %.3g%% of those that never were look the same; "
		 "%sa --key-log of dta-translate has what was reported",
		 isnan(l->average) ? "at least " : "", 100 * lost,
		 100 * pow(l->used_share, m->copies),
		 lost >= MANY_GONE ? "make the table larger (dta-plan); " : "");
	return room;
}

/* Returns the likely cause: room with a text, or a constant. l: load of the
 * epoch occupied_in, or of the newest one; NULL: not known. */
static const char *miss_cause(char room[MISS_TEXT], const struct miss *m,
			      const struct query_load *l)
{
	if (!m->any)
		return "there is no epoch to look at";
	if (m->unreadable)
		return "most likely: it is in a damaged block";
	if (m->occupied && l)
		return overwritten_cause(room, m, l);
	if (m->occupied)
		return "whether it was overwritten or never reported cannot be "
		       "told";
	if (m->reverse)
		return "most likely: only the other direction was reported";
	if (m->gone)
		return "most likely: it was reported in an epoch that is gone, "
		       "or never: one that was stored since leaves none of its "
		       "units empty";
	if (l && !l->used)
		return "most likely: nothing was ever stored in this table: "
		       "does dta-translate write here, and reports of this "
		       "layout?";
	return "most likely: it was never reported, or its reports were lost: "
	       "one that was stored leaves none of its units empty";
}

struct explainer {
	struct row_field field[FIELDS];
	struct schema schema;
	const struct opts *o;
	struct query_sources *p;
	struct rows *rows;
	struct show_scratch room;
	char text[RENDER_TEXT_MAX]; /* of a value */
	struct keys keys;
	struct query_ask ask;
	uint64_t found;
	bool missing; /* some key has no answer */
};

static void put_row(struct explainer *e, const struct parsed_key *k,
		    const struct query_epoch *at, unsigned copy,
		    const struct query_unit *u)
{
	const struct table *t = k->target->t;
	unsigned hops = 32u - (unsigned)__builtin_clz(u->known | 1u);
	struct show s;

	row_str(e->rows, KEY, k->text);
	row_u64(e->rows, COPY, copy);
	row_u64(e->rows, UNIT, u->unit);
	row_str(e->rows, HOLDS, query_unit_states[u->holds]);
	if (u->holds == QUERY_UNIT_OTHER && t->kind == TABLE_KEYWRITE)
		row_bytes(e->rows, CHECKSUM, u->sum, sizeof(u->sum));
	if (u->holds == QUERY_UNIT_KEY && t->kind == TABLE_KEYWRITE) {
		row_bytes(e->rows, CHECKSUM, u->sum, sizeof(u->sum));
		show_for_table(&s, t, opts_show(e->o));
		show_text(&s, &e->room, e->text, sizeof(e->text), u->value,
			  t->value_len);
	} else if (u->holds == QUERY_UNIT_KEY && t->kind == TABLE_POSTCARD) {
		show_path(e->text, u->hop, hops, u->known);
	} else if (u->holds == QUERY_UNIT_KEY) {
		snprintf(e->text, sizeof(e->text), "%" PRIu64, u->count);
	}
	if (u->holds == QUERY_UNIT_KEY)
		row_str(e->rows, VALUE, e->text);
	row_u64(e->rows, EPOCH, at->epoch);
	row_str(e->rows, SOURCE, e->p->source[at->source].name);
	row_str(e->rows, TABLE, t->name);
	cli_row_end(e->rows);
}

static void inspect_epoch(struct explainer *e, const struct parsed_key *k,
			  unsigned epoch, struct miss *m)
{
	const struct query_epoch at = e->p->epoch[epoch];
	struct query_unit u[HASH_COPIES];
	unsigned n = m->copies, others = 0, units = 0;
	struct table_view v;

	if (!query_target_view(&v, e->p, k->target, epoch))
		return;
	query_inspect(u, &v, n, k->key);
	if (query_epoch_stale(e->p, epoch))
		return;
	m->any = true;
	for (unsigned c = 0; c < n; c++) {
		put_row(e, k, &at, c, &u[c]);
		units += u[c].holds != QUERY_UNIT_REPEATED;
		others += u[c].holds == QUERY_UNIT_OTHER;
		m->unreadable |= u[c].holds == QUERY_UNIT_UNREADABLE;
	}
	if (others == units && !m->occupied++)
		m->occupied_in = at.epoch;
}

static enum query_answer ask_one(struct explainer *e,
				 const struct query_target *t,
				 const uint8_t *key, struct query_reply *r)
{
	query_ask_keys(&e->ask, t, &key, 1, &r);
	sources_check(e->p);
	return r->answer;
}

static void look_up_reverse(struct explainer *e, const struct parsed_key *k,
			    struct miss *m)
{
	const struct table *t = k->target->t;
	struct {
		uint8_t headroom[CRC_HEADROOM], key[KEY_MAX];
	} back = {{0}, {0}};
	char text[KEY_TEXT_MAX];
	struct query_reply r;

	if (!key_reverse(back.key, (enum key_type)t->key_type, k->key) ||
	    ask_one(e, k->target, back.key, &r) != QUERY_FOUND)
		return;
	m->reverse = true;
	key_format(text, (enum key_type)t->key_type, back.key, t->key_len);
	cli_warn("%s: the other direction is there, in epoch %llu: %s", k->text,
		 (unsigned long long)r.epoch, text);
}

static void note_gone_epochs(const struct explainer *e,
			     const struct parsed_key *k, struct miss *m)
{
	uint64_t oldest = UINT64_MAX;

	for (unsigned i = 0; i < e->p->n; i++)
		if (e->p->epoch[i].epoch < oldest)
			oldest = e->p->epoch[i].epoch;
	if (oldest == 1 || oldest == UINT64_MAX || e->o->from.only.text)
		return;
	m->gone = oldest - 1;
	cli_warn(m->gone > 1 ? "%s: epochs 1 to %llu are gone, and what was in "
			       "them"
			     : "%s: epoch %llu is gone, and what was in it",
		 k->text, (unsigned long long)m->gone);
}

/* Measures the load of the epoch in which all units hold other keys, or of the
 * newest one in which anything was stored. False: it cannot be measured. */
static bool find_load(const struct explainer *e, const struct parsed_key *k,
		      const struct miss *m, struct query_load *l,
		      uint64_t *epoch)
{
	struct table_view v;
	bool loaded = false;

	for (unsigned i = 0; i < e->p->n && !(loaded && l->used); i++) {
		*epoch = e->p->epoch[i].epoch;
		if ((m->occupied && *epoch != m->occupied_in) ||
		    !query_target_view(&v, e->p, k->target, i) || v.memory->far)
			continue;
		if (query_load_of(l, &v, &cli_stop))
			return false;
		loaded = true;
	}
	return loaded;
}

static void explain_answer(struct explainer *e, const struct parsed_key *k,
			   struct miss *m)
{
	const struct table *t = k->target->t;
	char text[MISS_TEXT];
	struct query_load l;
	struct query_reply r;
	uint64_t epoch = 0;
	bool loaded;
	enum query_answer answer = ask_one(e, k->target, k->key, &r);

	e->found += answer == QUERY_FOUND;
	if (e->o->quiet)
		return;
	if (answer == QUERY_FOUND) {
		cli_warn("%s: found in epoch %llu", k->text,
			 (unsigned long long)r.epoch);
		return;
	}
	e->missing = true;
	cli_warn("%s: %s", k->text, query_answers[answer]);
	if (answer == QUERY_AMBIGUOUS) {
		cli_warn("%s: most likely: it was reported several times, and "
			 "some of its copies were overwritten since: --policy "
			 "first takes one",
			 k->text);
		return;
	}
	look_up_reverse(e, k, m);
	note_gone_epochs(e, k, m);
	loaded = find_load(e, k, m, &l, &epoch);
	if (loaded && l.used) {
		format_load(text, t, &l);
		cli_warn("%s: table %s, epoch %llu: %s", k->text, t->name,
			 (unsigned long long)epoch, text);
	}
	cli_warn("%s: %s", k->text, miss_cause(text, m, loaded ? &l : NULL));
}

static void explain_key(struct explainer *e, const struct parsed_key *k)
{
	unsigned copies = e->o->rule.copies;
	struct miss m = {.copies = copies ? copies : k->target->t->copies};

	query_sources_refresh(e->p);
	query_sources_for_key(e->p, k->key, k->target->t->key_len);
	for (unsigned i = 0; i < e->p->n && !cli_stop; i++)
		if (!query_epoch_repeats(e->p, i))
			inspect_epoch(e, k, i, &m);
	rows_flush(e->rows);
	fflush(stdout);
	explain_answer(e, k, &m);
}

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
	static struct query_targets t; /* too large for the stack */
	static struct explainer e;

	e.o = o;
	e.p = p;
	e.ask = (struct query_ask){.sources = p, .rule = o->rule};
	pick_tables(&t, p, o->table);
	keys_open(&e.keys, &o->keys, &t);
	memcpy(e.field, fields, sizeof(fields));
	e.field[KEY].width = keys_column(&o->keys, &t);
	e.schema = (struct schema){"why", e.field, FIELDS};
	e.rows = cli_rows(o->format, &e.schema);
	while (!cli_stop && keys_next(&e.keys))
		for (size_t i = 0; i < e.keys.n && !cli_stop; i++)
			explain_key(&e, &e.keys.parsed[i]);
	rows_close(e.rows);
	keys_check(&e.keys);
	if (e.missing && !cli_stop)
		tell_way(o);
	keys_close(&e.keys);
	return e.keys.malformed ? CLI_FAIL : e.found ? CLI_OK : CLI_NOTHING;
}
