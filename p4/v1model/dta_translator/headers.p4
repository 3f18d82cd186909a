/* SPDX-License-Identifier: BSD-2-Clause */
/* headers.p4 - what the translator's parts share: headers and metadata. */
#ifndef DTA_TRANSLATOR_HEADERS
#define DTA_TRANSLATOR_HEADERS

#include "net.p4"
#include "dta.p4"
#include "roce.p4"
#include "bytes.p4"

/*
 * What this program has room for, in all tables together; dta-switch looks
 * before it writes commands.
 */
const bit<32> TABLE_MAX = 64; /* tables */
const bit<32> P4_ROWS = 65536;	 /* of postcard caches */
const bit<32> P4_LISTS = 4096;
const bit<32> P4_WRITE_LEN = 256; /* bytes of an operation */
const bit<32> P4_KEY_MIN = 4;	  /* bytes: bytes.p4 */
const bit<32> SWITCH_REPORTERS = 4096;

/* Frames of the control plane: IEEE 802's second type for experiments. */
const bit<16> SWITCH_ETHERTYPE_FLUSH = 0x88b6;

/*
 * Write what waits: of a table (as in reports), in the rows of its cache or the
 * lists first, first + 1, ..., so many of them.
 */
header flush_h {
	bit<16> table_id;
	bit<32> first;
	bit<32> rows;
}

struct headers_t {
	ethernet_h ethernet;
	flush_h flush;
	ipv4_h ipv4;
	udp_h udp;
	dta_h dta;
	bth_h bth;
	reth_h reth;
	atomic_h atomic;
	aeth_h aeth;
	imm_h imm;
	bytes_t key;  /* of a report */
	bytes_t data; /* of a report, of a WRITE */
	icrc_h icrc;
}

/*
 * A row of the postcard cache, and what it becomes: entry i is at bits
 * 255 - 32 i and below of value and sum.
 */
struct row_t {
	bit<128> chunk; /* hashes for the copies, 0 on the left */
	bit<256> sum;	/* csum_i of the key */
	bit<256> value;
	bit<8> held; /* bit i: hop i is here; 0: the row is free */
	bit<4> path_len;
	bit<4> copies;
	bit<1> immediate;
	bit<16> sequence;
	/* of one that is to be written */
	bit<8> which; /* entries; 0: the whole chunk */
	bit<8> runs;  /* WRITEs a copy */
}

struct meta_t {
	/* of the report */
	bit<16> key_len;
	bit<16> data_len;
	bit<1> report; /* goes by that name, at least */
	bit<1> malformed;
	bit<8> ledger; /* the counter that it goes under */
	bit<4> copies;
	bit<1> immediate;
	/* of its table */
	bit<8> lane;
	bit<4> kind; /* an opcode */
	bit<2> sequence_check;
	bit<64> units;
	bit<16> stride;
	bit<16> write_len; /* bytes of a slot or chunk written whole */
	bit<4> hops;
	bit<32> lists;
	bit<16> table_id;
	/* hashes of the key */
	bit<32> slot0;
	bit<32> slot1;
	bit<32> slot2;
	bit<32> slot3;
	bit<32> checksum;
	/* what is to be written: postcards of the row that made room, then of
	 * the report's own */
	row_t early;
	row_t own;
	bit<1> duplicate;
	bit<1> partial;
	bit<8> slot_writes; /* operations, by what they are */
	bit<8> early_writes;
	bit<8> own_writes;
	bit<2048> key;	/* and data as numbers */
	bit<2048> data;
	bit<2048> batch; /* a list's entries, the last one on the right */
	bit<16> batch_len;
	bit<16> first_len; /* as much up to the ring's end */
	bit<64> batch_at;  /* offsets in the table */
	bit<64> ring_at;
	bit<64> head_at;
	bit<64> count; /* entries written to the list, with these */
	bit<8> replicas;
	bit<8> append_writes;
	bit<1> walk;	/* behind the last of them the flush goes on */
	/* sequence.p4 */
	bit<1> decoded;	 /* a report, at least */
	bit<1> question; /* of a reporter: no report */
	bit<8> reason;	 /* why it asks */
	bit<1> gap;	 /* one opens */
	bit<1> nack;	 /* to be sent */
	bit<8> nack_reason;
	bit<16> nack_last;
	bit<1> to_pair; /* a NAK, for the queue pair's PSN */
}

#endif
