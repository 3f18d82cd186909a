/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_label.p4 - INT-label for Tofino (TNA): each port labels some
 * of the packets that leave by it, as its registers say; the last switch gives
 * packets back as they were and tells their labels to the controller.
 *
 * As v1model/int_label, but for two things. The last switch tells its own label
 * apart from those before it: these from a mirror made in ingress, where they
 * are taken out, as egress parses 160 bytes at most; its own from a mirror made
 * in egress, where it is known. And S selects an entry of the table intervals,
 * as there is no shift by a number that is not known beforehand.
 *
 * A register's action compares what it has with one field at a time. So, for
 * `now - last >= interval`, it compares the last time with both ends of what is
 * too early, behind `now - interval` up to now, which are known before; and the
 * clock wraps in 71 minutes: then what is too early has 0 in it.
 *
 * Clock: 1024 a microsecond (bf_ts_global_ts_inc_value_set), so that label
 * times are microseconds. Packets with a wrong checksum of the IP header get no
 * labels; those that have labels are dropped.
 */
#include <core.p4>
#include <tna.p4>

#include "net.p4"
#include "label.p4"
#include "crc.p4"
#include "sums.p4"

const bit<32> SWITCH_PORTS = 512;
const bit<32> SWITCH_FLOWS = 1024;
const bit<8> SWITCH_ITEMS = 8; /* that a packet may have here */
const bit<8> SWITCH_TTL = 64;
const bit<16> SWITCH_EXPORT_REST = 8; /* bytes behind the labels: ports */
const bit<3> SWITCH_MIRROR_LABELS = 1;
const bit<3> SWITCH_MIRROR_OWN = 2;
const bit<8> SWITCH_PASS = 0; /* what it is, in front of a packet: as it is, */
const bit<8> SWITCH_LABEL = 1;	/* perhaps to be labelled, */
const bit<8> SWITCH_LABELS = 2; /* labels for the controller, */
const bit<8> SWITCH_OWN = 3;	/* this switch's */

header bridge_h {
	bit<8> what;
	bit<8> count; /* of labels */
	bit<16> ingress; /* port */
	bit<32> ingress_time;
	bit<5> reserved;
	bit<1> labelled; /* it has an option */
	bit<1> specific; /* flow: a packet that is due, or was marked before */
	bit<1> to_edge;
}

header labels_h {
	bit<8> what;
	bit<8> count;
}

/* The label that a packet would have had from here. */
header own_h {
	bit<8> what;
	bit<8> int_num;
	bit<16> ingress;
	bit<16> egress;
	bit<48> time;
	bit<32> latency;
	bit<32> queue;
	bit<32> number;
}

/* A label that is there: SWITCH_ITEMS of them, what is last is first here. */
header item_bytes_h {
	bit<256> v;
}

struct ingress_headers_t {
	bridge_h bridge;
	ethernet_h ethernet;
	ipv4_h ipv4;
	label_option_h option;
	item_bytes_h item8;
	item_bytes_h item7;
	item_bytes_h item6;
	item_bytes_h item5;
	item_bytes_h item4;
	item_bytes_h item3;
	item_bytes_h item2;
	item_bytes_h item1;
}

struct ingress_meta_t {
	bit<1> fits; /* IPv4 that may carry labels */
	bool wrong; /* checksum */
	bit<1> from_edge;
	bit<1> marked;
	bit<8> due;
	bit<16> src_port;
	bit<16> dst_port;
	bit<32> period;
	bit<32> now;
	bit<32> before; /* now - period */
	bit<32> wrapped; /* since then: not 0 */
	MirrorId_t session; /* of the mirror, which begins with */
	bit<8> what;
}

struct egress_headers_t {
	bridge_h bridge;
	labels_h labels;
	own_h own;
	/* of what is told */
	ethernet_h out_ethernet;
	ipv4_h out_ipv4;
	udp_h out_udp;

	ethernet_h ethernet;
	ipv4_h ipv4;
	label_option_h option;
	label_item_h item; /* this switch's */
}

