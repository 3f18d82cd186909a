/* SPDX-License-Identifier: BSD-2-Clause */
/* libdta.c - what libdta.so offers (dta.h), of what dta-query is made of. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#include "query/dta.h"
#pragma GCC visibility pop

#include "base/error.h"
#include "base/ledger_page.h"
#include "base/text.h"
#include "hash/crc.h"
#include "net/key.h"
#include "query/keytext.h"
#include "query/query.h"
#include "query/show.h"
#include "query/sources.h"

_Static_assert((int)DTA_FOUND == (int)QUERY_FOUND &&
		       (int)DTA_NOT_FOUND == (int)QUERY_NOT_FOUND &&
		       (int)DTA_AMBIGUOUS == (int)QUERY_AMBIGUOUS &&
		       (int)DTA_UNREADABLE == (int)QUERY_UNREADABLE,
	       "enum query_answer");

struct dta_table {
	struct query_target target;
	struct show show;
};

struct dta {
	struct query_sources_options o;
	const char *snapshot[QUERY_SNAPSHOTS_MAX];
	struct query_sources sources;
	struct query_ask ask;
	struct query_targets targets, picked;
	struct dta_table table[TABLE_MAX];
	struct query_reply reply[QUERY_BATCH];
	bool is_open;
	struct error error;
};

const char *dta_version(void)
{
	return VERSION;
}

static const atomic_int never;

/* What it says is in the answers, too: they are unreadable. */
static __attribute__((format(printf, 1, 2))) void no_warning(const char *fmt,
							     ...)
{
	(void)fmt;
}

struct dta *dta_new(void)
{
	struct dta *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->o = (struct query_sources_options){
		.only.until = UINT64_MAX,
		.snapshot = d->snapshot,
		.stop = &never,
		.warn = no_warning,
	};
	d->ask.sources = &d->sources;
	return d;
}

const char *dta_error(const struct dta *d)
{
	return d ? d->error.text : strerror(ENOMEM);
}

/* How keys are asked. 0; -EINVAL: value is none; -ENOENT: no such option. */
static int set_rule(struct query_rule *r, const char *name, const char *value)
{
	uint64_t n;

	if (!strcmp(name, "policy"))
		return query_policy_parse(value, r);
	if (!strcmp(name, "copies")) {
		if (!text_u64(&n, value, HASH_COPIES))
			return -EINVAL;
		r->copies = (uint8_t)n;
		return 0;
	}
	if (strcmp(name, "partial") != 0)
		return -ENOENT;
	r->partial = !strcmp(value, "yes");
	return r->partial || !strcmp(value, "no") ? 0 : -EINVAL;
}

/* What is asked; texts are copied. */
static int set_source(struct dta *d, const char *name, const char *value)
{
	struct query_sources_options *o = &d->o;
	struct query_epoch_range epochs;
	bool epoch = !strcmp(name, "epoch");
	const char **text = epoch		       ? &o->only.text
			    : !strcmp(name, "region")  ? &o->region
			    : !strcmp(name, "verbs")   ? &o->verbs
			    : !strcmp(name, "cluster") ? &o->cluster
			    : strcmp(name, "snapshot")
				    ? NULL
				    : &d->snapshot[o->snapshots];
	char *copy;

	if (!text)
		return -ENOENT;
	if (d->is_open)
		return -EBUSY;
	if (!*value || (epoch && !query_epochs_parse(&epochs, value)))
		return -EINVAL;
	if (text == &d->snapshot[QUERY_SNAPSHOTS_MAX])
		return -E2BIG;
	if (!(copy = strdup(value)))
		return -ENOMEM;
	free((char *)*text);
	if (epoch)
		o->only = epochs;
	*text = copy;
	o->snapshots += *name == 's';
	return 0;
}

