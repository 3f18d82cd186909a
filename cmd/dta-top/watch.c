/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.c - reads the pages of programs, and regions. A region is opened again
 * at each look, as another one may have its name by then. */
#include "watch.h"

#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "query/query.h"

enum { SECOND_NS = 1000000000 };

/* Sets the rate of a counter that was `was' at from_ns and is `is' at to_ns. */
static void set_rate(struct rate *s, uint64_t from_ns, uint64_t to_ns,
		     uint64_t was, uint64_t is)
{
	if (to_ns <= from_ns)
		return;
	s->known = true;
	s->grown = (int64_t)(is - was);
	s->per_s = (double)s->grown * 1e9 / (double)(to_ns - from_ns);
}

/* Whether two names mean the same region: "/fabric" is "fabric". */
static bool is_same_region(const char *a, const char *b)
{
	return *a && !strcmp(a + (*a == '/'), b + (*b == '/'));
}

static void read_region(void *ctx, const char *path, const char *name)
{
	struct watch *w = ctx;
	struct seen_region **at = &w->regions, *s;
	struct region_writer one;
	struct error err;
	struct region *r;
	unsigned seat = 0;
	uint64_t now = clock_wall_ns();
	int rc = region_open_untrusted(&r, path, &err);

	if (rc < 0) {
		w->unseen++;
		if (rc != -EACCES && rc != -ENOENT && !w->damaged++)
			error_about(&w->damage, rc, path, &err);
		if (w->warn_unseen)
			cli_warn_error(path, &err);
		return;
	}
	if (!(s = calloc(1, sizeof(*s))))
		cli_fail("out of memory");
	while (*at)
		at = &(*at)->next;
	*at = s;
	w->n_regions++;
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->path, sizeof(s->path), "%s", region_path(r));
	s->size = region_size(r);
	s->tables = region_tables(r);
	s->epoch = region_epoch(r);
	s->began_ns = region_epoch_began(r);
	s->age_s = s->began_ns && s->began_ns <= now
			   ? (now - s->began_ns) / SECOND_NS
			   : WATCH_UNKNOWN;
	while (region_writer(r, &seat, &one))
		s->writer[s->writers++] = one.pid;
	s->last_write_ns = s->writers ? now : region_writer_left_ns(r);
	s->fill = query_fill(region_memory(r));
	region_close(r);
}

static void read_regions(struct watch *w)
{
	struct seen_region *s;

	while ((s = w->regions)) {
		w->regions = s->next;
		free(s);
	}
	w->n_regions = w->unseen = w->damaged = 0;
	if (w->region)
		read_region(w, w->region, w->region);
	else
		region_list(read_region, w);
}

/* --- programs ------------------------------------------------------------ */

/* Whether a counter counts what the other end has confirmed. */
static bool is_confirmed(const struct ledger_counter *c)
{
	static const char *const names[] = {"acked", "confirmed", "completed",
					    "written"};
	unsigned i = 0, n = sizeof(names) / sizeof(names[0]);

	while (i < n && strcmp(c->name, names[i]) != 0)
		i++;
	return c->role == LEDGER_DONE && i < n;
}

/* The stages whose work is confirmed, a bit each; 0: there are none. */
static unsigned confirmed_stages(const struct ledger_page *p)
{
	unsigned stages = 0;

	for (unsigned i = 0; i < p->counters; i++)
		if (is_confirmed(&p->counter[i]))
			stages |= 1u << p->counter[i].stage;
	return stages;
}

/* What the kernel dropped is missing among the reports' numbers, too: of these
 * two losses, the total has the larger one. */
static uint64_t compute_total(const struct ledger_page *p, enum total which)
{
	static const uint8_t role[TOTALS] = {
		[TOTAL_RECEIVED] = LEDGER_IN,
		[TOTAL_DONE] = LEDGER_DONE,
		[TOTAL_LOST] = LEDGER_LOSS,
	};
	bool confirmed = which == TOTAL_DONE && confirmed_stages(p);
	uint64_t sum = 0, missing = 0, dropped = 0;

	for (unsigned i = 0; i < p->counters; i++) {
		const struct ledger_counter *c = &p->counter[i];

		if (which == TOTAL_LOST && !strcmp(c->name, "kernel_drops"))
			dropped = c->value;
		else if (which == TOTAL_LOST && c->role == LEDGER_LOSS &&
			 !strcmp(p->stage[c->stage].name, "arrival"))
			missing += c->value;
		else if (confirmed ? is_confirmed(c)
				   : c->role == role[which] &&
					     (!c->stage || which == TOTAL_LOST))
			sum += c->value;
	}
	return sum + (missing > dropped ? missing : dropped);
}

