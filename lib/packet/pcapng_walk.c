/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcapng: draft-ietf-opsawg-pcapng. A file is a row of blocks:
 *
 *    +---------------+---------------+-- ... --+---------------+
 *    |     type      | total length  |  body   | total length  |
 *    +---------------+---------------+-- ... --+---------------+
 *
 * A section header tells the byte order of what follows and forgets the
 * interfaces before it. Blocks that are not packets are stepped over.
 */
#include <errno.h>
#include <stdlib.h>

#include "packet/walk.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2, /* obsolete, still written by some */
	BLOCK_SIMPLE = 3,
	BLOCK_ENHANCED = 6,
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	BLOCK_MIN = 12,
	SECTION_MIN = 28,
	INTERFACE_MIN = 20,
	SIMPLE_MIN = 16,
	ENHANCED_MIN = 32,
	TRAILER_LEN = 4,
	INTERFACES_MAX = 65536,
	OPTION_END = 0,
	OPTION_TSRESOL = 9,
	OPTION_TSOFFSET = 14,
};

struct pcapng_interface {
	uint32_t snaplen;
	uint64_t per_second; /* units of its time stamps */
	int64_t offset;	     /* seconds */
};

/* One block, whole and with lengths that fit. */
struct block {
	const uint8_t *p;
	uint32_t type, len;
};

static int malformed(struct fault *f, const char *what)
{
	return fault_set(f, -EBADMSG, "pcapng: %s", what);
}

static int section_begin(struct pcapng_walk *w, const struct block *b,
			 struct fault *f)
{
	if (b->len < SECTION_MIN)
		return malformed(f, "section header too short");
	if (walk_u16(b->p + 12, w->swap) != 1)
		return fault_set(f, -ENOTSUP,
				 "pcapng version %u: only 1 is read",
				 walk_u16(b->p + 12, w->swap));
	w->section = true;
	w->n = 0;
	return 0;
}

/* if_tsresol: a power of ten, or of two where the high bit is set. */
static int resolution(uint64_t *per_second, uint8_t code)
{
	unsigned power = code & 0x7f;

	if (power > (code & 0x80 ? 63 : 19))
		return -EBADMSG;
	*per_second = 1;
	if (code & 0x80)
		*per_second <<= power;
	else
		while (power--)
			*per_second *= 10;
	return 0;
}

static int64_t offset_seconds(const uint8_t *p, bool swap)
{
	int64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? (int64_t)__builtin_bswap64((uint64_t)v) : v;
}

/* Options: code (2), length (2), value padded to 4. */
static int interface_options(struct pcapng_interface *i, const uint8_t *p,
			     size_t len, bool swap)
{
	uint16_t code;
	size_t n;

	for (; len >= 4; p += n, len -= n) {
		code = walk_u16(p, swap);
		n = walk_u16(p + 2, swap);
		p += 4;
		len -= 4;
		if (code == OPTION_END)
			return 0;
		if (n > len)
			return -EBADMSG;
		if (code == OPTION_TSRESOL &&
		    (!n || resolution(&i->per_second, p[0])))
			return -EBADMSG;
		if (code == OPTION_TSOFFSET) {
			if (n != 8)
				return -EBADMSG;
			i->offset = offset_seconds(p, swap);
		}
		n = (n + 3) & ~(size_t)3;
		if (n > len)
			return -EBADMSG;
	}
	return 0;
}

static int interface_add(struct pcapng_walk *w, const struct block *b,
			 struct fault *f)
{
	struct pcapng_interface i = {.per_second = 1000000}, *grown;
	unsigned cap = w->cap ? 2 * w->cap : 4;

	if (b->len < INTERFACE_MIN)
		return malformed(f, "interface description too short");
	if (walk_u16(b->p + 8, w->swap) != WALK_ETHERNET)
		return walk_bad_link(f, walk_u16(b->p + 8, w->swap));
	i.snaplen = walk_u32(b->p + 12, w->swap);
	if (interface_options(&i, b->p + 16, b->len - 16 - TRAILER_LEN,
			      w->swap))
		return malformed(f, "bad interface option");
	if (w->n == INTERFACES_MAX)
		return malformed(f, "too many interfaces");
	if (w->n == w->cap) {
		if (!(grown = realloc(w->ifs, cap * sizeof(*grown))))
			return fault_set(f, -ENOMEM, "out of memory");
		w->ifs = grown;
		w->cap = cap;
	}
	w->ifs[w->n++] = i;
	return 0;
}

static uint64_t time_ns(const struct pcapng_interface *i, uint64_t t)
{
	uint64_t per = i->per_second, s = t / per;
	unsigned __int128 rest = (unsigned __int128)(t % per) * 1000000000;

	return (s + (uint64_t)i->offset) * 1000000000 + (uint64_t)(rest / per);
}

