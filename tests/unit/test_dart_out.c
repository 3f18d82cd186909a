/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The transport of a DART switch: its frames are, byte for byte, those of the
 * general RoCEv2 transport, which has tests of its own against IBTA, Volume
 * 1, 9.2 to 9.4; from 20 bytes of state. The iCRC is zlib's here.
 */
#include <errno.h>

#include "base/rng.h"
#include "dart_rig.h"
#include "net/be.h"

enum {
	OPS = 600,
};

/* Operations on all tables of all collectors, in runs. */
static size_t make_ops(struct op *op, unsigned tables)
{
	static uint64_t operand[2] = {0, 0x0102030405060708};
	static uint8_t data[1024];
	struct rng r = {5};
	size_t n = 0;

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)rng_u64(&r);
	while (n < OPS) {
		unsigned c = (unsigned)rng_below(&r, COLLECTORS);
		unsigned k = (unsigned)rng_below(&r, 3);
		uint8_t verb = k == RIG_INC			 ? OP_FETCH_ADD
			       : rng_below(&r, 4)		 ? OP_WRITE
			       : k == RIG_KW && rng_below(&r, 2) ? OP_CMP_SWAP
								 : OP_WRITE_IMM;

		op[n] = (struct op){
			.verb = verb,
			.table = (uint16_t)(c * tables + k),
			.offset = 8 * rng_below(&r, 200),
			.length = 8,
			.immediate = (uint32_t)n,
			.data = verb == OP_CMP_SWAP ? (uint8_t *)operand : data,
		};
		if (verb == OP_FETCH_ADD)
			op[n].add = n;
		n++;
	}
	op[n++] = (struct op){.verb = OP_WRITE,
			      .table = (uint16_t)(2 * tables + RIG_WIDE),
			      .offset = 1024,
			      .length = 1024,
			      .data = data};
	return n;
}

/* Frames of a capture, sorted by destination and queue pair: transports may
 * write to one collector before the other. */
static size_t frames_of(const char *path, struct pkt *out, uint8_t *room)
{
	struct error err = {""};
	struct src *s;
	size_t n = 0;

	if (src_open(&s, path, &err) < 0)
		rig_die(path, &err);
	while (src_rx(s, &out[n], 1, &err) > 0) {
		memcpy(room, out[n].data, out[n].len);
		out[n].data = room;
		room += out[n++].len;
	}
	src_close(s);
	unlink(path);
	return n;
}

static void compare(const struct pkt *a, size_t na, const struct pkt *b,
		    size_t nb)
{
	TEST(na == nb);
	for (size_t i = 0; i < na && i < nb; i++) {
		const uint8_t *end = b[i].data + b[i].len - 4;
		uint32_t sum = (uint32_t)end[0] | (uint32_t)end[1] << 8 |
			       (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;

		if (!TEST(a[i].len == b[i].len &&
			  !memcmp(a[i].data, b[i].data, a[i].len)))
			break;
		TEST(rig_icrc(b[i].data, b[i].len) == sum);
	}
}

static void same_frames(void)
{
	static struct op op[OPS + 1];
	static struct pkt want[4 * OPS], got[4 * OPS];
	static uint8_t room[2][4 * OPS * 128 + 8192];
	struct transports a = {.path = ""}, b = {.path = ""};
	struct dart_out *dart;
	struct error err = {""};
	size_t n = make_ops(op, ticket[0].n), na, nb;

	transports_open(&a, "a");
	transports_open(&b, "b");
	if (dart_out_open(&dart, tickets, COLLECTORS, b.sink,
			  fanout_transport(b.fanout), 0, &err) < 0)
		rig_die("dart", &err);
	/* One after the other: both transports then keep the same order. */
	for (size_t i = 0; i < n; i++) {
		run(fanout_transport(a.fanout), &op[i], 1);
		run(dart_out_transport(dart), &op[i], 1);
	}
	TEST(dart_out_ledger(dart).packets > n / 2);
	for (unsigned c = 0; c < COLLECTORS; c++) {
		const struct dart_state *s = dart_out_state(dart, c, RIG_KW);

		TEST(sizeof(*s) == 20 && !memcmp(s->mac, ticket[c].mac, 6) &&
		     !memcmp(s->ip, ticket[c].ip, 4));
		TEST(dart_out_state(dart, c, RIG_INC) == NULL);
	}
	transports_close(&a);
	transports_close(&b);
	dart_out_close(dart);
	na = frames_of(a.path, want, room[0]);
	nb = frames_of(b.path, got, room[1]);
	compare(want, na, got, nb);
}

/* AckReq on every n-th packet of a queue pair. */
static void acks(void)
{
	static struct pkt got[32];
	static uint8_t room[4096], data[8];
	struct op op = {.verb = OP_WRITE, .length = 8, .data = data};
	struct transports b = {.path = ""};
	struct dart_out *dart;
	struct error err = {""};
	unsigned asked = 0;
	size_t n;

	transports_open(&b, "b");
	if (dart_out_open(&dart, tickets, COLLECTORS, b.sink,
			  fanout_transport(b.fanout), 4, &err) < 0)
		rig_die("dart", &err);
	for (unsigned i = 0; i < 20; i++)
		run(dart_out_transport(dart), &op, 1);
	transports_close(&b);
	dart_out_close(dart);
	n = frames_of(b.path, got, room);
	TEST(n == 20);
	for (size_t i = 0; i < n; i++) {
		struct roce r;

		TEST(roce_decode(&r, got[i].data, got[i].len) == 0 &&
		     r.icrc_ok && r.psn == i);
		asked += r.ack_req;
	}
	TEST(asked == 5);
}

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

	memcpy(r.src, ticket[c].ip, 4);
	memcpy(r.dst, ticket[c].peer_ip, 4);
	len = roce_encode(frame, ROCE_FRAME_MAX, &r);
	TEST(len > 0);
	return (struct pkt){.data = frame, .len = (uint32_t)len};
}