struct egress_meta_t {
	bit<1> may_change; /* the IP header */
	bit<1> exported;
	bit<1> kind_b;
	bit<16> mtu;
	bit<16> len;
	bit<16> over;
	bit<16> labels_len; /* of what is in the packet */
	bit<32> now;
	bit<8> s;
	bit<32> interval; /* at least, between two labels */
	bit<32> before; /* now - interval */
	bit<32> wrapped; /* since then: not 0 */
	bit<32> rest;
	bit<32> chance;
	bit<32> threshold;
	bit<1> may_be_lucky;
	bit<8> due;
	bit<32> latency;
	bit<32> latency_64th;
	bit<32> latency_128th;
	MirrorId_t session;
	bit<8> what;
	bit<8> int_num;
}

@noWarn("uninitialized_out_param")
parser LabelIngressParser(packet_in packet, out ingress_headers_t hdr,
			  out ingress_meta_t meta,
			  out ingress_intrinsic_metadata_t ingress) {
	Checksum() ip_sum;

	state start {
		packet.extract(ingress);
		packet.advance(PORT_METADATA_SIZE);
		meta.fits = 0;
		meta.wrong = false;
		meta.src_port = 0;
		meta.dst_port = 0;
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
		ip_sum.add(hdr.ipv4);
		meta.wrong = ip_sum.verify();
		transition select(hdr.ipv4.plain, hdr.ipv4.fragment) {
			(NET_IP4_PLAIN, 0 &&& NET_IP4_FRAGMENT): first;
			default: accept;
		}
	}
	state first {
		transition select(hdr.ipv4.sum, hdr.ipv4.proto) {
			(0xffff, _): accept;
			(_, LABEL_PROTOCOL): option;
			(_, NET_PROTO_TCP): ports;
			(_, NET_PROTO_UDP): ports;
			default: whole;
		}
	}
	state ports {
		meta.src_port = packet.lookahead<bit<32>>()[31:16];
		meta.dst_port = packet.lookahead<bit<32>>()[15:0];
		transition whole;
	}
	/* Above LABEL_MAX_HOP: of a specific flow. On as it is, if there is no
	 * room for as many. */
	state option {
		packet.extract(hdr.option);
		transition select(hdr.option.count) {
			0: whole;
			1: item_1;
			2: item_2;
			3: item_3;
			4: item_4;
			5: item_5;
			6: item_1;
			7: item_2;
			8: item_3;
			9: item_4;
			10: item_5;
			11: item_6;
			12: item_7;
			13: item_8;
			default: accept;
		}
	}
#define ITEM_STATE(n, then) \
	state item_##n { \
		packet.extract(hdr.item##n); \
		transition then; \
	}
	ITEM_STATE(8, item_7)
	ITEM_STATE(7, item_6)
	ITEM_STATE(6, item_5)
	ITEM_STATE(5, item_4)
	ITEM_STATE(4, item_3)
	ITEM_STATE(3, item_2)
	ITEM_STATE(2, item_1)
	ITEM_STATE(1, whole)
	state whole {
		meta.fits = 1;
		transition accept;
	}
}

#include "forward.p4"

/* Not too early: up to `before`, or behind now; and both, where the clock
 * wrapped between the two. */
#define IF_DUE(or_and) { \
	void apply(inout bit<32> last, out bit<8> due) { \
		due = 0; \
		if (last <= meta.before or_and last > meta.now) { \
			due = 1; \
			last = meta.now; \
		} \
	} \
}

