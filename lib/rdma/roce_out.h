/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_out.h - the RoCEv2 transport: every operation becomes a packet, as a
 * switch would emit it, with the right iCRC. Writes above the path MTU are
 * split.
 *
 * Without a window it stores nothing that it has sent. With one
 * (roce_out_window()) it keeps each request to an RC table until the collector
 * has acknowledged it, and retransmits lost ones in order (go-back-N).
 *
 * As a DART switch (DART section 6) it keeps nothing of Key-Write tables, with
 * or without a window: lost packets stay lost, and reporters report again. A
 * responder's NAK sets the PSN back; the packets from that PSN on are counted
 * as lost, since the responder has executed none of them.
 */
#ifndef RDMA_ROCE_OUT_H
#define RDMA_ROCE_OUT_H

#include "base/ledger.h"
#include "packet/pkt.h"
#include "rdma/op.h"
#include "rdma/ticket.h"

struct roce_out;

enum {
	ROCE_OUT_WINDOW = 4096,	       /* a good size */
	ROCE_OUT_WINDOW_MAX = 1 << 20, /* PSNs have 24 bits */
};

/* t and sink outlive the transport. ack_every: AckReq on every n-th packet of a
 * queue pair, 0 never; with a window, 0: a quarter of it. */
int roce_out_open(struct roce_out **out, const struct ticket *t,
		  struct snk *sink, unsigned ack_every, struct error *err);
struct transport *roce_out_transport(struct roce_out *o);
void roce_out_close(struct roce_out *o);

/* Called in the middle of exec() when a window has no room: takes in answers
 * (roce_out_answers(), roce_out_tick()), having flushed the sink. Returns 1 to
 * go on waiting, 0 when the request is to be dropped and counted, or -errno. */
typedef int roce_out_wait(void *ctx);

/* Turns on the window, before the first operation: up to size requests of each
 * RC queue pair (1 to ROCE_OUT_WINDOW_MAX), rounded up to a power of 2. wait
 * may be NULL: always 0. */
int roce_out_window(struct roce_out *o, unsigned size, roce_out_wait *wait,
		    void *ctx, struct error *err);

/* packets = sent + lost (as NAKs tell). */
struct dart_ledger {
	uint64_t packets, sent, lost;
	uint64_t resyncs; /* NAKs that set a PSN */
};

extern const struct ledger dart_ledger;

/* Makes it a DART switch, before the first operation and any window. Refused
 * where a slot is longer than a packet. */
int roce_out_dart(struct roce_out *o, struct error *err);
struct dart_ledger roce_out_dart_ledger(const struct roce_out *o);

/* Processes answers, each for one of n transports (several collectors). Times
 * are of a clock that never goes back. Returns 0 or -errno of a sink. The
 * caller flushes, as after roce_out_tick() and the transport's own calls. */
int roce_out_answers(struct roce_out *const *transports, unsigned n,
		     const struct pkt *pkts, size_t npkts, uint64_t now_ns);

/* Probes queue pairs whose answers are overdue. */
int roce_out_tick(struct roce_out *o, uint64_t now_ns);

/* When roce_out_tick() is to be called next; UINT64_MAX: no need. */
uint64_t roce_out_due(const struct roce_out *o);

/* Requests accepted and neither confirmed nor given up; not those for queue
 * pairs that refused one, unless a new ticket would help. */
uint64_t roce_out_pending(const struct roce_out *o);

/* Whether answers are overdue somewhere, or a queue pair is dead. */
bool roce_out_stalled(const struct roce_out *o);

/* Whether a queue pair refused our R_Key or address and has confirmed nothing
 * since: the ticket is outdated. Its requests are sent under the next one. */
bool roce_out_stale(const struct roce_out *o);

/*
 * The collector has a new ticket, of the same tables; it outlives the
 * transport. WRITEs not confirmed are sent again under it, in order. Atomics
 * that were sent are not: they may have been carried out. Lists continue at the
 * collector's heads. If the ticket is refused, nothing changes.
 */
int roce_out_reticket(struct roce_out *o, const struct ticket *t,
		      struct error *err);

/* What became of requests, with a window: requests = acked + uc + drops by
 * reason, at any time. A request is what one packet carries: an operation, or a
 * piece of one that is longer than the path MTU. */
struct requester_ledger {
	uint64_t requests;
	uint64_t acked;	      /* the collector has carried them out */
	uint64_t uc;	      /* of UC tables: sent; UC has no answers */
	uint64_t unanswered;  /* sent, not confirmed: executed or not */
	uint64_t window_full; /* no room to wait for answers: never sent */
	uint64_t refused;  /* the collector refused this request or one before
			      it, and executed neither */
	uint64_t outdated; /* list entries for places that are wrong under a new
			      ticket */
	uint64_t unsent;   /* at the end still waiting to be sent */
	uint64_t waiting;  /* while the transport is open: under way, or to be
			      sent */
	/* notes */
	uint64_t packets; /* all that were sent */
	uint64_t resent;  /* requests sent again */
	uint64_t probes;  /* empty WRITEs, to ask for the expected PSN */
	uint64_t acks, naks_psn, naks_access, naks_invalid, naks_rnr;
	uint64_t timeouts;
	uint64_t resyncs;   /* connections made after the first */
	uint64_t late;	    /* answers about requests confirmed before */
	uint64_t unmatched; /* answers that match no request */
	uint64_t malformed; /* not answers, or damaged */
};

extern const struct ledger requester_ledger;

/* The ledger if nothing more is sent, or (open) if requests under way go on.
 * All 0 without a window. */
struct requester_ledger roce_out_ledger(const struct roce_out *o, bool open);

/* Progress of a table's requests. All 0 without a window. */
struct roce_out_progress {
	uint64_t acked;
	uint64_t waiting; /* neither confirmed nor given up */
	bool refused;	  /* the collector has closed the queue pair */
	bool stale;	  /* as of roce_out_stale() */
};

struct roce_out_progress roce_out_progress(const struct roce_out *o,
					   unsigned table);
/* The PSN that a table's next request would have. */
uint32_t roce_out_psn(const struct roce_out *o, unsigned table);

/* Health of a collector that should acknowledge requests. Each change is
 * reported once, with its likely cause and what to do, and so is recovery. */
enum roce_out_health_state {
	ROCE_OUT_HEALTHY,
	ROCE_OUT_SILENT,  /* nothing is confirmed */
	ROCE_OUT_REFUSED, /* a table's queue pair is closed */
};

/* Initially all 0. */
struct roce_out_health {
	enum roce_out_health_state state;
	unsigned stuck; /* the table without progress, */
	uint64_t acked; /* and its confirmed requests then */
	struct {
		uint64_t acked, since_ns;
		bool refused;
	} table[TABLE_MAX];
};

/* To be called a few times a second; away: no call for more than a second.
 * waits: reports are left unread while the window is full. Returns whether the
 * state has changed, which err describes. */
bool roce_out_check_health(struct roce_out_health *st, const struct roce_out *o,
			   uint64_t now_ns, bool away, bool waits,
			   struct error *err);

/* Describes why a collector has not acknowledged the requests that wait; false:
 * none waits, and roce_out_nothing_acked says all there is to say. */
extern const char roce_out_nothing_acked[];
bool roce_out_unacked_reason(const struct roce_out *o, struct error *err);

#endif
