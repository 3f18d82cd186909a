/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A DART switch: answers set its PSNs, and tell what is lost. Its frames are
 * those that test_roce_out.c looks at.
 */
#include <errno.h>

#include "dart_rig.h"
#include "net/be.h"

/* An answer of collector c about its queue pair's PSN. */
static struct pkt answer(uint8_t *frame, unsigned c, uint32_t psn,
			 uint8_t syndrome, uint32_t qpn)
{
	struct roce r = {.version = 4,
			 .src_port = 0xc011,
			 .ttl = 64,
			 .opcode = ROCE_RC_ACK,
			 .migreq = true,
			 .pkey = 0xffff,
			 .dest_qp = qpn,
			 .psn = psn,
			 .syndrome = syndrome};
	int len;

	memcpy(r.eth_dst, ticket[c].peer_mac, 6);
	memcpy(r.src, ticket[c].ip, 4);
	memcpy(r.dst, ticket[c].peer_ip, 4);
	len = roce_encode(frame, ROCE_FRAME_MAX, &r);
	TEST(len > 0);
	return (struct pkt){.data = frame, .len = (uint32_t)len};
}

/* Processes an answer. False: it is for none of the collectors' queue pairs. */
static bool hear(struct roce_out *const *roce, unsigned n, const struct pkt *p)
{
	uint64_t before = roce_out_ledger(roce[0], false).unmatched;

	TEST(roce_out_answers(roce, n, p, 1, 0) == 0);
	return roce_out_ledger(roce[0], false).unmatched == before;
}

/* A NAK sets the PSN of its own pair, and what was sent since is lost. */
static void naks(void)
{
	static uint8_t data[8], frame[ROCE_FRAME_MAX];
	struct op op = {.verb = OP_WRITE, .length = 8, .data = data};
	struct transports b = {.path = ""};
	struct dart_ledger l;
	uint32_t qpn = ticket[1].at[RIG_KW].qpn, psn = ticket[1].at[RIG_KW].psn;
	struct pkt p;

	transports_open(&b, "b");
	for (unsigned i = 0; i < 20; i++) /* the PSN wraps on the way */
		run(roce_out_transport(b.roce[1]), &op, 1);
	p = answer(frame, 1, psn + 3, ROCE_ACK, qpn);
	TEST(hear(b.roce, COLLECTORS, &p));
	p = answer(frame, 1, (psn + 8) & ROCE_PSN_MASK, ROCE_NAK_PSN, 0x999);
	TEST(!hear(b.roce, COLLECTORS, &p)); /* another's */
	p = answer(frame, 1, (psn + 25) & ROCE_PSN_MASK, ROCE_NAK_PSN, qpn);
	TEST(hear(b.roce, COLLECTORS, &p)); /* about what never was */
	l = roce_out_dart_ledger(b.roce[1]);
	TEST(l.packets == 20 && l.sent == 20 && !l.lost && !l.resyncs);
	p = answer(frame, 1, (psn + 8) & ROCE_PSN_MASK, ROCE_NAK_PSN, qpn);
	TEST(hear(b.roce, COLLECTORS, &p));
	TEST(hear(b.roce, COLLECTORS, &p)); /* again: nothing is new */
	l = roce_out_dart_ledger(b.roce[1]);
	TEST(l.packets == 20 && l.sent == 8 && l.lost == 12 && l.resyncs == 1);
	TEST(roce_out_psn(b.roce[1], RIG_KW) == ((psn + 8) & ROCE_PSN_MASK));
	TEST(ledger_balanced(&dart_ledger, &l));
	transports_close(&b);
	unlink(b.path);
}

/* A switch, and the software responder it writes to. */
struct wire {
	struct rig *g;
	char path[64];
	struct snk *sink;
	struct roce_out *dart;
	size_t carried; /* frames that left the switch, up to here */
	uint32_t writes;
};

/* Every slot gets another value, so that the memory tells who was written. */
static void write_some(struct wire *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint8_t data[8] = {0};
		struct op op = {.verb = OP_WRITE,
				.offset = 8 * w->writes,
				.length = 8,
				.data = data};

		be32_store(data, ++w->writes);
		run(roce_out_transport(w->dart), &op, 1);
	}
}