control LabelIngress(inout ingress_headers_t hdr, inout ingress_meta_t meta,
		     in ingress_intrinsic_metadata_t ingress,
		     in ingress_intrinsic_metadata_from_parser_t parsed,
		     inout ingress_intrinsic_metadata_for_deparser_t deparser,
		     inout ingress_intrinsic_metadata_for_tm_t tm) {
	Forward() forward;
	Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS) forged; /* dropped */
	Hash<bit<32>>(HashAlgorithm_t.IDENTITY) now_of;
	/* When a flow was marked, us, and whether it is time again. */
	ROW_HASH(of_flow, CRC_SLOT0, 10);
	Register<bit<32>, bit<10>>(SWITCH_FLOWS) marks;
	RegisterAction<bit<32>, bit<10>, bit<8>>(marks) mark = IF_DUE(||);
	RegisterAction<bit<32>, bit<10>, bit<8>>(marks) mark_wrapped =
		IF_DUE(&&);

	/* A port with a host behind it. */
	action edge_in() {
		meta.from_edge = 1;
	}
	table edges_in {
		key = { ingress.ingress_port: exact; }
		actions = { edge_in; NoAction; }
		const default_action = NoAction();
		size = 512;
	}
	action edge_out() {
		hdr.bridge.to_edge = 1;
	}
	table edges_out {
		key = { tm.ucast_egress_port: exact; }
		actions = { edge_out; NoAction; }
		const default_action = NoAction();
		size = 512;
	}
	/* A packet of a specific flow is marked each period. */
	action label_specific(bit<32> period) {
		meta.period = period;
	}
	table label_flow {
		key = {
			hdr.ipv4.src: exact;
			hdr.ipv4.dst: exact;
			hdr.ipv4.proto: exact;
			meta.src_port: exact @name("src_port");
			meta.dst_port: exact @name("dst_port");
		}
		actions = { label_specific; NoAction; }
		const default_action = NoAction();
		size = 256;
	}
	action find_before() {
		meta.before = meta.now - meta.period;
		meta.wrapped = meta.period |-| meta.now;
	}
#define MARK_OF_FLOW \
	of_flow.get({ hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.proto, \
		      meta.src_port, meta.dst_port })
	action find_mark() {
		meta.due = mark.execute(MARK_OF_FLOW);
	}
	action find_mark_wrapped() {
		meta.due = mark_wrapped.execute(MARK_OF_FLOW);
	}
	/* Keys, as a default action reaches no register by a field. */
	table find_marks {
		key = { meta.wrapped: ternary; }
		actions = { find_mark; find_mark_wrapped; NoAction; }
		const default_action = NoAction();
		const entries = {
			0: find_mark();
			_: find_mark_wrapped();
		}
		size = 2;
	}
	action begin() {
		hdr.bridge.setValid();
		hdr.bridge.what = SWITCH_PASS;
		hdr.bridge.count = 0;
		hdr.bridge.ingress = (bit<16>)ingress.ingress_port;
		hdr.bridge.ingress_time = parsed.global_tstamp[31:0];
		hdr.bridge.reserved = 0;
		hdr.bridge.labelled = 0;
		hdr.bridge.specific = 0;
		hdr.bridge.to_edge = 0;
		meta.from_edge = 0;
		meta.due = 0;
	}
	action take_time() {
		meta.now = now_of.get({ parsed.global_tstamp[41:10] });
	}
	/* How many labels there are. */
	action labels(bit<8> count, bit<1> specific) {
		hdr.bridge.what = SWITCH_LABEL;
		hdr.bridge.labelled = 1;
		hdr.bridge.count = count;
		hdr.bridge.specific = specific;
	}
	table counts {
		key = { hdr.option.count: exact; }
		actions = { labels; NoAction; }
		const default_action = NoAction();
		const entries = {
			0: labels(0, 0);
			1: labels(1, 0);
			2: labels(2, 0);
			3: labels(3, 0);
			4: labels(4, 0);
			5: labels(5, 0);
			6: labels(1, 1);
			7: labels(2, 1);
			8: labels(3, 1);
			9: labels(4, 1);
			10: labels(5, 1);
			11: labels(6, 1);
			12: labels(7, 1);
			13: labels(8, 1);
		}
		size = 16;
	}
	action may_be_labelled() {
		hdr.bridge.what = SWITCH_LABEL;
	}
	action mark_flow() {
		hdr.bridge.specific = 1;
	}
	/* Labels would be read as such, and cut at their end. */
	action forge() {
		forged.count(0);
		deparser.drop_ctl = 1;
	}
	/* Session 1 leads to the controller. */
	action tell() {
		meta.session = 1;
		meta.what = SWITCH_LABELS;
		deparser.mirror_type = SWITCH_MIRROR_LABELS;
	}

	/* The packet as it was before its first label; less is negative, as
	 * a table's parameter cannot be subtracted. */
	action restore(bit<16> less) {
		hdr.ipv4.proto = hdr.option.next;
		hdr.ipv4.len = hdr.ipv4.len + less;
		hdr.bridge.labelled = 0;
		hdr.option.setInvalid();
		hdr.item8.setInvalid();
		hdr.item7.setInvalid();
		hdr.item6.setInvalid();
		hdr.item5.setInvalid();
		hdr.item4.setInvalid();
		hdr.item3.setInvalid();
		hdr.item2.setInvalid();
		hdr.item1.setInvalid();
	}
	table restores {
		key = { hdr.bridge.count: exact; }
		actions = { restore; NoAction; }
		const default_action = NoAction();
		const entries = {
#define RESTORE(n) \
			n: restore(0 - (LABEL_OPTION_LEN + n * LABEL_ITEM_LEN));
			RESTORE(0)
			RESTORE(1)
			RESTORE(2)
			RESTORE(3)
			RESTORE(4)
			RESTORE(5)
			RESTORE(6)
			RESTORE(7)
			RESTORE(8)
		}
		size = 16;
	}

	apply {
		begin();
		take_time();
		forward.apply(hdr, ingress, deparser, tm);
		edges_in.apply();
		edges_out.apply();
		if (hdr.option.isValid()) {
			if (meta.from_edge == 1 || meta.wrong) {
				forge();
			} else if (meta.fits == 1 && parsed.parser_err == 0) {
				counts.apply();
				if (hdr.bridge.to_edge == 1) {
					if (hdr.bridge.count != 0)
						tell();
					restores.apply();
				}
			}
		} else if (meta.fits == 1 && !meta.wrong) {
			may_be_labelled();
			if (meta.from_edge == 1) {
				if (label_flow.apply().hit) {
					find_before();
					find_marks.apply();
				}
				if (meta.due == 1)
					mark_flow();
			}
		}
	}
}

