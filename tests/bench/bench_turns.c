/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What dta-plan cores is told of a machine: processor time that a report takes
 * a translator alone, and each of two workers (translate/team.h); what of it is
 * in the longest of the steps that are taken in turn; and what an operation
 * takes that waited for its turn, and a footprint that is joined. A row's rate
 * is that of two workers who never wait, its limit that of the step.
 *
 * Waiting is left out, and so is what else runs here, but for its traces in the
 * caches. The linker has all calls of turn_wait() and turn_pass() come by here.
 */
#include <string.h>
#include <time.h>

#include "bench_reports.h"
#include "op/footprint.h"
#include "op/made.h"
#include "team/turn.h"

enum {
	STEPS = 8, /* at most */
	WORKERS = 2,
	CLOCKS = 100000,
	WARM = 2,    /* rounds */
	MARKS = 256, /* footprints: more than a core's own cache has room for */
	OPS = 1 << 16,
	LATES = 256,	/* operations of a batch that wait */
	LATE_EACH = 16, /* one of so many */
};

void __real_turn_wait(struct turn *t, uint32_t number);
void __real_turn_pass(struct turn *t);
void __wrap_turn_wait(struct turn *t, uint32_t number);
void __wrap_turn_pass(struct turn *t);

/* Seconds, of who has the turn. */
static struct step {
	struct turn *turn;
	double began, held;
} __attribute__((aligned(TEAM_LINE))) step[STEPS];

static struct own {
	double busy, since;
} __attribute__((aligned(TEAM_LINE))) own[WORKERS];

static unsigned threads;
static _Thread_local struct own *me;
static double look; /* what a look at the clock takes */

/* Processor time of this thread. */
static double own_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void calibrate(void)
{
	double began = own_now();

	for (int i = 0; i < CLOCKS; i++)
		own_now();
	look = (own_now() - began) / CLOCKS;
}

static struct step *step_of(struct turn *t)
{
	for (unsigned i = 0; i < STEPS; i++) {
		struct turn *nobodys = NULL;

		if (__atomic_load_n(&step[i].turn, __ATOMIC_RELAXED) == t ||
		    __atomic_compare_exchange_n(&step[i].turn, &nobodys, t,
						false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    nobodys == t)
			return &step[i];
	}
	die("more turns than expected");
	return NULL;
}

void __wrap_turn_wait(struct turn *t, uint32_t number)
{
	double now = own_now();

	if (!me) {
		me = &own[__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) %
			  WORKERS];
		me->since = now;
	}
	me->busy += now - me->since - look;
	__real_turn_wait(t, number);
	me->since = step_of(t)->began = own_now();
}

void __wrap_turn_pass(struct turn *t)
{
	struct step *s = step_of(t);

	s->held += own_now() - s->began - look;
	if (me)
		me->busy -= look;
	__real_turn_pass(t);
}

/* ns a report. */
struct times {
	double busy[BENCH_ROUNDS], held[BENCH_ROUNDS];
};

static void note(struct times *t, int round)
{
	double busy = 0, held = 0;

	for (unsigned i = 0; i < WORKERS; i++)
		busy += own[i].busy;
	for (unsigned i = 0; i < STEPS; i++)
		held = step[i].held > held ? step[i].held : held;
	t->busy[round] = busy / REPORTS * 1e9;
	t->held[round] = held / REPORTS * 1e9;
}

static struct times by(const struct bed *b, const struct traffic *tf,
		       unsigned workers)
{
	struct translator *t = translator_new(b);
	struct cursor from = {tf, 0};
	const struct translate_team_options o = {
		.workers = workers, .take = cursor_take, .ctx = &from};
	struct translate_team *c;
	struct times all;
	struct fault f = {0};

	memset(step, 0, sizeof(step));
	memset(own, 0, sizeof(own));
	me = NULL;
	threads = 0;
	if (translate_team_open(&c, t, &o, &f))
		die(f.text);
	for (int i = 0; i < WARM + BENCH_ROUNDS; i++) {
		for (unsigned k = 0; k < WORKERS; k++)
			own[k].busy = 0;
		for (unsigned k = 0; k < STEPS; k++)
			step[k].held = 0;
		together(c, &from);
		if (i >= WARM)
			note(&all, i - WARM);
	}
	translate_team_close(c);
	check(t);
	translate_close(t);
	return all;
}

