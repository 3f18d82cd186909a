/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metadata.p4 - what a hop says, and how lengths and checksums change with what
 * comes and goes. The including program has headers_t.
 */
#ifndef INT_NODE_METADATA
#define INT_NODE_METADATA

/* Instructions that ask for no more than 2.1 has; those in reserved bits have
 * lengths that are not known. */
const bit<16> SWITCH_BITS = 0xff81;

/* Words of metadata that instructions ask for; 0: some are unknown. */
bit<5> words_of(in bit<16> bitmap) {
	bit<5> words = (bit<5>)bitmap[15:15] + (bit<5>)bitmap[14:14] +
		       (bit<5>)bitmap[13:13] + (bit<5>)bitmap[12:12] +
		       ((bit<5>)bitmap[11:11] << 1) +
		       ((bit<5>)bitmap[10:10] << 1) +
		       ((bit<5>)bitmap[9:9] << 1) + (bit<5>)bitmap[8:8] +
		       (bit<5>)bitmap[7:7] + (bit<5>)bitmap[0:0];

	return bitmap & ~SWITCH_BITS == 0 ? words : 5w0;
}

/* This hop's metadata onto the stack, as the instructions ask for them. all:
 * the same as one number, for the checksum. */
control Metadata(inout headers_t hdr, in bit<32> node, in bit<9> from,
		 in bit<9> to, in bit<48> ingress_us,
		 in standard_metadata_t standard, out bit<384> all) {
	/* What was said last, for those who want to compare: latency, queue. */
	register<bit<32>>(2) last;
	bit<48> us;

	apply {
		all = 0;
		if (hdr.md.bitmap[15:15] == 1) {
			hdr.node.setValid();
			hdr.node.v = node;
			all = all[351:0] ++ hdr.node.v;
		}
		if (hdr.md.bitmap[14:14] == 1) {
			hdr.ports.setValid();
			hdr.ports.v = 7w0 ++ from ++ 7w0 ++ to;
			all = all[351:0] ++ hdr.ports.v;
		}
		if (hdr.md.bitmap[13:13] == 1) {
			us = standard.egress_global_timestamp - ingress_us;
			hdr.latency.setValid();
			hdr.latency.v = (bit<32>)(us * 1000);
			last.write(0, hdr.latency.v);
			all = all[351:0] ++ hdr.latency.v;
		}
		if (hdr.md.bitmap[12:12] == 1) {
			hdr.queue.setValid();
			hdr.queue.v = 13w0 ++ standard.deq_qdepth;
			last.write(1, hdr.queue.v);
			all = all[351:0] ++ hdr.queue.v;
		}
		if (hdr.md.bitmap[11:11] == 1) {
			hdr.ingress_time.setValid();
			hdr.ingress_time.v = (bit<64>)ingress_us * 1000;
			all = all[319:0] ++ hdr.ingress_time.v;
		}
		if (hdr.md.bitmap[10:10] == 1) {
			hdr.egress_time.setValid();
			us = standard.egress_global_timestamp;
			hdr.egress_time.v = (bit<64>)us * 1000;
			all = all[319:0] ++ hdr.egress_time.v;
		}
		/* All ones: this switch has no such thing (INT 2.1, 5.8). They
		 * do not change a sum. */
		if (hdr.md.bitmap[9:9] == 1) {
			hdr.ports2.setValid();
			hdr.ports2.v = 0xffffffffffffffff;
		}
		if (hdr.md.bitmap[8:8] == 1) {
			hdr.utilization.setValid();
			hdr.utilization.v = 0xffffffff;
		}
		if (hdr.md.bitmap[7:7] == 1) {
			hdr.buffer.setValid();
			hdr.buffer.v = 0xffffffff;
		}
		/* Who changes the L4 checksum says so by ones. */
		if (hdr.md.bitmap & INT_COMPLEMENT != 0) {
			hdr.complement.setValid();
			hdr.complement.v = 0xffffffff;
		}
	}
}

/*
 * INT into and out of a packet: lengths and checksums. RFC 1624, eqn. 3: a
 * new checksum is the complement of the sum of the old one's complement, of
 * what comes, and of the complement of what goes.
 */
#define SHIM_AND_HEADER \
	hdr.shim.type, hdr.shim.npt, hdr.shim.reserved, hdr.shim.words, \
	hdr.shim.reserved2, hdr.shim.dscp, hdr.shim.reserved3, \
	hdr.md.version, hdr.md.discard, hdr.md.exceeded, hdr.md.mtu, \
	hdr.md.reserved, hdr.md.hop_words, hdr.md.remaining, hdr.md.bitmap, \
	hdr.md.domain, hdr.md.domain_bits, hdr.md.domain_flags

control Change(inout headers_t hdr, in bit<16> added, in bit<16> removed,
	       in bit<16> sum) {
	bit<16> was;
	bit<16> now;
	bit<16> len;
	bit<16> udp_len;
	bit<16> len_was;

	/* sum: of all words that come, and the complements of those that go; of
	 * lengths, the pseudo header has one, and UDP's another. */
	action change() {
		len_was = hdr.ipv4.len;
		hdr.ipv4.len = hdr.ipv4.len + added - removed;
		hash(hdr.ipv4.sum, HashAlgorithm.csum16, 16w0,
		     { ~hdr.ipv4.sum, ~len_was, hdr.ipv4.len }, 32w0x10000);
		hash(now, HashAlgorithm.csum16, 16w0,
		     { ~was, sum, len, udp_len }, 32w0x10000);
	}

	apply {
		len = removed != 0 ? ~removed : added;
		udp_len = 0;
		was = 0;
		if (hdr.udp.isValid()) {
			udp_len = len;
			was = hdr.udp.sum;
			hdr.udp.len = hdr.udp.len + added - removed;
		} else if (hdr.tcp.isValid()) {
			was = hdr.tcp.sum;
		}
		change();
		if (hdr.tcp.isValid())
			hdr.tcp.sum = now;
		else if (hdr.udp.isValid() && was != 0)
			hdr.udp.sum = now == 0 ? 16w0xffff : now;
	}
}

#endif