control LabelIngressDeparser(packet_out packet, inout ingress_headers_t hdr,
			     in ingress_meta_t meta,
			     in ingress_intrinsic_metadata_for_deparser_t
				     deparser) {
	Mirror() mirror;

	apply {
		if (deparser.mirror_type == SWITCH_MIRROR_LABELS)
			mirror.emit<labels_h>(meta.session,
					      { meta.what,
						hdr.bridge.count });
		packet.emit(hdr);
	}
}

@noWarn("uninitialized_out_param")
parser LabelEgressParser(packet_in packet, out egress_headers_t hdr,
			 out egress_meta_t meta,
			 out egress_intrinsic_metadata_t egress) {
	state start {
		packet.extract(egress);
		meta.may_change = 0;
		meta.exported = 0;
		transition select(packet.lookahead<bit<8>>()) {
			SWITCH_LABEL: label;
			SWITCH_LABELS: labels;
			SWITCH_OWN: own;
			default: pass;
		}
	}
	state pass {
		packet.extract(hdr.bridge);
		transition accept;
	}
	state label {
		packet.extract(hdr.bridge);
		packet.extract(hdr.ethernet);
		packet.extract(hdr.ipv4);
		meta.may_change = 1;
		transition select(hdr.bridge.labelled) {
			1: option;
			default: accept;
		}
	}
	state option {
		packet.extract(hdr.option);
		transition accept;
	}
	state labels {
		packet.extract(hdr.labels);
		packet.extract(hdr.ethernet);
		packet.extract(hdr.ipv4);
		meta.may_change = 1;
		meta.exported = 1;
		transition accept;
	}
	state own {
		packet.extract(hdr.own);
		hdr.item.setValid();
		hdr.item.ingress = hdr.own.ingress;
		hdr.item.egress = hdr.own.egress;
		hdr.item.time = hdr.own.time;
		hdr.item.latency = hdr.own.latency;
		hdr.item.queue = hdr.own.queue;
		hdr.item.number = hdr.own.number;
		packet.extract(hdr.ethernet);
		packet.extract(hdr.ipv4);
		meta.may_change = 1;
		meta.exported = 1;
		transition accept;
	}
}

