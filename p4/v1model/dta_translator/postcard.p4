/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * postcard.p4 - the cache that gathers a packet's postcards: DTA 4.2 and 5.2.3,
 * dta(7), MEMORY; lib/dta/postcard.c does the same.
 *
 * A row keeps no key, but the twelve hashes that it needs when it is written.
 * Rows are told apart by those alone, and no key is taken for another:
 * remainders modulo twelve polynomials without common factors are those modulo
 * their product, of degree 384, and tell all keys up to 48 bytes apart.
 */
#ifndef DTA_TRANSLATOR_POSTCARD
#define DTA_TRANSLATOR_POSTCARD

#include "headers.p4"
#include "keys.p4"
#include "rdma.p4"

/* The hops from path_len on, up to hops, if it is known. */
bit<8> blanks_of(in bit<4> hops, in bit<4> path_len) {
	bit<8> all = (8w1 << hops) - 1;
	bit<8> path = (8w1 << path_len) - 1;

	return path_len == 0 ? 8w0 : all & ~path;
}

/* The first run of bits in a mask, from the lowest up. */
bit<8> first_run(in bit<8> mask) {
	bit<8> low = mask & (~mask + 1);

	return mask & ~(mask + low);
}

/* How many runs there are: as many as have a lowest bit. */
bit<8> count_runs(in bit<8> mask) {
	bit<8> low = mask & ~(mask << 1);

	return (bit<8>)low[0:0] + (bit<8>)low[1:1] + (bit<8>)low[2:2] +
	       (bit<8>)low[3:3] + (bit<8>)low[4:4] + (bit<8>)low[5:5] +
	       (bit<8>)low[6:6] + (bit<8>)low[7:7];
}

/* Entry i for each bit i: all its bits. */
bit<256> entries_of(in bit<8> mask) {
	bit<32> none = 0;
	bit<32> all = 0xffffffff;

	return (mask[0:0] == 1 ? all : none) ++ (mask[1:1] == 1 ? all : none) ++
	       (mask[2:2] == 1 ? all : none) ++ (mask[3:3] == 1 ? all : none) ++
	       (mask[4:4] == 1 ? all : none) ++ (mask[5:5] == 1 ? all : none) ++
	       (mask[6:6] == 1 ? all : none) ++ (mask[7:7] == 1 ? all : none);
}

/* Of a mask with one bit: which one. */
bit<4> place_of(in bit<9> one) {
	return (bit<4>)((one & 0x1aa != 0 ? 4w1 : 4w0) |
			(one & 0x0cc != 0 ? 4w2 : 4w0) |
			(one & 0x0f0 != 0 ? 4w4 : 4w0) |
			(one & 0x100 != 0 ? 4w8 : 4w0));
}

