/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * admit.c - packets in, valid reports out. Every packet is decoded and checked
 * against its table; if it is not valid, it is counted by its reason and
 * dropped.
 *
 * There are two ways. common_report_desc() recognizes the one shape of frame
 * that nearly all reports have. All other packets go to admit_slowly(), which
 * decodes them header by header (net_udp_decode, dta_decode) and finds the
 * reason. What the first accepts, the second accepts with the same result (a
 * unit test compares them).
 */
#include "dta/private.h"

#include <errno.h>

#include "net/be.h"

enum {
	AT_SRC = SHAPE_AT_IP + NET_IP4_AT_SRC,
	AHEAD = 16, /* packets between prefetching for one and looking at it */
	AHEAD_BYTES = 128,
};

static inline uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

void admit_init(struct translator *t)
{
	for (unsigned i = 0; i <= NO_TABLE; i++)
		common_report_clear(&t->common[i]);
	for (unsigned i = 0; i < t->n && !t->rate.per_s; i++)
		common_report_init(&t->common[i], &t->state[i].t, i,
				   t->state[i].data_len, t->strict);
}

/* Whether a report of the common shape is the next one of its reporter. */
static inline bool is_next(uint64_t *expected, const uint8_t *src,
			   uint64_t desc)
{
	uint64_t now = expected_word(desc_sequence(desc), load32(src));
	uint64_t *at = expected_at(expected, load32(src));

	if (*at != now)
		return false;
	*at = now + 1;
	return true;
}

/* The table of a report, NULL if there is none. */
static struct table_state *find_table_state(struct translator *t,
					    const struct dta_report *r,
					    const struct net_udp *u)
{
	unsigned i;

	if (u->payload[0] >> 4 == 0) /* DTA/0 has no table field */
		i = r->opcode <= TABLE_POSTCARD ? t->first_of_kind[r->opcode]
						: NO_TABLE;
	else
		i = t->by_id[htobe16(r->table)];
	return i == NO_TABLE ? NULL : &t->state[i];
}

/* Checks a report against its table: NULL, or the counter of its reason. */
static uint64_t *check_report(struct translate_ledger *c,
			      const struct table_state *l,
			      const struct dta_report *r)
{
	if (r->opcode != l->kind)
		return &c->bad_opcode;
	if (r->key_len != l->key_len)
		return &c->bad_key;
	if (l->kind == TABLE_APPEND) {
		if (!r->data_len || r->data_len % l->data_len)
			return &c->bad_data;
		return be32_load(r->key) < l->lists ? NULL : &c->bad_list;
	}
	if (r->data_len != l->data_len)
		return &c->bad_data;
	if (l->kind != TABLE_POSTCARD)
		return NULL;
	/* A path that was cut short would be read as complete. */
	if (r->hop >= l->hops || r->path_len > l->hops ||
	    (r->path_len && r->hop >= r->path_len))
		return &c->bad_hop;
	return load32(r->data) == TABLE_BLANK ? &c->bad_value : NULL;
}

/* A DTA report of any shape: finds the datagram and decodes it. Returns the
 * counter of what it is instead, NULL if it is a report. */
static uint64_t *decode_report(struct translator *t, const struct pkt *p,
			       struct net_udp *u, struct dta_report *r)
{
	struct translate_ledger *c = &t->ctr;
	int rc = net_udp_decode(u, p->data, p->len);

	if (rc < 0)
		return rc == -ENOTSUP ? &c->foreign : &c->malformed;
	if (u->dst_port == DTA_NACK_PORT)
		c->nacks++; /* for a reporter, not for us */
	if (u->dst_port != DTA_PORT)
		return &c->foreign;
	c->partial_checksums += u->partial;
	rc = dta_decode(r, t->format, u->payload, u->len);
	if (rc == -EPROTONOSUPPORT)
		return &c->bad_version;
	if (rc == -EOPNOTSUPP)
		return &c->bad_opcode;
	if (rc == -ERANGE)
		return &c->bad_copies;
	if (rc < 0)
		return &c->malformed;
	if (r->opcode != DTA_NACK)
		return NULL;
	if (t->reporters &&
	    (r->hop == DTA_NACK_STATE || r->hop == DTA_NACK_GONE))
		return sequence_ask(t, u, r, p);
	c->nacks++;
	return &c->foreign;
}

