/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_label.p4 - INT-label for v1model (BMv2): each port labels
 * some of the packets that leave by it, as its registers say; the last switch
 * gives packets back as they were and sends their labels to the controller.
 *
 * Base A (algorithm 1), Base B (algorithm 2: `label_f` has f as chances), Pro
 * (the controller moves the register label_s), specific flows (section 3.3).
 * lib/label does the same in C; int-label-ctl writes the commands for
 * label_s and label_flow, p4/README.md the others.
 */
#include <core.p4>
#include <v1model.p4>

#include "net.p4"
#include "bytes.p4"
#include "label.p4"

const bit<32> SWITCH_PORTS = 512;
const bit<32> SWITCH_FLOWS = 1024;
const bit<8> SWITCH_ITEMS = 8; /* that a packet may have here */
const bit<8> SWITCH_TTL = 64;
const bit<16> SWITCH_EXPORT_REST = 8; /* bytes behind the labels: ports */

struct headers_t {
	/* of what is told */
	ethernet_h out_ethernet;
	ipv4_h out_ipv4;
	udp_h out_udp;

	ethernet_h ethernet;
	ipv4_h ipv4;
	label_option_h option;
	label_item_h item; /* this switch's */
	bytes_t items;	   /* those before */
}

struct meta_t {
	/* what the controller's copy needs */
	@field_list(1) bit<256> own;
	@field_list(1) bit<2048> before;
	@field_list(1) bit<16> before_len;
	@field_list(1) bit<1> has_own;
	@field_list(1) bit<8> count; /* of labels */
	@field_list(1) bit<8> int_num;
	bit<16> items_len;
	bit<1> fits; /* IPv4 that may carry labels */
	bit<1> labelled;
	bit<16> src_port;
	bit<16> dst_port;
	bit<1> from_edge;
	bit<1> to_edge;
	bit<1> marked; /* a specific flow's packet is due, */
	bit<1> specific; /* or it is one that was marked before */
}

parser LabelParser(packet_in packet, out headers_t hdr, inout meta_t meta,
		   inout standard_metadata_t standard) {
	state start {
		packet.extract(hdr.ethernet);
		transition select(hdr.ethernet.type) {
			NET_ETHERTYPE_IP4: ipv4;
			default: accept;
		}
	}
	/* Fragments carry no labels; a checksum of 0xffff would come back as 0
	 * (RFC 1624, section 4). */
	state ipv4 {
		packet.extract(hdr.ipv4);
		transition select(hdr.ipv4.plain,
				  hdr.ipv4.fragment & NET_IP4_FRAGMENT,
				  hdr.ipv4.sum, hdr.ipv4.proto) {
			(_, _, 0xffff, _): accept;
			(NET_IP4_PLAIN, 0, _, LABEL_PROTOCOL): option;
			(NET_IP4_PLAIN, 0, _, NET_PROTO_TCP): ports;
			(NET_IP4_PLAIN, 0, _, NET_PROTO_UDP): ports;
			(NET_IP4_PLAIN, 0, _, _): whole;
			default: accept;
		}
	}
	state ports {
		bit<32> both = packet.lookahead<bit<32>>();
		meta.src_port = both[31:16];
		meta.dst_port = both[15:0];
		transition whole;
	}
	state option {
		packet.extract(hdr.option);
		meta.labelled = 1;
		meta.count = hdr.option.count;
		transition select(hdr.option.count > LABEL_MAX_HOP) {
			true: specific;
			default: items;
		}
	}
	state specific {
		meta.specific = 1;
		meta.count = hdr.option.count - LABEL_MAX_HOP;
		transition items;
	}
	state items {
		meta.items_len = (bit<16>)meta.count << 5;
		transition select(meta.count <= SWITCH_ITEMS) {
			true: stack_256;
			default: accept; /* on as it is */
		}
	}
	PARSE_BYTES(stack, hdr.items, meta.items_len, whole)
	state whole {
		meta.fits = 1;
		transition accept;
	}
}

#include "forward.p4"

#define IP4_FIELDS(ip) \
	{ ip.plain, ip.tos, ip.len, ip.id, ip.fragment, ip.ttl, ip.proto, \
	  ip.src, ip.dst }

