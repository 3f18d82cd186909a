/* SPDX-License-Identifier: BSD-2-Clause */
/* ioam.c - strips, decodes and inserts IOAM: ioam.h. */
#include "int/ioam.h"

#include <errno.h>
#include <string.h>

#include "base/cur.h"
#include "base/put.h"
#include "net/be.h"
#include "net/net.h"

static bool has_options(uint8_t next)
{
	return next == NET_IP6_HOP_BY_HOP || next == NET_IP6_DESTINATION;
}

static bool is_ioam_option(uint8_t type)
{
	return type == IOAM_OPTION || type == IOAM_OPTION_FIXED;
}

/* Bytes of the extension header of type next at p, by its own length, which may
 * be above left. 0: options can be neither in it nor behind it. */
static size_t extension_len(uint8_t next, const uint8_t *p, size_t left)
{
	if (left < 8)
		return 0;
	if (has_options(next) || next == NET_IP6_ROUTING)
		return p[1] * 8u + 8;
	if (next != NET_IP6_FRAGMENT || be16_load(p + 2) & 0xfff8)
		return 0; /* of a later fragment payload follows */
	return 8;
}

/* Bytes of the option at p, left bytes before its header's end; 0: it is not
 * whole. */
static size_t option_len(const uint8_t *p, size_t left)
{
	size_t len = 1;

	if (*p != NET_IP6_PAD1)
		len = left < 2 ? 0 : p[1] + 2u;
	return len <= left ? len : 0;
}

static void put_pad(struct put *w, size_t n)
{
	if (n == 1)
		put_u8(w, NET_IP6_PAD1);
	if (n < 2)
		return;
	put_u8(w, NET_IP6_PADN);
	put_u8(w, (uint8_t)(n - 2));
	put_zero(w, n - 2);
}

/* The end of a header of options: whole 8 bytes, and its length. */
static void put_end(struct put *w)
{
	put_pad(w, -put_len(w) % 8);
	if (put_ok(w))
		w->start[1] = (uint8_t)(put_len(w) / 8 - 1);
}

/*
 * Copies a header of options, len bytes, without IOAM's to out, which has room
 * for them. Returns the new length, 0 if no other option is left; or -EBADMSG.
 *
 * Padding is kept where it may be the packet's own: between other options, and
 * before an IOAM option that begins at a multiple of 8, where ioam_insert()
 * puts it. Padding around an IOAM option is removed with it, except for as much
 * as aligns the option behind it.
 *
 * Lengths of out: kept, with padding that is kept; last, up to the last option.
 * gap: bytes left out since then.
 */
static int header_without(uint8_t *out, const uint8_t *header, size_t len)
{
	struct put w = put_to(out, len);
	size_t kept = NET_IP6_OPTIONS_AT, last = kept, gap = 0, n;
	bool dropped = false;

	put_bytes(&w, header, NET_IP6_OPTIONS_AT);
	for (size_t at = NET_IP6_OPTIONS_AT; at < len; at += n) {
		const uint8_t *p = header + at;
		bool pad = *p == NET_IP6_PAD1 || *p == NET_IP6_PADN;

		n = option_len(p, len - at);
		if (!n)
			return -EBADMSG;
		if (is_ioam_option(*p)) {
			if (!dropped && at % 8 == 0)
				kept = put_len(&w);
			gap += put_len(&w) - last + n;
			w.p = out + last;
			dropped = true;
		} else if (pad && gap) {
			gap += n;
		} else {
			put_pad(&w, gap % 8);
			gap = 0;
			put_bytes(&w, p, n);
			if (!pad)
				kept = last = put_len(&w);
		}
	}
	if (!dropped)
		return (int)len;
	if (kept == NET_IP6_OPTIONS_AT)
		return 0;
	w.p = out + kept;
	put_end(&w);
	return (int)put_len(&w);
}

