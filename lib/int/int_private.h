/* SPDX-License-Identifier: BSD-2-Clause */
/* int_private.h - what int_md.c, int_source.c and treport.c share. */
#ifndef INT_INT_PRIVATE_H
#define INT_INT_PRIVATE_H

#include "base/cur.h"
#include "int/int_md.h"

/* A record that says nothing yet. In pieces that registers hold: a large
 * structure at once is a loop. */
static inline void int_clear(struct int_record *v, enum int_format format)
{
	v->ts_ns = 0;
	v->format = (uint8_t)format;
	v->flags = v->key_len = 0;
	v->ip_len = 0;
	v->from = (struct int_from){.report = false};
	v->own = (struct int_hops){.layout = NULL};
	v->stack = (struct int_hops){.layout = NULL};
	v->domain = v->domain_bits = v->source_len = 0;
	v->source = NULL;
}

/* The packet behind its IP header. */
struct int_l4 {
	struct cur c;  /* what was captured */
	uint32_t told; /* bytes by the header */
};

/* The headers in front of INT's place: type_at to l4, ip_len, of *out, all else
 * 0. INT_OK, INT_NONE, INT_BAD_PACKET. */
enum int_result int_locate(struct int_place *out, struct int_l4 *l4,
			   uint16_t type, const uint8_t *frame, size_t len);

/*
 * Changes of a packet, here and of a node on the way (tests/tools/int_push.h).
 * sum is what they add to the checksum of the header at l4, RFC 1624: a one's
 * complement sum that is not folded yet.
 */
void int_sum_bytes(uint32_t *sum, const uint8_t *p, size_t len); /* come */
void int_set16(uint8_t *p, uint16_t v, uint32_t *sum);
/* The packet is longer by so many bytes: its length by UDP; of IP:
 * net_ip_resize(). */
void int_resize_l4(uint8_t *frame, const struct int_place *at, int by,
		   uint32_t *sum);
/* Where the checksum at l4 is; NULL: there is none, or the profile's nodes
 * leave it alone. */
uint8_t *int_sum_at(uint8_t *frame, const struct int_place *at,
		    const struct int_profile *p);
void int_sum_apply(uint8_t *frame, const struct int_place *at,
		   const struct int_profile *p, uint32_t sum);

static inline bool int_is_old(uint8_t version)
{
	return version < INT_V2_0;
}

static inline uint32_t int_header_len(uint8_t version)
{
	return int_is_old(version) ? INT_HEADER1_LEN : INT_HEADER2_LEN;
}

#endif
