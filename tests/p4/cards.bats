# SPDX-License-Identifier: BSD-2-Clause
# INT-XD as DTA: three int_nodes in a row send postcards of what passes to a
# dta_translator, byte for byte those of tests/tools/reporter; and the memory that
# they leave is what dta-translate makes of these, and of the paths that int-collect
# finds in the reports of the sink (INT-MD).
#
#	r0 --- t0 1 a0 --- a1 2 b0 --- b1 3 t1 --- c0
#	       e0              f0           g0
#	       |               |            | \\ d0 --- d1 reports of the sink
#	       e1              f1           g1
#	      0 ------ translator 2, 3 ------ 1: h0 --- h1 collector

load ../helpers
load ../net/net
load p4
load row

setup() {
	need_p4 int_node
	need_p4 dta_translator
	need_tools send recv reporter
	cd "$BATS_TEST_TMPDIR" || exit 1
	cat >layout.ini <<-INI
		[cards]
		id = 3
		kind = postcard
		key = flow4
		hops = 5
		values = 0-65535
		chunks = 4Ki
		copies = 2
		cache = 4Ki
	INI
	make_regions layout.ini file wire int
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

# node HOP OPTIONS WHAT INTERFACE...
node() {
	local hop=$1

	device_up int_node $((hop + 1)) "-d $((hop + 11)) $2 0=1" "${@:4}"
	dta-collect -q --region "$NET-wire" --ticket - |
		dta-switch int_xd "$hop/3" --tell "$3" - >cards-$hop
	sed "s/\(cards.card .*\) 0$/\1 ${LESS_ONE:-0}/" cards-$hop >"node-$hop"
	switch_tell t "node-$hop"
}

# chain id|latency|queue: what cards say; the collector listens.
chain() {
	row_up a0:a1 b0:b1 d0:d1 e0:e1 f0:f1 g0:g1 h0:h1
	start t collect.log dta-collect --region "$NET-wire" -i h1 \
		--ticket ticket.ini
	wait_for listens collect.log
	dta-switch dta_translator ticket.ini >commands
	THRIFT=9090
	switch_up t dta_translator 0@e1 1@h0 2@f1 3@g1
	switch_tell t commands
	node 0 "--watch all" "$1" 0@t0 1@a0 3@e0
	node 1 "" "$1" 0@a1 1@b0 3@f0
	node 2 "--hosts 1 --collector 2,10.0.0.51,02:00:00:00:00:02" "$1" 0@b1 1@t1 2@d0 3@g0
}

# translated N: reports, within a minute or so.
translated() {
	local i

	for ((i = 0; i < 80; i++)); do
		[ "$(stored)" -lt "$1" ] || break
		sleep 0.5
	done
	[ "$(stored)" = "$1" ]
}

stored() {
	on t simple_switch_CLI <<<"counter_read TranslatorIngress.ledger 0" |
		sed -nE 's/.*, ([0-9]+) packets.*/\1/p'
}

@test "ids: the reports, and the memory of dta-translate and of int-collect --dta" {
	local n hop to=(e1 f1 g1)

	int_mix 250
	n=$(packets flows.pcap)
	[ "$n" -gt 150 ]
	chain id
	listen t d1
	for hop in 0 1 2; do
		"$TOOLS/reporter" mix.pcap cards-$hop.pcap $((hop + 11)) $hop 3 0 3
		[ "$(packets cards-$hop.pcap)" = "$n" ]
		listen t ${to[hop]}
	done
	listen c c0
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 250
	will_come t d1 "$n"
	translated $((3 * n))
	heard
	flush t e0 3 4096
	same_frames mix.pcap c0.pcap
	for hop in 0 1 2; do
		same_frames cards-$hop.pcap ${to[hop]}.pcap
	done
	# as they come about: for each packet those of all nodes
	mergecap -F nsecpcap -w cards.pcap cards-0.pcap cards-1.pcap cards-2.pcap
	dta-translate -q -r cards.pcap --region "$NET-file"
	int-collect -q -r d1.pcap -R none --dta int.pcap
	dta-translate -q -r int.pcap --region "$NET-int"
	wait_for same_memory >/dev/null
	same_memory "$NET-int" "$NET-wire"
	dta-query path --region "$NET-wire" "$(first_flow)" -o ndjson >path
	[ "$(jq -c .path path)" = '[11,12,13]' ]
}

@test "one packet of four: the same at each node" {
	local hop to=(e1 f1 g1) LESS_ONE=3

	int_mix 250
	chain id
	for hop in 0 1 2; do
		"$TOOLS/reporter" mix.pcap cards-$hop.pcap $((hop + 11)) $hop 3 3 3
		listen t ${to[hop]}
	done
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come t g1 "$(packets cards-2.pcap)"
	translated $((3 * $(packets cards-2.pcap)))
	heard
	for hop in 0 1 2; do
		same_frames cards-$hop.pcap ${to[hop]}.pcap
	done
	[ $(($(packets cards-0.pcap) * 2)) -lt "$(packets flows.pcap)" ]
}

first_flow() {
	tshark -r flows.pcap -c 1 -T fields -e ip.src -e tcp.srcport -e udp.srcport \
		-e ip.dst -e tcp.dstport -e udp.dstport -e ip.proto 2>/dev/null |
		awk '{ print $1 ":" $2 ">" $3 ":" $4 "/" ($5 == 6 ? "tcp" : "udp") }'
}

# said NODE: what its registers have, a line each: row, value.
said() {
	on t simple_switch_CLI --thrift-port 909$(($1 + 1)) \
		<<<"register_read NodeEgress.say.said" |
		sed -n 's/.*said= *//p' | tr -d ' ' | tr , '\n' | cat -n
}

@test "latencies: dta-query path says what the nodes' registers say" {
	local row flow n=0 zero

	int_mix 250
	python3 "$TOP/tests/p4/flows.py" flows.pcap one.pcap >rows
	[ "$(wc -l <rows)" -gt 20 ]
	chain latency
	on r "$TOOLS/send" one.pcap r0 >sent
	will_come c c0 "$(wc -l <rows)"
	translated $((3 * $(wc -l <rows)))
	for hop in 0 1 2; do
		said $hop >said-$hop
	done
	while read -r row flow; do
		for hop in 0 1 2; do
			awk -v row="$row" '$1 == row + 1 { print $2 }' said-$hop
		done | paste -sd ' ' | sed "s|^|$flow |"
	done <rows | sort >want
	wait_for all_there
	answers | sort | diff want -
	# They are measured: not all the same.
	[ "$(cut -d' ' -f2- want | sort -u | wc -l)" -gt 10 ]
}

answers() {
	cut -d' ' -f2 rows | dta-query path --region "$NET-wire" --keys - -o ndjson |
		jq -r '[.key] + .path | map(tostring) | join(" ")'
}

all_there() { [ "$(answers | awk 'NF == 4' | wc -l)" = "$(wc -l <rows)" ]; }
