/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c - list: prints entries of lists, oldest first; -f: as they come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/text.h"
#include "cli/table.h"
#include "run.h"
#include "net/be.h"

enum {
	LISTS_PER_REFRESH = 256, /* how often a cluster's epochs are read */
	POLL_NS = 100000000,
	POLLS_PER_CHECK = 10, /* how often to check that the region exists */
	LAST_DEFAULT = 10,    /* entries that -f begins with, as tail(1) */
};

enum entry_field {
	ENTRY_LIST,
	ENTRY_INDEX,
	ENTRY_VALUE,
	ENTRY_EPOCH,
	ENTRY_SOURCE,
	ENTRY_TABLE,
	ENTRY_FIELDS,
};

static const struct row_field entry_fields[ENTRY_FIELDS] = {
	[ENTRY_LIST] = {"list", ROW_U64, 6},
	[ENTRY_INDEX] = {"index", ROW_U64, 10},
	[ENTRY_VALUE] = {"value", ROW_BYTES, 36},
	[ENTRY_EPOCH] = {"epoch", ROW_U64, 5, .spare = 1},
	[ENTRY_SOURCE] = {"source", ROW_STR, 8, ROW_TAG, .spare = 1},
	[ENTRY_TABLE] = {"table", ROW_STR, 8, ROW_TAG, .spare = 1},
};

static const struct schema entry_schema = {"entry", entry_fields, ENTRY_FIELDS};

struct entries {
	const struct opts *o;
	struct query_sources *p;
	struct query_targets targets;
	struct rows *rows;
	struct values values; /* the columns */
	uint32_t *list;	      /* ids asked for, */
	unsigned lists;	      /* and their number; 0: all that hold entries */
	uint64_t printed, lost, unreadable;
	bool damaged; /* some entries could not be read */
	struct list_buf buf;
};

static void parse_lists(struct entries *e)
{
	const struct opts *o = e->o;
	const struct table *t = e->targets.target[0].t; /* with most lists */

	for (unsigned i = 1; i < e->targets.n; i++)
		if (e->targets.target[i].t->lists > t->lists)
			t = e->targets.target[i].t;
	e->list = cli_allocated(
		calloc((size_t)o->keys.nargs + 1, sizeof(e->list[0])));
	for (int i = 0; i < o->keys.nargs; i++) {
		uint64_t id;

		if (!text_u64(&id, o->keys.args[i], t->lists - 1))
			cli_refuse("list: '%s' is not a list's number: table "
				   "%s has lists 0 to %u",
				   o->keys.args[i], t->name, t->lists - 1);
		e->list[e->lists++] = (uint32_t)id;
	}
}

static void close_entries(struct entries *e)
{
	int rc = rows_flush(e->rows);

	rows_close(e->rows);
	if (rc < 0)
		cli_fail("%s: %s", cli_stdout, strerror(-rc));
	if (e->unreadable)
		cli_warn("%ju entries, %ju lost, %ju unreadable",
			 (uintmax_t)e->printed, (uintmax_t)e->lost,
			 (uintmax_t)e->unreadable);
	else if (!e->o->quiet)
		cli_warn("%ju entries, %ju lost", (uintmax_t)e->printed,
			 (uintmax_t)e->lost);
}

/* The next list of t to print; moves *at past it. False at the end. */
static bool next_list(const struct entries *e, const struct table *t,
		      uint32_t *at, uint32_t *list)
{
	if (!e->lists) {
		*list = *at;
		return (*at)++ < t->lists;
	}
	while (*at < e->lists) {
		*list = e->list[(*at)++];
		if (*list < t->lists)
			return true;
	}
	return false;
}

/* Warns that a list cannot be read; exits if its source cannot. */
static void warn_unreadable(struct entries *e, unsigned epoch,
			    const struct table *t, uint32_t list, int rc)
{
	e->damaged = true;
	if (query_source_failed(e->p, e->p->epoch[epoch].source))
		sources_check(e->p);
	else
		cli_warn("%s: list %u: %s", t->name, list,
			 rc == -EBADMSG ? "a damaged block" : strerror(-rc));
}

/* The number of a list's entries; 0 if it cannot be read. */
static uint64_t count_entries(struct entries *e, unsigned epoch,
			      const struct table_view *v, uint32_t list)
{
	uint64_t n;
	int rc = query_list_count(&n, v, list);

	if (rc == 0)
		return n;
	warn_unreadable(e, epoch, v->t, list, rc);
	return 0;
}

static void print_rows(struct entries *e, const struct query_target *target,
		       const struct query_epoch *at, uint32_t list,
		       uint64_t index, uint64_t n)
{
	const struct table *t = target->t;
	struct rows *r = e->rows;

	for (uint64_t i = 0; i < n; i++) {
		row_u64(r, ENTRY_LIST, list);
		row_u64(r, ENTRY_INDEX, index + i);
		values_set(&e->values, r, target,
			   e->buf.bytes + i * t->value_len);
		row_u64(r, values_field(&e->values, ENTRY_EPOCH), at->epoch);
		row_str(r, values_field(&e->values, ENTRY_SOURCE),
			e->p->source[at->source].name);
		row_str(r, values_field(&e->values, ENTRY_TABLE), t->name);
		cli_row_end(r);
	}
	e->printed += n;
}

