/* SPDX-License-Identifier: BSD-2-Clause */
/* bulk.c - keywrite, path, count: reads keys and prints a row for each, in
 * their order; with one thread, or with several (-j). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/table.h"
#include "run.h"
#include "threads/threads.h"

/* Columns: a key and its answer; the subcommand's; the answer's origin. */
enum {
	KEY,
	ANSWER,
	VERB_COLUMN,
	KW_VALUE = VERB_COLUMN,
	KW_AGREED,
	KW_MATCHED,
	PATH_PATH = VERB_COLUMN,
	PATH_HOPS,
	PATH_AGREED,
	PATH_VALID,
	PATH_HOLES,
	COUNT_COUNT = VERB_COLUMN,
	VERB_COLUMNS_MAX = 5,
	ORIGIN_FIELDS = 4, /* copies, epoch, source, table */
};

_Static_assert((int)VERB_COLUMN + (int)VERB_COLUMNS_MAX + (int)ORIGIN_FIELDS <=
		       (int)VALUES_FIELDS,
	       "room for all columns of any subcommand");

static const struct row_field key_fields[VERB_COLUMN] = {
	[KEY] = {"key", ROW_STR, 0, .flow = 1},
	[ANSWER] = {"answer", ROW_STR, 10, .good = "found"},
};

static const struct row_field origin_fields[ORIGIN_FIELDS] = {
	{"copies", ROW_U64, 6, .spare = 1},
	{"epoch", ROW_U64, 5, .spare = 1},
	{"source", ROW_STR, 8, ROW_TAG, .spare = 1},
	{"table", ROW_STR, 8, ROW_TAG, .spare = 1},
};

static const struct row_field summary_fields[] = {
	{"asked", ROW_U64, 10},
	{"found", ROW_U64, 10},
	{"not_found", ROW_U64, 10, .good = "0"},
	{"ambiguous", ROW_U64, 10, .good = "0"},
	{"unreadable", ROW_U64, 10, .good = "0"},
	{"malformed", ROW_U64, 10, .good = "0"},
};

static const struct schema summary_rows = {"keys", summary_fields, 6};

struct bulk {
	const struct opts *o;
	const struct answer_columns *columns;
	struct rows *rows;
	struct values values; /* the columns of the verb */
	struct keys keys;
	struct query_reply reply[QUERY_BATCH];
	uint64_t answers[QUERY_UNREADABLE + 1];
	uint64_t impaired; /* answered, though some copies are unreadable */
	/* With -j: rows of a part of the keys, printed in order of parts. */
	FILE *out;
	char *text;
	size_t len;
};

static void set_keywrite(struct bulk *b, const struct parsed_key *k,
			 const struct query_reply *r)
{
	struct rows *rows = b->rows;

	if (r->answer == QUERY_FOUND)
		values_set(&b->values, rows, k->target, r->value);
	row_u64(rows, values_field(&b->values, KW_AGREED), r->agreed);
	row_u64(rows, values_field(&b->values, KW_MATCHED), r->matched);
}

static void set_path(struct bulk *b, const struct parsed_key *k,
		     const struct query_reply *r)
{
	const struct query_path *p = &r->path;
	struct rows *rows = b->rows;
	uint64_t node[HASH_HOPS], hole[HASH_HOPS];
	size_t holes = 0;

	(void)k;
	for (uint32_t i = 0; i < HASH_HOPS; i++)
		if (p->holes >> i & 1)
			hole[holes++] = i;
	for (uint32_t i = 0; i < p->len; i++)
		node[i] = p->value[i];
	if (r->answer == QUERY_FOUND) {
		row_list(rows, PATH_PATH, node, p->len);
		row_u64(rows, PATH_HOPS, p->len);
		row_list(rows, PATH_HOLES, hole, holes);
	}
	row_u64(rows, PATH_AGREED, r->agreed);
	row_u64(rows, PATH_VALID, r->source ? p->valid : 0);
}

static void set_count(struct bulk *b, const struct parsed_key *k,
		      const struct query_reply *r)
{
	(void)k;
	if (r->answer == QUERY_FOUND)
		row_u64(b->rows, COUNT_COUNT, r->count);
	else if (r->answer == QUERY_NOT_FOUND)
		row_u64(b->rows, COUNT_COUNT, 0);
}

static const struct answer_columns {
	void (*set)(struct bulk *b, const struct parsed_key *k,
		    const struct query_reply *r);
	unsigned n;
	struct row_field field[VERB_COLUMNS_MAX];
} answer_columns[] = {
	[VERB_KEYWRITE] = {set_keywrite,
			   3,
			   {{"value", ROW_BYTES, 16},
			    {"agreed", ROW_U64, 6, .spare = 1},
			    {"matched", ROW_U64, 7, .spare = 1}}},
	[VERB_PATH] = {set_path,
		       5,
		       {{"path", ROW_LIST, 24},
			{"hops", ROW_U64, 4, .spare = 1},
			{"agreed", ROW_U64, 6, .spare = 1},
			{"valid", ROW_U64, 5, .spare = 1},
			{"holes", ROW_LIST, 5}}},
	[VERB_COUNT] = {set_count, 1, {{"count", ROW_U64, 12}}},
};