static void copy_pkt(struct pkt *to, const struct pkt *from, uint8_t *room)
{
	*to = *from;
	to->data = memcpy(room, from->data, from->len);
}

/* Lets what was sent arrive, but for the n-th from here (0: none is lost).
 * Returns how many answers came, the last one in *last. */
static unsigned deliver(struct wire *w, unsigned lose, struct pkt *last,
			uint8_t *room)
{
	struct error err = {""};
	struct pkt p;
	struct src *s;
	size_t n = 0, seen = w->g->seen, i = 0;

	TEST(snk_flush(w->sink) == 0);
	if (src_open(&s, w->path, &err) < 0)
		rig_die(w->path, &err);
	for (; src_rx(s, &p, 1, &err) > 0; n++)
		if (n >= w->carried && n - w->carried + 1 != lose)
			TEST(rig_rx(w->g, p.data, p.len) == 0);
	src_close(s);
	w->carried = n;
	snk_flush(w->g->answers);
	if (src_open(&s, w->g->path, &err) < 0)
		rig_die(w->g->path, &err);
	for (; src_rx(s, &p, 1, &err) > 0; i++)
		if (i >= seen)
			copy_pkt(last, &p, room);
	src_close(s);
	w->g->seen = i;
	return (unsigned)(i - seen);
}

static bool is_written(const struct wire *w, unsigned i)
{
	return be32_load(rig_mem(w->g, RIG_KW) + 8 * (size_t)i) == i + 1;
}

static void wire_open(struct wire *w, struct rig *g, unsigned ack_every)
{
	struct error err = {""};

	*w = (struct wire){.g = g};
	rig_restart(g, NULL);
	snprintf(w->path, sizeof(w->path), "/tmp/test-dart-w-%d.pcap",
		 (int)getpid());
	if (snk_open(&w->sink, w->path, &err) < 0 ||
	    roce_out_open(&w->dart, &g->t, w->sink, ack_every, &err) < 0 ||
	    roce_out_dart(w->dart, &err) < 0)
		rig_die("dart", &err);
}

/* The ledger is what the responder did: what it has not taken is lost. */
static void wire_close(struct wire *w)
{
	struct dart_ledger l = roce_out_dart_ledger(w->dart);

	TEST(responder_counters(w->g->p)->executed == l.sent);
	TEST(ledger_balanced(&dart_ledger, &l));
	roce_out_close(w->dart);
	TEST(snk_close(w->sink) == 0);
	unlink(w->path);
}

/* The network delivers one NAK again, when the PSN was gone back to already. */
static void twice(struct rig *g)
{
	static uint8_t room[256], more[256];
	struct dart_ledger l;
	struct pkt nak, p;
	struct wire w;

	wire_open(&w, g, 0);
	write_some(&w, 10);
	TEST(deliver(&w, 5, &nak, room) == 1);
	TEST(hear(&w.dart, 1, &nak));
	l = roce_out_dart_ledger(w.dart);
	TEST(l.lost == 6 && l.resyncs == 1);
	write_some(&w, 4);
	TEST(hear(&w.dart, 1, &nak));
	write_some(&w, 4);
	TEST(deliver(&w, 0, &p, more) == 0);
	l = roce_out_dart_ledger(w.dart);
	TEST(l.lost == 6 && l.resyncs == 1 && l.sent == 12);
	for (unsigned i = 0; i < w.writes; i++)
		TEST(is_written(&w, i) == (i < 4 || i >= 10));
	wire_close(&w);
}

/* The first NAK comes again behind a second, about a later PSN. */
static void late(struct rig *g)
{
	static uint8_t room[256], more[256];
	struct pkt first, second;
	struct wire w;

	wire_open(&w, g, 0);
	write_some(&w, 10);
	TEST(deliver(&w, 5, &first, room) == 1);
	TEST(hear(&w.dart, 1, &first));
	write_some(&w, 10);
	TEST(deliver(&w, 7, &second, more) == 1);
	TEST(hear(&w.dart, 1, &second));
	write_some(&w, 3);
	TEST(hear(&w.dart, 1, &first));
	TEST(hear(&w.dart, 1, &second));
	write_some(&w, 3);
	TEST(deliver(&w, 0, &second, more) == 0);
	TEST(roce_out_dart_ledger(w.dart).resyncs == 2);
	wire_close(&w);
}

