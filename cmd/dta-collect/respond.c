/* SPDX-License-Identifier: BSD-2-Clause */
/* respond.c - packets through the software responder. */
#include "collect.h"

#include <errno.h>
#include <net/if.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/zero.h"
#include "cli/live.h"
#include "rdma/responder.h"
#include "net/net.h"
#include "net/roce.h"

enum {
	REMAKE_MS = 250, /* until a dead queue pair is made anew */
	LOOK_MS = 250,	 /* between two looks at what is refused, */
	SAY_MS = 5000,	 /* and after it was told */
};

/* Zeroed before: what was seen while nothing was stored yet. */
struct why {
	bool dta, roce;	   /* a DTA report; a RoCEv2 packet, the first: */
	struct roce first; /* its payload is gone */
};

struct run {
	const struct opts *o;
	struct region *r;
	struct responder *p;
	struct responder_cores *cores;
	struct snk *answers;
	struct notify *notify;
	struct cli_loop loop;
	uint64_t dead_since_ms;	      /* a queue pair is; 0: none */
	uint64_t look_ms;	      /* at what is refused; not before */
	struct responder_ledger said; /* the counters then */
	struct why why;
};

static void why_look(struct why *w, const struct pkt *pkts, size_t n)
{
	struct net_udp u;

	for (size_t i = 0; i < n && !w->roce; i++) {
		w->roce = !roce_decode(&w->first, pkts[i].data, pkts[i].len);
		if (!w->roce && !net_udp_decode(&u, pkts[i].data, pkts[i].len))
			w->dta |= u.dst_port == DTA_PORT;
	}
}

/* They are for another address. */
static void other_address(struct error *err, const struct why *w,
			  const struct ticket *t)
{
	char mac[TEXT_MAC_MAX], own_mac[TEXT_MAC_MAX];
	char ip[TEXT_IP_MAX], own_ip[TEXT_IP_MAX];

	error_set(err, -1,
		  "the packets are for %s (%s), and this collector is %s (%s): "
		  "say --ip and --mac as for the ticket they were made with",
		  text_of_ip(ip, w->first.version, w->first.dst),
		  text_of_mac(mac, w->first.eth_dst),
		  text_of_ip(own_ip, t->version, t->ip),
		  text_of_mac(own_mac, t->mac));
}

/* What is probably wrong where most was dropped by a counter. */
static const struct cause {
	const char *counter, *text;
} causes[] = {
	{"bad_icrc", "the packets were cut short or changed on their way; "
		     "tcpdump -s 0 takes them whole"},
	{"malformed", "the packets were cut short or changed on their way; "
		      "tcpdump -s 0 takes them whole"},
	{"bad_peer", "the packets are not from the translator of the ticket: "
		     "--peer-ip says who that is"},
	{"rnr", "no receive was posted for their immediates: --receives"},
};

static const char *cause_of(const char *counter)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(counter, causes[i].counter))
			return causes[i].text;
	return NULL;
}

/*
 * What is probably wrong where all that came was dropped. t: the ticket that
 * the packets were judged by.
 */
static void explain_nothing_stored(struct error *err, const struct why *w,
				   const struct responder_ledger *l,
				   const struct ticket *t)
{
	unsigned worst = ledger_worst(&responder_ledger, l);
	const char *name = worst < responder_ledger.n
				   ? responder_ledger.fields[worst].name
				   : "";

	if (!w->roce && w->dta)
		error_set(
			err, -1,
			"these are DTA reports: dta-translate first (--ticket "
			"FILE -w -), or let it write the region itself "
			"(--region)");
	else if (!w->roce)
		error_set(err, -1,
			  "no RoCEv2 packet (UDP to port 4791) is whole in it");
	else if (!strcmp(name, "foreign"))
		other_address(err, w, t);
	else if (cause_of(name))
		error_set(err, -1, "%s", cause_of(name));
	else
		error_set(err, -1,
			  "most are %s: the packets were made with the ticket "
			  "of another region, epoch or run; make one with "
			  "--ticket and translate the reports again",
			  name);
}

/* Whether the ticket that we write tells of our queue pairs. Packets of another
 * run, or by a ticket printed beforehand, begin at PSN 0. */
static bool has_live_ticket(const struct opts *o)
{
	return o->live.name && o->ticket;
}

/*
 * New queue pairs, also where one was in error, and their ticket: for SIGHUP,
 * for a new epoch, and when one has died. In a new epoch, nothing that was sent
 * in the old one is carried out. PSNs are those of a ticket that --ticket
 * prints later, unless this program writes it.
 */
static void reopen_responder(struct run *run)
{
	const struct opts *o = run->o;
	struct error err = {0};
	struct ticket t;
	int rc;

	ticket_for(&t, o, run->r);
	if (o->ticket || t.epoch == responder_epoch(run->p))
		responder_renumber(run->p, &t);
	if (responder_reopen(run->p, &t, &err) < 0)
		cli_error(o->region, &err);
	rc = o->ticket ? ticket_put(&t, o->ticket) : 0;
	if (rc < 0) /* a translator that has read it still reaches us */
		cli_warn("%s: %s", cli_file(o->ticket), strerror(-rc));
	ticket_fini(&t);
	run->dead_since_ms = 0;
}

