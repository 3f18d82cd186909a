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
#include <stdlib.h>

#include "hash/crc.h"
#include "net/be.h"

enum {
	ANSWER_MAX = 128, /* bytes of a frame with a NACK, at most */
	TTL = 64,
};

/* The length of a frame with so many bytes behind UDP, to the sender of u. */
static size_t frame_len(const struct net_udp *u, size_t len)
{
	return NET_ETH_LEN + NET_UDP_LEN + len +
	       (u->version == 6 ? NET_IP6_LEN : NET_IP4_LEN);
}

/* Sends an answer to the sender of u, which is in p. 1; 0: it cannot be
 * encoded; or -errno. */
static int answer_send(struct snk *to, const struct net_udp *u,
		       const struct pkt *p, enum dta_format format,
		       const struct dta_report *answer)
{
	struct net_udp4 v4 = {
		.src_port = DTA_PORT, .dst_port = DTA_NACK_PORT, .ttl = TTL};
	struct net_udp6 v6 = {
		.src_port = DTA_PORT, .dst_port = DTA_NACK_PORT, .ttl = TTL};
	size_t ip_len = u->version == 6 ? 16 : 4, hlen = frame_len(u, 0);
	uint8_t *buf = snk_room(to, ANSWER_MAX);
	int len;

	if (!buf)
		return errno ? -errno : -EIO;
	len = dta_encode(buf + hlen, ANSWER_MAX - hlen, format, answer);
	if (len < 0)
		return 0;
	memcpy(v6.eth_dst, p->data + NET_ETH_AT_SRC, 6);
	memcpy(v6.eth_src, p->data, 6);
	memcpy(v4.eth_dst, v6.eth_dst, 6);
	memcpy(v4.eth_src, v6.eth_src, 6);
	memcpy(u->version == 6 ? v6.src : v4.src, u->dst, ip_len);
	memcpy(u->version == 6 ? v6.dst : v4.dst, u->src, ip_len);
	if (u->version == 6)
		net_udp6_encode(buf, ANSWER_MAX, &v6, buf + hlen, (size_t)len);
	else
		net_udp4_encode(buf, ANSWER_MAX, &v4, (size_t)len);
	snk_done(to, frame_len(u, (size_t)len), p->ts_ns);
	return 1;
}

void nack_send(struct translator *t, const struct net_udp *u, uint16_t table,
	       const struct pkt *p, uint16_t last, enum dta_nack_reason reason)
{
	struct dta_report answer = {
		.opcode = DTA_NACK,
		.hop = (uint8_t)reason,
		.table = table,
		.sequence = last,
	};
	int rc;

	if (!t->nacks)
		return;
	if (t->nacks_lock)
		pthread_mutex_lock(t->nacks_lock);
	rc = answer_send(t->nacks, u, p, is_dta0(u) ? t->format : DTA_FORMAT_1,
			 &answer);
	if (t->nacks_lock)
		pthread_mutex_unlock(t->nacks_lock);
	if (rc > 0)
		t->ctr.nacks_sent++;
	else if (rc < 0 && !t->error)
		t->error = rc;
}

/*
 * Several collectors: each report goes to one, by the hash of its key (dta(7),
 * HASHING, "collector of a key"), and with mirrors also to the next one. Each
 * collector gets its reports and those that it mirrors in one order, wherever
 * batches end.
 */

struct steering {
	unsigned n;	 /* collectors */
	unsigned copies; /* of each report: 2 with mirrors */
	uint32_t hash[STAGE];
	uint16_t to[STAGE]; /* each report's collector */
	/* The reports by collector; those of c are [begin[c], begin[c + 1]). */
	uint16_t begin[COLLECTORS_MAX + 1];
	const uint8_t *key[2 * STAGE];
	uint64_t desc[2 * STAGE];
	uint16_t at[2 * STAGE];
};

/* Sorts reports by collector; those of one stay in order. Inlined for each
 * number of copies: twice as fast for one. */