/*
 * A tracked report counts as arrived before its content is checked: otherwise a
 * report that is not valid would be NACKed and sent again for ever.
 */
static uint64_t *decode_and_judge(struct translator *t, const struct pkt *p,
				  struct dta_report *r, struct table_state **l)
{
	uint64_t *reason, *bad;
	bool asked = false; /* for the rate, by the sequence check */
	struct net_udp u;

	if (t->rate.per_s)
		rate_time(&t->rate, p->ts_ns);
	reason = decode_report(t, p, &u, r);
	if (reason)
		return reason;
	*l = find_table_state(t, r, &u);
	bad = *l ? check_report(&t->ctr, *l, r) : &t->ctr.bad_table;
	if (r->tracked && t->strict) {
		reason = sequence_check(t, *l, &u, r, p, !bad);
		if (reason)
			return reason;
		asked = *l && (*l)->t.sequence == TABLE_SEQ_STRICT;
	} else if (t->reporters) {
		sequence_note(t, *l, &u, r);
	}
	if (!bad && !asked && t->rate.per_s &&
	    !rate_take(&t->rate, report_cost(t, *l, r)))
		return &t->ctr.rate_limited;
	return bad;
}

uint64_t admit_slowly(struct translator *t, const struct pkt *p,
		      const uint8_t **key)
{
	struct dta_report r;
	struct table_state *l;
	uint64_t *reason = decode_and_judge(t, p, &r, &l);

	if (reason) {
		(*reason)++;
		return 0;
	}
	*key = r.key;
	return (uint64_t)l->index << DESC_TABLE |
	       (uint64_t)(r.immediate || l->t.immediate) << DESC_IMMEDIATE |
	       (uint64_t)(r.copies ? r.copies : l->copies) << DESC_COPIES |
	       (uint64_t)(r.data - r.key) << DESC_DATA_AT |
	       (uint64_t)r.hop << DESC_HOP |
	       (uint64_t)r.path_len << DESC_PATH_LEN |
	       (uint64_t)r.data_len << DESC_DATA_LEN | r.sequence;
}

/* A packet that is not of the common shape; or is, with its head, but not the
 * next one of its reporter. Kept out of the loop, which is faster short. */
static __attribute__((noinline)) void admit_one(struct translator *t, size_t i,
						uint64_t desc)
{
	const struct pkt *p = &t->pkts[i];
	const uint8_t *key = p->data + COMMON_AT_KEY;
	struct report_batch *j = &t->stage;

	if (desc)
		sequence_run(t, load32(p->data + AT_SRC), desc_sequence(desc),
			     1, t->counted >> desc_table(desc) & 1);
	else
		desc = admit_slowly(t, p, &key);
	if (!desc)
		return;
	report_batch_add(j, key, (uint16_t)i, desc);
}

static inline void are_reports(struct report_batch *j, unsigned n, uint64_t all,
			       uint64_t any)
{
	j->n = n;
	j->all &= all;
	j->any |= any;
}

/*
 * Packets [i, end) of the stage; returns the first that is not judged. Asks for
 * the frames so many packets ahead. What the loop has in registers is put where
 * it belongs before anything is called: they are too few to keep it.
 */
