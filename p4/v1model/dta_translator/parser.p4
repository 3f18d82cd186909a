/* SPDX-License-Identifier: BSD-2-Clause */
/* parser.p4 - DTA reports, answers of the collector, flushes. */
#ifndef DTA_TRANSLATOR_PARSER
#define DTA_TRANSLATOR_PARSER

#include "headers.p4"

parser TranslatorParser(packet_in packet, out headers_t hdr, inout meta_t meta,
			inout standard_metadata_t standard) {
	state start {
		packet.extract(hdr.ethernet);
		transition select(hdr.ethernet.type) {
			NET_ETHERTYPE_IP4: ipv4;
			SWITCH_ETHERTYPE_FLUSH: flush;
			default: accept;
		}
	}
	state flush {
		packet.extract(hdr.flush);
		meta.table_id = hdr.flush.table_id;
		transition accept;
	}
	state ipv4 {
		packet.extract(hdr.ipv4);
		transition select(hdr.ipv4.plain,
				  hdr.ipv4.fragment & NET_IP4_FRAGMENT,
				  hdr.ipv4.proto) {
			(NET_IP4_PLAIN, 0, NET_PROTO_UDP): udp;
			default: accept;
		}
	}
	state udp {
		packet.extract(hdr.udp);
		transition select(hdr.udp.dst_port) {
			DTA_PORT: dta;
			ROCE_PORT: answer;
			default: accept;
		}
	}
	state dta {
		meta.report = 1; /* be it cut short */
		packet.extract(hdr.dta);
		meta.table_id = hdr.dta.table_id;
		meta.reason = hdr.dta.hop ++ hdr.dta.path_len;
		meta.key_len = (bit<16>)hdr.dta.key_len;
		meta.data_len = hdr.udp.len - NET_UDP_LEN - DTA_HEADER_LEN -
				meta.key_len;
		transition select(hdr.udp.len >= NET_UDP_LEN + DTA_HEADER_LEN +
						 meta.key_len &&
				  meta.key_len <= KEY_MAX &&
				  meta.data_len <= 256) {
			true: key_64;
			default: malformed;
		}
	}
	state malformed {
		meta.malformed = 1;
		transition accept;
	}
	PARSE_BYTES64(key, hdr.key, hdr.dta.key_len, data_256)
	PARSE_BYTES(data, hdr.data, meta.data_len, accept)

	state answer {
		packet.extract(hdr.bth);
		transition select(hdr.bth.opcode) {
			ROCE_RC_ACK: aeth;
			default: accept;
		}
	}
	state aeth {
		packet.extract(hdr.aeth);
		transition accept;
	}
}

control VerifyChecksums(inout headers_t hdr, inout meta_t meta) {
	apply {
		verify_checksum(hdr.ipv4.isValid(),
				{ hdr.ipv4.plain, hdr.ipv4.tos, hdr.ipv4.len,
				  hdr.ipv4.id, hdr.ipv4.fragment, hdr.ipv4.ttl,
				  hdr.ipv4.proto, hdr.ipv4.src, hdr.ipv4.dst },
				hdr.ipv4.sum, HashAlgorithm.csum16);
		/* RFC 768; 0 is none. BMv2 leaves out fields of headers that
		 * are not valid. */
		verify_checksum(hdr.dta.isValid() && hdr.udp.sum != 0,
				{ hdr.ipv4.src, hdr.ipv4.dst, 8w0,
				  hdr.ipv4.proto, hdr.udp.len, hdr.udp.src_port,
				  hdr.udp.dst_port, hdr.udp.len,
				  hdr.dta.version,
				  hdr.dta.opcode, hdr.dta.immediate,
				  hdr.dta.tracked, hdr.dta.reserved,
				  hdr.dta.copies, hdr.dta.key_len, hdr.dta.hop,
				  hdr.dta.path_len, hdr.dta.table_id,
				  hdr.dta.sequence, hdr.key.b64.v,
				  hdr.key.b32.v,
				  hdr.key.b16.v, hdr.key.b8.v, hdr.key.b4.v,
				  hdr.key.b2.v, hdr.key.b1.v, hdr.data.b256.v,
				  hdr.data.b128.v, hdr.data.b64.v,
				  hdr.data.b32.v, hdr.data.b16.v, hdr.data.b8.v,
				  hdr.data.b4.v, hdr.data.b2.v, hdr.data.b1.v },
				hdr.udp.sum, HashAlgorithm.csum16);
	}
}

control ComputeChecksums(inout headers_t hdr, inout meta_t meta) {
	apply {
		update_checksum(hdr.ipv4.isValid(),
				{ hdr.ipv4.plain, hdr.ipv4.tos, hdr.ipv4.len,
				  hdr.ipv4.id, hdr.ipv4.fragment, hdr.ipv4.ttl,
				  hdr.ipv4.proto, hdr.ipv4.src, hdr.ipv4.dst },
				hdr.ipv4.sum, HashAlgorithm.csum16);
	}
}

/* A packet has a report or an operation, and both are in their order. */
control TranslatorDeparser(packet_out packet, in headers_t hdr) {
	apply {
		packet.emit(hdr.ethernet);
		packet.emit(hdr.flush);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.udp);
		packet.emit(hdr.dta);
		packet.emit(hdr.bth);
		packet.emit(hdr.reth);
		packet.emit(hdr.atomic);
		packet.emit(hdr.aeth);
		packet.emit(hdr.imm);
		packet.emit(hdr.key);
		packet.emit(hdr.data);
		packet.emit(hdr.icrc);
	}
}

#endif