/* Enhanced, and the obsolete packet block, which has 16 bits of interface. */
static int packet_enhanced(struct pkt *out, const struct pcapng_walk *w,
			   const struct block *b, struct fault *f)
{
	uint32_t id, cap, wire;
	uint64_t t;

	if (b->len < ENHANCED_MIN)
		return malformed(f, "packet block too short");
	id = b->type == BLOCK_ENHANCED ? walk_u32(b->p + 8, w->swap)
				       : walk_u16(b->p + 8, w->swap);
	t = (uint64_t)walk_u32(b->p + 12, w->swap) << 32 |
	    walk_u32(b->p + 16, w->swap);
	cap = walk_u32(b->p + 20, w->swap);
	wire = walk_u32(b->p + 24, w->swap);
	if (id >= w->n)
		return malformed(f, "packet of an unknown interface");
	if (cap > b->len - ENHANCED_MIN || cap > PKT_MAX)
		return malformed(f, "impossible length");
	*out = (struct pkt){
		.data = b->p + ENHANCED_MIN - TRAILER_LEN,
		.len = cap,
		.wire_len = wire > cap ? wire : cap,
		.ts_ns = time_ns(&w->ifs[id], t),
	};
	return 0;
}

/* Simple: of the first interface, without a time. */
static int packet_simple(struct pkt *out, const struct pcapng_walk *w,
			 const struct block *b, struct fault *f)
{
	uint32_t cap, wire;

	if (b->len < SIMPLE_MIN)
		return malformed(f, "packet block too short");
	if (!w->n)
		return malformed(f, "packet of an unknown interface");
	cap = wire = walk_u32(b->p + 8, w->swap);
	if (w->ifs[0].snaplen && cap > w->ifs[0].snaplen)
		cap = w->ifs[0].snaplen;
	if (cap > b->len - SIMPLE_MIN || cap > PKT_MAX)
		return malformed(f, "impossible length");
	*out = (struct pkt){
		.data = b->p + SIMPLE_MIN - TRAILER_LEN,
		.len = cap,
		.wire_len = wire,
	};
	return 0;
}

/* Returns 1 for a packet, 0 for another block, or -errno. */
static int block_do(struct pcapng_walk *w, const struct block *b,
		    struct pkt *out, struct fault *f)
{
	int rc;

	switch (b->type) {
	case BLOCK_SECTION:
		return section_begin(w, b, f);
	case BLOCK_INTERFACE:
		return interface_add(w, b, f);
	case BLOCK_PACKET:
	case BLOCK_ENHANCED:
		rc = packet_enhanced(out, w, b, f);
		return rc ? rc : 1;
	case BLOCK_SIMPLE:
		rc = packet_simple(out, w, b, f);
		return rc ? rc : 1;
	default:
		return 0;
	}
}

static bool is_needed(uint32_t type)
{
	return type == BLOCK_SECTION || type == BLOCK_INTERFACE ||
	       type == BLOCK_PACKET || type == BLOCK_SIMPLE ||
	       type == BLOCK_ENHANCED;
}

/*
 * The block at p. Returns 1; 0 for want of bytes; -EBADMSG. A long block that
 * is of no use returns 1 with a length above len.
 */
static int block_at(struct pcapng_walk *w, struct block *b, const uint8_t *p,
		    size_t len, struct fault *f)
{
	if (len < BLOCK_MIN)
		return 0;
	b->p = p;
	b->type = walk_u32(p, w->swap);
	if (b->type == BLOCK_SECTION) { /* reads the same in both orders */
		w->swap = walk_u32(p + 8, false) != BYTE_ORDER_MAGIC;
		if (walk_u32(p + 8, w->swap) != BYTE_ORDER_MAGIC)
			return malformed(f, "bad byte-order magic");
	} else if (!w->section) {
		return malformed(f, "no section header");
	}
	b->len = walk_u32(p + 4, w->swap);
	if (b->len < BLOCK_MIN || b->len % 4)
		return malformed(f, "impossible block length");
	if (b->len > WALK_RECORD_MAX)
		return is_needed(b->type)
			       ? malformed(f, "impossible block length")
			       : 1;
	if (b->len > len)
		return 0;
	if (walk_u32(p + b->len - TRAILER_LEN, w->swap) != b->len)
		return malformed(f, "the two lengths of a block differ");
	return 1;
}

int pcapng_walk(struct pcapng_walk *w, struct walk_window *win,
		struct pkt *pkts, int max, struct fault *f)
{
	struct block b = {.len = 0};
	int n = 0, rc;

	win->used = 0;
	while (n < max && win->used < win->len) {
		rc = block_at(w, &b, win->p + win->used, win->len - win->used,
			      f);
		if (rc > 0 && b.len <= WALK_RECORD_MAX)
			rc = block_do(w, &b, &pkts[n], f);
		else if (rc > 0)
			rc = 0;
		else if (!rc)
			break;
		if (rc < 0)
			return n ? n : rc;
		n += rc;
		win->used += b.len;
	}
	return n;
}

void pcapng_walk_close(struct pcapng_walk *w)
{
	free(w->ifs);
}
