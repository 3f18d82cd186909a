/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int.h - what in-band telemetry says about one packet: an INT record, whatever
 * the format it came in. Formats are INT-MD, INT-MX and INT-XD (P4.org, INT 0.5
 * to 2.1), telemetry reports (0.5 to 2.0) and IOAM traces (RFC 9197). Decoders
 * (int_md.h, treport.h, ioam.h) make records; the INT sink (telemetry/sink.h)
 * reads them.
 *
 * Nothing is copied. Metadata stay in the frame, big-endian, and a metadata
 * layout says where in the bytes of a hop each field is. A layout depends on
 * the instruction bitmap alone. It is made when a bitmap is first seen and then
 * cached (int_layouts_get()).
 *
 * Threads: a record belongs to its caller; the cache of layouts belongs to the
 * decoder's thread.
 */
#ifndef INT_INT_H
#define INT_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/be.h"
#include "net/proto.h"

/* The fields of a hop. Values are given after scaling (struct int_part). */
enum int_field {
	INT_NODE,    /* switch id, node id; IOAM: up to 56 bits */
	INT_INGRESS, /* interface ids, level 1 */
	INT_EGRESS,
	INT_LATENCY,	  /* within the node, ns */
	INT_QUEUE,	  /* id of the queue, of its egress interface */
	INT_OCCUPANCY,	  /* of the queue: bytes, cells or packets */
	INT_INGRESS_TIME, /* ns; only its low bits, as many as the part has */
	INT_EGRESS_TIME,
	INT_INGRESS2, /* interface ids, level 2 */
	INT_EGRESS2,
	INT_UTILIZATION, /* of the egress link */
	INT_BUFFER,	 /* id */
	INT_BUFFER_OCCUPANCY,
	INT_CONGESTION,	    /* of the queue: INT 0.5 */
	INT_DROP_REASON,    /* of reports */
	INT_HOP_LIMIT,	    /* IOAM */
	INT_NAMESPACE_DATA, /* IOAM */
	INT_TIME_SECONDS,   /* IOAM: the seconds and the fraction of its time */
	INT_TIME_FRACTION,
	INT_FIELDS,
};

/* Where a field is among a hop's bytes. Its word, 4 or 8 bytes, is all ones
 * where the node cannot tell (INT 2.1, section 5.8). IOAM says so of each field
 * (RFC 9197, section 4.4.2): then the word is the field alone, 1 to 8 bytes. */
struct int_part {
	uint8_t at, len; /* bytes; len 1 to 8 */
	uint8_t word;	 /* where its word begins */
	uint8_t word_len : 4;
	uint8_t other : 4; /* part INT_FIELDS - 1 + other: where the field is
			      too, if this one is all ones; 0: nowhere */
	uint32_t scale;	   /* times this: 1, or ns of a unit of time */
};

enum {
	INT_OTHERS = 5, /* IOAM's short fields beside the wide ones */
};

/* A scale: units are 2^-32 s, as in NTP. */
#define INT_SCALE_NTP UINT32_MAX

enum {
	INT_HOP_MAX = 255 * 4, /* bytes of a stack: a length byte of words */
};

/* The metadata of one bit of a bitmap, of which bit 0 is the most significant.
 * A profile has a table of them for each format. len 0: the bit is reserved. */
struct int_word {
	uint8_t len; /* bytes of metadata */
	struct {
		uint8_t field, at, len; /* enum int_field; len 0: none */
		uint32_t scale;		/* 0: 1 */
		bool alone; /* all ones: this field alone is unknown */
	} part[2];
};

/* A metadata layout: which fields a hop has, and where. */
struct int_layout {
	const struct int_word *words; /* they and bitmap define the rest */
	uint32_t bitmap;
	uint32_t has;  /* 1 << enum int_field */
	uint16_t len;  /* bytes of a hop that the bitmap asks for */
	bool reserved; /* bits are set that are reserved */
	struct int_part part[INT_FIELDS + INT_OTHERS];
};

