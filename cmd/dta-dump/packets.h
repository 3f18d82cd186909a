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

#endif
