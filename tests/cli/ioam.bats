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

@test "opaque snapshots are rows, in all outputs" {
	"$TOOLS/ioam" make made.pcap 600
	# schemas and words of data, as read by the test above, and tshark
	"$TOOLS/ioam" dump made.pcap | python3 -c '
import sys
text = b"of any length.".ljust(16, b"\0")
for line in sys.stdin:
	lens, schemas = line.split()[20:22]
	if schemas == "-":
		continue
	for n, schema in zip(lens.split(","), schemas.split(",")):
		if n != "0" or schema != "16777215":
			print(schema, text[:4 * int(n)].hex())' | sort >want
	[ "$(wc -l <want)" -gt 500 ]
	int-collect -q -r made.pcap -R snapshot -o ndjson -x file:all >rows
	jq -r '"\(.schema) \(.data)"' rows | sort | cmp want -
	grep int_snapshot all | cmp rows -
	int-collect -q -r made.pcap -R snapshot -o csv |
		sed 's/""//' | awk -F, 'NR > 1 { print $3, $NF }' | sort | cmp want -
	int-collect -q -r made.pcap -R snapshot |
		awk 'NR > 1 { print $3, $NF == "\"\"" ? "" : $NF }' | sort | cmp want -
	# ids of 56 bits are whole; jq would not read them so
	[ "$(jq -s 'map(.hop) | min' rows)" = 1 ]
	grep -o '"node":[0-9][0-9]*' rows | cut -d: -f2 | sort -u >nodes
	[ "$(awk 'length > 10' nodes | wc -l)" -gt 10 ]
	"$TOOLS/ioam" dump made.pcap | awk '{ print $8; print $16 }' |
		tr , '\n' | sort -u | comm -23 nodes - >strange
	[ ! -s strange ]
}

@test "a snapshot is told again when it is another, and all are counted" {
	"$TOOLS/ioam" make made.pcap 600
	int-collect -r made.pcap -R snapshot -o ndjson >rows 2>log
	n=$(wc -l <rows)
	[ "$(counter log snapshots)" = "$n" ]
	# The same packets again; nodes of which the id is null may be any.
	{ cat made.pcap && tail -c +25 made.pcap; } >twice.pcap
	python3 -c '
import json
last, rows = {}, [json.loads(line) for line in open("rows")]
for r in rows + rows:
	k = r["node"], r["schema"], r["namespace"]
	if r["node"] is None or last.get(k) != r["data"]:
		print(json.dumps(r, separators=(",", ":")))
	last[k] = r["data"]' >want
	[ "$(wc -l <want)" -lt $((2 * n - 100)) ]
	int-collect -r twice.pcap -R snapshot -o ndjson 2>log | cmp want -
	[ "$(counter log snapshots)" = $((2 * n)) ]
	[ "$(counter log snapshots_changed)" = "$(wc -l <want)" ]
}

@test "paths as DTA reports: those that have wide ids are counted, not cut" {
	"$TOOLS/ioam" make made.pcap 600
	int-collect -r made.pcap -R event -o ndjson --dta dta.pcap >events 2>log
	balances log
	# new paths and other ones, of up to 5 nodes
	grep '"metric":"path"' events | grep -e new_key -e path_change |
		grep -o '"path":[[][0-9,]*' | awk -F'[[,]' 'NF <= 6 {
			for (i = 2; i <= NF; i++)
				if (length($i) > 10 || $i + 0 > 4294967295) {
					n++
					break
				} } END { print n }' >wide
	[ "$(cat wide)" -gt 10 ]
	[ "$(counter log wide_node)" = "$(cat wide)" ]
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

# fields CAPTURE NAME...: of its packets, and how many have the same.
fields() {
	local f args=()

	for f in "${@:2}"; do args+=(-e "$f"); done
	tshark -n -r "$1" -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE \
		-T fields "${args[@]}" 2>/dev/null | tr '\t' ' ' | sort | uniq -c
}

@test "dta-gen int --unfilled: room, and nobody in it; between the hosts that were said" {
	local t=ipv6.opt.ioam.trace

	dta-gen int -F ioam --unfilled 3 --src 2001:db8::1 \
		--dst 2001:db8::2 --count 20 -q -w empty.pcap
	[ "$(fields empty.pcap ipv6.src ipv6.dst $t.{ns,nodelen,remlen,type})" = \
		"     20 2001:db8::1 2001:db8::2 1 5 15 0xf20000" ]
	[ "$("$TOOLS/ioam" dump empty.pcap | awk '{ print $4, $5, $8 }' | uniq -c)" = \
		"     20 0 15 -" ]
	[ "$(fields empty.pcap tcp.checksum.status udp.checksum.status |
		awk '{ right += ($2 == 1) * $1 } END { print right }')" = 20 ]
	"$TOOLS/ioam" strip empty.pcap plain.pcap
	# a capture's own hosts, and one node: the room that filled ones take
	dta-gen int -F ioam --unfilled 1 --from plain.pcap -q -w again.pcap
	[ "$(fields again.pcap ipv6.src $t.remlen)" = "     20 2001:db8::1 5" ]
	# IPv4, and INT
	dta-gen int --src 192.0.2.1 --dst 192.0.2.2 --count 9 -q -w int.pcap
	[ "$(fields int.pcap ip.src ip.dst)" = "      9 192.0.2.1 192.0.2.2" ]
}

@test "dta-gen int: what does not go together is refused" {
	refused() { # MESSAGE OPTIONS
		run -2 dta-gen int -w x.pcap "${@:2}"
		echo "$output"
		[[ $output == *"$1"* ]]
		[ ! -e x.pcap ]
	}
	refused "only --format ioam leaves room" -F md --unfilled 2
	refused "--unfilled" --unfilled 2
	refused "what routers say is not known here" -F ioam --unfilled 2 -t t.csv
	refused "--hops" -F ioam --unfilled 2 --hops 3
	refused "--unfilled" -F ioam --unfilled 62
	refused "--dst" --src 10.0.0.1
	refused "of one version" --src 10.0.0.1 --dst ::1
	refused "of one version" --src 10.0.0 --dst 10.0.0.1
	refused "--from" --src 10.0.0.1 --dst 10.0.0.2 --from y.pcap
	refused "--ipv6" --src 10.0.0.1 --dst 10.0.0.2 --ipv6 3
	refused "needs" --to-mac 02:00:00:00:00:01
	run -2 dta-gen int -i lo --to-mac 02:00
	[[ $output == *"not a MAC address"* ]]
}

@test "dta-gen int --unfilled: more than an option has room for fits nowhere" {
	run -1 dta-gen int -F ioam --unfilled 61 --count 5 -w x.pcap
	[[ $output == *"no packet has room for that"* ]]
}