int dta_set(struct dta *d, const char *name, const char *value)
{
	int rc;

	value = value ? value : ""; /* which is none of any option */
	rc = set_rule(&d->ask.rule, name, value);
	if (rc == -ENOENT)
		rc = set_source(d, name, value);
	if (rc == -ENOENT)
		return error_set(&d->error, rc, "%s: no such option", name);
	if (rc == -EINVAL)
		return error_set(&d->error, rc,
				 "%s: '%s' is none; see dta-query(1)", name,
				 value);
	return rc < 0 ? error_set(&d->error, rc, "%s: %s", name,
				  rc == -EBUSY ? "is to come before dta_open()"
					       : strerror(-rc))
		      : 0;
}

static int check_sources(struct dta *d)
{
	const struct query_sources_options *o = &d->o;
	unsigned n = !!o->region + !!o->verbs + !!o->cluster;

	if (d->is_open)
		return error_set(&d->error, -EBUSY, "it is open already");
	if (n > 1 || (o->cluster && o->snapshots) || (!n && !o->snapshots))
		return error_set(&d->error, -EINVAL,
				 "one of region, verbs and cluster is to be "
				 "set, or snapshot: beside it or alone, but "
				 "not beside cluster");
	return 0;
}

int dta_open(struct dta *d)
{
	int rc = check_sources(d);

	if (rc < 0)
		return rc;
	rc = query_sources_open(&d->sources, &d->o, &d->error);
	if (!rc)
		rc = query_targets_pick(&d->targets, &d->sources, 0, NULL,
					&d->error);
	if (rc < 0) {
		query_sources_close(&d->sources);
		return rc;
	}
	for (unsigned i = 0; i < d->targets.n; i++) {
		d->table[i].target = d->targets.target[i];
		show_for_table(&d->table[i].show, d->targets.target[i].t, NULL);
	}
	d->is_open = true;
	return 0;
}

void dta_close(struct dta *d)
{
	if (!d)
		return;
	if (d->is_open)
		query_sources_close(&d->sources);
	free((char *)d->o.region);
	free((char *)d->o.verbs);
	free((char *)d->o.cluster);
	free((char *)d->o.only.text);
	while (d->o.snapshots)
		free((char *)d->snapshot[--d->o.snapshots]);
	free(d);
}

/* Before memory is looked at: 0, or why nothing can be asked. */
static int renew(struct dta *d)
{
	if (!d->is_open)
		return error_set(&d->error, -EINVAL, "dta_open() comes first");
	query_sources_refresh(&d->sources);
	return 0;
}

/* After that: whether the only source can still be read. */
static int check_gone(struct dta *d)
{
	const struct query_sources *p = &d->sources;

	if (!p->gone)
		return 0;
	return error_set(&d->error, -EIO, "%s: %s", p->source[0].path, p->gone);
}

int dta_epochs(struct dta *d, uint64_t *oldest, uint64_t *newest)
{
	const struct query_sources *p = &d->sources;
	int rc = renew(d);

	if (rc < 0)
		return rc;
	*oldest = UINT64_MAX;
	*newest = 0;
	for (unsigned i = 0; i < p->n; i++) {
		uint64_t epoch = p->epoch[i].epoch;

		*oldest = epoch < *oldest ? epoch : *oldest;
		*newest = epoch > *newest ? epoch : *newest;
	}
	return check_gone(d);
}

const char *dta_source(const struct dta *d, uint32_t source)
{
	return source < d->sources.sources ? d->sources.source[source].name
					   : NULL;
}

/* --- tables --------------------------------------------------------------- */

unsigned dta_tables(const struct dta *d)
{
	return d->targets.n;
}

const struct dta_table *dta_table(const struct dta *d, unsigned i)
{
	return i < d->targets.n ? &d->table[i] : NULL;
}

const struct dta_table *dta_table_find(struct dta *d, const char *name)
{
	int rc = renew(d);

	if (!rc)
		rc = query_targets_pick(&d->picked, &d->sources, 0, name,
					&d->error);
	for (unsigned i = 0; !rc && i < d->targets.n; i++)
		if (d->targets.target[i].t == d->picked.target[0].t)
			return &d->table[i];
	return NULL;
}

static size_t answer_len(const struct table *t)
{
	return t->kind == TABLE_POSTCARD ? 4u * t->hops : t->value_len;
}

