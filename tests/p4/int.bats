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

setup() {
	need_p4 int_node
	need_tools send recv again
	cd "$BATS_TEST_TMPDIR" || exit 1
	PIDS=()
}

teardown() {
	end_bg
	net_down
}

# node ID OPTIONS INTERFACE...: a switch from its first port to its second;
# OPTIONS are those of int-label-ctl switch.
node() {
	local id=$1 options

	read -ra options <<<"$2"
	shift 2
	THRIFT=909$id
	switch_up t int_node "$@"
	int-label-ctl switch int_node -d "$id" "${options[@]}" 0=1 >"node-$id"
	switch_tell t "node-$id"
}

# chain INSTRUCTIONS HOPS
chain() {
	local l

	net_up
	for l in a0:a1 b0:b1 d0:d1; do
		ip -n "$NET-t" link add "${l%:*}" type veth peer name "${l#*:}"
	done
	for l in t:t0 t:t1 t:a0 t:a1 t:b0 t:b1 t:d0 t:d1 r:r0 c:c0; do
		ip -n "$NET-${l%:*}" link set "${l#*:}" mtu 2000 up
	done
	node 1 "--watch all --instructions $1 --hops $2" t0 a0
	node 2 "" a1 b0
	node 3 "--hosts 1 --mirror 2 --collector 10.0.0.51 \
--collector-mac 02:00:00:00:00:02" b1 t1 d0
}

# listen NAME INTERFACE: to INTERFACE.pcap.
listen() {
	start "$1" "$2.log" "$TOOLS/recv" "$2" "$2.pcap"
	PIDS+=("$PID")
	wait_for grep -q . "$2.log.out"
}

heard() {
	local pid

	for pid in "${PIDS[@]}"; do
		stop "$pid"
	done
}

traffic() {
	[ -r "$TOP/../shared/traces/real-mix.pcap" ] ||
		skip "no shared/traces/real-mix.pcap"
	tshark -F nsecpcap -r "$TOP/../shared/traces/real-mix.pcap" -w frames.pcap \
		-Y "frame.len <= 1400 && ip.dsfield.dscp != 0x17" -c 600 2>/dev/null
	editcap -F nsecpcap -r frames.pcap mix.pcap 1-300
	# those that INT goes into
	tshark -F nsecpcap -r mix.pcap -w flows.pcap -Y "!vlan && ip.version == 4 && \
ip.hdr_len == 20 && ip.flags.mf == 0 && ip.frag_offset == 0 && \
(udp || tcp) && !icmp" 2>/dev/null
}

@test "three nodes: the packets as they were sent, and what each node has said" {
	local n

	traffic
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

	traffic
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
