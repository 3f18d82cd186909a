/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta_reporter.p4 - a switch that forwards, and reports what it sees: the
 * reporter of DTA section 5.1, for Tofino (TNA). Its reports are those of
 * v1model/dta_reporter, where they are told.
 *
 * The packet goes its way. A mirror of it goes to as many replicas as there are
 * reports (session n leads to multicast group n), and egress makes a report of
 * each: the headers are those of the packet, and what else it takes is in front
 * of it. Sessions cut packets behind a TCP header. Commands: dta-collect -o
 * tofino-reporter.
 */
#include <core.p4>
#include <tna.p4>

#include "net.p4"
#include "dta.p4"
#include "sums.p4"

const bit<16> SWITCH_REPORT_PORT = 49374; /* UDP source */
const bit<8> SWITCH_TTL = 64;
const bit<3> SWITCH_MIRROR = 1;
const bit<8> SWITCH_PASS = 0; /* first byte that egress sees */
const bit<8> SWITCH_REPORT = 1;

/* In front of a packet that is forwarded. */
header bridge_h {
	bit<8> what;
}

/* In front of one that becomes reports. */
header mirror_h {
	bit<8> what;
	bit<4> reserved;
	bit<1> change; /* which reports */
	bit<1> event;
	bit<1> count;
	bit<1> sample;
	bit<16> port;
	bit<32> src; /* the flow that is counted no more, and its packets */
	bit<32> dst;
	bit<32> ports;
	bit<8> proto;
	bit<32> packets;
}

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

struct ingress_headers_t {
	bridge_h bridge;
	ethernet_h ethernet;
	ipv4_h ipv4;
	udp_h udp;
	tcp_h tcp;
}

struct ingress_meta_t {
	bit<16> src_port;
	bit<16> dst_port;
	bit<1> flow; /* the packet is of one */
	bit<16> port;
	bit<32> ports;
	bit<32> row;
	bit<32> tag;
	bit<32> value;
	bit<32> sample_hash;
	bit<32> sample_mask;
	bit<8> changed;
	/* reports that are wanted, and those to be made */
	bit<1> want_change;
	bit<1> want_event;
	bit<1> want_count;
	bit<1> want_sample;
	bit<1> change;
	bit<1> event;
	bit<1> count;
	bit<1> sample;
	/* what was in the row of the flow's counter */
	bit<32> old_src;
	bit<32> old_dst;
	bit<32> old_ports;
	bit<8> old_proto;
	bit<32> src_differs;
	bit<32> dst_differs;
	bit<32> ports_differ;
	bit<8> proto_differs;
	bit<1> same;
	bit<32> packets;
	MirrorId_t session; /* of the mirror, which begins with */
	bit<8> what;
	bit<4> reserved;
}

struct egress_headers_t {
	mirror_h mirror;
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

struct egress_meta_t {
	bit<16> src_port;
	bit<16> dst_port;
	bit<8> flags; /* TCP's */
	bit<16> len;  /* of the packet */
	bit<16> value_table;
	bit<16> list_table;
	bit<16> count_table;
	bit<16> card_table;
	bit<32> node;
	bit<4> hop;
	bit<4> path_len;
}

#include "flows.p4"
#include "forward.p4"
#include "row_field.p4"

@noWarn("uninitialized_out_param")
parser ReporterIngressParser(packet_in packet, out ingress_headers_t hdr,
			     out ingress_meta_t meta,
			     out ingress_intrinsic_metadata_t ingress) {
	state start {
		packet.extract(ingress);
		packet.advance(PORT_METADATA_SIZE);
		meta.src_port = 0;
		meta.dst_port = 0;
		meta.flow = 0;
		transition frame;
	}
	FLOW_STATES(accept)
}

control ReporterIngress(inout ingress_headers_t hdr, inout ingress_meta_t meta,
			in ingress_intrinsic_metadata_t ingress,
			in ingress_intrinsic_metadata_from_parser_t parsed,
			inout ingress_intrinsic_metadata_for_deparser_t
				deparser,
			inout ingress_intrinsic_metadata_for_tm_t tm) {
	Forward() forward;
	Changes() changes;
	Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS) nacks; /* 0: to us */
	KEY_HASH(of_row, CRC_SLOT0);
	KEY_HASH(of_tag, CRC_CHECKSUM);
	KEY_HASH(of_sample, CRC_COLLECTOR);
	/* A flow, and its packets. */
	ROW_FIELD(src, 32, hdr.ipv4.src, meta.old_src, meta.row[11:0],
		  flow_row_t, SWITCH_FLOWS)
	ROW_FIELD(dst, 32, hdr.ipv4.dst, meta.old_dst, meta.row[11:0],
		  flow_row_t, SWITCH_FLOWS)
	ROW_FIELD(ports, 32, meta.ports, meta.old_ports, meta.row[11:0],
		  flow_row_t, SWITCH_FLOWS)
	ROW_FIELD(proto, 8, hdr.ipv4.proto, meta.old_proto, meta.row[11:0],
		  flow_row_t, SWITCH_FLOWS)
	Register<bit<32>, flow_row_t>(SWITCH_FLOWS) counted;
	RegisterAction<bit<32>, flow_row_t, bit<32>>(counted) one_more = {
		void apply(inout bit<32> n, out bit<32> was) {
			was = 0;
			n = n + 1;
		}
	};
	RegisterAction<bit<32>, flow_row_t, bit<32>>(counted) first_one = {
		void apply(inout bit<32> n, out bit<32> was) {
			was = n;
			n = 1;
		}
	};

