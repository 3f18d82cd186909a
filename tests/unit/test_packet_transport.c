/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A collector's new ticket: all packets go by the old one or all by the new
 * one. And a cluster's other generation. Seen from outside: the queue pairs of
 * frames, and what is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "cluster/packet_transport.h"
#include "rdma_rig.h"
#include "test.h"

enum {
	WINDOW = 64,
	NEW_QPN = 0x700,
	BOTH = 2,
};

static char cluster[64], frames[64], ticket[BOTH][64];
static char said[4096]; /* since the last look */
static struct snk *sink;
static struct transport *transport;

static int open_sink(void *ctx, struct snk **out, struct error *err)
{
	int rc = snk_open(out, frames, err);

	(void)ctx;
	sink = *out;
	return rc;
}

static void warn(void *ctx, const char *text)
{
	size_t n = strlen(said);

	(void)ctx;
	snprintf(said + n, sizeof(said) - n, "%s\n", text);
}

static void name_files(void)
{
	int pid = (int)getpid();

	snprintf(cluster, sizeof(cluster), "/tmp/test-packet-%d.ini", pid);
	snprintf(frames, sizeof(frames), "/tmp/test-packet-%d.pcap", pid);
	for (unsigned i = 0; i < BOTH; i++)
		snprintf(ticket[i], sizeof(ticket[i]),
			 "/tmp/test-packet-%d-%u.ini", pid, i);
}

/* In a second of its own: a clock may be too coarse to tell. */
static void put_ticket(const char *path, const struct ticket *t, time_t second)
{
	const struct timespec when[2] = {{second, 0}, {second, 0}};
	FILE *out = fopen(path, "w");

	TEST(out && ticket_write(t, out) == 0 && fclose(out) == 0);
	TEST(utimensat(AT_FDCWD, path, when, 0) == 0);
}

/* Of the first n collectors. */
static void put_cluster(unsigned n)
{
	FILE *out = fopen(cluster, "w");

	if (!TEST(out != NULL))
		return;
	fprintf(out, "[cluster]\nversion = 1\n");
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "[collector %u]\nticket = %s\n", i, ticket[i]);
	TEST(fclose(out) == 0);
}

static int open_transport(bool is_cluster, struct error *err)
{
	const struct packet_transport_options o = {
		.ticket = is_cluster ? NULL : ticket[0],
		.cluster = is_cluster ? cluster : NULL,
		.dart = !is_cluster,
		.window = WINDOW,
		.open_sink = open_sink,
		.to = frames,
		.warn = warn,
	};

	*said = '\0';
	return packet_transport_open(&transport, &o, err);
}

static void start(bool is_cluster)
{
	struct error err = {""};

	if (open_transport(is_cluster, &err) < 0)
		rig_die("transport", &err);
}

static void stop(void)
{
	transport->close(transport);
	unlink(frames);
}