static inline __attribute__((always_inline)) void
sort_by_collector(struct steering *s, const struct report_batch *reports,
		  unsigned copies)
{
	uint16_t own[COLLECTORS_MAX] = {0}, end[COLLECTORS_MAX], sum = 0;

	for (unsigned i = 0; i < reports->n; i++)
		own[s->to[i]]++;
	for (unsigned c = 0; c < s->n; c++) {
		s->begin[c] = end[c] = sum;
		sum = (uint16_t)(sum + own[c]);
		if (copies == 2)
			sum = (uint16_t)(sum + own[c ? c - 1 : s->n - 1]);
	}
	s->begin[s->n] = sum;
	for (unsigned i = 0; i < reports->n; i++) {
		unsigned c = s->to[i];

		for (unsigned mirror = 0; mirror < copies; mirror++) {
			unsigned k = end[c]++;

			s->key[k] = reports->key[i];
			s->at[k] = reports->at[i];
			s->desc[k] = reports->desc[i] |
				     (uint64_t)mirror << DESC_MIRRORED;
			c = c + 1 < s->n ? c + 1 : 0;
		}
	}
}

/* Runs one table's reports, each at its collector. */
static void run_on_collectors(struct translator *t, unsigned table,
			      const struct report_batch *reports)
{
	static const enum crc_id id = CRC_COLLECTOR;
	struct steering *s = t->steering;
	struct report_batch sorted;
	uint32_t *hash;

	if (!s) {
		run_table(t, table, reports);
		return;
	}
	hash = s->hash;
	sorted = (struct report_batch){.all = reports->all,
				       .any = reports->any,
				       .key = s->key,
				       .desc = s->desc,
				       .at = s->at};
	crc_batch(&id, 1, reports->key, t->state[table].t.key_len, reports->n,
		  &hash);
	for (unsigned i = 0; i < reports->n; i++)
		s->to[i] = (uint16_t)hash_mod(hash[i], s->n);
	if (s->copies == 1)
		sort_by_collector(s, reports, 1);
	else
		sort_by_collector(s, reports, 2);
	for (unsigned c = 0; c < s->n; c++) {
		struct report_batch part = report_batch_part(
			&sorted, s->begin[c], s->begin[c + 1]);

		if (part.n)
			run_table(t, c * t->n + table, &part);
	}
}

int steer_open(struct translator *t, unsigned collectors, bool mirror)
{
	t->steering = NULL;
	if (collectors <= 1)
		return 0;
	t->steering = calloc(1, sizeof(*t->steering));
	if (!t->steering)
		return -ENOMEM;
	t->steering->n = collectors;
	t->steering->copies = mirror ? 2 : 1;
	return 0;
}

enum {
	AT_SRC = SHAPE_AT_IP + NET_IP4_AT_SRC,
	AHEAD = 16, /* a packet is prefetched so many packets before its turn */
	AHEAD_BYTES = 128,
};

void admit_init(struct translator *t)
{
	for (unsigned i = 0; i <= NO_TABLE; i++)
		common_report_clear(&t->common[i]);
	for (unsigned i = 0; i < t->n && !t->rate.per_s; i++)
		common_report_init(&t->common[i], &t->state[i].t, i,
				   t->state[i].t.value_len, t->strict);
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

	if (is_dta0(u))
		i = r->opcode < TABLE_KINDS ? t->first_of_kind[r->opcode]
					    : NO_TABLE;
	else
		i = t->by_id[htobe16(r->table)];
	return i == NO_TABLE ? NULL : &t->state[i];
}

/* Checks a report against its table: NULL, or the counter of its reason. */
static uint64_t *check_report(struct translate_ledger *c,
			      const struct table_state *state,
			      const struct dta_report *r)
{
	if (r->opcode != state->t.kind)
		return &c->bad_opcode;
	if (r->key_len != state->t.key_len)
		return &c->bad_key;
	if (state->t.kind == TABLE_APPEND) {
		if (!r->data_len || r->data_len % state->t.value_len)
			return &c->bad_data;
		return be32_load(r->key) < state->t.lists ? NULL : &c->bad_list;
	}
	if (r->data_len != state->t.value_len)
		return &c->bad_data;
	if (state->t.kind != TABLE_POSTCARD)
		return NULL;
	/* A path that was cut short would be read as complete. */
	if (r->hop >= state->t.hops || r->path_len > state->t.hops ||
	    (r->path_len && r->hop >= r->path_len))
		return &c->bad_hop;
	return load32(r->data) == TABLE_BLANK ? &c->bad_value : NULL;
}

/* Whether a frame that is malformed, or cut by its capture, goes to another
 * port, as far as its headers can be read. */