uint64_t list_buf_reserve(struct list_buf *b, const struct table_view *v,
			  uint64_t n)
{
	uint64_t some = query_list_at_once(v, n);
	size_t len = (size_t)(some * v->t->value_len);

	if (len > b->len) {
		b->bytes = cli_allocated(realloc(b->bytes, len));
		b->len = len;
	}
	return some;
}

/* Prints the entries [from, until) of a list, and adds those that are
 * overwritten to *lost. Returns where it stopped: until, or the list's end. */
static uint64_t print_entries(struct entries *e, unsigned target,
			      unsigned epoch, const struct table_view *v,
			      uint32_t list, uint64_t from, uint64_t until,
			      uint64_t *lost)
{
	const struct query_epoch at = e->p->epoch[epoch];
	uint64_t next, gone;
	bool warned = false;

	while (from < until && !cli_stop) {
		uint64_t want = list_buf_reserve(&e->buf, v, until - from);
		int64_t n = query_list_read(v, list, from, e->buf.bytes, want,
					    &next, &gone);

		if (n < 0) {
			if (!warned)
				warn_unreadable(e, epoch, v->t, list, (int)n);
			warned = true;
			/* What is behind a damaged block is read. */
			if (n != -EBADMSG || next == from)
				next = until;
			*lost += gone;
			e->unreadable += next - from - gone;
			from = next;
			continue;
		}
		if (query_epoch_stale(e->p, epoch)) {
			*lost += until - from; /* cleared meanwhile */
			e->damaged |= query_source_failed(e->p, at.source);
			sources_check(e->p);
			return until;
		}
		*lost += gone;
		if (!n && !gone)
			return next;
		print_rows(e, &e->targets.target[target], &at, list,
			   next - (uint64_t)n, (uint64_t)n);
		from = next;
	}
	return from;
}

struct list_epoch *list_find_epochs(struct query_sources *p,
				    const struct query_target *t, uint32_t list)
{
	struct list_epoch *found = NULL;
	struct table_view v;
	uint8_t key[4];
	bool failed;

	be32_store(key, list);
	if (p->clustered && list % LISTS_PER_REFRESH == 0)
		query_sources_refresh(p);
	do {
		failed = false;
		query_sources_for_key(p, key, sizeof(key));
		free(found);
		found = cli_allocated(calloc(p->n + 1, sizeof(*found)));
		for (unsigned i = 0; i < p->n && !failed; i++) {
			uint64_t n = 0;
			int rc = -ENOENT;

			if (!query_epoch_repeats(p, i) &&
			    query_target_view(&v, p, t, i) &&
			    list < v.t->lists) {
				rc = query_list_count(&n, &v, list);
				failed = rc < 0 &&
					 query_source_failed(
						 p, p->epoch[i].source);
			}
			found[i].count = rc < 0 ? rc : (int64_t)n;
		}
		sources_check(p);
	} while (failed && !cli_stop);
	if (p->incomplete)
		query_sources_set_failed(p);
	return found;
}

/* Prints a list in all epochs, oldest first, in the order of writing. --last
 * counts from the newest entry back. */
static void print_list(struct entries *e, unsigned target, uint32_t list)
{
	const struct query_target *t = &e->targets.target[target];
	struct list_epoch *found = list_find_epochs(e->p, t, list);
	uint64_t left = e->o->last_given ? e->o->last : UINT64_MAX;
	struct table_view v;

	for (unsigned i = 0; i < e->p->n; i++) {
		uint64_t count = (uint64_t)found[i].count, have;

		if (found[i].count < 0 && found[i].count != -ENOENT)
			warn_unreadable(e, i, t->t, list, (int)found[i].count);
		if (found[i].count <= 0 || !e->o->last_given)
			continue;
		/* Count what was lost; begin at what can be read. */
		query_target_view(&v, e->p, t, i);
		e->lost += query_list_oldest(v.t, count);
		have = count - query_list_oldest(v.t, count);
		have = have < left ? have : left;
		found[i].begin = count - have;
		left -= have;
	}
	for (unsigned i = e->p->n; i-- > 0 && !cli_stop;)
		if (found[i].count > 0 && query_target_view(&v, e->p, t, i))
			print_entries(e, target, i, &v, list, found[i].begin,
				      (uint64_t)found[i].count, &e->lost);
	free(found);
}

static void print_lists(struct entries *e)
{
	for (unsigned i = 0; i < e->targets.n; i++) {
		uint32_t at = 0, list;

		while (!cli_stop &&
		       next_list(e, e->targets.target[i].t, &at, &list))
			print_list(e, i, list);
	}
}

