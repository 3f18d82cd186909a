/* SPDX-License-Identifier: BSD-2-Clause */
#include "int/treport.h"

#include <errno.h>
#include <string.h>

#include "base/put.h"
#include "int/int_private.h"
#include "net/be.h"

void treport_init(struct treport_decoder *d, const struct int_profile *profile)
{
	static const struct int_word drop[] = {
		{4, {{INT_NODE, 0, 4}}},
		{4, {{INT_INGRESS, 0, 2}, {INT_EGRESS, 2, 2}}},
		{4, {{INT_QUEUE, 0, 1}, {INT_DROP_REASON, 1, 1}}},
	};
	static const struct int_word local[] = {
		{4, {{INT_NODE, 0, 4}}},
		{4, {{INT_INGRESS, 0, 2}, {INT_EGRESS, 2, 2}}},
		{4, {{INT_QUEUE, 0, 1}, {INT_OCCUPANCY, 1, 3}}},
		{4, {{INT_EGRESS_TIME, 0, 4}}},
	};

	d->profile = profile;
	int_decoder_init(&d->packets, profile);
	int_layouts_init(&d->layouts1, profile->report1, TREPORT_V1_BITS);
	int_layouts_init(&d->layouts2, profile->report2, TREPORT_V2_BITS);
	int_layout_make(&d->drop, drop, 3, 7);
	int_layout_make(&d->local, local, 4, 15);
}

enum treport_reason treport_begin(struct treport_reader *r,
				  struct treport_decoder *d,
				  const uint8_t *payload, size_t len)
{
	uint32_t first;

	*r = (struct treport_reader){.d = d,
				     .p = payload,
				     .end = payload + len,
				     .from.report = true};
	if (!len)
		return TREPORT_TRUNCATED;
	if (d->profile->version != INT_V0_5)
		r->version = payload[0] >> 4;
	if (r->version > 2)
		return TREPORT_VERSION;
	r->from.version = r->version;
	if (r->version < 2)
		return TREPORT_OK;
	if (len < TREPORT_V2_GROUP_LEN)
		return TREPORT_TRUNCATED;
	first = be32_load(payload);
	r->from.hw_id = first >> 22 & TREPORT_HW_ID_MASK;
	r->from.sequence_bits = 22;
	r->from.sequence = first & TREPORT_SEQUENCE2_MASK;
	r->from.has_node = true;
	r->from.node = be32_load(payload + TREPORT_V2_AT_NODE);
	r->p += TREPORT_V2_GROUP_LEN;
	return r->end - r->p < TREPORT_V2_LEN ? TREPORT_TRUNCATED : TREPORT_OK;
}

/* D, Q and F are neighbours in every version. */
static uint8_t flags_of(uint32_t dqf)
{
	return (uint8_t)((dqf & 4 ? INT_DROPPED : 0) |
			 (dqf & 2 ? INT_CONGESTED : 0) |
			 (dqf & 1 ? INT_TRACKED : 0));
}

static void set_own(struct int_record *rec, const struct int_layout *layout,
		    const uint8_t *data, size_t len)
{
	rec->own = (struct int_hops){
		.layout = layout, .data = data, .len = (uint16_t)len, .n = 1};
	if (layout->reserved)
		rec->flags |= INT_RESERVED;
}

/* Begins the record with the packet that the report is about: INT in it, or its
 * flow. A report about a report is refused: the inner one comes by itself, and
 * if reports are reported, there is no end. */
static enum treport_reason look_inside(struct treport *t,
				       struct treport_decoder *d, uint8_t flags)
{
	uint16_t own = d->profile->report_port;
	uint16_t type = t->inner_type == TREPORT_ETHERNET ? NET_ETHERTYPE_ETH
			: t->inner_type == TREPORT_IP4	  ? NET_ETHERTYPE_IP4
							  : NET_ETHERTYPE_IP6;
	struct int_record *rec = t->record;

