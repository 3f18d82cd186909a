/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/links.h"

#include <errno.h>
#include <math.h>
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
	double labels; /* as many of one port would tell it as well */
	bool heard;    /* one is not silent */
};

static struct behind look_behind(struct label_db *db,
				 const struct label_record *r, uint64_t now_ns)
{
	double weights = 0, squares = 0; /* of shares, and of these by labels */
	struct behind b = {0};

	for (unsigned i = 0; i < r->ways.n; i++) {
		const struct label_way *w = &r->ways.at[i];
		const struct label_record *q = label_db_find(db, w->device,
							     w->out);
		struct label_lately l;
		double labels, weight;

		if (!q)
			continue;
		b.seen += w->seen;
		b.heard |= !q->silent;
		l = label_db_lately(db, q, LABEL_SPAN_MINUTE, now_ns);
		labels = (double)(l.labels + l.lost);
		if (!l.labels)
			continue;
		/* As many as went there: of these were seen that got on. */
		weight = w->seen * labels / (double)l.labels;
		b.lost += weight * (double)l.lost / labels;
		weights += weight;
		squares += weight * weight / labels;
	}
	if (weights > 0) {
		b.lost /= weights;
		b.labels = weights * weights / squares;
	}
	return b;
}

/*
 * Whether so many lost labels are more than ports behind explain. If both lost
 * as many this is the share; by that goes the variance. The normal
 * distribution's tail falls as exp(-x^2 / 2): for as many ports as are looked
 * at x^2 grows by twice the logarithm of their number.
 */
static bool is_more(double lost, double labels, const struct behind *b,
		    uint32_t ports)
{
	double share = (lost + b->lost * b->labels) / (labels + b->labels);
	double more = lost - labels * b->lost;
	double variance = labels * share * (1 - share) *
			  (1 + labels / b->labels);

	return more > 0 && more * more > (9 + 2 * log(ports)) * (variance + 1);
}

struct label_suspicion label_link_judge(struct label_db *db,
					const struct label_record *r,
					uint64_t now_ns)
{
	struct label_lately l = label_db_lately(db, r, LABEL_SPAN_MINUTE,
						now_ns);
	double lost = (double)l.lost, labels = (double)(l.labels + l.lost);
	struct label_suspicion s = {0};
	struct behind b;

	if (!l.lost && !r->silent)
		return s;
	b = look_behind(db, r, now_ns);
	s.place = LABEL_PLACE_ANY;
	s.seen = b.seen;
	if (!b.seen)
		return s;
	s.behind = b.lost;
	if (b.lost < 1 && lost > labels * b.lost)
		s.link = 1 - (1 - lost / labels) / (1 - b.lost);
	s.place = LABEL_PLACE_BEHIND;
	if ((b.labels > 0 && is_more(lost, labels, &b, label_db_ports(db))) ||
	    (r->silent && b.heard))
		s.place = LABEL_PLACE_LINK;
	return s;
}
