/* SPDX-License-Identifier: BSD-2-Clause */
/* packets: every packet of a capture, also those that nobody could use. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "packet/pkt.h"
#include "packets.h"

enum {
	ADDRESS_MAX = TEXT_IP_MAX + 9, /* brackets, port */
};

static void endpoint(char *out, uint8_t version, const uint8_t *ip,
		     uint16_t port)
{
	char text[TEXT_IP_MAX];

	snprintf(out, ADDRESS_MAX, version == 6 ? "[%s]:%u" : "%s:%u",
		 text_of_ip(text, version, ip), port);
}

/* In-band telemetry; else not a UDP packet to a port that we know. rc: why. */
static void show_other(struct show_int *x, const struct pkt *p, int rc)
{
	struct show *s = x->s;
	struct net_packet n;
	char src[ADDRESS_MAX], dst[ADDRESS_MAX];
	bool known = net_packet_decode(&n, p->data, p->len) == 0, bad;

	if (known) {
		endpoint(src, n.version, n.src, n.src_port);
		endpoint(dst, n.version, n.dst, n.dst_port);
	}
	x->p = p;
	x->src = known ? src : NULL;
	x->dst = dst;
	if (rc != -EBADE && show_int(x))
		return;
	bad = rc != -EBADE && show_int_refused(x);
	show_head(s, known ? src : NULL, dst, bad ? "report" : "other");
	show_u64(s, SHOW_LENGTH, p->wire_len);
	if (rc == -EBADE)
		show_str(s, SHOW_REASON, show_wrong_checksum);
	else if (rc == -EBADMSG || bad)
		show_str(s, SHOW_REASON, show_malformed);
	show_end(s);
}

static void show_udp(struct show *s, const struct opts *o,
		     const struct tables *t, const struct pkt *p,
		     const struct net_udp *u)
{
	char src[ADDRESS_MAX], dst[ADDRESS_MAX];
	bool roce = u->dst_port == ROCE_PORT;

	endpoint(src, u->version, u->src, u->src_port);
	endpoint(dst, u->version, u->dst, u->dst_port);
	if (roce) {
		show_head(s, src, dst, "roce");
		show_roce(s, t, p->data, p->len, u);
	} else {
		bool dta0 = o->dta != DTA_FORMAT_1 && u->len &&
			    (u->payload[0] >> 4 == 0 ||
			     u->dst_port == DTA_NACK_PORT);

		show_head(s, src, dst,
			  dta_format_name(dta0 ? o->dta : DTA_FORMAT_1));
		show_dta(s, o->dta, t, u);
	}
}

static void show_packet(struct show_int *x, const struct opts *o,
			const struct tables *t, const struct pkt *p,
			uint64_t number)
{
	struct show *s = x->s;
	struct net_udp u;
	int rc;

	x->number = number;
	show_u64(s, SHOW_NUMBER, number);
	show_time(s, p->ts_ns);
	if (show_label(s, p))
		return;
	rc = net_udp_decode(&u, p->data, p->len);
	if (rc == 0 && (u.dst_port == DTA_PORT || u.dst_port == DTA_NACK_PORT ||
			u.dst_port == ROCE_PORT))
		show_udp(s, o, t, p, &u);
	else
		show_other(x, p, rc);
}

int dump_packets(const struct opts *o)
{
	static struct tables t;
	struct pkt pkts[PKT_BATCH];
	struct fault f = {0};
	struct show s;
	static struct show_int x;
	struct src *src;
	uint64_t number = 0;
	int n = 0;

	tables_open(&t, o);
	if (src_open(&src, o->what, &f) < 0)
		cli_fault(o->what, &f);
	show_open(&s, o->format);
	show_int_open(&x, &s);
	while (number < o->count && !cli_stop) {
		n = src_rx(src, pkts, PKT_BATCH, &f);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		for (int i = 0; i < n && number < o->count; i++)
			show_packet(&x, o, &t, &pkts[i], ++number);
	}
	show_close(&s);
	src_close(src);
	tables_close(&t);
	if (n < 0 && n != -EINTR)
		cli_fault(o->what, &f);
	return CLI_OK;
}
