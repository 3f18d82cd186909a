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
	/* The common frame: Ethernet, IPv4 without options, UDP, DTA/1. */
	AT_TYPE = 12, /* Ethernet type, version and header length, ..., length */
	AT_IP = 14,
	AT_IP_LEN = 16,
	AT_FRAGMENT = 20, /* flags and offset, TTL, protocol, ... */
	AT_UDP = 34,
	AT_UDP_PORT = 36, /* destination port, length, checksum, ... */
	AT_UDP_LEN = 38,
	AT_DTA = 42,
	COMMON_MIN = AT_DTA + DTA_HEADER_LEN,
};

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

/* Not 0 where the bytes of a word in memory order that the mask shows differ. */
static inline uint64_t differs(const uint8_t *p, uint64_t mask_be, uint64_t be)
{
	return (load64(p) & htobe64(mask_be)) ^ htobe64(be);
}

/*
 * Whether the 20 bytes of an IPv4 header add up to 0xffff in one's complement
 * (RFC 791, RFC 1071). The sum does not care for byte order nor for the width of
 * the words that are added, as long as carries come round.
 */
static inline bool ip_sum_right(const uint8_t *p)
{
	uint64_t a = load64(p), b = load64(p + 8), sum;
	uint32_t half;

	sum = a + b;
	sum += sum < b;
	sum = (sum >> 32) + (sum & UINT32_MAX) + load32(p + 16);
	half = (uint32_t)((sum >> 32) + (sum & UINT32_MAX));
	half += half < (uint32_t)(sum >> 32);
	half = (half >> 16) + (half & 0xffff);
	return half == 0xffff || half == 0x1fffe;
}

/* The UDP length of a frame of the common shape, 0 if it is not one. */
static inline unsigned common_udp_len(const uint8_t *f, uint32_t len)
{
	unsigned ip_len, udp_len;

	if (len < COMMON_MIN)
		return 0;
	/* IPv4, a header of 20 bytes; not a fragment, UDP; our port, no UDP
	 * checksum, DTA/1 */
	if (differs(f + AT_TYPE, 0xffffff0000000000, 0x0800450000000000) |
	    differs(f + AT_FRAGMENT, 0xbfff00ff00000000,
		    (uint64_t)NET_PROTO_UDP << 32) |
	    differs(f + AT_UDP_PORT, 0xffff0000fffff000,
		    (uint64_t)DTA_PORT << 48 | 0x1000))
		return 0;
	ip_len = be16_load(f + AT_IP_LEN);
	udp_len = be16_load(f + AT_UDP_LEN);
	if (ip_len != udp_len + NET_IP4_LEN || ip_len + NET_ETH_LEN > len ||
	    !ip_sum_right(f + AT_IP))
		return 0;
	return udp_len;
}

/* What a table still has to say about a report of the right lengths. */
static inline bool common_judge(const struct lane *l, const struct job *j)
{
	unsigned hop = job_hop(j), path_len = job_path_len(j);

	if (l->kind == TABLE_POSTCARD)
		return hop < l->hops && (!path_len || hop < path_len) &&
		       load32(job_data(j)) != TABLE_BLANK;
	if (l->kind == TABLE_APPEND)
		return be32_load(j->key) < l->lists;
	return true;
}

/* What of DTA/1's header goes on in a job's head. */
static const uint64_t header_kept = 0x008fffff0000ffff;
static const uint64_t header_fixed = 0xff00ff0000000000; /* lane.header */

/* Whether a packet of the common shape is a good report; *j is the job then. */
static inline bool admit_common(const struct translator *t,
				const struct pkt *p, struct job *j)
{
	const uint8_t *f = p->data;
	unsigned udp_len = common_udp_len(f, p->len), lane;
	const struct lane *l;
	uint64_t h, n;

	if (!udp_len)
		return false;
	h = be64_load(f + AT_DTA);
	lane = t->by_id[h >> 16 & 0xffff];
	if (lane == NO_LANE)
		return false;
	l = &t->lane[lane];
	n = h >> JOB_COPIES & 15;
	if ((h & (header_fixed | t->slow)) != l->header ||
	    udp_len != l->udp_len || n > DTA_MAX_COPIES)
		return false;
	j->key = f + COMMON_MIN;
	j->head = (h & header_kept) | l->head | (n ? 0 : l->copies_head);
	return common_judge(l, j);
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
	if (r->hop >= l->hops || (r->path_len && r->hop >= r->path_len))
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
	struct net_udp u;
	uint64_t *reason = decode(t, p, &u, r);

	if (reason)
		return reason;
	*l = lane_of(t, r, &u);
	if (r->tracked && t->reporters && !sequence_check(t, *l, &u, r, p))
		return &t->ctr.out_of_order;
	if (!*l)
		return &t->ctr.bad_table;
	return judge(&t->ctr, *l, r);
}

static bool admit_any(struct translator *t, const struct pkt *p, struct job *j)
{
	struct dta_report r;
	struct lane *l;
	uint64_t *reason = decode_and_judge(t, p, &r, &l);

	if (reason) {
		(*reason)++;
		return false;
	}
	j->key = r.key;
	j->head = (l->head & ~(UINT64_C(0xffff) << JOB_DATA_LEN)) |
		  (uint64_t)r.immediate << JOB_IMMEDIATE |
		  (uint64_t)(r.copies ? r.copies : l->copies) << JOB_COPIES |
		  (uint64_t)(r.data - r.key) << JOB_DATA_AT |
		  (uint64_t)r.hop << JOB_HOP |
		  (uint64_t)r.path_len << JOB_PATH_LEN |
		  (uint64_t)r.data_len << JOB_DATA_LEN | r.sequence;
	return true;
}

unsigned admit(struct translator *t, const struct pkt *pkts, size_t n)
{
	unsigned jobs = 0, copies = 0, lane = 0, run = 0;

	for (size_t i = 0; i < n; i++) {
		struct job j;

		if (!admit_common(t, &pkts[i], &j) &&
		    !admit_any(t, &pkts[i], &j))
			continue;
		t->job[jobs] = j;
		t->key[jobs++] = j.key;
		copies |= 1u << job_copies(&j);
		if (job_lane(&j) != lane) { /* counted run by run */
			t->lane[lane].jobs += run;
			lane = job_lane(&j);
			run = 0;
		}
		run++;
	}
	t->lane[lane].jobs += run;
	t->copies_seen = copies;
	t->ctr.received += n;
	t->ctr.stored += jobs;
	return jobs;
}