/* The queue pair of the newest frame, when an operation was sent on a table. */
static uint32_t pair_of(uint16_t table)
{
	static const uint8_t data[8];
	struct op op = {
		.verb = OP_WRITE, .table = table, .length = 8, .data = data};
	struct error err = {""};
	struct roce r = {.dest_qp = 0};
	struct pkt p;
	struct src *s;

	transport->begin(transport);
	TEST(transport->exec(transport, &op, 1, 1000) == 0);
	transport->end(transport);
	TEST(snk_flush(sink) == 0);
	if (src_open(&s, frames, &err) < 0)
		rig_die(frames, &err);
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

/* Whether a look at the files says just that. */
static bool look_says(const char *what)
{
	const struct timespec look = {.tv_nsec = 110 * 1000000};

	*said = '\0';
	nanosleep(&look, NULL);
	TEST(transport->tick(transport) == 0);
	if (*what ? strstr(said, what) != NULL : !*said)
		return true;
	fprintf(stderr, "said: %s\n", said);
	return false;
}

static void all_or_none(const struct ticket *t)
{
	struct ticket next = renewed(t);

	put_ticket(ticket[0], t, 1000);
	start(false);
	TEST(pair_of(RIG_KW) == t->at[RIG_KW].qpn);
	next.mtu = 2048;
	put_ticket(ticket[0], &next, 2000);
	TEST(look_says("MTU"));
	TEST(look_says("")); /* said is said */
	TEST(pair_of(RIG_KW) == t->at[RIG_KW].qpn);
	next = renewed(t);
	put_ticket(ticket[0], &next, 4000);
	TEST(look_says("written again, still epoch 1"));
	TEST(pair_of(RIG_KW) == NEW_QPN + RIG_KW);
	next.epoch++;
	put_ticket(ticket[0], &next, 5000);
	TEST(look_says("a new ticket, epoch 2"));
	stop();
}

/* What is no ticket is said once, and the old one stays until it is one. */
static void half_written(const struct ticket *t)
{
	const struct timespec when[2] = {{2000, 0}, {2000, 0}};
	struct ticket next = renewed(t);

	put_ticket(ticket[0], t, 1000);
	start(false);
	put_ticket(ticket[0], &next, 2000);
	TEST(truncate(ticket[0], 300) == 0);
	TEST(utimensat(AT_FDCWD, ticket[0], when, 0) == 0);
	TEST(look_says(ticket[0]));
	TEST(look_says(""));
	TEST(pair_of(RIG_KW) == t->at[RIG_KW].qpn);
	put_ticket(ticket[0], &next, 2001);
	TEST(look_says("written again"));
	TEST(pair_of(RIG_KW) == NEW_QPN + RIG_KW);
	stop();
}

static void no_file(void)
{
	struct error err = {""};

	put_cluster(1);
	unlink(ticket[0]);
	TEST(mkfifo(ticket[0], 0600) == 0);
	TEST(open_transport(true, &err) == -EINVAL);
	TEST(strstr(err.text, "no ordinary file") != NULL);
	unlink(ticket[0]);
}

/* Another generation, as SIGHUP has it: the number of its collectors after. */
static unsigned change(unsigned n)
{
	put_cluster(n);
	*said = '\0';
	transport->renew(transport);
	TEST(transport->wants_reopen);
	TEST(transport->reopen(transport) == 0);
	return transport->collectors;
}

static uint64_t begin_of_batch(void)
{
	uint64_t generation = transport->begin(transport);

	transport->end(transport);
	return generation;
}

/* A collector that went comes back, but not by the ticket of before. */
static void generations(const struct ticket *t)
{
	struct ticket second = renewed(t);
	uint64_t first;

	second.ip[3]++;
	put_ticket(ticket[0], t, 1000);
	put_ticket(ticket[1], &second, 1000);
	put_cluster(BOTH);
	start(true);
	TEST(transport->collectors == BOTH);
	TEST(pair_of((uint16_t)(transport->tables + RIG_KW)) ==
	     second.at[RIG_KW].qpn);
	TEST(change(1) == 1);
	TEST(change(BOTH) == 1);
	TEST(strstr(said, "collector 1: ") && strstr(said, "another"));
	TEST(pair_of(RIG_KW) == t->at[RIG_KW].qpn);
	put_ticket(ticket[1], &second, 2000);
	TEST(change(BOTH) == BOTH);
	/* Lists begin anew where one collector's did. */
	first = begin_of_batch();
	TEST(begin_of_batch() == first);
	second.epoch++;
	put_ticket(ticket[1], &second, 3000);
	TEST(look_says("a new ticket, epoch 2"));
	TEST(begin_of_batch() != first);
	stop();
}

int main(void)
{
	static struct rig g;

	rig_open(&g, NULL);
	name_files();
	all_or_none(&g.t);
	half_written(&g.t);
	no_file();
	generations(&g.t);
	for (unsigned i = 0; i < BOTH; i++)
		unlink(ticket[i]);
	unlink(cluster);
	rig_close(&g);
	return test_end();
}