/* The layout of a bitmap of so many bits. False: reserved bits are set; each
 * counts as 4 bytes (INT 2.1, section 5.8). */
bool int_layout_make(struct int_layout *out, const struct int_word *words,
		     unsigned bits, uint32_t bitmap);

/* Writes a hop of layout->len bytes: of the fields in has (1 << enum int_field)
 * their values, all else all ones. */
void int_put(uint8_t *hop, const struct int_layout *layout, uint32_t has,
	     const uint64_t value[INT_FIELDS]);

/*
 * The layouts of the bitmaps that were seen. A layout that int_layouts_get()
 * gave stays as it is for the next INT_LAYOUTS_LAST calls at least, and for
 * ever as long as no more than INT_LAYOUTS_LAST bitmaps are in use: a batch of
 * records may keep its layouts, and a flood of bitmaps costs time but no
 * memory.
 */
enum {
	INT_LAYOUTS_LAST = 128,
	INT_LAYOUTS_MAX = 2 * INT_LAYOUTS_LAST,
	INT_LAYOUTS_SLOTS = 512,
};

struct int_layouts {
	const struct int_word *words;	 /* one for each bit */
	unsigned bits;			 /* of a bitmap */
	const struct int_layout *latest; /* that was given */
	uint32_t made; /* number of the last one made, from 1 */
	uint32_t slot[INT_LAYOUTS_SLOTS]; /* numbers, by bitmap; 0: none */
	struct int_layout layout[INT_LAYOUTS_MAX];
};

/* The words stay the caller's and must last. */
void int_layouts_init(struct int_layouts *p, const struct int_word *words,
		      unsigned bits);
/* For int_layouts_get(). */
const struct int_layout *int_layouts_make(struct int_layouts *p,
					  uint32_t bitmap);

static inline unsigned int_layouts_slot(uint32_t bitmap)
{
	return bitmap * 0x9e3779b1u >> 23; /* the top 9 bits */
}

static inline const struct int_layout *int_layouts_get(struct int_layouts *p,
						       uint32_t bitmap)
{
	uint32_t nr;

	if (p->latest->bitmap == bitmap)
		return p->latest; /* none was made since */
	nr = p->slot[int_layouts_slot(bitmap)];
	p->latest = &p->layout[nr % INT_LAYOUTS_MAX];
	if (!nr || p->made - nr >= INT_LAYOUTS_LAST ||
	    p->latest->bitmap != bitmap)
		p->latest = int_layouts_make(p, bitmap);
	return p->latest;
}

/* Hops of one layout, the last node of the path first. */
struct int_hops {
	const struct int_layout *layout; /* NULL: there are none */
	const uint8_t *data;
	uint16_t len; /* bytes from a hop to the next, layout->len or more:
			 domain specific metadata come behind */
	uint8_t n;
	/* IOAM with opaque snapshots: the hops are not equally long; where each
	 * begins, or NULL. */
	const uint16_t *at;
};

enum int_format {
	INT_MD, /* metadata in the packet, a stack */
	INT_MX, /* instructions in the packet, metadata in reports */
	INT_XD, /* a report of one node */
	INT_IOAM,
};

enum int_flag {
	INT_DROPPED = 1 << 0,	    /* reports: D */
	INT_CONGESTED = 1 << 1,	    /* Q */
	INT_TRACKED = 1 << 2,	    /* F */
	INT_INTERMEDIATE = 1 << 3,  /* I; IOAM: another trace of a packet */
	INT_HOPS_EXCEEDED = 1 << 4, /* E; IOAM: overflow */
	INT_MTU_EXCEEDED = 1 << 5,  /* M */
	INT_DISCARD = 1 << 6,	    /* C, D of INT headers: a clone */
	INT_RESERVED = 1 << 7,	    /* reserved bits are set */
};

/* The header of the telemetry report that a record came in. report is false
 * for packets that carry their metadata themselves. */