static const char *find_reason(const struct program *p)
{
	const char *worst = NULL;
	double rate = 0, value = 0;

	for (unsigned i = 0; i < p->page.counters; i++) {
		double now = p->counter_rate[i].known ? p->counter_rate[i].per_s
						      : 0;
		double all = (double)p->page.counter[i].value;

		if (p->page.counter[i].role != LEDGER_LOSS || !all ||
		    now < rate || (now == rate && all <= value))
			continue;
		worst = p->page.counter[i].name;
		rate = now;
		value = all;
	}
	return worst;
}

/* Sets waiting, reason and silence; a silent program has no rates. */
static void update_program(struct program *p, uint64_t now_ns)
{
	uint64_t ns = now_ns > p->page.at_ns ? now_ns - p->page.at_ns : 0;
	unsigned stages = confirmed_stages(&p->page);
	const char *signal;
	bool old = p->dead || ns >= WATCH_SILENT_NS; /* rates no longer hold */

	p->silent_s = p->dead ? WATCH_UNKNOWN : old ? ns / SECOND_NS : 0;
	p->dead_s = p->dead ? ns / SECOND_NS : WATCH_UNKNOWN;
	for (unsigned i = 0; old && i < p->page.counters; i++)
		p->counter_rate[i].known = false;
	for (unsigned i = 0; old && i < TOTALS; i++)
		p->total_rate[i].known = false;
	p->waiting = stages ? 0 : WATCH_UNKNOWN;
	p->waiting_unit = NULL;
	for (unsigned i = 0; i < p->page.stages; i++) {
		uint64_t rest = ledger_page_rest(&p->page, i);

		if (!(stages >> i & 1) || !rest)
			continue;
		p->waiting += rest;
		p->waiting_unit = p->page.stage[i].unit;
	}
	signal = sigabbrev_np((int)p->page.ended_by);
	if (p->dead)
		snprintf(p->ended_by, sizeof(p->ended_by), "%s%s",
			 signal ? "SIG" : "killed", signal ? signal : "");
	p->reason = find_reason(p);
}

/* Whether counter i is the same one in two pages of a program. */
static bool is_same_counter(const struct ledger_page *was,
			    const struct ledger_page *now, unsigned i)
{
	const struct ledger_counter *a = &was->counter[i],
				    *b = &now->counter[i];

	return i < was->counters && !strcmp(a->name, b->name) &&
	       !strcmp(was->stage[a->stage].name, now->stage[b->stage].name);
}

static void update_counters(struct program *p, const struct ledger_page *now)
{
	const struct ledger_page *was = &p->page;

	p->found = true;
	if (now->at_ns == was->at_ns)
		return;
	for (unsigned i = 0; i < now->counters; i++) {
		uint64_t value = now->counter[i].value;
		struct rate *s = &p->counter_rate[i];

		if (is_same_counter(was, now, i))
			set_rate(s, was->at_ns, now->at_ns,
				 was->counter[i].value, value);
		else
			*s = (struct rate){.grown = (int64_t)value};
		if (value > s->max)
			s->max = value;
	}
	for (unsigned i = 0; i < TOTALS; i++) {
		uint64_t before = p->total[i];

		p->total[i] = compute_total(now, (enum total)i);
		if (was->at_ns)
			set_rate(&p->total_rate[i], was->at_ns, now->at_ns,
				 before, p->total[i]);
	}
	p->page = *now;
}

static struct program *add_program(struct watch *w, struct program **at,
				   const char *name,
				   const struct ledger_owner *owner)
{
	const struct passwd *user = getpwuid(owner->uid);
	struct program *p = cli_allocated(calloc(1, sizeof(*p)));

	snprintf(p->name, sizeof(p->name), "%s", name);
	p->owner = *owner;
	if (user)
		snprintf(p->user, sizeof(p->user), "%s", user->pw_name);
	else
		snprintf(p->user, sizeof(p->user), "%u", owner->uid);
	p->next = *at;
	*at = p;
	w->n_programs++;
	return p;
}

static bool is_writer(const struct ledger_page *page,
		      const struct seen_region *r)
{
	for (unsigned i = 0; i < r->writers; i++)
		if (r->writer[i] == page->pid)
			return true;
	return is_same_region(page->region, r->name) ||
	       !strcmp(page->region, r->path);
}

static bool is_asked_for(const struct watch *w, const struct ledger_page *page)
{
	const struct seen_region *r = w->regions;

	if (!w->region || is_same_region(page->region, w->region))
		return true;
	while (r && !is_writer(page, r))
		r = r->next;
	return r;
}