/* A packet with a wrong one gets no label, as nobody would believe it. */
control LabelVerify(inout headers_t hdr, inout meta_t meta) {
	apply {
		verify_checksum(meta.fits == 1, IP4_FIELDS(hdr.ipv4),
				hdr.ipv4.sum, HashAlgorithm.csum16);
	}
}

control LabelIngress(inout headers_t hdr, inout meta_t meta,
		     inout standard_metadata_t standard) {
	counter(2, CounterType.packets) forged; /* 0: dropped */
	Forward() forward;
	register<bit<48>>(SWITCH_FLOWS) marks; /* when a flow was marked */
	bit<32> row;
	bit<48> last;
	bit<48> period;

	/* A port with a host behind it. */
	action edge_in() {
		meta.from_edge = 1;
	}
	table edges_in {
		key = { standard.ingress_port: exact; }
		actions = { edge_in; NoAction; }
		default_action = NoAction();
		size = 512;
	}
	action edge_out() {
		meta.to_edge = 1;
	}
	table edges_out {
		key = { standard.egress_spec: exact; }
		actions = { edge_out; NoAction; }
		default_action = NoAction();
		size = 512;
	}
	/* A packet of a specific flow is marked each period. */
	action label_specific(bit<32> period_us) {
		period = (bit<48>)period_us;
	}
	table label_flow {
		key = {
			hdr.ipv4.src: exact;
			hdr.ipv4.dst: exact;
			hdr.ipv4.proto: exact;
			meta.src_port: exact;
			meta.dst_port: exact;
		}
		actions = { label_specific; NoAction; }
		default_action = NoAction();
		size = 256;
	}
	action find_mark() {
		hash(row, HashAlgorithm.crc32, 32w0,
		     { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.proto,
		       meta.src_port, meta.dst_port }, (bit<64>)SWITCH_FLOWS);
		marks.read(last, row);
	}

	apply {
		forward.apply(hdr, standard);
		edges_in.apply();
		edges_out.apply();
		if (meta.from_edge == 1 && hdr.option.isValid()) {
			/* It would be read as labels, and cut at its end. */
			forged.count(0);
			mark_to_drop(standard);
			return;
		}
		period = 0;
		if (meta.from_edge == 1 && meta.fits == 1 &&
		    standard.checksum_error == 0 && label_flow.apply().hit) {
			find_mark();
			if (last == 0 ||
			    standard.ingress_global_timestamp - last >=
				    period) {
				meta.marked = 1;
				marks.write(row,
					    standard.ingress_global_timestamp);
			}
		}
	}
}