	/* Which reports; one of how many packets is a sample: a power of two,
	 * less one. */
	action watch(bit<1> change, bit<1> event, bit<1> count, bit<1> sample,
		     bit<32> mask) {
		meta.want_change = change;
		meta.want_event = event;
		meta.want_count = count;
		meta.want_sample = sample;
		meta.sample_mask = mask;
	}
	table watched {
		actions = { watch; }
		default_action = watch(0, 0, 0, 0, 0);
		size = 1;
	}
	/* NACKs to the reporter's address. */
	action nacked() {
		nacks.count(0);
		deparser.drop_ctl = 1;
		meta.flow = 0;
	}
	table to_us {
		key = {
			hdr.ipv4.dst: exact;
			hdr.udp.dst_port: exact;
		}
		actions = { nacked; NoAction; }
		const default_action = NoAction();
		size = 4;
	}

	action begin() {
		hdr.bridge.setValid();
		hdr.bridge.what = SWITCH_PASS;
		meta.changed = 0;
		meta.change = 0;
		meta.event = 0;
		meta.count = 0;
		meta.sample = 0;
		meta.same = 0;
	}
	/* Copies 0's polynomial, the checksum's and the collector's: three that
	 * are independent (dta(7), HASHING). */
	action hash_row() {
		meta.row = of_row.get({ FLOW_FIELDS });
	}
	action hash_tag() {
		meta.tag = of_tag.get({ FLOW_FIELDS });
	}
	action hash_sample() {
		meta.sample_hash = of_sample.get({ FLOW_FIELDS, hdr.ipv4.id });
	}
	action see() {
		meta.port = (bit<16>)ingress.ingress_port;
		meta.value = 7w0 ++ ingress.ingress_port ++ hdr.ipv4.ttl ++
			     hdr.ipv4.tos;
		meta.ports = meta.src_port ++ meta.dst_port;
	}
	action mask_sample() {
		meta.sample_hash = meta.sample_hash & meta.sample_mask;
	}
	action differ() {
		meta.src_differs = meta.old_src ^ hdr.ipv4.src;
		meta.dst_differs = meta.old_dst ^ hdr.ipv4.dst;
		meta.ports_differ = meta.old_ports ^ meta.ports;
		meta.proto_differs = meta.old_proto ^ hdr.ipv4.proto;
	}
	action is_same() {
		meta.same = 1;
	}
	table same_flow {
		key = {
			meta.src_differs: exact;
			meta.dst_differs: exact;
			meta.ports_differ: exact;
			meta.proto_differs: exact;
		}
		actions = { is_same; NoAction; }
		const default_action = NoAction();
		const entries = {
			(0, 0, 0, 0): is_same();
		}
		size = 1;
	}
	action count_on() {
		meta.packets = one_more.execute(meta.row[11:0]);
	}
	action count_anew() {
		meta.packets = first_one.execute(meta.row[11:0]);
	}
	table counts {
		key = { meta.same: exact; }
		actions = { count_on; count_anew; NoAction; }
		const default_action = NoAction();
		const entries = {
			0: count_anew();
			1: count_on();
		}
		size = 2;
	}
	action report_event() {
		meta.event = meta.want_event;
	}
	table events {
		key = { hdr.tcp.flags: ternary; }
		actions = { report_event; NoAction; }
		const default_action = NoAction();
		const entries = {
			NET_TCP_SYN &&& NET_TCP_SYN | NET_TCP_ACK:
				report_event();
			NET_TCP_FIN &&& NET_TCP_FIN: report_event();
			NET_TCP_RST &&& NET_TCP_RST: report_event();
		}
		size = 4;
	}
	action report_change() {
		meta.change = meta.want_change;
	}
	action report_count() {
		meta.count = meta.want_count;
	}
	action report_sample() {
		meta.sample = meta.want_sample;
	}
	action mirror(MirrorId_t replicas) {
		meta.session = replicas;
		meta.what = SWITCH_REPORT;
		meta.reserved = 0;
		deparser.mirror_type = SWITCH_MIRROR;
	}
	table mirrors {
		key = {
			meta.change: exact;
			meta.event: exact;
			meta.count: exact;
			meta.sample: exact;
		}
		actions = { mirror; NoAction; }
		const default_action = NoAction();
		const entries = {
			(1, 0, 0, 0): mirror(1);
			(0, 1, 0, 0): mirror(1);
			(1, 1, 0, 0): mirror(2);
			(0, 0, 1, 0): mirror(1);
			(1, 0, 1, 0): mirror(2);
			(0, 1, 1, 0): mirror(2);
			(1, 1, 1, 0): mirror(3);
			(0, 0, 0, 1): mirror(1);
			(1, 0, 0, 1): mirror(2);
			(0, 1, 0, 1): mirror(2);
			(1, 1, 0, 1): mirror(3);
			(0, 0, 1, 1): mirror(2);
			(1, 0, 1, 1): mirror(3);
			(0, 1, 1, 1): mirror(3);
			(1, 1, 1, 1): mirror(4);
		}
		size = 16;
	}