static bool is_for_others(const struct pkt *p)
{
	struct net_packet n;

	return !net_packet_decode(&n, p->data, p->len) &&
	       (n.protocol != NET_PROTO_UDP || n.dst_port != DTA_PORT);
}

/* A DTA report of any shape: finds the datagram and decodes it. Returns the
 * counter of what it is instead, NULL if it is a report. */
static uint64_t *decode_report(struct translator *t, const struct pkt *p,
			       struct net_udp *u, struct dta_report *r)
{
	struct translate_ledger *c = &t->ctr;
	int rc = net_udp_decode(u, p->data, p->len);

	if (rc < 0)
		return rc == -ENOTSUP || is_for_others(p) ? &c->foreign
							  : &c->malformed;
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
		return sequence_answer(t, u, r, p);
	c->nacks++;
	return &c->foreign;
}

/* A tracked report counts as arrived before its content is checked: otherwise a
 * report that is not valid would be NACKed and sent again for ever. */
static uint64_t *decode_and_check(struct translator *t, const struct pkt *p,
				  struct dta_report *r,
				  struct table_state **state)
{
	uint64_t *reason, *bad;
	bool rate_taken = false; /* by sequence_check() */
	struct net_udp u;

	if (t->rate.per_s)
		rate_refill(&t->rate, p->ts_ns);
	reason = decode_report(t, p, &u, r);
	if (reason)
		return reason;
	*state = find_table_state(t, r, &u);
	bad = *state ? check_report(&t->ctr, *state, r) : &t->ctr.bad_table;
	if (r->tracked && t->strict) {
		reason = sequence_check(t, *state, &u, r, p, !bad);
		if (reason)
			return reason;
		rate_taken = *state && (*state)->t.sequence == TABLE_SEQ_STRICT;
	} else if (t->reporters) {
		sequence_note(t, *state, &u, r);
	}
	if (!bad && !rate_taken && t->rate.per_s &&
	    !rate_take(&t->rate, report_cost(t, *state, r)))
		return &t->ctr.rate_limited;
	return bad;
}

uint64_t admit_slowly(struct translator *t, const struct pkt *p,
		      const uint8_t **key)
{
	struct dta_report r;
	struct table_state *state;
	uint64_t *reason = decode_and_check(t, p, &r, &state);

	if (reason) {
		(*reason)++;
		return 0;
	}
	*key = r.key;
	return (uint64_t)state->index << DESC_TABLE |
	       (uint64_t)(r.immediate || state->t.immediate) << DESC_IMMEDIATE |
	       (uint64_t)(r.copies ? r.copies : state->t.copies)
		       << DESC_COPIES |
	       (uint64_t)(r.data - r.key) << DESC_DATA_AT |
	       (uint64_t)r.hop << DESC_HOP |
	       (uint64_t)r.path_len << DESC_PATH_LEN |
	       (uint64_t)r.data_len << DESC_DATA_LEN | r.sequence;
}

/* Admits a packet that is not a common report (desc 0), or has not its
 * reporter's next number. Not inlined: the loop that calls it is faster short.
 */
static __attribute__((noinline)) void admit_one(struct translator *t, size_t i,
						uint64_t desc)
{
	const struct pkt *p = &t->pkts[i];
	const uint8_t *key = p->data + COMMON_AT_KEY;
	struct report_batch *reports = &t->stage;

	if (desc)
		sequence_run(t, load32(p->data + AT_SRC), desc_sequence(desc),
			     1, t->counted >> desc_table(desc) & 1);
	else
		desc = admit_slowly(t, p, &key);
	if (!desc)
		return;
	report_batch_add(reports, key, (uint16_t)i, desc);
}

static inline void set_reports(struct report_batch *reports, unsigned n,
			       uint64_t all, uint64_t any)
{
	reports->n = n;
	reports->all &= all;
	reports->any |= any;
}

/* Admits packets [i, end) of the stage; returns end. Prefetches the frame so
 * many packets ahead. numbers: t->expected is checked. What the loop has in
 * registers is stored before a call: the compiler could not keep it there. */