/* The column copies shows --copies, or else the table's copies. More slots may
 * have been read, since a report may ask for more copies than its table does.
 */
static void print_row(struct bulk *b, const struct parsed_key *k,
		      const struct query_reply *r)
{
	unsigned copies = values_field(&b->values, VERB_COLUMN + b->columns->n);

	row_str(b->rows, KEY, k->text);
	row_str(b->rows, ANSWER, query_answers[r->answer]);
	b->columns->set(b, k, r);
	row_u64(b->rows, copies,
		b->o->rule.copies ? r->copies : k->target->t->copies);
	if (r->source)
		row_u64(b->rows, copies + 1, r->epoch);
	row_str(b->rows, copies + 2, r->source);
	row_str(b->rows, copies + 3, k->target->t->name);
	cli_row_end(b->rows);
}

static void print_batch(struct bulk *b)
{
	for (size_t i = 0; i < b->keys.n; i++) {
		const struct query_reply *r = &b->reply[i];

		b->answers[r->answer]++;
		b->impaired += r->unreadable && r->answer != QUERY_UNREADABLE;
		if (!b->o->summary)
			print_row(b, &b->keys.parsed[i], r);
	}
}

/* Looks up the keys of a batch, table by table. */
static void ask_batch(struct bulk *b, struct query_sources *p)
{
	const struct query_targets *t = b->keys.targets;
	struct query_ask ask = {.sources = p, .rule = b->o->rule};

	for (unsigned k = 0; k < t->n; k++) {
		const uint8_t *key[QUERY_BATCH];
		struct query_reply *reply[QUERY_BATCH];
		size_t n = 0;

		for (size_t i = 0; i < b->keys.n; i++) {
			if (b->keys.parsed[i].target != &t->target[k])
				continue;
			key[n] = b->keys.parsed[i].key;
			reply[n++] = &b->reply[i];
		}
		if (n)
			query_ask_keys(&ask, &t->target[k], key, n, reply);
	}
}

static struct bulk *bulk_open(const struct opts *o,
			      const struct query_targets *t)
{
	const struct answer_columns *columns = &answer_columns[o->verb];
	struct row_field field[VALUES_FIELDS];
	const struct schema s = {verb_rows[o->verb].name, field,
				 VERB_COLUMN + columns->n + ORIGIN_FIELDS};
	struct bulk *b = cli_allocated(calloc(1, sizeof(*b)));
	struct values *v;

	b->o = o;
	b->columns = columns;
	memcpy(field, key_fields, sizeof(key_fields));
	memcpy(field + VERB_COLUMN, columns->field,
	       columns->n * sizeof(*field));
	memcpy(field + VERB_COLUMN + columns->n, origin_fields,
	       sizeof(origin_fields));
	v = &b->values;
	if (o->verb == VERB_KEYWRITE) {
		values_open(v, &s, KW_VALUE, opts_show(o),
			    o->format == ROW_TEXT, t);
	} else {
		memcpy(v->field, field, sizeof(field));
		v->schema = (struct schema){s.name, v->field, s.n};
	}
	v->field[KEY].width = keys_column(&o->keys, t);
	return b;
}

static void print_summary(struct bulk *b, uint64_t malformed)
{
	uint64_t asked = malformed;

	for (unsigned i = 0; i <= QUERY_UNREADABLE; i++) {
		asked += b->answers[i];
		row_u64(b->rows, 1 + i, b->answers[i]);
	}
	row_u64(b->rows, 0, asked);
	row_u64(b->rows, 2 + QUERY_UNREADABLE, malformed);
	cli_row_end(b->rows);
}

static void ask_serial(struct bulk *b, struct query_sources *p)
{
	while (!cli_stop && keys_next(&b->keys)) {
		ask_batch(b, p);
		sources_check(p);
		if (cli_stop && p->incomplete)
			break; /* the lookup was interrupted */
		print_batch(b);
		/* The program that writes a pipe may wait for answers. */
		if (b->keys.n < QUERY_BATCH && b->keys.from.file &&
		    !b->keys.lines.regular)
			rows_flush(b->rows);
	}
}

/* A worker thread, with its own sources, and parts in progress; kept to the
 * program's end. */
struct worker {
	struct query_sources sources;
	struct query_targets targets;
	struct bulk *part[THREADS_PLACES];
};

struct parallel {
	struct threads *threads;
	struct bulk *all;
	int more; /* for fill_part(): 1; 0: there are no more keys; -errno */
	bool header_printed;
	struct worker *worker[CORES_MAX];
};

