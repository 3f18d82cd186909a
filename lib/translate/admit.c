/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * admit.c - packets in, good reports out. Every packet is decoded and judged
 * against its table; what is not good is counted under its reason and goes no
 * further.
 *
 * Two ways lead to the same verdict. admit_common() knows one shape of frame,
 * the one that nearly all reports have, and says yes or "not that shape".
 * admit_any() decodes by the book (net_udp_decode, dta_decode) and finds the
 * reason. Whatever the first takes, the second would take alike (a unit test
 * compares them).
 */
#include "translate/private.h"

#include <errno.h>

#include "wire/be.h"

enum {
	/* The common frame: Ethernet, IPv4 without options, UDP, DTA/1. Where
	 * in it the words begin that are compared as a whole. */
	AT_IP = NET_ETH_LEN,
	AT_UDP = AT_IP + NET_IP4_LEN,
	AT_DTA = AT_UDP + NET_UDP_LEN,
	AT_SRC = AT_IP + NET_IP4_AT_SRC,
	/* Ethernet type; version, header length; length */
	AT_IP_WORD = NET_ETH_AT_TYPE,
	/* flags and offset; TTL; protocol */
	AT_FRAGMENT = AT_IP + NET_IP4_AT_FRAGMENT,
	/* port; length; checksum; DTA version, opcode */
	AT_UDP_WORD = AT_UDP + NET_UDP_AT_DST,
	AT_KEY = AT_DTA + DTA_HEADER_LEN,
	AHEAD = 16, /* packets between asking for one and looking at it */
	AHEAD_BYTES = 128,
};

/* The bits of these words that tell, first byte on the left. */
static const uint64_t ip_mask = 0xffffff00ffff0000;
static const uint64_t fragment_mask = 0xbfff00ff00000000;
static const uint64_t udp_mask = 0xffffffffffffff00;
static const uint64_t header_mask = 0xff00ff0000000000;
/* What of DTA/1's header goes on in a job's head. */
static const uint64_t header_kept = 0x008fffff0000ffff;

static inline uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

void admit_init(struct lane *l)
{
	uint64_t udp_len = NET_UDP_LEN + DTA_HEADER_LEN + l->key_len +
			   l->data_len;
	uint64_t version = DTA_VERSION_1 << 4 | l->kind;

	l->ip_word = htobe64((uint64_t)NET_ETHERTYPE_IP4 << 48 |
			     (uint64_t)NET_IP4_PLAIN << 40 |
			     (NET_IP4_LEN + udp_len) << 16);
	l->udp_word = htobe64((uint64_t)DTA_PORT << 48 | udp_len << 32 |
			      version << 8); /* checksum 0: none */
	l->header = version << 56 | (uint64_t)l->key_len << 40;
	l->head = (uint64_t)l->index << HEAD_LANE |
		  (uint64_t) !!l->t.immediate << HEAD_IMMEDIATE |
		  (uint64_t)l->data_len << HEAD_DATA_LEN;
	l->copies_head = (uint64_t)l->copies << HEAD_COPIES;
	l->judged = l->kind == TABLE_POSTCARD || l->kind == TABLE_APPEND;
	l->frame_len = NET_ETH_LEN + NET_IP4_LEN + (uint32_t)udp_len;
}

/*
 * Whether the 20 bytes of an IPv4 header add up to 0xffff in one's complement
 * (RFC 791, RFC 1071): whether they are, as one long number, a multiple of
 * 0xffff. That holds in either byte order, and for the sum of its parts with
 * the carries brought round.
 */
static inline bool ip_sum_right(const uint8_t *p)
{
	uint64_t sum = load64(p), part = load64(p + 8);

	sum += part;
	sum += sum < part;
	part = load32(p + 16);
	sum += part;
	sum += sum < part;
	return sum % 0xffff == 0;
}

/* Whether a frame is of the common shape, with one value for this table. */
static inline __attribute__((always_inline)) bool
is_common(const struct lane *l, const uint8_t *f, uint32_t len)
{
	uint64_t ip = load64(f + AT_IP_WORD) & htobe64(ip_mask);
	uint64_t fragment = load64(f + AT_FRAGMENT) & htobe64(fragment_mask);
	uint64_t udp = load64(f + AT_UDP_WORD) & htobe64(udp_mask);

	return !((ip ^ l->ip_word) | (udp ^ l->udp_word) |
		 (fragment ^ htobe64((uint64_t)NET_PROTO_UDP << 32))) &&
	       len >= l->frame_len && ip_sum_right(f + AT_IP);
}

/* What a table still has to say about a report of the right lengths. */
static inline bool common_judge(const struct lane *l, const uint8_t *key,
				uint64_t head)
{
	unsigned hop = head_hop(head), path_len = head_path_len(head);

	if (l->kind == TABLE_POSTCARD)
		return hop < l->hops && path_len <= l->hops &&
		       (!path_len || hop < path_len) &&
		       load32(key + l->key_len) != TABLE_BLANK;
	return l->kind != TABLE_APPEND || be32_load(key) < l->lists;
}

