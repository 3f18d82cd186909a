/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list -f: the lists are looked at ten times a second. After a rotation the
 * epoch before is looked at, too, until the next: a writer may still be in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "entries.h"

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

static bool find_place(const struct entries *e, uint64_t epoch, unsigned *place)
{
	for (*place = 0; *place < e->p->n; ++*place)
		if (e->p->place[*place].epoch == epoch)
			return true;
	return false;
}

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
	fflush(stdout);
	cli_warn("%s: list %u: %llu entries lost", v->t->name, list,
		 (unsigned long long)lost);
}

static void read_all(struct entries *e, const struct reading *r)
{
	unsigned place;

	if (!r->epoch || !find_place(e, r->epoch, &place))
		return;
	for (unsigned i = 0; i < e->targets.n; i++) {
		uint32_t at = 0, list;
		struct view v;

		if (!target_view(&v, e->p, &e->targets.target[i], place))
			continue;
		while (!cli_stop && entries_next_list(e, v.t, &at, &list))
			read_list(e, i, place, &v, list, &r->next[i][list]);
	}
}

/* Where to begin: --last of each list, or --from. */
static void begin(struct entries *e, struct reading *r)
{
	uint64_t last = e->o->last_given ? e->o->last : LAST_DEFAULT;
	unsigned place;

	if (!find_place(e, r->epoch, &place))
		return;
	for (unsigned i = 0; i < e->targets.n; i++) {
		uint32_t at = 0, list;
		struct view v;

		if (!target_view(&v, e->p, &e->targets.target[i], place))
			continue;
		while (entries_next_list(e, v.t, &at, &list)) {
			uint64_t n = entries_count(e, place, &v, list);

			if (e->o->from_given)
				r->next[i][list] = e->o->from;
			else
				r->next[i][list] = n > last ? n - last : 0;
		}
	}
}

/* On to the epoch behind r[1]; what was in r[0] is done with. */
static void turn(struct entries *e, struct reading r[2])
{
	uint64_t next = r[1].epoch + 1;

	if (next < e->p->oldest) {
		cli_warn("epochs %llu to %llu went by unread",
			 (unsigned long long)next,
			 (unsigned long long)e->p->oldest - 1);
		next = e->p->oldest;
	}
	reading_fini(&r[0]);
	r[0] = r[1];
	r[1] = (struct reading){0};
	reading_init(&r[1], e, next);
}

static bool same_file(const char *path, const struct stat *was)
{
	struct stat now;

	return stat(path, &now) == 0 && now.st_ino == was->st_ino &&
	       now.st_dev == was->st_dev;
}

int entries_follow(struct entries *e)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	const char *path = region_path(e->p->source[0].region);
	struct reading r[2] = {0};
	struct stat was;
	int rc = CLI_OK;

	if (stat(path, &was) < 0)
		was = (struct stat){0};
	reading_init(&r[1], e, e->p->newest);
	begin(e, &r[1]);
	for (unsigned polls = 1; !cli_stop; polls++) {
		places_refresh(e->p);
		read_all(e, &r[0]);
		read_all(e, &r[1]);
		while (r[1].epoch < e->p->newest) {
			turn(e, r);
			read_all(e, &r[1]);
		}
		fflush(stdout);
		if (polls % POLLS_PER_CHECK == 0 && !same_file(path, &was)) {
			cli_warn("%s: the region was removed", path);
			rc = CLI_FAIL;
			break;
		}
		if (!cli_stop)
			nanosleep(&pause, NULL);
	}
	reading_fini(&r[0]);
	reading_fini(&r[1]);
	return rc;
}
