/* SPDX-License-Identifier: BSD-2-Clause */
/* respond.c - packets through the software responder. */
#include "respond.h"

#include <errno.h>

#include "notify.h"
#include "packet/pkt.h"

void ticket_for(struct ticket *t, const struct opts *o, const struct region *r)
{
	struct fault f = {0};

	*t = o->at;
	if (ticket_of_region(t, r, &f) < 0)
		cli_fault(o->region, &f);
}

/*
 * Packets through the responder until the capture ends or a signal comes. A
 * batch that is not full says that no more are waiting: somebody may wait for
 * our answers.
 */
static int respond_all(const struct opts *o, struct responder *p, struct src *s,
		       struct snk *answers, struct notify *notify,
		       struct fault *f)
{
	struct pkt pkts[PKT_BATCH];
	/* No more immediates at once than a region remembers. */
	size_t max = notify ? REGION_IMMEDIATES : PKT_BATCH;
	int n, rc;

	while (!cli_stop) {
		if (cli_report) {
			cli_report = 0;
			cli_ledger(&responder_ledger, responder_counters(p),
				   o->format);
			notify_report(notify);
		}
		n = src_rx(s, pkts, max, f);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n;
		rc = responder_rx(p, pkts, (size_t)n);
		if (rc < 0)
			return fault_set(f, rc, "%s", strerror(-rc));
		notify_tell(notify);
		if (answers && (size_t)n < max)
			snk_flush(answers); /* snk_close() tells of an error */
		if (!o->quiet)
			cli_progress("packets", src_done(s), src_size(s));
	}
	return 0;
}

void respond(const struct opts *o, struct region *r)
{
	struct responder *p;
	struct snk *answers = NULL;
	struct notify *notify = notify_open(o, r);
	struct src *s;
	struct ticket t;
	struct fault f = {0};
	int rc, closed = 0;

	if (src_open(&s, o->read, &f) < 0)
		cli_fault(o->read, &f);
	if (o->write && snk_open(&answers, o->write, &f) < 0)
		cli_fault(o->write, &f);
	ticket_for(&t, o, r);
	if (responder_open(&p, r, &t, answers, &o->responder, &f) < 0)
		cli_fault(o->region, &f);
	rc = respond_all(o, p, s, answers, notify, &f);
	cli_progress_end();
	if (answers)
		closed = snk_close(answers);
	if (!o->quiet)
		cli_ledger(&responder_ledger, responder_counters(p), o->format);
	notify_close(notify);
	responder_close(p);
	ticket_fini(&t);
	src_close(s);
	if (closed < 0)
		cli_fail("%s: %s", o->write, strerror(-closed));
	if (rc < 0)
		cli_fault(o->read, &f);
}
