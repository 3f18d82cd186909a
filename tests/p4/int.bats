# SPDX-License-Identifier: BSD-2-Clause
# int_node on BMv2: INT's source, transit and sink in a row. The receiver gets
# real traffic as it was sent; what the nodes said is in the sink's reports, and
# int-collect, as a sink, makes of the packets before the last node what they
# were. With what the nodes have said lib/ makes the same packets and reports.
#
#	r0 --- t0 1 a0 --- a1 2 b0 --- b1 3 t1 --- c0
#	                                  3 d0 --- d1 reports

load ../helpers
load ../net/net
load p4
load row

setup() {
	need_p4 int_node
	need_tools send recv again
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	net_down
}

# node ID OPTIONS INTERFACE...: a switch from its first port to its second.
node() { device_up int_node "$1" "-d $1 $2 0=1" "${@:3}"; }

# chain INSTRUCTIONS HOPS
chain() {
	row_up a0:a1 b0:b1 d0:d1
	node 1 "--watch all --instructions $1 --hops $2" t0 a0
	node 2 "" a1 b0
	node 3 "--hosts 1 --collector 2,10.0.0.51,02:00:00:00:00:02" b1 t1 d0
}

@test "three nodes: the packets as they were sent, and what each node has said" {
	local n

	int_mix 300
	n=$(packets flows.pcap)
	[ "$n" -gt 200 ]
	chain 0xfc00 8
	listen t b1
	listen t d1
	listen c c0
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 300
	will_come t d1 "$n"
	heard
	same_frames mix.pcap c0.pcap
	int-collect -q -r b1.pcap -w sink.pcap --rows none
	same_frames mix.pcap sink.pcap
	like_ours 8
	int-collect -r d1.pcap --rows none -o ndjson 2>ledger
	balances ledger
	[ "$(counter ledger taken report)" = "$n" ]
	[ "$(counter ledger hops)" = $((3 * n)) ]
	[ "$(counter ledger reports_lost)" = 0 ]
	# What the nodes keep of the last packet is what its report says.
	diff <(python3 "$TOP/tests/p4/hops.py" d1.pcap 8) \
		<(echo E 0; for id in 3 2 1; do echo "$id $(last_latency $id)"; done)
}

# like_ours HOPS: what came behind two nodes, and what the sink told.
like_ours() {
	"$TOOLS/again" int mix.pcap b1.pcap ours.pcap "$1" 2
	same_frames ours.pcap b1.pcap
	"$TOOLS/again" report flows.pcap d1.pcap ours.pcap "$1" 3
	same_frames ours.pcap d1.pcap
}

last_latency() { # node
	on t simple_switch_CLI --thrift-port 909"$1" \
		<<<"register_read NodeEgress.metadata.last 0" |
		sed -n 's/.*last\[0\]= *//p'
}

@test "all instructions, and fewer hops than nodes" {
	local n

	int_mix 300
	n=$(packets flows.pcap)
	chain 0xff81 2
	listen t b1
	listen t d1
	listen c c0
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 300
	will_come t d1 "$n"
	heard
	same_frames mix.pcap c0.pcap
	int-collect -q -r b1.pcap -w sink.pcap --rows none
	same_frames mix.pcap sink.pcap
	like_ours 2
	int-collect -r d1.pcap --rows none -o ndjson 2>ledger
	balances ledger
	[ "$(counter ledger hops)" = $((2 * n)) ]
	diff <(python3 "$TOP/tests/p4/hops.py" d1.pcap 13) \
		<(echo E 1; for id in 2 1; do echo "$id $(last_latency $id)"; done)
}
