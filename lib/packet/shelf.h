/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shelf.h - copies of packets for src_keep(), where a source cannot keep its
 * own: a board for each batch, the oldest of which makes room for the next.
 */
#ifndef PACKET_SHELF_H
#define PACKET_SHELF_H

#include "packet/pkt.h"

struct shelf;

/* NULL: no memory. */
struct shelf *shelf_new(unsigned boards);

/* Copies n packets and has pkts point to the copies. Returns 0 or -ENOMEM. */
int shelf_put(struct shelf *s, struct pkt *pkts, int n);
void shelf_free(struct shelf *s); /* NULL is fine */

#endif
