/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dart_out.h - the RoCEv2 transport of a DART switch: for the Key-Write tables
 * of all collectors, from 20 bytes of state for each of them (DART section 6).
 *
 * The geometry, the tables' base addresses and our own addresses are the same
 * for all collectors and are stored once. For each collector a switch stores
 * MAC, IPv4 address, queue pair, R_Key, and the next PSN. There is no window
 * and no other connection state: lost packets stay lost, and reporters report
 * again. A responder's NAK sets the PSN, and all packets sent since then are
 * counted as lost, since the responder has executed none of them. To ignore
 * NAKs that come twice or late, a host stores 8 bytes more for each collector;
 * a switch may do without.
 *
 * Operations on other kinds of tables go to another transport.
 */
#ifndef RDMA_DART_OUT_H
#define RDMA_DART_OUT_H

#include <stdbool.h>

#include "base/ledger.h"
#include "packet/pkt.h"
#include "rdma/op.h"
#include "rdma/ticket.h"

/* A switch's state of one collector's table: big-endian. */
struct dart_state {
	uint8_t mac[6];
	uint8_t ip[4];
	uint8_t qpn[3];
	uint8_t psn[3]; /* of the next packet */
	uint8_t rkey[4];
};

_Static_assert(sizeof(struct dart_state) == 20, "DART section 6");

/* packets = sent + lost; lost: those that NAKs say so of. */
struct dart_ledger {
	uint64_t packets, sent, lost;
	uint64_t resyncs; /* NAKs that set a PSN */
};

extern const struct ledger dart_ledger;

struct dart_out;

/*
 * tickets: n, of collectors with the same tables; not kept. Refused where their
 * addresses are not IPv4, or the tables' base addresses not the same. Tables
 * are numbered as in fanout.h; rest takes the operations on other kinds. rest
 * and sink outlive the transport.
 */
int dart_out_open(struct dart_out **out, const struct ticket *const *tickets,
		  unsigned n, struct snk *sink, struct transport *rest,
		  unsigned ack_every, struct error *err);
struct transport *dart_out_transport(struct dart_out *o);
struct dart_ledger dart_out_ledger(const struct dart_out *o);

/* Processes a packet, if it is an answer to this transport. */
bool dart_out_answer(struct dart_out *o, const struct pkt *p);

/* Checks a ticket that dart_out_reticket() will then accept. */
int dart_out_accepts(const struct dart_out *o, const struct ticket *t,
		     struct error *err);

/* Replaces a collector's ticket `was' by t, of the same tables; PSNs continue
 * as ticket_psn() says. Neither ticket is kept. */
int dart_out_reticket(struct dart_out *o, unsigned collector,
		      const struct ticket *was, const struct ticket *t,
		      struct error *err);

/* The state of a collector's table, by its index; NULL: not Key-Write. */
const struct dart_state *dart_out_state(const struct dart_out *o,
					unsigned collector, unsigned table);
void dart_out_close(struct dart_out *o);

#endif
