/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A collector's new ticket: all packets go by the old one or all by the new
 * one. Seen from outside: the queue pairs of frames.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cluster/cluster_out.h"
#include "requester_rig.h"
#include "test.h"

enum {
	WINDOW = 64,
	NEW_QPN = 0x700,
	SECOND = 1000000000,
	BOTH = 2,
};

struct harbour {
	char ticket[64], frames[64];
	struct cluster_collector collector;
	struct cluster_member member;
	struct cluster_generation generation;
	struct cluster cluster;
	struct snk *sink;
	struct cluster_out *out;
};

/* In a second of its own: a clock may be too coarse to tell. */
static void put_ticket(const char *path, const struct ticket *t, time_t second)
{
	const struct timespec when[2] = {{second, 0}, {second, 0}};
	FILE *out = fopen(path, "w");

	TEST(out && ticket_write(t, out) == 0 && fclose(out) == 0);
	TEST(utimensat(AT_FDCWD, path, when, 0) == 0);
}

static void harbour_open(struct harbour *h, const struct ticket *t)
{
	struct cluster_out_options o = {.dart = true};
	struct roce_out *roce[CLUSTER_MAX];
	struct error err = {""};

	*h = (struct harbour){.generation.n = 1};
	snprintf(h->ticket, sizeof(h->ticket), "/tmp/test-cluster-%d.ini",
		 (int)getpid());
	snprintf(h->frames, sizeof(h->frames), "/tmp/test-cluster-%d.pcap",
		 (int)getpid());
	put_ticket(h->ticket, t, 1000);
	snprintf(h->collector.ticket, sizeof(h->collector.ticket), "%s",
		 h->ticket);
	h->generation.member = &h->member;
	h->cluster = (struct cluster){.n = 1,
				      .generations = 1,
				      .collector = &h->collector,
				      .generation = &h->generation};
	if (snk_open(&h->sink, h->frames, &err) < 0)
		rig_die(h->frames, &err);
	o.sink = h->sink;
	if (cluster_out_open(&h->out, &h->cluster, &o, &err) < 0)
		rig_die("cluster", &err);
	TEST(cluster_out_roces(h->out, roce) == 1);
	TEST(roce_out_window(roce[0], WINDOW, NULL, NULL, &err) == 0);
}

static void harbour_close(struct harbour *h)
{
	cluster_out_close(h->out);
	TEST(snk_close(h->sink) == 0);
	unlink(h->ticket);
	unlink(h->frames);
}

/* The queue pair of the newest frame, when an operation was sent on a table. */
static uint32_t pair_of(struct harbour *h, uint16_t table)
{
	static const uint8_t data[8];
	struct op op = {
		.verb = OP_WRITE, .table = table, .length = 8, .data = data};
	struct transport *transport = cluster_out_transport(h->out);
	struct error err = {""};
	struct roce r = {.dest_qp = 0};
	struct pkt p;
	struct src *s;

	transport->begin(transport);
	TEST(transport->exec(transport, &op, 1, 1000) == 0);
	transport->end(transport);
	TEST(snk_flush(h->sink) == 0);
	if (src_open(&s, h->frames, &err) < 0)
		rig_die(h->frames, &err);
	while (src_rx(s, &p, 1, &err) > 0)
		TEST(roce_decode(&r, p.data, p.len) == 0);
	src_close(s);
	return r.dest_qp;
}

/* The same tables behind other queue pairs. */
static struct ticket renewed(const struct ticket *t)
{
	struct ticket to = *t;

	for (unsigned i = 0; i < t->n; i++)
		to.at[i].qpn = NEW_QPN + i;
	return to;
}

/* The end of the last round, and another. */
static int look(struct harbour *h, struct error *err)
{
	static uint64_t now;
	int rc = 0;

	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = cluster_out_poll_tickets(h->out, now += SECOND, err);
	return rc;
}

static void all_or_none(const struct ticket *t)
{
	struct ticket next = renewed(t);
	struct error err = {""};
	struct harbour h;

	harbour_open(&h, t);
	TEST(pair_of(&h, RIG_KW) == t->at[RIG_KW].qpn);
	next.mtu = 2048;
	put_ticket(h.ticket, &next, 2000);
	TEST(look(&h, &err) == -EINVAL);
	TEST(strstr(err.text, "MTU") != NULL);
	TEST(pair_of(&h, RIG_KW) == t->at[RIG_KW].qpn);
	TEST(look(&h, &err) == 0); /* said is said */
	TEST(pair_of(&h, RIG_KW) == t->at[RIG_KW].qpn);
	next = renewed(t);
	put_ticket(h.ticket, &next, 4000);
	TEST(look(&h, &err) == 1);
	TEST(pair_of(&h, RIG_KW) == NEW_QPN + RIG_KW);
	harbour_close(&h);
}

