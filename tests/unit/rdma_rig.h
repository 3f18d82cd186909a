/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma_rig.h - a small region with a table of each kind, its ticket, and frames
 * into a responder; for the tests of the RDMA room. The iCRC of frames made
 * here is zlib's work, not this library's.
 */
#ifndef TESTS_UNIT_RDMA_RIG_H
#define TESTS_UNIT_RDMA_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "hash/crc.h"
#include "packet/pkt.h"
#include "rdma/local.h"
#include "rdma/responder.h"
#include "rdma/roce_out.h"
#include "rdma/ticket.h"
#include "region/layout.h"
#include "region/region.h"
#include "net/roce.h"
#include "region_sums.h"

enum {
	RIG_KW,	  /* 8-byte slots, RC */
	RIG_UC,	  /* the same, UC */
	RIG_INC,  /* counters */
	RIG_LIST, /* 3 lists of 4-byte entries */
	RIG_WIDE, /* slots of 1024 bytes */
	RIG_TABLES,
	RIG_KEPT = 4096,
};

struct rig {
	char name[64], path[64]; /* region, answers */
	struct region *region;
	struct ticket t;
	struct snk *answers;
	struct responder *p;
	size_t seen; /* answers read back so far */
	uint32_t digest[RIG_TABLES];
	struct responder_ledger before;
};

_Noreturn static inline void rig_die(const char *what, const struct error *err)
{
	fprintf(stderr, "%s: %s\n", what, err ? err->text : "failed");
	exit(1);
}

static inline void rig_table(struct layout *l, const char *name,
			     const char *const (*fields)[2])
{
	struct table *t = &l->table[l->n++];
	struct error err = {""};

	snprintf(t->name, sizeof(t->name), "%s", name);
	t->id = (uint16_t)l->n;
	for (; (*fields)[0]; fields++)
		if (layout_set(t, (*fields)[0], (*fields)[1], &err) < 0)
			rig_die(name, &err);
	if (table_finish(t, &err) < 0)
		rig_die(name, &err);
}

static inline void rig_layout(struct layout *l)
{
	static const char *const kw[][2] = {
		{"kind", "keywrite"}, {"key", "u32"}, {"value", "4"},
		{"slots", "1Ki"},     {NULL, NULL},
	};
	static const char *const uc[][2] = {
		{"kind", "keywrite"}, {"key", "u32"}, {"value", "4"},
		{"slots", "1Ki"},     {"qp", "uc"},   {NULL, NULL},
	};
	static const char *const inc[][2] = {
		{"kind", "keyinc"},
		{"key", "flow4"},
		{"slots", "256"},
		{NULL, NULL},
	};
	static const char *const list[][2] = {
		{"kind", "append"}, {"value", "4"}, {"lists", "3"},
		{"ring", "100"},    {"batch", "4"}, {NULL, NULL},
	};
	static const char *const wide[][2] = {
		{"kind", "keywrite"}, {"key", "u32"}, {"value", "1020"},
		{"slots", "16"},      {NULL, NULL},
	};

	memset(l, 0, sizeof(*l));
	rig_table(l, "kw", kw);
	rig_table(l, "uc", uc);
	rig_table(l, "inc", inc);
	rig_table(l, "list", list);
	rig_table(l, "wide", wide);
}

/* A new region of these tables, open for writing. */
static inline struct region *rig_region(const char *name, unsigned epochs)
{
	struct region_options o = {.epochs = epochs};
	struct error err = {""};
	struct region *r = NULL;
	struct layout l;

	rig_layout(&l);
	region_remove(name, NULL);
	if (region_create(NULL, name, &l, &o, &err) < 0 ||
	    region_open(&r, name, true, &err) < 0)
		rig_die(name, &err);
	return r;
}

/* Opens the responder again: PSNs, errors and counters start anew. */
static inline void rig_restart(struct rig *g, const struct responder_options *o)
{
	static const struct responder_options usual = {.receives = UINT64_MAX};
	struct error err = {""};

	if (g->p)
		responder_close(g->p);
	if (g->answers)
		snk_close(g->answers);
	if (snk_open(&g->answers, g->path, &err) < 0)
		rig_die(g->path, &err);
	g->seen = 0;
	memset(&g->before, 0, sizeof(g->before));
	if (responder_open(&g->p, g->region, &g->t, g->answers, o ? o : &usual,
			   &err) < 0)
		rig_die("responder", &err);
}

