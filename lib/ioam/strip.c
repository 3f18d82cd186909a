/* SPDX-License-Identifier: BSD-2-Clause */
/* strip.c - packets without IOAM again: ioam.h. */
#include <errno.h>

#include "base/cur.h"
#include "ioam/ioam.h"
#include "ioam/private.h"
#include "wire/net.h"

/*
 * Padding is kept where it may be the packet's own: between other options, and
 * before an option of IOAM that begins where a header could have ended, for
 * that is where ioam_insert() puts one behind what was there. Around one that
 * goes, it goes as well, but for what aligns the option behind it.
 */
int ioam_header_without(uint8_t *out, const uint8_t *header, size_t len)
{
	struct put w = put_to(out, len);
	size_t solid = NET_IP6_OPTIONS_AT, last = solid, gap = 0, n;
	bool dropped = false;

	put_bytes(&w, header, NET_IP6_OPTIONS_AT);
	for (size_t at = NET_IP6_OPTIONS_AT; at < len; at += n) {
		const uint8_t *p = header + at;
		bool pad = *p == NET_IP6_PAD1 || *p == NET_IP6_PADN;

		n = ioam_option_len(p, len - at);
		if (!n)
			return -EBADMSG;
		if (ioam_is_option(*p)) {
			if (!dropped && at % 8 == 0)
				solid = put_len(&w);
			gap += put_len(&w) - last + n;
			w.p = out + last;
			dropped = true;
		} else if (pad && gap) {
			gap += n;
		} else {
			ioam_put_pad(&w, gap % 8);
			gap = 0;
			put_bytes(&w, p, n);
			if (!pad)
				solid = last = put_len(&w);
		}
	}
	if (!dropped)
		return (int)len;
	if (solid == NET_IP6_OPTIONS_AT)
		return 0;
	w.p = out + solid;
	ioam_put_end(&w);
	return (int)put_len(&w);
}

size_t ioam_share(uint8_t next, const uint8_t *p, size_t len)
{
	uint8_t without[NET_IP6_OPTIONS_MAX];
	size_t share = 0, n;
	int rest;

	while ((n = ioam_extension(next, p, len)) && n <= len) {
		rest = ioam_has_options(next)
			       ? ioam_header_without(without, p, n)
			       : (int)n;
		if (rest >= 0)
			share += n - (size_t)rest;
		next = *p;
		p += n;
		len -= n;
	}
	return share;
}

/* One extension header, from *c; *at: the byte that says its type. Returns
 * false at the first that is none, or -EBADMSG. */
static int strip_header(struct put *w, struct cur *c, uint8_t **at)
{
	size_t len = ioam_extension(**at, c->p, cur_left(c));
	const uint8_t *p = c->p;
	int n = (int)len;

	if (!len)
		return false;
	if (!cur_take(c, len) || len > (size_t)(w->end - w->p))
		return -EBADMSG;
	if (ioam_has_options(**at))
		n = ioam_header_without(w->p, p, len);
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
	return true;
}

int ioam_strip(uint8_t *out, size_t cap, const uint8_t *frame, size_t len)
{
	struct put w = put_to(out, cap);
	struct cur c = cur_of(frame, len), body;
	const uint8_t *type_at, *ip;
	uint8_t *next, *new_ip;
	size_t payload;
	int type = net_eth_skip(&c, &type_at), rc;

	ip = cur_take(&c, NET_IP6_LEN);
	if (type < 0 || !ip)
		return type == -ENOTSUP ? type : -EBADMSG;
	payload = be16_load(ip + NET_IP6_AT_LEN);
	if (type != NET_ETHERTYPE_IP6 || ip[0] >> 4 != 6)
		return -ENOTSUP;
	if (cap < len)
		return -ENOBUFS;
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
