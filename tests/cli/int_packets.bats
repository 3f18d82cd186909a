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
	cd "$BATS_TEST_TMPDIR" || exit 1
}

@test "checksums and lengths around INT are right, as they were before" {
	command -v tshark >/dev/null || skip "tshark is not installed"
	"$BUILD/tests/tools/int_frames" plain.pcap int.pcap back.pcap
	[ "$(shown plain.pcap frame)" = 3000 ]
	[ "$(shown plain.pcap "$wrong")" = 0 ]
	[ "$(shown int.pcap "$wrong")" = 0 ]
	# and they were looked at
	[ "$(shown int.pcap 'ip.checksum.status == 1')" -gt 1000 ]
	[ "$(shown int.pcap 'tcp.checksum.status == 1')" -gt 500 ]
	[ "$(shown int.pcap 'udp.checksum.status == 1')" -gt 500 ]
}

@test "without INT the capture is the same, byte for byte" {
	"$BUILD/tests/tools/int_frames" plain.pcap int.pcap back.pcap
	run ! cmp -s plain.pcap int.pcap
	cmp plain.pcap back.pcap
}

# Of 0 and 0xffff, which are the same to a checksum, a sink cannot know which
# it was: some real packets have the unusual one.
@test "the same of real traffic, but for checksums of 0xffff" {
	"$BUILD/tests/tools/int_frames" plain.pcap int.pcap back.pcap \
		"$TOP/tests/data/two-lines.pcap.gz"
	[ "$(stat -c %s plain.pcap)" -gt 5000000 ]
	cmp -l plain.pcap back.pcap >differ || true
	[ "$(wc -l <differ)" -le 4 ]
	run ! grep -v ' 377 *0$' differ
}