	t->packet = INT_NONE;
	if (t->inner && flags & INT_TRACKED)
		t->packet = (uint8_t)int_read(rec, &d->packets, type, t->inner,
					      t->inner_len);
	if (t->packet != INT_OK) {
		int_clear(rec, INT_XD);
		if (t->inner_type == TREPORT_ETHERNET)
			int_record_set_frame(rec, t->inner, t->inner_len);
		else if (t->inner)
			int_record_set_ip(rec, t->inner, t->inner_len);
	}
	rec->flags |= flags;
	return own && int_record_is_udp_to(rec, own) ? TREPORT_OWN : TREPORT_OK;
}

static void set_inner(struct treport *t, unsigned type, const uint8_t *data,
		      size_t len)
{
	t->inner_type = (uint8_t)type;
	t->inner = data;
	t->inner_len = (uint32_t)len;
}

/* The reporter, by a header of 0.5; its node is in the header behind it. */
static struct int_from decode_header_05(const uint8_t *p, size_t left,
					unsigned next)
{
	bool has_node = next != TREPORT_PLAIN && next <= TREPORT_LOCAL &&
			left >= TREPORT_V05_LEN + sizeof(uint32_t);

	return (struct int_from){
		.report = true,
		.hw_id = be32_load(p) & TREPORT_HW_ID_MASK,
		.sequence_bits = 32,
		.sequence = be32_load(p + TREPORT_V05_AT_SEQUENCE),
		.has_time = true,
		.time = be32_load(p + TREPORT_V05_AT_TIME),
		.has_node = has_node,
		.node = has_node ? be32_load(p + TREPORT_V05_LEN) : 0,
	};
}

/* Bytes behind the header of 0.5, by enum treport_next. */
static const uint8_t v05_extra[] = {0, TREPORT_V05_DROP_LEN,
				    TREPORT_V05_LOCAL_LEN};

static enum treport_reason decode_report_05(struct treport_reader *r,
					    struct treport *t)
{
	const uint8_t *p = r->p, *md = p + TREPORT_V05_LEN;
	size_t left = (size_t)(r->end - p), len = TREPORT_V05_LEN;
	enum treport_reason why;
	uint32_t first;
	unsigned next;

	r->p = r->end;
	if (left < TREPORT_V05_LEN)
		return TREPORT_TRUNCATED;
	first = be32_load(p);
	next = first >> 24 & 15;
	r->from = decode_header_05(p, left, next);
	if (next > TREPORT_LOCAL)
		return TREPORT_TYPE;
	len += v05_extra[next];
	if (left < len)
		return TREPORT_TRUNCATED;
	set_inner(t, TREPORT_ETHERNET, p + len, left - len);
	why = look_inside(t, r->d, flags_of(first >> 21));
	if (next != TREPORT_PLAIN)
		set_own(t->record,
			next == TREPORT_DROP ? &r->d->drop : &r->d->local, md,
			v05_extra[next]);
	return why;
}

/* Bytes of header and metadata, by Length; 0: too short for the bitmap. */
static size_t report_length_1(const struct treport_decoder *d, uint32_t first,
			      const struct int_layout *layout)
{
	size_t words = first >> 24 & 15, least = TREPORT_V1_LEN + layout->len;

	if (d->profile->report_length_wrong)
		return least;
	return words * 4 < least ? 0 : words * 4;
}

/* The reporter, by a header of 1.0. Field by field: a copy of the whole struct
 * would wait for the stores of its fields. */
static inline void decode_header_1(struct int_from *from, const uint8_t *p)
{
	from->hw_id = be32_load(p) & TREPORT_HW_ID_MASK;
	from->sequence_bits = 32;
	from->has_node = true;
	from->node = be32_load(p + TREPORT_V1_AT_NODE);
	from->sequence = be32_load(p + TREPORT_V1_AT_SEQUENCE);
	from->has_time = true;
	from->time = be32_load(p + TREPORT_V1_AT_TIME);
}

static enum treport_reason decode_report_1(struct treport_reader *r,
					   struct treport *t)
{
	size_t left = (size_t)(r->end - r->p), len;
	const struct int_layout *layout;
	enum treport_reason why;
	const uint8_t *p = r->p;
	uint32_t first;
	unsigned type;

