/* SPDX-License-Identifier: BSD-2-Clause */
/* int.c - from a bitmap to where each field is, and whose packet it is: int.h.
 */
#include "int/int.h"

#include <string.h>

#include "net/key.h"
#include "net/net.h"

/* A field that the plan has already gets another part, which is tried first:
 * IOAM's wide fields have higher bits than the short ones. */
static uint8_t keep_other(struct int_plan *plan, unsigned field,
			  unsigned *others)
{
	if (!(plan->has & 1U << field) || *others == INT_OTHERS)
		return 0;
	plan->part[INT_FIELDS + *others] = plan->part[field];
	return (uint8_t)++ * others;
}

static void place(struct int_plan *plan, const struct int_word *w,
		  unsigned *others)
{
	for (unsigned i = 0; i < 2 && w->part[i].len; i++) {
		unsigned field = w->part[i].field;
		uint8_t at = (uint8_t)(plan->len + w->part[i].at);
		uint8_t other = keep_other(plan, field, others);
		bool alone = w->part[i].alone;

		plan->has |= 1U << field;
		plan->part[field] = (struct int_part){
			.at = at,
			.len = w->part[i].len,
			.word = alone ? at : (uint8_t)plan->len,
			.word_len = (alone ? w->part[i].len : w->len) & 15,
			.other = other & 15,
			.scale = w->part[i].scale ? w->part[i].scale : 1,
		};
	}
}

bool int_plan_of(struct int_plan *out, const struct int_word *words,
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
			place(out, &words[bit], &others);
			out->len = (uint16_t)(out->len + words[bit].len);
		} else {
			out->reserved = true;
			out->len = (uint16_t)(out->len + 4);
		}
	}
	return !out->reserved;
}

void int_plans_init(struct int_plans *p, const struct int_word *words,
		    unsigned bits)
{
	memset(p, 0, sizeof(*p));
	p->words = words;
	p->bits = bits;
	p->latest = p->plan; /* the one of no bits, as it should be */
}

const struct int_plan *int_plans_make(struct int_plans *p, uint32_t bitmap)
{
	struct int_plan *plan;

	if (!++p->made) { /* 0 is no number; so old ones are none's now */
		memset(p->slot, 0, sizeof(p->slot));
		p->made = 1;
	}
	p->slot[int_plans_slot(bitmap)] = p->made;
	plan = &p->plan[p->made % INT_PLANS_MAX];
	int_plan_of(plan, p->words, p->bits, bitmap);
	return plan;
}

static void store(uint8_t *p, unsigned len, uint64_t v)
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
	store(hop + part->at, part->len, v);
}

void int_put(uint8_t *hop, const struct int_plan *plan, uint32_t has,
	     const uint64_t value[INT_FIELDS])
{
	const struct int_part *part;

	memset(hop, 0xff, plan->len);
	for (unsigned i = 0; i < INT_FIELDS; i++) {
		if (!(plan->has & has & 1U << i))
			continue;
		part = &plan->part[i];
		put_part(hop, part, value[i]);
		if (part->other)
			put_part(hop, &plan->part[INT_FIELDS - 1 + part->other],
				 value[i]);
	}
}

/* Whether TCP's or UDP's header is there and whole; len: captured, ip_len: by
 * the header, both from l4 on. */
static bool l4_whole(uint8_t protocol, const uint8_t *l4, size_t len,
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

void int_view_net(struct int_view *v, const struct net_ip *ip)
{
	size_t addresses = ip->version == 4 ? 2 * KEY_IP4_LEN : 2 * KEY_IP6_LEN;
	bool ports = !ip->later && (ip->protocol == NET_PROTO_TCP ||
				    ip->protocol == NET_PROTO_UDP);

	_Static_assert(sizeof(v->key) >= KEY_FLOW6_LEN, "a key of IPv6 fits");
	v->key_len = 0;
	v->ip_len = 0;
	if (ports &&
	    !l4_whole(ip->protocol, ip->l4.p, cur_left(&ip->l4), ip->l4_len))
		return;
	memcpy(v->key, ip->src, addresses);
	if (ports)
		memcpy(v->key + addresses, ip->l4.p, 4);
	else
		memset(v->key + addresses, 0, 4);
	v->key[addresses + 4] = ip->protocol;
	v->key_len = (uint8_t)(addresses + KEY_FLOW_REST);
	v->ip_len = ip->len;
}

/* What begins with that Ethernet type. */
static void view_packet(struct int_view *v, uint16_t type, struct cur *c)
{
	struct net_ip ip;

	if (net_ip_decode(&ip, type, c) == 0) {
		int_view_net(v, &ip);
		return;
	}
	v->key_len = 0;
	v->ip_len = 0;
}

void int_view_ip(struct int_view *v, const uint8_t *ip, size_t len)
{
	struct cur c = cur_of(ip, len);

	view_packet(v,
		    len && ip[0] >> 4 == 4 ? NET_ETHERTYPE_IP4
					   : NET_ETHERTYPE_IP6,
		    &c);
}

void int_view_frame(struct int_view *v, const uint8_t *frame, size_t len)
{
	struct cur c = cur_of(frame, len);
	const uint8_t *at;
	int type = net_eth_skip(&c, &at);

	view_packet(v, type < 0 ? 0 : (uint16_t)type, &c);
}
