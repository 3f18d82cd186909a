/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list -f: the lists are looked at ten times a second. After a rotation the
 * epoch before is looked at, too, until the next: a writer may still be in it.
 * Of a cluster, each collector is followed through its own rotations, and each
 * list at its owner.
 */
#include "follow.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum {
	POLL_NS = 100000000,
	POLLS_PER_CHECK = 10, /* whether the region is still there */
	LAST_DEFAULT = 10,    /* as tail has it */
};

/* How far each list of each target was read in one epoch. */
struct reading {
	uint64_t epoch;
	uint64_t *next[TABLE_MAX];
};

static void reading_init(struct reading *r, const struct entries *e,
			 uint64_t epoch)
{
	r->epoch = epoch;
	for (unsigned i = 0; i < e->targets.n; i++) {
		r->next[i] = calloc(e->targets.target[i].t->lists,
				    sizeof(uint64_t));
		if (!r->next[i])
			cli_fail("out of memory");
	}
}

static void reading_fini(struct reading *r)
{
	for (unsigned i = 0; i < TABLE_MAX; i++)
		free(r->next[i]);
	*r = (struct reading){0};
}

/* A region, and how far it was read in the epoch before and the newest. */
struct followed {
	struct reading r[2];
	struct stat was; /* its file */
};

struct follow {
	struct entries *e;
	struct followed of[SOURCES_MAX];
};

/* What a list has got since it was last looked at. */
static void read_list(struct entries *e, unsigned target, unsigned place,
		      const struct view *v, uint32_t list, uint64_t *next)
{
	uint64_t count = entries_count(e, place, v, list), lost = 0;

	if (count <= *next)
		return;
	*next = entries_print(e, target, place, v, list, *next, count, &lost);
	if (!lost)
		return;
	e->lost += lost;
	rows_flush(e->rows);
	cli_warn("%s: list %u: %llu entries lost", v->t->name, list,
		 (unsigned long long)lost);
}

/* A list in the places that are followed: [0] the epochs before, [1] the
 * newest. */
static void read_places(struct follow *f, unsigned which, unsigned target,
			uint32_t list)
{
	struct entries *e = f->e;

	for (unsigned i = 0; i < e->p->n; i++) {
		const struct place *at = &e->p->place[i];
		struct reading *r = &f->of[at->source].r[which];
		struct view v;

		if (r->epoch == at->epoch &&
		    target_view(&v, e->p, &e->targets.target[target], i) &&
		    list < v.t->lists)
			read_list(e, target, i, &v, list,
				  &r->next[target][list]);
	}
}

static void read_all(struct follow *f)
{
	struct entries *e = f->e;

	for (unsigned i = 0; i < e->targets.n; i++) {
		uint32_t at = 0, list;

		while (!cli_stop && entries_next_list(e, e->targets.target[i].t,
						      &at, &list)) {
			entries_of_list(e, list);
			read_places(f, 0, i, list);
			read_places(f, 1, i, list);
		}
	}
}

/* Where to begin: --last of each list, or --from. */
static void begin_list(struct follow *f, unsigned target, uint32_t list)
{
	struct entries *e = f->e;
	uint64_t last = e->o->last_given ? e->o->last : LAST_DEFAULT;

	for (unsigned i = 0; i < e->p->n; i++) {
		const struct place *at = &e->p->place[i];
		struct reading *r = &f->of[at->source].r[1];
		struct view v;
		uint64_t n;

		if (r->epoch != at->epoch ||
		    !target_view(&v, e->p, &e->targets.target[target], i) ||
		    list >= v.t->lists)
			continue;
		n = entries_count(e, i, &v, list);
		if (e->o->from_given)
			r->next[target][list] = e->o->first;
		else
			r->next[target][list] = n > last ? n - last : 0;
	}
}

static void begin(struct follow *f)
{
	struct entries *e = f->e;

	for (unsigned i = 0; i < e->p->sources; i++) {
		struct source *s = &e->p->source[i];
		struct followed *of = &f->of[i];

		if (!s->memory)
			continue;
		if (stat(s->memory->path, &of->was) < 0)
			of->was = (struct stat){0};
		reading_init(&of->r[1], e, s->newest);
	}
	for (unsigned i = 0; i < e->targets.n; i++) {
		uint32_t at = 0, list;

		while (entries_next_list(e, e->targets.target[i].t, &at,
					 &list)) {
			entries_of_list(e, list);
			if (places_incomplete(e->p))
				collectors_failed_set(e->p->collectors);
			begin_list(f, i, list);
		}
	}
}

/* On to the epoch behind r[1]; what was in r[0] is done with. */
static void turn(const struct entries *e, unsigned source, struct reading r[2])
{
	const struct source *s = &e->p->source[source];
	uint64_t next = r[1].epoch + 1, first = s->oldest;

	if (next < first) {
		cli_warn("%s%sepochs %llu to %llu went by unread",
			 e->p->collectors ? s->name : "",
			 e->p->collectors ? ": " : "", (unsigned long long)next,
			 (unsigned long long)first - 1);
		next = first;
	}
	reading_fini(&r[0]);
	r[0] = r[1];
	r[1] = (struct reading){0};
	reading_init(&r[1], e, next);
}

/* Whether one of them goes on to another epoch. */
static bool turn_all(struct follow *f)
{
	struct places *p = f->e->p;
	bool turned = false;

	for (unsigned i = 0; i < p->sources; i++) {
		struct reading *r = f->of[i].r;

		if (!r[1].epoch || r[1].epoch >= p->source[i].newest)
			continue;
		turn(f->e, i, r);
		turned = true;
	}
	return turned;
}

static bool same_file(const char *path, const struct stat *was)
{
	struct stat now;

	return stat(path, &now) == 0 && now.st_ino == was->st_ino &&
	       now.st_dev == was->st_dev;
}

/* Whether all regions are still there; says which is not. */
static bool all_there(const struct follow *f)
{
	for (unsigned i = 0; i < f->e->p->sources; i++) {
		const struct memory *m = f->e->p->source[i].memory;

		if (!m || same_file(m->path, &f->of[i].was))
			continue;
		cli_warn("%s: the region was removed", m->path);
		return false;
	}
	return true;
}

int entries_follow(struct entries *e)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	struct follow *f = calloc(1, sizeof(*f));
	struct fault why = {""};
	int rc = CLI_OK;

	if (!f)
		cli_fail("out of memory");
	f->e = e;
	if (e->p->collectors && collectors_here(e->p->collectors, "--follow",
						"list --follow", &why) < 0)
		cli_fail("%s", why.text);
	begin(f);
	for (unsigned polls = 1; !cli_stop; polls++) {
		places_refresh(e->p);
		do {
			read_all(f);
		} while (turn_all(f) && !cli_stop);
		rows_flush(e->rows);
		if (polls % POLLS_PER_CHECK == 0 && !all_there(f)) {
			rc = CLI_FAIL;
			break;
		}
		if (!cli_stop)
			nanosleep(&pause, NULL);
	}
	for (unsigned i = 0; i < e->p->sources; i++) {
		reading_fini(&f->of[i].r[0]);
		reading_fini(&f->of[i].r[1]);
	}
	free(f);
	return rc;
}