	apply {
		begin();
		watched.apply();
		forward.apply(hdr, ingress, deparser, tm);
		if (hdr.udp.isValid())
			to_us.apply();
		if (meta.flow == 1 && parsed.parser_err == 0) {
			hash_row();
			hash_tag();
			hash_sample();
			see();
			changes.apply(meta.row, meta.tag, meta.value,
				      meta.changed);
			swap_row_src();
			swap_row_dst();
			swap_row_ports();
			swap_row_proto();
			differ();
			same_flow.apply();
			counts.apply();
			mask_sample();
			if (hdr.tcp.isValid())
				events.apply();
			if (meta.changed == 1)
				report_change();
			if (meta.packets != 0)
				report_count();
			if (meta.sample_hash == 0)
				report_sample();
			mirrors.apply();
		}
	}
}

control ReporterIngressDeparser(packet_out packet,
				inout ingress_headers_t hdr,
				in ingress_meta_t meta,
				in ingress_intrinsic_metadata_for_deparser_t
					deparser) {
	Mirror() mirror;

	apply {
		if (deparser.mirror_type == SWITCH_MIRROR)
			mirror.emit<mirror_h>(meta.session,
					      { meta.what, meta.reserved,
						meta.change,
						meta.event, meta.count,
						meta.sample, meta.port,
						meta.old_src, meta.old_dst,
						meta.old_ports, meta.old_proto,
						meta.packets });
		packet.emit(hdr);
	}
}

@noWarn("uninitialized_out_param")
parser ReporterEgressParser(packet_in packet, out egress_headers_t hdr,
			    out egress_meta_t meta,
			    out egress_intrinsic_metadata_t egress) {
	state start {
		packet.extract(egress);
		transition select(packet.lookahead<bit<8>>()) {
			SWITCH_REPORT: mirrored;
			default: forwarded;
		}
	}
	state forwarded {
		packet.advance(8);
		transition accept;
	}
	state mirrored {
		packet.extract(hdr.mirror);
		packet.extract(hdr.ethernet);
		packet.extract(hdr.ipv4);
		transition select(hdr.ipv4.proto) {
			NET_PROTO_TCP: tcp;
			default: udp;
		}
	}
	state tcp {
		packet.extract(hdr.tcp);
		meta.src_port = hdr.tcp.src_port;
		meta.dst_port = hdr.tcp.dst_port;
		meta.flags = hdr.tcp.flags;
		transition accept;
	}
	/* The rest up to a TCP header's end: frames are that long. */
	state udp {
		packet.extract(hdr.udp);
		packet.advance(8 * (bit<32>)(NET_TCP_LEN - NET_UDP_LEN));
		meta.src_port = hdr.udp.src_port;
		meta.dst_port = hdr.udp.dst_port;
		meta.flags = 0;
		transition accept;
	}
}

