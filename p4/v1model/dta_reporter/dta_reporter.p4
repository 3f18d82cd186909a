/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta_reporter.p4 - a switch that forwards, and reports what it sees: the
 * reporter of DTA section 5.1, for v1model (BMv2).
 *
 * Of each packet of an IPv4 flow (TCP or UDP), in this order, as a mask says:
 *
 *	Key-Write	what the switch knows of the flow (port, TTL, TOS), when
 *			that has changed or is new: change detection
 *	Append		the flow begins (list 0) or ends (list 1): TCP SYN; FIN,
 *			RST
 *	Key-Increment	packets of another flow, when this one takes its place
 *			in the cache of counters
 *	Postcard	this switch's id, of packets that are sampled by a hash
 *			of what does not change on the way
 *
 * The packet goes its way; a clone of it is multicast to as many replicas as
 * there are reports, and egress makes a report of each. tests/tools/reporter.c
 * does the same with a capture. Commands: dta-switch.
 */
#include <core.p4>
#include <v1model.p4>

#include "net.p4"
#include "dta.p4"

const bit<16> SWITCH_REPORT_PORT = 49374; /* UDP source */
const bit<8> SWITCH_TTL = 64;

const bit<4> REPORT_CHANGE = 1; /* bits of a mask */
const bit<4> REPORT_EVENT = 2;
const bit<4> REPORT_COUNT = 4;
const bit<4> REPORT_SAMPLE = 8;

header list_h {
	bit<32> list_no;
}

header value_h {
	bit<32> value;
}

header counter_h {
	bit<64> value;
}

header event_h {
	bit<8> flags;
	bit<16> len;
}

struct headers_t {
	ethernet_h ethernet;
	ipv4_h ipv4;
	udp_h udp;
	tcp_h tcp;
	dta_h dta;
	list_h list_no;
	flow4_h flow;
	value_h value;
	counter_h counter;
	event_h event;
}

struct meta_t {
	/* what the clones need */
	@field_list(1) bit<4> reports;
	@field_list(1) bit<8> flags; /* TCP's */
	@field_list(1) bit<16> port;
	@field_list(1) bit<136> pushed_out; /* flow, packets */
	@field_list(1) bit<16> src_port;
	@field_list(1) bit<16> dst_port;
	bit<1> flow; /* the packet is of one */
}

#include "flows.p4"
#include "forward.p4"

control ReporterIngress(inout headers_t hdr, inout meta_t meta,
			inout standard_metadata_t standard) {
	Forward() forward;
	Changes() changes;
	register<bit<136>>(SWITCH_FLOWS) counted; /* a flow, its packets */
	counter(2, CounterType.packets) nacks;	  /* 0: to us */
	bit<32> row;
	bit<32> tag;
	bit<32> sample;
	bit<1> changed;
	bit<136> row_was;
	bit<104> flow;
	bit<32> packets;
	bit<32> sample_mask;
	bit<4> wanted;
	bit<32> own_ip;

	/* Which reports; one of how many packets is a sample: a power of two,
	 * less one. */
	action watch(bit<4> reports, bit<32> mask, bit<32> ip) {
		wanted = reports;
		sample_mask = mask;
		own_ip = ip;
	}
	table watched {
		actions = { watch; }
		default_action = watch(0, 0, 0);
	}

	/* Copies 0's polynomial, the checksum's and the collector's: three
	 * that are independent (dta(7), HASHING). */
	action hash_flow() {
		hash(row, HashAlgorithm.crc32, 32w0,
		     { hdr.ipv4.src, hdr.ipv4.dst, meta.src_port, meta.dst_port,
		       hdr.ipv4.proto }, (bit<64>)SWITCH_FLOWS);
		hash(tag, HashAlgorithm.crc32_custom, 32w0,
		     { hdr.ipv4.src, hdr.ipv4.dst, meta.src_port, meta.dst_port,
		       hdr.ipv4.proto }, 64w0x100000000);
		hash(sample, HashAlgorithm.crc32_custom, 32w0,
		     { hdr.ipv4.src, hdr.ipv4.dst, meta.src_port, meta.dst_port,
		       hdr.ipv4.proto, hdr.ipv4.id }, 64w0x100000000);
		flow = hdr.ipv4.src ++ hdr.ipv4.dst ++ meta.src_port ++
		       meta.dst_port ++ hdr.ipv4.proto;
	}
	action count_packet() {
		counted.read(row_was, row);
		packets = row_was[135:32] == flow ? row_was[31:0] + 1 : 32w1;
		counted.write(row, flow ++ packets);
		meta.pushed_out = row_was;
	}

	apply {
		watched.apply();
		forward.apply(hdr, standard);
		if (hdr.udp.isValid() && hdr.udp.dst_port == DTA_NACK_PORT &&
		    hdr.ipv4.dst == own_ip) {
			nacks.count(0);
			mark_to_drop(standard);
			return;
		}
		if (meta.flow == 0 || standard.parser_error != error.NoError)
			return;
		meta.port = (bit<16>)standard.ingress_port;
		meta.flags = 0;
		if (hdr.tcp.isValid())
			meta.flags = hdr.tcp.flags;
		hash_flow();
		changes.apply(row, tag,
			      meta.port ++ hdr.ipv4.ttl ++ hdr.ipv4.tos,
			      changed);
		count_packet();
		if (changed == 1)
			meta.reports = meta.reports | REPORT_CHANGE;
		if (meta.flags & (NET_TCP_SYN | NET_TCP_ACK) == NET_TCP_SYN ||
		    meta.flags & (NET_TCP_FIN | NET_TCP_RST) != 0)
			meta.reports = meta.reports | REPORT_EVENT;
		if (row_was[31:0] != 0 && row_was[135:32] != flow)
			meta.reports = meta.reports | REPORT_COUNT;
		if (sample & sample_mask == 0)
			meta.reports = meta.reports | REPORT_SAMPLE;
		meta.reports = meta.reports & wanted;
		/* As many replicas as there are reports: sessions 1 to 4. */
		bit<32> n = (bit<32>)meta.reports[0:0] +
			    (bit<32>)meta.reports[1:1] +
			    (bit<32>)meta.reports[2:2] +
			    (bit<32>)meta.reports[3:3];
		if (n != 0)
			clone_preserving_field_list(CloneType.I2E, n, 1);
	}
}