/* Steps over a frame's headers up to IPv6's (*ip). 0, -EBADMSG, -ENOTSUP. */
static int take_ip6(struct cur *c, const uint8_t **ip)
{
	const uint8_t *type_at;
	int type = net_eth_skip(c, &type_at);

	*ip = cur_take(c, NET_IP6_LEN);
	if (type < 0 || !*ip)
		return type == -ENOTSUP ? type : -EBADMSG;
	return type == NET_ETHERTYPE_IP6 && **ip >> 4 == 6 ? 0 : -ENOTSUP;
}

/* Copies one extension header at the cursor, without IOAM. *at: the byte with
 * its type, in the copy. Returns 1; 0: there is no more; or -EBADMSG. */
static int strip_header(struct put *w, struct cur *c, uint8_t **at)
{
	size_t len = extension_len(**at, c->p, cur_left(c));
	const uint8_t *p = c->p;
	int n = (int)len;

	if (!len)
		return 0;
	if (!cur_take(c, len) || len > (size_t)(w->end - w->p))
		return -EBADMSG;
	if (has_options(**at))
		n = header_without(w->p, p, len);
	else
		memcpy(w->p, p, len);
	if (n < 0)
		return n;
	if (n) {
		*at = w->p;
		w->p += n;
	} else {
		**at = p[0];
	}
	return 1;
}

int ioam_strip(uint8_t *out, size_t cap, const uint8_t *frame, size_t len)
{
	struct put w = put_to(out, cap);
	struct cur c = cur_of(frame, len), body;
	uint8_t *next, *new_ip;
	const uint8_t *ip;
	size_t payload;
	int rc = take_ip6(&c, &ip);

	if (rc < 0)
		return rc;
	if (cap < len)
		return -ENOBUFS;
	payload = be16_load(ip + NET_IP6_AT_LEN);
	put_bytes(&w, frame, (size_t)(c.p - frame));
	new_ip = w.p - NET_IP6_LEN;
	next = new_ip + NET_IP6_AT_NEXT;
	body = cur_of(c.p, payload < cur_left(&c) ? payload : cur_left(&c));
	while ((rc = strip_header(&w, &body, &next)) > 0)
		;
	if (rc < 0)
		return rc;
	put_bytes(&w, body.p, (size_t)(c.end - body.p));
	be16_store(new_ip + NET_IP6_AT_LEN,
		   (uint16_t)(payload - (len - put_len(&w))));
	return (int)put_len(&w);
}

/* RFC 9197, section 4.4.2. */
void ioam_words(struct int_word words[IOAM_BITS], uint32_t fraction)
{
	static const struct int_word all[IOAM_BITS] = {
		{4, {{INT_HOP_LIMIT, 0, 1}, {INT_NODE, 1, 3, 1, true}}},
		{4,
		 {{INT_INGRESS, 0, 2, 1, true}, {INT_EGRESS, 2, 2, 1, true}}},
		{4, {{INT_TIME_SECONDS, 0, 4}}},
		{4, {{INT_TIME_FRACTION, 0, 4}}},
		{4, {{INT_LATENCY, 0, 4}}},
		{4, {{INT_NAMESPACE_DATA, 0, 4}}},
		{4, {{INT_OCCUPANCY, 0, 4}}},
		{.len = 4}, /* checksum complement */
		{8, {{INT_HOP_LIMIT, 0, 1}, {INT_NODE, 1, 7, 1, true}}},
		{8,
		 {{INT_INGRESS, 0, 4, 1, true}, {INT_EGRESS, 4, 4, 1, true}}},
		{8, {{INT_NAMESPACE_DATA, 0, 8}}},
		{4, {{INT_BUFFER_OCCUPANCY, 0, 4}}},
	};

	memcpy(words, all, sizeof(all));
	words[3].part[0].scale = fraction ? fraction : 1000;
}

void ioam_init(struct ioam_decoder *d, const struct int_profile *profile)
{
	ioam_words(d->words, profile->ioam_fraction);
	int_layouts_init(&d->layouts, d->words, IOAM_BITS);
}

