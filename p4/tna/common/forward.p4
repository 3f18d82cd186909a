/* SPDX-License-Identifier: BSD-2-Clause */
/* forward.p4 - where packets go: by their IPv4 address; others by the port they
 * came from. The program's ingress_headers_t has ipv4. */
#ifndef TNA_FORWARD
#define TNA_FORWARD

control Forward(in ingress_headers_t hdr,
		in ingress_intrinsic_metadata_t ingress,
		inout ingress_intrinsic_metadata_for_deparser_t deparser,
		inout ingress_intrinsic_metadata_for_tm_t tm) {
	action to_port(PortId_t port) {
		tm.ucast_egress_port = port;
	}
	action drop() {
		deparser.drop_ctl = 1;
	}
	table routes {
		key = { hdr.ipv4.dst: lpm; }
		actions = { to_port; NoAction; }
		const default_action = NoAction();
		size = 1024;
	}
	table ports {
		key = { ingress.ingress_port: exact; }
		actions = { to_port; drop; }
		const default_action = drop();
		size = 512;
	}
	apply {
		if (!hdr.ipv4.isValid())
			ports.apply();
		else if (routes.apply().miss)
			ports.apply();
	}
}

#endif
