/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/links.h"

#include <errno.h>
#include <stdlib.h>

static struct label_way *find(const struct label_ways *w, uint32_t device,
			      uint16_t out)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->at[i].device == device && w->at[i].out == out)
			return &w->at[i];
	return NULL;
}

static int make_room(struct label_ways *w)
{
	unsigned room = w->room ? 2 * w->room : 4;
	struct label_way *at;

	if (w->n == LABEL_WAYS_MOST)
		return -ENOSPC;
	if (w->n < w->room)
		return 0;
	if (!(at = realloc(w->at, room * sizeof(*at))))
		return -ENOMEM;
	w->at = at;
	w->room = room;
	return 0;
}

int label_link_saw(struct label_record *r, uint32_t device, uint16_t out)
{
	struct label_way *way = find(&r->ways, device, out);
	int rc;

	if (way) {
		way->seen += way->seen < UINT32_MAX;
		return 0;
	}
	if ((rc = make_room(&r->ways)))
		return rc;
	r->ways.at[r->ways.n++] = (struct label_way){device, out, 1};
	return 0;
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

	for (unsigned i = 0; i < r->ways.n; i++) {
		const struct label_way *w = &r->ways.at[i];
		const struct label_record *q = label_db_find(db, w->device,
							     w->out);

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
