/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * links.h - on which link labels are lost. A label that is missing at a port
 * may have been lost anywhere behind it, and those of all ports before a bad
 * link are. So the share that a port lost is compared with what the ports
 * behind its link lost: by which of them packets go on is seen from labels of
 * one hop and the next in the same packet. What they cannot explain was lost on
 * the link. Losses are those of the last minutes (LABEL_SPAN_MINUTE).
 */
#ifndef LABEL_LINKS_H
#define LABEL_LINKS_H

#include "label/db.h"

/* A packet has come by a port, its link, and the next device's port out. 0,
 * -ENOMEM, or -ENOSPC: LABEL_WAYS_MOST are kept, and this is another one. */
int label_link_saw(struct label_record *r, uint32_t device, uint16_t out);

/* Whether a label of one hop and one of another are of a link's two ends. */
static inline bool label_link_joins(const struct label_record *r,
				    const struct label_item *next)
{
	return r->has_next && r->next_device == next->device &&
	       r->next_in == next->in;
}

enum label_place {
	LABEL_PLACE_NONE, /* nothing is lost, and nobody silent */
	LABEL_PLACE_ANY,  /* somewhere: no ports behind it are known */
	LABEL_PLACE_LINK,
	LABEL_PLACE_BEHIND,
};

struct label_suspicion {
	enum label_place place;
	double behind, link; /* shares that are lost; if seen */
	uint64_t seen;	     /* packets that showed the way, of all ports */
};

/*
 * Of a port that lost labels by their numbers, or is silent. It is the link if
 * the loss is so far above what the ports behind it explain that of all ports
 * of the database, with links that lose nothing, one is suspected once in 740
 * times: of a single port that is three standard deviations. A silent one's, if
 * one of those behind it is heard.
 */
struct label_suspicion label_link_judge(struct label_db *db,
					const struct label_record *r,
					uint64_t now_ns);

#endif