/* A NAK sets the PSN of its own pair, and what was sent since is lost. */
static void naks(void)
{
	static uint8_t data[8], frame[ROCE_FRAME_MAX];
	struct op op = {.verb = OP_WRITE, .length = 8, .data = data};
	struct transports b = {.path = ""};
	struct dart_out *dart;
	struct dart_ledger l;
	struct error err = {""};
	uint32_t qpn = ticket[1].at[RIG_KW].qpn, psn = ticket[1].at[RIG_KW].psn;
	const struct dart_state *st;
	struct pkt p;

	transports_open(&b, "b");
	if (dart_out_open(&dart, tickets, COLLECTORS, b.sink,
			  fanout_transport(b.fanout), 0, &err) < 0)
		rig_die("dart", &err);
	op.table = (uint16_t)ticket[0].n; /* of collector 1 */
	for (unsigned i = 0; i < 20; i++) /* the PSN wraps on the way */
		run(dart_out_transport(dart), &op, 1);
	st = dart_out_state(dart, 1, RIG_KW);
	p = answer(frame, 1, psn + 3, ROCE_ACK, qpn);
	TEST(dart_out_answer(dart, &p));
	p = answer(frame, 1, (psn + 8) & ROCE_PSN_MASK, ROCE_NAK_PSN, 0x999);
	TEST(!dart_out_answer(dart, &p)); /* another's */
	p = answer(frame, 1, (psn + 25) & ROCE_PSN_MASK, ROCE_NAK_PSN, qpn);
	TEST(dart_out_answer(dart, &p)); /* about what never was */
	l = dart_out_ledger(dart);
	TEST(l.packets == 20 && l.sent == 20 && !l.lost && !l.resyncs);
	p = answer(frame, 1, (psn + 8) & ROCE_PSN_MASK, ROCE_NAK_PSN, qpn);
	TEST(dart_out_answer(dart, &p));
	TEST(dart_out_answer(dart, &p)); /* again: nothing is new */
	l = dart_out_ledger(dart);
	TEST(l.packets == 20 && l.sent == 8 && l.lost == 12 && l.resyncs == 1);
	TEST(((uint32_t)st->psn[0] << 16 | (uint32_t)st->psn[1] << 8 |
	      st->psn[2]) == ((psn + 8) & ROCE_PSN_MASK));
	TEST(ledger_balanced(&dart_ledger, &l));
	transports_close(&b);
	unlink(b.path);
	dart_out_close(dart);
}

/* A switch, and the software responder it writes to. */
struct wire {
	struct rig *g;
	struct transports transports;
	struct dart_out *dart;
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
		run(dart_out_transport(w->dart), &op, 1);
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

	TEST(snk_flush(w->transports.sink) == 0);
	if (src_open(&s, w->transports.path, &err) < 0)
		rig_die(w->transports.path, &err);
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
	const struct ticket *one = &g->t;
	struct error err = {""};

	*w = (struct wire){.g = g};
	rig_restart(g, NULL);
	transports_open(&w->transports, "w");
	if (dart_out_open(&w->dart, &one, 1, w->transports.sink,
			  fanout_transport(w->transports.fanout), ack_every,
			  &err) < 0)
		rig_die("dart", &err);
}