static inline __attribute__((always_inline)) size_t
admit_with(struct translator *t, size_t i, size_t end, size_t ahead,
	   struct prefetch_queue *prefetching, bool numbers, shape_fn *matches)
{
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
		desc = common_report_desc(t->common, t->by_id, p, matches);
		if (__builtin_expect(desc != 0, 1) &&
		    (!numbers || is_next(t->expected, f + AT_SRC, desc))) {
			to->key[n] = f + COMMON_AT_KEY;
			to->at[n] = (uint16_t)i;
			to->desc[n++] = desc;
			all &= desc;
			any |= desc;
			continue;
		}
		set_reports(&t->stage, n, all, any);
		admit_one(t, i, desc);
		n = t->stage.n;
		all = UINT64_MAX;
		any = 0;
	}
	set_reports(&t->stage, n, all, any);
	return i;
}

#ifdef __x86_64__
/* If the CPU has AVX2: a third faster (bench_translate.c, Append). One loop for
 * all cases would need more registers than there are, and is 3 % slower. */
SHAPE_WIDE static size_t admit_wide(struct translator *t, size_t i, size_t end,
				    size_t ahead)
{
	struct prefetch_queue *prefetching = t->prefetching;

	if (prefetching && t->expected)
		return admit_with(t, i, end, ahead, prefetching, true,
				  shape_is_wide);
	if (prefetching)
		return admit_with(t, i, end, ahead, prefetching, false,
				  shape_is_wide);
	if (t->expected)
		return admit_with(t, i, end, ahead, NULL, true, shape_is_wide);
	return admit_with(t, i, end, ahead, NULL, false, shape_is_wide);
}
#endif

static size_t admit_some(struct translator *t, size_t i, size_t end,
			 size_t ahead)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return admit_wide(t, i, end, ahead);
#endif
	return admit_with(t, i, end, ahead, t->prefetching, t->expected,
			  shape_is);
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
	uint64_t *at = &next[expected_index(src) % DESCS_NEXT];

	if (*at != now)
		return false;
	*at = now + 1;
	return true;
}

static inline __attribute__((always_inline)) void
descs_with(const struct translator *t, struct desc_batch *batch,
	   shape_fn *matches)
{
	uint64_t all = UINT64_MAX, any = 0, latest = 0, counted = t->counted;
	uint64_t *next = batch->next;
	const struct pkt *p = batch->pkts;
	size_t n = batch->n;

	for (size_t i = 0; i < n; i++, p++) {
		uint64_t desc;

		if (i + AHEAD < n)
			pkt_prefetch(p + AHEAD, AHEAD_BYTES);
		desc = common_report_desc(t->common, t->by_id, p, matches);
		batch->desc[i] = desc;
		batch->key[i] = p->data + COMMON_AT_KEY;
		all &= desc;
		any |= desc;
		latest = latest < p->ts_ns ? p->ts_ns : latest;
		if (desc && (!next || is_next_counted(next, p, desc, counted)))
			continue;
		batch->other(batch->ctx, i);
	}
	batch->all = all;
	batch->any = any;
	batch->latest_ns = latest;
}

#ifdef __x86_64__
SHAPE_WIDE static void descs_wide(const struct translator *t,
				  struct desc_batch *batch)
{
	descs_with(t, batch, shape_is_wide);
}
#endif

void admit_descs(const struct translator *t, struct desc_batch *batch)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2")) {
		descs_wide(t, batch);
		return;
	}
#endif
	descs_with(t, batch, shape_is);
}

/* Selects the stage's reports [from, end) of one table, in order. Without a
 * branch on the table, which could not be predicted in mixed traffic. */
static struct report_batch *select_table(struct translator *t, unsigned index,
					 unsigned from, unsigned end)
{
	struct report_batch *to = &t->bucket, in = t->stage, out = *to;
	uint64_t all = UINT64_MAX, any = 0;
	unsigned n = 0;

	for (unsigned i = from; i < end; i++) {
		uint64_t desc = in.desc[i];
		bool ours = desc_table(desc) == index;

		out.key[n] = in.key[i];
		out.at[n] = in.at[i];
		out.desc[n] = desc;
		n += ours;
		all &= ours ? desc : UINT64_MAX;
		any |= ours ? desc : 0;
	}
	to->n = n;
	to->all = all;
	to->any = any;
	return to;
}

/* The tables of the reports, a bit each. */
static uint64_t tables_of(const struct report_batch *reports)
{
	uint64_t states = 0;

	if (!reports->n)
		return 0;
	if (desc_table(reports->all) == desc_table(reports->any))
		return UINT64_C(1) << desc_table(reports->any);
	for (unsigned i = 0; i < reports->n; i++)
		states |= UINT64_C(1) << desc_table(reports->desc[i]);
	return states;
}

