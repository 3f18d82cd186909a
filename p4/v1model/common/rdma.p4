/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma.p4 - an operation to a RoCEv2 packet: DTA 5.2, DART 6.
 *
 * Egress says which operation; here its packet is made of the one in hand, with
 * the queue pair's next PSN and the iCRC over it all. The program's headers_t
 * has ethernet, ipv4, udp, bth, reth, atomic, imm, data (bytes_t) and icrc; it
 * is the program that takes away the others.
 */
#ifndef P4_RDMA
#define P4_RDMA

#include "net.p4"
#include "roce.p4"
#include "bytes.p4"

const bit<32> SWITCH_PAIRS = 64;
const bit<8> SWITCH_TTL = 64; /* of packets made here */

struct operation_t {
	bit<8> pair;	  /* the number of its queue pair */
	bit<1> resync;	  /* no operation: the packet is a NAK of the pair's */
	bit<1> atomic;	  /* FETCH_ADD, else WRITE */
	bit<1> immediate; /* WRITE with Immediate */
	bit<64> offset; /* in the table */
	bit<64> add;
	bit<2048> data; /* WRITE: len bytes */
	bit<16> len;
	bit<32> imm;
}


control Rdma(inout headers_t hdr, in operation_t op,
	     inout standard_metadata_t standard) {
	register<bit<24>>(SWITCH_PAIRS) psn;  /* the next one */
	/* operations that NAKs passed over */
	register<bit<64>>(SWITCH_PAIRS) lost;
	NumberToBytes() put_data;
	bit<8> opcode;
	bit<64> address;
	bit<32> rkey;
	bit<1> uc;
	bit<16> len;
	bit<16> pad;
	bit<32> sum;
	bit<2048> data;

	/* The queue pair of a table, as the ticket says. */
	action pair(bit<48> eth_dst, bit<48> eth_src, bit<32> ip_src,
		    bit<32> ip_dst, bit<24> qpn, bit<32> key, bit<64> first,
		    bit<1> is_uc) {
		hdr.ethernet.dst = eth_dst;
		hdr.ethernet.src = eth_src;
		hdr.ethernet.type = NET_ETHERTYPE_IP4;
		hdr.ipv4.src = ip_src;
		hdr.ipv4.dst = ip_dst;
		hdr.bth.dest_qp = qpn;
		address = first;
		rkey = key;
		uc = is_uc;
	}
	table pairs {
		key = { op.pair: exact; }
		actions = { pair; }
		size = 64; /* SWITCH_PAIRS */
	}

	action begin() {
		hdr.ipv4.setValid();
		hdr.udp.setValid();
		hdr.bth.setValid();
		hdr.icrc.setValid();
		hdr.data.b256.setInvalid();
		hdr.data.b128.setInvalid();
		hdr.data.b64.setInvalid();
		hdr.data.b32.setInvalid();
		hdr.data.b16.setInvalid();
		hdr.data.b8.setInvalid();
		hdr.data.b4.setInvalid();
		hdr.data.b2.setInvalid();
		hdr.data.b1.setInvalid();
		address = 0;
		rkey = 0;
		uc = 0;
	}

	action bth() {
		hdr.bth.opcode = opcode;
		hdr.bth.flags = ROCE_BTH_MIGREQ | (bit<8>)pad << 4;
		hdr.bth.pkey = 0xffff;
		hdr.bth.reserved = 0;
		hdr.bth.ack_req = 0;
		psn.read(hdr.bth.psn, (bit<32>)op.pair);
		psn.write((bit<32>)op.pair, hdr.bth.psn + 1);
	}
	action write() {
		hdr.reth.setValid();
		hdr.reth.address = address + op.offset;
		hdr.reth.rkey = rkey;
		hdr.reth.len = (bit<32>)op.len;
		len = ROCE_RETH_LEN + op.len + pad;
	}
	action write_imm() {
		hdr.imm.setValid();
		hdr.imm.value = op.imm;
		len = len + ROCE_IMM_LEN;
	}
	action fetch_add() {
		hdr.atomic.setValid();
		hdr.atomic.address = address + op.offset;
		hdr.atomic.rkey = rkey;
		hdr.atomic.swap_add = op.add;
		hdr.atomic.compare = 0;
		len = ROCE_ATOMIC_LEN;
	}
	action udp_ip() {
		/* Some entropy for the paths of a fabric, as NICs do. */
		hdr.udp.src_port = 0xc000 | (bit<16>)(hdr.bth.dest_qp & 0x3fff);
		hdr.udp.dst_port = ROCE_PORT;
		hdr.udp.len = NET_UDP_LEN + ROCE_BTH_LEN + len + ROCE_ICRC_LEN;
		hdr.udp.sum = 0;
		hdr.ipv4.plain = NET_IP4_PLAIN;
		hdr.ipv4.tos = 0;
		hdr.ipv4.len = NET_IP4_LEN + hdr.udp.len;
		hdr.ipv4.id = 0;
		hdr.ipv4.fragment = NET_IP4_DF;
		hdr.ipv4.ttl = SWITCH_TTL;
		hdr.ipv4.proto = NET_PROTO_UDP;
	}
	/*
	 * A NAK tells the PSN with which the responder goes on. What was sent
	 * from there on is lost, as there is no room here to keep it (DTA
	 * 5.2.4).
	 */
	action resync() {
		bit<24> next;
		bit<64> n;

		psn.read(next, (bit<32>)op.pair);
		lost.read(n, (bit<32>)op.pair);
		lost.write((bit<32>)op.pair, n + (bit<64>)(next - hdr.bth.psn));
		psn.write((bit<32>)op.pair, hdr.bth.psn);
		mark_to_drop(standard);
	}
	/*
	 * Annex A17.3: eight bytes of ones, and TOS, TTL, both checksums, FECN
	 * and BECN count as ones. First over the headers,
	 */
#define ICRC_FIELDS \
	64w0xffffffffffffffff, hdr.ipv4.plain, 8w0xff, hdr.ipv4.len, \
	hdr.ipv4.id, hdr.ipv4.fragment, 8w0xff, hdr.ipv4.proto, 16w0xffff, \
	hdr.ipv4.src, hdr.ipv4.dst, hdr.udp.src_port, hdr.udp.dst_port, \
	hdr.udp.len, 16w0xffff, hdr.bth.opcode, hdr.bth.flags, hdr.bth.pkey, \
	8w0xff, hdr.bth.dest_qp, hdr.bth.ack_req, hdr.bth.psn
	action icrc_write() {
		hash(sum, HashAlgorithm.crc32, 32w0,
		     { ICRC_FIELDS, hdr.reth.address, hdr.reth.rkey,
		       hdr.reth.len }, 64w0x100000000);
	}
	action icrc_write_imm() {
		hash(sum, HashAlgorithm.crc32, 32w0,
		     { ICRC_FIELDS, hdr.reth.address, hdr.reth.rkey,
		       hdr.reth.len, hdr.imm.value }, 64w0x100000000);
	}
	action icrc_atomic() {
		hash(sum, HashAlgorithm.crc32, 32w0,
		     { ICRC_FIELDS, hdr.atomic.address, hdr.atomic.rkey,
		       hdr.atomic.swap_add, hdr.atomic.compare },
		     64w0x100000000);
	}
	/* then from there on over the data. */
	action icrc_data(bit<16> data_len) {
		data = data ^ crc_begin(~sum, data_len);
		hash(sum, HashAlgorithm.crc32_custom, 32w0, { data },
		     64w0x100000000);
	}

	apply {
		if (op.resync == 1) {
			resync();
			return;
		}
		begin();
		pairs.apply();
		pad = -op.len & 3;
		data = left(op.data, pad);
		if (op.atomic == 1) {
			opcode = ROCE_RC_FETCH_ADD;
			fetch_add();
		} else if (op.immediate == 1) {
			opcode = uc == 1 ? ROCE_UC_WRITE_ONLY_IMM
					 : ROCE_RC_WRITE_ONLY_IMM;
			write();
			write_imm();
		} else {
			opcode = uc == 1 ? ROCE_UC_WRITE_ONLY
					 : ROCE_RC_WRITE_ONLY;
			write();
		}
		bth();
		udp_ip();
		if (op.atomic == 1) {
			icrc_atomic();
		} else {
			put_data.apply(data, op.len + pad, hdr.data);
			if (op.immediate == 1)
				icrc_write_imm();
			else
				icrc_write();
			icrc_data(op.len + pad);
		}
		hdr.icrc.value = sum[7:0] ++ sum[15:8] ++ sum[23:16] ++
				 sum[31:24];
		truncate((bit<32>)(NET_ETH_LEN + hdr.ipv4.len));
	}
}

#endif