control ReporterEgress(inout headers_t hdr, inout meta_t meta,
		       inout standard_metadata_t standard) {
	register<bit<16>>(1) sequence; /* of the next report */
	bit<4> left;
	bit<4> report;
	bit<16> list_table;
	bit<16> value_table;
	bit<16> count_table;
	bit<16> card_table;
	bit<32> node;
	bit<4> hop;
	bit<4> path_len;
	bit<1> track;
	bit<48> eth_dst;
	bit<48> eth_src;
	bit<32> ip_src;
	bit<32> ip_dst;
	bit<16> len;

	/* Who reports, to whom, into which tables; and of postcards, what. */
	action config(bit<48> dst_mac, bit<48> src_mac, bit<32> src_ip,
		      bit<32> dst_ip, bit<16> value_id, bit<16> list_id,
		      bit<16> count_id, bit<16> card_id, bit<32> node_id,
		      bit<4> node_hop, bit<4> hops, bit<1> tracked) {
		eth_dst = dst_mac;
		eth_src = src_mac;
		ip_src = src_ip;
		ip_dst = dst_ip;
		value_table = value_id;
		list_table = list_id;
		count_table = count_id;
		card_table = card_id;
		node = node_id;
		hop = node_hop;
		path_len = hops;
		track = tracked;
	}
	table reporter {
		actions = { config; }
		default_action = config(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	}

	action begin() {
		hdr.flow.setValid();
		hdr.flow.src = hdr.ipv4.src;
		hdr.flow.dst = hdr.ipv4.dst;
		hdr.flow.src_port = meta.src_port;
		hdr.flow.dst_port = meta.dst_port;
		hdr.flow.proto = hdr.ipv4.proto;
		hdr.dta.setValid();
		hdr.dta.version = DTA_VERSION_1;
		hdr.dta.immediate = 0;
		hdr.dta.tracked = track;
		hdr.dta.reserved = 0;
		hdr.dta.copies = 0; /* as the table has them */
		hdr.dta.key_len = (bit<8>)KEY_FLOW4_LEN;
		hdr.dta.hop = 0;
		hdr.dta.path_len = 0;
		sequence.read(hdr.dta.sequence, 0);
		sequence.write(0, hdr.dta.sequence + 1);
	}
	action report_change() {
		hdr.dta.opcode = DTA_KEYWRITE;
		hdr.dta.table_id = value_table;
		hdr.value.setValid();
		hdr.value.value = meta.port ++ hdr.ipv4.ttl ++ hdr.ipv4.tos;
		len = KEY_FLOW4_LEN + 4;
	}
	action report_event() {
		hdr.dta.opcode = DTA_APPEND;
		hdr.dta.table_id = list_table;
		hdr.dta.key_len = 4;
		hdr.list_no.setValid();
		hdr.list_no.list_no =
			meta.flags & (NET_TCP_FIN | NET_TCP_RST) != 0 ? 32w1
								      : 32w0;
		hdr.event.setValid();
		hdr.event.flags = meta.flags;
		hdr.event.len = hdr.ipv4.len;
		len = 4 + KEY_FLOW4_LEN + 3;
	}
	action report_count() {
		hdr.dta.opcode = DTA_KEYINC;
		hdr.dta.table_id = count_table;
		hdr.flow.src = meta.pushed_out[135:104];
		hdr.flow.dst = meta.pushed_out[103:72];
		hdr.flow.src_port = meta.pushed_out[71:56];
		hdr.flow.dst_port = meta.pushed_out[55:40];
		hdr.flow.proto = meta.pushed_out[39:32];
		hdr.counter.setValid();
		hdr.counter.value = (bit<64>)meta.pushed_out[31:0];
		len = KEY_FLOW4_LEN + DTA_COUNTER_LEN;
	}
	action report_sample() {
		hdr.dta.opcode = DTA_POSTCARD;
		hdr.dta.table_id = card_table;
		hdr.dta.hop = hop;
		hdr.dta.path_len = path_len;
		hdr.value.setValid();
		hdr.value.value = node;
		len = KEY_FLOW4_LEN + 4;
	}
	action headers() {
		hdr.tcp.setInvalid();
		hdr.ethernet.dst = eth_dst;
		hdr.ethernet.src = eth_src;
		hdr.ethernet.type = NET_ETHERTYPE_IP4;
		hdr.udp.setValid();
		hdr.udp.src_port = SWITCH_REPORT_PORT;
		hdr.udp.dst_port = DTA_PORT;
		hdr.udp.len = NET_UDP_LEN + DTA_HEADER_LEN + len;
		hdr.udp.sum = 0;
		hdr.ipv4.plain = NET_IP4_PLAIN;
		hdr.ipv4.tos = 0;
		hdr.ipv4.len = NET_IP4_LEN + NET_UDP_LEN + DTA_HEADER_LEN + len;
		hdr.ipv4.id = 0;
		hdr.ipv4.fragment = NET_IP4_DF;
		hdr.ipv4.ttl = SWITCH_TTL;
		hdr.ipv4.proto = NET_PROTO_UDP;
		hdr.ipv4.src = ip_src;
		hdr.ipv4.dst = ip_dst;
		truncate((bit<32>)(NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN +
				   DTA_HEADER_LEN + len));
	}

	apply {
		if (standard.instance_type != 0) { /* a clone */
			reporter.apply();
			begin();
			/* The mask without as many of its lowest bits as there
			 * are replicas before this one; and its lowest. */
			left = meta.reports;
			if (standard.egress_rid > 0)
				left = left & (left - 1);
			if (standard.egress_rid > 1)
				left = left & (left - 1);
			if (standard.egress_rid > 2)
				left = left & (left - 1);
			report = left & (~left + 1);
			len = 0;
			if (report == REPORT_CHANGE)
				report_change();
			else if (report == REPORT_EVENT)
				report_event();
			else if (report == REPORT_COUNT)
				report_count();
			else
				report_sample();
			headers();
		}
	}
}

control ReporterChecksums(inout headers_t hdr, inout meta_t meta) {
	apply {
		/* Of what is forwarded, nothing is changed. */
		update_checksum(hdr.dta.isValid(),
				{ hdr.ipv4.plain, hdr.ipv4.tos, hdr.ipv4.len,
				  hdr.ipv4.id, hdr.ipv4.fragment, hdr.ipv4.ttl,
				  hdr.ipv4.proto, hdr.ipv4.src, hdr.ipv4.dst },
				hdr.ipv4.sum, HashAlgorithm.csum16);
	}
}

control ReporterDeparser(packet_out packet, in headers_t hdr) {
	apply {
		packet.emit(hdr.ethernet);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.udp);
		packet.emit(hdr.tcp);
		packet.emit(hdr.dta);
		packet.emit(hdr.list_no);
		packet.emit(hdr.flow);
		packet.emit(hdr.value);
		packet.emit(hdr.counter);
		packet.emit(hdr.event);
	}
}

V1Switch(FlowParser(), NoVerify(), ReporterIngress(), ReporterEgress(),
	 ReporterChecksums(), ReporterDeparser()) main;