void ioam_begin(struct ioam_reader *r, struct ioam_decoder *d,
		const uint8_t *frame, size_t len)
{
	struct cur c = cur_of(frame, len);
	const uint8_t *ip;
	size_t payload;

	*r = (struct ioam_reader){
		.d = d, .frame = frame, .len = len, .next = NET_PROTO_NONE};
	if (take_ip6(&c, &ip) < 0)
		return;
	payload = be16_load(ip + NET_IP6_AT_LEN);
	r->ip = ip;
	r->next = ip[NET_IP6_AT_NEXT];
	r->p = c.p;
	r->end = payload < cur_left(&c) ? c.p + payload : c.end;
}

/* Makes the next extension header, and its options, the current one. False:
 * there is none, or no option can be in or behind it. */
static bool enter_header(struct ioam_reader *r)
{
	const uint8_t *p = r->p;
	size_t left = (size_t)(r->end - p);
	size_t len = extension_len(r->next, p, left);
	bool options = has_options(r->next);

	r->next = NET_PROTO_NONE;
	if (!len)
		return false;
	r->cut = len > left;
	if (r->cut)
		len = left;
	else
		r->next = p[0];
	r->header = p;
	r->p = p + len;
	r->option = options ? p + NET_IP6_OPTIONS_AT : r->p;
	r->options_end = r->p;
	return true;
}

/* The next IOAM option and its length, 0 if it is cut. NULL: there are no
 * more. */
static const uint8_t *find_option(struct ioam_reader *r, size_t *len)
{
	const uint8_t *p;
	size_t left;

	for (;;) {
		p = r->option;
		left = (size_t)(r->options_end - p);
		if (!left) {
			if (!enter_header(r))
				return NULL;
			continue;
		}
		*len = option_len(p, left);
		r->option = *len ? p + *len : r->options_end;
		if (is_ioam_option(*p))
			return p;
	}
}

static void set_record_flow(const struct ioam_reader *r, struct int_record *rec)
{
	const uint8_t *ip = r->ip, *end = r->frame + r->len;
	const uint8_t *p = ip + NET_IP6_LEN;
	struct cur c = cur_of(ip, (size_t)(end - ip));
	uint8_t without[NET_IP6_OPTIONS_MAX], next = ip[NET_IP6_AT_NEXT];
	size_t left = (size_t)(r->end - p), n;
	struct net_ip outer;
	int rest;

	if (net_ip_decode(&outer, NET_ETHERTYPE_IP6, &c) != 0)
		return;
	if (outer.protocol == NET_PROTO_IP6 ||
	    outer.protocol == NET_PROTO_IP4) {
		int_record_set_ip(rec, outer.l4.p, cur_left(&outer.l4));
		return;
	}
	int_record_set_net(rec, &outer);
	while (rec->key_len && (n = extension_len(next, p, left)) &&
	       n <= left) {
		rest = has_options(next) ? header_without(without, p, n)
					 : (int)n;
		if (rest >= 0)
			rec->ip_len -= (uint32_t)(n - (size_t)rest);
		next = *p;
		p += n;
		left -= n;
	}
}

/* Finds where each node begins, if a snapshot is behind each. */
static enum ioam_reason locate_nodes(struct ioam *t, size_t node, size_t len)
{
	struct int_hops *h = &t->record.stack;
	size_t at = 0;

	h->n = 0;
	h->at = t->at;
	while (at < len) {
		if (node + IOAM_SNAPSHOT_LEN > len - at)
			return IOAM_NODES;
		t->at[h->n++] = (uint16_t)at;
		at += node;
		at += IOAM_SNAPSHOT_LEN + h->data[at] * 4u;
	}
	return at == len ? IOAM_OK : IOAM_NODES;
}

