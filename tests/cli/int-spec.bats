# SPDX-License-Identifier: BSD-2-Clause
# int-collect reads what the specifications of P4.org and the IETF say a packet
# means; packets here are laid out byte by byte.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

bytes() { tr -d " \n\t" <<<"$1" | sed "s|..| &|g; s|^|0000|"; echo; }

# frames HEX...: in.pcap
frames() {
	for f; do bytes "$f"; done | text2pcap -q -F pcap - in.pcap
}

# reports HEX...: payloads of UDP to the port of reports, in.pcap
reports() {
	for f; do bytes "$f"; done | text2pcap -q -u 49374,54321 -F pcap - in.pcap
}

# collect OPTIONS...: rows to rows, ledger to log; of one core and of two.
collect() {
	int-collect -r in.pcap -o ndjson "$@" >rows 2>log
	int-collect -r in.pcap -o ndjson -j 2 "$@" >rows2 2>log2
	diff <(sort rows) <(sort rows2)
	grep -v '"stage":"core"' log | diff - <(grep -v '"stage":"core"' log2)
}

ETH=0200000000020200000000010800
# nodes 2 and 1, each with a queue
HOPS=0000000207000064000000010500000a
HELLO=48656c6c6f2c20494e5421

# INT-MD by the first word of its header, over UDP (2.1) or TCP.
md21() {
	echo "$ETH 45280047123440003d1117480a0000010a000002 157d100000330000" \
		"14071f90 $1 90000000 00000000 $HOPS $HELLO"
}
md10() {
	echo "$ETH 455c004f123440003d0617170a0000010a000002" \
		"157d01bb0102030405060708501820000000 0000" \
		"01000728 $1 90000000 $HOPS $HELLO"
}
md05() {
	echo "$ETH 455c0053123440003d0617130a0000010a000002" \
		"157d01bb0102030405060708501820000000 0000" \
		"01000800 $1 90000000 $HOPS 0601bb0a $HELLO"
}

# IOAM: a trace of nodes 2 and 1, by its word of lengths and flags.
ioam() {
	echo 020000000002020000000001 86dd 60000000 00200040 \
		20010db8000000000000000000000001 20010db8000000000000000000000002 \
		11020100 31120000 "0000 $1 80000000" 40000002 40000001 \
		03e80050 00080000
}

# The same, and behind it another of nodes 4 and 3.
ioam2() {
	echo 020000000002020000000001 86dd 60000000 00380040 \
		20010db8000000000000000000000001 20010db8000000000000000000000002 \
		11050100 31120000 0000 0800 80000000 40000002 40000001 \
		01020000 31120000 0001 0800 80000000 40000004 40000003 \
		03e80050 00080000
}

paths() { jq -c 'select(.event and .metric == "path") | .path' rows; }

@test "copies (D of 2.x, C before) are read, counted, and not sent on" {
	frames "$(md21 20000206)" "$(md21 28000206)" "$(md10 10000206)" \
		"$(md10 12000206)" "$(md05 00020802)" "$(md05 02020802)"
	collect -R flow
	int-collect -r in.pcap -R none -o ndjson -w out.pcap 2>log
	[ "$(counter log packets)" = 6 ]
	[ "$(counter log restored)" = 3 ]
	[ "$(counter log discarded)" = 3 ]
	[ "$(packets_in out.pcap)" = 3 ]
	[ "$(jq -s "map(.packets) | add" rows)" = 6 ]
}

@test "E, and IOAM's overflow, as M: hops are missing, and there is no path" {
	for word in "md21 20000206" "md10 10000206" "md05 00020802" "ioam 0800"; do
		frames "$($word)"
		collect -R event
		[ "$(paths)" = "[1,2]" ]
		[ "$(counter log partial)" = 0 ]
	done
	for word in "md21 24000206" "md21 22000206" "md10 11000206" \
		"md10 10800206" "md05 01020802" "ioam 0c00"; do
		frames "$($word)"
		collect -R event
		[ -z "$(paths)" ]
		[ "$(counter log partial)" = 1 ]
		[[ $word == ioam* ]] || [ "$(counter log values)" = 2 ] # queues
	done
}

@test "the specification's example of a domain: its words are no nodes" {
	local mac=a61af6b1647d0000

	printf '[profile]\nlike = 2.1\ndomain = 0x5453\nsource_words = 0:2\n' >ts.ini
	frames "$ETH 4528004b123440003d1117440a0000010a000002 157d100000370000 \
		14081f90 20000105 80005453 80004000 000000030000000200000001 $mac $HELLO"
	collect -R event
	[ ! -s rows ]
	[ "$(counter log hopless)" = 1 ]
	collect -R event -p ./ts.ini
	[ "$(paths)" = "[1,2,3]" ]
	# what the source says, and nobody else
	frames "$ETH 4528003f123440003d1117500a0000010a000002 157d1000002b0000 \
		14051f90 20000005 00005453 80004000 $mac $HELLO"
	collect -R flow -p ./ts.ini
	[ "$(jq .packets rows)" = 1 ]
	[ "$(counter log bad_hop_length)" = 0 ]
}