/* What is no ticket is said once, and the old one stays until it is one. */
static void half_written(const struct ticket *t)
{
	const struct timespec when[2] = {{2000, 0}, {2000, 0}};
	struct ticket next = renewed(t);
	struct error err = {""};
	struct harbour h;

	harbour_open(&h, t);
	put_ticket(h.ticket, &next, 2000);
	TEST(truncate(h.ticket, 300) == 0);
	TEST(utimensat(AT_FDCWD, h.ticket, when, 0) == 0);
	TEST(look(&h, &err) < 0 && look(&h, &err) == 0);
	TEST(pair_of(&h, RIG_KW) == t->at[RIG_KW].qpn);
	put_ticket(h.ticket, &next, 2001);
	TEST(look(&h, &err) == 1);
	TEST(strstr(err.text, "written again, still epoch 1") != NULL);
	TEST(pair_of(&h, RIG_KW) == NEW_QPN + RIG_KW);
	next.epoch++;
	put_ticket(h.ticket, &next, 3000);
	TEST(look(&h, &err) == 1);
	TEST(strstr(err.text, "a new ticket, epoch 2") != NULL);
	harbour_close(&h);
}

static void no_file(const struct ticket *t)
{
	struct cluster_out_options o = {0};
	struct error err = {""};
	struct harbour h;
	struct cluster_out *fl;

	harbour_open(&h, t);
	o.sink = h.sink;
	unlink(h.ticket);
	TEST(mkfifo(h.ticket, 0600) == 0);
	TEST(cluster_out_open(&fl, &h.cluster, &o, &err) == -EINVAL);
	TEST(strstr(err.text, "no ordinary file") != NULL);
	harbour_close(&h);
}

/* Two collectors, each with a region's responder of its own. */
struct port {
	struct cluster_collector collector[BOTH];
	struct cluster_member member[BOTH];
	struct cluster_generation generation[BOTH]; /* both; the first */
	struct cluster cluster;
	struct ticket ticket[BOTH];
	struct responder *responder[BOTH];
	struct roce_out *roce[CLUSTER_MAX];
	unsigned roces;
	struct line there, back;
	struct cluster_out *out;
	uint64_t now;
};

static void port_open(struct port *h, const struct ticket *t, struct region *r)
{
	struct responder_options ro = {.receives = UINT64_MAX};
	struct cluster_out_options o = {0};
	struct error err = {""};

	line_open(&h->there);
	line_open(&h->back);
	for (unsigned i = 0; i < BOTH; i++) {
		struct cluster_collector *c = &h->collector[i];

		c->id = (uint16_t)i;
		h->member[i].collector = i;
		h->ticket[i] = *t;
		h->ticket[i].ip[3] += (uint8_t)i;
		snprintf(c->ticket, sizeof(c->ticket),
			 "/tmp/test-cluster-%d-%u.ini", (int)getpid(), i);
		put_ticket(c->ticket, &h->ticket[i], 1000);
		if (responder_open(&h->responder[i], r, &h->ticket[i],
				   h->back.sink, &ro, &err) < 0)
			rig_die("responder", &err);
	}
	h->generation[0] = (struct cluster_generation){.n = BOTH,
						       .member = h->member};
	h->generation[1] = (struct cluster_generation){.n = 1,
						       .member = h->member};
	h->cluster = (struct cluster){.n = BOTH,
				      .generations = 1,
				      .collector = h->collector,
				      .generation = h->generation};
	o.sink = h->there.sink;
	if (cluster_out_open(&h->out, &h->cluster, &o, &err) < 0)
		rig_die("cluster", &err);
	h->roces = cluster_out_roces(h->out, h->roce);
	TEST(h->roces == BOTH);
	for (unsigned i = 0; i < BOTH; i++)
		TEST(roce_out_window(h->roce[i], WINDOW, NULL, NULL, &err) ==
		     0);
}

static void port_close(struct port *h)
{
	cluster_out_close(h->out);
	for (unsigned i = 0; i < BOTH; i++) {
		responder_close(h->responder[i]);
		unlink(h->collector[i].ticket);
	}
	line_close(&h->there);
	line_close(&h->back);
}