static void set_bitmap(struct ioam *t, struct ioam_decoder *d, uint32_t bitmap)
{
	struct int_record *rec = &t->record;
	const struct int_layout *layout;

	layout = int_layouts_get(
		&d->layouts, bitmap & ~(uint32_t)(IOAM_OPAQUE | IOAM_UNUSED));
	t->opaque = bitmap & IOAM_OPAQUE;
	rec->stack = (struct int_hops){.layout = layout, .len = layout->len};
	if (layout->reserved || bitmap & IOAM_UNUSED)
		rec->flags |= INT_RESERVED;
}

/* From the trace's header on. */
static enum ioam_reason decode_trace(struct ioam *t, struct ioam_decoder *d,
				     const uint8_t *p, size_t len)
{
	struct int_record *rec = &t->record;
	struct int_hops *h = &rec->stack;
	unsigned lengths;
	size_t free;

	if (len < IOAM_TRACE_LEN || len % 4)
		return IOAM_LENGTH;
	lengths = be16_load(p + IOAM_TRACE_AT_LENGTHS);
	t->flags = lengths >> IOAM_FLAGS_SHIFT & 15;
	t->remaining = lengths & IOAM_REMAINING_MASK;
	rec->domain = be16_load(p);
	rec->flags = t->flags & IOAM_OVERFLOW ? INT_HOPS_EXCEEDED : 0;
	set_bitmap(t, d, be24_load(p + IOAM_TRACE_AT_BITMAP));
	if (h->len != (lengths >> IOAM_NODE_LEN_SHIFT) * 4)
		return IOAM_NODE_LENGTH;
	free = t->type == IOAM_PREALLOCATED ? t->remaining * 4u : 0;
	len -= IOAM_TRACE_LEN;
	if (free > len)
		return IOAM_REMAINING;
	h->data = p + IOAM_TRACE_LEN + free;
	len -= free;
	if (t->opaque)
		return locate_nodes(t, h->len, len);
	if (h->len ? len % h->len : len)
		return IOAM_NODES;
	h->n = h->len ? (uint8_t)(len / h->len) : 0;
	return IOAM_OK;
}

/* RFC 9326, section 3.2: each of the optional fields is there if its bit is. */
static enum ioam_reason decode_direct_export(struct ioam *t,
					     struct ioam_decoder *d,
					     const uint8_t *p, size_t len)
{
	size_t want = IOAM_DIRECT_LEN;

	if (len < want)
		return IOAM_LENGTH;
	want += p[IOAM_DIRECT_AT_MORE] & IOAM_DIRECT_FLOW ? 4 : 0;
	want += p[IOAM_DIRECT_AT_MORE] & IOAM_DIRECT_SEQUENCE ? 4 : 0;
	if (len < want)
		return IOAM_LENGTH;
	t->record.domain = be16_load(p);
	set_bitmap(t, d, be24_load(p + IOAM_TRACE_AT_BITMAP));
	return IOAM_OK;
}

enum ioam_reason ioam_next(struct ioam_reader *r, struct ioam *out)
{
	enum ioam_reason why = IOAM_TYPE;
	const uint8_t *p;
	size_t len = 0;

	if (!r->ip || !(p = find_option(r, &len)))
		return IOAM_END;
	if (!len && r->cut)
		return IOAM_TRUNCATED;
	if (len < IOAM_LEN)
		return IOAM_LENGTH;
	memset(out, 0, offsetof(struct ioam, at));
	out->record.format = INT_IOAM;
	out->type = p[IOAM_AT_TYPE];
	out->ip = r->ip;
	out->header = r->header;
	out->option = p;
	out->option_len = len;
	if (out->type <= IOAM_INCREMENTAL)
		why = decode_trace(out, r->d, p + IOAM_LEN, len - IOAM_LEN);
	else if (out->type == IOAM_DIRECT)
		why = decode_direct_export(out, r->d, p + IOAM_LEN,
					   len - IOAM_LEN);
	if (why == IOAM_OK)
		set_record_flow(r, &out->record);
	return why;
}

struct ioam_snapshot ioam_snapshot_of(const struct int_hops *h, unsigned i)
{
	const uint8_t *p = int_hop(h, i) + h->len;