static bool fill_part(void *ctx, const struct threads_batch *b)
{
	struct parallel *a = ctx;
	struct bulk *part = a->worker[b->worker]->part[b->place];

	if (cli_stop)
		a->more = 0;
	if (a->more > 0)
		a->more = keys_part_fill(&a->all->keys, &part->keys);
	return a->more > 0;
}

static bool ask_part(void *ctx, const struct threads_batch *b, unsigned round)
{
	struct parallel *a = ctx;
	struct worker *w = a->worker[b->worker];
	struct bulk *part = w->part[b->place];

	if (round)
		return false;
	while (keys_next(&part->keys)) {
		ask_batch(part, &w->sources);
		print_batch(part);
	}
	rows_flush(part->rows);
	/* Worker 0 prints it. */
	*threads_send(threads_outs(a->threads, b->worker), 1) = b->place;
	return false;
}

/* Called in worker 0: prints a part's rows, and adds its counts to all. */
static void print_part(void *ctx, unsigned owner,
		       const struct threads_block *in)
{
	struct parallel *a = ctx;
	struct bulk *part = a->worker[in->from.worker]->part[in->word[0]];
	struct bulk *all = a->all;

	(void)owner;
	if (part->len && !a->header_printed)
		rows_head(all->rows);
	a->header_printed |= part->len > 0;
	if (fwrite(part->text, 1, part->len, stdout) != part->len)
		cli_fail("%s: %s", cli_stdout, strerror(errno));
	for (unsigned i = 0; i <= QUERY_UNREADABLE; i++)
		all->answers[i] += part->answers[i];
	all->impaired += part->impaired;
	memset(part->answers, 0, sizeof(part->answers));
	part->impaired = 0;
	rewind(part->out);
	keys_part_join(&all->keys, &part->keys);
}

static struct worker *worker_open(const struct opts *o)
{
	struct worker *w = cli_allocated(calloc(1, sizeof(*w)));

	sources_open(&w->sources, o);
	sources_pick(&w->targets, &w->sources, verb_rows[o->verb].kind,
		     o->table);
	for (unsigned i = 0; i < THREADS_PLACES; i++) {
		struct bulk *part = w->part[i] = bulk_open(o, &w->targets);

		part->out = cli_allocated(
			open_memstream(&part->text, &part->len));
		part->rows = cli_allocated(rows_print(
			part->out, o->format, &part->values.schema, false));
		if (keys_part_open(&part->keys, &w->targets) < 0)
			cli_fail("out of memory");
	}
	return w;
}

static void ask_parallel(struct bulk *all)
{
	static struct parallel a = {.more = 1};
	const struct threads_options o = {
		.workers = (unsigned)all->o->cores,
		.rounds = 1,
		.take = fill_part,
		.work = ask_part,
		.receive = print_part,
		.ctx = &a,
	};
	struct error err = {""};

	a.all = all;
	for (unsigned i = 0; i < o.workers; i++)
		a.worker[i] = worker_open(all->o);
	if (threads_open(&a.threads, &o, &err) < 0)
		cli_fail("%s", err.text);
	while (a.more > 0) {
		const struct threads_batch b = {
			.place = threads_place(a.threads)};

		if (threads_go(a.threads, fill_part(&a, &b), true) < 0)
			cli_fail("out of memory");
	}
	threads_close(a.threads);
	lines_check(&all->keys.lines, a.more);
}

/* Threads do not help where other machines are waited for. A pipe's writer may
 * wait for each answer; and columns on a terminal are measured over all rows.
 */
static bool is_parallel(const struct bulk *b, const struct query_sources *p)
{
	const struct opts *o = b->o;

	return o->cores > 1 && o->keys.file && b->keys.lines.regular &&
	       !p->clustered && !o->from.verbs &&
	       (o->summary || o->format != ROW_TEXT || !isatty(STDOUT_FILENO));
}

int run_keys(const struct opts *o, struct query_sources *p)
{
	static struct query_targets t; /* too large for the stack */
	struct bulk *b;
	int rc;

	sources_pick(&t, p, verb_rows[o->verb].kind, o->table);
	b = bulk_open(o, &t);
	keys_open(&b->keys, &o->keys, &t);
	b->rows = cli_rows(o->format,
			   o->summary ? &summary_rows : &b->values.schema);
	if (is_parallel(b, p))
		ask_parallel(b);
	else
		ask_serial(b, p);
	keys_check(&b->keys);
	if (o->summary)
		print_summary(b, b->keys.malformed);
	rows_close(b->rows);
	keys_close(&b->keys);
	/* Warn of damage even where other copies gave an answer. */
	if (b->impaired && !o->quiet)
		cli_warn("damaged blocks: %llu keys were answered without some "
			 "of their copies, %llu cannot be read",
			 (unsigned long long)b->impaired,
			 (unsigned long long)b->answers[QUERY_UNREADABLE]);
	rc = b->keys.malformed	       ? CLI_FAIL
	     : b->answers[QUERY_FOUND] ? CLI_OK
				       : CLI_NOTHING;
	free(b);
	return rc;
}
