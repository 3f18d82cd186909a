/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * New tickets for transports that hear no answers, and for a DART switch: PSNs
 * and lists go on where the queue pair does, and begin anew where it is
 * another.
 */
#include "dart_rig.h"
#include "net/be.h"

enum {
	BEFORE = 10,	  /* operations under the first ticket */
	FIRST = 0xfffff8, /* its PSN: they come past the end */
};

static struct rig g;
static struct ticket was, now;

/* Of a NIC: what it tells is the PSN that it expects, some time ago. */
static void nic_tickets(void)
{
	was = g.t;
	for (unsigned i = 0; i < was.n; i++) {
		was.at[i].psn = was.at[i].first_psn = FIRST;
		was.at[i].lasting = true;
	}
	now = was;
	for (unsigned i = 0; i < was.n; i++)
		now.at[i].psn = (FIRST + BEFORE - 3) & ROCE_PSN_MASK;
}

static void rotate(struct ticket *t)
{
	t->epoch++;
	for (unsigned i = 0; i < t->n; i++)
		t->at[i].rkey ^= 0x5555;
}

static struct op write_op(unsigned table)
{
	static const uint8_t data[8];

	return (struct op){.verb = OP_WRITE,
			   .table = (uint16_t)table,
			   .length = 8,
			   .data = data};
}

/* The PSN that a transport goes on with when the ticket is now. */
static uint32_t psn_goes_on(void)
{
	char path[64];
	struct op op = write_op(RIG_KW);
	struct error err = {""};
	struct roce r = {0};
	struct roce_out *o;
	struct snk *sink;
	struct src *s;
	struct pkt p;

	snprintf(path, sizeof(path), "/tmp/test-reticket-%d.pcap",
		 (int)getpid());
	if (snk_open(&sink, path, &err) < 0 ||
	    roce_out_open(&o, &was, sink, 0, &err) < 0)
		rig_die("transport", &err);
	for (unsigned i = 0; i < BEFORE; i++)
		run(roce_out_transport(o), &op, 1);
	TEST(roce_out_reticket(o, &now, &err) == 0);
	run(roce_out_transport(o), &op, 1);
	roce_out_close(o);
	TEST(snk_close(sink) == 0);
	if (src_open(&s, path, &err) < 0)
		rig_die(path, &err);
	while (src_rx(s, &p, 1, &err) > 0)
		TEST(roce_decode(&r, p.data, p.len) == 0);
	TEST(r.rkey == now.at[RIG_KW].rkey && r.dest_qp == now.at[RIG_KW].qpn);
	src_close(s);
	unlink(path);
	return r.psn;
}

/* The same of a DART switch. */
static uint32_t dart_goes_on(void)
{
	struct op op = write_op(RIG_KW);
	struct roce_out *o;
	struct error err = {""};
	struct snk *sink;
	uint32_t psn;

	if (snk_open(&sink, "/dev/null", &err) < 0 ||
	    roce_out_open(&o, &was, sink, 0, &err) < 0 ||
	    roce_out_dart(o, &err) < 0)
		rig_die("dart", &err);
	for (unsigned i = 0; i < BEFORE; i++)
		run(roce_out_transport(o), &op, 1);
	TEST(roce_out_reticket(o, &now, &err) == 0);
	psn = roce_out_psn(o, RIG_KW);
	roce_out_close(o);
	TEST(snk_close(sink) == 0);
	return psn;
}

static bool go_on_at(uint32_t psn)
{
	bool transport = psn_goes_on() == (psn & ROCE_PSN_MASK);
	bool dart = dart_goes_on() == (psn & ROCE_PSN_MASK);

	return transport && dart;
}

/* A queue pair that lives on. */
static void test_lasting(void)
{
	nic_tickets();
	TEST(go_on_at(FIRST + BEFORE));
	rotate(&now);
	TEST(go_on_at(FIRST + BEFORE));
	now.mac[5]++; /* another port of the same address */
	TEST(go_on_at(FIRST + BEFORE));
	now.at[RIG_KW].psn = (FIRST + BEFORE) & ROCE_PSN_MASK;
	TEST(go_on_at(FIRST + BEFORE));
	/* It expects what we have not sent yet: so we were not who did. */
	now.at[RIG_KW].psn = (FIRST + BEFORE + 1) & ROCE_PSN_MASK;
	TEST(go_on_at(FIRST + BEFORE + 1));
	/* Ours would be taken for a duplicate. */
	now.at[RIG_KW].psn = (FIRST + BEFORE - ROCE_PSN_HALF) & ROCE_PSN_MASK;
	TEST(go_on_at(FIRST + BEFORE + ROCE_PSN_HALF));
}