control LabelEgress(inout headers_t hdr, inout meta_t meta,
		    inout standard_metadata_t standard) {
	/* Reg1: when it labelled */
	register<bit<48>>(SWITCH_PORTS) label_last;
	/* labels written; 0: none */
	register<bit<32>>(SWITCH_PORTS) label_number;
	register<bit<8>>(SWITCH_PORTS) label_s;	      /* Reg2: T and T1 / 2^S */
	BytesToNumber() number_of_items;
	NumberToBytes() items_of_number;
	bit<32> device;
	bit<48> interval;
	bit<48> rest;
	bit<48> rest_now;
	bit<16> mtu;
	bit<1> kind_b;
	bit<1> fragile;
	bit<48> now;
	bit<48> last;
	bit<48> elapsed;
	bit<48> due;
	bit<32> number;
	bit<8> s;
	bit<33> threshold;
	bit<32> chance_now;
	bit<1> label;
	bit<16> growth;
	bit<16> word_was;
	bit<16> len_was;

	/* T, T1 in us; MTU of the links to other switches, 0: any; whether
	 * packets are labelled, too, that routers may make fragments of. */
	action config(bit<32> id, bit<48> interval_us, bit<48> rest_us,
		      bit<1> b,
		      bit<16> mtu_bytes, bit<1> no_df) {
		device = id;
		interval = interval_us;
		rest = rest_us;
		kind_b = b;
		mtu = mtu_bytes;
		fragile = no_df;
	}
	table self {
		actions = { config; }
		default_action = config(0, 50000, 0, 0, 0, 0);
	}
	/* Base B: f(labels), of 2^32. */
	action chance(bit<33> of_2_32) {
		threshold = of_2_32;
	}
	table label_f {
		key = { meta.count: exact; }
		actions = { chance; }
		default_action = chance(0);
		size = 16;
	}
	action collector(bit<48> dst_mac, bit<48> src_mac, bit<32> src,
			 bit<32> dst) {
		hdr.out_ethernet.dst = dst_mac;
		hdr.out_ethernet.src = src_mac;
		hdr.out_ipv4.src = src;
		hdr.out_ipv4.dst = dst;
	}
	table exports_to {
		actions = { collector; }
		default_action = collector(0, 0, 0, 0);
	}

	/* RFC 1624, eqn. 3. */
	action change_ip(bit<8> proto, bit<16> len) {
		word_was = hdr.ipv4.ttl ++ hdr.ipv4.proto;
		len_was = hdr.ipv4.len;
		hdr.ipv4.proto = proto;
		hdr.ipv4.len = len;
		hash(hdr.ipv4.sum, HashAlgorithm.csum16, 16w0,
		     { ~hdr.ipv4.sum, ~word_was, hdr.ipv4.ttl, hdr.ipv4.proto,
		       ~len_was, hdr.ipv4.len }, 32w0x10000);
	}
	action read_port() {
		now = standard.egress_global_timestamp;
		label_last.read(last, (bit<32>)standard.egress_port);
		label_number.read(number, (bit<32>)standard.egress_port);
		label_s.read(s, (bit<32>)standard.egress_port);
		elapsed = now - last;
		due = interval >> s;
		rest_now = rest >> s;
		random(chance_now, 32w0, 32w0xffffffff);
	}
	action write_port() {
		number = number == 0xffffffff ? 32w1 : number + 1;
		label_last.write((bit<32>)standard.egress_port, now);
		label_number.write((bit<32>)standard.egress_port, number);
	}
	action push() {
		hdr.item.setValid();
		hdr.item.device = device;
		hdr.item.ingress = (bit<16>)standard.ingress_port;
		hdr.item.egress = (bit<16>)standard.egress_port;
		hdr.item.time = now;
		hdr.item.reserved = 0;
		hdr.item.latency =
			(bit<32>)(now - standard.ingress_global_timestamp);
		hdr.item.latency = hdr.item.latency * 1000;
		hdr.item.queue = (bit<32>)standard.deq_qdepth;
		hdr.item.number = number;
		hdr.item.reserved2 = 0;
		meta.own = hdr.item.device ++ hdr.item.ingress ++
			   hdr.item.egress ++ hdr.item.time ++ 16w0 ++
			   hdr.item.latency ++ hdr.item.queue ++
			   hdr.item.number ++ 32w0;
		meta.has_own = 1;
	}
	action new_option() {
		hdr.option.setValid();
		hdr.option.next = hdr.ipv4.proto;
		hdr.option.count = 0;
	}
	/* The packet as it was before its first label. */
	action restore() {
		change_ip(hdr.option.next, hdr.ipv4.len - LABEL_OPTION_LEN -
					   ((bit<16>)meta.count << 5));
		hdr.item.setInvalid();
		hdr.items.b256.setInvalid();
		hdr.items.b128.setInvalid();
		hdr.items.b64.setInvalid();
		hdr.items.b32.setInvalid();
		hdr.option.setInvalid();
	}
	/* The copy: the packet with its labels, as a datagram's payload. */
	action tell() {
		hdr.option.setValid();
		hdr.option.next = hdr.ipv4.proto;
		hdr.option.count = meta.int_num;
		change_ip(LABEL_PROTOCOL, hdr.ipv4.len + LABEL_OPTION_LEN +
					  ((bit<16>)meta.count << 5));
		hdr.ethernet.setInvalid();
		hdr.out_ethernet.setValid();
		hdr.out_ipv4.setValid();
		hdr.out_udp.setValid();
		hdr.out_ethernet.type = NET_ETHERTYPE_IP4;
		hdr.out_udp.src_port = LABEL_EXPORT_PORT;
		hdr.out_udp.dst_port = LABEL_EXPORT_PORT;
		hdr.out_udp.sum = 0;
		hdr.out_ipv4.plain = NET_IP4_PLAIN;
		hdr.out_ipv4.tos = 0;
		hdr.out_ipv4.id = 0;
		hdr.out_ipv4.fragment = NET_IP4_DF;
		hdr.out_ipv4.ttl = SWITCH_TTL;
		hdr.out_ipv4.proto = NET_PROTO_UDP;
		len_was = NET_IP4_LEN + LABEL_OPTION_LEN +
			  ((bit<16>)meta.count << 5) + SWITCH_EXPORT_REST;
	}
	action tell_length() {
		hdr.out_udp.len = NET_UDP_LEN + len_was;
		hdr.out_ipv4.len = NET_IP4_LEN + hdr.out_udp.len;
		truncate((bit<32>)(NET_ETH_LEN + hdr.out_ipv4.len));
	}

	apply {
		self.apply();
		if (standard.instance_type != 0) { /* the controller's copy */
			tell();
			items_of_number.apply(meta.before, meta.before_len,
					      hdr.items);
			if (meta.has_own == 1) {
				hdr.item.setValid();
				hdr.item.device = meta.own[255:224];
				hdr.item.ingress = meta.own[223:208];
				hdr.item.egress = meta.own[207:192];
				hdr.item.time = meta.own[191:144];
				hdr.item.reserved = 0;
				hdr.item.latency = meta.own[127:96];
				hdr.item.queue = meta.own[95:64];
				hdr.item.number = meta.own[63:32];
				hdr.item.reserved2 = 0;
			}
			/* No longer than the packet is. */
			if (len_was > hdr.ipv4.len)
				len_was = hdr.ipv4.len;
			exports_to.apply();
			tell_length();
			return;
		}
		if (meta.fits == 0 || standard.parser_error != error.NoError)
			return;
		read_port();
		if (due == 0)
			due = 1;
		label = 0;
		if (meta.marked == 1 || meta.specific == 1 || number == 0 ||
		    elapsed > due) {
			label = 1;
		} else if (kind_b == 1 &&
			   (rest_now == 0 || elapsed > rest_now)) {
			threshold = 0;
			label_f.apply();
			if ((bit<33>)chance_now < threshold)
				label = 1;
		}
		growth = LABEL_ITEM_LEN;
		if (meta.labelled == 0)
			growth = LABEL_ITEM_LEN + LABEL_OPTION_LEN;
		/* MAX_hop labels at most, of specific flows as many as there is
		 * room for. */
		if (standard.checksum_error == 1 ||
		    (meta.specific == 0 && meta.count >= LABEL_MAX_HOP) ||
		    meta.count >= SWITCH_ITEMS ||
		    (fragile == 0 && hdr.ipv4.fragment & NET_IP4_DF == 0) ||
		    hdr.ipv4.len > 0xffff - growth ||
		    (meta.to_edge == 0 && mtu != 0 &&
		     hdr.ipv4.len + growth > mtu))
			label = 0;
		if (label == 1) {
			write_port();
			if (meta.labelled == 0) {
				new_option();
				change_ip(LABEL_PROTOCOL,
					  hdr.ipv4.len + growth);
			} else {
				change_ip(hdr.ipv4.proto,
					  hdr.ipv4.len + growth);
			}
			push();
			hdr.option.count = hdr.option.count + 1;
			if (meta.marked == 1 && meta.count == 0)
				hdr.option.count = LABEL_MAX_HOP + 1;
			meta.count = meta.count + 1;
		}
		if (meta.to_edge == 1 && hdr.option.isValid()) {
			number_of_items.apply(hdr.items, meta.before);
			meta.before_len = meta.items_len;
			meta.int_num = hdr.option.count;
			if (meta.count != 0)
				clone_preserving_field_list(CloneType.E2E, 1,
							    1);
			restore();
		}
	}
}

control LabelChecksums(inout headers_t hdr, inout meta_t meta) {
	apply {
		update_checksum(hdr.out_ipv4.isValid(),
				IP4_FIELDS(hdr.out_ipv4), hdr.out_ipv4.sum,
				HashAlgorithm.csum16);
	}
}

control LabelDeparser(packet_out packet, in headers_t hdr) {
	apply {
		packet.emit(hdr.out_ethernet);
		packet.emit(hdr.out_ipv4);
		packet.emit(hdr.out_udp);
		packet.emit(hdr.ethernet);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.option);
		packet.emit(hdr.item);
		packet.emit(hdr.items);
	}
}

V1Switch(LabelParser(), LabelVerify(), LabelIngress(), LabelEgress(),
	 LabelChecksums(), LabelDeparser()) main;