static double time_alone(const struct bed *b, const struct traffic *tf)
{
	struct translator *t = translator_new(b);
	double took[BENCH_ROUNDS], began;

	for (int r = -WARM; r < BENCH_ROUNDS; r++) {
		began = own_now();
		alone(t, tf);
		if (r >= 0)
			took[r] = (own_now() - began) / REPORTS * 1e9;
	}
	check(t);
	translate_close(t);
	return bench_median(took, BENCH_ROUNDS);
}

static void measure(const struct bed *b, const char *name,
		    const struct traffic *tf)
{
	double one = time_alone(b, tf);
	struct times two = by(b, tf, WORKERS);
	double shared = bench_median(two.busy, BENCH_ROUNDS);
	double turn = bench_median(two.held, BENCH_ROUNDS);

	printf("{\"path\":\"Workers: %s (limit: in turn)\",\"rate_mps\":%.3f,"
	       "\"limit_mps\":%.3f,\"ratio\":%.3f,\"pages\":\"%s\","
	       "\"alone_ns\":%.2f,\"work_ns\":%.2f,\"turn_ns\":%.2f}\n",
	       name, 2e3 / shared, 1e3 / turn, 2 * turn / shared, b->pages, one,
	       shared, turn);
	fflush(stdout);
}

static void row(const char *name, const char *field, double seconds)
{
	printf("{\"path\":\"Workers: %s\",\"rate_mps\":%.3f,"
	       "\"limit_mps\":null,\"ratio\":null,\"%s\":%.2f}\n",
	       name, 1e-6 / seconds, field, seconds * 1e9);
	fflush(stdout);
}

/* Picked from among those of a batch, and then at once. */
static void measure_late(const struct bed *b)
{
	static struct op all[LATES * LATE_EACH], late[LATES];
	const struct table *t = region_table(b->region, 0);
	double took[BENCH_ROUNDS], began;
	struct road *road = local_road(b->local);
	struct rng rng = {.state = 1};
	const uint8_t value[8] = {0};

	for (int r = 0; r < BENCH_ROUNDS; r++) {
		took[r] = 0;
		road->begin(road);
		for (unsigned k = 0; k < OPS; k += LATES) {
			for (unsigned i = 0; i < LATES * LATE_EACH; i++)
				all[i] = (struct op){
					.verb = OP_WRITE,
					.length = 8,
					.data = value,
					.offset = rng_below(&rng, t->units) *
						  8};
			began = own_now();
			for (unsigned i = 0; i < LATES; i++)
				late[i] = all[i * LATE_EACH];
			if (road->exec(road, late, LATES, 0) < 0)
				die("exec failed");
			took[r] += (own_now() - began - look) / OPS;
		}
		road->end(road);
	}
	row("an operation that waited", "late_ns",
	    bench_median(took, BENCH_ROUNDS));
}

static void measure_join(void)
{
	struct footprint *f = must(aligned_alloc(64, MARKS * sizeof(*f)));
	struct footprint *sum = must(aligned_alloc(64, sizeof(*f)));
	double took[BENCH_ROUNDS], began;

	footprint_init(sum, OPS_MAX);
	for (unsigned i = 0; i < MARKS; i++) {
		footprint_init(&f[i], OPS_MAX);
		f[i].any = true;
	}
	for (int r = 0; r < BENCH_ROUNDS; r++) {
		began = own_now();
		for (unsigned i = 0; i < MARKS; i++)
			footprint_join(sum, &f[i]);
		took[r] = (own_now() - began) / MARKS;
	}
	free(sum);
	free(f);
	row("a footprint joined", "join_ns", bench_median(took, BENCH_ROUNDS));
}

int main(void)
{
	struct traffic tf = traffic_new();
	struct bed b;

	calibrate();
	bed_make(&b, "turns", 1u << 26);
	keyed(&tf, &b.table[0], 1);
	measure(&b, "Key-Write, N = 1", &tf);
	keyed(&tf, &b.table[0], 2);
	measure(&b, "Key-Write, N = 2", &tf);
	keyed(&tf, &b.table[2], 1);
	measure(&b, "Key-Increment, N = 1", &tf);
	postcards(&tf, 1);
	measure(&b, "Postcards, no interleaving", &tf);
	postcards(&tf, 1024);
	measure(&b, "Postcards, 1K flows between", &tf);
	entries(&tf, 1);
	measure(&b, "Append, one list", &tf);
	entries(&tf, LISTS);
	measure(&b, "Append, 255 lists", &tf);
	measure_late(&b);
	measure_join();
	traffic_free(&tf);
	bed_unmake(&b);
	return 0;
}
