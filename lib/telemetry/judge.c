/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c - what shards' views tell of others than their flows goes to the
 * whole: shard.h. */
#include "telemetry/shard_private.h"
#include "telemetry/value.h"

void telemetry_shard_begin(struct telemetry *t, uint64_t number)
{
	copies_begin(&t->shard->copies, number);
}

void telemetry_shard_compare(struct telemetry *t)
{
	struct telemetry_shard *s = t->shard;
	const struct telemetry *whole = s->whole;

	copies_compare(&s->copies, &whole->changed, whole->copies,
		       whole->shards);
	s->sweep = whole->push_objects;
	s->due_from = s->sweep.at;
	s->due = 0;
}

/* As push_values() will, with as many objects as there may be then. */
void telemetry_shard_look(struct telemetry *t, uint64_t now_ns)
{
	struct telemetry_shard *s = t->shard;
	const struct objects *os = &s->whole->objects;
	uint64_t n = os->counters.objects, most = n + s->copies.asked_all, from,
		 to;

	if (most > os->o.objects)
		most = os->o.objects;
	to = sweep_due(&s->sweep, now_ns, most, &from);
	if (to <= from)
		return;
	if (from < s->due_from) /* another period has begun */
		s->due_from = from;
	if (to > s->due)
		s->due = to < n ? to : n;
}

bool telemetry_shard_is_asked(struct telemetry *t)
{
	return copies_due(&t->shard->copies, t->shard->due_from, t->shard->due);
}

const uint32_t *telemetry_shard_sift(struct telemetry *t,
				     const uint32_t *telling, uint32_t item,
				     struct said **out)
{
	return copies_sift(&t->shard->copies, telling, item, out);
}

void telemetry_shard_merge(struct telemetry *whole)
{
	whole->changed.n = 0;
	copies_merge(whole->copies, whole->shards);
}

void telemetry_shard_judge(struct telemetry *t, uint64_t ts_ns,
			   const struct said *said)
{
	struct place *p = &t->objects.place[said->where & 0xffffff];
	enum metric m = (enum metric)(said->where >> COPIES_METRICS);
	struct object *o = p->object[m];

	if (watch_out(&o->watch, said->value))
		o = value_judge(t, ts_ns, p, m, said->value);
	o->latest = said->value;
	o->last_ns = ts_ns;
}

/* NULL: there is something to be found out. */
static struct reporter *plain(struct telemetry *t,
			      const struct telemetry_run *run)
{
	const struct int_from *from = &run->from;
	struct reporter *r = losses_known(&t->losses, from->has_node,
					  from->node, from->hw_id);

	return r && loss_is_next(r, from->sequence) ? r : NULL;
}

bool telemetry_shard_numbers(struct telemetry *whole,
			     const struct telemetry_run *run, size_t runs)
{
	for (size_t i = 0; i < runs; i++)
		if (!plain(whole, &run[i]))
			return false;
	for (size_t i = 0; i < runs; i++)
		loss_go_on(plain(whole, &run[i]), run[i].n);
	return true;
}

void telemetry_shard_gather(struct telemetry *whole, uint64_t number)
{
	copies_gather(whole->copies, whole->shards, number);
}

void telemetry_shard_renew(struct telemetry *t)
{
	copies_renew(&t->shard->copies);
}