	return (struct ioam_snapshot){.schema = be24_load(p + 1),
				      .data = p + IOAM_SNAPSHOT_LEN,
				      .len = p[0] * 4u};
}

/* The hop-by-hop header with the option behind those that it has. Its length is
 * a multiple of 8, which aligns the option; a new one begins with padding to 4.
 * Returns its length, -EINVAL or -EMSGSIZE. */
static int make_header(uint8_t out[NET_IP6_OPTIONS_MAX], const uint8_t *old,
		       size_t old_len, uint8_t next,
		       const struct ioam_request *ask)
{
	const uint8_t fresh[4] = {next, 0, NET_IP6_PADN, 0};
	size_t room = ask->words * 4u - ask->nodes_len;
	struct put w = put_to(out, NET_IP6_OPTIONS_MAX);
	bool full = ask->type == IOAM_PREALLOCATED;
	struct int_word words[IOAM_BITS];
	struct int_layout layout;

	if (ask->bitmap >> IOAM_BITS || ask->words > IOAM_NODES_MAX ||
	    ask->nodes_len > ask->words * 4u || ask->nodes_len % 4 ||
	    ask->type > IOAM_INCREMENTAL)
		return -EINVAL;
	ioam_words(words, 0);
	int_layout_make(&layout, words, IOAM_BITS,
			ask->bitmap & ~(uint32_t)(IOAM_OPAQUE | IOAM_UNUSED));
	put_bytes(&w, old_len ? old : fresh, old_len ? old_len : sizeof(fresh));
	put_u8(&w, IOAM_OPTION);
	put_u8(&w, (uint8_t)(IOAM_LEN - 2 + IOAM_TRACE_LEN + ask->nodes_len +
			     (full ? room : 0)));
	put_u8(&w, 0);
	put_u8(&w, ask->type);
	put_be16(&w, ask->namespace);
	put_be16(&w,
		 (uint16_t)(layout.len / 4u << IOAM_NODE_LEN_SHIFT | room / 4));
	put_be32(&w, ask->bitmap << 8);
	put_zero(&w, full ? room : 0);
	put_bytes(&w, ask->nodes, ask->nodes_len);
	put_end(&w);
	return put_ok(&w) ? (int)put_len(&w) : -EMSGSIZE;
}

int ioam_insert(uint8_t *out, size_t cap, const uint8_t *frame, size_t len,
		const struct ioam_request *ask)
{
	uint8_t header[NET_IP6_OPTIONS_MAX], *new_ip;
	struct put w = put_to(out, cap);
	struct cur c = cur_of(frame, len);
	const uint8_t *ip, *old;
	size_t payload, old_len = 0;
	int n = take_ip6(&c, &ip);

	if (n < 0)
		return n;
	payload = be16_load(ip + NET_IP6_AT_LEN);
	old = c.p;
	if (ip[NET_IP6_AT_NEXT] == NET_IP6_HOP_BY_HOP) {
		if (!payload)
			return -ENOTSUP; /* RFC 2675 */
		old_len = extension_len(NET_IP6_HOP_BY_HOP, old, cur_left(&c));
		if (!old_len || old_len > payload || !cur_take(&c, old_len))
			return -EBADMSG;
	}
	n = make_header(header, old, old_len, ip[NET_IP6_AT_NEXT], ask);
	if (n < 0)
		return n;
	payload += (size_t)n - old_len;
	if (payload > UINT16_MAX)
		return -EMSGSIZE;
	put_bytes(&w, frame, (size_t)(old - frame));
	new_ip = w.p - NET_IP6_LEN;
	put_bytes(&w, header, (size_t)n);
	put_bytes(&w, c.p, cur_left(&c));
	if (!put_ok(&w))
		return -ENOBUFS;
	be16_store(new_ip + NET_IP6_AT_LEN, (uint16_t)payload);
	new_ip[NET_IP6_AT_NEXT] = NET_IP6_HOP_BY_HOP;
	return (int)put_len(&w);
}
