/* SPDX-License-Identifier: BSD-2-Clause */
/* int.c - layouts of bitmaps, and the flow of a record's packet: int.h. */
#include "int/int.h"

#include <string.h>

#include "net/net.h"

/* A field that the layout has already gets another part, which is tried first:
 * IOAM's wide fields have higher bits than the short ones. */
static void add_parts(struct int_layout *layout, const struct int_word *w,
		      unsigned *others)
{
	for (unsigned i = 0; i < 2 && w->part[i].len; i++) {
		unsigned field = w->part[i].field;
		uint8_t at = (uint8_t)(layout->len + w->part[i].at);
		bool alone = w->part[i].alone;
		uint8_t other = 0;

		if (layout->has & 1U << field && *others < INT_OTHERS) {
			layout->part[INT_FIELDS + *others] =
				layout->part[field];
			other = (uint8_t)++ * others;
		}
		layout->has |= 1U << field;
		layout->part[field] = (struct int_part){
			.at = at,
			.len = w->part[i].len,
			.word = alone ? at : (uint8_t)layout->len,
			.word_len = (alone ? w->part[i].len : w->len) & 15,
			.other = other & 15,
			.scale = w->part[i].scale ? w->part[i].scale : 1,
		};
	}
}

bool int_layout_make(struct int_layout *out, const struct int_word *words,
		     unsigned bits, uint32_t bitmap)
{
	unsigned others = 0;

	memset(out, 0, sizeof(*out));
	out->words = words;
	out->bitmap = bitmap;
	for (unsigned bit = 0; bit < bits; bit++) {
		if (!(bitmap >> (bits - 1 - bit) & 1))
			continue;
		if (words[bit].len) {
			add_parts(out, &words[bit], &others);
			out->len = (uint16_t)(out->len + words[bit].len);
		} else {
			out->reserved = true;
			out->len = (uint16_t)(out->len + 4);
		}
	}
	return !out->reserved;
}

void int_layouts_init(struct int_layouts *p, const struct int_word *words,
		      unsigned bits)
{
	memset(p, 0, sizeof(*p));
	p->words = words;
	p->bits = bits;
	p->latest = p->layout; /* all 0: the layout of bitmap 0 */
}

const struct int_layout *int_layouts_make(struct int_layouts *p,
					  uint32_t bitmap)
{
	struct int_layout *layout;

	if (!++p->made) { /* wrapped, and 0 is no number: forgets all */
		memset(p->slot, 0, sizeof(p->slot));
		p->made = 1;
	}
	p->slot[int_layouts_slot(bitmap)] = p->made;
	layout = &p->layout[p->made % INT_LAYOUTS_MAX];
	int_layout_make(layout, p->words, p->bits, bitmap);
	return layout;
}

static void store_be(uint8_t *p, unsigned len, uint64_t v)
{
	while (len--) {
		p[len] = (uint8_t)v;
		v >>= 8;
	}
}

/* The inverse of int_scaled(), cut to what the part can say. */
static void put_part(uint8_t *hop, const struct int_part *part, uint64_t v)
{
	if (part->scale == INT_SCALE_NTP)
		v = (uint64_t)(((unsigned __int128)v << 32) / 1000000000u);
	else
		v /= part->scale;
	store_be(hop + part->at, part->len, v);
}

void int_put(uint8_t *hop, const struct int_layout *layout, uint32_t has,
	     const uint64_t value[INT_FIELDS])
{
	const struct int_part *part;

	memset(hop, 0xff, layout->len);
	for (unsigned i = 0; i < INT_FIELDS; i++) {
		if (!(layout->has & has & 1U << i))
			continue;
		part = &layout->part[i];
		put_part(hop, part, value[i]);
		if (part->other)
			put_part(hop,
				 &layout->part[INT_FIELDS - 1 + part->other],
				 value[i]);
	}
}

/* Whether a header of TCP or UDP is whole. From l4 on, len bytes were captured,
 * and there are l4_len by the IP header. */
static bool is_l4_whole(uint8_t protocol, const uint8_t *l4, size_t len,
			size_t l4_len)
{
	size_t hlen;

	if (len > l4_len)
		len = l4_len;
	if (protocol == NET_PROTO_UDP)
		return len >= NET_UDP_LEN;
	if (protocol != NET_PROTO_TCP || len < NET_TCP_LEN)
		return false;
	hlen = (l4[NET_TCP_AT_OFFSET] >> 4) * 4u;
	return hlen >= NET_TCP_LEN && hlen <= l4_len;
}

void int_record_set_net(struct int_record *rec, const struct net_ip *ip)
{
	size_t addresses = ip->version == 4 ? 2 * KEY_IP4_LEN : 2 * KEY_IP6_LEN;
	bool ports = !ip->later && (ip->protocol == NET_PROTO_TCP ||
				    ip->protocol == NET_PROTO_UDP);

	_Static_assert(sizeof(rec->key) >= KEY_FLOW6_LEN, "a key of IPv6 fits");
	rec->key_len = 0;
	rec->ip_len = 0;
	if (ports &&
	    !is_l4_whole(ip->protocol, ip->l4.p, cur_left(&ip->l4), ip->l4_len))
		return;
	memcpy(rec->key, ip->src, addresses);
	if (ports)
		memcpy(rec->key + addresses, ip->l4.p, 4);
	else
		memset(rec->key + addresses, 0, 4);
	rec->key[addresses + 4] = ip->protocol;
	rec->key_len = (uint8_t)(addresses + KEY_FLOW_REST);
	rec->ip_len = ip->len;
}

/* c: at a packet of that Ethernet type. */
static void set_packet(struct int_record *rec, uint16_t type, struct cur *c)
{
	struct net_ip ip;

	if (net_ip_decode(&ip, type, c) == 0) {
		int_record_set_net(rec, &ip);
		return;
	}
	rec->key_len = 0;
	rec->ip_len = 0;
}

void int_record_set_ip(struct int_record *rec, const uint8_t *ip, size_t len)
{
	struct cur c = cur_of(ip, len);

	set_packet(rec,
		   len && ip[0] >> 4 == 4 ? NET_ETHERTYPE_IP4
					  : NET_ETHERTYPE_IP6,
		   &c);
}

void int_record_set_frame(struct int_record *rec, const uint8_t *frame,
			  size_t len)
{
	struct cur c = cur_of(frame, len);
	const uint8_t *at;
	int type = net_eth_skip(&c, &at);

	set_packet(rec, type < 0 ? 0 : (uint16_t)type, &c);
}
