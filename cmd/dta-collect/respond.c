/* SPDX-License-Identifier: BSD-2-Clause */
/* respond.c - gives packets to the software responder. */
#include "collect.h"

#include <errno.h>
#include <net/if.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/zero.h"
#include "cli/confine.h"
#include "net/net.h"
#include "net/roce.h"

enum {
	REMAKE_MS = 250, /* until a dead queue pair is made anew */
	/* Until refused requests are looked for again; after a message. */
	REFUSED_LOOK_MS = 250,
	REFUSED_MESSAGE_MS = 5000,
};

/* Explains why nothing was stored: what was seen in the packets up to the first
 * of RoCEv2. Zero at first. */
struct drop_clues {
	bool dta, roce;
	struct roce first; /* if roce; its payload is gone */
};

struct run {
	const struct opts *o;
	struct region *region;
	struct responder *responder;
	struct responder_cores *cores;
	struct snk *answers;
	struct notify *notify;
	struct cli_loop loop;
	uint64_t dead_since_ms;		  /* of a queue pair; 0: none is */
	uint64_t refused_look_ms;	  /* when to look next */
	struct responder_ledger reported; /* counters as of the last message */
	struct drop_clues clues;
};

static void drop_clues_note(struct drop_clues *c, const struct pkt *pkts,
			    size_t n)
{
	struct net_udp u;

	for (size_t i = 0; i < n && !c->roce; i++) {
		c->roce = !roce_decode(&c->first, pkts[i].data, pkts[i].len);
		if (!c->roce && !net_udp_decode(&u, pkts[i].data, pkts[i].len))
			c->dta |= u.dst_port == DTA_PORT;
	}
}

static void explain_address(struct error *err, const struct drop_clues *c,
			    const struct ticket *t)
{
	char mac[TEXT_MAC_MAX], own_mac[TEXT_MAC_MAX];
	char ip[TEXT_IP_MAX], own_ip[TEXT_IP_MAX];

	error_set(err, -1,
		  "the packets are for %s (%s), and this collector is %s (%s): "
		  "say --ip and --mac as for the ticket they were made with",
		  text_of_ip(ip, c->first.version, c->first.dst),
		  text_of_mac(mac, c->first.eth_dst),
		  text_of_ip(own_ip, t->version, t->ip),
		  text_of_mac(own_mac, t->mac));
}

/* What is probably wrong if most drops are counted there. */
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

/* Sets err to what is probably wrong if all was dropped; t: the ticket that the
 * packets were judged by. */
static void explain_nothing_stored(struct error *err,
				   const struct drop_clues *c,
				   const struct responder_ledger *l,
				   const struct ticket *t)
{
	uint64_t most;
	const char *name = ledger_largest_loss(&responder_ledger, l, &most);

	if (!c->roce && c->dta)
		error_set(
			err, -1,
			"these are DTA reports: dta-translate first (--ticket "
			"FILE -w -), or let it write the region itself "
			"(--region)");
	else if (!c->roce)
		error_set(err, -1,
			  "no RoCEv2 packet (UDP to port 4791) is whole in it");
	else if (!strcmp(name, "foreign"))
		explain_address(err, c, t);
	else if (cause_of(name))
		error_set(err, -1, "%s", cause_of(name));
	else
		error_set(err, -1,
			  "most are %s: the packets were made with the ticket "
			  "of another region, epoch or run; make one with "
			  "--ticket and translate the reports again",
			  name);
}

/* Whether the ticket that we write describes queue pairs of this run. Those of
 * other tickets expect PSN 0, as packets made beforehand have it. */
static bool has_live_ticket(const struct opts *o)
{
	return o->live.name && o->ticket;
}

/*
 * Makes all queue pairs anew, and their ticket: for SIGHUP, for a new epoch,
 * and when one has died. In a new epoch, nothing that was sent in the old one
 * is carried out. There PSNs begin at 0, as in a ticket that --ticket prints
 * later, unless this program writes the ticket.
 */
static void reopen_responder(struct run *run)
{
	const struct opts *o = run->o;
	struct error err = {0};
	struct ticket t;
	int rc;

	ticket_for(&t, o, run->region);
	if (o->ticket || t.epoch == responder_epoch(run->responder))
		responder_renumber(run->responder, &t);
	if (responder_reopen(run->responder, &t, &err) < 0)
		cli_error(o->region, &err);
	rc = o->ticket ? ticket_put(&t, o->ticket) : 0;
	if (rc < 0) /* translators with the old ticket still reach us */
		cli_warn("%s: %s", cli_file(o->ticket), strerror(-rc));
	ticket_fini(&t);
	run->dead_since_ms = 0;
}

/* Reports that requests are refused, and why most of them are: once, until
 * others have written something (probes do not). */
static void report_refused(struct run *run, bool end)
{
	const struct responder_ledger *l;
	uint64_t now = clock_ms(), n;
	struct responder_ledger new = {0};
	const char *name, *cause;

	if (!end && now < run->refused_look_ms)
		return;
	run->refused_look_ms = now + REFUSED_LOOK_MS;
	l = responder_cores_counters(run->cores);
	new.bad_peer = l->bad_peer - run->reported.bad_peer;
	new.old_epoch = l->old_epoch - run->reported.old_epoch;
	new.invalid = l->invalid - run->reported.invalid;
	new.access = l->access - run->reported.access;
	n = new.bad_peer + new.old_epoch + new.invalid + new.access;
	if (!n)
		return;
	if (run->reported.received && l->bytes == run->reported.bytes) {
		run->reported = *l; /* nothing new to report */
		return;
	}
	name = ledger_largest_loss(&responder_ledger, &new, &n);
	cause = cause_of(name);
	cli_warn("%s: requests are refused, most as %s: %s", run->o->region,
		 name, cause ? cause : "is the ticket out of date?");
	run->reported = *l;
	run->refused_look_ms = now + REFUSED_MESSAGE_MS;
}