static inline void rig_open(struct rig *g, const struct responder_options *o)
{
	struct error err = {""};

	memset(g, 0, sizeof(*g));
	snprintf(g->name, sizeof(g->name), "dta-test-%d-rdma", (int)getpid());
	snprintf(g->path, sizeof(g->path), "/tmp/test-rdma-%d.pcap",
		 (int)getpid());
	g->region = rig_region(g->name, 2);
	if (ticket_of_region(&g->t, g->region, &err) < 0)
		rig_die("ticket", &err);
	rig_restart(g, o);
	for (unsigned i = 0; i < RIG_TABLES; i++)
		g->digest[i] = region_digest(g->region,
					     region_table(g->region, i), 1);
}

static inline void rig_close(struct rig *g)
{
	responder_close(g->p);
	snk_close(g->answers);
	ticket_fini(&g->t);
	region_close(g->region);
	region_remove(g->name, NULL);
	unlink(g->path);
}

/* The bytes of a table, in the current epoch. */
static inline const uint8_t *rig_mem(const struct rig *g, unsigned table)
{
	return region_read(g->region, region_table(g->region, table),
			   region_epoch(g->region));
}

/*
 * The iCRC by the rules of annex A17 of IBTA vol. 1, on a copy, with zlib: IPv4
 * without options and IPv6 without extension headers.
 */
static inline uint32_t rig_icrc(const uint8_t *frame, size_t len)
{
	uint8_t copy[8 + 5000];
	uint8_t *ip = copy + 8, *udp = ip + (frame[12] == 0x86 ? 40 : 20);

	memset(copy, 0xff, 8);
	memcpy(ip, frame + 14, len - 14);
	if (frame[12] == 0x86) {
		ip[0] |= 0x0f;
		ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
	} else {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	}
	udp[6] = udp[7] = 0xff;
	udp[8 + 4] = 0xff;
	return (uint32_t)crc32(0, copy, (uInt)(8 + len - 14 - 4));
}

/* Writes the iCRC that a changed frame ought to have. */
static inline void rig_seal(uint8_t *frame, size_t len)
{
	uint32_t sum = rig_icrc(frame, len);

	for (unsigned i = 0; i < 4; i++)
		frame[len - 4 + i] = (uint8_t)(sum >> 8 * i);
}

/* A request to a table as its ticket wants it; the caller fills in the rest. */
static inline struct roce rig_request(const struct rig *g, uint8_t opcode,
				      unsigned table, uint64_t offset,
				      uint32_t psn)
{
	struct roce r = {
		.version = g->t.version,
		.src_port = 0xc011,
		.ttl = 64,
		.opcode = opcode,
		.migreq = true,
		.ack_req = true,
		.pkey = 0xffff,
		.dest_qp = g->t.at[table].qpn,
		.psn = psn & ROCE_PSN_MASK,
		.va = g->t.at[table].address + offset,
		.rkey = g->t.at[table].rkey,
	};

	memcpy(r.eth_dst, g->t.mac, 6);
	memcpy(r.eth_src, g->t.peer_mac, 6);
	memcpy(r.src, g->t.peer_ip, 16);
	memcpy(r.dst, g->t.ip, 16);
	return r;
}

static inline struct roce rig_write(const struct rig *g, unsigned table,
				    uint64_t offset, uint32_t psn,
				    const void *data, size_t len)
{
	struct roce r = rig_request(
		g, table == RIG_UC ? ROCE_UC_WRITE_ONLY : ROCE_RC_WRITE_ONLY,
		table, offset, psn);

	r.payload = data;
	r.len = len;
	r.dma_len = (uint32_t)len;
	return r;
}

static inline struct roce rig_add(const struct rig *g, uint64_t offset,
				  uint32_t psn, uint64_t add)
{
	struct roce r = rig_request(g, ROCE_RC_FETCH_ADD, RIG_INC, offset, psn);

	r.swap_add = add;
	return r;
}

/* A frame into the responder, from an exact-size heap copy. */
static inline int rig_rx(struct rig *g, const uint8_t *frame, size_t len)
{
	uint8_t *copy = malloc(CRC_HEADROOM + len);
	struct pkt p = {
		.data = copy + CRC_HEADROOM,
		.len = (uint32_t)len,
		.wire_len = (uint32_t)len,
		.ts_ns = 1000,
	};
	int rc;

	if (!copy)
		exit(1);
	memset(copy, 0x5a, CRC_HEADROOM);
	memcpy(copy + CRC_HEADROOM, frame, len);
	rc = responder_rx(g->p, &p, 1);
	free(copy);
	return rc;
}

#endif
