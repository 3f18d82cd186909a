# SPDX-License-Identifier: BSD-2-Clause
# INT in packets as tshark sees them, who does not know INT: lengths and
# checksums of all headers around it.

load ../helpers

checked=(-o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE
	-o udp.check_checksum:TRUE)
wrong='ip.checksum.status == 0 || tcp.checksum.status == 0
	|| udp.checksum.status == 0 || icmp.checksum.status == 0
	|| icmpv6.checksum.status == 0 || udp.length.bad || ip.bogus_ip_length'

shown() { # CAPTURE FILTER: how many packets
	tshark -r "$1" "${checked[@]}" -Y "$2" 2>/dev/null | wc -l
}

setup() {
	need_tools int_frames
	command -v tshark >/dev/null || skip "tshark is not installed"
	cd "$BATS_TEST_TMPDIR" || exit 1
	"$BUILD/tests/tools/int_frames" plain.pcap int.pcap back.pcap
}

@test "checksums and lengths around INT are right, as they were before" {
	[ "$(shown plain.pcap frame)" = 3000 ]
	[ "$(shown plain.pcap "$wrong")" = 0 ]
	[ "$(shown int.pcap "$wrong")" = 0 ]
	# and they were looked at
	[ "$(shown int.pcap 'ip.checksum.status == 1')" -gt 1000 ]
	[ "$(shown int.pcap 'tcp.checksum.status == 1')" -gt 500 ]
	[ "$(shown int.pcap 'udp.checksum.status == 1')" -gt 500 ]
}

@test "without INT the capture is the same, byte for byte" {
	run ! cmp -s plain.pcap int.pcap
	cmp plain.pcap back.pcap
}