# A packet of 10.0.0.1:1000>10.0.0.2:80/udp, 32 bytes with its IP header.
UDP="45000020 12340000 40110000 0a000001 0a000002 03e80050 000c0000 01020304"

@test "a drop report is an event: reason, node, ports, flow" {
	# 0.5 with a drop header, 1.0 and 2.0 with ports and drop reason; 2.0
	# of a packet that is no IP
	reports "01800001 00000007 00000001 00000009 00010002 033c0000 $ETH $UDP" \
		"16310102 0000000a 00000007 00000001 00010002 053d0000 $UDP" \
		"20c00005 0000000b 140c0280 40010000 00000000 00010002 043e0000 $UDP" \
		"20c00006 0000000c 03040080 020000000002020000000001 0806 0000"
	collect -R event -e drop
	diff - <(jq -c '[.event, .metric, .value, .node, .ingress_port, .port, .queue,
		.hw_id, .flow]' rows) <<-'END'
		["drop",null,60,9,1,2,3,1,"10.0.0.1:1000>10.0.0.2:80/udp"]
		["drop",null,61,10,1,2,5,2,"10.0.0.1:1000>10.0.0.2:80/udp"]
		["drop",null,62,11,1,2,4,3,"10.0.0.1:1000>10.0.0.2:80/udp"]
		["drop",null,null,12,null,null,null,3,null]
	END
	# packets that only drops tell of
	collect -R flow
	[ "$(jq .packets rows)" = 3 ]
}

# xd NODE SEQUENCE FLAGS: a report 1.0 with its ports.
xd() {
	printf '1530%04x %08x %08x 00000001 00010002 %s' $(($3 << 6)) "$1" "$2" \
		"$UDP"
}

@test "packets and bytes of a flow: each once, however many nodes report it" {
	local all=() n

	# F; with D, two of them are dropped at the last node
	for n in 1 2 3 4 5 6; do
		all+=("$(xd 7 $n 1)" "$(xd 8 $n 1)" "$(xd 9 $n $((n > 4 ? 5 : 1)))")
	done
	reports "${all[@]}"
	collect -R flow
	[ "$(jq -c '[.packets, .bytes]' rows)" = "[6,192]" ]
	collect -R event -e drop
	[ "$(wc -l <rows)" = 2 ]
	int-collect -q -r in.pcap -R none --dta dta.pcap
	[ "$(dta-dump packets dta.pcap -o ndjson |
		jq 'select(.opcode == "keyinc") | .add' | xargs)" = "6 192" ]
	# two traces in a packet, of two namespaces
	frames "$(ioam2)" "$(ioam2)"
	collect -R event,flow
	[ "$(jq .packets rows | grep -v null)" = 2 ]
	[ "$(paths)" = "[1,2]" ]
	[ "$(counter log partial)" = 2 ]
}

# The published INTCollector's: shim type 1, no DSCP; of 1.0 the report says a
# length of 1, INT version 0; of 0.5 the report says version 1, the shim length
# 0, and there is a tail.
@test "INTCollector's own packets, and its points" {
	local eth="ffffffffffff 000000000000 0800" hops="
		00000003 00020003 00000066 00050006 00000007 5ad9a2c0 0005000a 0000000d
		00000002 00020003 00000065 00050006 00000007 5ad9a2c0 0005000a 0000000c
		00000001 00020003 00000064 00050006 00000007 5ad9a2c0 0005000a 0000000b"
	local ip="450000ff 00010000 40110000 0a000001 0a000002 13881388 00eb0000"
	local a b later=${hops/00000064/00010064}

	a="11000040 00000000 00000001 5ad9a2d2 $eth ${ip/ff/88}"
	a="${a/00eb0000/00740000} 01001b00 00000803 ff000000"
	reports "$a $hops" "${a/00000001/00000002} $later"
	collect -R event -p intcollector
	points
	b="10200000 00000000 5ad9a2d2 $eth ${ip/ff/8c}"
	b="${b/00eb0000/00780000} 01000000 00080803 ff000000"
	reports "$b $hops 00000038" "$b $later 00000038"
	collect -R event -p intcollector-0.5
	points
	[ "$(jq 'select(.metric == "queue_congestion" and .node == 3) | .value' \
		rows)" = 10 ]
}

# What INTCollector itself tells of them.
points() {
	[ "$(paths)" = "[1,2,3]" ]
	[ "$(jq -c 'select(.metric == "flow_latency") |
		[.flow, .value, .path]' rows | xargs)" = \
		"[10.0.0.1:5000>10.0.0.2:5000/udp,303,[1,2,3]] [10.0.0.1:5000>10.0.0.2:5000/udp,65839,[1,2,3]]" ]
	[ "$(jq 'select(.metric == "queue_occupancy" and .node == 2 and
		.queue == 5) | .value' rows)" = 6 ]
}
