/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/verbs_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/verbs_link.h"

struct verbs_reader {
	struct verbs_peer peer;
	struct verbs_link link;
	struct verbs_road_ledger ctr;
	uint64_t size;
};

/* READs of a round: each has its place in the ring, and a copy to make. */
struct round {
	unsigned n;
	uint32_t used; /* bytes of the ring */
	struct {
		void *to;
		uint32_t at, length;
	} part[VERBS_DEPTH];
};

static int broken(const struct verbs_reader *r, struct fault *f)
{
	if (r->ctr.access || r->ctr.refused)
		return fault_set(f, -EACCES,
				 "the collector refused to be read");
	if (r->ctr.unanswered)
		return fault_set(f, -ETIMEDOUT,
				 "the collector does not answer any more");
	return fault_set(f, -ECONNRESET, "connection lost");
}

/* As much of a piece, from done on, as the ring has room for. */
static size_t add(struct round *round, struct verbs_queue *q,
		  const struct memory_piece *p, size_t done)
{
	size_t length = p->length - done, room = VERBS_STAGE - round->used;
	unsigned i = round->n;

	length = length < room ? length : room;
	if (!length)
		return 0;
	round->n++;
	round->part[i].to = (uint8_t *)p->to + done;
	round->part[i].at = round->used;
	round->part[i].length = (uint32_t)length;
	/* Numbers of 8 bytes are to be read as such. */
	round->used += (uint32_t)(length + 7) & ~7u;
	verbs_queue_read(q, p->offset + done, round->part[i].at,
			 (uint32_t)length);
	return length;
}

static int finish(struct verbs_reader *r, struct round *round, struct fault *f)
{
	const uint8_t *from = r->link.memory + VERBS_SCRATCH;

	verbs_queue_settle(&r->link.q);
	if (r->link.q.broken)
		return broken(r, f);
	for (unsigned i = 0; i < round->n; i++)
		memcpy(round->part[i].to, from + round->part[i].at,
		       round->part[i].length);
	round->n = round->used = 0;
	return 0;
}

/* Many at a time. */
static int read_pieces(void *ctx, const struct memory_piece *p, size_t n,
		       struct fault *f)
{
	struct verbs_reader *r = ctx;
	struct round round = {.n = 0};

	for (size_t i = 0; i < n; i++)
		if (p[i].offset > r->size ||
		    p[i].length > r->size - p[i].offset)
			return fault_set(f, -ERANGE, "not in the region");
	verbs_peer_poll(&r->peer);
	if (r->link.q.broken || r->link.disconnected)
		return broken(r, f);
	for (size_t i = 0; i < n; i++)
		for (size_t done = 0; done < p[i].length;) {
			int rc = 0;

			if (round.n == r->link.q.depth ||
			    round.used == VERBS_STAGE)
				rc = finish(r, &round, f);
			if (rc < 0)
				return rc;
			done += add(&round, &r->link.q, &p[i], done);
		}
	return finish(r, &round, f);
}

static void close_reader(void *ctx)
{
	struct verbs_reader *r = ctx;

	verbs_link_close(&r->link);
	verbs_peer_close(&r->peer);
	free(r);
}

int verbs_memory(struct memory **out, const char *address,
		 const atomic_int *stop, struct fault *f)
{
	static const atomic_int never;
	struct verbs_reader *r = calloc(1, sizeof(*r));
	struct memory_link link = {read_pieces, close_reader, r};
	struct fault why = {""};
	int rc;

	if (!r)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = verbs_peer_open(&r->peer, address, stop ? stop : &never, &why);
	if (!rc)
		rc = verbs_link_reader(&r->link, &r->peer, VERBS_CM_READ,
				       &r->size, &r->ctr, &why);
	if (rc < 0) {
		close_reader(r);
		return fault_of(f, rc, address, &why);
	}
	link.size = r->size;
	rc = memory_of_link(out, address, &link, stop, &why);
	return rc < 0 ? fault_of(f, rc, address, &why) : 0;
}