/* -f reads the lists ten times a second. After a rotation, it reads the epoch
 * before, too, until the next rotation: a writer may still write there. */

/* How far each list of each target has been read in one epoch. */
struct progress {
	uint64_t epoch;
	uint64_t *next[TABLE_MAX];
};

static void progress_init(struct progress *r, const struct entries *e,
			  uint64_t epoch)
{
	r->epoch = epoch;
	for (unsigned i = 0; i < e->targets.n; i++) {
		r->next[i] = cli_allocated(calloc(e->targets.target[i].t->lists,
						  sizeof(uint64_t)));
	}
}

static void progress_fini(struct progress *r)
{
	for (unsigned i = 0; i < TABLE_MAX; i++)
		free(r->next[i]);
	*r = (struct progress){0};
}

static void read_list(struct entries *e, unsigned target, unsigned epoch,
		      const struct table_view *v, uint32_t list, uint64_t *next)
{
	uint64_t count = count_entries(e, epoch, v, list), lost = 0;

	if (count <= *next)
		return;
	*next = print_entries(e, target, epoch, v, list, *next, count, &lost);
	if (!lost)
		return;
	e->lost += lost;
	rows_flush(e->rows);
	cli_warn("%s: list %u: %llu entries lost", v->t->name, list,
		 (unsigned long long)lost);
}

/* Prints the newest `last' unread entries of each list in one epoch. */
static void read_epoch(struct entries *e, struct progress *r, uint64_t last)
{
	unsigned epoch = 0;

	while (epoch < e->p->n && e->p->epoch[epoch].epoch != r->epoch)
		epoch++;
	for (unsigned i = 0; i < e->targets.n && epoch < e->p->n; i++) {
		uint32_t at = 0, list;
		struct table_view v;

		query_target_view(&v, e->p, &e->targets.target[i], epoch);
		while (!cli_stop && next_list(e, v.t, &at, &list)) {
			uint64_t n = count_entries(e, epoch, &v, list);

			if (n > last)
				r->next[i][list] = n - last;
			read_list(e, i, epoch, &v, list, &r->next[i][list]);
		}
	}
}

/* Goes on to the epoch after r[1]'s, if there is one: r[1] becomes r[0]. */
static bool next_epoch(const struct entries *e, struct progress r[2])
{
	const struct query_source *s = &e->p->source[0];
	uint64_t next = r[1].epoch + 1, first = s->oldest;

	if (s->newest < next)
		return false;
	if (next < first) {
		cli_warn("epochs %llu to %llu went by unread",
			 (unsigned long long)next,
			 (unsigned long long)first - 1);
		next = first;
	}
	progress_fini(&r[0]);
	r[0] = r[1];
	r[1] = (struct progress){0};
	progress_init(&r[1], e, next);
	return true;
}

static int follow_lists(struct entries *e)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	const struct query_source *s = &e->p->source[0];
	struct progress r[2] = {{0}, {0}}; /* the epoch before, the newest */
	struct stat was = {0}, now;
	int rc = CLI_OK;

	stat(s->memory->path, &was);
	progress_init(&r[1], e, s->newest);
	read_epoch(e, &r[1], e->o->last_given ? e->o->last : LAST_DEFAULT);
	for (unsigned polls = 1; !cli_stop; polls++) {
		query_sources_refresh(e->p);
		do {
			read_epoch(e, &r[0], UINT64_MAX);
			read_epoch(e, &r[1], UINT64_MAX);
		} while (next_epoch(e, r) && !cli_stop);
		rows_flush(e->rows);
		if (polls % POLLS_PER_CHECK == 0 &&
		    (stat(s->memory->path, &now) < 0 ||
		     now.st_ino != was.st_ino || now.st_dev != was.st_dev)) {
			cli_warn("%s: the region was removed", s->memory->path);
			rc = CLI_FAIL;
			break;
		}
		if (!cli_stop)
			nanosleep(&pause, NULL);
	}
	progress_fini(&r[0]);
	progress_fini(&r[1]);
	return rc;
}

int run_list(const struct opts *o, struct query_sources *p)
{
	static struct entries e; /* too large for the stack */
	int rc = CLI_OK;

	e.o = o;
	e.p = p;
	sources_pick(&e.targets, p, TABLE_APPEND, o->table);
	parse_lists(&e);
	values_open(&e.values, &entry_schema, ENTRY_VALUE, opts_show(o),
		    o->format == ROW_TEXT, &e.targets);
	e.rows = cli_rows(o->format, &e.values.schema);
	if (o->follow)
		rc = follow_lists(&e);
	else
		print_lists(&e);
	close_entries(&e);
	if (o->follow)
		return rc;
	return e.damaged ? CLI_FAIL : e.printed ? CLI_OK : CLI_NOTHING;
}
