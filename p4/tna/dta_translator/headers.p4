/* SPDX-License-Identifier: BSD-2-Clause */
/* headers.p4 - what the translator's parts share: headers and metadata. */
#ifndef DTA_TRANSLATOR_HEADERS
#define DTA_TRANSLATOR_HEADERS

#include "net.p4"
#include "dta.p4"
#include "roce.p4"
#include "place.p4"

#define KEY \
	{ hdr.flow.src, hdr.flow.dst, hdr.flow.src_port, hdr.flow.dst_port, \
	  hdr.flow.proto }

/*
 * What this program has room for; dta-switch looks before it writes lines.
 */
const bit<32> TOFINO_TABLES = 64;
const bit<32> TOFINO_ROWS = 32768;  /* of postcard caches, and lists */
const bit<32> TOFINO_LISTS = 4096;
const bit<32> TOFINO_BATCH_LEN = 64; /* bytes */
const bit<32> TOFINO_VALUE_MAX = 28; /* bytes, of Key-Write */
const bit<32> SWITCH_REPORTERS = 4096;

/* Frames of the control plane: IEEE 802's second type for experiments. */
const bit<16> SWITCH_ETHERTYPE_FLUSH = 0x88b6;
/* Where a flush goes round, in pipe 0. */
const bit<9> SWITCH_RECIRCULATE = 68;

const bit<3> SWITCH_RESUBMIT = 1;

/* What egress does with a packet. */
const bit<8> SWITCH_PASS = 0;	 /* nothing */
const bit<8> SWITCH_SLOT = 1;	 /* Key-Write: replica i is copy i */
const bit<8> SWITCH_ADD = 2;	 /* Key-Increment, the same */
const bit<8> SWITCH_CHUNK = 3;	 /* a chunk that is complete, the same */
const bit<8> SWITCH_ENTRIES = 4; /* one that is not: replica 8 * copy + hop */
const bit<8> SWITCH_BATCH = 5;	 /* 0: entries, 1: the list's count */

/* What a packet is: meta.sort. */
const bit<8> SWITCH_IS_FOREIGN = 0;
const bit<8> SWITCH_IS_REPORT = 1; /* goes by that name, at least */
const bit<8> SWITCH_IS_FLUSH = 2;
const bit<8> SWITCH_IS_ANSWER = 3; /* of the collector */

/* Multicast groups: n for n copies; 8 + n, of a row that makes room. */
const bit<16> TOFINO_GROUP_BATCH = 2;
const bit<16> TOFINO_GROUP_ENTRIES = 8;

/*
 * Forms of an operation: bytes of data; with the first bit, an immediate before
 * them.
 */
const bit<8> TOFINO_FORM_4 = 4;
const bit<8> TOFINO_FORM_8 = 8;
const bit<8> TOFINO_FORM_16 = 16;
const bit<8> TOFINO_FORM_32 = 32;
const bit<8> TOFINO_FORM_64 = 64;
const bit<8> TOFINO_FORM_IMM = 1;
const bit<8> TOFINO_FORM_ADD = 2; /* FETCH_ADD */

/*
 * Write what waits: of a table (as in reports), in the rows of its cache or the
 * lists first, first + 1, ..., so many of them.
 */
header flush_h {
	bit<16> table_id;
	bit<32> first;
	bit<32> rows;
}

header list_h {
	bit<32> list_no;
}

/* Four bytes of data. */
header word_h {
	bit<32> v;
}

/* Ethernet's padding behind the shortest report. */
header padding_h {
	bit<16> v;
}

/* From ingress to egress, in front of every packet. */
header bridge_h {
	bit<8> op;   /* SWITCH_SLOT... */
	bit<8> lane; /* the table's number, and its queue pair's */
	bit<8> form; /* of whole slots, chunks, batches */
	bit<8> copies;
	bit<8> held; /* hops of a chunk that is not complete */
	bit<8> immediate;
	bit<16> table_id;
	bit<16> sequence;
	bit<16> list_row;
	/* Append: entries ever written, with these */
	bit<32> count_high;
	bit<32> count;
	bit<32> psn; /* of a NAK, in the upper 24 bits */
}