struct int_from {
	bool report;
	uint8_t version; /* of the report: 0 (0.5), 1, 2 */
	uint8_t hw_id;
	uint8_t sequence_bits; /* 22 or 32 */
	/* This record stands for the sequence number: it is the first of its
	 * datagram, and the node is known. */
	bool numbered;
	bool has_node; /* 0.5 tells it only with a drop or local header */
	uint32_t node;
	uint32_t sequence;
	bool has_time;
	uint32_t time; /* ingress, the reporter's clock, low bits, ns */
};

/* One packet that the network carried. Pointers lead into the frame it came in.
 * The flow's packet is what the hosts sent: without INT headers and tunnels
 * that INT has added, addresses and ports restored. */
struct int_record {
	uint64_t ts_ns;	     /* when the collector had it */
	uint8_t format;	     /* enum int_format */
	uint8_t flags;	     /* enum int_flag */
	uint8_t key_len;     /* KEY_FLOW4_LEN, KEY_FLOW6_LEN; 0: unknown */
	uint8_t key[37 + 3]; /* flow4 or flow6, net/key.h */
	uint32_t ip_len;     /* bytes of the packet, IP header on; 0: unknown */
	struct int_from from;
	struct int_hops own; /* the reporter's own metadata: n is 0 or 1 */
	struct int_hops stack;
	uint16_t domain; /* INT 2.x: Domain Specific ID, or IOAM namespace */
	uint16_t domain_bits;  /* DS instruction */
	const uint8_t *source; /* source-only metadata at the stack's end */
	uint16_t source_len;   /* bytes */
};

/* Set key, key_len and ip_len by a packet, captured from its IP header on, or
 * by a frame. If it is not IP, or is cut before its ports, the flow is unknown:
 * key_len and ip_len are 0. */
void int_record_set_ip(struct int_record *rec, const uint8_t *ip, size_t len);
void int_record_set_frame(struct int_record *rec, const uint8_t *frame,
			  size_t len);

/* The same by a decoded IP header. */
struct net_ip;
void int_record_set_net(struct int_record *rec, const struct net_ip *ip);

/* Whether the flow is UDP to a port. */
static inline bool int_record_is_udp_to(const struct int_record *rec,
					uint16_t port)
{
	return rec->key_len && rec->key[rec->key_len - 1] == NET_PROTO_UDP &&
	       be16_load(rec->key + rec->key_len - 3) == port;
}

/* A big-endian number of 1 to 8 bytes. */
static inline uint64_t int_load(const uint8_t *p, unsigned len)
{
	uint64_t v = 0;

	switch (len) {
	case 1:
		return p[0];
	case 2:
		return be16_load(p);
	case 3:
		return be24_load(p);
	case 4:
		return be32_load(p);
	case 8:
		return be64_load(p);
	}
	for (unsigned i = 0; i < len; i++)
		v = v << 8 | p[i];
	return v;
}

/* Where hop i begins, i < n. */
static inline const uint8_t *int_hop(const struct int_hops *h, unsigned i)
{
	return h->data + (h->at ? h->at[i] : (size_t)i * h->len);
}

/* The number that len bytes are when all are ones. */
static inline uint64_t int_ones(unsigned len)
{
	return UINT64_MAX >> (64 - 8 * len);
}

static inline uint64_t int_scaled(uint64_t v, uint32_t scale)
{
	if (scale == INT_SCALE_NTP)
		return (uint64_t)((unsigned __int128)v * 1000000000u >> 32);
	return v * scale;
}

/* A field of a hop. False: the hop does not have it, or says all ones. */
static inline bool int_get(const struct int_layout *layout, const uint8_t *hop,
			   enum int_field field, uint64_t *value)
{
	const struct int_part *p = &layout->part[field];

	if (!(layout->has & 1U << field))
		return false;
	while (int_load(hop + p->word, p->word_len) == int_ones(p->word_len)) {
		if (!p->other)
			return false;
		p = &layout->part[INT_FIELDS - 1 + p->other];
	}
	*value = int_scaled(int_load(hop + p->at, p->len), p->scale);
	return true;
}

#endif
