/* SPDX-License-Identifier: BSD-2-Clause */
/* treport_encode.c - telemetry reports, written: treport.h. */
#include <errno.h>

#include "base/put.h"
#include "inband/treport.h"

static uint32_t dqf_of(uint8_t flags)
{
	return (flags & INT_DROPPED ? 4u : 0) |
	       (flags & INT_CONGESTED ? 2u : 0) |
	       (flags & INT_TRACKED ? 1u : 0);
}

static int put_v05(struct put *w, const struct treport_say *s)
{
	static const uint8_t extra[] = {0, TREPORT_V05_DROP_LEN,
					TREPORT_V05_LOCAL_LEN};

	if (s->bits > TREPORT_LOCAL || s->md_len != extra[s->bits] ||
	    s->inner_type != TREPORT_ETHERNET)
		return -EINVAL;
	put_be32(w, (uint32_t)s->bits << 24 | dqf_of(s->flags) << 21 |
			    (s->from.hw_id & TREPORT_HW_ID_MASK));
	put_be32(w, s->from.sequence);
	put_be32(w, s->from.time);
	put_bytes(w, s->md, s->md_len);
	put_bytes(w, s->inner, s->inner_len);
	return 0;
}

static int put_v1(struct put *w, const struct treport_say *s)
{
	size_t words = TREPORT_V1_WORDS + s->md_len / 4;

	if (s->bits >> TREPORT_V1_BITS || s->md_len % 4 || words > 15 ||
	    s->inner_type < TREPORT_ETHERNET || s->inner_type > TREPORT_IP6)
		return -EINVAL;
	put_be32(w, 1u << 28 | (uint32_t)words << 24 |
			    (uint32_t)(s->inner_type - TREPORT_ETHERNET) << 21 |
			    (uint32_t)s->bits << 15 | dqf_of(s->flags) << 6 |
			    (s->from.hw_id & TREPORT_HW_ID_MASK));
	put_be32(w, s->from.node);
	put_be32(w, s->from.sequence);
	put_be32(w, s->from.time);
	put_bytes(w, s->md, s->md_len);
	put_bytes(w, s->inner, s->inner_len);
	return 0;
}

/* Bytes that are wanting to a whole word. */
static size_t padding(size_t len)
{
	return -len % 4;
}

static int put_report2(struct put *w, const struct treport_say *s)
{
	size_t inner = s->inner_len + padding(s->inner_len);
	size_t main = s->metadata ? TREPORT_V2_INT_LEN + s->md_len : 0;
	size_t words = (main + inner) / 4;

	if (s->inner_type > TREPORT_IP6 || s->md_len % 4 ||
	    s->md_len / 4 > UINT8_MAX || (!s->metadata && s->md_len) ||
	    (s->inner_type == TREPORT_NONE && s->inner_len))
		return -EINVAL;
	if (words > TREPORT_V2_OPEN)
		words = TREPORT_V2_OPEN;
	put_be32(w,
		 (uint32_t)s->metadata << 28 | (uint32_t)s->inner_type << 24 |
			 (uint32_t)words << 16 | (uint32_t)s->md_len / 4 << 8 |
			 dqf_of(s->flags) << 5 |
			 (s->flags & INT_INTERMEDIATE ? 0x10u : 0));
	if (s->metadata) {
		put_be16(w, s->bits);
		put_be16(w, s->domain);
		put_be16(w, s->domain_bits);
		put_be16(w, s->domain_status);
		put_bytes(w, s->md, s->md_len);
	}
	put_bytes(w, s->inner, s->inner_len);
	put_zero(w, padding(s->inner_len));
	return 0;
}

static int put_v2(struct put *w, const struct treport_say *s)
{
	put_be32(w, 2u << 28 |
			    (uint32_t)(s->from.hw_id & TREPORT_HW_ID_MASK)
				    << 22 |
			    (s->from.sequence & TREPORT_SEQUENCE2_MASK));
	put_be32(w, s->from.node);
	return put_report2(w, s);
}

int treport_encode(uint8_t *buf, size_t cap, const struct treport_say *s)
{
	static int (*const put[])(struct put *, const struct treport_say *) = {
		put_v05, put_v1, put_v2};
	struct put w = put_to(buf, cap);
	int rc;

	if (s->from.version > 2)
		return -EINVAL;
	rc = put[s->from.version](&w, s);
	if (rc)
		return rc;
	return put_ok(&w) ? (int)put_len(&w) : -ENOBUFS;
}
