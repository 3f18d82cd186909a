/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/absent.h"

#include <math.h>
#include <stdio.h>

/* A share of stored keys that is worth a larger table. */
static const double MANY_GONE = 0.05;

static double or_else(double known, double bound)
{
	return isnan(known) ? bound : known;
}

void absent_load(char text[ABSENT_TEXT], const struct table *t,
		 const struct load *l)
{
	bool known = !isnan(l->load);
	const char *below = known ? "" : "less than ";

	snprintf(text, ABSENT_TEXT,
		 "%.3g%% of its %s are in use (load %s%.3g); the oldest key is "
		 "still found with %s%.3g%%, any with %s%.3g%%",
		 100 * l->used_share,
		 t->kind == TABLE_POSTCARD ? "chunks"
		 : t->kind == TABLE_KEYINC ? "counters"
					   : "slots",
		 known ? "" : "above ", or_else(l->load, l->above), below,
		 100 * or_else(l->success, l->success_below), below,
		 100 * or_else(l->average, l->average_below));
}

/* All of its units are other keys', and nothing else tells. */
static const char *either(char room[ABSENT_TEXT], const struct absent *a,
			  const struct load *l)
{
	double lost = 1 - or_else(l->average, l->average_below);

	snprintf(room, ABSENT_TEXT,
		 "whether it was overwritten or never reported cannot be told: "
		 "%s%.3g%% of the keys that were stored are overwritten by "
		 "now, and %.3g%% of those that never were look the same: %s"
		 "keys that are known to be reported would tell (--known, with "
		 "the --key-log of dta-translate)",
		 isnan(l->average) ? "at least " : "", 100 * lost,
		 100 * pow(l->used_share, a->copies),
		 lost >= MANY_GONE ? "make the table larger (dta-plan); " : "");
	return room;
}

bool absent_is_open(const struct absent *a)
{
	return a->any && !a->unreadable && a->taken && !a->listed;
}

static const char *taken(char room[ABSENT_TEXT], const struct absent *a,
			 const struct load *l)
{
	if (a->known && a->gone)
		return "it was overwritten, or is in an epoch that is gone: it "
		       "is one of the known keys, and all of its units are "
		       "other keys' now";
	if (a->known)
		return "it was overwritten: it is one of the known keys, and "
		       "all of its units are other keys' now";
	if (a->listed)
		return "it was never reported, or its reports were lost: it is "
		       "none of the known keys, if these are all that came in";
	if (l)
		return either(room, a, l);
	return "whether it was overwritten or never reported cannot be told";
}

const char *absent_why(char room[ABSENT_TEXT], const struct absent *a,
		       const struct load *l)
{
	if (!a->any)
		return "there is no epoch to look at";
	if (a->unreadable)
		return "it is in a damaged block";
	if (a->taken)
		return taken(room, a, l);
	if (a->back)
		return "only the other direction was reported";
	if (a->gone && a->known)
		return "it was reported in an epoch that is gone, or its "
		       "reports were lost: it is one of the known keys, and "
		       "one that was stored since leaves none of its units "
		       "empty";
	if (a->gone)
		return "it was reported in an epoch that is gone, or never: "
		       "one that was stored since leaves none of its units "
		       "empty";
	if (l && !l->used)
		return "nothing was ever stored in this table: does "
		       "dta-translate write here, and reports of this layout?";
	if (a->known)
		return "its reports were lost before they were stored: see "
		       "missing and the drops in dta-translate's ledger";
	return "it was never reported, or its reports were lost: one that was "
	       "stored leaves none of its units empty";
}