	r->p = r->end;
	if (left < TREPORT_V1_LEN)
		return TREPORT_TRUNCATED;
	decode_header_1(&r->from, p);
	first = be32_load(p);
	type = first >> 21 & 7;
	if (type > TREPORT_IP6 - TREPORT_ETHERNET)
		return TREPORT_TYPE;
	layout = int_layouts_get(&r->d->layouts1, first >> 15 & 0x3f);
	len = report_length_1(r->d, first, layout);
	if (!len)
		return TREPORT_LENGTH;
	if (left < len)
		return TREPORT_TRUNCATED;
	set_inner(t, TREPORT_ETHERNET + type, p + len, left - len);
	why = look_inside(t, r->d, flags_of(first >> 6));
	if (len > TREPORT_V1_LEN)
		set_own(t->record, layout, p + TREPORT_V1_LEN,
			len - TREPORT_V1_LEN);
	return why;
}

/* One TLV. The first that is a packet is the report's; others are skipped. */
static enum treport_reason decode_tlv(struct treport *t, struct cur *c)
{
	const uint8_t *p = cur_take(c, TREPORT_TLV_LEN), *data = NULL;
	size_t len = p ? p[1] * 4u : 0;
	unsigned type;

	if (p)
		data = cur_take(c, len);
	if (!data)
		return TREPORT_LENGTH;
	type = p[0] >> 4;
	if (type && type <= TREPORT_IP6 - TREPORT_DOMAIN && !t->inner)
		set_inner(t, TREPORT_DOMAIN + type, data, len);
	return TREPORT_OK;
}

/* What follows the main contents, by InType. */
static enum treport_reason decode_contents(struct treport *t, unsigned type,
					   struct cur *c)
{
	enum treport_reason why = TREPORT_OK;

	switch (type) {
	case TREPORT_NONE:
		return cur_left(c) ? TREPORT_LENGTH : TREPORT_OK;
	case TREPORT_TLV:
		while (why == TREPORT_OK && cur_left(c))
			why = decode_tlv(t, c);
		return why;
	case TREPORT_DOMAIN:
		return TREPORT_OK;
	case TREPORT_ETHERNET:
	case TREPORT_IP4:
	case TREPORT_IP6:
		set_inner(t, type, c->p, cur_left(c));
		return TREPORT_OK;
	}
	return TREPORT_TYPE;
}

/* Steps over one report of a group; *c: what follows its first word. */
static enum treport_reason next_report(struct treport_reader *r, struct cur *c,
				       unsigned words)
{
	size_t left = (size_t)(r->end - r->p), len = words * 4;

	if (words == TREPORT_V2_OPEN)
		len = left;
	if (len > left) {
		r->p = r->end; /* where the next one begins is not known */
		return TREPORT_LENGTH;
	}
	*c = cur_of(r->p, len);
	r->p += len;
	return TREPORT_OK;
}

static enum treport_reason decode_report_2(struct treport_reader *r,
					   struct treport *t)
{
	const struct int_layout *layout = NULL;
	const uint8_t *contents = NULL;
	enum treport_reason why;
	uint32_t first;
	unsigned type, words;
	struct cur c;

	if (r->end - r->p < TREPORT_V2_LEN) {
		r->p = r->end;
		return TREPORT_TRUNCATED;
	}
	first = be32_load(r->p);
	type = first >> 28;
	words = first >> 8 & 0xff;
	r->p += TREPORT_V2_LEN;
	if ((why = next_report(r, &c, first >> 16 & 0xff)))
		return why;
	if (type > TREPORT_INT)
		return TREPORT_TYPE;
	if (type == TREPORT_INT) {
		contents = cur_take(&c, TREPORT_V2_INT_LEN + words * 4);
		if (!contents)
			return TREPORT_LENGTH;
		layout = int_layouts_get(&r->d->layouts2, be16_load(contents));
		if (layout->len > words * 4)
			return TREPORT_LENGTH;
	}
	if ((why = decode_contents(t, first >> 24 & 15, &c)))
		return why;
	why = look_inside(t, r->d,
			  (uint8_t)(flags_of(first >> 5) |
				    (first & 0x10 ? INT_INTERMEDIATE : 0)));
	if (contents && t->packet != INT_OK) {
		t->record->domain = be16_load(contents + TREPORT_V2_AT_DOMAIN);
		t->record->domain_bits = be16_load(contents +
						   TREPORT_V2_AT_DOMAIN_BITS);
	}
	if (contents && words)
		set_own(t->record, layout, contents + TREPORT_V2_INT_LEN,
			words * 4);
	return why;
}