static inline __attribute__((always_inline)) size_t
admit_with(struct translator *t, size_t i, size_t end, size_t ahead,
	   shape_fn *is)
{
	struct prefetch_queue *prefetching = t->prefetching;
	uint64_t *expected = t->expected;
	const struct pkt *p = t->pkts + i;
	struct report_batch_room *to = &t->stage_room;
	uint64_t all = UINT64_MAX, any = 0, desc;
	unsigned n = t->stage.n;

	for (; i < end; i++, p++) {
		const uint8_t *f = p->data;

		if (prefetching)
			prefetch_queue_step(prefetching);
		else
			pkt_prefetch(p + ahead, AHEAD_BYTES);
		desc = common_report_desc(t->common, t->by_id, p, is);
		if (__builtin_expect(desc != 0, 1) &&
		    (!expected || is_next(expected, f + AT_SRC, desc))) {
			to->key[n] = f + COMMON_AT_KEY;
			to->at[n] = (uint16_t)i;
			to->desc[n++] = desc;
			all &= desc;
			any |= desc;
			continue;
		}
		are_reports(&t->stage, n, all, any);
		admit_one(t, i, desc);
		n = t->stage.n;
		all = UINT64_MAX;
		any = 0;
	}
	are_reports(&t->stage, n, all, any);
	return i;
}

static size_t admit_narrow(struct translator *t, size_t i, size_t end,
			   size_t ahead)
{
	return admit_with(t, i, end, ahead, shape_is);
}

#ifdef __x86_64__
/* By the CPU: a third faster (bench_translate.c, Append). */
SHAPE_WIDE static size_t admit_wide(struct translator *t, size_t i, size_t end,
				    size_t ahead)
{
	return admit_with(t, i, end, ahead, shape_is_wide);
}
#endif

static size_t admit_some(struct translator *t, size_t i, size_t end,
			 size_t ahead)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return admit_wide(t, i, end, ahead);
#endif
	return admit_narrow(t, i, end, ahead);
}

void admit(struct translator *t, const struct pkt *pkts, size_t n)
{
	size_t first = (size_t)(pkts - t->pkts), i = first, end = first + n;
	size_t last = t->npkts > AHEAD ? t->npkts - AHEAD : 0;
	unsigned before = t->stage.n;

	if (i < last)
		i = admit_some(t, i, end < last ? end : last, AHEAD);
	admit_some(t, i, end, 0); /* nothing is ahead of the last ones */
	t->ctr.received += n;
	t->ctr.stored += t->stage.n - before;
}

static inline bool is_next_counted(uint64_t *next, const struct pkt *p,
				   uint64_t desc, uint64_t counted)
{
	uint32_t src = load32(p->data + AT_SRC);
	uint64_t now = descs_number(src, desc, counted);
	uint64_t *at = descs_next_at(next, src);

	if (*at != now)
		return false;
	*at = now + 1;
	return true;
}

static inline __attribute__((always_inline)) void
descs_with(const struct translator *t, struct desc_batch *h, shape_fn *is)
{
	uint64_t all = UINT64_MAX, any = 0, latest = 0, counted = t->counted;
	uint64_t *next = h->next;
	const struct pkt *p = h->pkts;
	size_t n = h->n;

	for (size_t i = 0; i < n; i++, p++) {
		uint64_t desc;

		if (i + AHEAD < n)
			pkt_prefetch(p + AHEAD, AHEAD_BYTES);
		desc = common_report_desc(t->common, t->by_id, p, is);
		h->desc[i] = desc;
		h->key[i] = p->data + COMMON_AT_KEY;
		all &= desc;
		any |= desc;
		latest = latest < p->ts_ns ? p->ts_ns : latest;
		if (desc && (!next || is_next_counted(next, p, desc, counted)))
			continue;
		h->other(h->ctx, i);
	}
	h->all = all;
	h->any = any;
	h->latest_ns = latest;
}

#ifdef __x86_64__
SHAPE_WIDE static void descs_wide(const struct translator *t,
				  struct desc_batch *h)
{
	descs_with(t, h, shape_is_wide);
}
#endif

void admit_descs(const struct translator *t, struct desc_batch *h)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2")) {
		descs_wide(t, h);
		return;
	}
#endif
	descs_with(t, h, shape_is);
}