/* Whether a packet is of the common shape and a good report: then its head. */
static inline __attribute__((always_inline)) bool
admit_common(const struct translator *t, const struct pkt *p, uint64_t *head)
{
	const uint8_t *f = p->data;
	const struct lane *l;
	uint64_t h, n;
	unsigned lane;

	if (p->len < AT_KEY)
		return false;
	h = be64_load(f + AT_DTA);
	lane = t->by_id[h >> 16 & 0xffff];
	if (lane == NO_LANE)
		return false;
	l = &t->lane[lane];
	n = h >> HEAD_COPIES & 15;
	if ((h & (header_mask | t->slow)) != l->header || n > DTA_MAX_COPIES ||
	    !is_common(l, f, p->len))
		return false;
	*head = (h & header_kept) | l->head | (n ? 0 : l->copies_head);
	return l->judged ? common_judge(l, f + AT_KEY, *head) : true;
}

/* Whether a report of the common shape is the next one of its reporter. */
static inline bool is_next(uint64_t *expected, const uint8_t *src,
			   uint64_t head)
{
	uint64_t now = expected_word(head_sequence(head), load32(src));
	uint64_t *at = expected_at(expected, load32(src));

	if (*at != now)
		return false;
	*at = now + 1;
	return true;
}

/* The lane of a report, NULL if there is none. */
static struct lane *lane_of(struct translator *t, const struct dta_report *r,
			    const struct net_udp *u)
{
	unsigned i;

	if (u->payload[0] >> 4 == 0) /* DTA/0 has no table field */
		i = r->opcode <= TABLE_POSTCARD ? t->first_of_kind[r->opcode]
						: NO_LANE;
	else
		i = t->by_id[r->table];
	return i == NO_LANE ? NULL : &t->lane[i];
}

/* The counter that a report goes under, NULL if it is good. */
static uint64_t *judge(struct translate_ledger *c, const struct lane *l,
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
	/* A path cut short would be answered as whole. */
	if (r->hop >= l->hops || r->path_len > l->hops ||
	    (r->path_len && r->hop >= r->path_len))
		return &c->bad_hop;
	return load32(r->data) == TABLE_BLANK ? &c->bad_value : NULL;
}

/* A DTA report of any shape: finds the datagram and decodes it. Returns the
 * counter of what it is instead, NULL if it is a report. */
static uint64_t *decode(struct translator *t, const struct pkt *p,
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
 * A tracked report counts as arrived before its content is judged: a reporter
 * that sent nonsense in order must not be asked for the same nonsense for ever.
 */
static uint64_t *decode_and_judge(struct translator *t, const struct pkt *p,
				  struct dta_report *r, struct lane **l)
{
	uint64_t *reason, *bad;
	bool asked = false; /* for the rate, by the sequence check */
	struct net_udp u;

	if (t->rate.per_s)
		rate_time(&t->rate, p->ts_ns);
	reason = decode(t, p, &u, r);
	if (reason)
		return reason;
	*l = lane_of(t, r, &u);
	bad = *l ? judge(&t->ctr, *l, r) : &t->ctr.bad_table;
	if (r->tracked && t->strict) {
		reason = sequence_check(t, *l, &u, r, p, !bad);
		if (reason)
			return reason;
		asked = *l && (*l)->t.sequence == TABLE_SEQ_STRICT;
	} else if (t->reporters) {
		sequence_note(t, *l, &u, r);
	}
	if (!bad && !asked && t->rate.per_s &&
	    !rate_take(&t->rate, cost_of(t, *l, r)))
		return &t->ctr.rate_limited;
	return bad;
}

/* Kept out of admit()'s loop, which is faster short. Returns a head, or 0. */
static __attribute__((noinline, cold)) uint64_t
admit_any(struct translator *t, const struct pkt *p, const uint8_t **key)
{
	struct dta_report r;
	struct lane *l;
	uint64_t *reason = decode_and_judge(t, p, &r, &l);

	if (reason) {
		(*reason)++;
		return 0;
	}
	*key = r.key;
	return (l->head & ~(UINT64_C(0xffff) << HEAD_DATA_LEN)) |
	       (uint64_t)r.immediate << HEAD_IMMEDIATE |
	       (uint64_t)(r.copies ? r.copies : l->copies) << HEAD_COPIES |
	       (uint64_t)(r.data - r.key) << HEAD_DATA_AT |
	       (uint64_t)r.hop << HEAD_HOP |
	       (uint64_t)r.path_len << HEAD_PATH_LEN |
	       (uint64_t)r.data_len << HEAD_DATA_LEN | r.sequence;
}

/* Four times in the program: with and without a reporter's numbers to look at,
 * and lines to ask for. */
static inline __attribute__((always_inline)) size_t
admit_with(struct translator *t, const struct pkt *pkts, size_t n, size_t first,
	   uint64_t *expected, struct asking *asking)
{
	struct jobs *j = &t->stage, to = *j;
	uint64_t all = j->all, any = j->any, head;
	size_t jobs = j->n;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *f = pkts[i].data;

		if (asking)
			asking_next(asking);
		else if (i + AHEAD < n)
			pkt_ask(&pkts[i + AHEAD], AHEAD_BYTES);
		if (__builtin_expect(admit_common(t, &pkts[i], &head), 1)) {
			to.key[jobs] = f + AT_KEY;
			if (expected && !is_next(expected, f + AT_SRC, head))
				sequence_common(t, f + AT_SRC, head);
		} else {
			head = admit_any(t, &pkts[i], &to.key[jobs]);
			if (t->halt)
				n = i + (t->halt == HALT_BEHIND);
			if (!head)
				continue;
		}
		to.at[jobs] = (uint16_t)(first + i);
		to.head[jobs++] = head;
		all &= head;
		any |= head;
	}
	j->n = (unsigned)jobs;
	j->all = all;
	j->any = any;
	return n;
}

