/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A collector's new ticket, where two roads go by it: all packets go by the old
 * one or all by the new one. Seen from outside: the queue pairs of frames.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fleet/fleet.h"
#include "rdma_rig.h"
#include "test.h"

enum {
	WINDOW = 64,
	NEW_QPN = 0x700,
};

struct harbour {
	char ticket[64], frames[64];
	struct cluster_collector collector;
	struct cluster_member member;
	struct cluster_generation generation;
	struct cluster cluster;
	struct snk *sink;
	struct fleet *fleet;
};

/* In a second of its own: a clock may be too coarse to tell. */
static void put_ticket(const struct harbour *h, const struct ticket *t,
		       time_t second)
{
	const struct timespec when[2] = {{second, 0}, {second, 0}};
	FILE *out = fopen(h->ticket, "w");

	TEST(out && ticket_write(t, out) == 0 && fclose(out) == 0);
	TEST(utimensat(AT_FDCWD, h->ticket, when, 0) == 0);
}

static void harbour_open(struct harbour *h, const struct ticket *t)
{
	struct fleet_options o = {.dart = true};
	struct roce_out *roce[FLEET_MAX];
	struct fault f = {""};

	*h = (struct harbour){.generation.n = 1};
	snprintf(h->ticket, sizeof(h->ticket), "/tmp/test-fleet-%d.ini",
		 (int)getpid());
	snprintf(h->frames, sizeof(h->frames), "/tmp/test-fleet-%d.pcap",
		 (int)getpid());
	put_ticket(h, t, 1000);
	snprintf(h->collector.ticket, sizeof(h->collector.ticket), "%s",
		 h->ticket);
	h->generation.member = &h->member;
	h->cluster = (struct cluster){.n = 1,
				      .generations = 1,
				      .collector = &h->collector,
				      .generation = &h->generation};
	if (snk_open(&h->sink, h->frames, &f) < 0)
		rig_die(h->frames, &f);
	o.sink = h->sink;
	if (fleet_open(&h->fleet, &h->cluster, &o, &f) < 0)
		rig_die("fleet", &f);
	TEST(fleet_roces(h->fleet, roce) == 1);
	TEST(roce_out_window(roce[0], WINDOW, NULL, NULL, &f) == 0);
}

static void harbour_close(struct harbour *h)
{
	fleet_close(h->fleet);
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
	struct road *road = fleet_road(h->fleet);
	struct fault f = {""};
	struct roce r = {.dest_qp = 0};
	struct pkt p;
	struct src *s;

	road->begin(road);
	TEST(road->exec(road, &op, 1, 1000) == 0);
	road->end(road);
	TEST(snk_flush(h->sink) == 0);
	if (src_open(&s, h->frames, &f) < 0)
		rig_die(h->frames, &f);
	while (src_rx(s, &p, 1, &f) > 0)
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

static void all_or_none(const struct ticket *t)
{
	struct ticket next = renewed(t);
	struct fault f = {""};
	struct harbour h;

	harbour_open(&h, t);
	TEST(pair_of(&h, RIG_KW) == t->at[RIG_KW].qpn);
	next.mtu = 2048;
	put_ticket(&h, &next, 2000);
	TEST(fleet_reticket(h.fleet, &h.cluster, &f) == -EINVAL);
	TEST(strstr(f.text, "MTU") != NULL);
	TEST(pair_of(&h, RIG_KW) == t->at[RIG_KW].qpn);
	next = renewed(t);
	next.peer_ip[3]++;
	put_ticket(&h, &next, 3000);
	TEST(fleet_reticket(h.fleet, &h.cluster, &f) == -EINVAL);
	TEST(pair_of(&h, RIG_KW) == t->at[RIG_KW].qpn);
	next = renewed(t);
	put_ticket(&h, &next, 4000);
	TEST(fleet_reticket(h.fleet, &h.cluster, &f) == 0);
	TEST(pair_of(&h, RIG_KW) == NEW_QPN + RIG_KW);
	harbour_close(&h);
}

int main(void)
{
	static struct rig g;

	rig_open(&g, NULL);
	all_or_none(&g.t);
	rig_close(&g);
	return test_end();
}