/* Says that requests are refused, and why most of them are: once, until others
 * have written something (probes do not). */
static void say_refused(struct run *run, bool end)
{
	const struct responder_ledger *l;
	uint64_t now = clock_ms(), n;
	struct responder_ledger new = {0};
	const char *name, *cause;

	if (!end && now < run->look_ms)
		return;
	run->look_ms = now + LOOK_MS;
	l = responder_cores_counters(run->cores);
	new.bad_peer = l->bad_peer - run->said.bad_peer;
	new.old_epoch = l->old_epoch - run->said.old_epoch;
	new.invalid = l->invalid - run->said.invalid;
	new.access = l->access - run->said.access;
	n = new.bad_peer + new.old_epoch + new.invalid + new.access;
	if (!n)
		return;
	if (run->said.received && l->bytes == run->said.bytes) {
		run->said = *l; /* more of the same */
		return;
	}
	name = responder_ledger.fields[ledger_worst(&responder_ledger, &new)]
		       .name;
	cause = cause_of(name);
	cli_warn("%s: requests are refused, most as %s: %s", run->o->region,
		 name, cause ? cause : "is the ticket out of date?");
	run->said = *l;
	run->look_ms = now + SAY_MS;
}

/*
 * A dead queue pair is made anew when what was under way to it has come and
 * gone. Nothing can go on behind a file.
 */
static void look_after(struct run *run)
{
	if (src_size(run->loop.s))
		return;
	if (region_epoch(run->r) != responder_epoch(run->p)) {
		reopen_responder(run);
		if (!run->o->quiet)
			cli_warn("%s: epoch %llu", run->o->region,
				 (unsigned long long)responder_epoch(run->p));
	} else if (!responder_is_dead(run->p)) {
		run->dead_since_ms = 0;
	} else if (!run->dead_since_ms) {
		run->dead_since_ms = clock_ms();
	} else if (clock_ms() - run->dead_since_ms >= REMAKE_MS) {
		reopen_responder(run);
	}
}

static void print_ledgers(void *ctx)
{
	struct run *run = ctx;

	cli_ledger(&responder_ledger, responder_cores_counters(run->cores),
		   run->o->format);
	notify_report(run->notify);
}

static void report_ledgers(void *ctx)
{
	responder_cores_rest(((struct run *)ctx)->cores);
	print_ledgers(ctx);
}

static void renew_queue_pairs(void *ctx)
{
	struct run *run = ctx;

	responder_cores_rest(run->cores);
	reopen_responder(run);
	if (!run->o->quiet)
		cli_warn("%s: SIGHUP: all queue pairs are made anew",
			 run->o->region);
}

/* Packets through the responder. Answers go out after each batch: whoever sent
 * it may wait for them. */
static int respond_to_packets(void *ctx, const struct pkt *pkts, int n,
			      struct error *err)
{
	struct run *run = ctx;
	int rc = 0;

	say_refused(run, false);
	/* Cores rest for what is to be done between batches, if there is
	 * something, and when nothing comes; what is wrong the next batch says.
	 */
	if (!n || responder_cores_has_events(run->cores)) {
		responder_cores_rest(run->cores);
		look_after(run);
	}
	why_look(&run->why, pkts, (size_t)n);
	if (n)
		rc = responder_cores_rx(run->cores, pkts, (size_t)n);
	if (rc < 0)
		return error_set(err, rc, "%s", strerror(-rc));
	notify_tell(run->notify);
	return 0;
}

/* For a worker, in turn of taking. */
static int take_more_packets(void *ctx, struct pkt *room, int max)
{
	struct run *run = ctx;
	int n = cli_loop_more(&run->loop, room, max);

	why_look(&run->why, room, (size_t)n);
	return n;
}

static void open_cores(struct run *run)
{
	const struct responder_cores_options co = {
		.workers = run->o->cores ? (unsigned)run->o->cores : 1,
		.take = take_more_packets,
		.ctx = run,
	};
	struct error err = {0};

	if (co.workers > 1 &&
	    src_hold_batches(run->loop.s,
			     co.workers * RESPONDER_CORES_BATCHES) < 0)
		cli_fail("out of memory");
	if (responder_cores_open(&run->cores, run->p, &co, &err) < 0)
		cli_fail("-j: %s", err.text);
}

/*
 * A collector on an interface is reached by the interface's own addresses: a
 * card takes no frames for others. What was given stays.
 */
static void take_addresses(struct ticket *at, const char *interface)
{
	struct live_address own;

	if (!live_address(&own, interface))
		return;
	if (is_zero(at->mac, 6))
		memcpy(at->mac, own.mac, 6);
	if (!is_zero(at->ip, 16))
		return;
	if (at->version == 6 && own.has_ip6)
		memcpy(at->ip, own.ip6, 16);
	else if (at->version != 6 && own.has_ip4)
		memcpy(at->ip, own.ip4, 4);
}