uint64_t dta_table_number(const struct dta_table *table, const char *name)
{
	const struct table *t = table->target.t;
	const struct {
		const char *name;
		uint64_t value;
	} number[] = {
		{"id", t->id},		 {"copies", t->copies},
		{"hops", t->hops},	 {"units", t->units},
		{"lists", t->lists},	 {"batch", t->batch},
		{"stride", t->stride},	 {"length", t->length},
		{"heads", t->heads},	 {"key", t->key_len},
		{"value", t->value_len}, {"answer", answer_len(t)},
	};

	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		if (!strcmp(name, number[i].name))
			return number[i].value;
	return UINT64_MAX;
}

const char *dta_table_text(const struct dta_table *table, const char *name)
{
	const struct table *t = table->target.t;

	if (!strcmp(name, "name"))
		return t->name;
	if (!strcmp(name, "kind"))
		return table_kind_name(t->kind);
	if (!strcmp(name, "key"))
		return key_type_name((enum key_type)t->key_type);
	if (!strcmp(name, "hash"))
		return hash_family_name((enum hash_family)t->hash);
	return strcmp(name, "show") ? NULL : t->show;
}

static const char *type_name(const struct render *r)
{
	static const char *const name[][9] = {
		[RENDER_NUMBER] = {[1] = "u8", "u16", [4] = "u32", [8] = "u64"},
		[RENDER_LIST] = {[1] = "u8s", "u16s", [4] = "u32s"},
	};

	if (r->as == RENDER_NUMBER || r->as == RENDER_LIST)
		return name[r->as][r->width];
	if (r->as == RENDER_KEY)
		return key_type_name((enum key_type)r->key);
	return r->as == RENDER_TEXT ? "text" : "hex";
}

const char *dta_table_part(const struct dta_table *t, unsigned i,
			   const char **type, size_t *offset, size_t *length)
{
	const struct show_part *p = &t->show.part[i];

	if (i >= t->show.n)
		return NULL;
	*type = type_name(&p->render);
	*offset = p->at;
	*length = p->len ? p->len : t->target.t->value_len - p->at;
	return p->name;
}

/* A table in an epoch, 0: the newest that has it; *at: which one of sources. */
static int view_table(struct table_view *v, unsigned *at, struct dta *d,
		      const struct dta_table *t, uint64_t epoch)
{
	const struct query_sources *p = &d->sources;
	int rc = renew(d);

	if (rc < 0)
		return rc;
	if (p->clustered)
		return error_set(&d->error, -EOPNOTSUPP,
				 "a cluster's tables are in several memories: "
				 "open one of them");
	for (*at = 0; *at < p->n; ++*at)
		if ((!epoch || epoch == p->epoch[*at].epoch) &&
		    query_target_view(v, p, &t->target, *at))
			return check_gone(d);
	return error_set(&d->error, -ENOENT, "table %s: no epoch %llu",
			 t->target.t->name, (unsigned long long)epoch);
}

const void *dta_map(struct dta *d, const struct dta_table *t, uint64_t epoch)
{
	struct table_view v;
	unsigned at;

	if (view_table(&v, &at, d, t, epoch) < 0)
		return NULL;
	if (!v.mem)
		error_set(&d->error, -ENODEV, "%s: is not mapped: dta_read()",
			  d->sources.source[d->sources.epoch[at].source].path);
	return v.mem;
}

int dta_read(struct dta *d, const struct dta_table *t, uint64_t epoch,
	     uint64_t offset, void *buf, size_t length)
{
	struct table_view v;
	unsigned at;
	int rc = view_table(&v, &at, d, t, epoch);

	if (rc < 0)
		return rc;
	if (offset > v.t->length || length > v.t->length - offset)
		return error_set(&d->error, -ERANGE, "table %s has %llu bytes",
				 v.t->name, (unsigned long long)v.t->length);
	if (v.mem)
		memcpy(buf, v.mem + offset, length);
	else if ((rc = memory_load(&v, offset, buf, length)) < 0)
		return error_set(&d->error, rc, "table %s: %s", v.t->name,
				 rc == -EBADMSG ? "a damaged block"
						: strerror(-rc));
	if (query_epoch_stale(&d->sources, at))
		return error_set(&d->error, -ESTALE,
				 "table %s: its epoch was cleared meanwhile",
				 v.t->name);
	return check_gone(d);
}