/* Follows a new epoch. Makes a dead queue pair anew when what was under way to
 * it has come and gone; not for a file, whose packets cannot know of it. */
static void follow_events(struct run *run)
{
	if (src_size(run->loop.s))
		return;
	if (region_epoch(run->region) != responder_epoch(run->responder)) {
		reopen_responder(run);
		if (!run->o->quiet)
			cli_warn("%s: epoch %llu", run->o->region,
				 (unsigned long long)responder_epoch(
					 run->responder));
	} else if (!responder_is_dead(run->responder)) {
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

/* Gives a batch to the responder, which sends its answers after it: the sender
 * may be waiting for them. */
static int respond_to_packets(void *ctx, const struct pkt *pkts, int n,
			      struct error *err)
{
	struct run *run = ctx;
	int rc = 0;

	/* It would confirm what is lost, or is a new region's of this name. */
	if (!n && region_removed(run->region))
		return error_set(err, -ENOENT,
				 "%s was removed: create it, and start again",
				 region_path(run->region));
	report_refused(run, false);
	/* Cores rest when nothing comes, and for follow_events(). The next
	 * batch returns their error. */
	if (!n || responder_cores_has_events(run->cores)) {
		responder_cores_rest(run->cores);
		follow_events(run);
	}
	drop_clues_note(&run->clues, pkts, (size_t)n);
	if (n)
		rc = responder_cores_rx(run->cores, pkts, (size_t)n);
	if (rc < 0)
		return error_set(err, rc, "%s", strerror(-rc));
	notify_print(run->notify);
	return 0;
}

/* Called by one worker at a time. */
static int take_more_packets(void *ctx, struct pkt *room, int max)
{
	struct run *run = ctx;
	int n = cli_loop_more(&run->loop, room, max);

	drop_clues_note(&run->clues, room, (size_t)n);
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
	if (responder_cores_open(&run->cores, run->responder, &co, &err) < 0)
		cli_fail("-j: %s", err.text);
}

/* A collector on an interface is reached by the interface's own addresses: a
 * card takes no frames for others. What was given stays. */
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
	    region_claim(run->region, (uint64_t)ns.st_ino << 24 | index) ==
		    -EAGAIN)
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
	cli_catch_hangup();
	if (responder_open(&run->responder, run->region, t, run->answers,
			   &o->responder, &err) < 0)
		cli_error(o->region, &err);
	/* Last, when all else is right: opening it may take its link down. */
	if (o->live.name)
		run->loop.s = cli_live_open(&o->live, ports, true);
	/* The ticket tells others that we listen; it precedes our message. */
	rc = has_live_ticket(o) ? ticket_put(t, o->ticket) : 0;
	if (rc < 0)
		cli_fail("%s: %s", cli_file(o->ticket), strerror(-rc));
	if (o->live.name && !o->quiet)
		cli_warn("%s: %s", o->live.name, src_kind(run->loop.s));
	cli_may_write(o->ticket);
	cli_may_write(o->snapshot);
	cli_confine(o->quiet || !o->live.name);
	open_cores(run);
}

static uint64_t count_unsent(void *ctx)
{
	return responder_cores_unsent(((struct run *)ctx)->cores);
}

/* Ends the run and prints its ledger. Returns the first error of the answers'
 * sink. */
static int run_close(struct run *run)
{
	const struct responder_ledger *l = responder_counters(run->responder);
	uint64_t lost = 0;
	int closed = 0, stopped = responder_cores_rest(run->cores);

	report_refused(run, true);
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
	responder_close(run->responder);
	src_close(run->loop.s);
	return closed ? closed : stopped;
}

void respond(struct opts *o, struct region *r)
{
	struct notify *notify = notify_open(o, r);
	struct run run = {
		.o = o,
		.region = r,
		.notify = notify,
		.loop = {.live = &o->live,
			 .region = o->region,
			 .input = o->read ? o->read : o->live.name,
			 .output = o->write,
			 .quiet = o->quiet,
			 /* No more immediates at once than a region keeps. */
			 .most = notify ? REGION_IMMEDIATES : 0,
			 .ctx = &run,
			 .take = respond_to_packets,
			 .report = report_ledgers,
			 .unsent = count_unsent,
			 .show = print_ledgers,
			 .hangup = renew_queue_pairs},
	};
	struct responder_ledger total;
	struct ticket t;
	struct error err = {0}, why;
	int rc, closed;

	if (o->live.name)
		take_addresses(&o->want, o->live.name);
	ticket_for(&t, o, r);
	/* Random first PSNs: what was sent to the queue pairs of an earlier
	 * run, which had the same numbers, does not fit these. */
	for (unsigned i = 0; i < t.n && has_live_ticket(o); i++)
		t.at[i].psn = (uint32_t)rng_seed() & ROCE_PSN_MASK;
	run_open(&run, o, &t);
	rc = cli_loop(&run.loop, &err);
	responder_cores_rest(run.cores);
	total = *responder_counters(run.responder);
	closed = run_close(&run);
	explain_nothing_stored(&why, &run.clues, &total, &t);
	ticket_fini(&t);
	if (closed < 0)
		cli_fail("%s: %s", o->write ? cli_file(o->write) : o->live.name,
			 strerror(-closed));
	if (rc < 0)
		cli_error(o->read ? o->read : o->live.name, &err);
	/* But no error if a signal ended it: then that is the reason. */
	if (total.received && !total.executed && !cli_stop)
		cli_fail("%s: nothing was stored: %s",
			 o->read ? cli_file(o->read) : o->live.name, why.text);
}
