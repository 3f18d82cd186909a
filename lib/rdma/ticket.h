/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ticket.h - what a translator must know to write into a collector's memory
 * (dta.md 4): addresses, queue pairs, R_Keys, and the geometry of every table.
 * A small INI file; also meant to be read by a switch's control plane.
 *
 *	[collector]
 *	version = 1
 *	mac = 02:00:00:00:00:02
 *	ip = 10.0.0.51
 *	peer_mac = 02:00:00:00:00:01  ; the translator, as the queue pairs expect it
 *	peer_ip = 10.0.0.101
 *	mtu = 1024
 *	epoch = 1
 *
 *	[flows]                       ; one section per table: layout.h's fields, and
 *	qpn = 0x11
 *	psn = 0
 *	rkey = 0x1a2b3c4d
 *	address = 0x100000010000      ; virtual address of the table
 *	heads = 0:128, 3:64           ; Append: list:entries written, where not 0
 */
#ifndef RDMA_TICKET_H
#define RDMA_TICKET_H

#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "store/region.h"
#include "store/table.h"

struct ticket_table {
	uint32_t qpn, psn; /* 24 bits */
	uint32_t rkey;
	uint64_t address;
	uint64_t *heads;   /* entries written, per list; malloc'ed or NULL */
};

struct ticket {
	uint8_t mac[6], peer_mac[6];
	uint8_t version;               /* 4 or 6 */
	uint8_t ip[16], peer_ip[16];
	uint16_t mtu;
	uint64_t epoch;
	unsigned n;
	struct table table[TABLE_MAX];
	struct ticket_table at[TABLE_MAX];
};

/* The ticket of a region's current epoch; ip and mac fields as the caller set them. */
int ticket_of_region(struct ticket *t, const struct region *r, struct fault *f);

int ticket_write(const struct ticket *t, FILE *out);
int ticket_read(struct ticket *t, const char *path, struct fault *f); /* "-": stdin */
void ticket_fini(struct ticket *t);

#endif