size_t admit(struct translator *t, const struct pkt *pkts, size_t n,
	     size_t first)
{
	uint64_t *e = t->expected;
	struct asking *a = t->asking;
	unsigned before = t->stage.n;

	t->halt = HALT_NOT;
	if (a)
		n = e ? admit_with(t, pkts, n, first, e, a)
		      : admit_with(t, pkts, n, first, NULL, a);
	else
		n = e ? admit_with(t, pkts, n, 0, e, NULL)
		      : admit_with(t, pkts, n, 0, NULL, NULL);
	t->ctr.received += n;
	t->ctr.stored += t->stage.n - before;
	return n;
}

/* For is_expected(): packet i, of the common shape. */
static inline void look_for_next(struct work *w, size_t i, const uint8_t *src,
				 uint64_t head)
{
	w->who[i] = (uint16_t)expected_index(load32(src));
	w->next[i] = expected_word(head_sequence(head), load32(src));
}

/* is_next() of packet i. */
static inline bool is_expected(uint64_t *expected, const struct work *w,
			       size_t i)
{
	uint64_t *at = &expected[w->who[i]];

	if (*at != w->next[i])
		return false;
	*at = w->next[i] + 1;
	return true;
}

void admit_look(struct translator *t, const struct pkt *pkts, size_t n)
{
	struct jobs *j = &t->stage, to = *j;
	uint64_t all = UINT64_MAX, any = 0;
	unsigned common = 0;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *f = pkts[i].data;
		uint64_t head;

		if (i + AHEAD < n)
			pkt_ask(&pkts[i + AHEAD], AHEAD_BYTES);
		if (!admit_common(t, &pkts[i], &head))
			head = 0;
		else if (t->expected)
			look_for_next(&t->work, i, f + AT_SRC, head);
		to.key[i] = f + AT_KEY;
		to.at[i] = (uint16_t)i;
		to.head[i] = head;
		common += head != 0;
		all &= head;
		any |= head;
	}
	j->n = common;
	j->all = all;
	j->any = any;
}

/* All are of the common shape. */
static void judge_common(struct translator *t, const struct pkt *pkts, size_t n)
{
	uint64_t *expected = t->expected;

	for (size_t i = 0; i < n && expected; i++)
		if (!is_expected(expected, &t->work, i))
			sequence_common(t, pkts[i].data + AT_SRC,
					t->stage.head[i]);
}

/* Some are not; what is good moves up to the front. */
static void judge_any(struct translator *t, const struct pkt *pkts, size_t n)
{
	struct jobs *j = &t->stage;
	uint64_t all = UINT64_MAX, any = 0, *expected = t->expected;
	unsigned jobs = 0;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *key = j->key[i];
		uint64_t head = j->head[i];

		if (!head)
			head = admit_any(t, &pkts[i], &key);
		else if (expected && !is_expected(expected, &t->work, i))
			sequence_common(t, pkts[i].data + AT_SRC, head);
		if (!head)
			continue;
		j->key[jobs] = key;
		j->at[jobs] = (uint16_t)i;
		j->head[jobs++] = head;
		all &= head;
		any |= head;
	}
	j->n = jobs;
	j->all = all;
	j->any = any;
}

void admit_judge(struct translator *t, const struct pkt *pkts, size_t n)
{
	if (t->stage.n == n)
		judge_common(t, pkts, n);
	else
		judge_any(t, pkts, n);
	t->ctr.received += n;
	t->ctr.stored += t->stage.n;
}
