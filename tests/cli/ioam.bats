# SPDX-License-Identifier: BSD-2-Clause
# IOAM in packets that we make, as tshark reads it, and taken out again.

load ../helpers

setup() {
	need_tools ioam
	command -v tshark >/dev/null || skip "no tshark"
	tshark -G fields 2>/dev/null | grep -q ipv6.opt.ioam.trace.node.id ||
		skip "a tshark that does not know IOAM"
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# Fields of each packet by tshark, decimal, blanks between, - for none.
shown() { # capture
	local f args=() t=ipv6.opt.ioam.trace

	for f in ipv6.opt.ioam.opt_type $t.{ns,nodelen,flags,remlen,type} \
		$t.node.{hlim,id,iif,eif,tss,tsf,trdelay,nsdata,qdepth} \
		$t.node.{id_wide,iif_wide,eif_wide,nsdata_wide,bufoccup} \
		$t.node.oss.{len,scid}; do
		args+=(-e "$f")
	done
	tshark -n -r "$1" -T fields -E separator=';' "${args[@]}" 2>/dev/null |
		python3 -c '
import sys
for line in sys.stdin:
	print(*[",".join(str(int(v, 0)) for v in f.split(",")) if f else "-"
		for f in line.rstrip("\n").split(";")])'
}

@test "tshark reads each field of our traces as we do" {
	"$TOOLS/ioam" make made.pcap 600
	"$TOOLS/ioam" dump made.pcap >ours
	[ "$(wc -l <ours)" = 600 ]
	# The flags are where the packet has them in tshark: above 7 bits.
	shown made.pcap >theirs
	# Of incremental traces tshark looks for nodes behind free space that
	# they do not have: their headers alone. All of the pre-allocated.
	awk '$1 == 1 { NF = 6 } { NF = NF > 22 ? 22 : NF; print }' ours >a
	awk '$1 == 1 { NF = 6 } { print }' theirs >b
	[ "$(grep -c ^0 a)" = 300 ]
	diff a b
	# nothing that it finds wrong, and the packet behind is whole
	tshark -n -r made.pcap -o udp.check_checksum:TRUE -T fields \
		-Y '!(ipv6.opt.ioam.opt_type == 1) && (_ws.malformed ||
		ipv6.opt.ioam.trace.invalid_nodelen ||
		ipv6.opt.ioam.trace.invalid_remlen ||
		ipv6.opt.ioam.trace.invalid_type ||
		!(udp.checksum.status == 1))' -e frame.number >wrong 2>/dev/null
	[ ! -s wrong ]
}

@test "without the traces it is the packets that they were put into" {
	"$TOOLS/ioam" make made.pcap 600
	"$TOOLS/ioam" strip made.pcap plain.pcap
	"$TOOLS/ioam" dump plain.pcap >none
	[ ! -s none ]
	tshark -n -r plain.pcap -o udp.check_checksum:TRUE -T fields \
		-e frame.protocols -e frame.len -e udp.checksum.status \
		2>/dev/null | sort | uniq -c >kinds
	[ "$(cat kinds)" = "    600 eth:ethertype:ipv6:udp:data	126	1" ]
}