/* Runs the stage's reports [from, end), table by table. Nearly always there is
 * only one table, and they are all. */
static void run_tables(struct translator *t, uint64_t states, unsigned from,
		       unsigned end)
{
	struct report_batch *reports = &t->stage,
			    part = report_batch_part(reports, from, end);

	if (states && desc_table(reports->all) == desc_table(reports->any)) {
		if (part.n)
			run_on_collectors(t, (unsigned)__builtin_ctzll(states),
					  &part);
		return;
	}
	for (; states && from < end; states &= states - 1) {
		unsigned index = (unsigned)__builtin_ctzll(states);

		reports = select_table(t, index, from, end);
		if (reports->n)
			run_on_collectors(t, index, reports);
	}
}

/* Runs the stage's reports. Those that came before a list is due are run before
 * it is written: nearly always these are all. */
static void stage_finish(struct translator *t)
{
	const struct pkt *pkts = t->pkts;
	uint64_t states = tables_of(&t->stage);
	unsigned from = 0, end;

	for (size_t k = 0, n = t->npkts; k < n; from = end) {
		clock_to(t, pkts[k].ts_ns);
		clock_flush(t);
		t->waiting = t->waiting || states & t->append;
		k += t->waiting ? clock_until_due(t, pkts + k, n - k) : n - k;
		clock_to(t, pkts[k - 1].ts_ns);
		end = k < n ? from : t->stage.n;
		while (end < t->stage.n && t->stage.at[end] < k)
			end++;
		run_tables(t, states, from, end);
	}
}

void stage_run_tables(struct translator *t, uint64_t states)
{
	run_tables(t, tables_of(&t->stage) & states, 0, t->stage.n);
}

/*
 * Whether reports may be run before the stage's other packets are decoded, with
 * the same result, and whether there are enough of them. None may have an
 * immediate, or be for rows with one, as these have a place among other tables'
 * operations; nor be for a list, as these depend on the time.
 */
static bool may_run_early(struct translator *t, uint64_t states)
{
	if (desc_immediate(t->stage.any)) {
		t->pending_immediates |= states & t->postcards;
		return false;
	}
	return states && !(states & (t->pending_immediates | t->append)) &&
	       t->stage.n >=
		       STEP_PREFETCH * (unsigned)__builtin_popcountll(states);
}

/* Admits a stage in parts; the cache lines that one part's operations write are
 * prefetched during the next. stage_finish() runs what is left in t->stage. */
static void admit_in_parts(struct translator *t, const struct pkt *pkts,
			   size_t n)
{
	struct report_batch *reports = &t->stage;
	size_t k = 0, part = 0;

	do {
		size_t step = n - k < STEP_PREFETCH ? n - k : STEP_PREFETCH;
		uint64_t states;

		admit(t, pkts + k, step);
		k += step;
		states = tables_of(reports);
		if (!may_run_early(t, states))
			continue;
		run_tables(t, states, 0, reports->n);
		ops_prefetch(t, k - part);
		report_batch_clear(reports);
		part = k;
	} while (k < n);
}

void stage_run(struct translator *t, const struct pkt *pkts, size_t n)
{
	report_batch_clear(&t->stage);
	t->pkts = pkts;
	t->npkts = n;
	t->first = t->ctr.received;
	if (t->prefetching)
		admit_in_parts(t, pkts, n);
	else
		admit(t, pkts, n);
	stage_finish(t);
}

void translator_begin(struct translator *t)
{
	struct transport *transport = t->transport;

	t->error = 0;
	t->stamp_ns = t->last_ns;
	t->generation = transport->begin(transport);
	if (!transport->busy)
		return;
	/* A table is busy if it is busy at any collector: a report's collector
	 * is not known yet. */
	for (unsigned i = 0; i < t->n; i++)
		t->state[i].busy = false;
	for (unsigned i = 0; i < t->states; i++)
		if (transport->busy(transport, i))
			t->state[i % t->n].busy = true;
}

int translator_end(struct translator *t)
{
	ops_hand_over(t);
	if (t->transport->end)
		t->transport->end(t->transport);
	return t->error;
}
