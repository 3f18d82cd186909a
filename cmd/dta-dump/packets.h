/* SPDX-License-Identifier: BSD-2-Clause */
/* packets.h - the rest of a packet's fields, from the opcode on. */
#ifndef DUMP_PACKETS_H
#define DUMP_PACKETS_H

#include "packet/pkt.h"
#include "show.h"
#include "tables.h"
#include "wire/net.h"

void show_dta(struct show *s, enum dta_format format, const struct tables *t,
	      const struct net_udp *u);

/* frame: the whole packet of len bytes. */
void show_roce(struct show *s, const struct tables *t, const uint8_t *frame,
	       size_t len, const struct net_udp *u);

/* show_label.c: a packet that carries INT-label's labels, wire/label.h. False:
 * it does not. */
bool show_label(struct show *s, const struct pkt *p);

/* show_int.c: a packet with INT or IOAM, or of telemetry reports; a row for
 * each report. */
struct show_int {
	struct intake *in; /* ends with the program */
	struct show *s;
	/* The packet in hand, whose number and time are shown; src may be NULL.
	 */
	const struct pkt *p;
	const char *src, *dst;
	uint64_t number;
	unsigned rows;
	uint64_t reports; /* taken and refused, before this packet */
};

void show_int_open(struct show_int *x, struct show *s);
/* False: it is none of these, or malformed; nothing was shown. */
bool show_int(struct show_int *x);
/* And why: reports were refused. */
bool show_int_refused(const struct show_int *x);

#endif
