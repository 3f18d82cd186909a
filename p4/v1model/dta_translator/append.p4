/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * append.p4 - batches of list entries: DTA 4.3 and 5.2.2, dta(7), MEMORY;
 * lib/dta/append.c does the same.
 *
 * A full batch becomes one WRITE of consecutive entries (two where it meets the
 * ring's end), then one of the list's count.
 */
#ifndef DTA_TRANSLATOR_APPEND
#define DTA_TRANSLATOR_APPEND

#include "headers.p4"
#include "rdma.p4"

/* In ingress: an entry to its list's batch, and what of that is written. */
control Append(in headers_t hdr, inout meta_t meta) {
	register<bit<2048>>(P4_LISTS) batches; /* the last entry on the right */
	register<bit<8>>(P4_LISTS) waiting;    /* entries of a batch */
	register<bit<64>>(P4_LISTS) counts;    /* entries written, ever */
	register<bit<32>>(P4_LISTS) places;    /* the same modulo the ring */
	bit<32> at;
	bit<32> list_no;
	bit<8> n;
	bit<8> full;
	bit<32> place;
	bit<32> fits;
	bit<64> heads;

	/* A table's lists are at first and behind. */
	action ring(bit<32> first, bit<8> batch, bit<64> heads_at) {
		at = first + list_no;
		full = batch;
		heads = heads_at;
	}
	table rings {
		key = { meta.lane: exact; }
		actions = { ring; }
		size = 64;
	}
	action add_entry() {
		n = n + 1;
		meta.batch = left(meta.batch, meta.stride) |
			     left(meta.data, meta.stride - meta.data_len);
	}
	action write_batch() {
		counts.read(meta.count, at);
		places.read(place, at);
		fits = (bit<32>)meta.units - place;
		meta.ring_at =
			(bit<64>)list_no * meta.units * (bit<64>)meta.stride;
		meta.batch_at = meta.ring_at +
				(bit<64>)place * (bit<64>)meta.stride;
		meta.head_at = heads + ((bit<64>)list_no << 3);
		meta.batch_len = (bit<16>)n * meta.stride;
		meta.first_len = (bit<32>)n < fits
					 ? meta.batch_len
					 : (bit<16>)fits * meta.stride;
		meta.count = meta.count + (bit<64>)n;
		counts.write(at, meta.count);
		place = (bit<32>)n < fits ? place + (bit<32>)n
					  : (bit<32>)n - fits;
		places.write(at, place);
		meta.append_writes =
			meta.first_len < meta.batch_len ? 8w3 : 8w2;
		meta.partial = n < full ? 1w1 : 1w0;
	}

	apply {
		at = 0;
		full = 1;
		heads = 0;
		list_no = hdr.key.b4.v;
		if (hdr.flush.isValid())
			list_no = hdr.flush.first;
		rings.apply();
		batches.read(meta.batch, at);
		waiting.read(n, at);
		if (!hdr.flush.isValid())
			add_entry();
		if (n == full || (n != 0 && (meta.immediate == 1 ||
					     hdr.flush.isValid()))) {
			write_batch();
			waiting.write(at, 0);
			batches.write(at, 0);
		} else {
			waiting.write(at, n);
			batches.write(at, meta.batch);
		}
	}
}

/* In egress: a replica's part. */
control AppendOperation(in meta_t meta, in bit<8> replica,
			inout operation_t op) {
	apply {
		bit<16> rest = meta.batch_len - meta.first_len;

		if (replica == 0) {
			op.offset = meta.batch_at;
			op.data = right(meta.batch, rest);
			op.len = meta.first_len;
		} else if (replica + 1 == meta.append_writes) {
			op.offset = meta.head_at;
			op.data = (bit<2048>)meta.count;
			op.len = 8;
			op.immediate = meta.immediate;
		} else {
			op.offset = meta.ring_at;
			op.data = right(left(meta.batch, 256 - rest),
					256 - rest);
			op.len = rest;
		}
	}
}

#endif
