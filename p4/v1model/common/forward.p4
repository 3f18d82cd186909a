/* SPDX-License-Identifier: BSD-2-Clause */
/* forward.p4 - where packets go: by their IPv4 address; others by the port they
 * came from. The program's headers_t has ipv4. */
#ifndef P4_FORWARD
#define P4_FORWARD

control Forward(in headers_t hdr, inout standard_metadata_t standard) {
	action to_port(bit<9> port) {
		standard.egress_spec = port;
	}
	action drop() {
		mark_to_drop(standard);
	}
	table routes {
		key = { hdr.ipv4.dst: lpm; }
		actions = { to_port; NoAction; }
		default_action = NoAction();
		size = 1024;
	}
	table ports {
		key = { standard.ingress_port: exact; }
		actions = { to_port; drop; }
		default_action = drop();
		size = 512;
	}
	apply {
		if (!hdr.ipv4.isValid() || !routes.apply().hit)
			ports.apply();
	}
}

#endif