/* --- keys ----------------------------------------------------------------- */

int dta_key(struct dta *d, const struct dta_table *t, const char *text,
	    void *key)
{
	uint8_t room[KEY_MAX];
	struct error why;
	bool loose;
	int rc = query_key_pick(room, &loose, &t->target.t, 1, text, &why);

	if (rc < 0)
		return error_set(&d->error, rc, "'%.100s' %.400s", text,
				 why.text);
	memcpy(key, room, t->target.t->key_len);
	return 0;
}

void dta_value_text(const struct dta_table *t, const void *value, char *buf,
		    size_t size)
{
	struct show_scratch room;

	room.escape_blank = false;
	show_text(&t->show, &room, buf, size, value, t->target.t->value_len);
}

const char *dta_found_name(unsigned found)
{
	return found <= QUERY_UNREADABLE ? query_answers[found] : NULL;
}

static void fill_answer(struct dta_answer *a, const struct dta *d,
			const struct table *t, const struct query_reply *r)
{
	const struct query_sources *p = &d->sources;
	bool path = t->kind == TABLE_POSTCARD && r->source;

	*a = (struct dta_answer){
		.found = (uint8_t)r->answer,
		.agreed = r->agreed,
		.matched = r->matched,
		.copies = d->ask.rule.copies ? r->copies : t->copies,
		.unreadable = r->unreadable,
		.source = UINT32_MAX,
	};
	if (path) {
		a->valid = r->path.valid;
		a->hops = r->path.len;
		a->holes = r->path.holes;
	}
	if (!r->source)
		return;
	a->epoch = r->epoch;
	for (a->source = 0; p->source[a->source].name != r->source;)
		a->source++;
}

static void fill_value(uint8_t *to, const struct table *t,
		       const struct query_reply *r)
{
	size_t len = answer_len(t);

	memset(to, 0, len);
	if (r->answer != QUERY_FOUND)
		return;
	if (t->kind == TABLE_POSTCARD)
		memcpy(to, r->path.value, 4u * r->path.len);
	else if (table_counts(t))
		memcpy(to, &r->count, sizeof(r->count));
	else
		memcpy(to, r->value, len);
}

int64_t dta_ask(struct dta *d, const struct dta_table *table, const void *keys,
		size_t n, struct dta_answer *answers, size_t size, void *values)
{
	const struct table *t = table->target.t;
	uint8_t first[CRC_HEADROOM][CRC_HEADROOM + KEY_MAX] = {0};
	const uint8_t *key[QUERY_BATCH];
	struct query_reply *reply[QUERY_BATCH];
	struct dta_answer a;
	int64_t found = 0;
	int rc = renew(d);

	if (!rc && t->kind == TABLE_APPEND)
		rc = error_set(&d->error, -EINVAL,
			       "table %s has lists: dta_list_read()", t->name);
	for (size_t from = 0, m; !rc && from < n; from += m) {
		m = n - from < QUERY_BATCH ? n - from : QUERY_BATCH;
		for (size_t i = 0; i < m; i++) {
			size_t at = (from + i) * t->key_len;

			key[i] = (const uint8_t *)keys + at;
			reply[i] = &d->reply[i];
			if (at < CRC_HEADROOM) /* nothing is before it */
				key[i] = memcpy(first[i] + CRC_HEADROOM, key[i],
						t->key_len);
		}
		query_ask_keys(&d->ask, &table->target, key, m, reply);
		for (size_t i = 0; i < m; i++) {
			size_t k = from + i;

			fill_answer(&a, d, t, reply[i]);
			found += a.found == DTA_FOUND;
			memset((uint8_t *)answers + k * size, 0, size);
			memcpy((uint8_t *)answers + k * size, &a,
			       size < sizeof(a) ? size : sizeof(a));
			if (values)
				fill_value((uint8_t *)values +
						   k * answer_len(t),
					   t, reply[i]);
		}
		rc = check_gone(d);
	}
	return rc < 0 ? rc : found;
}