/* Labels as a datagram's payload: the packet with them, up to its ports. */
control Export(inout egress_headers_t hdr, inout egress_meta_t meta) {
	/* Where the controller is, and from where it is told. */
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
		size = 1;
	}
	action headers() {
		hdr.ethernet.setInvalid();
		hdr.out_ethernet.setValid();
		hdr.out_ethernet.type = NET_ETHERTYPE_IP4;
		hdr.out_udp.setValid();
		hdr.out_udp.src_port = LABEL_EXPORT_PORT;
		hdr.out_udp.dst_port = LABEL_EXPORT_PORT;
		hdr.out_udp.sum = 0;
		hdr.out_ipv4.setValid();
		hdr.out_ipv4.plain = NET_IP4_PLAIN;
		hdr.out_ipv4.tos = 0;
		hdr.out_ipv4.id = 0;
		hdr.out_ipv4.fragment = NET_IP4_DF;
		hdr.out_ipv4.ttl = SWITCH_TTL;
		hdr.out_ipv4.proto = NET_PROTO_UDP;
	}
	/* The packet as it was on its way, with the labels that are told. */
	action add_own() {
		hdr.option.setValid();
		hdr.option.next = hdr.ipv4.proto;
		hdr.option.count = hdr.own.int_num;
		hdr.ipv4.proto = LABEL_PROTOCOL;
		hdr.ipv4.len = hdr.ipv4.len + LABEL_OPTION_LEN + LABEL_ITEM_LEN;
		hdr.item.reserved = 0;
		hdr.item.reserved2 = 0;
		meta.len = NET_IP4_LEN + LABEL_OPTION_LEN + LABEL_ITEM_LEN +
			   SWITCH_EXPORT_REST;
	}
	action of_labels(bit<16> len) {
		meta.len = len;
	}
	table lengths {
		key = { hdr.labels.count: exact; }
		actions = { of_labels; }
		const default_action = of_labels(0);
		const entries = {
#define EXPORT_LEN(n) \
			n: of_labels(NET_IP4_LEN + LABEL_OPTION_LEN + \
				     n * LABEL_ITEM_LEN + SWITCH_EXPORT_REST);
			EXPORT_LEN(1)
			EXPORT_LEN(2)
			EXPORT_LEN(3)
			EXPORT_LEN(4)
			EXPORT_LEN(5)
			EXPORT_LEN(6)
			EXPORT_LEN(7)
			EXPORT_LEN(8)
		}
		size = 8;
	}
	/* No longer than the packet is. */
	action shorten() {
		meta.len = min(meta.len, hdr.ipv4.len);
	}
	action set_lengths() {
		hdr.out_udp.len = NET_UDP_LEN + meta.len;
		hdr.out_ipv4.len = NET_IP4_LEN + NET_UDP_LEN + meta.len;
	}
	apply {
		exports_to.apply();
		headers();
		if (hdr.own.isValid())
			add_own();
		else
			lengths.apply();
		shorten();
		set_lengths();
	}
}