/* Opens all that a run needs; exits if it cannot. */
static void run_open(struct run *run, struct opts *o, struct ticket *t)
{
	static const uint16_t ports[LIVE_PORTS] = {ROCE_PORT};
	unsigned index = o->live.name ? if_nametoindex(o->live.name) : 0;
	struct error err = {0};
	struct stat ns;
	int rc;

	/* Two would carry out every packet twice, and answer it twice. An
	 * interface is known by its network namespace and number. */
	if (index && !stat("/proc/self/ns/net", &ns) &&
	    region_claim(run->r, (uint64_t)ns.st_ino << 24 | index) == -EAGAIN)
		cli_fail("%s: another dta-collect carries out the packets of "
			 "%s into this region: end that one first",
			 o->region, o->live.name);
	if (o->read && src_open(&run->loop.s, o->read, &err) < 0)
		cli_error(o->read, &err);
	/* Answers go to a capture, or where the packets come from. */
	if (o->write && cli_snk_open(&run->answers, o->write, &err) < 0)
		cli_error(o->write, &err);
	if (!o->write && o->live.name &&
	    snk_open_live(&run->answers, o->live.name, LIVE_PACKET, &err) < 0)
		cli_error(o->live.name, &err);
	/* A pipe's other end waits for our header before it sends anything. */
	if (run->answers)
		snk_flush(run->answers);
	cli_take_hangup();
	if (responder_open(&run->p, run->r, t, run->answers, &o->responder,
			   &err) < 0)
		cli_error(o->region, &err);
	/* An interface when nothing else can be wrong: it may lose its link. */
	if (o->live.name)
		run->loop.s = cli_live_open(&o->live, ports, true);
	/* It tells that we listen; whoever reads our message finds it. */
	rc = has_live_ticket(o) ? ticket_put(t, o->ticket) : 0;
	if (rc < 0)
		cli_fail("%s: %s", cli_file(o->ticket), strerror(-rc));
	if (o->live.name && !o->quiet)
		cli_warn("%s: %s", o->live.name, src_kind(run->loop.s));
	open_cores(run);
}

static uint64_t count_unsent(void *ctx)
{
	return responder_cores_unsent(((struct run *)ctx)->cores);
}

/* Ends it, with the ledger; the first error of the answers' sink. */
static int run_close(struct run *run)
{
	const struct responder_ledger *l = responder_counters(run->p);
	uint64_t lost = 0;
	int closed = 0, stopped = responder_cores_rest(run->cores);

	say_refused(run, true);
	if (run->answers) {
		snk_settle(run->answers); /* snk_close() tells of an error */
		lost = count_unsent(run);
		closed = snk_close(run->answers);
	}
	if (!run->o->quiet) {
		cli_ledger(&responder_ledger, l, run->o->format);
		cli_live_drops(&run->o->live, run->loop.s, lost);
	}
	notify_close(run->notify);
	responder_cores_close(run->cores);
	responder_close(run->p);
	src_close(run->loop.s);
	return closed ? closed : stopped;
}

void respond(struct opts *o, struct region *r)
{
	struct notify *notify = notify_open(o, r);
	struct run run = {
		.o = o,
		.r = r,
		.notify = notify,
		.loop = {.live = &o->live,
			 .region = o->region,
			 .input = o->read ? o->read : o->live.name,
			 .output = o->write,
			 .quiet = o->quiet,
			 /* No more immediates at once than a region
			  * remembers. */
			 .most = notify ? REGION_IMMEDIATES : 0,
			 .ctx = &run,
			 .take = respond_to_packets,
			 .report = report_ledgers,
			 .unsent = count_unsent,
			 .show = print_ledgers,
			 .hangup = renew_queue_pairs},
	};
	struct responder_ledger end;
	struct ticket t;
	struct error err = {0}, why;
	int rc, closed;

	if (o->live.name)
		take_addresses(&o->at, o->live.name);
	ticket_for(&t, o, r);
	/* First PSNs unlike those of a run before, whose queue pairs had the
	 * same numbers: what was sent to them is not for us. */
	for (unsigned i = 0; i < t.n && has_live_ticket(o); i++)
		t.at[i].psn = (uint32_t)rng_seed() & ROCE_PSN_MASK;
	run_open(&run, o, &t);
	rc = cli_loop(&run.loop, &err);
	responder_cores_rest(run.cores);
	end = *responder_counters(run.p);
	closed = run_close(&run);
	explain_nothing_stored(&why, &run.why, &end, &t);
	ticket_fini(&t);
	if (closed < 0)
		cli_fail("%s: %s", o->write ? cli_file(o->write) : o->live.name,
			 strerror(-closed));
	if (rc < 0)
		cli_error(o->read ? o->read : o->live.name, &err);
	/* Whoever stopped it knows why it has nothing. */
	if (end.received && !end.executed && !cli_stop)
		cli_fail("%s: nothing was stored: %s",
			 o->read ? cli_file(o->read) : o->live.name, why.text);
}