control ReporterEgress(inout egress_headers_t hdr, inout egress_meta_t meta,
		       in egress_intrinsic_metadata_t egress,
		       in egress_intrinsic_metadata_from_parser_t parsed,
		       inout egress_intrinsic_metadata_for_deparser_t deparser,
		       inout egress_intrinsic_metadata_for_output_port_t
			       output) {
	Register<bit<16>, bit<1>>(1) sequence; /* of the next report */
	RegisterAction<bit<16>, bit<1>, bit<16>>(sequence) next = {
		void apply(inout bit<16> n, out bit<16> now) {
			now = n;
			n = n + 1;
		}
	};

	/* Who reports, to whom, into which tables; and of postcards, what. */
	action config(bit<48> dst_mac, bit<48> src_mac, bit<32> src_ip,
		      bit<32> dst_ip, bit<16> value_id, bit<16> list_id,
		      bit<16> count_id, bit<16> card_id, bit<32> node_id,
		      bit<4> node_hop, bit<4> hops, bit<1> tracked) {
		hdr.dta.tracked = tracked;
		hdr.ethernet.dst = dst_mac;
		hdr.ethernet.src = src_mac;
		hdr.ipv4.src = src_ip;
		hdr.ipv4.dst = dst_ip;
		meta.value_table = value_id;
		meta.list_table = list_id;
		meta.count_table = count_id;
		meta.card_table = card_id;
		meta.node = node_id;
		meta.hop = node_hop;
		meta.path_len = hops;
	}
	table reporter {
		actions = { config; }
		default_action = config(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		size = 1;
	}

	action begin() {
		hdr.flow.setValid();
		hdr.flow.src = hdr.ipv4.src;
		hdr.flow.dst = hdr.ipv4.dst;
		hdr.flow.src_port = meta.src_port;
		hdr.flow.dst_port = meta.dst_port;
		hdr.flow.proto = hdr.ipv4.proto;
		hdr.value.value = hdr.mirror.port ++ hdr.ipv4.ttl ++
				  hdr.ipv4.tos;
		meta.len = hdr.ipv4.len;
		hdr.dta.setValid();
		hdr.dta.version = DTA_VERSION_1;
		hdr.dta.immediate = 0;
		hdr.dta.reserved = 0;
		hdr.dta.copies = 0; /* as the table has them */
		hdr.dta.key_len = (bit<8>)KEY_FLOW4_LEN;
		hdr.dta.hop = 0;
		hdr.dta.path_len = 0;
	}
	action number() {
		hdr.dta.sequence = next.execute(0);
	}
	action lengths(bit<16> len) {
		hdr.udp.len = NET_UDP_LEN + DTA_HEADER_LEN + len;
		hdr.ipv4.len = NET_IP4_LEN + NET_UDP_LEN + DTA_HEADER_LEN + len;
	}
	action report_change() {
		hdr.dta.opcode = DTA_KEYWRITE;
		hdr.dta.table_id = meta.value_table;
		hdr.value.setValid();
		lengths(KEY_FLOW4_LEN + 4);
	}
	action report_event() {
		hdr.dta.opcode = DTA_APPEND;
		hdr.dta.table_id = meta.list_table;
		hdr.dta.key_len = 4;
		hdr.list_no.setValid();
		hdr.list_no.list_no = 0;
		hdr.event.setValid();
		hdr.event.flags = meta.flags;
		hdr.event.len = meta.len;
		lengths(4 + KEY_FLOW4_LEN + 3);
	}
	action report_count() {
		hdr.dta.opcode = DTA_KEYINC;
		hdr.dta.table_id = meta.count_table;
		hdr.flow.src = hdr.mirror.src;
		hdr.flow.dst = hdr.mirror.dst;
		hdr.flow.src_port = hdr.mirror.ports[31:16];
		hdr.flow.dst_port = hdr.mirror.ports[15:0];
		hdr.flow.proto = hdr.mirror.proto;
		hdr.counter.setValid();
		hdr.counter.value = 32w0 ++ hdr.mirror.packets;
		lengths(KEY_FLOW4_LEN + DTA_COUNTER_LEN);
	}
	action report_sample() {
		hdr.dta.opcode = DTA_POSTCARD;
		hdr.dta.table_id = meta.card_table;
		hdr.dta.hop = meta.hop;
		hdr.dta.path_len = meta.path_len;
		hdr.value.setValid();
		hdr.value.value = meta.node;
		lengths(KEY_FLOW4_LEN + 4);
	}
	/* The replica's number among the reports that are to be made. */
	table roles {
		key = {
			hdr.mirror.change: exact;
			hdr.mirror.event: exact;
			hdr.mirror.count: exact;
			hdr.mirror.sample: exact;
			egress.egress_rid[1:0]: exact;
		}
		actions = {
			report_change;
			report_event;
			report_count;
			report_sample;
		}
		const default_action = report_sample();
		const entries = {
			(1, 0, 0, 0, 0): report_change();
			(0, 1, 0, 0, 0): report_event();
			(1, 1, 0, 0, 0): report_change();
			(1, 1, 0, 0, 1): report_event();
			(0, 0, 1, 0, 0): report_count();
			(1, 0, 1, 0, 0): report_change();
			(1, 0, 1, 0, 1): report_count();
			(0, 1, 1, 0, 0): report_event();
			(0, 1, 1, 0, 1): report_count();
			(1, 1, 1, 0, 0): report_change();
			(1, 1, 1, 0, 1): report_event();
			(1, 1, 1, 0, 2): report_count();
			(0, 0, 0, 1, 0): report_sample();
			(1, 0, 0, 1, 0): report_change();
			(1, 0, 0, 1, 1): report_sample();
			(0, 1, 0, 1, 0): report_event();
			(0, 1, 0, 1, 1): report_sample();
			(1, 1, 0, 1, 0): report_change();
			(1, 1, 0, 1, 1): report_event();
			(1, 1, 0, 1, 2): report_sample();
			(0, 0, 1, 1, 0): report_count();
			(0, 0, 1, 1, 1): report_sample();
			(1, 0, 1, 1, 0): report_change();
			(1, 0, 1, 1, 1): report_count();
			(1, 0, 1, 1, 2): report_sample();
			(0, 1, 1, 1, 0): report_event();
			(0, 1, 1, 1, 1): report_count();
			(0, 1, 1, 1, 2): report_sample();
			(1, 1, 1, 1, 0): report_change();
			(1, 1, 1, 1, 1): report_event();
			(1, 1, 1, 1, 2): report_count();
			(1, 1, 1, 1, 3): report_sample();
		}
		size = 32;
	}
	action end_of_flow() {
		hdr.list_no.list_no = 1;
	}
	table ends {
		key = { meta.flags: ternary; }
		actions = { end_of_flow; NoAction; }
		const default_action = NoAction();
		const entries = {
			NET_TCP_FIN &&& NET_TCP_FIN: end_of_flow();
			NET_TCP_RST &&& NET_TCP_RST: end_of_flow();
		}
		size = 2;
	}
	action headers() {
		hdr.tcp.setInvalid();
		hdr.ethernet.type = NET_ETHERTYPE_IP4;
		hdr.udp.setValid();
		hdr.udp.src_port = SWITCH_REPORT_PORT;
		hdr.udp.dst_port = DTA_PORT;
		hdr.udp.sum = 0;
		hdr.ipv4.plain = NET_IP4_PLAIN;
		hdr.ipv4.tos = 0;
		hdr.ipv4.id = 0;
		hdr.ipv4.fragment = NET_IP4_DF;
		hdr.ipv4.ttl = SWITCH_TTL;
		hdr.ipv4.proto = NET_PROTO_UDP;
	}

	apply {
		if (hdr.mirror.isValid()) {
			begin();
			number();
			reporter.apply();
			roles.apply();
			ends.apply();
			headers();
		}
	}
}

control ReporterEgressDeparser(packet_out packet, inout egress_headers_t hdr,
			       in egress_meta_t meta,
			       in egress_intrinsic_metadata_for_deparser_t
				       deparser) {
	Checksum() ip_sum;

	apply {
		/* Of what is forwarded, nothing is changed. */
		if (hdr.dta.isValid())
			hdr.ipv4.sum = ip_sum.update({ IP4_FIELDS(hdr.ipv4) });
		packet.emit(hdr.ethernet);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.udp);
		packet.emit(hdr.dta);
		packet.emit(hdr.list_no);
		packet.emit(hdr.flow);
		packet.emit(hdr.value);
		packet.emit(hdr.counter);
		packet.emit(hdr.event);
	}
}

Pipeline(ReporterIngressParser(), ReporterIngress(), ReporterIngressDeparser(),
	 ReporterEgressParser(), ReporterEgress(), ReporterEgressDeparser())
	pipe;
Switch(pipe) main;