control LabelEgress(inout egress_headers_t hdr, inout egress_meta_t meta,
		    in egress_intrinsic_metadata_t egress,
		    in egress_intrinsic_metadata_from_parser_t parsed,
		    inout egress_intrinsic_metadata_for_deparser_t deparser,
		    inout egress_intrinsic_metadata_for_output_port_t output) {
	Export() export;
	Random<bit<32>>() random;
	/* Bits of fields in other places, which no action moves in one step:
	 * a hash does. */
	Hash<bit<32>>(HashAlgorithm_t.IDENTITY) now_of;
	Hash<bit<16>>(HashAlgorithm_t.IDENTITY) high_of;
	Hash<bit<32>>(HashAlgorithm_t.IDENTITY) queue_of;
	Hash<bit<16>>(HashAlgorithm_t.IDENTITY) port_of;
	bit<16> high; /* half of the time */
	/* Of ports: Reg1, when one labelled; its next label's number; Reg2, S. */
	Register<bit<32>, PortId_t>(SWITCH_PORTS) label_last;
	Register<bit<32>, PortId_t>(SWITCH_PORTS) label_number;
	Register<bit<8>, PortId_t>(SWITCH_PORTS) label_s;
	RegisterAction<bit<32>, PortId_t, bit<8>>(label_last) label_in_turn =
		IF_DUE(||);
	RegisterAction<bit<32>, PortId_t, bit<8>>(label_last)
		label_in_turn_wrapped = IF_DUE(&&);
	RegisterAction<bit<32>, PortId_t, bit<8>>(label_last) label_now = {
		void apply(inout bit<32> last, out bit<8> due) {
			due = 1;
			last = meta.now;
		}
	};
	/* 0 is none. Compared with 0, as all ones are no constant for that. */
	RegisterAction<bit<32>, PortId_t, bit<32>>(label_number) next_number = {
		void apply(inout bit<32> next, out bit<32> n) {
			n = max(next, 1);
			if (next == 0)
				next = 2;
			else
				next = next + 1;
		}
	};
	RegisterAction<bit<8>, PortId_t, bit<8>>(label_s) read_s = {
		void apply(inout bit<8> s, out bit<8> now) {
			now = s;
		}
	};

	/* MTU of the links to other switches. */
	action config(bit<32> id, bit<1> b, bit<16> mtu_bytes) {
		hdr.item.device = id;
		meta.kind_b = b;
		meta.mtu = mtu_bytes;
	}
	table self {
		actions = { config; }
		default_action = config(0, 0, 0xffff);
		size = 1;
	}
	/* What must have passed since the last label, us: T / 2^S, T1 / 2^S. */
	action between(bit<32> interval, bit<32> rest) {
		meta.interval = interval;
		meta.rest = rest;
	}
	table intervals {
		key = { meta.s: exact; }
		actions = { between; }
		default_action = between(50000, 0);
		size = 32;
	}
	/* Base B: f(labels), of 2^32, less one. */
	action chance(bit<32> of_2_32) {
		meta.threshold = of_2_32;
		meta.may_be_lucky = 1;
	}
	table label_f {
		key = { hdr.bridge.count: exact @name("count"); }
		actions = { chance; NoAction; }
		const default_action = NoAction();
		size = 16;
	}
	action begin() {
		meta.may_be_lucky = 0;
		meta.due = 0;
		meta.latency = parsed.global_tstamp[31:0] -
			       hdr.bridge.ingress_time;
		hdr.item.ingress = hdr.bridge.ingress;
		hdr.item.reserved = 0;
		hdr.item.reserved2 = 0;
	}
	action draw() {
		meta.chance = random.get();
	}
	action find_s() {
		meta.s = read_s.execute(egress.egress_port);
	}
	action take_time() {
		meta.now = now_of.get({ parsed.global_tstamp[41:10] });
	}
	action take_high_time() {
		high = high_of.get({ 10w0, parsed.global_tstamp[47:42] });
	}
	action take_queue() {
		hdr.item.queue = queue_of.get({ 13w0, egress.deq_qdepth });
	}
	action take_port() {
		hdr.item.egress = port_of.get({ 7w0, egress.egress_port });
	}
	action write_time() {
		hdr.item.time = high ++ meta.now;
	}
	/* 1024 of these are a microsecond: 1 - 1/64 - 1/128 is 1/1.024. */
	action latency_parts() {
		meta.latency_64th = meta.latency >> 6;
		meta.latency_128th = meta.latency >> 7;
	}
	action latency_less_64th() {
		meta.latency = meta.latency - meta.latency_64th;
	}
	action latency_less_128th() {
		hdr.item.latency = meta.latency - meta.latency_128th;
	}
	action luck() {
		meta.chance = meta.chance |-| meta.threshold;
	}
	action be_lucky() {
		meta.interval = meta.rest;
	}
	action grow() {
		meta.len = hdr.ipv4.len + LABEL_ITEM_LEN;
	}
	action grow_option() {
		meta.len = hdr.ipv4.len + LABEL_ITEM_LEN + LABEL_OPTION_LEN;
	}
	action fit() {
		meta.over = meta.len |-| meta.mtu;
	}
	action find_before() {
		meta.before = meta.now - meta.interval;
		meta.wrapped = meta.interval |-| meta.now;
	}
	action in_turn() {
		meta.due = label_in_turn.execute(egress.egress_port);
	}
	action in_turn_wrapped() {
		meta.due = label_in_turn_wrapped.execute(egress.egress_port);
	}
	action now() {
		meta.due = label_now.execute(egress.egress_port);
	}
	/* Whether it may: LABEL_MAX_HOP labels at most, of specific flows as
	 * many as there is room for; and it must fit. To an edge, nothing is
	 * added. */
	table decisions {
		key = {
			hdr.bridge.specific: ternary;
			hdr.bridge.to_edge: ternary;
			meta.over: ternary;
			hdr.bridge.count: ternary;
			meta.wrapped: ternary;
		}
		actions = { in_turn; in_turn_wrapped; now; NoAction; }
		const default_action = NoAction();
		const entries = {
			(_, _, _, SWITCH_ITEMS, _): NoAction();
			(1, 1, _, _, _): now();
			(1, 0, 0, _, _): now();
			(0, _, _, LABEL_MAX_HOP, _): NoAction();
			(0, 1, _, _, 0): in_turn();
			(0, 1, _, _, _): in_turn_wrapped();
			(0, 0, 0, _, 0): in_turn();
			(0, 0, 0, _, _): in_turn_wrapped();
		}
		size = 8;
	}
	action number() {
		hdr.item.number = next_number.execute(egress.egress_port);
	}
	action push() {
		hdr.option.count = hdr.option.count + 1;
		hdr.ipv4.len = meta.len;
		hdr.item.setValid();
	}
	action new_option() {
		hdr.option.setValid();
		hdr.option.next = hdr.ipv4.proto;
		hdr.option.count = 0;
		hdr.ipv4.proto = LABEL_PROTOCOL;
	}
	/* The first label of a specific flow's packet says that it is one. */
	action new_specific_option() {
		hdr.option.setValid();
		hdr.option.next = hdr.ipv4.proto;
		hdr.option.count = LABEL_MAX_HOP;
		hdr.ipv4.proto = LABEL_PROTOCOL;
	}
	/* Told, with session 1, instead of written. */
	action tell_own(bit<8> int_num) {
		meta.what = SWITCH_OWN;
		meta.int_num = int_num;
		meta.session = 1;
		deparser.mirror_type = SWITCH_MIRROR_OWN;
	}
	apply {
		self.apply();
		if (meta.exported == 1) {
			export.apply(hdr, meta);
		} else if (meta.may_change == 1) {
			begin();
			draw();
			find_s();
			take_time();
			take_high_time();
			take_queue();
			take_port();
			intervals.apply();
			write_time();
			latency_parts();
			latency_less_64th();
			latency_less_128th();
			if (meta.kind_b == 1)
				label_f.apply();
			luck();
			if (meta.may_be_lucky == 1 && meta.chance == 0)
				be_lucky();
			find_before();
			if (hdr.bridge.labelled == 1)
				grow();
			else
				grow_option();
			fit();
			decisions.apply();
			if (meta.due == 1) {
				number();
				if (hdr.bridge.to_edge == 1) {
					if (hdr.bridge.specific == 1)
						tell_own(LABEL_MAX_HOP + 1);
					else
						tell_own(1);
				} else {
					if (hdr.bridge.labelled == 0) {
						if (hdr.bridge.specific == 1)
							new_specific_option();
						else
							new_option();
					}
					push();
				}
			}
		}
	}
}