/* In ingress: a postcard to its row, and what of that is to be written. */
control Postcards(in headers_t hdr, inout meta_t meta) {
	register<bit<384>>(P4_ROWS) names; /* chunk, sum */
	register<bit<256>>(P4_ROWS) values;
	register<bit<33>>(P4_ROWS) states; /* held, path_len, copies, immediate,
					      sequence */
	HashHops() hash_hops;
	bit<32> first;
	bit<32> rows;
	bit<32> at;
	bit<384> name;
	bit<384> own_name;
	bit<33> state;
	bit<8> bit_of_hop;
	bit<8> want;
	bit<8> shift;

	action cache(bit<32> first_row, bit<32> n) {
		first = first_row;
		rows = n;
	}
	table caches {
		key = { meta.lane: exact; }
		actions = { cache; }
		size = 64;
	}

	action read_row(bit<32> row) {
		at = first + row;
		names.read(name, at);
		values.read(meta.early.value, at);
		states.read(state, at);
		meta.early.chunk = name[383:256];
		meta.early.sum = name[255:0];
		meta.early.held = state[32:25];
		meta.early.path_len = state[24:21];
		meta.early.copies = state[20:17];
		meta.early.immediate = state[16:16];
		meta.early.sequence = state[15:0];
	}
	/* Of a row that is not complete: what it holds, and the blanks behind
	 * a path that is known. */
	action write_early() {
		meta.early.which = meta.early.held |
				   blanks_of(meta.hops, meta.early.path_len);
		meta.early.runs = count_runs(meta.early.which);
		meta.early_writes = meta.early.runs * (bit<8>)meta.early.copies;
	}
	action begin_row() {
		meta.own.value = 0;
		meta.own.held = 0;
		meta.own.path_len = 0;
		meta.own.copies = 0;
		meta.own.immediate = 0;
	}
	action add_postcard() {
		bit_of_hop = 8w1 << hdr.dta.hop;
		shift = (8w7 - (bit<8>)hdr.dta.hop) << 5;
		meta.duplicate = (bit<1>)(meta.own.held >> hdr.dta.hop);
		meta.own.held = meta.own.held | bit_of_hop;
		meta.own.value = (meta.own.value & ~(256w0xffffffff << shift)) |
				 (bit<256>)meta.data << shift;
		meta.own.immediate = meta.own.immediate | meta.immediate;
		meta.own.sequence = hdr.dta.sequence;
		meta.own.chunk = own_name[383:256];
		meta.own.sum = own_name[255:0];
	}
	action write_whole() {
		meta.own.which = 0;
		meta.own.runs = 1;
		meta.own_writes = (bit<8>)meta.own.copies;
	}

	apply {
		first = 0;
		rows = 1;
		caches.apply();
		if (hdr.flush.isValid()) {
			read_row(hdr.flush.first);
			if (meta.early.held != 0)
				write_early();
			states.write(at, 0);
			return;
		}
		/* Row of a key: CRC-32C, whatever the table's hashes. */
		hash(at, HashAlgorithm.identity, 32w0, { meta.checksum },
		     (bit<64>)rows);
		read_row(at);
		hash_hops.apply(key_of(meta.key, meta.key_len),
				meta.own.sum);
		own_name = meta.slot0 ++ meta.slot1 ++ meta.slot2 ++
			   meta.slot3 ++ meta.own.sum;
		meta.own = meta.early;
		if (meta.early.held != 0 && name != own_name)
			write_early();
		if (meta.early.held == 0 || name != own_name)
			begin_row();
		add_postcard();
		if (meta.own.path_len < hdr.dta.path_len)
			meta.own.path_len = hdr.dta.path_len;
		if (meta.own.copies < meta.copies)
			meta.own.copies = meta.copies;
		want = (8w1 << (meta.own.path_len == 0 ? meta.hops
						       : meta.own.path_len)) -
		       1;
		names.write(at, own_name);
		values.write(at, meta.own.value);
		state = meta.own.held ++ meta.own.path_len ++ meta.own.copies ++
			meta.own.immediate ++ meta.own.sequence;
		if (meta.own.held & want == want) {
			write_whole();
			state = 0;
		}
		states.write(at, state);
	}
}

/* In egress: a replica's part of what is to be written. */
control PostcardOperation(in meta_t meta, in bit<8> replica,
			  inout operation_t op) {
	row_t row;
	bit<8> n; /* the replica among those of the row */
	bit<8> writes;
	bit<32> chunk;
	bit<64> slot;
	bit<256> entries;
	bit<256> held;
	bit<8> which;
	bit<8> run;
	bit<8> first;
	bit<8> end;

	apply {
		row = meta.early;
		n = replica;
		writes = meta.early_writes;
		if (replica >= meta.early_writes) {
			row = meta.own;
			n = replica - meta.early_writes;
			writes = meta.own_writes;
		}
		op.immediate = n + 1 == writes ? row.immediate : 1w0;
		op.imm[15:0] = row.sequence;
		/* Copies one after the other, of each the runs. */
		chunk = row.chunk[127:96];
		if (n >= row.runs) {
			n = n - row.runs;
			chunk = row.chunk[95:64];
		}
		if (n >= row.runs) {
			n = n - row.runs;
			chunk = row.chunk[63:32];
		}
		if (n >= row.runs) {
			n = n - row.runs;
			chunk = row.chunk[31:0];
		}
		hash(slot, HashAlgorithm.identity, 64w0, { chunk }, meta.units);
		op.offset = slot * (bit<64>)meta.stride;
		held = entries_of(row.held);
		entries = row.sum ^ ((row.value & held) | ~held);
		if (row.which == 0) {
			first = 0;
			end = (bit<8>)meta.hops;
		} else {
			which = row.which;
			if (n > 0)
				which = which & ~first_run(which);
			if (n > 1)
				which = which & ~first_run(which);
			if (n > 2)
				which = which & ~first_run(which);
			run = first_run(which);
			first = (bit<8>)place_of((bit<9>)(run & (~run + 1)));
			end = (bit<8>)place_of((bit<9>)run +
					       (bit<9>)(run & (~run + 1)));
		}
		op.offset = op.offset + ((bit<64>)first << 2);
		entries = entries << (first << 5);
		entries = entries >> ((8w8 - (end - first)) << 5);
		op.data = (bit<2048>)entries;
		op.len = (bit<16>)(end - first) << 2;
		if (row.which == 0) { /* zeros to the chunk's end */
			op.data = left(op.data, meta.write_len - op.len);
			op.len = meta.write_len;
		}
	}
}

#endif