/* --- lists ---------------------------------------------------------------- */

/* A list in an epoch (0: the newest); *at: which of the sources. 0 or -errno */
static int view_list(struct table_view *v, unsigned *at, struct dta *d,
		     const struct dta_table *t, uint64_t epoch, uint32_t list)
{
	int rc = view_table(v, at, d, t, epoch);

	if (!rc && v->t->kind != TABLE_APPEND)
		return error_set(&d->error, -EINVAL,
				 "table %s is %s and has no lists, only append "
				 "tables do: dta_ask()",
				 v->t->name, table_kind_name(v->t->kind));
	if (!rc && list >= v->t->lists)
		rc = error_set(&d->error, -EINVAL, "table %s has %u lists",
			       v->t->name, v->t->lists);
	return rc;
}

/* After a look at a list: rc of that, and whether it was there meanwhile. */
static int check_list(struct dta *d, const struct table_view *v, unsigned at,
		      uint32_t list, int rc)
{
	if (rc < 0)
		return error_set(
			&d->error, rc, "%s: list %u: %s", v->t->name, list,
			rc == -EBADMSG ? "a damaged block" : strerror(-rc));
	if (query_epoch_stale(&d->sources, at))
		return error_set(&d->error, -ESTALE,
				 "%s: list %u: its epoch was cleared meanwhile",
				 v->t->name, list);
	return check_gone(d);
}

int dta_list_count(struct dta *d, const struct dta_table *t, uint64_t epoch,
		   uint32_t list, uint64_t *oldest, uint64_t *count)
{
	struct table_view v;
	unsigned at;
	int rc = view_list(&v, &at, d, t, epoch, list);

	if (rc < 0)
		return rc;
	rc = check_list(d, &v, at, list, query_list_count(count, &v, list));
	if (!rc)
		*oldest = query_list_oldest(v.t, *count);
	return rc;
}

int64_t dta_list_read(struct dta *d, const struct dta_table *t, uint64_t epoch,
		      uint32_t list, uint64_t *index, void *entries, size_t max,
		      uint64_t *lost)
{
	struct table_view v;
	uint64_t next;
	int64_t n;
	unsigned at;
	int rc = view_list(&v, &at, d, t, epoch, list);

	*lost = 0;
	if (rc < 0)
		return rc;
	n = query_list_read(&v, list, *index, entries,
			    query_list_at_once(&v, max), &next, lost);
	rc = check_list(d, &v, at, list, n < 0 ? (int)n : 0);
	if (rc < 0 && rc != -EBADMSG)
		return rc;
	*index = next;
	return rc < 0 ? rc : n;
}

/* --- counters ------------------------------------------------------------- */

struct counters {
	const char *directory;
	dta_counter_each *each;
	void *ctx;
	struct ledger_page page;
	int programs;
};

static void read_page(void *ctx, const char *name)
{
	struct counters *all = ctx;
	const struct ledger_page *p = &all->page;
	struct ledger_owner owner;

	if (ledger_page_read(&all->page, &owner, all->directory, name) < 0)
		return;
	all->programs++;
	for (unsigned i = 0; i < p->counters; i++) {
		const struct ledger_counter *l = &p->counter[i];
		const struct dta_counter c = {
			.program = p->program,
			.release = p->release,
			.region = p->region,
			.input = p->input,
			.output = p->output,
			.stage = p->stage[l->stage].name,
			.unit = p->stage[l->stage].unit,
			.name = l->name,
			.role = ledger_role_name(l->role),
			.value = l->value,
			.pid = p->pid,
			.level = l->level,
		};

		all->each(all->ctx, &c);
	}
}

int dta_counters(const char *directory, dta_counter_each *each, void *ctx)
{
	struct counters *all = calloc(1, sizeof(*all));
	int rc;

	if (!all)
		return -ENOMEM;
	*all = (struct counters){
		.directory = directory ? directory : LEDGER_DIR,
		.each = each,
		.ctx = ctx,
	};
	rc = ledger_pages(all->directory, read_page, all);
	rc = rc < 0 ? rc : all->programs;
	free(all);
	return rc;
}