control LabelEgressDeparser(packet_out packet, inout egress_headers_t hdr,
			    in egress_meta_t meta,
			    in egress_intrinsic_metadata_for_deparser_t
				    deparser) {
	Checksum() ip_sum;
	Checksum() out_sum;
	Mirror() mirror;

	apply {
		if (meta.may_change == 1)
			hdr.ipv4.sum = ip_sum.update({ IP4_FIELDS(hdr.ipv4) });
		if (meta.exported == 1)
			hdr.out_ipv4.sum =
				out_sum.update({ IP4_FIELDS(hdr.out_ipv4) });
		if (deparser.mirror_type == SWITCH_MIRROR_OWN)
			mirror.emit<own_h>(meta.session,
					   { meta.what, meta.int_num,
					     hdr.item.ingress, hdr.item.egress,
					     hdr.item.time, hdr.item.latency,
					     hdr.item.queue,
					     hdr.item.number });
		packet.emit(hdr.out_ethernet);
		packet.emit(hdr.out_ipv4);
		packet.emit(hdr.out_udp);
		packet.emit(hdr.ethernet);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.option);
		packet.emit(hdr.item);
	}
}

Pipeline(LabelIngressParser(), LabelIngress(), LabelIngressDeparser(),
	 LabelEgressParser(), LabelEgress(), LabelEgressDeparser()) pipe;
Switch(pipe) main;