/* The ledger is what the responder did: what it has not taken is lost. */
static void wire_close(struct wire *w)
{
	struct dart_ledger l = dart_out_ledger(w->dart);

	TEST(responder_counters(w->g->p)->executed == l.sent);
	TEST(ledger_balanced(&dart_ledger, &l));
	transports_close(&w->transports);
	unlink(w->transports.path);
	dart_out_close(w->dart);
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
	TEST(dart_out_answer(w.dart, &nak));
	l = dart_out_ledger(w.dart);
	TEST(l.lost == 6 && l.resyncs == 1);
	write_some(&w, 4);
	TEST(dart_out_answer(w.dart, &nak));
	write_some(&w, 4);
	TEST(deliver(&w, 0, &p, more) == 0);
	l = dart_out_ledger(w.dart);
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
	TEST(dart_out_answer(w.dart, &first));
	write_some(&w, 10);
	TEST(deliver(&w, 7, &second, more) == 1);
	TEST(dart_out_answer(w.dart, &second));
	write_some(&w, 3);
	TEST(dart_out_answer(w.dart, &first));
	TEST(dart_out_answer(w.dart, &second));
	write_some(&w, 3);
	TEST(deliver(&w, 0, &second, more) == 0);
	TEST(dart_out_ledger(w.dart).resyncs == 2);
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
	TEST(dart_out_answer(w.dart, &nak));
	write_some(&w, 10);
	TEST(deliver(&w, 0, &p, more) == 1);
	TEST(dart_out_answer(w.dart, &p)); /* the ACK */
	TEST(dart_out_answer(w.dart, &nak));
	TEST(dart_out_ledger(w.dart).resyncs == 1);
	write_some(&w, 3);
	TEST(deliver(&w, 1, &nak, room) >= 1);
	TEST(dart_out_answer(w.dart, &nak));
	TEST(dart_out_ledger(w.dart).resyncs == 2);
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
	const struct ticket *one = &ticket[0];
	struct dart_out *dart;
	struct transports b = {.path = ""};
	struct error err = {""};
	struct pkt p;

	for (unsigned i = 0; i < 4096; i++)
		op[i] = (struct op){
			.verb = OP_WRITE, .length = 8, .data = data};
	transports_open(&b, "b");
	snk_close(b.sink);
	if (snk_open(&b.sink, "/dev/null", &err) < 0 ||
	    dart_out_open(&dart, &one, 1, b.sink, fanout_transport(b.fanout), 0,
			  &err) < 0)
		rig_die("dart", &err);
	run(dart_out_transport(dart), op, 10);
	p = answer(frame, 0, psn + 4, ROCE_NAK_PSN, ticket[0].at[RIG_KW].qpn);
	TEST(dart_out_answer(dart, &p));
	for (unsigned i = 0; i < 16; i++)
		run(dart_out_transport(dart), op, 4096);
	TEST(dart_out_answer(dart, &p));
	TEST(dart_out_ledger(dart).resyncs == 2);
	TEST(dart_out_ledger(dart).lost == 6 + 65536);
	/* all PSNs, and 100 more: psn + 104 is the next */
	for (unsigned i = 0; i < 4096; i++)
		run(dart_out_transport(dart), op, 4096);
	run(dart_out_transport(dart), op, 100);
	p = answer(frame, 0, psn + 54, ROCE_NAK_PSN, ticket[0].at[RIG_KW].qpn);
	TEST(dart_out_answer(dart, &p));
	TEST(dart_out_ledger(dart).lost == 6 + 65536 + 50);
	p = answer(frame, 0, (psn - 1000) & ROCE_PSN_MASK, ROCE_NAK_PSN,
		   ticket[0].at[RIG_KW].qpn);
	TEST(dart_out_answer(dart, &p)); /* before: known */
	TEST(dart_out_ledger(dart).resyncs == 3);
	dart_out_close(dart);
	transports_close(&b);
	unlink(b.path);
}

static void refused(const struct ticket *t, int rc, const char *why)
{
	const struct ticket *two[2] = {&ticket[0], t};
	struct dart_out *dart;
	struct error err = {""};

	TEST(dart_out_open(&dart, two, 2, NULL, NULL, 0, &err) == rc);
	if (!TEST(strstr(err.text, why) != NULL))
		fprintf(stderr, "%s\n", err.text);
}

static void refusals(void)
{
	static struct ticket t;
	struct dart_out *dart;
	const struct ticket *one = &t;
	struct error err = {""};

	t = ticket[1];
	t.at[RIG_KW].address += 4096;
	refused(&t, -EINVAL, "another address");
	t = ticket[1];
	t.version = 6;
	refused(&t, -EAFNOSUPPORT, "IPv4");
	t = ticket[1];
	t.peer_ip[3]++;
	refused(&t, -EINVAL, "peer_ip");
	t = ticket[1];
	t.mtu = 512;
	TEST(dart_out_open(&dart, &one, 1, NULL, NULL, 0, &err) == -EINVAL);
	TEST(strstr(err.text, "MTU") != NULL);
}

int main(void)
{
	static struct rig g;

	rig_open(&g, NULL);
	make_tickets(&g);
	same_frames();
	acks();
	naks();
	twice(&g);
	late(&g);
	confirmed(&g);
	long_ago();
	refusals();
	rig_close(&g);
	return test_end();
}