static void read_page(void *ctx, const char *name)
{
	struct watch *w = ctx;
	struct ledger_owner owner;
	int rc = ledger_page_read(&w->scratch, &owner, w->dir, name);
	struct program **at = &w->programs, *p;

	while (*at && strcmp((*at)->name, name) < 0)
		at = &(*at)->next;
	p = *at;
	if (p && strcmp(p->name, name) != 0)
		p = NULL;
	if (rc == -EAGAIN && p) /* stopped while it wrote its page */
		p->found = true;
	/* at_ns 0: the page was not written yet */
	if ((rc == 0 || rc == -ESRCH) && w->scratch.at_ns &&
	    is_asked_for(w, &w->scratch)) {
		p = p ? p : add_program(w, at, name, &owner);
		p->dead = rc;
		update_counters(p, &w->scratch);
	}
	if (!rc || rc == -ESRCH || rc == -ENOENT || (rc == -EAGAIN && p))
		return;
	if (!w->unread++)
		error_set(&w->why, rc, "%s: %s", name,
			  rc == -EBADMSG  ? "damaged, or no page"
			  : rc == -EPERM  ? "it is not its process's"
			  : rc == -EAGAIN ? "it is never written to its end"
					  : strerror(-rc));
}

/* Sums, for each region, the rates of the programs seen that write it. */
static void sum_stored(struct watch *w)
{
	for (struct seen_region *r = w->regions; r; r = r->next) {
		double sum = 0;

		r->stored = (struct rate){.known = false};
		for (const struct program *p = w->programs; p; p = p->next) {
			const struct rate *s = &p->total_rate[TOTAL_DONE];

			/* What a collector confirms, it counts itself. */
			if (!s->known || !is_writer(&p->page, r) ||
			    p->waiting != WATCH_UNKNOWN)
				continue;
			sum += s->per_s;
			r->stored.known = true;
		}
		r->stored.per_s = sum;
	}
}

int watch_look(struct watch *w)
{
	struct program **at = &w->programs, *p;
	char why[512];
	int rc;

	w->unread = 0;
	w->why.text[0] = '\0';
	read_regions(w);
	for (p = w->programs; p; p = p->next)
		p->found = false;
	rc = ledger_pages(w->dir, read_page, w);
	while ((p = *at)) {
		if (p->found) {
			update_program(p, clock_ns());
			at = &p->next;
			continue;
		}
		*at = p->next;
		free(p);
		w->n_programs--;
	}
	sum_stored(w);
	snprintf(why, sizeof(why), "%.500s", w->why.text);
	if (rc < 0)
		error_set(&w->why, rc, "%s: %s", w->dir, strerror(-rc));
	else if (w->unread)
		error_set(&w->why, 0, "%u page%s not seen; %s", w->unread,
			  w->unread == 1 ? " is" : "s are", why);
	return rc < 0 ? rc : 0;
}

/* --- as rows -------------------------------------------------------------- */

void columns_open(struct columns *v)
{
	v->schema = (struct schema){v->name, v->field, v->n};
	for (unsigned i = 0; i < v->n; i++)
		v->field[i] = v->column[i].field;
}

/* Sets field i from the member at p, unless it is empty or unknown. */
static void set_cell(struct row_batch *b, unsigned i, const struct column *c,
		     const void *p)
{
	const struct rate *rate = p;
	uint64_t v;

	switch (c->field.type) {
	case ROW_STR:
		if (c->width == sizeof(char *))
			p = *(const char *const *)p;
		row_batch_str(b, i, p && *(const char *)p ? p : NULL);
		break;
	case ROW_I64:
		if (rate->known)
			row_batch_set(b, i, ROW_I64)->i64 = llround(
				rate->per_s);
		break;
	case ROW_F64:
		row_batch_set(b, i, ROW_F64)->f64 = *(const double *)p;
		break;
	default:
		v = c->width == sizeof(uint32_t) ? *(const uint32_t *)p
						 : *(const uint64_t *)p;
		if (v != (c->field.type == ROW_TIME ? 0 : WATCH_UNKNOWN))
			row_batch_set(b, i, c->field.type)->u64 = v;
	}
}

void columns_set(const struct columns *v, struct row_batch *b,
		 const void *const part[PARTS])
{
	for (unsigned i = 0; i < v->n; i++) {
		const struct column *c = &v->column[i];

		set_cell(b, i, c, (const char *)part[c->part] + c->at);
	}
}

void columns_set_counter(const struct columns *v, struct row_batch *b,
			 const struct program *p, unsigned i)
{
	const struct ledger_counter *c = &p->page.counter[i];
	/* A loss is shown by its maximum, as alerts watch its growth. */
	bool falls = c->level && c->role != LEDGER_LOSS;
	const struct counter_extra extra = {
		.role = ledger_role_name(c->role),
		.rate = p->counter_rate[i],
		.total = falls ? WATCH_UNKNOWN : p->counter_rate[i].max,
		.level = falls ? c->value : WATCH_UNKNOWN,
	};

	columns_set(
		v, b,
		(const void *[PARTS]){p, c, &p->page.stage[c->stage], &extra});
}
