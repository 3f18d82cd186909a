/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/links.h"

void label_link_saw(struct label_record *r, uint32_t device, uint16_t out)
{
	struct label_way *least = &r->way[0];

	for (unsigned i = 0; i < LABEL_WAYS; i++) {
		struct label_way *w = &r->way[i];

		if (w->seen && w->device == device && w->out == out) {
			w->seen += w->seen < UINT32_MAX;
			return;
		}
		if (w->seen < least->seen)
			least = w;
	}
	*least = (struct label_way){device, out, 1};
}

/* What is known of the ports behind a link. */
struct behind {
	uint64_t seen;
	double lost;   /* share, as packets go on by them */
	double labels; /* that this rests on */
	bool heard;    /* one is not silent */
};

static double labels_of(const struct label_record *r)
{
	return (double)(r->labels + label_lost(r));
}

static struct behind look_behind(struct label_db *db,
				 const struct label_record *r)
{
	struct behind b = {0};

	for (unsigned i = 0; i < LABEL_WAYS; i++) {
		const struct label_way *w = &r->way[i];
		const struct label_record *q =
			w->seen ? label_db_find(db, w->device, w->out) : NULL;

		if (!q || labels_of(q) < 1)
			continue;
		b.seen += w->seen;
		b.lost += w->seen * (double)label_lost(q) / labels_of(q);
		b.labels += labels_of(q);
		b.heard |= !q->silent;
	}
	if (b.seen)
		b.lost /= (double)b.seen;
	return b;
}

/* Whether so many lost labels are more than ports behind explain: by the
 * variance of this number, and of their share. */
static bool is_more(double lost, double labels, const struct behind *b)
{
	double more = lost - labels * b->lost;
	double variance = labels * b->lost * (1 - b->lost) *
			  (1 + labels / b->labels);

	return more > 0 && more * more > 9 * (variance + 1);
}

struct label_suspicion label_link_judge(struct label_db *db,
					const struct label_record *r)
{
	double lost = (double)label_lost(r), labels = labels_of(r);
	struct label_suspicion s = {0};
	struct behind b;

	if ((!label_lost(r) && !r->silent) || labels < 1)
		return s;
	b = look_behind(db, r);
	s.place = LABEL_PLACE_ANY;
	s.seen = b.seen;
	if (!b.seen)
		return s;
	s.behind = b.lost;
	if (b.lost < 1 && lost / labels > b.lost)
		s.link = 1 - (1 - lost / labels) / (1 - b.lost);
	s.place = LABEL_PLACE_BEHIND;
	if ((lost > 0 && is_more(lost, labels, &b)) || (r->silent && b.heard))
		s.place = LABEL_PLACE_LINK;
	return s;
}
