/* SPDX-License-Identifier: BSD-2-Clause */
/* int_private.h - what int_md.c, int_source.c and treport.c share. */
#ifndef INT_INT_PRIVATE_H
#define INT_INT_PRIVATE_H

#include "base/cur.h"
#include "int/int_md.h"

/* Empties a record. Field by field, in registers: the compiler clears a large
 * struct in a loop. */
static inline void int_clear(struct int_record *rec, enum int_format format)
{
	rec->ts_ns = 0;
	rec->format = (uint8_t)format;
	rec->flags = rec->key_len = 0;
	rec->ip_len = 0;
	rec->from = (struct int_from){.report = false};
	rec->own = (struct int_hops){.layout = NULL};
	rec->stack = (struct int_hops){.layout = NULL};
	rec->domain = rec->domain_bits = rec->source_len = 0;
	rec->source = NULL;
}

/* The packet behind its IP header. */
struct int_l4 {
	struct cur c; /* what was captured */
	uint32_t len; /* bytes, by the IP header */
};

/* Finds the headers in front of INT: sets by, ip_version, protocol, ip_len and
 * ethertype_at to l4, and all else to 0. INT_OK, INT_NONE, INT_BAD_PACKET. */
enum int_result int_locate(struct int_place *out, struct int_l4 *l4,
			   uint16_t type, const uint8_t *frame, size_t len);

/* Change a packet, here and in a node on the way (tests/tools/int_push.h). They
 * add to sum what the change adds to the checksum of the header at l4: RFC
 * 1624, a one's complement sum that is not folded yet. */
/* len bytes at p were put into the packet. */
void int_sum_bytes(uint32_t *sum, const uint8_t *p, size_t len);
void int_set16(uint8_t *p, uint16_t v, uint32_t *sum);
/* The packet gets longer by so many bytes: changes UDP's length, and the pseudo
 * header's. IP's: net_ip_resize(). */
void int_resize_l4(uint8_t *frame, const struct int_place *at, int by,
		   uint32_t *sum);
/* The checksum of the header at l4; NULL: there is none, or the profile's nodes
 * do not update it. */
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