/* Another one, also where it has the number of the old one. */
static void test_another(void)
{
	uint32_t psn;

	nic_tickets();
	psn = now.at[RIG_KW].psn;
	now.at[RIG_KW].first_psn = psn;
	TEST(go_on_at(psn));
	nic_tickets();
	now.at[RIG_KW].qpn += 0x100;
	TEST(go_on_at(psn));
	nic_tickets();
	now.ip[3]++;
	TEST(go_on_at(psn));
	/* A software collector's, which are always others. */
	nic_tickets();
	was.at[RIG_KW].lasting = now.at[RIG_KW].lasting = false;
	TEST(go_on_at(psn));
	rotate(&now);
	now.at[RIG_KW].psn = was.at[RIG_KW].psn;
	TEST(go_on_at(FIRST));
}

/* The same ticket, of whatever collector and file. */
static void test_same(void)
{
	nic_tickets();
	now = was;
	now.stamp.inode++;
	TEST(go_on_at(FIRST + BEFORE));
	was.at[RIG_KW].lasting = now.at[RIG_KW].lasting = false;
	TEST(go_on_at(FIRST + BEFORE));
}

/* Where a list stands that had 8 entries, and to which this transport has
 * written 4, when the ticket is now. */
static uint64_t list_goes_on(void)
{
	uint8_t count[8] = {0, 0, 0, 0, 0, 0, 0, 12};
	struct op op = write_op(RIG_LIST);
	struct error err = {""};
	struct roce_out *o;
	struct snk *sink;
	uint64_t head;

	op.offset = table_head(&was.table[RIG_LIST], 1);
	op.data = count;
	if (snk_open(&sink, "/dev/null", &err) < 0 ||
	    roce_out_open(&o, &was, sink, 0, &err) < 0)
		rig_die("transport", &err);
	run(roce_out_transport(o), &op, 1);
	TEST(roce_out_reticket(o, &now, &err) == 0);
	head = roce_out_transport(o)->head(roce_out_transport(o), RIG_LIST, 1);
	roce_out_close(o);
	TEST(snk_close(sink) == 0);
	return head;
}

static void test_lists(void)
{
	uint64_t before[3] = {0, 8, 0}, same[3] = {0, 8, 0};

	nic_tickets();
	was.at[RIG_LIST].heads = before;
	now.at[RIG_LIST].heads = same;
	TEST(list_goes_on() == 12); /* the ticket does not know all */
	same[2] = 1;
	TEST(list_goes_on() == 12);
	now.at[RIG_LIST].first_psn++;
	TEST(list_goes_on() == 8); /* what was under way is lost */
	nic_tickets();
	was.at[RIG_LIST].heads = before;
	rotate(&now);
	TEST(list_goes_on() == 0); /* other lists */
	/* The very same ticket. */
	nic_tickets();
	same[2] = 0;
	was.at[RIG_LIST].heads = before;
	was.at[RIG_LIST].lasting = false;
	now = was;
	now.at[RIG_LIST].heads = same;
	TEST(list_goes_on() == 12);
	same[1] = 9; /* of another time */
	TEST(list_goes_on() == 9);
}

/* A NAK about what was sent under the ticket before is heard, once. */
static void test_dart_heard(void)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	struct op op = write_op(RIG_KW);
	struct roce r = {.version = 4,
			 .src_port = 0xc011,
			 .opcode = ROCE_RC_ACK,
			 .pkey = 0xffff,
			 .syndrome = ROCE_NAK_PSN};
	struct roce_out *dart;
	struct error err = {""};
	struct snk *sink;
	struct pkt nak;

	nic_tickets();
	rotate(&now);
	if (snk_open(&sink, "/dev/null", &err) < 0 ||
	    roce_out_open(&dart, &was, sink, 0, &err) < 0 ||
	    roce_out_dart(dart, &err) < 0)
		rig_die("dart", &err);
	for (unsigned i = 0; i < BEFORE; i++)
		run(roce_out_transport(dart), &op, 1);
	r.dest_qp = was.at[RIG_KW].qpn;
	r.psn = (FIRST + 7) & ROCE_PSN_MASK;
	memcpy(r.eth_dst, was.peer_mac, 6);
	memcpy(r.src, was.ip, 4);
	memcpy(r.dst, was.peer_ip, 4);
	nak = (struct pkt){
		.data = frame,
		.len = (uint32_t)roce_encode(frame, sizeof(frame), &r),
	};
	TEST(roce_out_reticket(dart, &now, &err) == 0);
	TEST(roce_out_answers(&dart, 1, &nak, 1, 0) == 0);
	TEST(roce_out_dart_ledger(dart).lost == BEFORE - 7);
	run(roce_out_transport(dart), &op, 1);
	TEST(roce_out_reticket(dart, &was, &err) == 0);
	TEST(roce_out_answers(&dart, 1, &nak, 1, 0) == 0);
	TEST(roce_out_dart_ledger(dart).lost == BEFORE - 7);
	TEST(roce_out_dart_ledger(dart).resyncs == 1);
	roce_out_close(dart);
	TEST(snk_close(sink) == 0);
}

int main(void)
{
	rig_open(&g, NULL);
	test_lasting();
	test_another();
	test_same();
	test_lists();
	test_dart_heard();
	rig_close(&g);
	return test_end();
}