/* What an ACK has confirmed, no NAK takes back; the next loss is heard. */
static void confirmed(struct rig *g)
{
	static uint8_t room[256], more[256];
	struct pkt nak, p;
	struct wire w;

	wire_open(&w, g, 8);
	write_some(&w, 7);
	TEST(deliver(&w, 3, &nak, room) == 1);
	TEST(hear(&w.dart, 1, &nak));
	write_some(&w, 10);
	TEST(deliver(&w, 0, &p, more) >= 1);
	TEST(hear(&w.dart, 1, &p)); /* the ACK */
	TEST(hear(&w.dart, 1, &nak));
	TEST(roce_out_dart_ledger(w.dart).resyncs == 1);
	write_some(&w, 3);
	TEST(deliver(&w, 1, &nak, room) >= 1);
	TEST(hear(&w.dart, 1, &nak));
	TEST(roce_out_dart_ledger(w.dart).resyncs == 2);
	write_some(&w, 1);
	deliver(&w, 0, &p, more);
	wire_close(&w);
}

/* A NAK that nothing came of is heard again much later; and PSNs wrap: what was
 * heard of them long ago does not count. */
static void long_ago(void)
{
	static uint8_t frame[ROCE_FRAME_MAX], data[8];
	static struct op op[4096];
	uint32_t psn = ticket[0].at[RIG_KW].psn;
	struct roce_out *dart;
	struct error err = {""};
	struct snk *sink;
	struct pkt p;

	for (unsigned i = 0; i < 4096; i++)
		op[i] = (struct op){
			.verb = OP_WRITE, .length = 8, .data = data};
	if (snk_open(&sink, "/dev/null", &err) < 0 ||
	    roce_out_open(&dart, &ticket[0], sink, 0, &err) < 0 ||
	    roce_out_dart(dart, &err) < 0)
		rig_die("dart", &err);
	run(roce_out_transport(dart), op, 10);
	p = answer(frame, 0, psn + 4, ROCE_NAK_PSN, ticket[0].at[RIG_KW].qpn);
	TEST(hear(&dart, 1, &p));
	for (unsigned i = 0; i < 16; i++)
		run(roce_out_transport(dart), op, 4096);
	TEST(hear(&dart, 1, &p));
	TEST(roce_out_dart_ledger(dart).resyncs == 2);
	TEST(roce_out_dart_ledger(dart).lost == 6 + 65536);
	/* all PSNs, and 100 more: psn + 104 is the next */
	for (unsigned i = 0; i < 4096; i++)
		run(roce_out_transport(dart), op, 4096);
	run(roce_out_transport(dart), op, 100);
	p = answer(frame, 0, psn + 54, ROCE_NAK_PSN, ticket[0].at[RIG_KW].qpn);
	TEST(hear(&dart, 1, &p));
	TEST(roce_out_dart_ledger(dart).lost == 6 + 65536 + 50);
	p = answer(frame, 0, (psn - 1000) & ROCE_PSN_MASK, ROCE_NAK_PSN,
		   ticket[0].at[RIG_KW].qpn);
	TEST(hear(&dart, 1, &p)); /* before: known */
	TEST(roce_out_dart_ledger(dart).resyncs == 3);
	roce_out_close(dart);
	TEST(snk_close(sink) == 0);
}

static void refused(void)
{
	static struct ticket t;
	struct roce_out *dart;
	struct error err = {""};

	t = ticket[1];
	t.mtu = 512;
	TEST(roce_out_open(&dart, &t, NULL, 0, &err) == 0);
	TEST(roce_out_dart(dart, &err) == -EINVAL);
	TEST(strstr(err.text, "MTU") != NULL);
	roce_out_close(dart);
}

int main(void)
{
	static struct rig g;

	rig_open(&g, NULL);
	make_tickets(&g);
	naks();
	twice(&g);
	late(&g);
	confirmed(&g);
	long_ago();
	refused();
	rig_close(&g);
	return test_end();
}