header words8_h {
	bit<32> w0;
	bit<32> w1;
	bit<32> w2;
	bit<32> w3;
	bit<32> w4;
	bit<32> w5;
	bit<32> w6;
	bit<32> w7;
}

struct ingress_headers_t {
	bridge_h bridge;
	ethernet_h ethernet;
	flush_h flush;
	ipv4_h ipv4;
	udp_h udp;
	dta_h dta;
	bth_h bth;
	aeth_h aeth;
	list_h list_no;
	flow4_h flow;
	/* of a row: a list's batch, or the values of a chunk */
	words8_h low;
	words8_h high;
	/* of the report: word 0 of a slot is its checksum */
	word_h w1;
	word_h w2;
	word_h w3;
	word_h w4;
	word_h w5;
	word_h w6;
	word_h w7;
	padding_h padding;
}

struct ingress_meta_t {
	bit<1> again; /* resubmitted: a gap is given up */
	bit<8> sort;
	bool bad_sum;
	bit<1> question; /* of a reporter: no report */
	bit<1> known;	 /* the table */
	bit<1> answer; /* a NACK */
	bit<1> gap;    /* is new */
	bit<8> ledger; /* the counter that it goes under */
	bit<8> color;
	bit<16> rest; /* of the IP packet, the UDP datagram left out */
	/* what the table takes: differences from it */
	bit<4> kind;
	bit<4> kind_differs;
	bit<1> list_known;
	bit<1> path_fits; /* and its hop */
	bit<1> decoded; /* a report, at least */
	bit<1> direct;	/* complete by itself */
	bit<8> pad;	/* words to be added */
	bit<8> key_differs;
	bit<16> len_differs;
	bit<2> sequence_check;
	/* sequence.p4 */
	bit<8> acquainted; /* the reporter: known */
	bit<16> step;	   /* from its last number */
	bit<16> passed;	   /* numbers */
	bit<8> gap_was; /* open */
	bit<8> unheeded;
	bit<1> ahead; /* what became of the report: */
	bit<1> behind;
	bit<1> missed; /* numbers before it */
	bit<1> far;
	bit<1> gone;
	bit<1> resubmit;
	/* the row of the report, and what was in it */
	bit<16> checksum;
	bit<16> row_mask;
	bit<16> row_first;
	bit<16> row;
	bit<32> list_no;
	bit<32> ports; /* of the report's flow */
	/* of the key, what was there: its difference from the report's */
	bit<32> old_src;
	bit<32> old_dst;
	bit<32> old_ports;
	bit<8> old_proto;
	bit<8> access; /* what is done with the row */
	bit<1> same; /* key */
	/* hops of a chunk: bits */
	bit<8> all;
	bit<8> own_hop;
	bit<8> own_rest;   /* what is to come behind it, if it is the first */
	bit<8> lacked;	   /* before this one; 0: none was waited for */
	/* Append */
	bit<8> entry_words;
	bit<8> last_entry;
	bit<1> full; /* a batch */
	bit<16> put; /* bit i: word i of the row is the report's, 1 + i mod 4 */
}

struct egress_headers_t {
	bridge_h bridge;
	flow4_h flow;
	ethernet_h ethernet;
	ipv4_h ipv4;
	udp_h udp;
	bth_h bth;
	place_h place;
	dma_len_h dma_len;
	imm_h imm;
	word_h d0;
	word_h d1;
	word_h d2;
	word_h d3;
	word_h d4;
	word_h d5;
	word_h d6;
	word_h d7;
	words8_h d8;
	icrc_h icrc;
}

struct egress_meta_t {
	/* rdma.p4 */
	bit<8> form;
	bit<64> offset; /* in the table */
	bit<32> passed;
	bit<32> fixed; /* iCRC but for what is hashed here */
	bit<32> sum;
	bit<8> shift; /* of a slot's number, for its length */
}

#endif