/* Frames there and back, for so many milliseconds. */
static void port_turn(struct port *h, unsigned ms)
{
	for (unsigned k = 0; k < ms; k++) {
		size_t n = line_take(&h->there);

		for (unsigned i = 0; i < BOTH; i++)
			TEST(responder_rx(h->responder[i], h->there.pkts, n) ==
			     0);
		n = line_take(&h->back);
		h->now += SECOND / 1000;
		TEST(roce_out_answers(h->roce, h->roces, h->back.pkts, n,
				      h->now) == 0);
		for (unsigned i = 0; i < h->roces; i++)
			TEST(roce_out_tick(h->roce[i], h->now) == 0);
	}
}

static void write_to(struct port *h, unsigned i)
{
	static const uint8_t data[8];
	struct op op = {
		.verb = OP_WRITE, .table = RIG_KW, .length = 8, .data = data};
	struct transport *transport = roce_out_transport(h->roce[i]);

	transport->begin(transport);
	TEST(transport->exec(transport, &op, 1, 1000) == 0);
	transport->end(transport);
}

/* Queue pairs made anew, with other R_Keys or with those of the tickets. */
static void reopen(struct port *h, uint32_t flip)
{
	struct error err = {""};

	for (unsigned i = 0; i < BOTH; i++) {
		struct ticket t = h->ticket[i];

		for (unsigned k = 0; k < t.n; k++)
			t.at[k].rkey ^= flip;
		TEST(responder_reopen(h->responder[i], &t, &err) == 0);
	}
}

static bool refusal_of(struct port *h, unsigned i, const char *what)
{
	struct error err = {""};

	return cluster_out_refusal(h->out, &err) &&
	       strstr(err.text, h->collector[i].ticket) &&
	       strstr(err.text, what);
}

/* Another generation, as SIGHUP has it. */
static int change(struct port *h, unsigned generation, struct error *err)
{
	int rc;

	h->cluster.generation = &h->generation[generation];
	rc = cluster_out_reopen(&h->out, &h->cluster, err);
	if (rc < 0)
		return rc;
	h->roces = cluster_out_roces(h->out, h->roce);
	for (unsigned i = 0; i < h->roces; i++)
		TEST(roce_out_window(h->roce[i], WINDOW, NULL, NULL, err) == 0);
	return 0;
}

/* Each collector is told of once, however often it refuses, and once when it
 * does not any more; not one that is a member no longer. */
static void refusals(const struct ticket *t, struct region *r)
{
	static struct port h;
	struct error err = {""};

	port_open(&h, t, r);
	reopen(&h, 1);
	write_to(&h, 0);
	port_turn(&h, 300);
	TEST(refusal_of(&h, 0, "out of date; waiting"));
	TEST(!cluster_out_refusal(h.out, &err));
	write_to(&h, 1);
	port_turn(&h, 300);
	TEST(refusal_of(&h, 1, "out of date; waiting"));
	for (unsigned i = 0; i < 15000;
	     i++) { /* the old ones are tried again */
		if (i % 500 == 0)
			reopen(&h, 1);
		port_turn(&h, 1);
		TEST(!cluster_out_refusal(h.out, &err));
	}
	TEST(roce_out_ledger(h.roce[0]).naks_access >= 2);
	TEST(change(&h, 1, &err) == 0);
	TEST(h.roces == 1 && cluster_out_ledger(h.out, false).requests == 2);
	/* It comes back, but not by the ticket of before. */
	TEST(change(&h, 0, &err) == -ESTALE);
	TEST(strstr(err.text, "collector 1: ") && strstr(err.text, "another"));
	TEST(cluster_out_roces(h.out, h.roce) == 1);
	put_ticket(h.collector[1].ticket, &h.ticket[1], 2000);
	TEST(change(&h, 0, &err) == 0);
	TEST(h.roces == BOTH);
	TEST(change(&h, 1, &err) == 0);
	reopen(&h, 0);
	write_to(&h, 0);
	port_turn(&h, 12000);
	TEST(roce_out_ledger(h.roce[0]).acked == 1);
	TEST(!cluster_out_refusal(h.out, &err));
	port_close(&h);
}

int main(void)
{
	static struct rig g;

	rig_open(&g, NULL);
	all_or_none(&g.t);
	half_written(&g.t);
	no_file(&g.t);
	refusals(&g.t, g.region);
	rig_close(&g);
	return test_end();
}