enum treport_reason treport_next(struct treport_reader *r, struct treport *out,
				 struct int_record *record)
{
	enum treport_reason why;

	if (r->p == r->end)
		return TREPORT_END;
	out->record = record;
	memset(&out->packet, 0,
	       sizeof(*out) - offsetof(struct treport, packet));
	if (r->version == 2)
		why = decode_report_2(r, out);
	else
		why = r->version ? decode_report_1(r, out)
				 : decode_report_05(r, out);
	record->from = r->from;
	return why;
}

static int put_report(struct put *w, const struct treport_fields *f)
{
	const struct int_from *from = &f->from;
	uint32_t dqf = (f->flags & INT_DROPPED ? 4u : 0) |
		       (f->flags & INT_CONGESTED ? 2u : 0) |
		       (f->flags & INT_TRACKED ? 1u : 0);
	uint32_t hw_id = from->hw_id & TREPORT_HW_ID_MASK;
	size_t pad = -f->inner_len % 4; /* 2.0: to a whole word */
	size_t words;

	if (f->md_len % 4)
		return -EINVAL;
	switch (from->version) {
	case 0:
		if (f->bits > TREPORT_LOCAL ||
		    f->md_len != v05_extra[f->bits] ||
		    f->inner_type != TREPORT_ETHERNET)
			return -EINVAL;
		put_be32(w, (uint32_t)f->bits << 24 | dqf << 21 | hw_id);
		put_be32(w, from->sequence);
		put_be32(w, from->time);
		break;
	case 1:
		words = TREPORT_V1_WORDS + f->md_len / 4;
		if (f->bits >> TREPORT_V1_BITS || words > 15 ||
		    f->inner_type < TREPORT_ETHERNET ||
		    f->inner_type > TREPORT_IP6)
			return -EINVAL;
		put_be32(w, 1u << 28 | (uint32_t)words << 24 |
				    (uint32_t)(f->inner_type - TREPORT_ETHERNET)
					    << 21 |
				    (uint32_t)f->bits << 15 | dqf << 6 | hw_id);
		put_be32(w, from->node);
		put_be32(w, from->sequence);
		put_be32(w, from->time);
		break;
	case 2:
		words = ((f->metadata ? TREPORT_V2_INT_LEN + f->md_len : 0) +
			 f->inner_len + pad) /
			4;
		if (f->inner_type > TREPORT_IP6 || f->md_len / 4 > UINT8_MAX ||
		    (!f->metadata && f->md_len) ||
		    (f->inner_type == TREPORT_NONE && f->inner_len))
			return -EINVAL;
		if (words > TREPORT_V2_OPEN)
			words = TREPORT_V2_OPEN;
		put_be32(w, 2u << 28 | hw_id << 22 |
				    (from->sequence & TREPORT_SEQUENCE2_MASK));
		put_be32(w, from->node);
		put_be32(w, (uint32_t)f->metadata << 28 |
				    (uint32_t)f->inner_type << 24 |
				    (uint32_t)words << 16 |
				    (uint32_t)f->md_len / 4 << 8 | dqf << 5 |
				    (f->flags & INT_INTERMEDIATE ? 0x10u : 0));
		if (f->metadata) {
			put_be16(w, f->bits);
			put_zero(w, TREPORT_V2_INT_LEN - 2); /* of no domain */
		}
		break;
	default:
		return -EINVAL;
	}
	put_bytes(w, f->md, f->md_len);
	put_bytes(w, f->inner, f->inner_len);
	put_zero(w, from->version == 2 ? pad : 0);
	return 0;
}

int treport_encode(uint8_t *buf, size_t cap, const struct treport_fields *f)
{
	struct put w = put_to(buf, cap);
	int rc = put_report(&w, f);

	if (rc)
		return rc;
	return put_ok(&w) ? (int)put_len(&w) : -ENOBUFS;
}
